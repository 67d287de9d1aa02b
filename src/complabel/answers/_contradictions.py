"""Find and resolve contradictions: one answer says that a label applies, another denies it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from complabel._parameters import check_choice
from complabel.answers._answers_masks import (
    Mask,
    common,
    counts_of,
    keep_rows,
    mask_of,
    spell_out,
    union,
    without,
)
from complabel.answers._indicator import MAX_NAMED
from complabel.errors import AnnotationError

if TYPE_CHECKING:
    from complabel.answers._answers import Answers

ContradictionPolicy: TypeAlias = Literal["error", "drop", "majority", "trust-relevant"]
"""What to do about contradictions between answers."""

CONTRADICTION_POLICIES: tuple[ContradictionPolicy, ...] = get_args(ContradictionPolicy)
"""All policies; :func:`resolve_contradictions` says what each does."""


def resolve_contradictions(answers: Answers, policy: ContradictionPolicy = "error") -> Answers:
    """Resolve contradictions: one answer says that a label applies, another denies it.

    Parameters
    ----------
    answers : Answers
    policy : {"error", "drop", "majority", "trust-relevant"}, default="error"
        What to do with each contradicted pair of an item and a label:

        - "error": refuse the answers.
        - "drop": remove what all answers say about the pair.
        - "majority": remove the side with fewer answers, and both sides if they are equal.
          Several answers of one annotator count once on each side. Each answer of an unknown
          annotator counts.
        - "trust-relevant": remove the side that says that the label does not apply.

    Returns
    -------
    Answers
        ``answers`` itself, if there are no contradictions. Otherwise new answers about the same
        items and labels, without contradictions.

    Raises
    ------
    AnnotationError
        If the policy is "error" and there are contradictions.
    InputError
        If ``policy`` is none of these words.

    Notes
    -----
    A label that is removed from an answer is no longer offered there, as if nobody had asked
    about it. Without this, an "excluded" answer would say that the label was not excluded. An
    answer is dropped if no mark is left. If the question is "named", the choice among the offered
    labels cannot be removed in part. So the whole answer is dropped if the label was named, or if
    it applies because too few labels were named. Other labels of such an answer are removed alone.

    The majority is counted before anything is removed.

    Examples
    --------
    >>> from complabel.answers import Answers
    >>> answers = Answers.from_arrays(
    ...     absent=[[1, 0, 0], [1, 0, 0], [0, 1, 0]],
    ...     relevant=[[0, 0, 0], [0, 0, 0], [1, 0, 1]],
    ...     item=[0, 0, 0],
    ... )
    >>> resolve_contradictions(answers, "majority").known_relevant
    array([[0, 0, 1]], dtype=uint8)
    >>> resolve_contradictions(answers, "trust-relevant").complementary
    array([[0, 1, 0]], dtype=uint8)
    """
    check_choice("policy", policy, CONTRADICTION_POLICIES)
    said = _Said.of(answers)
    if not len(said.disputed):
        return answers
    if policy == "error":
        raise AnnotationError(_refusal(answers, said))
    if policy == "drop":
        return _strike(answers, union(said.denied, said.affirmed))
    if policy == "trust-relevant":
        return _strike(answers, said.denied)
    against, for_it = said.votes(answers, said.denied), said.votes(answers, said.affirmed)
    denied = said.where(answers, said.denied, against <= for_it)
    affirmed = said.where(answers, said.affirmed, for_it <= against)
    return _strike(answers, union(denied, affirmed))


def contradictions_table(answers: Answers) -> dict[str, list[Any]]:
    """List the contradictions between answers, and who gave these answers.

    Parameters
    ----------
    answers : Answers

    Returns
    -------
    dict of str to list
        Columns with an entry for each contradiction, sorted by item and label. A data frame can
        be made from them.

        - ``item``, ``label``: their names, or their numbers if they have no names;
        - ``n_applies``, ``n_denied``: how many answers are on each side;
        - ``applies_by``, ``denied_by``: tuple of str, the known annotators on each side, sorted.

    Examples
    --------
    >>> from complabel.answers import Answers
    >>> answers = Answers.from_table(
    ...     {
    ...         "item": ["a.jpg", "a.jpg", "b.jpg"],
    ...         "label": ["sea", "sea", "sky"],
    ...         "answer": ["yes", "no", "no"],
    ...         "annotator": ["ann", "bob", "ann"],
    ...     },
    ...     conflicts="keep",
    ... )
    >>> for name, column in contradictions_table(answers).items():
    ...     print(name, column)
    item ['a.jpg']
    label ['sea']
    n_applies [1]
    n_denied [1]
    applies_by [('ann',)]
    denied_by [('bob',)]
    """
    return _table(answers, _Said.of(answers))


@dataclass(frozen=True)
class _Said:
    """The contradicted pairs of an item and a label, and what answers say about them."""

    disputed: NDArray[np.int64]  # (C,), item * n_labels + label of each pair, ascending
    denied: Mask  # (A, K), answers that deny one of these pairs
    affirmed: Mask  # (A, K), answers that affirm one of these pairs

    @classmethod
    def of(cls, answers: Answers) -> _Said:
        """Find the contradicted pairs; no dense (n_items, n_labels) matrix is made."""
        fewer = (answers.question == "named") & (counts_of(answers.named) < answers.asked_for)
        implied = without(spell_out(answers.offered, fewer), answers.named)
        affirmed = union(answers.relevant, implied)
        denied = union(union(answers.named, answers.absent), answers.excluded)
        disputed = _in_both(_pairs(answers, affirmed), _pairs(answers, denied))
        either = cls(disputed, denied, affirmed)
        every = np.ones(len(disputed), dtype=np.bool_)
        return cls(
            disputed,
            either.where(answers, denied, every),
            either.where(answers, affirmed, every),
        )

    def where(self, answers: Answers, mask: Mask, chosen: NDArray[np.bool_]) -> Mask:
        """Return the marks of ``mask`` about the disputed pairs that ``chosen``, (C,), marks."""
        kept = np.isin(_pairs(answers, mask), self.disputed[chosen])
        return mask_of(_rows_of(mask)[kept], mask.indices[kept].astype(np.intp), mask.shape)

    def votes(self, answers: Answers, mask: Mask) -> NDArray[np.intp]:
        """Count the voters for each pair, (C,): annotators, and answers by unknown annotators."""
        pair = np.searchsorted(self.disputed, _pairs(answers, mask))
        row = _rows_of(mask)
        people = answers.annotator[row]
        voter = np.where(people == -1, len(answers.annotator_names) + row, people)
        once = np.unique(np.stack([pair, voter]), axis=1)[0]
        return np.bincount(once, minlength=len(self.disputed))


def _strike(answers: Answers, struck: Mask) -> Answers:
    """Return answers without the struck labels, and without answers that become empty."""
    is_named = answers.question == "named"
    fewer = is_named & (counts_of(answers.named) < answers.asked_for)
    chosen = union(answers.named, spell_out(answers.offered, fewer))
    gone = is_named & (counts_of(common(chosen, struck)) > 0)
    # A "named" answer that stays loses only relevant or absent marks. Its menu stays as it was.
    narrowed = ~is_named & (counts_of(struck) > 0)
    offered = union(
        keep_rows(answers.offered, ~narrowed),
        without(spell_out(answers.offered, narrowed), keep_rows(struck, narrowed)),
    )
    marks: dict[str, Any] = {name: without(getattr(answers, name), struck) for name in _MARKS}
    left = sum((counts_of(mask) for mask in marks.values()), start=np.zeros(1, dtype=np.intp))
    gone |= narrowed & ((left == 0) | (counts_of(offered) == 0))
    return replace(answers, **marks, offered=offered).only(~gone)


_MARKS = ("named", "absent", "relevant", "excluded")


def _rows_of(mask: Mask) -> NDArray[np.intp]:
    """Return the row (answer) of each mark."""
    return np.repeat(np.arange(mask.shape[0]), counts_of(mask))


def _pairs(answers: Answers, mask: Mask) -> NDArray[np.int64]:
    """Return item * n_labels + label for each mark."""
    item = np.repeat(answers.item, counts_of(mask)).astype(np.int64)
    return item * answers.n_labels + mask.indices


def _in_both(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct common values, ascending; np.intersect1d takes three times as long."""
    right = np.sort(right)
    found = np.searchsorted(right, left, side="right") > np.searchsorted(right, left)
    return np.unique(left[found])


def _table(answers: Answers, said: _Said, most: int | None = None) -> dict[str, list[Any]]:
    """Return the columns of ``contradictions_table``, with at most ``most`` entries."""
    shown = said.disputed[:most]
    item, label = np.divmod(shown, answers.n_labels)
    items, labels = answers.item_names, answers.label_names
    n_denied, denied_by = _sides(answers, said, said.denied, len(shown))
    n_applies, applies_by = _sides(answers, said, said.affirmed, len(shown))
    return {
        "item": item.tolist() if items is None else items[item].tolist(),
        "label": label.tolist() if labels is None else [labels[each] for each in label],
        "n_applies": n_applies,
        "n_denied": n_denied,
        "applies_by": applies_by,
        "denied_by": denied_by,
    }


def _sides(
    answers: Answers, said: _Said, mask: Mask, n_shown: int
) -> tuple[list[int], list[tuple[str, ...]]]:
    """Return for each of the first pairs how many answers mark it, and who gave them."""
    pair = np.searchsorted(said.disputed, _pairs(answers, mask))
    people = answers.annotator[_rows_of(mask)]
    counts = np.bincount(pair, minlength=len(said.disputed))[:n_shown].tolist()
    known = (people != -1) & (pair < n_shown)
    pair, people = np.unique(np.stack([pair[known], people[known]]), axis=1)
    names = [answers.annotator_names[each] for each in people]
    ends = np.searchsorted(pair, np.arange(n_shown + 1)).tolist()
    return counts, [tuple(sorted(names[start:end])) for start, end in itertools.pairwise(ends)]


def _refusal(answers: Answers, said: _Said) -> str:
    """Return the message about answers that contradict each other."""
    table = _table(answers, said, MAX_NAMED)
    listed = "; ".join(
        f"label {label!r} of item {item!r} (applies: {_who(n_yes, yes)}; does not apply:"
        f" {_who(n_no, no)})"
        for item, label, n_yes, n_no, yes, no in zip(*table.values(), strict=True)
    )
    more = "; ..." if len(said.disputed) > MAX_NAMED else ""
    return (
        f"answers contradict each other about {listed}{more} ({len(said.disputed)} in all); correct"
        ' them, or choose how to resolve them: "drop", "majority" or "trust-relevant"'
    )


def _who(count: int, names: tuple[str, ...]) -> str:
    """Return the names of annotators, or the number of answers if no annotator is known."""
    some = [*map(repr, names[:MAX_NAMED]), *(["..."] if len(names) > MAX_NAMED else [])]
    return ", ".join(some) or (f"{count} answers" if count > 1 else "1 answer")
