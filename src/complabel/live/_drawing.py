"""What is asked next: random questions without repetition, or those of a file."""

from __future__ import annotations

import json
import math
import re
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from complabel._opening import StrPath, fault
from complabel.errors import InputError
from complabel.files import COLUMNS, Table

MENU = 10  # labels of the menu in mixed questions
ENOUGH = 10  # timed answers of a kind; the median of fewer says too little
MANY = 40  # nobody ticks more labels than this: mixed questions then tick a menu


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


class Source(Protocol):
    """Where new questions come from."""

    def draw(self) -> Question | None:
        """Return the next question; None if there is none."""

    def restore(self, question: Question) -> None:
        """Take a question as drawn; questions come in the order of their numbers."""

    @property
    def total(self) -> int | None:
        """How many questions there are in all; None if that is not known."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question: ``Kind.of("ticked-10", 40)``."""

    name: str  # asked, ticked, menu or named
    size: int  # labels on offer

    @classmethod
    def of(cls, word: str, n_labels: int) -> Kind:
        """Read a kind as it is typed; a menu must be smaller than all labels."""
        found = re.fullmatch(r"(asked|ticked|named)|(ticked|menu)-(\d{1,9})", word)
        if found and found[1]:
            return cls(found[1], 1 if word == "asked" else n_labels)
        if found and 2 <= int(found[3]) <= n_labels:
            return cls(found[2], int(found[3]))
        raise InputError(
            f"question={word!r} is not known; give asked, ticked, named, mixed, or ticked-M or"
            f" menu-M with M from 2 to {n_labels}, the number of labels"
        )

    def probability(self, n_labels: int) -> float | None:
        """Return the chance of the labels on offer, as simulations and suggestions have it."""
        if self.name == "named":
            return None
        return max(1 / math.comb(n_labels, self.size), sys.float_info.min)


@dataclass
class Mixed:
    """Chooses between two kinds of questions by the times that people take for them.

    They alternate until enough answers of each are timed. Then it asks the kind that tells more in
    the same time: that of a model that learns meanwhile if it knows, else by the times at which
    both are worth the same in simulations (:mod:`complabel.asking`).
    """

    asked: Kind
    ticked: Kind
    best: Callable[[], str | None] | None = None  # the kind that a model finds better
    times: Callable[[str], Sequence[float]] = lambda _: ()  # the latest seconds of a kind
    why: str = "two kinds of questions take turns, to see what people take for each"
    _turn: int = 0

    @classmethod
    def of(cls, n_labels: int, best: Callable[[], str | None] | None = None) -> Mixed:
        """Choose between yes or no and ticking all labels, or a menu if there are many."""
        size = n_labels if n_labels <= MANY else MENU
        return cls(Kind("asked", 1), Kind("ticked", size), best)

    def __call__(self) -> Kind:
        """Return the kind of the next question."""
        kinds = (self.asked, self.ticked)
        seconds = [self.times(kind.name) for kind in kinds]
        if min(map(len, seconds)) < ENOUGH:
            self._turn += 1
            return kinds[self._turn % 2]
        from complabel.asking import break_even  # slow to import

        one, all_ = (float(np.median(each)) for each in seconds)
        told = f"yes or no takes {one:.1f} s, ticking {self.ticked.size} labels {all_:.1f} s"
        best = None if self.best is None else self.best()
        if best is not None:
            self.why = f"{told}; the model learns more in a minute from this kind"
            return self.ticked if best.startswith("ticked") else self.asked
        limit = break_even(self.ticked.size)
        ticks = all_ < limit * one
        self.why = (
            f"{told}, {all_ / max(one, 0.1):.1f} times as long; ticking tells more in a minute if"
            f" it takes less than {limit:.1f} times as long"
        )
        return self.ticked if ticks else self.asked


@dataclass
class RandomQuestions:
    """Asks about random labels of items in random order, again and again.

    All items are asked about once, in random order, before one is asked about again; then about
    other labels. So every beginning is a random sample, and no label of an item is asked about
    twice, except that the last menu about an item is filled up. Who names freely or ticks all
    labels is asked once. Only a number for each item is kept.
    """

    names: Sequence[str]
    n_labels: int
    kind: Callable[[], Kind]  # called before each question
    most: Kind | None  # the kind that is always asked; None if it may change
    overlap: float = 0.0
    seed: int = 0
    _used: NDArray[np.int32] = field(init=False)  # how many labels each item was asked about
    _rounds: NDArray[np.int32] = field(init=False)  # how often it was asked about
    _order: NDArray[np.intp] = field(init=False)  # what is left of this round, the next one last
    _rng: np.random.Generator = field(init=False)
    _left: int = 0
    _drawn: int = 0

    def __post_init__(self) -> None:
        self._used = np.zeros(len(self.names), dtype=np.int32)
        self._rounds = np.zeros(len(self.names), dtype=np.int32)
        self._order = np.empty(0, dtype=np.intp)

    @property
    def total(self) -> int | None:
        """How many questions there are in all; None if the kind may change."""
        if self.most is None:
            return None
        return len(self.names) * -(-self.n_labels // self.most.size)

    def draw(self) -> Question | None:
        """Return the next question; None if every label of every item was asked about."""
        while not self._left:
            if not self._begin_round():
                return None
        self._left -= 1
        item, kind = int(self._order[self._left]), self.kind()
        made = Question(
            number=self._drawn,
            item=item,
            kind=kind.name,
            labels=self._labels(item, kind),
            probability=kind.probability(self.n_labels),
            asked_for=1 if kind.name in ("menu", "named") else None,
            copies=2 if self._rng.random() < self.overlap else 1,
        )
        self._count(made)
        return made

    def restore(self, question: Question) -> None:
        """Take a question as drawn."""
        self._count(question)

    def _count(self, question: Question) -> None:
        size = self.n_labels if question.labels is None else len(question.labels)
        self._used[question.item] = min(self._used[question.item] + size, self.n_labels)
        self._rounds[question.item] += 1
        self._drawn = max(self._drawn, question.number + 1)

    def _begin_round(self) -> bool:
        """Put the items that were asked about least often into random order."""
        open_ones = np.flatnonzero(self._used < self.n_labels)
        if not len(open_ones):
            return False
        rounds = self._rounds[open_ones]
        self._rng = np.random.default_rng([self.seed, 0, self._drawn])
        self._order = self._rng.permutation(open_ones[rounds == rounds.min()])
        self._left = len(self._order)
        return True

    def _labels(self, item: int, kind: Kind) -> tuple[int, ...] | None:
        if kind.size == self.n_labels and kind.name != "asked":
            return None
        # The same order of labels at each call, so that nothing has to be kept. It hangs on the
        # name: more items may come later.
        key = zlib.crc32(self.names[item].encode())
        order = np.random.default_rng([self.seed, 1, key]).permutation(self.n_labels)
        labels = np.take(
            order, range(int(self._used[item]), int(self._used[item]) + kind.size), mode="wrap"
        ).tolist()
        # People pick the first lines more often than others: to name one, the order is random.
        return tuple(sorted(labels) if kind.name == "ticked" else labels)


@dataclass
class ListedQuestions:
    """Asks what a file lists, in its order.

    Rows of the file that have an answer are ``known``: of each the number of the question behind
    it, and its values. They belong to the random sample as far as it was asked.
    """

    questions: Sequence[Question]
    known: Sequence[tuple[int, dict[str, Any]]] = ()
    _next: int = 0

    @property
    def total(self) -> int | None:
        """How many questions there are in all."""
        return len(self.questions)

    def draw(self) -> Question | None:
        """Return the next question."""
        if self._next == len(self.questions):
            return None
        self._next += 1
        return self.questions[self._next - 1]

    def restore(self, question: Question) -> None:
        """Take a question as drawn."""
        self._next = max(self._next, question.number + 1)


def read_questions(
    path: StrPath,
    items: Mapping[str, int],
    labels: Sequence[str],
    *,
    overlap: float = 0.0,
    seed: int = 0,
) -> ListedQuestions:
    """Read a table of questions, as ``complabel ask`` writes them.

    Parameters
    ----------
    path : path
        A table with the columns of answers. Rows whose ``answer`` is blank are asked; those of one
        ``answer_id`` are one question.
    items : mapping of str to int
        The number of each item.
    labels : sequence of str
    overlap : float, default=0.0
        Share of the questions that a second person is asked, too.
    seed : int, default=0
        Decides which these are.

    Raises
    ------
    DatasetFormatError
        If an item or a label is unknown, or a row asks nothing that can be asked here.
    """
    table = Table.open(path, "tables of questions", ["item", "label"])
    names = [name for name in COLUMNS if name in table.columns]
    rows: list[dict[str, Any]] = []
    for piece in table.pieces(names):
        columns = (piece[name].to_pylist() for name in names)
        rows += [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    groups: dict[Any, list[int]] = {}
    for at, row in enumerate(rows):
        one = row.get("answer_id") if row.get("question") != "asked" else None
        groups.setdefault(one or at, []).append(at)
    second = np.random.default_rng([seed, 2]).random(len(groups)) < overlap
    place = {name: at for at, name in enumerate(labels)}
    found: list[Question] = []
    known: list[tuple[int, dict[str, Any]]] = []
    for group, twice in zip(groups.values(), second.tolist(), strict=True):
        first = rows[group[0]]
        if all(rows[at].get("answer") for at in group):
            known += [(len(found), rows[at]) for at in group]
            continue
        try:
            made = _question_of(first, len(found), items, place)
        except (KeyError, TypeError, ValueError) as error:
            raise table.refuse(group[0], _problem(error)) from error
        found.append(replace(made, copies=2 if twice else 1))
    if not found:
        raise fault(table.path, "there is no row without an answer, so there is nothing to ask")
    return ListedQuestions(found, known)


def _question_of(
    row: Mapping[str, Any], number: int, items: Mapping[str, int], labels: Mapping[str, int]
) -> Question:
    """Return the question of a row; KeyError is about a name, ValueError about another value."""
    kind = row.get("question") or "asked"
    if kind not in ("asked", "ticked", "named"):
        raise ValueError(f"the question is {kind!r}; give asked, ticked or named")
    listed: Any = json.loads(row.get("offered") or "null")
    if kind == "asked":
        listed = [row.get("label") or ""]
    chance, asked_for = row.get("probability"), row.get("asked_for")
    return Question(
        number=number,
        item=items[row["item"]],
        kind="menu" if kind == "named" and listed else kind,
        labels=tuple(labels[each] for each in listed) if listed else None,
        probability=float(chance) if chance else None,
        asked_for=int(asked_for or 1) if kind == "named" else None,
    )


def _problem(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{str(error.args[0])[:60]!r} is not among the items or labels; correct it"
    return f"the question cannot be read: {error}"
