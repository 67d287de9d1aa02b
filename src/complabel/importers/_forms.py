"""Forms that people fill in elsewhere, and what the labels that they chose there mean.

A form may have a control for labels that do not apply, and one for labels that do. No export
says which is which, so the user must, unless the form is one of complabel's own. Choices in both
become one answer, "named" with relevant labels: a mistake concerns the whole form, and answers are
counted, weighted and held out one by one. Only if somebody chooses a label in both controls, the
form becomes two answers. Their contradiction is resolved when the table is read; within one answer,
it would make the file unreadable. The seconds of a form are those of its answer, and stay empty if
it gives several.
"""

from __future__ import annotations

import itertools
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from complabel._opening import fault
from complabel._settings import setting
from complabel.errors import DatasetFormatError, InputError
from complabel.files import Cell, may_mean_none, none_or_label
from complabel.importers._format import Options, Row, Tally, as_json, shown
from complabel.importers._questions import CONTROLS, MARKED, UNSURE

SEPARATOR = " / "  # of a choice and its parents, as in Label Studio


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
    is_tree: bool = False  # choices are paths of a taxonomy
    is_led: bool = False  # it began with a model's prediction
    parts: frozenset[str] = frozenset()  # controls with choices about parts of the item
    # Controls whose cells are blank, where these may be forms that nobody filled in.
    blank: frozenset[str] = frozenset()
    none: frozenset[str] = frozenset()  # controls that say that none of the labels is chosen

    @classmethod
    def of_cells(
        cls, place: str, answer_id: str, item: str, cells: Mapping[str, Cell], **more: Any
    ) -> Form:
        """Make a form of the cells of a row, by column."""
        chosen = {name: cell.labels for name, cell in cells.items()}
        blank = frozenset(name for name, cell in cells.items() if cell.is_blank)
        none = frozenset(name for name, cell in cells.items() if cell.is_none)
        return cls(place, answer_id, item, chosen, blank=blank, none=none, **more)

    def row(self, label: str, answer: str, question: str, **more: Any) -> Row:
        shared = {"annotator": self.annotator, "time": self.time, "seconds": self.seconds}
        return Row(self.answer_id, self.item, label, answer, question, **{**shared, **more})


def settle(
    forms: Iterable[Form],
    options: Options,
    tally: Tally,
    path: Path,
    question_controls: Sequence[str] = (),
    *,
    word: str = "control",
) -> FormReader:
    """Decide what the labels in each control mean; ``question_controls`` answer tasks' questions.

    The user says it, or the controls are those of a form that ``label_studio_config`` writes.
    """
    forms, named = list(forms), (*options.absent, *options.present)
    values = _values_of(forms)
    for name in named:
        if name in options.absent and name in options.present:
            raise fault(path, f"{word} {shown(name)} is given with --absent and with --present")
        if name not in values and values:
            listed = "; ".join(map(_with_values, values.items())) or "none at all"
            raise fault(path, f"has no choice in a {word} {shown(name)}; it has {listed}")
    if not values and not question_controls:
        left = [f"{n:,} {what}" for what, n in tally.counts.items() if n and what != "tasks"]
        why = "nothing was chosen, or nothing of it counts"
        raise fault(path, f"has no choice in any {word}: {why} ({', '.join(left)})")
    controls, question = Controls(options.absent, options.present), options.question
    if not named and not question_controls:
        if word == "control":
            controls, question = _of_our_forms(forms, values, question)
        if not any(controls):
            has_labels = any(form.menu for form in forms) or options.label_names is not None
            raise untold(path, values, word, has_labels)
    read = {*sum(controls, ()), *question_controls}
    unread = [shown(name) for name in values if name not in read]
    if unread:
        more = " more" if named else ""
        tally.remark(
            f"Not read: {word} {', '.join(unread)}. Give --absent or --present to read{more}."
        )
    return FormReader(controls, replace(options, question=question), tally)


def _values_of(forms: Iterable[Form]) -> dict[str, Counter[str]]:
    """Return how often each choice was made, by control; those with most choices come first."""
    values: dict[str, Counter[str]] = {}
    for form in forms:
        for name, labels in form.chosen.items():
            if labels:
                values.setdefault(name, Counter()).update(labels)
    return dict(sorted(values.items(), key=lambda each: -each[1].total()))


def _of_our_forms(
    forms: Sequence[Form], names: Iterable[str], question: str | None
) -> tuple[Controls, str | None]:
    not_this, applies = CONTROLS["named"], CONTROLS["ticked"]
    if {*names} == {positive := CONTROLS["positive"]}:
        return Controls(present=(positive,)), question or "positive"
    there = {not_this, applies, MARKED}.intersection(names)
    if there == {applies} == {*names}:
        return Controls(present=(applies,)), question or "ticked"
    several = any(len({*form.chosen.get(not_this, ())}) > 1 for form in forms)
    if applies in there or (several and question is None):
        return Controls(), None  # who names a label names one; older forms also took all of them
    absent, present = (tuple(there & {name}) for name in (not_this, MARKED))
    return Controls(absent, present), question


_TICKED = {"question": "ticked"}
_LONGEST, _MOST = 60, 4  # letters of a name, and controls, in the message below


def untold(
    path: Path, values: Mapping[str, Counter[str]], word: str, has_labels: bool
) -> DatasetFormatError:
    """Return the error if nothing says what choices mean, with options that say it.

    ``values`` are the choices by control; the options are for the first one.
    """
    first, more = next(iter(values)), "" if has_labels else " --label-names FILE"
    name = shlex.quote(first) if len(first) <= _LONGEST else word.upper()
    left = len(values) - _MOST
    lines = (
        f"{path}: nothing says what people's choices mean, so nothing was read. It has",
        *(f"  {word} {_with_values(each)}" for each in itertools.islice(values.items(), _MOST)),
        *[f"  and {left:,} others"] * (left > 0),
        f"For each {word} to read, give one of these (absent, present, question of Options):",
        f"  --present {name} --read-as ticked{more}",
        "      people ticked all labels that apply; the others do not",
        f"  --present {name}",
        "      a label that was chosen applies; nothing is known about the others, for example if"
        " only one could be chosen",
        f"  --present {name} --read-as tagged",
        "      people chose labels that apply, as many as they cared to; the others are not known",
        f"  --absent {name}",
        "      a label that was chosen does not apply; nothing is known about the others, for"
        " example if one was to be named",
        f"  --absent {name} --read-as ticked{more}",
        "      people ticked all labels that do not apply; the others do",
    )
    ways = [{side: (first,)} | more for side in Controls._fields for more in (_TICKED, {})]
    ways.append({"present": (first,), "question": "tagged"})
    text = "\n".join(str(fault("", line))[2:] for line in lines)
    return DatasetFormatError(text, proposes=ways)


def _with_values(control: tuple[str, Counter[str]]) -> str:
    name, values = control
    some = [*map(shown, itertools.islice(values, 3)), *["..."] * (len(values) > 3)]
    return f"{shown(name)} (used {values.total():,} times): {', '.join(some)}"


_MEANS = {
    (False, "no"): ", so that no labels apply",
    (False, "yes"): ", so that all labels apply",
    (True, "no"): " by somebody who looked for tags",
}


@dataclass(frozen=True)
class FormReader:
    """Turns the choices in forms into answers, by what the controls mean and the user said."""

    controls: Controls
    options: Options
    tally: Tally

    def __post_init__(self) -> None:
        unselected, meant = self.options.unselected, self._if_ticked
        if meant and unselected in ("no", "yes") and unselected != meant:
            what = "do not apply" if meant == "yes" else "apply"
            raise InputError(
                f"{setting('unselected', unselected)} is given, but labels that were chosen {what},"
                f" so it must be {meant} or unknown",
                parameter="unselected",
            )

    @property
    def _if_ticked(self) -> str | None:
        """What labels are that nobody ticked, if all that apply, or all others, were ticked."""
        if all(self.controls) or not any(self.controls):
            return None
        return "yes" if self.controls.absent else "no"

    @property
    def rest(self) -> str | None:
        """What is said of labels that were shown and not chosen: "no", "yes", or nothing."""
        unselected = self.options.unselected if self.options.unselected in ("no", "yes") else None
        is_list = self.options.question in ("ticked", "tagged")
        return (self._if_ticked if is_list else None) or unselected

    def rows(self, form: Form) -> list[Row]:
        """Return the rows of a form, if any."""
        if not any(self.controls) or form.is_cancelled or not self._is_filled_in(form):
            return []
        # Where unchosen labels count, a form with choices about parts says too little of the whole.
        if self.rest is not None and not form.parts.isdisjoint(sum(self.controls, ())):
            return []
        both = [
            list(dict.fromkeys(label for name in names for label in form.chosen.get(name, ())))
            for names in self.controls
        ]
        absent, present = (
            [x for x in labels if x.casefold() not in self.options.none] for labels in both
        )
        for kept, labels in zip((absent, present), both, strict=True):
            if kept and len(kept) < len(labels):
                raise fault(form.place, f"has {shown(kept[0])}, and a word that none applies")
        self._check(form, absent, present)
        if not absent and not present:
            says_none = not form.none.isdisjoint(sum(self.controls, ())) or any(both)
            if says_none and self.controls.absent and self.options.question != "ticked":
                text = "has a word for none among labels that do not apply, which may mean that all"
                raise fault(form.place, f"{text} apply; leave the cell or the form blank")
            return self._nothing_ticked(form, says_none)
        parts = [(form, absent, present, self.options.question)]
        if set(absent) & set(present):
            two = [
                replace(form, answer_id=f"{form.answer_id}-{what}", seconds=None)
                for what in Controls._fields
            ]
            parts = [(two[0], absent, [], self.options.question), (two[1], [], present, None)]
        return [row for part in parts for row in self._answer(*part)]

    def _is_filled_in(self, form: Form) -> bool:
        """Return whether somebody filled in a form; a blank cell may be one without a tick."""
        names = sum(self.controls, ())
        if self.rest is None or not form.blank.issuperset(names):
            return True
        unselected = self.options.unselected
        if unselected is None:
            raise fault(
                form.place,
                f"{shown(names[0])} is blank; it is not known whether nothing was ticked there,"
                f" or nobody answered: give {setting('unselected', self.rest)} if nothing was"
                f" ticked{_MEANS[self.options.question == 'tagged', self.rest]}, or"
                f" {setting('unselected', 'unknown')} if nobody answered",
                proposes=[{"unselected": self.rest}, {"unselected": "unknown"}],
            )
        return unselected != "unknown"

    def _check(self, form: Form, absent: list[str], present: list[str]) -> None:
        # The menu may belong to one control only, so labels that apply need not be on it.
        for label in absent + present if self.rest == "no" else absent:
            if form.menu is not None and label not in form.menu:
                text = f"{shown(label)} was chosen, but the task's options do not offer it; correct"
                raise fault(form.place, f"{text} them, or rename the field if it is no menu")
        for label in absent + present:
            if self.options.label_names is None and form.menu is None and may_mean_none(label):
                if label in absent:
                    text = f"has {shown(label)} among labels that do not apply; if it is a label,"
                    text += f" list all as {setting('label_names')}, else say what it means by"
                    raise fault(form.place, f"{text} leaving the cell or the form blank")
                raise none_or_label(label, form.place)
            if self.options.label_names is None and label.casefold() in ("yes", UNSURE):
                text = f"{shown(label)} was chosen, which is an answer and no label; a control with"
                text += " yes and no is read if tasks have the field 'label' to say about what"
                raise fault(form.place, f"{text}; if it is a label, list all with --label-names")
        if self.options.question == "ticked" and all(self.controls) and self.rest is None:
            left = {*self._shown_in(form)}.difference(absent, present)
            if left:
                text = f"{shown(min(left))} was ticked neither as a label that applies nor as one"
                raise fault(
                    form.place,
                    f"{text} that does not; leave out --read-as ticked, or give --unselected no or"
                    " yes",
                )

    def _nothing_ticked(self, form: Form, says_none: bool) -> list[Row]:
        """Return the rows of a form in which people ticked no label; ``says_none``: they say so."""
        if self.options.question == "positive":
            menu = None if form.menu is None else as_json(form.menu)
            return [form.row("", "no", "positive", offered=menu)] if says_none else []
        if self.options.question == "tagged":
            self.tally.counts["forms without a tag"] += 1
            menu = None if form.menu is None else as_json(form.menu)
            return [form.row("", "no", "tagged", offered=menu)]
        rest = self._if_ticked if says_none else self.rest
        if rest is None or all(self.controls):
            return []
        self.tally.counts["forms without a tick"] += 1
        all_apply = "all labels" if rest == "yes" else "no labels"
        self.tally.remark(
            f"Where nothing was ticked, {all_apply} on offer apply, because people ticked all"
            f" labels that {'do not ' * (rest == 'yes')}apply."
        )
        menu = None if form.menu is None else as_json(form.menu)
        return [form.row(label, rest, "ticked", offered=menu) for label in self._shown_in(form)]

    def _shown_in(self, form: Form) -> tuple[str, ...]:
        labels = form.menu or self.options.label_names
        if labels is None:
            raise fault(
                form.place,
                "labels that were not chosen count, too, so all labels that were shown are"
                f" needed; the export does not list them, give {setting('label_names')}",
            )
        return labels

    def _answer(
        self, form: Form, absent: list[str], present: list[str], stated: str | None
    ) -> Iterator[Row]:
        question, menu, options = stated or "named", form.menu, self.options
        if question in ("positive", "tagged"):
            yield from self._positive(form, absent, present, question)
            return
        others: list[tuple[str, str]] = []
        if self.rest and (present if self.rest == "no" else absent):  # every one shown was judged
            question = "ticked"
            others = self._others(form, absent, present)
        elif question != "ticked" and (not absent or (menu is not None and len(menu) == 1)):
            question = "asked"  # a menu of one label is a yes/no question
        if question != "asked" and menu is None and options.label_names is None:
            self.tally.remark(
                "The export does not list the labels on offer, so only labels that were chosen are"
                " known. Give all labels with --label-names."
            )
        meaning_of_others = options.question or options.unselected
        if present and not self.controls.absent and question == "asked" and not meaning_of_others:
            self.tally.remark(
                "Nothing is known about labels that were not chosen. If people ticked all that"
                " apply, give --read-as ticked."
            )
        if len(absent) > 1 and question == "named" and stated is None:
            self.tally.remark(
                "Several labels that do not apply are read as named, and nothing is known about the"
                " others. If people ticked all that do not apply, give --read-as ticked."
            )
        if menu is not None and question == "asked" and not {*absent, *present} <= set(menu):
            menu = None  # it belongs to another control
        about = {
            "offered": None if menu is None else as_json(menu),
            "asked_for": len(absent) if question == "named" else None,
        }
        judged = [(label, "no") for label in absent] + [(label, "yes") for label in present]
        for label, answer in judged + others:
            yield form.row(label, answer, question, **about)

    def _positive(
        self, form: Form, absent: list[str], present: list[str], question: str
    ) -> Iterator[Row]:
        """Yield the rows of labels that somebody named or tagged because they apply."""
        if absent:
            text = f"{shown(absent[0])} was chosen because it does not apply"
            raise fault(
                form.place, f"{text}, but the question is {question}; leave out one of both"
            )
        if question == "positive" and form.menu is not None and len(form.menu) == 1:  # it is yes/no
            yield form.row(present[0], "yes", "asked")
            return
        menu = None if form.menu is None else as_json(form.menu)
        for label in present:
            asked_for = len(present) if question == "positive" else None
            yield form.row(label, "yes", question, offered=menu, asked_for=asked_for)

    def _others(self, form: Form, absent: list[str], present: list[str]) -> list[tuple[str, str]]:
        """Return labels that were shown and not chosen, and what that says of them.

        In a tree, a label applies if one below it does, and none below a label that does not.
        """
        others = []
        for label in self._shown_in(form):
            if label not in absent and label not in present:
                above = any(each.startswith(label + SEPARATOR) for each in present)
                below = any(label.startswith(each + SEPARATOR) for each in absent)
                kin = "yes" if above else "no" if below else None
                others.append((label, (kin if form.is_tree else None) or str(self.rest)))
        return others
