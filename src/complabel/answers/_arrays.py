"""The arrays inside ``Answers``: read, select, and sum up all answers about one item."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse

from complabel._parameters import AnyArray, Array, Bools, Indicator, Ints
from complabel._questions import CHOOSING, JUDGING, KINDS, LISTING, QuestionKind
from complabel.answers._masks import (
    IndicatorLike,
    Mask,
    as_mask,
    complete_ticks,
    counts_of,
    keep_rows,
    read_mask,
    rows_of,
    spell_out,
    union,
    without,
)
from complabel.answers._names import (
    QUESTIONS,
    check_label_names,
    check_names,
    is_gap,
    label_names_of,
    text_of,
)
from complabel.errors import AnnotationError

MASKS = ("named", "absent", "relevant", "excluded", "positive", "tagged", "offered")
COLUMNS = (
    *("question", "annotator", "asked_for", "probability", "drawn", "seconds", "weight"),
    *("all_apply", "none_applies"),
)

STATEMENT_KINDS = (
    *("named", "absent", "excluded", "relevant", "positive", "tagged"),
    *("implied", "implied_no"),
)
"""What ``Statements.kind`` stands for: a mark of an answer, or what is implied. A label is implied
to apply if it was offered and not named, although more labels that do not apply were asked for. If
more labels that apply were asked for, it is implied that it does not."""
MARKS = STATEMENT_KINDS[:-2]
"""The masks of what answers say."""

# For each of STATEMENT_KINDS
_APPLIES = np.array([False, False, False, True, True, True, True, False])
BY_CHOICE = [STATEMENT_KINDS.index(kind) for kind in ("named", "positive", "implied", "implied_no")]
"""The kinds of statements that follow from what people chose to name, as places."""

_NO_ARRAY = (
    "Answers cannot become an array: what was asked would be lost. For the labels that do not"
    " apply, take answers.complementary. cross_val_score and GridSearchCV take answers with"
    " scoring=None, or complementary_ranking_scorer or complementary_log_likelihood_scorer of"
    " complabel.metrics; scorers of scikit-learn need true labels. In place of cross_val_predict,"
    " fit to X[rows] and answers[rows] for each split"
)


@dataclass(frozen=True, eq=False)
class Statements:
    """What answers say, as S statements about one label each; ``Answers.statements`` makes it.

    Ordered by kind, then answer, then label; an answer has at most one of each kind and label.

    Attributes
    ----------
    answer, item, label : ndarray of shape (S,), dtype intp
        Row of the answer in ``Answers``, the item that it is about, and the label.
    kind : ndarray of shape (S,), dtype int8
        Position in :data:`STATEMENT_KINDS`.
    applies : ndarray of shape (S,), dtype bool
        Whether the statement says that the label applies; if not, it says that it does not.
    n_labels : int
    """

    answer: Ints
    item: Ints
    label: Ints
    kind: NDArray[np.int8]
    applies: Bools
    n_labels: int

    def __post_init__(self) -> None:
        for array in (self.answer, self.item, self.label, self.kind, self.applies):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.answer)

    @cached_property
    def pair(self) -> NDArray[np.int64]:
        """Item and label as one number, item * K + label, (S,)."""
        return self.item.astype(np.int64) * self.n_labels + self.label

    @cached_property
    def contradicted(self) -> NDArray[np.int64]:
        """Each ``pair`` that one statement affirms and another denies, (C,), ascending."""
        # np.intersect1d takes three times as long.
        denied = np.sort(self.pair[~self.applies])
        affirmed = self.pair[self.applies]
        both = np.searchsorted(denied, affirmed, "right") > np.searchsorted(denied, affirmed)
        return np.unique(affirmed[both])

    def only(self, which: Bools | Ints, **numbers: Ints) -> Self:
        """Return the statements that ``which``, (S,), marks, or at these positions.

        ``numbers`` are the ``answer`` and ``item`` of each, if they have other numbers there.
        """
        names = ("answer", "item", "label", "kind", "applies")
        arrays = {name: getattr(self, name)[which] for name in names}
        part = replace(self, **arrays | numbers)
        if "contradicted" in vars(self) and not len(self.contradicted):
            vars(part)["contradicted"] = self.contradicted  # nor does a part contradict itself
        return part


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnswerArrays:
    """The arrays inside :class:`Answers`, which documents each of them."""

    n_items: int
    n_labels: int
    label_names: tuple[str, ...] | None
    item_names: AnyArray | None
    annotator_names: tuple[str, ...]
    item: Ints
    question: NDArray[np.str_]
    annotator: Ints
    asked_for: Ints
    probability: Array
    drawn: NDArray[np.str_]
    seconds: Array
    weight: Array
    all_apply: NDArray[np.str_]
    none_applies: NDArray[np.str_]
    offered: Mask
    named: Mask
    absent: Mask
    relevant: Mask
    excluded: Mask
    positive: Mask
    tagged: Mask

    def __post_init__(self) -> None:
        masks = [getattr(self, name) for name in MASKS]
        parts = [part for mask in masks for part in (mask.data, mask.indices, mask.indptr)]
        for array in (*parts, *(getattr(self, name) for name in ("item", *COLUMNS))):
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

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
    def n_offered(self) -> Ints:
        """Number of labels that each answer is about, (n_answers,), intp."""
        counts = counts_of(self.offered)
        return np.where(counts == 0, self.n_labels, counts)

    @property
    def answered(self) -> Bools:
        """Which items have an answer, (n_items,), bool."""
        return np.bincount(self.item, minlength=self.n_items) > 0

    @property
    def complementary(self) -> Indicator:
        """1 where some answer denies the label, (n_items, n_labels), uint8; a new array."""
        return self._by_item(self.named, self.absent, self.excluded, self.implied_no)

    @property
    def known_relevant(self) -> Indicator:
        """1 where an answer says or implies that the label applies; as ``complementary``."""
        return self._by_item(self.relevant, self.positive, self.tagged, self.implied)

    @property
    def judges(self) -> Bools:
        """Which answers, (n_answers,), say of each label on offer whether it applies."""
        return np.isin(self.question, JUDGING)

    @property
    def kind(self) -> NDArray[np.str_]:
        """The kind of question of each answer, (n_answers,), a name such as "ticked-M"."""
        fits = [self._are_of(kind) for kind in KINDS.values()]
        return np.select(fits, [*KINDS], "")

    @property
    def chooses(self) -> Bools:
        """Which answers, (n_answers,), name labels of the person's choice."""
        return np.isin(self.question, [*CHOOSING])

    @property
    def chosen(self) -> Mask:
        """The labels that answers name, whether they apply or not, (n_answers, n_labels)."""
        return as_mask(self.named + self.positive)

    @property
    def lists(self) -> Bools:
        """Which answers, (n_answers,), list labels, and say nothing of the others."""
        return np.isin(self.question, [*LISTING])

    @property
    def listed(self) -> Mask:
        """The labels of lists, whether they apply or not, (n_answers, n_labels)."""
        return as_mask(self.excluded + self.tagged)

    @property
    def if_none(self) -> NDArray[np.str_]:
        """What people do if there is no label to name: ``all_apply`` or ``none_applies``."""
        return np.where(self.question == "positive", self.none_applies, self.all_apply)

    @property
    def exhausted(self) -> Bools:
        """Which answers, (n_answers,), name fewer labels than asked for: there are no others."""
        return np.asarray(self.chooses & (counts_of(self.chosen) < self.asked_for), dtype=np.bool_)

    @property
    def implied(self) -> Mask:
        """Labels that apply, as :attr:`exhausted` answers do not name them, (n_answers, K)."""
        return self._left("named")

    @property
    def implied_no(self) -> Mask:
        """Labels that do not apply, because these answers do not name them as positive."""
        return self._left("positive")

    def _left(self, question: str) -> Mask:
        exhausted = self.exhausted & (self.question == question)
        return without(spell_out(self.offered, exhausted), self.chosen)

    @cached_property
    def _statements(self) -> Statements:
        """What the answers say; no (n_items, n_labels) array is made."""
        masks = [getattr(self, name) for name in MARKS]
        masks += [without(self.implied, self.relevant), without(self.implied_no, self.absent)]
        answer = np.concatenate([rows_of(mask) for mask in masks])
        kind = np.repeat(np.arange(len(masks), dtype=np.int8), [mask.nnz for mask in masks])
        return Statements(
            answer=answer,
            item=self.item[answer],
            label=np.concatenate([mask.indices for mask in masks]).astype(np.intp),
            kind=kind,
            applies=_APPLIES[kind],
            n_labels=self.n_labels,
        )

    @property
    def weighted(self) -> bool:
        """Whether an answer has another weight than 1."""
        return bool((self.weight != 1).any())

    @property
    def item_weight(self) -> Array:
        """The greatest weight of the answers about each item, (n_items,); 0 without answers."""
        greatest = np.zeros(self.n_items)
        np.maximum.at(greatest, self.item, self.weight)
        return greatest

    def statements(self) -> Statements:
        """Return what the answers say, one statement for each label, with those that are implied.

        They are collected once, and handed on to the answers about some of the items.

        Examples
        --------
        >>> from complabel.answers import Answers
        >>> answers = Answers.from_arrays(absent=[[1, 0]], relevant=[[0, 1]], item=[2])
        >>> statements = answers.statements()
        >>> statements.item, statements.label, statements.applies
        (array([2, 2]), array([0, 1]), array([False,  True]))
        """
        return self._statements

    def __len__(self) -> int:
        return self.n_items

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Any:
        """Refuse to become an array, which would lose what was asked."""
        if _asked_for_folds():
            return np.empty(self.n_items, dtype=object)
        raise AnnotationError(_NO_ARRAY)

    def __getitem__(self, rows: Any) -> Self:
        items = self._positions(rows)
        places, item = _places_of(items, self.item)
        return self._take(
            places,
            item,
            n_items=len(items),
            item_names=None if self.item_names is None else self.item_names[items],
        )

    def only(self, which: Bools) -> Self:
        """Return the answers marked in ``which``, (n_answers,); the items stay the same."""
        if np.all(which):  # without a copy: there may be millions
            return self
        rows = np.flatnonzero(which)
        return self._take(rows, self.item[rows])

    def __repr__(self) -> str:
        words, counts = np.unique(self.question, return_counts=True)
        count_of = dict(zip(words.tolist(), counts.tolist(), strict=True))
        by_question = [f"{count_of[word]} {word}" for word in QUESTIONS if word in count_of]
        by_question = [f": {', '.join(by_question)}"] if by_question else []
        return (
            f"Answers({self.n_items} items, {self.n_labels} labels, {self.n_answers} answers"
            f"{''.join(by_question)})"
        )

    def _are_of(self, kind: QuestionKind) -> Bools:
        """Return which answers, (n_answers,), may belong to a kind of question."""
        fits = self.question == kind.held_as
        if kind.all_apply != "answer":
            fits = fits & (self.all_apply == kind.all_apply)
        if kind.takes_size:
            return np.asarray(fits & (self.n_offered < self.n_labels))
        return np.asarray(fits & (self.n_offered == kind.size)) if kind.size else fits

    def _positions(self, rows: Any) -> Ints:
        if isinstance(rows, tuple):
            first, *others = rows
            if others not in ([Ellipsis], [slice(None)]):  # scikit-learn indexes arrays like this
                raise IndexError(f"answers are indexed by items alone, got {rows!r}")
            rows = first
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.size == 0 and rows.dtype != np.bool_:
                rows = rows.astype(np.intp)
        positions = np.atleast_1d(np.arange(self.n_items)[rows])
        if positions.ndim > 1:
            raise IndexError(f"answers are indexed by a 1-D array of items, got {positions.ndim}-D")
        return positions

    def _sorted(self) -> Self:
        """Return the answers sorted by item; answers about one item keep their order."""
        order = np.argsort(self.item, kind="stable")
        return self._take(order, self.item[order])

    def _take(self, rows: Ints, item: Ints, **changes: Any) -> Self:
        """Return the answers in ``rows``, now about other items, with what is known of them."""
        parts = {name: getattr(self, name)[rows] for name in (*COLUMNS, *MASKS)}
        taken = replace(self, item=item, **parts, **changes)
        if "_statements" in vars(self):
            statements = self._statements
            kinds = np.arange(len(STATEMENT_KINDS))[:, np.newaxis]
            wanted = (kinds * self.n_answers + rows).ravel()
            held = statements.kind * np.int64(self.n_answers) + statements.answer
            places, at = _places_of(wanted, held)
            answer = at % max(len(rows), 1)
            part = statements.only(places, answer=answer, item=item[answer])
            vars(taken)["_statements"] = part
        return taken

    def _by_item(self, *masks: Mask) -> Indicator:
        """Return 1 where any answer about the item has a mark in any mask, (n_items, n_labels)."""
        marked = np.zeros(self.shape, dtype=np.uint8)
        for mask in masks:
            marked[np.repeat(self.item, counts_of(mask)), mask.indices] = 1
        return marked


A = TypeVar("A", bound=AnswerArrays)


def mirrored(answers: A) -> A:
    """Return what the answers say if each label that applies is one that does not.

    A label that applies is then named by the question "named", and what is true of naming labels
    that do not apply is true of it.
    """
    sides = {"named": "positive", "absent": "relevant", "excluded": "tagged"}
    sides |= {"all_apply": "none_applies"}
    sides |= {other: side for side, other in sides.items()}
    words, place = np.unique(answers.question, return_inverse=True)
    others = np.array([sides.get(word, word) for word in words.tolist()], dtype="<U8")
    changed: dict[str, Any] = {side: getattr(answers, other) for side, other in sides.items()}
    return replace(answers, question=others[place], **changed)


def _places_of(
    values: NDArray[np.integer[Any]], ordered: NDArray[np.integer[Any]]
) -> tuple[Ints, Ints]:
    """Return where each value stands in an ascending array, and which of the values it is there.

    One after another for each value, (n,) and (n,); a value may stand there several times or never.
    """
    first = np.searchsorted(ordered, values)  # of these values alone: there may be millions
    counts = np.searchsorted(ordered, values, side="right") - first
    which = np.repeat(np.arange(len(values)), counts)
    return np.arange(len(which)) + (first - (np.cumsum(counts) - counts))[which], which


def _asked_for_folds() -> bool:
    """Tell whether scikit-learn's ``check_cv`` asks for an array, only to look at its type.

    It asks before ``cross_val_score(..., cv=3)`` and the like split the answers. If these are to be
    scored as true labels, they are refused at once.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_name != "check_cv":
        frame = frame.f_back
    if frame is None or frame.f_back is None:
        return False
    asked = frame.f_back.f_locals  # of cross_validate, or of a search, which would score NaN
    scoring = asked.get("scoring", getattr(asked.get("self"), "scoring", None))
    several = scoring if isinstance(scoring, list | tuple | set) else [scoring]
    scorers = scoring.values() if isinstance(scoring, dict) else several
    return not any(isinstance(x, str) or type(x).__name__ == "_Scorer" for x in scorers)


# A name is stored for every code up to the largest one. Larger numbers are ids of people.
_MOST_CODES = 1_000_000


def read_known(values: ArrayLike | None, name: str, n_answers: int) -> Array:
    """Return a column of numbers, (n_answers,), with NaN where nothing is known."""
    return read_column(np.nan if values is None else values, name, n_answers, np.float64)


def same_names(several: Sequence[Any], noun: str) -> Any:
    """Return the names that all parts share; parts without names (None) are skipped."""
    known = [names for names in several if names is not None]
    for names in known:
        if not np.array_equal(names, known[0]):
            raise AnnotationError(
                f"the answers have different {noun}, or the same in another order; give all the "
                f"same {noun} in the same order"
            )
    return known[0] if known else None


def read_masks(
    indicators: Mapping[str, IndicatorLike | None], label_names: Sequence[str] | None
) -> tuple[dict[str, Mask], tuple[str, ...] | None]:
    """Return all masks and the label names; a mask that was not given has no marks."""
    names = None if label_names is None else check_names(label_names)
    reference = "label_names"
    masks: dict[str, Mask] = {}
    for name, values in indicators.items():
        if values is None:
            continue
        if names is None:
            names, reference = label_names_of(values), name
        elif label_names_of(values) is not None:
            check_label_names(values, names, name=name, reference=reference)
        masks[name] = read_mask(values, name)
    if not masks:
        raise AnnotationError(f"there are no answers; give at least one of {', '.join(MASKS)}")
    (first, mask), *others = masks.items()
    for name, other in others:
        if other.shape != mask.shape:
            raise AnnotationError(
                f"{name} has shape {other.shape} but {first} {mask.shape}; all need one row per "
                "answer and one column per label"
            )
    if mask.shape[1] < 1:
        raise AnnotationError(f"{first} has no columns; give one for each label")
    if names is not None and len(names) != mask.shape[1]:
        raise AnnotationError(
            f"there are {len(names)} label names for {mask.shape[1]} columns; give one for each"
        )
    none = as_mask(sparse.csr_array(mask.shape, dtype=np.uint8))
    every = {name: masks.get(name, none) for name in MASKS}
    return every, None if names is None else tuple(names)


def read_questions(
    question: str | ArrayLike | None, masks: Mapping[str, Mask], *, marked: Sequence[str]
) -> NDArray[np.str_]:
    """Return the question of each answer, (A,); if not given, infer it from the marks."""
    if question is not None:
        stated = read_words(question, "question", masks["named"].shape[0], QUESTIONS)
        odd = np.flatnonzero((stated == "named") & (counts_of(masks["relevant"]) > 0))
        if "named" not in marked and len(odd):
            raise AnnotationError(
                f"answer {odd[0]} is 'named', but marks only labels that apply; give named, or the"
                " question: 'ticked' if people ticked all that apply, 'asked' if they said yes. If"
                " they named labels that apply, give these as positive"
            )
        return stated
    has = {name: counts_of(mask) > 0 for name, mask in masks.items()}
    chosen = ("named", "positive", *LISTING)
    questions = np.select(
        [*(has[word] for word in chosen), has["absent"] | has["relevant"]],
        [*chosen, "asked"],
        default="",
    )
    if "named" in marked:  # a menu was offered and nothing named: all its labels apply
        questions[(questions == "") & has["offered"]] = "named"
    elif lists := [word for word in chosen[1:] if word in marked]:
        questions[questions == ""] = lists[0]  # no label applies, or none is on the list
    blank = np.flatnonzero(questions == "")
    if len(blank):
        also = f" ({len(blank)} answers in all)" if len(blank) > 1 else ""
        raise AnnotationError(
            f"answer {blank[0]} marks no label, so its meaning is unknown{also}; leave it out, or "
            'give its question: "named" if all offered labels apply. Answers.from_frame takes a '
            "frame of 1, 0 and NaN with rows of which nothing is known"
        )
    return questions.astype("<U8")


def complete_masks(
    masks: Mapping[str, Mask], questions: NDArray[np.str_], *, marked: Sequence[str]
) -> dict[str, Mask]:
    """Add what follows: asked labels were offered, the rest of ticked ones, a full menu is empty.

    If one of the masks ``absent`` and ``relevant`` was given, it has what was ticked.
    """
    offered, absent, relevant = masks["offered"], masks["absent"], masks["relevant"]
    ticked, none = questions == "ticked", np.zeros(len(questions), dtype=np.bool_)
    ticks = [name for name in ("relevant", "absent") if name in marked]
    if len(ticks) == 1 and ticked.any():
        sides = (ticked, none) if ticks == ["relevant"] else (none, ticked)
        absent, relevant = complete_ticks(spell_out(offered, ticked), absent, relevant, *sides)
    unlisted = (questions == "asked") & (counts_of(offered) == 0)
    if unlisted.any():
        offered = union(offered, keep_rows(union(absent, relevant), unlisted))
    offered = keep_rows(offered, counts_of(offered) < offered.shape[1])
    return {**masks, "offered": offered, "absent": absent, "relevant": relevant}


def read_asked_for(asked_for: ArrayLike | None, chosen: Mask, questions: NDArray[np.str_]) -> Ints:
    """Return how many labels each answer was asked to name, (A,)."""
    is_named = np.isin(questions, [*CHOOSING])
    if asked_for is None:
        return np.where(is_named, np.maximum(counts_of(chosen), 1), 0)
    marks = read_column(asked_for, "asked_for", len(questions), np.intp)
    return np.where(is_named, marks, 0) if np.ndim(asked_for) == 0 else marks


def read_column(values: ArrayLike, name: str, n_answers: int, dtype: type[np.generic]) -> AnyArray:
    """Return one number for each answer, (A,), given an array or one number for all."""
    array = one_each(values, name, n_answers)
    whole = np.issubdtype(dtype, np.integer)
    if array.size and array.dtype.kind not in ("iu" if whole else "iuf"):
        raise AnnotationError(
            f"{name} holds values of type {array.dtype}; give "
            f"{'integers' if whole else 'numbers, NaN where there is none'}"
        )
    return array.astype(dtype)


def read_words(
    values: str | ArrayLike, name: str, n_answers: int, words: Sequence[str]
) -> NDArray[np.str_]:
    array = one_each(values, name, n_answers)
    texts = array.astype(np.str_)
    unknown = np.flatnonzero(~np.isin(texts, words))
    if len(unknown):
        value = array[unknown[0]]
        raise AnnotationError(
            f"{name} of answer {unknown[0]} is {getattr(value, 'item', lambda: value)()!r}; it "
            f"must be one of {', '.join(words)}"
        )
    return texts.astype(f"<U{max(map(len, words))}")


def read_annotators(annotator: ArrayLike | None, n_answers: int) -> tuple[Ints, tuple[str, ...]]:
    """Return the code of each answer's annotator, -1 if unknown, and the names of the codes."""
    if annotator is None:
        return np.full(n_answers, -1, dtype=np.intp), ()
    values = one_each(annotator, "annotator", n_answers)
    if values.dtype.kind in "iu":
        least, largest = (int(values.min()), int(values.max())) if n_answers else (0, -1)
        if least >= -1 and largest < _MOST_CODES:
            return values.astype(np.intp), tuple(map(str, range(largest + 1)))
        known = values != -1
    else:
        known = ~np.fromiter(map(is_gap, values.tolist()), dtype=np.bool_, count=n_answers)
    people = [text_of(each) for each in values[known].tolist()]
    names, inverse = np.unique(np.array(people, dtype=np.str_), return_inverse=True)
    codes = np.full(n_answers, -1, dtype=np.intp)
    codes[known] = inverse
    return codes, tuple(names.tolist())


def one_each(values: Any, name: str, n_answers: int) -> AnyArray:
    """Return an array with one value for each answer, (A,), repeating a single value."""
    array = np.asarray(values)
    if array.ndim == 0:
        array = np.full(n_answers, array)
    if array.shape != (n_answers,):
        raise AnnotationError(
            f"{name} has shape {array.shape} for {n_answers} answers; give one value for each"
        )
    return array
