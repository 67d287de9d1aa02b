"""What answers say: agreement of people, their times, labels that look alike, equal features."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from complabel._parameters import AnyArray, Array, Bools, Ints
from complabel._questions import KINDS
from complabel.answers import STATEMENT_KINDS, Answers, Statements, pair_rows
from complabel.asking._inspection import Agreement, FeatureSummary, KindSummary, Times, YesShare
from complabel.errors import InputError
from complabel.frequencies import forms_of, inverse_probability, judged_at_random

# An annotator's rate is pulled towards the common rate as if by this many comparisons.
_PRIOR = 20.0
# An annotator with fewer comparisons gets no rate (NaN): they say too little.
_LEAST_COMPARED = 30
# Iterations of the least squares fit; each step is halved, so that it does not oscillate.
_SWEEPS = 100


@dataclass(frozen=True, eq=False)
class AnswerStatements(Statements):
    """The statements of answers, arrays (S,), and what they add up to."""

    answers: Answers

    @classmethod
    def by(cls, answers: Answers) -> Self:
        part = answers.statements()
        return cls(**{f.name: getattr(part, f.name) for f in fields(part)}, answers=answers)

    @cached_property
    def judged(self) -> Bools:
        """Whether the label was judged by itself, (S,)."""
        return self.answers.judges[self.answer]

    @cached_property
    def affirmed(self) -> NDArray[np.int64]:
        """Pairs that a statement affirms, in ascending order."""
        return distinct(self.pair[self.applies])

    @cached_property
    def denied(self) -> NDArray[np.int64]:
        """Pairs that a statement denies, in ascending order."""
        return distinct(self.pair[~self.applies])

    def is_kind(self, *kinds: str) -> Bools:
        """Return which statements are of some of ``STATEMENT_KINDS``, (S,)."""
        return np.isin(self.kind, [STATEMENT_KINDS.index(kind) for kind in kinds])

    def counts(self, which: Bools) -> Ints:
        """Count the statements marked in ``which``, (S,), for each label, (K,)."""
        return np.bincount(self.label[which], minlength=self.n_labels)

    def n_repeated(self) -> int:
        """Count how often a known annotator said the same about a pair again."""
        people = self.answers.annotator[self.answer]
        who = (people * len(STATEMENT_KINDS) + self.kind)[people >= 0]
        marks = np.stack([self.pair[people >= 0], who])
        ordered = marks[:, np.lexsort(marks)]
        return int((np.diff(ordered, axis=1) == 0).all(axis=0).sum())


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return distinct values in ascending order; sorting is faster here than NumPy's hashing."""
    ordered = np.sort(values)
    return np.asarray(ordered[np.diff(ordered, prepend=-1) != 0])


def names_of_labels(answers: Answers) -> tuple[str, ...]:
    return answers.label_names or tuple(map(str, range(answers.n_labels)))


@dataclass(frozen=True)
class Shared:
    """Judgements, (J,), of item-label pairs that at least two known annotators judged."""

    pair: Ints  # numbered from 0
    person: Ints
    yes: Bools
    n_people: int

    @classmethod
    def of(cls, statements: AnswerStatements, among: Bools | None = None) -> Self:
        """Collect the judgements; if somebody judged a pair twice, the first one counts.

        ``among`` (A,) marks the answers to take them from; by default all.
        """
        people = len(statements.answers.annotator_names)
        person = statements.answers.annotator[statements.answer]
        taken = True if among is None else among[statements.answer]
        at = np.flatnonzero(statements.judged & (person >= 0) & taken)
        at = at[np.argsort(statements.answer[at], kind="stable")]  # they are sorted by kind
        _, first = np.unique(statements.pair[at] * max(people, 1) + person[at], return_index=True)
        at = at[first]
        _, place, count = np.unique(statements.pair[at], return_inverse=True, return_counts=True)
        kept = count[place] > 1
        _, pair = np.unique(place[kept], return_inverse=True)
        return cls(pair, person[at][kept], statements.applies[at][kept], people)

    def agreement(self) -> Agreement | None:
        """Return how far all annotators agree; None if no pair was judged by two of them.

        Krippendorff's alpha for binary data with gaps (Content Analysis, 2004, section 11.3) is
        1 - (n - 1) o / (N_yes N_no) for n = N_yes + N_no shared judgements. A pair with m of them,
        n_yes "yes", adds n_yes (m - n_yes) / (m - 1) to o.

        Two people who answer at random with chance e, and are right otherwise, disagree with chance
        D = 2 (e / 2) (1 - e / 2), however often labels apply, so (1 - e)^2 = 1 - 2 D gives e.
        """
        if not len(self.pair):
            return None
        m = np.bincount(self.pair)
        n_yes = np.bincount(self.pair, weights=self.yes)
        disagreeing = n_yes * (m - n_yes)  # couples of judgements, out of m (m - 1) / 2
        n, total_yes = len(self.pair), int(self.yes.sum())
        of_pairs = disagreeing / (m - 1)
        o = float(of_pairs.sum())
        variety = total_yes * (n - total_yes)
        # What each pair adds to alpha, by the delta method.
        crossed = n_yes * (n - total_yes) + (m - n_yes) * total_yes
        adds = of_pairs + o * (m / n - crossed / max(variety, 1))
        couples = m * (m - 1) / 2
        share = float(disagreeing.sum() / couples.sum())
        rate = error = None
        if share < 0.5:
            rate = 1 - np.sqrt(1 - 2 * share)
            # Couples within one pair depend on each other, so the variance is taken over pairs.
            residual = disagreeing - share * couples
            of_share = np.sqrt((residual**2).sum()) / couples.sum()
            error = float(of_share / np.sqrt(1 - 2 * share))
        return Agreement(
            n_pairs=len(m),
            n_judgements=n,
            observed=1 - 2 * o / n,
            alpha=1 - (n - 1) * o / variety if variety else None,
            alpha_error=float((n - 1) / variety * np.sqrt(adds @ adds)) if variety else None,
            error_rate=None if rate is None else float(rate),
            error=error,
        )

    def by_person(self) -> tuple[Ints, Array]:
        """Return each annotator's shared judgements and mean share of others who agree, (P,)."""
        m = np.bincount(self.pair)
        n_yes = np.bincount(self.pair, weights=self.yes)
        same = np.where(self.yes, n_yes[self.pair], (m - n_yes)[self.pair]) - 1
        agreed = np.bincount(self.person, same / (m[self.pair] - 1), minlength=self.n_people)
        count = np.bincount(self.person, minlength=self.n_people)
        return count, agreed / np.maximum(count, 1)

    def error_rates(self, common: float) -> Array:
        """Estimate how often each annotator answers at random, (P,); NaN with too few comparisons.

        With answers coded as +1 and -1, the mean product of the answers of a and b is
        (1 - e_a) (1 - e_b). This matrix of rank one, with gaps, is fitted by weighted least squares
        (Ghosh, Kale and McAfee, Who moderates the moderators?, EC 2011), with rates pulled towards
        the ``common`` one. With a single other annotator, two rates cannot be separated: NaN.
        """
        shape = (int(self.pair.max()) + 1, self.n_people)
        signs: Any = sparse.csr_array((2.0 * self.yes - 1, (self.pair, self.person)), shape=shape)
        judged = abs(signs)
        both = (each.T @ each for each in (signs, judged))  # (P, P), and without the diagonal:
        product, count = ((m - sparse.diags_array(m.diagonal())).tocsr() for m in both)
        usual = 1 - common
        right = np.full(self.n_people, usual)
        for _ in range(_SWEEPS):
            top = product @ right + _PRIOR * usual * usual**2
            bottom = count @ right**2 + _PRIOR * usual**2
            moved = np.clip(top / np.maximum(bottom, np.finfo(float).tiny), 0, 1)
            right = (right + moved) / 2
        compared = np.asarray(count.sum(axis=1)).ravel()
        partners = np.diff((count > 0).tocsr().indptr)
        known = (compared >= _LEAST_COMPARED) & (partners >= 2)
        return np.where(known, 1 - right, np.nan)


# Significance level: at .01, 93 of 100 people who answer at random about 3 to 30 labels are found.
_YES_LEVEL = 0.02
_LEAST_JUDGED = 20  # random judgements of a person who is compared
_MOST_COMPARED = 40_000_000  # judgements times people; of more, those who judged most are compared


def shares_that_differ(statements: AnswerStatements) -> list[YesShare]:
    """Return who says yes more or less often to random questions than the others, label by label.

    Two scores tell a person apart: the "yes" beyond what the others give for the same labels, and
    the same weighted by 1/2 minus the label's frequency, as answers at random would be. Their
    variance is the larger one of independent judgements and of sums over items, so that it holds
    for several labels of one item, and for items that two people judged. Who differs most
    is found first, and then the others are compared with each other; p-values are Holm's.
    """
    answers = statements.answers
    person = answers.annotator[statements.answer]
    at_random = judged_at_random(answers)[statements.answer]
    used = statements.only(statements.judged & (person >= 0) & at_random)
    people, person = np.unique(answers.annotator[used.answer], return_inverse=True)
    if len(people) < 2:
        return []
    inverse = inverse_probability(answers)[used.answer]
    _, form = np.unique(forms_of(answers)[used.answer], return_inverse=True)
    weight = inverse / (np.bincount(form, inverse) / np.bincount(form))[form]
    n_judged = np.bincount(person)
    order = np.argsort(-n_judged, kind="stable")[: max(2, _MOST_COMPARED // len(person))]
    left = [at for at in order.tolist() if n_judged[at] >= _LEAST_JUDGED]
    shares: list[YesShare] = []
    pool = np.ones(len(person), dtype=np.bool_)
    while len(left) and len(np.unique(person[pool])) > 1:
        of_pool = _Compared.of(used, person, weight, pool)
        tested = [(of_pool.p_value(at) * len(left), at) for at in left]
        p, at = min(tested)
        if p >= _YES_LEVEL:
            break
        who, judged = answers.annotator_names[people[at]], int(n_judged[at])
        shares.append(YesShare(who, judged, *of_pool.share_of(at), p))
        left.remove(at)
        pool &= person != at
    return shares


@dataclass(frozen=True)
class _Compared:
    """Random judgements (J,) of people who are compared with each other, and labels' shares."""

    person: Ints
    label: Ints
    item: Ints
    weight: Array
    share: Array  # of "yes" about the label, by all
    residual: Array
    total: AnyArray  # (K,) of weights

    @classmethod
    def of(cls, used: AnswerStatements, person: Ints, weight: Array, pool: Bools) -> Self:
        label, weight, yes = used.label[pool], weight[pool], used.applies[pool]
        total = np.bincount(label, weight, minlength=used.n_labels)
        of_yes = np.bincount(label, weight * yes, minlength=used.n_labels)
        item = np.unique(used.item[pool], return_inverse=True)[1]
        share = (of_yes / np.maximum(total, 1e-12))[label]
        return cls(person[pool], label, item, weight, share, yes - share, total)

    def _contrast(self, at: int) -> Array:
        """Return what each judgement adds to the score of a person, before the residual."""
        mine = self.person == at
        by_label = np.bincount(self.label[mine], self.weight[mine], minlength=len(self.total))
        part = by_label / np.maximum(self.total, 1e-12)
        return np.asarray(self.weight * (mine - part[self.label]))

    def p_value(self, at: int) -> float:
        contrast, p = self._contrast(at), [1.0]
        for weight in (1.0, 0.5 - self.share):
            adds = contrast * weight
            alone = float((adds**2 * self.share * (1 - self.share)).sum())
            together = float((np.bincount(self.item, adds * self.residual) ** 2).sum())
            if alone > 0:
                z = abs(float(adds @ self.residual)) / np.sqrt(max(alone, together))
                p.append(2 * float(special.ndtr(-z)))
        return min(1.0, 2 * min(p))

    def share_of(self, at: int) -> tuple[float, float, float]:
        """Return a person's share of "yes", that of others about the same labels, and chance's.

        The last one is the share of answers at random that explains what the person said best.
        """
        mine = self.person == at
        n_labels = len(self.total)
        of_mine = np.bincount(self.label[mine], self.weight[mine], minlength=n_labels)
        yes = self.residual + self.share
        others = np.bincount(self.label[~mine], (self.weight * yes)[~mine], minlength=n_labels)
        known = np.flatnonzero(self.total - of_mine > 1e-9)
        share = others[known] / (self.total - of_mine)[known]
        of_yes = np.bincount(self.label[mine], (self.weight * yes)[mine], minlength=n_labels)[known]
        n, half = of_mine[known], 0.5 - share
        n_all = max(float(n.sum()), 1e-12)
        random = float(half @ (of_yes - n * share)) / max(float(n @ half**2), 1e-12)
        return float(of_yes.sum() / n_all), float(n @ share / n_all), min(max(random, 0.0), 1.0)


_SHARE = 0.75  # what a judgement on a form is worth, of one that comes alone
_MOST_TICKED = 30  # a form of more labels does not fit on a page: a menu of them is tried
_MENU = 10  # labels of this menu
_LEAST_TIMED = 10  # answers of a kind or of a size; the median of fewer says too little


def summarize_kinds(statements: AnswerStatements) -> tuple[KindSummary, ...]:
    """Return a summary of each kind of question, those with most answers first."""
    answers, summaries = statements.answers, []
    kinds = answers.kind
    names, counts = np.unique(kinds, return_counts=True)
    for at in np.argsort(-counts, kind="stable"):
        of_kind = kinds == names[at]
        timed = of_kind & ~np.isnan(answers.seconds)
        seconds, size = answers.seconds[timed], answers.n_offered[timed]
        low, median, high = (
            np.quantile(seconds, [0.25, 0.5, 0.75]).tolist() if timed.any() else [None] * 3
        )
        judges = KINDS[names[at]].judges
        summaries.append(
            KindSummary(
                kind=str(names[at]),
                answers=int(counts[at]),
                timed=int(timed.sum()),
                offered=float(np.median(answers.n_offered[of_kind])),
                seconds=median,
                low=low,
                high=high,
                each=float(np.median(seconds / size)) if judges and timed.any() else None,
                agreement=Shared.of(statements, of_kind).agreement(),
            )
        )
    return tuple(summaries)


def times_of(answers: Answers, summaries: tuple[KindSummary, ...]) -> Times | None:
    """Return what the seconds say; None if no judgement has a time."""
    kinds = answers.kind
    timed = answers.judges & ~np.isnan(answers.seconds)
    if not timed.any():
        return None
    looking, each = _line(answers.n_offered[timed], answers.seconds[timed])
    enough = {one.kind: one for one in summaries if one.timed >= _LEAST_TIMED and one.seconds}
    asked = enough["asked"].seconds if "asked" in enough else None
    ticks = [enough[kind] for kind in ("ticked", "ticked-M") if kind in enough]
    best = max(ticks, key=lambda one: break_even(one.offered) / (one.seconds or 1), default=None)
    labels = form_of(answers.n_labels) if best is None else round(best.offered)
    ticked = None if best is None else best.seconds
    return Times(
        looking=looking,
        each=each,
        asked=asked,
        ticked=ticked,
        labels=labels,
        ratio=ticked / asked if asked and ticked else None,
        break_even=break_even(labels),
        n_long=int(sum(_n_long(answers.seconds[timed & (kinds == kind)]) for kind in {*kinds})),
    )


def form_of(n_labels: int) -> int:
    """Return how many of all labels to let people tick."""
    return n_labels if n_labels <= _MOST_TICKED else _MENU


def break_even(n_labels: float) -> float:
    """Return how many times as long as one yes or no ticking this many labels may take.

    A judgement on a form is worth .6 to 1.1 of one alone (docs/evidence/asking-kinds.md).
    """
    return max(1.0, _SHARE * n_labels)


def _n_long(seconds: Array) -> int:
    """Count answers that took ten times as long as the median: somebody left the desk."""
    return int((seconds > 10 * np.median(seconds)).sum()) if len(seconds) else 0


def _line(size: Ints, seconds: Array) -> tuple[float | None, float | None]:
    """Return seconds for looking at an item and for each label on offer; None if one size is known.

    The line is fitted by least squares to the medians of the sizes with enough times, each weighted
    by its number of answers, so that nobody who left the desk decides.
    """
    sizes, counts = np.unique(size, return_counts=True)
    sizes, counts = sizes[counts >= _LEAST_TIMED], counts[counts >= _LEAST_TIMED]
    if len(sizes) < 2:
        return None, None
    medians = [np.median(seconds[size == one]) for one in sizes]
    looking, each = np.polynomial.polynomial.polyfit(sizes, medians, 1, w=np.sqrt(counts))
    return float(looking), float(each)


_CHANCE = 1e-3  # what chance alone would give more often than this is not reported
_CHUNK = 50_000  # rows that are made dense at a time, which limits the memory
# If at least this share of the cells is marked, dense products of chunks of rows are faster.
_DENSE = 0.05
_LEAST_LETTERS = 5  # shorter words often differ in one letter: "cat", "car"
_MOST_RARE, _TIMES = 3, 10  # a misspelt name is in few answers, the right one in many


def identical_labels(statements: AnswerStatements, which: Bools | None = None) -> list[list[int]]:
    """Return groups of labels that have the same marks, unless chance may explain it.

    ``which``, (S,), marks the statements that count. Equal sums of random numbers of the marks mean
    equal marks. Two labels with m marks among A answers agree with the chance 1 / C(A, m).
    """
    answers, K = statements.answers, statements.answers.n_labels
    used = np.arange(len(statements.kind)) if which is None else np.flatnonzero(which)
    label = statements.label[used]
    numbers = np.random.default_rng(0).integers(
        1, 2**63, size=(answers.n_answers, len(STATEMENT_KINDS)), dtype=np.uint64
    )
    key = np.zeros(K, dtype=np.uint64)
    used = used[np.argsort(label, kind="stable")]
    drawn = numbers[statements.answer[used], statements.kind[used]]
    n_marks = np.bincount(label, minlength=K)
    marked = np.flatnonzero(n_marks)
    starts = np.cumsum(n_marks) - n_marks
    if len(marked):
        key[marked] = np.add.reduceat(drawn, starts[marked])
    log_chance = -_log_choose(answers.n_answers, n_marks) + np.log(max(K * (K - 1) / 2, 1))
    kept = np.flatnonzero((n_marks > 0) & (log_chance < np.log(_CHANCE)))
    _, group, size = np.unique(key[kept], return_inverse=True, return_counts=True)
    return [kept[group == at].tolist() for at in np.flatnonzero(size > 1)]


def nested_exclusions(statements: AnswerStatements) -> list[tuple[int, int]]:
    """Return pairs (a, b): a is excluded wherever b is, and chance hardly explains it.

    Labels that are always excluded together form (a, b) and (b, a), and elsewhere the first stands
    for the group. Pairs that follow from other pairs are left out.
    """
    answers, K = statements.answers, statements.answers.n_labels
    excluded = statements.is_kind("excluded")
    looked_at = distinct(answers.item[answers.question == "excluded"])
    pairs = distinct(statements.pair[excluded])
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
    identical = identical_labels(statements, excluded)
    others = [label for group in identical for label in group[1:]]
    inside[others], inside[:, others] = False, False
    between = inside.astype(np.float32) @ inside.astype(np.float32) > 0
    inside &= ~between
    for group in identical:
        inside[group[0], group[1:]] = inside[group[1:], group[0]] = True
    return [(int(a), int(b)) for a, b in np.argwhere(inside)]


def _products(marks: Any) -> Array:
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
    similar = {pair for group in groups.values() for pair in combinations(sorted(group), 2)}
    if misspelt:
        near: dict[str, set[str]] = defaultdict(set)
        for name, key in plain.items():
            for form in _misspellings(key):
                near[form].add(name)
        similar |= {
            pair
            for group in near.values()
            for pair in combinations(sorted(group), 2)
            if _differ_greatly(*(counts[name] for name in pair))
        }
    pairs = [(a, b) if counts[a] >= counts[b] else (b, a) for a, b in similar]
    return sorted(pairs, key=lambda pair: (-counts[pair[0]], pair))


def _differ_greatly(first: int, second: int) -> bool:
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


def look_at_features(X: ArrayLike, statements: AnswerStatements) -> FeatureSummary:
    """Count constant features, and items whose features are all equal to another item's."""
    X = pair_rows(statements.answers, X, names=("answers", "X"))
    features = _checked(X, statements.answers.n_items)
    group, constant = _groups(features)
    size = np.bincount(group)
    # Contradictions within one item are counted elsewhere, so they are left out here.
    shared = replace(statements, item=group[statements.item]).contradicted
    item, label = np.divmod(statements.contradicted, statements.n_labels)
    within = group[item] * statements.n_labels + label
    groups = np.unique(np.setdiff1d(shared, within) // statements.n_labels)
    return FeatureSummary(
        n_features=int(features.shape[1]),
        n_constant=constant,
        n_same=int(size[size > 1].sum()),
        n_contradicting=int(size[groups].sum()),
    )


def _checked(X: ArrayLike, n_items: int) -> Any:
    """Return features as finite float64, dense or CSR, or raise an InputError."""
    is_sparse = sparse.issparse(X)
    convert: Any = sparse.csr_array if is_sparse else np.asarray
    try:
        features = convert(X, dtype=np.float64)
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


def _groups(features: Any) -> tuple[Ints, int]:
    """Return a number for each row, (n,), equal for equal rows, and count the constant columns."""
    is_sparse = sparse.issparse(features)
    if is_sparse:
        ends = features.min(axis=0), features.max(axis=0)
        low, high = (np.asarray(each.toarray()).ravel() for each in ends)
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
