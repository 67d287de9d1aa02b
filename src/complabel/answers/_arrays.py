"""The arrays inside ``Answers``: selecting items, and summing up all answers about an item."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from complabel._questions import JUDGING, KINDS, QuestionKind
from complabel.answers._masks import Mask, counts_of, spell_out, without
from complabel.answers._names import QUESTIONS
from complabel.errors import AnnotationError

MASKS = ("named", "absent", "relevant", "excluded", "offered")
COLUMNS = (
    *("question", "annotator", "asked_for", "probability", "seconds", "weight", "all_apply"),
)

_NO_ARRAY = (
    "Answers cannot become an array: what was asked would be lost. For the labels that do not"
    " apply, take answers.complementary. cross_val_score and GridSearchCV take answers with"
    " scoring=None or a scorer of complabel.metrics; scorers of scikit-learn need true labels. In"
    " place of cross_val_predict, fit to X[rows] and answers[rows] for each split"
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnswerArrays:
    """The arrays inside :class:`Answers`, which documents each of them."""

    n_items: int
    n_labels: int
    label_names: tuple[str, ...] | None
    item_names: NDArray[Any] | None
    annotator_names: tuple[str, ...]
    item: NDArray[np.intp]
    question: NDArray[np.str_]
    annotator: NDArray[np.intp]
    asked_for: NDArray[np.intp]
    probability: NDArray[np.float64]
    seconds: NDArray[np.float64]
    weight: NDArray[np.float64]
    all_apply: NDArray[np.str_]
    offered: Mask
    named: Mask
    absent: Mask
    relevant: Mask
    excluded: Mask

    def __post_init__(self) -> None:
        masks = [getattr(self, name) for name in MASKS]
        parts = [part for mask in masks for part in (mask.data, mask.indices, mask.indptr)]
        for array in (*parts, *(getattr(self, name) for name in ("item", *COLUMNS))):
            array.flags.writeable = False

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of items and of labels."""
        return self.n_items, self.n_labels

    @property
    def ndim(self) -> int:
        """Number of axes of :attr:`shape`: 2."""
        return 2

    @property
    def n_answers(self) -> int:
        """Number of answers."""
        return len(self.item)

    @property
    def n_offered(self) -> NDArray[np.intp]:
        """Number of labels that each answer is about, (n_answers,), intp."""
        counts = counts_of(self.offered)
        return np.where(counts == 0, self.n_labels, counts)

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Which items have an answer, (n_items,), bool."""
        return np.bincount(self.item, minlength=self.n_items) > 0

    @property
    def complementary(self) -> NDArray[np.uint8]:
        """1 where some answer denies the label, (n_items, n_labels), uint8; a new array."""
        return self._by_item(self.named, self.absent, self.excluded)

    @property
    def known_relevant(self) -> NDArray[np.uint8]:
        """1 where an answer says or implies that the label applies; as ``complementary``."""
        return self._by_item(self.relevant, self.implied)

    @property
    def judges(self) -> NDArray[np.bool_]:
        """Which answers, (n_answers,), say of each label on offer whether it applies."""
        return np.isin(self.question, JUDGING)

    @property
    def kind(self) -> NDArray[np.str_]:
        """The kind of question of each answer, (n_answers,), a name such as "ticked-M"."""
        fits = [self._are_of(kind) for kind in KINDS.values()]
        return np.select(fits, [*KINDS], "")

    @property
    def exhausted(self) -> NDArray[np.bool_]:
        """Which answers, (n_answers,), name too few labels, so that all others offered apply."""
        return np.asarray(
            (self.question == "named") & (counts_of(self.named) < self.asked_for), dtype=np.bool_
        )

    @property
    def implied(self) -> Mask:
        """Labels that :attr:`exhausted` answers do not name, a mask (n_answers, n_labels)."""
        return without(spell_out(self.offered, self.exhausted), self.named)

    @property
    def weighted(self) -> bool:
        """Whether an answer has another weight than 1."""
        return bool((self.weight != 1).any())

    @property
    def item_weight(self) -> NDArray[np.float64]:
        """The greatest weight of the answers about each item, (n_items,); 0 without answers."""
        found = np.zeros(self.n_items)
        np.maximum.at(found, self.item, self.weight)
        return found

    def __len__(self) -> int:
        return self.n_items

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Any:
        """Refuse to become an array, which would lose what was asked."""
        if _asked_for_folds():
            return np.empty(self.n_items, dtype=object)
        raise AnnotationError(_NO_ARRAY)

    def __getitem__(self, rows: Any) -> Self:
        items = self._positions(rows)
        first = np.searchsorted(self.item, items)  # of these items alone: there may be millions
        counts = np.searchsorted(self.item, items, side="right") - first
        skipped = first - (np.cumsum(counts) - counts)  # shift from new to old positions
        places = np.arange(counts.sum()) + np.repeat(skipped, counts)
        return self._take(
            places,
            item=np.repeat(np.arange(len(items)), counts),
            n_items=len(items),
            item_names=None if self.item_names is None else self.item_names[items],
        )

    def only(self, which: NDArray[np.bool_]) -> Self:
        """Return the answers marked in ``which``, (n_answers,); the items stay the same."""
        if np.all(which):  # without a copy: there may be millions
            return self
        rows = np.flatnonzero(which)
        return self._take(rows, item=self.item[rows])

    def __repr__(self) -> str:
        words, counts = np.unique(self.question, return_counts=True)
        count_of = dict(zip(words.tolist(), counts.tolist(), strict=True))
        by_question = [f"{count_of[word]} {word}" for word in QUESTIONS if word in count_of]
        by_question = [f": {', '.join(by_question)}"] if by_question else []
        return (
            f"Answers({self.n_items} items, {self.n_labels} labels, {self.n_answers} answers"
            f"{''.join(by_question)})"
        )

    def _are_of(self, kind: QuestionKind) -> NDArray[np.bool_]:
        """Return which answers, (n_answers,), may belong to a kind of question."""
        fits = self.question == kind.held_as
        if kind.all_apply != "answer":
            fits = fits & (self.all_apply == kind.all_apply)
        if kind.takes_size:
            return np.asarray(fits & (self.n_offered < self.n_labels))
        return np.asarray(fits & (self.n_offered == kind.size)) if kind.size else fits

    def _positions(self, rows: Any) -> NDArray[np.intp]:
        if isinstance(rows, tuple):
            first, *others = rows
            if others not in ([Ellipsis], [slice(None)]):  # scikit-learn indexes arrays like this
                raise IndexError(f"answers are indexed by items alone, got {rows!r}")
            rows = first
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.size == 0 and rows.dtype != np.bool_:
                rows = rows.astype(np.intp)
        found = np.atleast_1d(np.arange(self.n_items)[rows])
        if found.ndim > 1:
            raise IndexError(f"answers are indexed by a 1-D array of items, got {found.ndim}-D")
        return found

    def _sorted(self) -> Self:
        """Return the answers sorted by item; answers about one item keep their order."""
        order = np.argsort(self.item, kind="stable")
        return self._take(order, item=self.item[order])

    def _take(self, rows: NDArray[np.intp], **changes: Any) -> Self:
        parts = {name: getattr(self, name)[rows] for name in (*COLUMNS, *MASKS)}
        return replace(self, **parts, **changes)

    def _by_item(self, *masks: Mask) -> NDArray[np.uint8]:
        """Return 1 where any answer about the item has a mark in any mask, (n_items, n_labels)."""
        marked = np.zeros(self.shape, dtype=np.uint8)
        for mask in masks:
            marked[np.repeat(self.item, counts_of(mask)), mask.indices] = 1
        return marked


def _asked_for_folds() -> bool:
    """Tell whether scikit-learn's ``check_cv`` asks for an array, only to look at its type.

    It asks before ``cross_val_score(..., cv=3)`` and the like split the answers.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_name != "check_cv":
        frame = frame.f_back
    return frame is not None
