"""Read exports of Prodigy and of doccano, and records of Argilla 2.

Prodigy writes JSON lines (``prodigy db-out``). Binary tasks ask about one ``label``: accept is
"yes", reject is "no". Choice tasks have ``options``, and their answers mean:

- accept: the selected labels apply. What that means for the others, the user must say.
- reject: it does not say about which label. If the user says so, the selected ones were named.

An ignored task says nothing. A task of ``complabel ask`` says itself what was asked; ignoring it
means "unsure". The name of an option is its ``id``, as in Prodigy's own training. If the id is a
number, the name is its ``text``, as the same number may be another label in the next task.

``dataset.records(with_responses=True).to_list(flatten=True)`` of Argilla makes three lists for each
question: values in ``QUESTION.responses``, users in ``QUESTION.responses.users`` and states in
``QUESTION.responses.status``. All responses of one user to one record are one form. Only submitted
responses count: a draft is not finished, and a discarded record has no answer.

doccano writes a record for each item, with the names of its labels in ``label``; in CSV, with #
between them. Before 1.4 it wrote ``annotations``: numbers of labels, and who gave them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from complabel._opening import fault, open_binary
from complabel._settings import setting
from complabel.errors import InputError
from complabel.files import Cell, Cells, left_over, may_mean_none, none_or_label
from complabel.importers._format import (
    FieldsOfFiles,
    Format,
    Head,
    OptionalText,
    Options,
    Row,
    Tally,
    Text,
    as_json,
    checked,
    checked_as,
    keep_files,
    names_from,
    open_table,
    pieces,
    records,
    shown,
    some,
    text_of,
)
from complabel.importers._forms import Form, settle
from complabel.importers._public import class_names
from complabel.importers._questions import (
    UNSURE,
    WORDINGS,
    Question,
    Travelled,
    question_in,
    question_of,
)

_OF_PRODIGY = {"score", "flagged"}  # fields of Prodigy that say nothing of labels
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
    if options.question not in (None, "named"):
        raise InputError(
            f"{setting('question', options.question)} does not fit Prodigy; give named if people"
            " rejected labels that do not apply, or none",
            parameter="question",
        )
    tally.start("tasks", "ignored tasks", "rejected menus", "tasks without a selection")
    yield from pieces(_rows(path, options, tally))
    if not tally.counts["tasks"]:
        raise fault(path, "has no tasks; export annotated ones with db-out")


def _rows(path: Path, options: Options, tally: Tally) -> Iterator[Row]:
    field, travelled = options.item, Travelled()
    files: FieldsOfFiles = {}
    fields = set[str]()
    for place, value in records(path):
        task = checked(_Task, value, place)
        if field is None:
            field = "item" if "item" in value else "_input_hash"
        if field == "_input_hash" and options.item is None:
            keep_files(files, value)
        tally.counts["tasks"] += 1
        _check_labels(task, place)
        fields.update(name for name in value if name[:1] != "_")
        who: dict[str, Any] = {
            "answer_id": place.rpartition(" ")[2],
            "annotator": task.annotator or task.session,
            "time": task.timestamp,
        }
        if question_in(value) and value.get("question"):  # of complabel ask
            asked = question_of(value, place, item=_item(value, field, place))
            tally.counts["ignored tasks, read as unsure"] += task.answer == "ignore"
            tally.list_labels(asked.offered or task.labels)
            chosen = _answer_to(asked, task, place, tally)
            yield from travelled.rows(asked, chosen, place, **who)
            continue
        tally.list_labels(task.labels)
        if task.answer == "ignore":
            tally.counts["ignored tasks"] += 1
            continue
        if task.answer == "reject" and len(task.labels) > 1 and options.question is None:
            tally.counts["rejected menus"] += 1
            tally.remark(
                "Menus that were rejected are left out, since reject does not say about which"
                " label. If people selected labels that do not apply, give --read-as named."
            )
            continue
        question, no, yes = _judgments(task, place, options)
        tally.counts["tasks without a selection"] += not no and not yes
        for label, answer in [(label, "no") for label in no] + [(label, "yes") for label in yes]:
            yield Row(
                item=_item(value, field, place),
                label=label,
                answer=answer,
                question=question,
                offered=None if task.options is None else as_json(_labels_of(task, options)),
                asked_for=len(no) if question == "named" else None,
                **who,
            )
    left_over(path, sorted(fields - _OF_PRODIGY), (), dropped=options.drop, may_read=())
    if files:
        tally.remark(f"Items are named by Prodigy's _input_hash. {names_from(files)}")


def _answer_to(question: Question, task: _Task, place: str, tally: Tally) -> str | list[str]:
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
    answer = question.meaning(_selected(task, place), place)
    if answer is None:
        none = WORDINGS[question.question].fixed
        raise fault(place, f"was accepted without a choice; choose a label, or {none!r}")
    return answer


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


def _judgments(task: _Task, place: str, options: Options) -> tuple[str, list[str], list[str]]:
    """Return the question, the labels that do not apply, and the labels that apply."""
    labels = _labels_of(task, options)
    odd = [] if options.label_names is not None else [x for x in labels if may_mean_none(x)]
    if odd:
        raise none_or_label(odd[0], place)
    if task.options is None:  # one label, which was accepted or rejected
        is_yes = task.answer == "accept"
        return ("asked", [], task.labels) if is_yes else ("asked", task.labels, [])
    selected = _selected(task, place)
    if none := [name for name in selected if name not in labels]:
        if len(none) < len(selected):
            raise fault(place, f"has {shown(selected[0])}, and {shown(none[0])}; correct it")
        return "ticked", list(labels), []
    if task.answer == "reject":
        return "asked" if len(task.options) == 1 else "named", selected, []
    if options.unselected == "no":
        return "ticked", [name for name in labels if name not in selected], selected
    if options.unselected == "unknown" or len(selected) == len(labels):
        return "asked", [], selected
    text = f"was accepted with {len(selected)} of {len(task.options)} options selected"
    raise fault(
        place,
        f"{text}, and Prodigy does not say what that means for the others; give"
        f" {setting('unselected', 'no')} if they do not apply, because people selected all that do,"
        f" or {setting('unselected', 'unknown')} if nothing is known about them",
        proposes=[{"unselected": "no"}, {"unselected": "unknown"}],
    )


def _labels_of(task: _Task, options: Options) -> tuple[str, ...]:
    return tuple(name for name in task.labels if name.casefold() not in options.none)


def _selected(task: _Task, place: str) -> list[str]:
    menu = dict(task.options or ())
    unknown = [key for key in task.accept or () if key not in menu]
    if unknown:
        text = f"accept has {shown(unknown[0])}, which is not the id of an option"
        raise fault(place, f"{text}; the options are {some(map(shown, menu))}")
    return list(dict.fromkeys(menu[key] for key in task.accept or ()))


def _item(task: dict[str, Any], field: str, place: str) -> str:
    meta = task.get("meta")
    inside = meta if isinstance(meta, dict) else {}
    value = task.get(field, inside.get(field.removeprefix("meta.")))
    if value is None:
        text = f"has no {shown(field)}, which should name the item"
        raise fault(place, f"{text}; give a field that all tasks have as --item")
    return str(checked_as(Text, value, place, field))


_PRODIGY_TITLE = "Prodigy: JSON lines of db-out, binary and choice"
PRODIGY = Format(
    "prodigy",
    _PRODIGY_TITLE,
    _recognizes,
    _read,
    uses="item unselected question random_questions none drop",
    reads="`label`, `options`, `answer`, `accept`, the person, the time, and the item",
    counts=("tasks", "ignored tasks", "rejected menus", "tasks without a selection"),
)


_END = ".responses"
_NESTED = frozenset(("fields", "responses", "_server_id"))


def _is_argilla(head: Head) -> bool:
    _, keys = head.keys()
    return keys >= _NESTED or any(key.endswith(_END) for key in keys)


def _read_argilla(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    tally.start("records", "records without a response", "responses", "discarded responses")
    tally.start("draft responses", "responses without a status", "empty responses")
    forms = list(_forms(path, options, tally))
    reader = settle(forms, options, tally, path, word="question")
    rows = list(map(reader.rows, forms))
    tally.counts["empty responses"] += rows.count([])
    yield from pieces(itertools.chain.from_iterable(rows))


@dataclass
class _Person:
    name: str | None
    status: str | None = None
    chosen: dict[str, list[str]] = field(default_factory=dict)


def _forms(path: Path, options: Options, tally: Tally) -> Iterator[Form]:
    item = options.item or "id"
    for number, (place, value) in enumerate(records(path), 1):
        record = checked_as(dict[str, Any], value, place, "it")
        if record.keys() >= _NESTED and isinstance(record["responses"], dict):
            flat = "dataset.records(with_responses=True).to_list(flatten=True)"
            raise fault(place, f"does not say which responses were submitted; save {flat}")
        tally.counts["records"] += 1
        people = _people(record, place, tally)
        tally.counts["records without a response"] += not people
        for at, person in enumerate(people, 1):
            tally.counts["responses"] += 1
            if person.status != "submitted":
                known = person.status in ("discarded", "draft")
                word = f"{person.status} responses" if known else "responses without a status"
                tally.counts[word] += 1
                continue
            name = checked_as(Text, record.get(item), place, item)
            yield Form(place, f"{number}.{at}", name, person.chosen, annotator=person.name)


def _people(record: dict[str, Any], place: str, tally: Tally) -> list[_Person]:
    people: dict[str, _Person] = {}
    for key, responses in record.items():
        if not key.endswith(_END) or responses is None:
            continue
        question = key.removesuffix(_END)
        values = checked_as(list[Any], responses, place, shown(key))
        users = _of_each_response(record, f"{key}.users", len(values), None, place)
        if record.get(f"{key}.status") is None:
            tally.remark("The records do not say which responses were submitted; all are read.")
        states = _of_each_response(record, f"{key}.status", len(values), "submitted", place)
        for at, (value, user, status) in enumerate(zip(values, users, states, strict=True)):
            person = people.setdefault(user or f"number {at}", _Person(user))
            if person.status != "submitted":
                person.status = status
            if status == "submitted":
                labels = _labels(value, place, shown(key))
                person.chosen.setdefault(question, []).extend(labels)
    return list(people.values())


def _of_each_response(
    record: dict[str, Any], key: str, length: int, default: str | None, place: str
) -> list[str | None]:
    """Return a list of the record with one entry for each response."""
    if record.get(key) is None:
        return [default] * length
    entries: list[str | None] = checked_as(list[OptionalText], record[key], place, shown(key))
    if len(entries) != length:
        text = f"{shown(key)} has {len(entries)} entries for {length} responses"
        raise fault(place, f"{text}; export the records again")
    return entries


def _labels(value: Any, place: str, what: str) -> list[str]:
    """Return the labels of a response; an empty list for rankings and questions about spans."""
    values = value if isinstance(value, list) else [] if value in (None, "") else [value]
    if any(isinstance(each, dict) for each in values):
        return []
    return list(dict.fromkeys(checked_as(list[Text], values, place, what)))


_ARGILLA_TITLE = "Argilla 2: flattened records, a JSON list or JSON lines"
ARGILLA = Format(
    "argilla",
    _ARGILLA_TITLE,
    _is_argilla,
    _read_argilla,
    uses="absent present item unselected none question",
    reads="responses with labels, the person, the status",
    counts=(
        *("responses", "discarded responses", "draft responses", "responses without a status"),
        "empty responses",
    ),
)


# ---- doccano ----

_SEEN = {"text", "data", "filename"}  # what people saw, by the version and the task
_OF_OTHERS = {"answer", "annotator", "annotation_id", "reply", "item"}


class _Annotation(BaseModel):
    label: Text
    user: OptionalText = None


def _is_doccano(head: Head) -> bool:
    root, keys = head.keys()
    keys = keys or {*head.columns()}
    marks = {"label", "labels"} if root else {"Comments", "annotation_approver"}
    has_labels = bool(keys & marks and keys & _SEEN) or keys >= {"text", "annotations"}
    return has_labels and "id" in keys and not keys & _OF_OTHERS


def _read_doccano(path: Path, options: Options, tally: Tally) -> Iterator[dict[str, Any]]:
    tally.start(*DOCCANO.counts)
    if options.question in ("positive", "tagged") and not options.absent:
        options = replace(options, present=options.present or ("label",))
    forms = list(_forms_of_doccano(path, options, tally))
    reader = settle(forms, options, tally, path, word="field")
    rows = list(map(reader.rows, forms))
    tally.counts[DOCCANO.counts[1]] += rows.count([])
    yield from pieces(itertools.chain.from_iterable(rows))


def _forms_of_doccano(path: Path, options: Options, tally: Tally) -> Iterator[Form]:
    codes = {} if options.class_names is None else class_names(options.class_names)
    item, fields, files = options.item or "id", dict[str, None](), FieldsOfFiles()
    for number, (place, value) in enumerate(_records_of_doccano(path, item, options), 1):
        record = checked_as(dict[str, Any], value, place, "it")
        fields.update(dict.fromkeys(record))
        if options.item is None:
            keep_files(files, record)
        for at, (person, labels) in enumerate(_by_person(record, codes, place).items(), 1):
            tally.counts["forms"] += 1
            cells = {"label": Cell(labels, is_blank=not labels)}
            name = _item(record, item, place)
            yield Form.of_cells(place, f"{number}.{at}", name, cells, annotator=person)
    tally.leave(path, fields, {"id", item, *_WITH_LABELS, "annotation_approver"}, options)
    if files:
        tally.remark(f"Items are named by doccano's id. {names_from(files)}")


def _records_of_doccano(path: Path, item: str, options: Options) -> Iterator[tuple[str, Any]]:
    """Yield the records with their places; those of CSV as JSON has them."""
    with open_binary(path) as file:
        start = file.peek(2**16)  # type: ignore[attr-defined]
    if Head(path, start).keys()[0]:
        yield from records(path)
        return
    table = open_table(path, "label", item)
    cells, whole = Cells("#", listed=options.label_names or ()), dict[str, dict[str, Any]]()
    for number, row in table.rows(table.columns):
        place = f"{path}, row {number + 1}"
        if {"id", "user", "annotation_approver"} <= row.keys():  # a row for each annotation
            given = {each: row.pop(each) for each in ("label", "user")}
            whole.setdefault(row["id"], {**row, "annotations": []})["annotations"].append(given)
        else:
            yield place, {**row, "label": cells.read(row["label"], place).labels}
    yield from ((f"{path}, id {name}", record) for name, record in whole.items())


_WITH_LABELS = ("annotations", "label", "labels")


def _by_person(
    record: dict[str, Any], codes: dict[str, str], place: str
) -> dict[str | None, list[str]]:
    """Return the labels that each person gave, or all together."""
    field = next((name for name in _WITH_LABELS if name in record), "label")
    values = checked_as(list[Any], record.get(field), place, field)
    if any(isinstance(x, list) or (isinstance(x, dict) and "start_offset" in x) for x in values):
        raise fault(place, f"{field} is about parts of a text; only labels of whole items are read")
    are_codes = field == "annotations" or any(isinstance(each, int | float) for each in values)
    given = values if field == "annotations" else [{"label": each} for each in values]
    people: dict[str | None, list[str]] = {} if given else {None: []}
    for each in checked_as(list[_Annotation], given, place, field):
        if are_codes and each.label not in codes:
            way = f"give numbers and names as {setting('class_names', 'FILE')}"
            raise fault(place, f"the label {shown(each.label)} is a number without a name; {way}")
        people.setdefault(each.user, []).append(codes[each.label] if are_codes else each.label)
    return people


DOCCANO = Format(
    name="doccano",
    title="doccano: JSON, JSON lines or CSV of texts or pictures with labels",
    recognizes=_is_doccano,
    read=_read_doccano,
    uses="absent present item unselected none question class_names drop",
    reads="the item, `label`, `labels` or `annotations`",
    counts=("forms", "forms without an answer"),
)
