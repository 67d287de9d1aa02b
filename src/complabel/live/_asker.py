"""Who is asked what: hands out questions to people, and takes their answers.

All that happens is an :class:`Event`. An :class:`Asker` is what its events make of it, so a server
that was killed goes on from the events that are stored. Time is given by the caller; nothing here
waits, reads or writes.
"""

from __future__ import annotations

import statistics
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

import numpy as np
from scipy import sparse

from complabel._parameters import Array, Ints
from complabel._questions import BY_STEM
from complabel.answers import Answers
from complabel.live._drawing import Question, Source

LAPSE = 120.0  # seconds without a sign of life after which a person's questions go to others
MOST_AHEAD = 20  # questions that a person can hold before they answer the first of them
LONGEST = 86_400.0  # seconds that an answer can take
_LATEST = 1000  # answers of a kind from which their median time is taken
_MARKS = ("named", "positive", "absent", "relevant", "offered")

Answer = str | list[str]


class RefusedError(Exception):
    """A person asked for something that is not possible; ``status`` is that of HTTP."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


class StaleError(RefusedError):
    """A page shows what is not so any more; it has to be loaded again."""

    def __init__(self, error: str) -> None:
        super().__init__(409, f"{error}; this answer is not stored, ask for the next question")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; ``id`` counts them, from 1.

    - "asked": a copy of a question was handed to a person. The id of this event is that of the
      question as this person sees it, and only one answer to it is ever taken.
    - "answered": the question ``of`` was answered.
    - "undone": the answer to the question ``of`` was taken back. The person has the question again,
      with the id of this event, so that the same answer that comes late is not taken for a new one.
    """

    id: int
    time: float
    what: Literal["asked", "answered", "undone"]
    person: str
    number: int
    copy: int
    of: int | None = None
    answer: Answer | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class News:
    """What people answered and took back after some moment.

    Each answer has the id of its question as the person saw it; answers that a file of questions
    has count down from -1. ``mark`` is the moment until which all is known with these news.
    """

    # Answers and withdrawals so far; rows of the file that count, and the answers in them.
    mark: tuple[int, int, int]
    gone: Ints  # ids of answers from before that do not count any more
    answers: Answers  # those that say something
    ids: Ints  # (n_answers,)
    all_ids: Ints  # ids of all answers, also of what people skipped
    seconds: Array  # of these; NaN if not known

    def then(self, later: News) -> News:
        """Return what is known with these news and later ones."""
        stays, stay = (~np.isin(ids, later.gone) for ids in (self.ids, self.all_ids))
        parts = [self.answers.only(stays), later.answers]
        order = np.argsort(np.concatenate([part.item for part in parts]), kind="stable")
        return News(
            mark=later.mark,
            gone=self.gone,
            answers=Answers.concatenate(parts),
            ids=np.concatenate([self.ids[stays], later.ids])[order],
            all_ids=np.concatenate([self.all_ids[stay], later.all_ids]),
            seconds=np.concatenate([self.seconds[stay], later.seconds]),
        )

    def about(self, items: Ints) -> News:
        """Return the news with only the answers about some items, which are numbered anew."""
        row = np.full(self.answers.n_items, len(items))
        row[items] = np.arange(len(items))
        rows = row[self.answers.item]
        order = np.argsort(rows, kind="stable")[: int((rows < len(items)).sum())]
        return replace(self, answers=self.answers[items], ids=self.ids[order])


@dataclass(slots=True)
class _Person:
    seen: float  # when they last asked for anything
    held: deque[Event] = field(default_factory=deque)  # questions to answer, the present one first
    answers: list[Event] = field(default_factory=list)  # those that were not undone
    skips: int = 0  # of these, the "unsure" ones
    changes: int = 0  # answers that were taken back


@dataclass
class Asker:
    """Hands out questions of a source, and takes answers.

    The rules: a copy of a question belongs to one person at a time, and gets one answer, the first
    that comes, from whoever was asked it at any time. A person who was not heard of for two minutes
    loses a question as soon as somebody else needs one. No person gets two copies of a question.
    Half of what a person gets are at most second copies of what others had. ``now`` returns the
    time in seconds.
    """

    source: Source
    labels: Sequence[str]
    now: Callable[[], float]
    numbers: Sequence[int] = ()  # those of the labels in questions; by default from 0
    closed: set[int] = field(default_factory=set)  # questions that nobody is asked any more
    questions: dict[int, Question] = field(default_factory=dict)
    new: list[Question | Event] = field(default_factory=list)  # what is not stored yet
    seconds: dict[str, dict[int, float]] = field(default_factory=dict)  # by kind, then question
    by_kind: Counter[str] = field(default_factory=Counter)
    _people: dict[str, _Person] = field(default_factory=dict)
    _handed: dict[int, Event] = field(default_factory=dict)  # every "asked" and "undone", by id
    _taken: dict[tuple[int, int], Event] = field(default_factory=dict)  # copies: who has them
    _answered: dict[int, Event] = field(default_factory=dict)  # answers by the id of the question
    done: dict[tuple[int, int], Event] = field(default_factory=dict)  # copies: their answers
    _log: list[Event] = field(default_factory=list)  # every "answered" and "undone"
    _second: dict[str, deque[int]] = field(default_factory=dict)  # by who was asked the first copy
    _had: dict[tuple[int, int], set[str]] = field(default_factory=dict)  # of two copies: by whom
    _n_open: int = 0  # questions without any answer
    last_id: int = 0

    def __post_init__(self) -> None:
        self.numbers = self.numbers or range(len(self.labels))
        self._name = dict(zip(self.numbers, self.labels, strict=True))

    def restore(self, history: Iterable[Question | Event], without: Collection[int] = ()) -> None:
        """Take what was stored; its time has begun anew for whoever was asked.

        Questions about the items ``without``, and about labels that people are not asked about any
        more, are closed: their answers stay, and nobody gets them again.
        """
        entries, hidden = list(history), {*without}
        answered = {
            each.number for each in entries if isinstance(each, Event) and each.what == "answered"
        }
        for each in entries:
            if isinstance(each, Event):
                self._apply(each)
                continue
            labels = self.numbers if each.labels is None else each.labels
            if each.item in hidden or not self._name.keys() >= {*labels}:
                self.closed.add(each.number)
            is_over = each.number in self.closed and each.number not in answered
            self.source.restore(each, counts=not is_over)
            self._add(each)
        for person in self._people.values():
            person.held = deque(event for event in person.held if event.number not in self.closed)
        self._n_open -= sum(not self._is_answered(number) for number in self.closed)

    def next(self, person: str, skip: int | str = 0, *, only_held: bool = False) -> Event | None:
        """Return the question that a person has to answer now, or one of those after it.

        With ``only_held``, nobody gets a question that they do not have yet.
        """
        if not (isinstance(skip, int) and 0 <= skip < MOST_AHEAD):
            last = MOST_AHEAD - 1
            raise RefusedError(400, f"skip is {skip!r:.20}; give a whole number from 0 to {last}")
        me = self._seen(person)
        while len(me.held) <= skip:
            if only_held or not self._hand_out(person):
                return None
        return me.held[skip]

    def answer(
        self, id_: int, person: str, answer: Answer, seconds: float | None
    ) -> tuple[bool, int]:
        """Take an answer; return whether it is new, and how many this person has given."""
        handed = self._handed.get(id_)
        if handed is None or handed.person != person:
            raise RefusedError(
                404, f"id={str(id_)!r} is not one of {person}'s questions; ask for the next one"
            )
        me = self._seen(person)
        if id_ in self._answered:
            return False, len(me.answers)
        if handed.number in self.closed:
            raise StaleError(
                "nobody is asked this any more: its labels were merged, or its item is gone"
            )
        self._check(self.questions[handed.number], answer)
        if (handed.number, handed.copy) in self.done:
            raise RefusedError(
                409,
                "this question lapsed, and somebody else has answered it meanwhile; this answer is"
                " not stored, ask for the next question",
            )
        self._happened("answered", handed, answer=answer, seconds=seconds)
        return True, len(me.answers)

    def handed(self, id_: int) -> Event | None:
        """Return how a question was handed out that people can still answer."""
        event = self._handed.get(id_)
        return None if event is None or event.number in self.closed else event

    def standing(self, id_: int) -> Answer | None:
        """Return the answer to a question that counts; None if it was taken back."""
        event = self._answered[id_]
        return event.answer if self.done.get((event.number, event.copy)) is event else None

    def undo(self, person: str) -> tuple[int, Event]:
        """Take a person's last answer back; return the id of its question, and the question."""
        me = self._seen(person)
        if not me.answers:
            raise RefusedError(409, f"there is no answer of {person}'s to take back")
        last = me.answers[-1]
        assert last.of is not None
        if last.number in self.closed:
            raise RefusedError(
                409, "this answer stays: meanwhile its labels were merged, or its item is gone"
            )
        self._happened("undone", self._handed[last.of])
        return last.of, me.held[0]

    @property
    def answered(self) -> int:
        return len(self.done)

    def news(self, start: int, n_items: int) -> News:
        """Return what happened after the first ``start`` answers and withdrawals.

        Any thread may call it while people answer.
        """
        log, gone = self._log[start:], []
        new: dict[int, Event] = {}
        for event in log:
            assert event.of is not None
            if event.number in self.closed:
                continue
            if event.what == "answered":
                new[event.of] = event
            elif new.pop(event.of, None) is None:
                gone.append(event.of)
        pairs = [
            (self.questions[one.number], one) for one in new.values() if one.answer != "unsure"
        ]
        ids = np.array([event.of for _, event in pairs], dtype=np.intp)
        answers = self._answers(pairs, n_items)
        order = np.argsort([question.item for question, _ in pairs], kind="stable")
        return News(
            mark=(start + len(log), 0, 0),
            gone=np.array(gone, dtype=np.intp),
            answers=answers,
            ids=ids[order],
            all_ids=np.array([*new], dtype=np.intp),
            seconds=np.array([event.seconds for event in new.values()], dtype=np.float64),
        )

    def _answers(self, pairs: Sequence[tuple[Question, Event]], n_items: int) -> Answers:
        number = {name: at for at, name in enumerate(self.labels)}
        place = {label: at for at, label in enumerate(self.numbers)}
        marked: dict[str, list[Iterable[int]]] = {name: [] for name in _MARKS}
        for question, event in pairs:
            offered = None if question.labels is None else [place[each] for each in question.labels]
            for name, labels in _marks_of(question, offered, event.answer, number).items():
                marked[name].append(labels)
        shape = (len(pairs), len(number))
        kinds = np.array([BY_STEM[q.kind].held_as for q, _ in pairs], dtype="<U8")
        masks: dict[str, Any] = {name: _mask(each, shape) for name, each in marked.items()}
        return Answers.from_arrays(
            **masks,
            question=kinds,
            item=np.array([question.item for question, _ in pairs], dtype=np.intp),
            annotator=[event.person for _, event in pairs],
            asked_for=np.array([question.asked_for or 0 for question, _ in pairs], dtype=np.intp),
            all_apply=[BY_STEM[question.kind].all_apply for question, _ in pairs] or "answer",
            probability=np.array([question.probability for question, _ in pairs], dtype=np.float64),
            drawn=[question.drawn for question, _ in pairs] or "",
            seconds=np.array([event.seconds for _, event in pairs], dtype=np.float64),
            n_items=n_items,
            label_names=self.labels,
        )

    def by_person(self) -> dict[str, int]:
        return {name: len(one.answers) for name, one in list(self._people.items()) if one.answers}

    def people(self) -> dict[str, dict[str, float | None]]:
        """Return what each person did; seconds are the median of the latest answers."""
        by_name: dict[str, dict[str, float | None]] = {}
        for name, person in list(self._people.items()):
            latest = (each for each in reversed(person.answers) if each.answer != "unsure")
            times = [each.seconds for each in islice(latest, _LATEST) if each.seconds is not None]
            did = {"answers": len(person.answers), "skips": person.skips, "changes": person.changes}
            if person.answers or person.changes:
                by_name[name] = {**did, "seconds": statistics.median(times) if times else None}
        return by_name

    def answered_by(self, person: str) -> int:
        return len(self._people[person].answers)

    def left(self) -> int | None:
        """Return how many questions nobody has answered yet; None if that is not known."""
        total = self.source.total
        return None if total is None else total - len(self.questions) + self._n_open

    def latest_seconds(self, kind: str) -> list[float]:
        """Return how long the latest answers of a kind took."""
        return list(islice(reversed(self.seconds.get(kind, {}).values()), _LATEST))

    def _seen(self, person: str) -> _Person:
        me = self._people.setdefault(person, _Person(self.now()))
        me.seen = self.now()
        return me

    def _add(self, question: Question) -> None:
        self.questions[question.number] = question
        self._n_open += 1

    def _hand_out(self, person: str) -> bool:
        """Hand another question to a person: one that lapsed, a second copy, or a new one."""
        chosen = self._lapsed(person)
        me = self._people[person]
        if chosen is None and (len(me.answers) + len(me.held)) % 2:
            chosen = self._second_copy(person)
        if chosen is None:
            question = self.source.draw()
            if question is not None:
                self._add(question)
                self.new.append(question)
                chosen = (question.number, 0)
        if chosen is None:
            chosen = self._second_copy(person)
        if chosen is None:
            return False
        number, copy = chosen
        self._happened("asked", Event(0, 0.0, "asked", person, number, copy))
        return True

    def _lapsed(self, person: str) -> tuple[int, int] | None:
        """Return a copy that somebody holds who was not heard of, and that this person may have."""
        before = self.now() - LAPSE
        for other, holder in self._people.items():
            if holder.seen < before and other != person:
                for handed in holder.held:
                    if self._may_have(person, handed.number, handed.copy):
                        return handed.number, handed.copy
        return None

    def _second_copy(self, person: str) -> tuple[int, int] | None:
        for other in list(self._second):
            waiting = self._second[other]
            while waiting and other != person:
                number = waiting.popleft()
                if (number, 1) in self._taken:
                    continue
                if self._may_have(person, number, 1):
                    return number, 1
                self._second.setdefault(person, deque()).append(number)
        return None

    def _may_have(self, person: str, number: int, copy: int) -> bool:
        """Return whether a person may have a copy: nobody gets the other one, too."""
        return number not in self.closed and person not in self._had.get((number, 1 - copy), ())

    def _happened(
        self, what: Literal["asked", "answered", "undone"], about: Event, **more: Any
    ) -> None:
        more |= {"person": about.person, "number": about.number, "copy": about.copy}
        of = None if what == "asked" else about.id
        event = Event(id=self.last_id + 1, time=self.now(), what=what, of=of, **more)
        self._apply(event)
        self.new.append(event)

    def _apply(self, event: Event) -> None:
        self.last_id = event.id
        me = self._people.setdefault(event.person, _Person(self.now()))
        copy = (event.number, event.copy)
        question = self.questions[event.number]
        if event.what != "asked":
            self._log.append(event)
        if event.what == "answered":
            assert event.of is not None
            self._release(copy)
            me.answers.append(event)
            me.skips += event.answer == "unsure"
            self._n_open -= not self._is_answered(event.number)
            self._answered[event.of] = self.done[copy] = event
            self.by_kind[question.kind] += 1
            if event.seconds is not None and event.answer != "unsure":
                self.seconds.setdefault(question.kind, {})[event.of] = event.seconds
            return
        self._handed[event.id] = event
        if event.what == "undone":
            assert event.of is not None
            me.skips -= me.answers.pop().answer == "unsure"
            me.changes += 1
            del self.done[copy]
            self._n_open += not self._is_answered(event.number)
            self.by_kind[question.kind] -= 1
            self.seconds.get(question.kind, {}).pop(event.of, None)
            me.held.appendleft(event)
        else:
            is_new = copy not in self._taken and event.copy == 0
            self._release(copy)
            me.held.append(event)
            if question.copies > 1:
                self._had.setdefault(copy, set()).add(event.person)
                if is_new:
                    self._second.setdefault(event.person, deque()).append(event.number)
        self._taken[copy] = event

    def _is_answered(self, number: int) -> bool:
        return (number, 0) in self.done or (number, 1) in self.done

    def _release(self, copy: tuple[int, int]) -> None:
        """Take a copy from whoever holds it."""
        handed = self._taken.get(copy)
        if handed is not None and handed in (held := self._people[handed.person].held):
            held.remove(handed)

    def _check(self, question: Question, answer: Answer) -> None:
        offered = self.labels_of(question)
        if answer == "unsure":
            return
        if question.kind == "asked":
            if answer not in ("yes", "no"):
                raise RefusedError(
                    400, f'answer={str(answer)[:60]!r} is none of "yes", "no" and "unsure"'
                )
            return
        if isinstance(answer, str):
            raise RefusedError(
                400, f'answer={answer[:60]!r} must be "unsure" or a list of offered labels'
            )
        unknown = sorted(set(answer) - set(offered))
        if unknown or len(set(answer)) < len(answer):
            problem = f"{unknown[0][:60]!r} was not offered" if unknown else "a label occurs twice"
            raise RefusedError(400, f"answer: {problem}; give some offered labels, each once")
        if question.asked_for and len(answer) > question.asked_for:
            raise RefusedError(
                400, f"answer: {len(answer)} labels are named; name at most {question.asked_for}"
            )
        kind = BY_STEM[question.kind]
        if not answer and kind.chooses and not kind.names:
            raise RefusedError(400, "answer: no label is chosen; give one of the offered labels")

    def labels_of(self, question: Question) -> list[str]:
        if question.labels is None:
            return list(self.labels)
        return [self._name[label] for label in question.labels]


def _marks_of(
    question: Question, offered: Sequence[int] | None, answer: Any, number: Mapping[str, int]
) -> dict[str, Iterable[int]]:
    """Return which labels an answer that is not "unsure" marks, and which were on offer."""
    on_offer = range(len(number)) if offered is None else offered
    marks: dict[str, Iterable[int]] = dict.fromkeys(_MARKS, ())
    if question.kind == "asked":
        return {**marks, "relevant" if answer == "yes" else "absent": on_offer}
    marks["offered"] = offered or ()
    chosen = {number[name] for name in answer}
    if (kind := BY_STEM[question.kind]).chooses:
        return {**marks, "positive" if kind.names_positive else "named": chosen}
    others = [label for label in on_offer if label not in chosen]
    return {**marks, "relevant": chosen, "absent": others}


def _mask(marked: Sequence[Iterable[int]], shape: tuple[int, int]) -> sparse.csr_array:
    labels = [sorted(each) for each in marked]
    columns = np.array([label for each in labels for label in each], dtype=np.intp)
    ends = np.cumsum([0, *(len(each) for each in labels)])
    return sparse.csr_array((np.ones(len(columns), dtype=np.uint8), columns, ends), shape=shape)
