"""Questions that travel through another tool, and how they come back as answers.

A task carries all that its answer needs: ``item``, ``question``, ``label`` or ``offered``,
``asked_for``, ``probability`` and ``answer_id``. Tools give the fields of a task back, so an export
says itself what was asked, and nothing has to be guessed from what people chose.

Known answers belong to a random sample of questions, but nobody is asked about them. They travel in
the field ``known`` of the question that follows them, and count once it is answered. So if somebody
stops early, those among the questions that were answered count, and no others.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from complabel._drawn import opened
from complabel._opening import fault
from complabel._questions import BY_STEM, QuestionKind
from complabel.answers import ANSWER_WORDS
from complabel.errors import InputError
from complabel.files import answers_to_arrow
from complabel.importers._format import Chance, OptionalText, Row, Text, as_json, checked, shown

ALL_APPLY = "all apply"  # the answer to a naming if all labels on offer apply
NONE_APPLY = "none apply"  # the answer of somebody who ticks no label
UNSURE = "unsure"
MARKED = "this"  # the control for labels that apply, beside the one for a label that does not

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
    sentence = f"Name one of these labels that does not apply to this item: {_listing(task)}."
    if wanted > 1:
        sentence = (
            f"Name {wanted} of these labels that do not apply to this item, fewer only if no "
            f"others do not apply: {_listing(task)}."
        )
    return f"{sentence} If all of them apply, say '{ALL_APPLY}'."


def _ask_what_applies(task: Task) -> str:
    wanted = task["asked_for"]
    sentence = f"Name one of these labels that applies to this item: {_listing(task)}."
    if wanted > 1:
        sentence = (
            f"Name {wanted} of these labels that apply to this item, fewer only if no others do:"
            f" {_listing(task)}."
        )
    return f"{sentence} If none of them applies, say '{NONE_APPLY}'."


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
    "positive": Wording(
        control="one_that_applies",
        header="Name one label that applies.",
        sentence=_ask_what_applies,
        to_do="Write one label of the column offered that applies into the column label. If none of"
        " them applies, write no into the column answer; if you are unsure, unsure.",
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
            text = f"{kind!r} cannot become a question"
            raise InputError(f"{place}: {text}; give {' or '.join(WORDINGS)}")
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
        text = "a question to tick needs a row with the same answer_id for each label"
        raise InputError(f"{place}: {text}; fill them in")
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
                text = f"says {' and '.join(map(shown, chosen))} to a yes or no question"
                raise fault(place, f"{text}; it must be one of {', '.join(ANSWER_WORDS)}")
            return meant.pop() if meant else None
        if words == [UNSURE] and chosen[0] not in self.offered:
            return UNSURE
        if words and words == [WORDINGS[self.question].fixed]:
            return []
        return list(chosen) or ([] if self.kind.judges else None)

    def rows(self, answer: str | Sequence[str], **shared: Any) -> list[Row]:
        """Return the rows of an answer.

        ``answer`` is "yes", "no" or "unsure", or the labels that somebody chose.
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
            for label, word in self.kind.rows(answer, offered)
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
        self, question: Question, answer: str | Sequence[str], place: str, **shared: Any
    ) -> list[Row]:
        """Return the rows of an answer, and before them known answers, once.

        ``shared`` says who answered when; it may have an ``answer_id`` for a question without one.
        """
        if not isinstance(answer, str):
            strange = next((label for label in answer if label not in question.offered), None)
            if strange is not None:
                problem = f"{shown(strange)} is not among the labels that the task offered"
                raise fault(place, f"{problem}; let people choose among these only")
            if question.kind.chooses and len(answer) > question.asked_for:
                problem = f"{len(answer)} labels were chosen, and {question.asked_for} asked for"
                raise fault(place, f"{problem}; correct it, or ask again")
            if not answer and question.kind.chooses and not question.kind.names:
                raise fault(place, "no label was chosen; ask again: one must be")
        rows: list[Row] = []
        for each in question.known:
            known, text = checked(_Known, each, f"{place}, known"), json.dumps(each)
            if text not in self._known:
                self._known.add(text)
                answer_id = self._unlike(known.answer_id)
                rows += known.rows(known.answer, answer_id=answer_id, annotator=known.annotator)
        answer_id = self._unlike(question.answer_id or shared.get("answer_id"))
        return [*rows, *question.rows(answer, **{**shared, "answer_id": answer_id})]

    def _unlike(self, answer_id: str | None) -> str:
        """Return an id that no other answer has: two people may answer one question."""
        name = answer_id or ""
        self._times[name] += 1
        return name if self._times[name] == 1 else f"{name} ({self._times[name]})"
