"""What people are asked next: at random, or as a file lists it."""

from __future__ import annotations

import json
import math
import zlib
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from complabel._drawn import AIMED, RANDOM, ByMachine, least_chance, opened
from complabel._opening import StrPath, fault
from complabel._parameters import Array, Ints
from complabel._questions import ASKED_QUESTIONS, BY_QUESTION, KINDS, QuestionKind
from complabel.answers import ANSWER_WORDS
from complabel.asking import break_even, form_of
from complabel.files import COLUMNS, Table

# The same in all rows of an answer.
_ONE_ANSWER = ("item", "question", "offered", "asked_for", "probability", "drawn")
_NUMBERS = ("asked_for", "probability", "seconds")
FEW = 3  # timed answers of a kind; nothing is decided by fewer
SKIPPED = 20  # answers of one kind while the other one was hardly ever answered
_SPREAD = 0.6  # of the logarithm of seconds, from answer to answer


@dataclass(frozen=True)
class Period:
    """Questions from number ``since`` on are about ``labels``, as the file of answers numbers them.

    ``seed`` is that of random questions.
    """

    since: int
    labels: tuple[int, ...]
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """A question about an item; its number is its place in the order in which they were drawn."""

    number: int
    item: int
    kind: str  # asked, ticked, menu or named
    labels: tuple[int, ...] | None  # on offer; None for all
    probability: float | None  # that these labels were drawn
    asked_for: int | None  # of namings
    copies: int = 1  # how many people are to answer it
    drawn: str = ""  # as in tables of answers


@dataclass
class Mixed:
    """Chooses between two kinds of questions by the times that people take for them.

    They alternate until it is clear which one tells more in the same time: as long as it is not,
    both are worth about the same. The times at which they are come from simulations
    (:mod:`complabel.asking`). Who skips one kind again and again is asked the other one.
    """

    asked: QuestionKind
    ticked: QuestionKind
    n_labels: int
    times: Callable[[str], Sequence[float]] = lambda _: ()  # the latest seconds of a kind
    why: str = "two kinds of questions take turns, to see what people take for each"
    _turn: int = 0

    @classmethod
    def of(cls, n_labels: int) -> Mixed:
        """Choose between yes or no and ticking all labels, or a menu if there are many."""
        size = form_of(n_labels)
        ticked = KINDS["ticked"] if size == n_labels else replace(KINDS["ticked-M"], size=size)
        return cls(KINDS["asked"], ticked, n_labels)

    def __call__(self) -> QuestionKind:
        kinds = (self.asked, self.ticked)
        seconds = [self.times(kind.stem) for kind in kinds]
        few, many = sorted(map(len, seconds))
        if few < FEW and many >= SKIPPED:
            self.why = "one kind of question was skipped again and again; the other one is asked"
            return kinds[len(seconds[1]) == many]
        if few >= FEW:
            one, all_ = (max(float(np.median(each)), 0.1) for each in seconds)
            size = self.ticked.n_offered(self.n_labels)
            times, limit = all_ / one, break_even(size)
            error = _SPREAD * math.sqrt(1 / few + 1 / many)
            if abs(math.log(times / limit)) > 2 * error:
                self.why = (
                    f"yes or no takes {one:.1f} s, ticking {size} labels {all_:.1f} s, {times:.1f}"
                    " times as long; ticking tells more in a minute if it takes less than"
                    f" {limit:.1f} times as long"
                )
                return self.ticked if times < limit else self.asked
        self._turn += 1
        return kinds[self._turn % 2]


@dataclass
class RandomQuestions:
    """Asks about random labels of items in random order, again and again.

    All items are asked about once, in random order, before one is asked about again; then about
    other labels. So every beginning is a random sample, and no label of an item is asked about
    twice, except that the last menu about an item is filled up. Who names freely or ticks all
    labels is asked once. With ``weights``, yes/no questions are about labels in proportion to them.

    Labels may be added and merged later: ``periods`` say from which question on which labels people
    are asked about. Items of before are then asked about what is left of all labels, the last menu
    is not filled up, and who ticked all labels ticks the others. Of a merged label, which ``parts``
    make up, nobody is asked who ticked all labels while its parts were labels.
    """

    names: Sequence[str]
    n_labels: int
    kind: Callable[[], QuestionKind]  # called before each question
    most: QuestionKind | None  # the kind that is always asked; None if it may change
    overlap: float = 0.0
    seed: int = 0
    without: Sequence[int] = ()  # items that cannot be shown, which nobody is asked about
    weights: Callable[[], Array] | None = None  # of the labels, (K,)
    periods: Sequence[Period] = ()
    parts: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    is_weighted: bool = False  # whether some labels were preferred, now or in an earlier sitting
    # About which labels each item was asked, each time with the place of the period.
    _asked: dict[int, list[tuple[int, Sequence[int]]]] = field(default_factory=dict)
    # Merged labels that are known of items of which all labels were ticked before.
    _ticked: dict[int, set[int]] = field(default_factory=dict)
    _known: NDArray[np.int32] = field(init=False)  # labels of now that it was asked about
    _rounds: NDArray[np.int32] = field(init=False)  # how often it was asked about
    _order: Ints = field(init=False)  # what is left of this round, the next one last
    _rng: np.random.Generator = field(init=False)
    _left: int = 0
    _drawn: int = 0
    _n_closed: int = 0  # questions that nobody answered, and that nobody will be asked again

    def __post_init__(self) -> None:
        self.is_weighted = self.weights is not None
        self._rounds = np.zeros(len(self.names), dtype=np.int32)
        self._known = np.zeros(len(self.names), dtype=np.int32)
        self._order = np.empty(0, dtype=np.intp)
        self.periods = self.periods or [Period(0, tuple(range(self.n_labels)), self.seed)]

    @property
    def now(self) -> Period:
        return self.periods[-1]

    @property
    def total(self) -> int | None:
        if self.most is None:
            return None
        n_left = -(-self._unasked() // self.most.n_offered(self.n_labels))
        return int(self._n_closed + self._rounds.sum() + n_left.sum())

    def draw(self) -> Question | None:
        """Return the next question; None if every label of every item was asked about."""
        while not self._left:
            if not self._begin_round():
                return None
        self._left -= 1
        item, kind = int(self._order[self._left]), self.kind()
        is_asked = kind.name == "asked" and self.is_weighted
        labels, chance = self._by_weight(item) if is_asked else self._labels(item, kind)
        if kind.chooses and labels and len(labels) == 1:  # there is nothing to choose
            kind = KINDS["asked"]
        is_free = kind.chooses and not kind.size
        question = Question(
            number=self._drawn,
            item=item,
            kind=kind.stem,
            labels=labels,
            probability=None if is_free else chance,
            asked_for=1 if kind.chooses else None,
            copies=2 if self._rng.random() < self.overlap else 1,
            drawn="" if is_free else AIMED if is_asked else RANDOM,
        )
        self.restore(question)
        return question

    def restore(self, question: Question, *, counts: bool = True) -> None:
        """Take a question as drawn; unless it ``counts``, its labels are asked about again."""
        self._drawn = max(self._drawn, question.number + 1)
        if not counts:
            self._n_closed += 1
            return
        at = bisect_right(self.periods, question.number, key=lambda each: each.since) - 1
        then, item = self.periods[at].labels, question.item
        labels = question.labels or then
        if question.kind == "ticked" and len(labels) == len(then) and self.parts:
            self._ticked.setdefault(item, set()).update(self._made_of(labels))
        self._asked.setdefault(item, []).append((at, labels))
        self._known[item] = len(self._over(item).intersection(self.now.labels))
        self._rounds[item] += 1

    def _over(self, item: int) -> set[int]:
        """Return the labels that nobody is asked about an item any more."""
        asked = (labels for _, labels in self._asked.get(item, ()))
        return set(self._ticked.get(item, ())).union(*asked)

    def _made_of(self, labels: Sequence[int]) -> set[int]:
        """Return the merged labels of which these are all parts."""
        covered = {*labels}
        for merged, parts in self.parts.items():
            if covered.issuperset(parts):
                covered.add(merged)
        return covered.difference(labels)

    def _by_weight(self, item: int) -> tuple[tuple[int, ...], float]:
        """Return a label that the item was not asked about, and its chance."""
        labels = self.now.labels
        weights = np.ones(len(labels)) if self.weights is None else self.weights().copy()
        weights[np.isin(labels, [*self._over(item)])] = 0.0
        weights /= weights.sum()
        at = int(self._rng.choice(len(labels), p=weights))
        return (labels[at],), float(weights[at])

    def _unasked(self) -> Ints:
        """Return how many labels are left of each item."""
        left = len(self.now.labels) - self._known.astype(np.intp)
        left[list(self.without)] = 0
        return left

    def _begin_round(self) -> bool:
        """Put the items that were asked about least often into random order."""
        open_ones = np.flatnonzero(self._unasked())
        if not len(open_ones):
            return False
        rounds = self._rounds[open_ones]
        self._drawn = max(self._drawn, self.now.since)  # questions may be lost in a mended file
        self._rng = np.random.default_rng([self.now.seed, 0, self._drawn])
        self._order = self._rng.permutation(open_ones[rounds == rounds.min()])
        self._left = len(self._order)
        return True

    def _labels(self, item: int, kind: QuestionKind) -> tuple[tuple[int, ...] | None, float]:
        """Return the labels of the next question about an item, None for all, and their chance."""
        # The same order of labels at each call, so that nothing has to be kept. It hangs on the
        # name: more items may come later. In each period, those that were left and those that came
        # get another order.
        over, latest = set(self._ticked.get(item, ())), len(self.periods) - 1
        asked: dict[int, set[int]] = {}
        for at, those in self._asked.get(item, ()):
            asked.setdefault(at, set()).update(those)
        before: list[tuple[set[int], int]] = []  # of then: the labels left, how many were asked
        for at in sorted(asked.keys() - {latest}):
            left_then = set(self.periods[at].labels) - over
            before.append((left_then, len(asked[at] & left_then)))
            over |= asked[at]
        left = [label for label in self.now.labels if label not in over]
        key = zlib.crc32(self.names[item].encode())
        rng = np.random.default_rng([self.now.seed, 1, key, *([latest] if before else [])])
        order, now = rng.permutation(np.array(left, dtype=np.intp)).tolist(), asked.get(latest, ())
        labels = [label for label in order if label not in now][: kind.n_offered(self.n_labels)]
        if not before:  # else there were other labels when it was asked about
            labels += order[: kind.n_offered(self.n_labels) - len(labels)]
        # None of them was drawn while there were other labels, and now all are.
        ways, out_of = 1, math.comb(len(left), len(labels))
        for left_then, n_asked in before:
            ways *= math.comb(len(left_then.difference(labels)), n_asked)
            out_of *= math.comb(len(left_then), n_asked)
        chance = max(ways / out_of, least_chance(self.n_labels, len(labels)))
        if len(labels) == len(self.now.labels) and kind.name != "asked":
            return None, chance
        # People pick the first lines more often than others: to name one, the order is random.
        return tuple(sorted(labels) if kind.judges else labels), chance


@dataclass
class ListedQuestions:
    """Asks what a file lists, in its order.

    Rows of the file that have an answer are ``known``: of each the number of the question behind
    it, and its values. They belong to the random sample as far as it was asked.
    """

    questions: Sequence[Question]
    known: Sequence[tuple[int, dict[str, Any]]] = ()
    without: frozenset[int] = frozenset()  # items that cannot be shown
    # What chances (J,) of the first question are after so many; None: the same.
    chances_after: Callable[[int, Array], Array] | None = None
    _next: int = 0
    _n_drawn: int = 0

    @property
    def total(self) -> int | None:
        left = self.questions[self._next :]
        return self._n_drawn + sum(question.item not in self.without for question in left)

    @property
    def tells_chances(self) -> bool:
        """Whether some answers will say how often labels apply."""
        return any(
            q.probability or ByMachine.of(q.drawn) or (q.kind, q.labels) == ("ticked", None)
            for q in self.questions
        )

    def draw(self) -> Question | None:
        while self._next < len(self.questions) and self.questions[self._next].item in self.without:
            self._next += 1
        if self._next == len(self.questions):
            return None
        self.restore(self.questions[self._next])
        return self.questions[self._next - 1]

    def restore(self, question: Question, *, counts: bool = True) -> None:  # noqa: ARG002
        self._next = max(self._next, question.number + 1)
        self._n_drawn += 1


Source: TypeAlias = RandomQuestions | ListedQuestions
"""Where new questions come from. ``draw`` returns the next one, None if there is none; ``restore``
takes one as drawn, in the order of their numbers; ``total`` is their number, None if not known."""


def read_questions(
    path: StrPath,
    items: Mapping[str, int],
    labels: Sequence[str],
    *,
    overlap: float = 0.0,
    seed: int = 0,
) -> ListedQuestions:
    """Read a table of questions, as ``complabel ask`` writes them.

    Rows whose ``answer`` is blank are asked; those of one ``answer_id`` are one question. ``items``
    has the number of each item. A second person is asked the share ``overlap`` of them, too;
    ``seed`` decides which these are.
    """
    table = Table.open(path, "tables of questions", ["item", "label"])
    names = [name for name in COLUMNS if name in table.columns]
    rows: list[dict[str, Any]] = []
    texts = [name for name in names if name not in _NUMBERS]
    for piece in table.pieces(texts, others=[name for name in names if name in _NUMBERS]):
        columns = (piece[name].to_pylist() for name in names)
        rows += [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    _open_draws(table, rows)
    groups: dict[Any, list[int]] = {}
    for at, row in enumerate(rows):
        answer_id = row.get("answer_id") if row.get("question") not in (None, "asked") else None
        groups.setdefault(answer_id or at, []).append(at)
    second = np.random.default_rng([seed, 2]).random(len(groups)) < overlap
    place = {name: at for at, name in enumerate(labels)}
    questions: list[Question] = []
    known: list[tuple[int, dict[str, Any]]] = []
    earlier: dict[tuple[int, str, frozenset[int] | None], int] = {}  # first rows
    for group, twice in zip(groups.values(), second.tolist(), strict=True):
        try:
            question, is_known = _read_group(
                [rows[at] for at in group], len(questions), items, place
            )
        except KeyError as error:
            problem = f"{str(error.args[0])[:60]!r} is not among the items or labels; correct it"
            raise table.refuse(group[0], problem) from error
        except (TypeError, ValueError) as error:
            problem = f"the question cannot be read: {str(error)[:200]}; correct it"
            raise table.refuse(group[0], problem) from error
        if is_known:
            known += [(len(questions), rows[at]) for at in group]
            continue
        offered = None if question.labels is None else frozenset(question.labels)
        same = (question.item, question.kind, offered)
        if same in earlier:
            problem = f"{table.place(earlier[same])} asks the same question; leave one of them out"
            raise table.refuse(group[0], problem)
        earlier[same] = group[0]
        questions.append(replace(question, copies=2 if twice else 1))
    if not questions:
        raise fault(table.path, "there is no row without an answer, so there is nothing to ask")
    return ListedQuestions(questions, known)


def _open_draws(table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Let rows say in clear how their questions were drawn."""
    for at, row in enumerate(rows):
        try:
            row["drawn"] = opened(row.get("drawn") or "", row["item"], row["label"]) or None
        except ValueError as error:
            raise table.refuse(at, f"drawn is {row['drawn'][:60]!r}; {error}") from error


def _read_group(
    rows: Sequence[Mapping[str, Any]], at: int, items: Mapping[str, int], labels: Mapping[str, int]
) -> tuple[Question, bool]:
    """Return the question of the rows of one answer, and whether its answer is known."""
    first, *others = rows
    for name in _ONE_ANSWER:
        if any(row.get(name) != first.get(name) for row in others):
            raise ValueError(f"rows of its answer_id have different values of {name!r}")
    question = _question_of(first, at, items, labels)
    for row in rows:
        label, answer = row.get("label"), row.get("answer")
        if label and labels[label] not in (question.labels or labels.values()):
            raise ValueError(f"{label!r} is not among the offered labels")
        if answer and answer.strip().casefold() not in ANSWER_WORDS:
            raise ValueError(f"the answer is {answer!r}; give yes, no or unsure, or none")
    n_known = sum(bool(row.get("answer")) for row in rows)
    if 0 < n_known < len(rows):
        raise ValueError("some rows of its answer_id are answered; answer all of them, or none")
    return question, n_known > 0


def _question_of(
    row: Mapping[str, Any], number: int, items: Mapping[str, int], labels: Mapping[str, int]
) -> Question:
    """Return the question of a row; KeyError is about a name, ValueError about another value."""
    kind = row.get("question") or "asked"
    if kind not in ASKED_QUESTIONS:
        raise ValueError(f"the question is {kind!r}; give {' or '.join(ASKED_QUESTIONS)}")
    listed: Any = json.loads(row.get("offered") or "null")
    if listed is not None and not (isinstance(listed, list) and listed):
        raise ValueError(f"offered is {row['offered']!r}; give a list of labels as JSON")
    if kind == "asked":
        listed = [row.get("label") or ""]
    offered = tuple(labels[each] for each in listed) if listed else None
    if offered is not None and len({*offered}) < len(offered):
        raise ValueError(f"offered is {row['offered']!r}, where a label stands twice")
    chance, asked_for = _number(row, "probability"), _number(row, "asked_for", 1.0)
    least = least_chance(len(labels), len(offered or labels))
    if chance is not None and not least <= chance <= 1:  # NaN is not, either
        raise ValueError(f"probability is {chance}; give a number from {least:.3g} to 1, or none")
    chooses, of_menu = BY_QUESTION[kind].chooses, {"named": "menu", "positive": "positive-menu"}
    if chooses and asked_for not in range(1, len(offered or labels) + 1):
        raise ValueError(f"asked_for is {asked_for:g}; give a number of labels that are offered")
    return Question(
        number=number,
        item=items[row["item"]],
        kind=of_menu.get(kind, kind) if listed else kind,
        labels=offered,
        probability=chance,
        asked_for=int(asked_for) if chooses and asked_for else None,
        drawn=row.get("drawn") or "",
    )


def _number(row: Mapping[str, Any], name: str, default: float | None = None) -> float | None:
    try:
        return float(row[name]) if row.get(name) else default
    except ValueError as error:
        raise ValueError(f"{name} is {row[name]!r}, which is no number") from error
