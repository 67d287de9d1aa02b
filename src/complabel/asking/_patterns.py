"""Labels with the same marks or nearly the same name, and items with the same features."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from complabel.answers import STATEMENT_KINDS, find_contradictions, pair_rows
from complabel.asking._inspection import FeatureSummary
from complabel.asking._said import Said, distinct
from complabel.errors import InputError

_CHANCE = 1e-3  # what chance alone would give more often than this is not reported
_CHUNK = 50_000  # rows that are made dense at a time, which limits the memory
# If at least this share of the cells is marked, dense products of chunks of rows are faster.
_DENSE = 0.05
_LEAST_LETTERS = 5  # shorter words often differ in one letter: "cat", "car"
_MOST_RARE, _TIMES = 3, 10  # a misspelt name is in few answers, the right one in many


def identical_labels(said: Said, which: NDArray[np.bool_] | None = None) -> list[list[int]]:
    """Return groups of labels that have the same marks, unless chance may explain it.

    ``which``, (S,), marks the statements that count. Equal sums of random numbers of the marks mean
    equal marks. Two labels with m marks among A answers agree with the chance 1 / C(A, m).
    """
    answers, K = said.answers, said.answers.n_labels
    used = np.arange(len(said.kind)) if which is None else np.flatnonzero(which)
    label = said.label[used]
    numbers = np.random.default_rng(0).integers(
        1, 2**63, size=(answers.n_answers, len(STATEMENT_KINDS)), dtype=np.uint64
    )
    key = np.zeros(K, dtype=np.uint64)
    used = used[np.argsort(label, kind="stable")]
    drawn = numbers[said.answer[used], said.kind[used]]
    n_marks = np.bincount(label, minlength=K)
    marked = np.flatnonzero(n_marks)
    starts = np.cumsum(n_marks) - n_marks
    if len(marked):
        key[marked] = np.add.reduceat(drawn, starts[marked])
    log_chance = -_log_choose(answers.n_answers, n_marks) + np.log(max(K * (K - 1) / 2, 1))
    kept = np.flatnonzero((n_marks > 0) & (log_chance < np.log(_CHANCE)))
    _, group, size = np.unique(key[kept], return_inverse=True, return_counts=True)
    return [kept[group == at].tolist() for at in np.flatnonzero(size > 1)]


def nested_exclusions(said: Said) -> list[tuple[int, int]]:
    """Return pairs (a, b): a is excluded wherever b is, and chance hardly explains it.

    Labels that are always excluded together form (a, b) and (b, a), and elsewhere the first stands
    for the group. Pairs that follow from other pairs are left out.
    """
    answers, K = said.answers, said.answers.n_labels
    excluded = said.is_kind("excluded")
    looked_at = distinct(answers.item[answers.question == "excluded"])
    pairs = distinct(said.pair[excluded])
    if not len(pairs):
        return []
    rows, labels = np.divmod(pairs, K)
    marks: Any = sparse.csr_array(
        (np.ones(len(pairs), dtype=np.float32), (rows, labels)), shape=answers.shape
    )
    together = _products(marks)
    n_excluded = np.diag(together)
    n = len(looked_at)
    # Chance that all items of b are among those of a: C(n - n_b, n_a - n_b) / C(n, n_a).
    n_a, n_b = n_excluded[:, np.newaxis], n_excluded[np.newaxis]
    inside = (together == n_b) & (n_a > n_b) & (n_b > 0)
    with np.errstate(invalid="ignore"):
        log_chance = _log_choose(n - n_b, n_a - n_b) - _log_choose(n, n_a)
    inside &= np.where(inside, log_chance, 0) + np.log(K * max(K - 1, 1)) < np.log(_CHANCE)
    identical = identical_labels(said, excluded)
    others = [label for group in identical for label in group[1:]]
    inside[others], inside[:, others] = False, False
    between = inside.astype(np.float32) @ inside.astype(np.float32) > 0
    inside &= ~between
    for group in identical:
        inside[group[0], group[1:]] = inside[group[1:], group[0]] = True
    return [(int(a), int(b)) for a, b in np.argwhere(inside)]


def _products(marks: Any) -> NDArray[np.float64]:
    """Return how often each two labels are marked together, (K, K)."""
    n_items, K = marks.shape
    if marks.nnz < _DENSE * n_items * K:
        return np.asarray((marks.T @ marks).toarray(), dtype=np.float64)
    total = np.zeros((K, K))
    for start in range(0, n_items, _CHUNK):
        part = marks[start : start + _CHUNK].toarray()
        total += part.T @ part
    return total


def _log_choose(n: Any, k: Any) -> Any:
    n, k = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)


def similar_names(counts: Mapping[str, int], *, misspelt: bool) -> list[tuple[str, str]]:
    """Return pairs of names, the one with more answers first, that differ only in case or spaces.

    If they may be ``misspelt``, also those one letter apart (changed, left out, added or swapped
    with its neighbour), if one of them is rare. ``counts`` has the number of answers by name.
    """
    plain = {name: re.sub(r"[\s\-_.']+", "", name.casefold()) for name in counts}
    groups: dict[str, set[str]] = defaultdict(set)
    for name, key in plain.items():
        groups[key or name].add(name)
    found = {pair for group in groups.values() for pair in combinations(sorted(group), 2)}
    if misspelt:
        near: dict[str, set[str]] = defaultdict(set)
        for name, key in plain.items():
            for form in _misspellings(key):
                near[form].add(name)
        found |= {
            pair
            for group in near.values()
            for pair in combinations(sorted(group), 2)
            if _rare_beside(*(counts[name] for name in pair))
        }
    pairs = [(a, b) if counts[a] >= counts[b] else (b, a) for a, b in found]
    return sorted(pairs, key=lambda pair: (-counts[pair[0]], pair))


def _rare_beside(first: int, second: int) -> bool:
    """Return whether one of two counts is small, and the other many times as large."""
    few, many = sorted((first, second))
    return few <= _MOST_RARE and many >= _TIMES * max(few, 1)


def _misspellings(word: str) -> set[str]:
    """Return forms of a word, of which two words share one if they are one letter apart.

    The first letter is hardly ever wrong: "river" and "diver" are two words.
    """
    length = len(word)
    if re.search(r"\d", word) or length < _LEAST_LETTERS - 1:
        return set()
    added = {f"{word[:at]}\0{word[at:]}" for at in range(1, length + 1)}
    if length < _LEAST_LETTERS:  # the other word must be longer
        return added
    changed = {f"{word[:at]}\0{word[at + 1 :]}" for at in range(1, length)}
    pairs = ((at, "".join(sorted(word[at : at + 2]))) for at in range(1, length - 1))
    return added | changed | {f"{word[:at]}\1{pair}{word[at + 2 :]}" for at, pair in pairs}


def look_at_features(X: ArrayLike, said: Said) -> FeatureSummary:
    """Count constant features, and items whose features are all equal to another item's."""
    X = pair_rows(said.answers, X, names=("answers", "X"))
    features = _checked(X, said.answers.n_items)
    group, constant = _groups(features)
    size = np.bincount(group)
    # Contradictions within one item are counted elsewhere, so they are left out here.
    shared = find_contradictions(replace(said, item=group[said.item]))
    item, label = np.divmod(said.contradicted, said.n_labels)
    within = group[item] * said.n_labels + label
    groups = np.unique(np.setdiff1d(shared, within) // said.n_labels)
    return FeatureSummary(
        n_features=int(features.shape[1]),
        n_constant=constant,
        n_same=int(size[size > 1].sum()),
        n_contradicting=int(size[groups].sum()),
    )


def _checked(X: ArrayLike, n_items: int) -> Any:
    """Return features as finite float64, dense or CSR, or raise an InputError."""
    is_sparse = sparse.issparse(X)
    made: Any = sparse.csr_array if is_sparse else np.asarray
    try:
        features = made(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X must hold numbers only ({error})") from error
    if is_sparse:
        features.sum_duplicates()
        features.eliminate_zeros()
    if features.ndim != 2 or features.shape[0] != n_items:
        raise InputError(
            f"X has shape {features.shape}, but the answers are about {n_items} items; give a"
            " matrix with one row for each item, in the same order"
        )
    finite = np.isfinite(features.data if is_sparse else features)
    if not finite.all():
        at = np.argmin(finite)
        ends = features.indptr[1:] if is_sparse else features.shape[1] * np.arange(1, n_items + 1)
        row = np.searchsorted(ends, at, side="right")
        raise InputError(
            f"row {row} of X holds NaN or infinity ({np.count_nonzero(~finite):,} values in all);"
            " fill them in, or leave these rows out with their answers"
        )
    return features


def _groups(features: Any) -> tuple[NDArray[np.intp], int]:
    """Return a number for each row, (n,), equal for equal rows, and count the constant columns."""
    is_sparse = sparse.issparse(features)
    if is_sparse:
        low, high = (
            np.asarray(each.toarray()).ravel()
            for each in (features.min(axis=0), features.max(axis=0))
        )
        constant = low == high
        parts = (features.indices, features.data)
        rows = (
            b"".join(part[start:end].tobytes() for part in parts)
            for start, end in pairwise(features.indptr.tolist())
        )
    else:
        constant = (features == features[:1]).all(axis=0)
        rows = ((row + 0.0).tobytes() for row in features)  # -0.0 becomes 0.0
    keys = np.array([hash(row) for row in rows], dtype=np.int64)  # of 64 bits: they hardly collide
    return np.unique(keys, return_inverse=True)[1], int(constant.sum())
