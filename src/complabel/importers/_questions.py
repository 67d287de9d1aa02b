"""Questions that travel through another tool, and the forms that people fill in there.

A task carries all that its answer needs: ``item``, ``question``, ``label`` or ``offered``,
``asked_for``, ``probability`` and ``answer_id``. Tools give the fields of a task back, so an export
says itself what was asked, and nothing has to be guessed from what people chose.

Known answers belong to a random sample of questions, but nobody is asked about them. They travel in
the field ``known`` of the question that follows them, and count once it is answered. So if somebody
stops early, those among the questions that were answered count, and no others.

Other forms may have a control for labels that do not apply, and one for labels that do. No export
says which is which, so the user must, unless the form is one of complabel's own. Choices in both
become one answer, "named" with relevant labels: a mistake concerns the whole form, and answers are
counted, weighted and held out one by one. Only if somebody chooses a label in both controls, the
form becomes two answers. Their contradiction is resolved when the table is read; within one answer,
it would make the file unreadable. The seconds of a form are those of its answer, and stay empty if
it gives several.
"""

from __future__ import annotations

import itertools
import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from complabel._drawn import opened
from complabel._opening import fault
from complabel._questions import BY_STEM, QuestionKind
from complabel._settings import setting
from complabel.answers import ANSWER_WORDS
from complabel.errors import DatasetFormatError, InputError
from complabel.files import Cell, answers_to_arrow, may_mean_none, none_or_label
from complabel.importers._format import (
    Chance,
    OptionalText,
    Options,
    Row,
    Tally,
    Text,
    as_json,
    checked,
    shown,
)

ALL_APPLY = "all apply"  # the answer to a naming if all labels on offer apply
NONE_APPLY = "none apply"  # the answer of somebody who ticks no label
UNSURE = "unsure"
MARKED = "this"  # the control for labels that apply, beside the one for a label that does not
SEPARATOR = " / "  # of a choice and its parents, as in Label Studio

_COLUMNS = (
    *("answer_id", "item", "label", "answer", "question", "offered", "asked_for"),
    *("probability", "drawn", "annotator"),
)
Task = dict[str, Any]


class Wording(NamedTuple):
    """How a question is put in another tool."""

    control: str  # with the answer, in a form of Label Studio
    header: str  # above the labels of such a form
    sentence: Callable[[Task], str]  # to somebody who reads nothing else
    to_do: str  # in a row of a spreadsheet
    fixed: str = ""  # what is said in place of a label, if none is chosen


def _ask(task: Task) -> str:
    return f"Does the label {task['label']!r} apply to this item? Answer yes, no, or unsure."


def _ask_to_tick(task: Task) -> str:
    return (
        f"Which of these labels apply to this item: {_listing(task)}? "
        f"List all that apply. If none of them applies, say '{NONE_APPLY}'."
    )


def _ask_to_name(task: Task) -> str:
    wanted = task["asked_for"]
    told = f"Name one of these labels that does not apply to this item: {_listing(task)}."
    if wanted > 1:
        told = (
            f"Name {wanted} of these labels that do not apply to this item, fewer only if no "
            f"others do not apply: {_listing(task)}."
        )
    return f"{told} If all of them apply, say '{ALL_APPLY}'."


def _listing(task: Task) -> str:
    return ", ".join(map(repr, task["offered"]))


WORDINGS = {
    "asked": Wording(
        control="answer",
        header="Does this label apply?",
        sentence=_ask,
        to_do="Does this label apply? Write yes, no or unsure into the column answer.",
    ),
    "named": Wording(
        control="not_this",
        header="Name one label that does not apply.",
        sentence=_ask_to_name,
        to_do="Write one label of the column offered that does not apply into the column label. If"
        " all of them apply, write yes into the column answer; if you are unsure, unsure.",
        fixed=ALL_APPLY,
    ),
    "ticked": Wording(
        control="applies",
        header="Tick every label that applies. If none does, submit without a tick.",
        sentence=_ask_to_tick,
        to_do="Write yes into the column answer if this label applies. If no label of this"
        " answer_id applies, write one no. If you do not know about one, write unsure beside it.",
        fixed=NONE_APPLY,
    ),
}
"""The wordings of all questions that people may be asked, by their word in tables of answers."""
CONTROLS = {question: wording.control for question, wording in WORDINGS.items()}


def tasks_of(
    table: Any, shown_of: Mapping[str, Task] | None, label_names: Sequence[str] | None
) -> list[Task]:
    """Return the questions of a table; known answers are in the next one's field ``known``.

    ``shown_of`` has the fields with what is shown of each item.
    """
    tasks: list[Task] = []
    waiting: list[Task] = []
    for task, place in _all_of(table, label_names):
        if task["answer"] is not None:
            waiting.append(task)
            continue
        del task["answer"]
        if shown_of is not None:
            if not shown_of.get(task["item"]):
                raise InputError(f"{place}: nothing to show for item {task['item']!r} (shown)")
            task |= shown_of[task["item"]]
        if waiting:
            task["known"], waiting = waiting, []
        tasks.append(task)
    if not tasks:
        raise InputError("the table has no question without an answer; there is nothing to ask")
    if waiting:
        tasks[-1]["known"] = [*tasks[-1].get("known", ()), *waiting]
    return tasks


def _all_of(table: Any, label_names: Sequence[str] | None) -> Iterator[tuple[Task, str]]:
    """Yield each question with its known answer or None, and its place in the table."""
    there = [name for name in _COLUMNS if name in getattr(table, "columns", table)]
    rows = answers_to_arrow({name: table[name] for name in there}).select(_COLUMNS).to_pylist()
    width = len(str(len(rows)))
    for _, group in itertools.groupby(enumerate(rows, 1), _question_of):
        numbers, form = zip(*group, strict=True)
        first, place = form[0], f"row {numbers[0]} of the questions"
        kind = first["question"] or ("asked" if first["label"] else "named")
        task = {"answer_id": first["answer_id"] or f"q{numbers[0]:0{width}}", "item": first["item"]}
        if kind == "asked":
            if first["label"] is None:
                raise InputError(f"{place}: has no label; fill it in")
            asked = {"label": first["label"], "answer": first["answer"]}
        elif kind not in WORDINGS:
            told = f"{kind!r} cannot become a question"
            raise InputError(f"{place}: {told}; give {' or '.join(WORDINGS)}")
        elif BY_STEM[kind].judges:
            asked = _ticked(form, place)
        else:
            asked = _named(first, label_names, place)
        asked |= {n: first[n] for n in ("probability", "drawn") if first[n] is not None}
        if asked["answer"] is not None and first["annotator"] is not None:
            asked["annotator"] = first["annotator"]  # who said what is known
        yield task | {"question": kind} | asked, place


def _question_of(numbered: tuple[int, Mapping[str, Any]]) -> tuple[str, Any]:
    number, row = numbered
    is_form = row["question"] == "ticked" and row["answer_id"] is not None
    return ("form", row["answer_id"]) if is_form else ("row", number)


def _named(row: Mapping[str, Any], label_names: Sequence[str] | None, place: str) -> Task:
    if row["answer"] is not None or row["label"] is not None:
        raise InputError(f"{place}: a naming is already answered; leave such rows out")
    menu = list(label_names or ()) if row["offered"] is None else json.loads(row["offered"])
    if len(menu) < 2:
        raise InputError(f"{place}: offers {len(menu)} labels; give offered, or label_names=[...]")
    _refuse_fixed(menu, WORDINGS[row["question"] or "named"].fixed, place)
    return {"offered": menu, "asked_for": row["asked_for"] or 1, "answer": None}


def _ticked(rows: Sequence[Mapping[str, Any]], place: str) -> Task:
    menu = [row["label"] for row in rows]
    if len(menu) < 2 or None in menu:
        told = "a question to tick needs a row with the same answer_id for each label"
        raise InputError(f"{place}: {told}; fill them in")
    _refuse_fixed(menu, WORDINGS["ticked"].fixed, place)
    ticked = [row["label"] for row in rows if row["answer"] == "yes"]
    is_known = any(row["answer"] is not None for row in rows)
    return {"offered": menu, "answer": ticked if is_known else None}


def _refuse_fixed(menu: Sequence[str], fixed: str, place: str) -> None:
    if fixed and fixed in map(str.casefold, menu):
        raise InputError(f"{place}: {fixed!r} is a fixed answer; rename the label")


def _listed(value: Any) -> Any:
    """Return a list, which tables hold as JSON."""
    return json.loads(value) if isinstance(value, str) else value


def _known_question(word: str) -> str:
    if word not in WORDINGS:
        raise ValueError(f"{word!r} is none of {', '.join(WORDINGS)}")
    return word


class Question(BaseModel):
    """A question as its task carries it."""

    item: Text
    question: Annotated[str, AfterValidator(_known_question)]
    label: OptionalText = None
    offered: Annotated[list[Text], BeforeValidator(_listed)] = []
    asked_for: Annotated[int, Field(ge=1, lt=2**31)] = 1
    probability: Chance | None = None
    drawn: OptionalText = None
    answer_id: OptionalText = None
    known: Annotated[list[dict[str, Any]], BeforeValidator(_listed)] = []

    @property
    def kind(self) -> QuestionKind:
        """The kind of the question, without the number of labels on offer."""
        return BY_STEM[self.question]

    def meaning(self, chosen: Sequence[str], place: str) -> str | list[str] | None:
        """Return what choices in a form say; None if nothing was chosen where it had to be."""
        words = [each.strip().casefold() for each in chosen]
        if self.question == "asked":
            meant = {ANSWER_WORDS.get(word, "") for word in words}
            if len(meant) > 1 or "" in meant:
                told = f"says {' and '.join(map(shown, chosen))} to a yes or no question"
                raise fault(place, f"{told}; it must be one of {', '.join(ANSWER_WORDS)}")
            return meant.pop() if meant else None
        if words == [UNSURE] and chosen[0] not in self.offered:
            return UNSURE
        if words and words == [WORDINGS[self.question].fixed]:
            return []
        return list(chosen) or ([] if self.kind.judges else None)

    def rows(self, said: str | Sequence[str], **shared: Any) -> list[Row]:
        """Return the rows of an answer.

        ``said`` is "yes", "no" or "unsure", or the labels that somebody chose.
        """
        shared = {
            "question": self.question,
            "offered": as_json(tuple(self.offered)) if self.offered else None,
            "asked_for": self.asked_for if self.kind.chooses else None,
            "probability": self.probability,
            "drawn": self.drawn,
            **shared,
        }
        offered = [self.label or ""] if self.question == "asked" else self.offered
        return [
            Row(item=self.item, label=label or "", answer=word, **shared)
            for label, word in self.kind.rows(said, offered)
        ]


class _Known(Question):
    """A known answer, which travels with the question that follows it."""

    answer: Literal["yes", "no", "unsure"] | list[Text]
    annotator: OptionalText = None


def question_in(task: Mapping[str, Any]) -> str | None:
    """Return the kind of question that a task carries, None if it carries none."""
    kind = str(task.get("question") or "").strip().casefold()
    if kind in WORDINGS and kind != "asked" and task.get("offered"):
        return kind
    has_label = bool(str(task.get("label") or "").strip())
    return "asked" if kind in ("", "asked") and has_label else None


def question_of(task: Mapping[str, Any], place: str, **more: Any) -> Question:
    """Return the question that a task carries; ``more`` replaces fields of the task."""
    try:
        drawn = opened(str(task.get("drawn") or ""), task.get("item"), task.get("label"))
    except ValueError as error:
        raise fault(place, f"has drawn {shown(task['drawn'])}; {error}") from error
    fields = {**task, "question": question_in(task), "drawn": drawn, **more}
    blank = {name for name in Question.model_fields if fields.get(name) in (None, "")} - {"item"}
    return checked(Question, {k: v for k, v in fields.items() if k not in blank}, place)


@dataclass
class Travelled:
    """Turns what people said about questions into rows, with ids that differ."""

    _times: Counter[str] = field(default_factory=Counter)
    _known: set[str] = field(default_factory=set)

    def rows(
        self, question: Question, said: str | Sequence[str], place: str, **shared: Any
    ) -> list[Row]:
        """Return the rows of an answer, and before them known answers, once.

        ``shared`` says who answered when; it may have an ``answer_id`` for a question without one.
        """
        if not isinstance(said, str):
            strange = next((label for label in said if label not in question.offered), None)
            if strange is not None:
                told = f"{shown(strange)} is not among the labels that the task offered"
                raise fault(place, f"{told}; let people choose among these only")
            if question.kind.chooses and len(said) > question.asked_for:
                told = f"{len(said)} labels were chosen, and {question.asked_for} asked for"
                raise fault(place, f"{told}; correct it, or ask again")
            if not said and question.kind.chooses and not question.kind.names:
                raise fault(place, "no label was chosen; ask again: one must be")
        found: list[Row] = []
        for each in question.known:
            known, text = checked(_Known, each, f"{place}, known"), json.dumps(each)
            if text not in self._known:
                self._known.add(text)
                answer_id = self._unlike(known.answer_id)
                found += known.rows(known.answer, answer_id=answer_id, annotator=known.annotator)
        answer_id = self._unlike(question.answer_id or shared.get("answer_id"))
        return [*found, *question.rows(said, **{**shared, "answer_id": answer_id})]

    def _unlike(self, answer_id: str | None) -> str:
        """Return an id that no other answer has: two people may answer one question."""
        name = answer_id or ""
        self._times[name] += 1
        return name if self._times[name] == 1 else f"{name} ({self._times[name]})"


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
    blank: frozenset[str] = frozenset()  # controls whose cells are blank
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
    own: Sequence[str] = (),
    *,
    word: str = "control",
) -> FormReader:
    """Decide what the labels in each control mean; ``own`` answer questions of the tasks.

    The user says it, or the controls are those of a form that ``label_studio_config`` writes.
    """
    forms, told = list(forms), (*options.absent, *options.present)
    values = _values_of(forms)
    for name in told:
        if name in options.absent and name in options.present:
            raise fault(path, f"{word} {shown(name)} is given with --absent and with --present")
        if name not in values and values:
            listed = "; ".join(map(_with_values, values.items())) or "none at all"
            raise fault(path, f"has no choice in a {word} {shown(name)}; it has {listed}")
    if not values and not own:
        left = [f"{n:,} {what}" for what, n in tally.counts.items() if n and what != "tasks"]
        why = "nothing was chosen, or nothing of it counts"
        raise fault(path, f"has no choice in any {word}: {why} ({', '.join(left)})")
    controls, question = Controls(options.absent, options.present), options.question
    if not told and not own:
        if word == "control":
            controls, question = _of_our_forms(forms, values, question)
        if not any(controls):
            has_labels = any(form.menu for form in forms) or options.label_names is not None
            raise untold(path, values, word, has_labels)
    unread = [shown(name) for name in values if name not in (*sum(controls, ()), *own)]
    if unread:
        more = " more" if told else ""
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
    """Return the controls of a form that ``label_studio_config`` writes, and its question."""
    not_this, applies = CONTROLS["named"], CONTROLS["ticked"]
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
        f"  --present {name} --question ticked{more}",
        "      people ticked all labels that apply; the others do not",
        f"  --present {name}",
        "      a label that was chosen applies; nothing is known about the others, for example if"
        " only one could be chosen",
        f"  --absent {name}",
        "      a label that was chosen does not apply; nothing is known about the others, for"
        " example if one was to be named",
        f"  --absent {name} --question ticked{more}",
        "      people ticked all labels that do not apply; the others do",
    )
    ways = [{side: (first,)} | more for side in Controls._fields for more in (_TICKED, {})]
    text = "\n".join(str(fault("", line))[2:] for line in lines)
    return DatasetFormatError(text, proposes=ways)


def _with_values(control: tuple[str, Counter[str]]) -> str:
    name, values = control
    some = [*map(shown, itertools.islice(values, 3)), *["..."] * (len(values) > 3)]
    return f"{shown(name)} (used {values.total():,} times): {', '.join(some)}"


@dataclass(frozen=True)
class FormReader:
    """Turns the choices in forms into answers, by what the controls mean and the user said."""

    controls: Controls
    options: Options
    tally: Tally

    def __post_init__(self) -> None:
        said, meant = self.options.unselected, self._if_ticked
        if meant and said in ("no", "yes") and said != meant:
            what = "do not apply" if meant == "yes" else "apply"
            raise InputError(
                f"{setting('unselected', said)} is given, but labels that were chosen {what}, so it"
                f" must be {meant} or unknown",
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
        said = self.options.unselected if self.options.unselected in ("no", "yes") else None
        return (self._if_ticked if self.options.question == "ticked" else None) or said

    def rows(self, form: Form) -> list[Row]:
        """Return the rows of a form, if any."""
        if not any(self.controls) or form.is_cancelled:
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
                told = "has a word for none among labels that do not apply, which may mean that all"
                raise fault(form.place, f"{told} apply; leave the cell or the form blank")
            return self._nothing_ticked(form, says_none)
        parts = [(form, absent, present, self.options.question)]
        if set(absent) & set(present):
            two = [
                replace(form, answer_id=f"{form.answer_id}-{what}", seconds=None)
                for what in Controls._fields
            ]
            parts = [(two[0], absent, [], self.options.question), (two[1], [], present, None)]
        return [row for part in parts for row in self._answer(*part)]

    def _check(self, form: Form, absent: list[str], present: list[str]) -> None:
        # The menu may belong to one control only, so labels that apply need not be on it.
        for label in absent + present if self.rest == "no" else absent:
            if form.menu is not None and label not in form.menu:
                told = f"{shown(label)} was chosen, but the task's options do not offer it; correct"
                raise fault(form.place, f"{told} them, or rename the field if it is no menu")
        for label in absent + present:
            if self.options.label_names is None and form.menu is None and may_mean_none(label):
                if label in absent:
                    told = f"has {shown(label)} among labels that do not apply; if it is a label,"
                    told += f" list all as {setting('label_names')}, else say what it means by"
                    raise fault(form.place, f"{told} leaving the cell or the form blank")
                raise none_or_label(label, form.place)
            if self.options.label_names is None and label.casefold() in ("yes", UNSURE):
                told = f"{shown(label)} was chosen, which is an answer and no label; a control with"
                told += " yes and no is read if tasks have the field 'label' to say about what"
                raise fault(form.place, f"{told}; if it is a label, list all with --label-names")
        if self.options.question == "ticked" and all(self.controls) and self.rest is None:
            left = {*self._shown_in(form)}.difference(absent, present)
            if left:
                told = f"{shown(min(left))} was ticked neither as a label that applies nor as one"
                raise fault(
                    form.place,
                    f"{told} that does not; leave out --question ticked, or give --unselected no or"
                    " yes",
                )

    def _nothing_ticked(self, form: Form, told: bool) -> list[Row]:
        """Return the rows of a form in which people ticked no label; ``told``: they say so."""
        rest = self._if_ticked if told else self.rest
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
        found = form.menu or self.options.label_names
        if found is None:
            raise fault(
                form.place,
                "labels that were not chosen count, too, so all labels that were shown are"
                f" needed; the export does not list them, give {setting('label_names')}",
            )
        return found

    def _answer(
        self, form: Form, absent: list[str], present: list[str], told: str | None
    ) -> Iterator[Row]:
        question, menu, options = told or "named", form.menu, self.options
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
        told_all = options.question or options.unselected
        if present and not self.controls.absent and question == "asked" and not told_all:
            self.tally.remark(
                "Nothing is known about labels that were not chosen. If people ticked all that"
                " apply, give --question ticked."
            )
        if len(absent) > 1 and question == "named" and told is None:
            self.tally.remark(
                "Several labels that do not apply are read as named, and nothing is known about the"
                " others. If people ticked all that do not apply, give --question ticked."
            )
        if menu is not None and question == "asked" and not {*absent, *present} <= set(menu):
            menu = None  # it belongs to another control
        about = {
            "offered": None if menu is None else as_json(menu),
            "asked_for": len(absent) if question == "named" else None,
        }
        said = [(label, "no") for label in absent] + [(label, "yes") for label in present]
        for label, answer in said + others:
            yield form.row(label, answer, question, **about)

    def _others(self, form: Form, absent: list[str], present: list[str]) -> list[tuple[str, str]]:
        """Return labels that were shown and not chosen, and what that says of them.

        In a tree, a label applies if one below it does, and none below a label that does not.
        """
        found = []
        for label in self._shown_in(form):
            if label not in absent and label not in present:
                above = any(each.startswith(label + SEPARATOR) for each in present)
                below = any(label.startswith(each + SEPARATOR) for each in absent)
                kin = "yes" if above else "no" if below else None
                found.append((label, (kin if form.is_tree else None) or str(self.rest)))
        return found
