"""Read exports of Prodigy: JSON lines, as ``prodigy db-out`` writes them.

Binary tasks ask about one ``label``: accept is "yes", reject is "no". Choice tasks have
``options``, and their answers mean:

- accept: the selected labels apply. If only one label could be selected, the others do not apply.
  If several could be selected, nothing is known about the others.
- reject: the selected labels do not apply, like named labels. Nothing is known about the others.

An ignored task says nothing. A task of ``complabel ask`` says itself what was asked; ignoring it
means "unsure".

The name of an option is its ``id``, as in Prodigy's own training. If
the id is a number, the name is its ``text``, as the same number may be another label in the next
task.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from complabel._opening import fault
from complabel.importers._format import (
    Format,
    Head,
    Options,
    Row,
    Tally,
    as_json,
    chance,
    pieces,
    some,
)
from complabel.importers._json import (
    OptionalText,
    Text,
    checked,
    checked_as,
    records,
    shown,
    text_of,
)
from complabel.importers._questions import (
    ALL_APPLY,
    UNSURE,
    Question,
    Travelled,
    question_in,
    question_of,
)

_MARKS = {"_input_hash", "_task_hash", "_view_id", "_annotator_id", "_session_id"}


def _key_and_name(option: Any) -> tuple[str, str]:
    if not isinstance(option, dict):
        raise ValueError("it must be an object")
    key = option.get("id")
    is_name = isinstance(key, str) or option.get("text") in (None, "")
    return text_of(key), text_of(key if is_name else option["text"])


class _Task(BaseModel):
    answer: Literal["accept", "reject", "ignore"]
    label: Text | None = None
    options: list[Annotated[tuple[str, str], BeforeValidator(_key_and_name)]] | None = None
    accept: list[Text] | None = None
    config: dict[str, Any] | None = None
    annotator: OptionalText = Field(None, alias="_annotator_id")
    session: OptionalText = Field(None, alias="_session_id")
    timestamp: OptionalText = Field(None, alias="_timestamp")

    @property
    def labels(self) -> list[str]:
        return [self.label or ""] if self.options is None else [name for _, name in self.options]


def _recognizes(head: Head) -> bool:
    root, keys = head.keys()
    return root == "{" and "answer" in keys and not keys.isdisjoint(_MARKS)


def _read(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    tally.say_unused(options, "Prodigy's", "absent", "present")
    tally.start("tasks", "ignored tasks", "tasks without a selection")
    rows = _rows(path, options, tally)
    if options.random_questions:
        rows = iter([*rows])  # the number of labels is known only at the end
    yield from pieces(row._replace(probability=_chance(row, options, tally)) for row in rows)
    if not tally.counts["tasks"]:
        raise fault(path, "has no tasks; export annotated ones with db-out")


def _chance(row: Row, options: Options, tally: Tally) -> float | None:
    """Return the probability of a question, if all labels were equally likely."""
    if row.probability is not None:
        return row.probability
    # Labels that were accepted among several were volunteered, not drawn, and have none.
    n_labels = len(options.label_names or tally.label_names)
    size = 1 if row.offered is None else min(n_labels, len(json.loads(row.offered)))
    drawn = row.question != "asked" or size == 1
    return chance(n_labels, size) if options.random_questions and drawn else None


def _rows(path: Path, options: Options, tally: Tally) -> Iterator[Row]:
    field, travelled = options.item, Travelled()
    for place, value in records(path):
        task = checked(_Task, value, place)
        if field is None:
            field = "item" if "item" in value else "_input_hash"
        if field == "_input_hash" and options.item is None:
            tally.remark(
                "The ids of items are Prodigy's _input_hash. If your features have other ids, give"
                " the field with these ids as --item."
            )
        tally.counts["tasks"] += 1
        _check_labels(task, place)
        tally.counts["ignored tasks"] += task.answer == "ignore"
        who: dict[str, Any] = {
            "answer_id": place.rpartition(" ")[2],
            "annotator": task.annotator or task.session,
            "time": task.timestamp,
        }
        if question_in(value) and value.get("question"):  # of complabel ask
            asked = question_of(value, place, item=_item(value, field, place))
            tally.list_labels(asked.offered or task.labels)
            said = _said_to(asked, task, place, tally)
            yield from travelled.rows(asked, said, place, **who)
            continue
        tally.list_labels(task.labels)
        if task.answer == "ignore":
            continue
        question, no, yes = _said(task, place, options, tally)
        tally.counts["tasks without a selection"] += not no and not yes
        for label, answer in [(label, "no") for label in no] + [(label, "yes") for label in yes]:
            yield Row(
                item=_item(value, field, place),
                label=label,
                answer=answer,
                question=question,
                offered=None if task.options is None else as_json(tuple(task.labels)),
                asked_for=len(no) if question == "named" else None,
                **who,
            )


def _said_to(question: Question, task: _Task, place: str, tally: Tally) -> str | list[str]:
    """Return what somebody said to a question of ``complabel ask``."""
    if task.answer == "ignore":
        return UNSURE
    if question.question == "asked":
        return "yes" if task.answer == "accept" else "no"
    if task.answer == "reject":
        tally.remark(
            "Menus that were rejected are read as unsure, since reject does not say about which"
            " label; people should choose, and then accept, or ignore."
        )
        return UNSURE
    said = question.meaning(_selected(task, place), place)
    if said is None:
        raise fault(
            place, f"was accepted without a choice; ask again: choose a label, or {ALL_APPLY!r}"
        )
    return said


def _check_labels(task: _Task, place: str) -> None:
    if task.options is None and task.label is None:
        raise fault(place, "has neither a label nor options; export only classification tasks")
    if not task.labels:
        raise fault(place, "has an empty list of options; leave the task out")
    keys, names = zip(*task.options or [("", "")], strict=True)
    for each in (keys, names):
        twice = [name for at, name in enumerate(each) if name in each[:at]]
        if twice:
            raise fault(place, f"has the option {shown(twice[0])} twice; rename one")


def _said(
    task: _Task, place: str, options: Options, tally: Tally
) -> tuple[str, list[str], list[str]]:
    """Return the question, the labels that do not apply, and the labels that apply."""
    if task.options is None:  # one label, which was accepted or rejected
        labels = task.labels
        return ("asked", [], labels) if task.answer == "accept" else ("asked", labels, [])
    selected = _selected(task, place)
    if task.answer == "reject":
        return "asked" if len(task.options) == 1 else "named", selected, []
    unselected = options.unselected
    if (task.config or {}).get("choice_style") == "single" and selected:
        unselected = "no"
        tally.remark(
            "If only one option could be selected and one was accepted, the other options were read"
            " as labels that do not apply."
        )
    if unselected == "unknown":
        tally.remark(
            "If several options could be selected, those that were not selected were read as"
            " unknown. If they do not apply, give --unselected no."
        )
        return "asked", [], selected
    return "ticked", [name for name in task.labels if name not in selected], selected


def _selected(task: _Task, place: str) -> list[str]:
    """Return the names of the options that somebody selected."""
    menu = dict(task.options or ())
    unknown = [key for key in task.accept or () if key not in menu]
    if unknown:
        told = f"accept has {shown(unknown[0])}, which is not the id of an option"
        raise fault(place, f"{told}; the options are {some(map(shown, menu))}")
    return list(dict.fromkeys(menu[key] for key in task.accept or ()))


def _item(task: dict[str, Any], field: str, place: str) -> str:
    meta = task.get("meta")
    inside = meta if isinstance(meta, dict) else {}
    value = task.get(field, inside.get(field.removeprefix("meta.")))
    if value is None:
        told = f"has no {shown(field)}, which should name the item"
        raise fault(place, f"{told}; give a field that all tasks have as --item")
    return str(checked_as(Text, value, place, field))


PRODIGY = Format("prodigy", "Prodigy: JSON lines of db-out, binary and choice", _recognizes, _read)
