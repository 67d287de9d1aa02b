"""Which statements of answers are certain; find and resolve contradictions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from complabel._parameters import Bools, Ints, check_choice
from complabel._questions import CHOOSING, LISTING
from complabel._settings import setting
from complabel.answers._arrays import BY_CHOICE, MARKS, AnswerArrays, Statements
from complabel.answers._masks import (
    MAX_NAMED,
    Mask,
    common,
    counts_of,
    keep_rows,
    mask_of,
    spell_out,
    union,
    without,
)
from complabel.answers._names import list_some
from complabel.errors import AnnotationError, InputError

A = TypeVar("A", bound=AnswerArrays)

ContradictionPolicy: TypeAlias = Literal["error", "drop", "majority", "trust-relevant"]
"""What to do about contradictions between answers."""

CONTRADICTION_POLICIES: tuple[ContradictionPolicy, ...] = get_args(ContradictionPolicy)
"""All these words; :func:`resolve_contradictions` says what each does."""


def sure_statements(
    answers: AnswerArrays, statements: Statements, *, with_error_rates: bool = False
) -> Bools:
    """Return which statements of these answers hold for certain, (S,), given how people answer.

    With mistakes (``with_error_rates``), only what was volunteered or excluded is certain. Somebody
    who picks a label even if all apply (``all_apply="pick"``) says that it does not apply only if
    another offered label certainly does not. It is the same of one who names a label that applies.
    """
    by_choice = np.isin(statements.kind, BY_CHOICE)
    named = np.isin(statements.kind, BY_CHOICE[:2])
    if with_error_rates:
        judged = answers.judges[statements.answer]
        return np.asarray(~(by_choice | judged))
    may_pick = (answers.if_none == "pick") & ~answers.exhausted
    picked = named & may_pick[statements.answer]
    sure = np.asarray(~picked)
    for applies in (False, True):
        of_side = picked & (statements.applies == applies)
        certain = statements.only(~picked & (statements.applies == applies))
        known = mask_of(certain.item, certain.label, answers.shape)
        rows = statements.answer[of_side]
        offered = answers.offered[rows]
        at_all = counts_of(known)[answers.item[rows]] > 0
        on_menu = np.asarray(known[answers.item[rows]].multiply(offered).sum(axis=1)) > 0
        sure[of_side] = np.where(counts_of(offered) == 0, at_all, on_menu)
    return sure


def resolve_contradictions(
    answers: A,
    contradictions: ContradictionPolicy | Literal["keep"] = "error",
    *,
    trusted: Sequence[str] = (),
) -> A:
    """Resolve contradictions: one answer says that a label applies, another denies it.

    Parameters
    ----------
    answers : Answers
    contradictions : {"error", "drop", "majority", "trust-relevant", "keep"}, default="error"
        What to do with each contradicted pair of an item and a label:

        - "error": refuse the answers with an AnnotationError.
        - "drop": remove what all answers say about the pair.
        - "majority": remove the side with fewer answers, and both sides if they are equal. They are
          counted before anything is removed. Several answers of one annotator count once on each
          side. Each answer of an unknown annotator counts.
        - "trust-relevant": remove the side that says that the label does not apply.
        - "keep": remove nothing.
    trusted : sequence of str, default=()
        Annotators whose word counts: of a contradicted pair, the side without any of them is
        removed. Where both sides have one of them, or none has, ``contradictions`` decides.

    Returns
    -------
    Answers
        ``answers`` itself, if there are no contradictions. Otherwise new answers about the same
        items and labels, without contradictions, unless they are kept.

    Raises
    ------
    AnnotationError
        If ``contradictions`` is "error" and there are contradictions.
    InputError
        If ``contradictions`` is none of these words, or nobody has the name of one of ``trusted``.

    Notes
    -----
    A label that is removed from an answer is no longer offered there, as if nobody had asked
    about it. Without this, an "excluded" answer would say that the label was not excluded. An
    answer is dropped if no mark is left. If the question is "named", the choice among the offered
    labels cannot be removed in part. So the whole answer is dropped if the label was named, or if
    it applies because too few labels were named. Other labels of such an answer are removed alone.
    It is the same if the question is "positive".

    Examples
    --------
    >>> from complabel.answers import Answers
    >>> answers = Answers.from_arrays(
    ...     absent=[[1, 0, 0], [1, 0, 0], [0, 1, 0]],
    ...     relevant=[[0, 0, 0], [0, 0, 0], [1, 0, 1]],
    ...     item=[0, 0, 0],
    ...     annotator=["ann", "bob", "cy"],
    ... )
    >>> resolve_contradictions(answers, "majority").known_relevant
    array([[0, 0, 1]], dtype=uint8)
    >>> resolve_contradictions(answers, "trust-relevant").complementary
    array([[0, 1, 0]], dtype=uint8)
    >>> resolve_contradictions(answers, "majority", trusted=["cy"]).known_relevant
    array([[1, 0, 1]], dtype=uint8)
    """
    check_choice("contradictions", contradictions, (*CONTRADICTION_POLICIES, "keep"))
    if trusted:
        answers = _as_trusted_say(answers, trusted)
    if contradictions == "keep":
        return answers
    disputed, statements = _disputed(answers)
    if not len(disputed):
        return answers
    if contradictions == "error":
        raise AnnotationError(_refusal(answers, len(disputed)))
    applies, struck = statements.applies, np.ones(len(statements), dtype=np.bool_)
    if contradictions == "trust-relevant":
        struck = ~applies
    elif contradictions == "majority":
        votes = [_votes(answers, disputed, statements.only(applies == side)) for side in (0, 1)]
        loses = np.stack([votes[0] <= votes[1], votes[1] <= votes[0]])
        struck = loses[applies.astype(np.intp), np.searchsorted(disputed, statements.pair)]
    shape = answers.named.shape
    return _strike(answers, mask_of(statements.answer[struck], statements.label[struck], shape))


def _as_trusted_say(answers: A, trusted: Sequence[str]) -> A:
    """Remove what contradicts trusted people, where these agree."""
    people = answers.annotator_names
    if strangers := sorted({*trusted} - {*people}):
        raise InputError(
            f"{setting('trusted')} is {strangers[0]!r}, but nobody of this name has answered; the"
            f" people are {list_some(people) or 'not known'}",
            parameter="trusted",
        )
    disputed, statements = _disputed(answers)
    codes = [people.index(name) for name in trusted]
    by_trusted = np.isin(answers.annotator[statements.answer], codes)
    applies, pair = statements.applies, statements.pair
    has = [np.isin(disputed, pair[by_trusted & (applies == side)]) for side in (0, 1)]
    loses = np.stack([has[1] & ~has[0], has[0] & ~has[1]])
    struck = loses[applies.astype(np.intp), np.searchsorted(disputed, pair)]
    marks = mask_of(statements.answer[struck], statements.label[struck], answers.named.shape)
    return _strike(answers, marks) if struck.any() else answers


def about_positives(answers: AnswerArrays) -> str:
    """Say how many answers name labels that apply, which are no sample; nothing if there are none.

    It ends an error's clause about what is missing.
    """
    words = [
        f"{n:,} answers to the question '{word}'"
        for word in (*CHOOSING, *LISTING)
        if "yes" in (CHOOSING.get(word), LISTING.get(word))
        and (n := int(np.count_nonzero(answers.question == word)))
    ]
    if not words:
        return ""
    return (
        f" ({' and '.join(words)} name labels that apply, which people choose:"
        " these are no sample, and say nothing of the other labels)"
    )


def contradictions_table(answers: AnswerArrays, *, most: int | None = None) -> dict[str, list[Any]]:
    """List the contradictions between answers, or the first ``most``, and who gave the answers.

    Returns
    -------
    dict of str to list
        Columns with an entry for each contradiction, sorted by item and label.

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
    ...     contradictions="keep",
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
    disputed, statements = _disputed(answers)
    disputed = disputed[:most]
    item, label = np.divmod(disputed, answers.n_labels)
    items, labels = answers.item_names, answers.label_names
    n_denied, denied_by = _side(answers, disputed, statements.only(~statements.applies))
    n_applies, applies_by = _side(answers, disputed, statements.only(statements.applies))
    return {
        "item": item.tolist() if items is None else items[item].tolist(),
        "label": label.tolist() if labels is None else [labels[each] for each in label],
        "n_applies": n_applies,
        "n_denied": n_denied,
        "applies_by": applies_by,
        "denied_by": denied_by,
    }


def _disputed(answers: AnswerArrays) -> tuple[NDArray[np.int64], Statements]:
    """Return the contradicted pairs, (C,), ascending, and all statements about them."""
    statements = answers.statements()
    if (answers.if_none == "pick").any():  # who picks a label anyway need not deny it
        statements = statements.only(sure_statements(answers, statements))
    disputed = statements.contradicted
    return disputed, statements.only(np.isin(statements.pair, disputed))


def _votes(answers: AnswerArrays, disputed: NDArray[np.int64], statements: Statements) -> Ints:
    """Count the voters for each pair, (C,): annotators, and answers by unknown annotators."""
    people = answers.annotator[statements.answer]
    voter = np.where(people == -1, len(answers.annotator_names) + statements.answer, people)
    once = np.unique(np.stack([np.searchsorted(disputed, statements.pair), voter]), axis=1)[0]
    return np.bincount(once, minlength=len(disputed))


def _strike(answers: A, struck: Mask) -> A:
    """Return answers without the struck labels, and without answers that become empty."""
    is_named = answers.chooses
    chosen = union(answers.chosen, spell_out(answers.offered, answers.exhausted))
    gone = is_named & (counts_of(common(chosen, struck)) > 0)
    # Such an answer that stays loses only relevant or absent marks. Its menu stays as it was.
    narrowed = ~is_named & (counts_of(struck) > 0)
    offered = union(
        keep_rows(answers.offered, ~narrowed),
        without(spell_out(answers.offered, narrowed), keep_rows(struck, narrowed)),
    )
    marks: dict[str, Any] = {n: without(getattr(answers, n), struck) for n in MARKS}
    left = sum((counts_of(mask) for mask in marks.values()), start=np.zeros(1, dtype=np.intp))
    gone |= narrowed & ((left == 0) | (counts_of(offered) == 0))
    return replace(answers, **marks, offered=offered).only(~gone)


def _side(
    answers: AnswerArrays, disputed: NDArray[np.int64], statements: Statements
) -> tuple[list[int], list[tuple[str, ...]]]:
    """Return for each pair how many answers are on this side, and who gave them."""
    statements = statements.only(np.isin(statements.pair, disputed))
    pair, answer = np.unique(
        np.stack([np.searchsorted(disputed, statements.pair), statements.answer]), axis=1
    )  # an answer may both exclude a label and call it absent
    people = answers.annotator[answer]
    counts = np.bincount(pair, minlength=len(disputed)).tolist()
    pair, people = np.unique(np.stack([pair, people])[:, people != -1], axis=1)
    names = [answers.annotator_names[each] for each in people]
    ends = np.searchsorted(pair, np.arange(len(disputed) + 1)).tolist()
    return counts, [tuple(sorted(names[start:end])) for start, end in itertools.pairwise(ends)]


def _refusal(answers: AnswerArrays, count: int) -> str:
    table = contradictions_table(answers, most=MAX_NAMED)
    listed = "; ".join(
        f"label {label!r} of item {item!r} (applies: {_who(n_yes, yes)}; does not apply:"
        f" {_who(n_no, no)})"
        for item, label, n_yes, n_no, yes, no in zip(*table.values(), strict=True)
    )
    more = "; ..." if count > MAX_NAMED else ""
    return (
        f"answers contradict each other about {listed}{more} ({count} in all); correct them, or"
        f" choose how to resolve them with {setting('contradictions')}: drop, majority or"
        f" trust-relevant; {setting('trusted')} names a person who is right"
    )


def _who(count: int, names: tuple[str, ...]) -> str:
    some = [*map(repr, names[:MAX_NAMED]), *(["..."] if len(names) > MAX_NAMED else [])]
    return ", ".join(some) or (f"{count} answers" if count > 1 else "1 answer")
