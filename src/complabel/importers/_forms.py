"""Turn the choices that one person made in a form into answers.

A form may have a control for labels that do not apply, and one for labels that do. No export says
which is which, so the user must.

Choices in both controls become one answer, "named" with relevant labels: a mistake concerns the
whole form, and answers are counted, weighted and held out one by one. Only if somebody chooses a
label in both controls, the form becomes two answers. Their contradiction is resolved when the table
is read; within one answer, it would make the file unreadable.

The seconds of a form are those of its answer. If it gives several answers, nobody knows how long
each of them took, so their seconds stay empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from complabel._opening import fault
from complabel.importers._format import Options, Row, Tally, as_json
from complabel.importers._json import shown


class Controls(NamedTuple):
    """Controls with labels that do not apply, and with labels that do."""

    absent: tuple[str, ...] = ()
    present: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """The choices of one person about one item, by control, and the fields of the task."""

    place: str
    answer_id: str
    item: str
    chosen: Mapping[str, list[str]]
    menu: tuple[str, ...] | None = None
    annotator: str | None = None
    time: str | None = None
    seconds: float | None = None
    task: Mapping[str, Any] = field(default_factory=dict)
    is_cancelled: bool = False

    def row(self, label: str, answer: str, question: str, **more: Any) -> Row:
        """Return a row of the form's answer."""
        shared = {"annotator": self.annotator, "time": self.time, "seconds": self.seconds}
        return Row(self.answer_id, self.item, label, answer, question, **{**shared, **more})


def settle(
    forms: Iterable[Form],
    options: Options,
    tally: Tally,
    path: Path,
    own: Sequence[str] = (),
    *,
    word: str = "control",
) -> Controls:
    """Decide what the labels in each control mean; ``own`` answer questions of the tasks."""
    found = Counter(name for form in forms for name, labels in form.chosen.items() if labels)
    listed = ", ".join(f"{shown(name)} (used {count:,} times)" for name, count in found.items())
    told = (*options.absent, *options.present)
    for name in told:
        if name in options.absent and name in options.present:
            raise fault(path, f"{word} {shown(name)} is given with --absent and with --present")
        if name not in found:
            raise fault(
                path, f"has no choice in a {word} {shown(name)}; it has {listed or 'none at all'}"
            )
    if not found and not own:
        why = "nothing was chosen, or everything was cancelled; export annotated items"
        raise fault(path, f"has no choice in any {word}: {why}")
    if told or own:
        unread = [shown(name) for name in found if name not in (*told, *own)]
        if unread:
            more = " more" if told else ""
            tally.remark(
                f"Not read: {word} {', '.join(unread)}. Give --absent or --present to read{more}."
            )
        return Controls(options.absent, options.present)
    if len(found) > 1:
        raise fault(
            path,
            f"has several {word}s: {listed}; say what they mean: --absent {word.upper()} for"
            f" labels that do not apply, --present {word.upper()} for labels that do",
        )
    (only,) = found
    tally.remark(
        f"The only {word}, {shown(only)}, is read as labels that do not apply. Give --present"
        f" {only!r} if they apply, or --absent {only!r} to confirm that they do not."
    )
    return Controls((only,))


def rows_of(
    form: Form, controls: Controls, options: Options, tally: Tally, probability: float | None = None
) -> list[Row]:
    """Return the rows of a form, if any; ``probability`` is that of its menu."""
    absent, present = (
        list(dict.fromkeys(label for name in names for label in form.chosen.get(name, ())))
        for names in controls
    )
    # The menu may belong to one control only, so labels that apply need not be on it.
    for label in absent + present if options.unselected == "no" else absent:
        if form.menu is not None and label not in form.menu:
            told = f"{shown(label)} was chosen, but the task's options do not offer it"
            raise fault(form.place, f"{told}; correct them, or rename the field if it is no menu")
    parts = [(form, absent, present, options.question)]
    if set(absent) & set(present):
        two = [
            replace(form, answer_id=f"{form.answer_id}-{what}", seconds=None)
            for what in Controls._fields
        ]
        parts = [(two[0], absent, [], options.question), (two[1], [], present, None)]
    # If all labels that apply were ticked, those that were not chosen do not apply.
    every = options.unselected == "no" or (options.question == "ticked" and not controls.absent)
    return [row for part in parts for row in _answer(*part, every, options, tally, probability)]


def shown_in(form: Form, options: Options) -> tuple[str, ...]:
    """Return all labels that a form showed."""
    shown_ones = form.menu or options.label_names
    if shown_ones is None:
        needed = (
            "labels that were not chosen do not apply, so all labels that were shown are needed"
        )
        raise fault(form.place, f"{needed}; the export does not list them, give --label-names")
    return shown_ones


def nothing_ticked(
    form: Form,
    controls: Controls,
    options: Options,
    tally: Tally,
    probability: float | None = None,
) -> list[Row]:
    """Return the rows of a form in which people might have ticked labels, but did not."""
    if options.question != "ticked" or not any(controls):
        return []
    all_apply, them = ("all labels", "do not") if controls.absent else ("no labels", "do")
    tally.counts["forms without a tick"] += 1
    tally.remark(
        f"Where nothing was ticked, {all_apply} on offer apply, because --question ticked says"
        f" that people ticked all labels that {them} apply."
    )
    said = [("", "yes")]
    if not controls.absent:
        said = [(label, "no") for label in shown_in(form, options)]
    menu = None if form.menu is None else as_json(form.menu)
    about = {"offered": menu, "probability": probability}
    return [form.row(label, word, "ticked", **about) for label, word in said]


def _answer(
    form: Form,
    absent: list[str],
    present: list[str],
    told: str | None,
    every: bool,
    options: Options,
    tally: Tally,
    probability: float | None,
) -> Iterator[Row]:
    question, menu = told or "named", form.menu
    unchosen: list[str] = []
    if present and every:  # every label that was shown was judged
        question = "ticked"
        unchosen = [label for label in shown_in(form, options) if label not in {*absent, *present}]
    elif question != "ticked" and (not absent or (menu is not None and len(menu) == 1)):
        question = "asked"  # a menu of one label is a yes/no question
    if question != "asked" and menu is None and options.label_names is None:
        tally.remark(
            "The export does not list the labels on offer, so only labels that were chosen are"
            " known. Give all labels with --label-names."
        )
    if menu is not None and question == "asked" and not {*absent, *present} <= set(menu):
        menu = None  # it belongs to another control
    if question == "asked" and not absent:
        probability = None  # labels that somebody volunteered were not drawn at random
    for answer, labels in (("no", absent), ("yes", present), ("no", unchosen)):
        for label in labels:
            yield form.row(
                label,
                answer,
                question,
                offered=None if menu is None else as_json(menu),
                asked_for=len(absent) if question == "named" else None,
                probability=probability,
            )
