"""What machines say of all pairs of an item and a label, and which pairs are alike by that.

One machine says that a label applies, that it does not, or nothing. Each of these is a stratum.
Scores between 0 and 1 are divided into cells of about the same log-odds. A score of exactly 0 or 1
has no log-odds: it is a word, as yes and no are, and what it is worth is found as for these.

Several machines divide the pairs by what each of them says, if there are few such patterns.
Otherwise a logistic regression on all that they say gives each pair one score. It is weighted by
people's answers, so a machine that is often wrong counts little, and one that lies counts against
what it says. Their mean would take all of them, and all their scores, as equally right.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import special

from complabel._parameters import Array, Bools, Ints
from complabel.answers import Answers, text_of
from complabel.frequencies._counts import Audit, Counts

# What a machine says: that a label does not apply, that it does, or nothing.
NO, YES, NOTHING = range(3)
# Log-odds of scores are divided at whole numbers, between these.
_LOWEST, _HIGHEST = -10, 6
# Several machines: with at most so many patterns of words, each pattern is a stratum.
_FEW = 9
# The prior of the regression's weights. Each of M machines has one M-th of the first two: the
# weight of yes and of no, and the weight of log-odds. The third is the weight of the log of a
# label's share, the fourth the standard deviation of each weight.
_OF_WORD, _OF_LOG_ODDS, _OF_SHARE, _SPREAD = 3.0, 1.0, 0.5, 1.0
_NEWTON, _MOST_STEP = 25, 2.0


class Kind(NamedTuple):
    """What is expected of the pairs of a stratum before people answer."""

    says: int  # NO, YES (at least one machine), or NOTHING
    prior: tuple[float, float]  # mean and standard deviation of the mean logit, at a mean share
    # The prior of a slope: of logits by the log of the machine's share, or by its log-odds.
    rises: dict[float, float]
    scored: bool = False


# Where a machine says no, logits mostly rise with its share: it misses a frequent label more often.
# Where it says yes, they mostly fall: a large share may mean that it says yes too often.
_ALL_NO = Kind(NO, (-3.0, 3.0), {-1.0: 0.1, 0.0: 0.2, 0.5: 0.3, 1.0: 0.4})
_ALL_YES = Kind(YES, (1.0, 2.0), {-2.0: 0.15, -1.0: 0.2, 0.0: 0.45, 0.5: 0.2})
_SILENT = _ALL_NO._replace(says=NOTHING, prior=(-1.0, 3.0))
_DISAGREE = Kind(YES, (-0.5, 2.0), {-1.0: 0.2, 0.0: 0.5, 0.5: 0.3})
# Models are often too sure, rarely too unsure.
_SLOPES = {0.25: 0.15, 0.5: 0.2, 0.75: 0.25, 1.0: 0.25, 1.4: 0.15}
_LESS, _MORE = (Kind(says, (0.0, 2.0), _SLOPES, scored=True) for says in (NO, YES))
_OF_ONE: tuple[Kind, ...] = (_ALL_NO, _ALL_YES, _SILENT, _LESS, _MORE)


@dataclass(frozen=True)
class Strata:
    """What M machines say of all pairs: C cells, each in one of S strata."""

    cell: Ints  # (n, K)
    stratum: Ints  # (C,), of each cell
    kinds: tuple[Kind, ...]  # (S,)
    words: list[str]  # (C,): what is said, as in ``drawn``: "yes", or "yes.3"
    shares: Array  # (C, K), of the items; those of a label add up to 1
    word_shares: Array  # (M, 2, C, K): the shares of which each machine says no, and yes
    log_odds: Array  # (C, K), of the scores; 0 where there are none
    digests: tuple[str, ...]  # of all together, and of each alone whose words are strata here

    @classmethod
    def of(cls, machines: Array, about: Answers | None = None, *, fitted: bool = False) -> Self:
        """Divide pairs by what machines say, (n, K) or (M, n, K).

        They say 0 and 1, or probabilities; NaN: nothing. ``about`` has the names of the items and
        of the labels, which belong into the digests, and if scores of several machines are to be
        ``fitted``, the answers.
        """
        machines = machines[np.newaxis] if machines.ndim == 2 else machines
        digests = [] if about is None else [_digest(each, about) for each in machines]
        words = words_of(machines)
        in_order = np.argsort(digests, kind="stable") if digests else np.arange(len(machines))
        patterns, pattern = _patterns(words[in_order])
        exact = np.isnan(machines) | np.isin(machines, (0.0, 1.0))
        p, kinds = machines[0], _OF_ONE
        if len(machines) == 1:
            cell, stratum, named = *_cells(p), _words_of_cells()
        elif exact.all() and len(patterns) <= _FEW:
            cell, stratum = pattern, np.arange(len(patterns))
            kinds, named = _of_patterns(patterns)
        else:
            p = _combined(machines, exact, about if fitted else None)
            cell, stratum, named = *_cells(p), _words_of_cells()
        if len(digests) > 1:
            joint = hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()[:8]
            digests = [joint, *digests]  # what one machine drew stays random
        n, total = (_by_cell(cell, each, len(stratum)) for each in (None, np.nan_to_num(p)))
        log_odds = special.logit(
            np.clip(  # no machine is surer than that
                total / np.maximum(n, 1), *special.expit([_LOWEST - 0.5, _HIGHEST + 0.5])
            )
        )
        scored = np.array([kind.scored for kind in kinds])[stratum][:, np.newaxis] & (n > 0)
        shares_of_words = [
            [_by_cell(cell, each == word, len(stratum)) for word in (NO, YES)] for each in words
        ]
        return cls(
            cell,
            stratum,
            kinds,
            named,
            shares=n / len(cell),
            word_shares=np.array(shares_of_words) / len(cell),
            log_odds=np.where(scored, log_odds, 0.0),
            digests=tuple(digests),
        )

    @property
    def n_items(self) -> int:
        """The number of items, n."""
        return len(self.cell)

    @property
    def says(self) -> Ints:
        """What is said in each cell, (C,): NO, YES by at least one machine, or NOTHING."""
        return np.array([kind.says for kind in self.kinds])[self.stratum]

    @property
    def guess(self) -> Array:
        """The chance that a label applies in each cell (C, K), as far as nobody has answered."""
        words = special.expit([kind.prior[0] for kind in self.kinds])[self.stratum, np.newaxis]
        scored = np.array([kind.scored for kind in self.kinds])[self.stratum, np.newaxis]
        return np.asarray(np.where(scored, special.expit(self.log_odds), words))

    @property
    def of_pairs(self) -> Ints:
        """The stratum of each pair, (n, K)."""
        return np.asarray(self.stratum[self.cell])

    def audit(self, answers: Answers) -> Audit:
        """Return the judgements that are random among all pairs, or within the strata."""
        return Audit.of(answers, self.of_pairs, self.digests)

    def asked(
        self, audit: Audit, missed: Array | None, invented: Array | None
    ) -> list[tuple[int, Counts]]:
        """Return the answers in each cell in which somebody was asked."""
        cell = self.cell[audit.item, audit.label]
        return [
            (int(each), audit.counts(missed, invented, only=cell == each))
            for each in np.unique(cell)
        ]


def words_of(machines: Array) -> Ints:
    """Return what machines say of each pair: NO, YES (.5 and more), or NOTHING."""
    return np.where(np.isnan(machines), NOTHING, machines >= 0.5).astype(np.intp)


def _by_cell(cell: Ints, weights: Array | Bools | None, n_cells: int) -> Array:
    """Return the number of pairs (C, K) in each cell, or the sum of their weights (n, K)."""
    n_labels = cell.shape[1]
    place = (cell * n_labels + np.arange(n_labels)).ravel()
    flat = None if weights is None else weights.ravel()
    sums = np.bincount(place, flat, n_cells * n_labels).reshape(n_cells, n_labels)
    return np.asarray(sums, dtype=np.float64)


def _cells(p: Array) -> tuple[Ints, Ints]:
    """Return the cell of each pair (n, K), and the stratum of each cell, by one machine."""
    least = special.expit(_LOWEST - 1.0)
    bins = np.floor(special.logit(np.clip(np.nan_to_num(p, nan=0.5), least, 1 - least)))
    cell = np.clip(bins, _LOWEST, _HIGHEST - 1).astype(np.intp) - _LOWEST + len(_OF_ONE[:3])
    exact = np.isnan(p) | (p == 0) | (p == 1)
    cell[exact] = words_of(p)[exact]
    scores = np.arange(_LOWEST, _HIGHEST) >= 0
    return cell, np.r_[NO, YES, NOTHING, 3 + scores].astype(np.intp)


def _words_of_cells() -> list[str]:
    scores = [f"{'no' if at < 0 else 'yes'}.{abs(at)}" for at in range(_LOWEST, _HIGHEST)]
    return ["no", "yes", "nothing", *scores]


def _patterns(words: Ints) -> tuple[Ints, Ints]:
    """Return the different patterns (P, M) of words (M, n, K), and that of each pair (n, K)."""
    place = words[0]
    for each in words[1:]:  # numbered anew with each machine, so that numbers stay small
        _, place = np.unique(3 * place + each, return_inverse=True)
    place = place.reshape(words.shape[1:])
    _, first, place = np.unique(place, return_index=True, return_inverse=True)
    return words.reshape(len(words), -1)[:, first].T, place.reshape(words.shape[1:])


def _of_patterns(patterns: Ints) -> tuple[tuple[Kind, ...], list[str]]:
    """Return what is expected of each pattern (P, M), and what it is called."""
    kinds, words = [], []
    for at, pattern in enumerate(patterns.tolist()):
        verdicts = {*pattern} - {NOTHING}
        kind = _DISAGREE if len(verdicts) > 1 else _OF_ONE[verdicts.pop() if verdicts else NOTHING]
        word = ("no", "yes", "nothing")[kind.says]
        kinds.append(kind)
        words.append(word if kind.says == NOTHING else f"{word}.{at}")
    return tuple(kinds), words


def _combined(machines: Array, exact: Bools, answers: Answers | None) -> Array:
    """Return one probability of each pair (n, K) by what machines (M, n, K) say of it.

    Each machine has three weights: of its log-odds, of yes, and of no. They have a normal prior,
    and the likeliest ones by the ``answers`` are taken.
    """
    with np.errstate(divide="ignore"):
        of_scores = np.where(exact, 0.0, special.logit(np.clip(machines, 1e-9, 1 - 1e-9)))
    share = np.log((words_of(machines) == YES).mean(axis=(0, 1)) + 1 / machines.shape[1])
    parts = [np.broadcast_to(share - share.mean(), exact.shape[1:])]
    prior = [_OF_SHARE]
    for scores, machine, is_exact in zip(of_scores, machines, exact, strict=True):
        parts += [scores, is_exact & (machine == 1), is_exact & (machine == 0)]
        prior += [each / len(machines) for each in (_OF_LOG_ODDS, _OF_WORD, -_OF_WORD)]
    weights = np.array([0.0, *prior])
    if answers is not None:
        statements = answers.statements()
        columns = [
            np.ones(len(statements.item)),
            *(each[statements.item, statements.label] for each in parts),
        ]
        weights = _regression(
            np.stack(columns, axis=1).astype(np.float64), statements.applies, weights
        )
    z = weights[0] + sum(weight * part for weight, part in zip(weights[1:], parts, strict=True))
    probabilities = special.expit(np.clip(z, _LOWEST, _HIGHEST))
    return np.where(np.isnan(machines).all(axis=0), np.nan, probabilities)


def _regression(features: Array, applies: Bools, prior: Array) -> Array:
    """Return the likeliest weights (F,) of a logistic regression, with a normal prior."""
    weights = prior.copy()
    for _ in range(_NEWTON):
        chance = special.expit(features @ weights)
        slope = features.T @ (applies - chance) - (weights - prior) / _SPREAD**2
        curve = (features.T * (chance * (1 - chance))) @ features
        step = np.linalg.solve(curve + np.eye(len(prior)) / _SPREAD**2, slope)
        weights = weights + step * min(1.0, _MOST_STEP / max(abs(step).max(), 1e-12))
    return weights


def _digest(predictions: Array, about: Answers) -> str:
    """Return a digest of what a machine says (n, K), whatever the order of items and labels."""
    names: list[Any] = [about.item_names, about.label_names]
    predicted = ~np.isnan(predictions)
    digest, orders = hashlib.sha256(), []
    for axis, each in enumerate(names):
        texts = [*map(text_of, range(predictions.shape[axis]) if each is None else each)]
        kept = np.flatnonzero(predicted.any(axis=1 - axis)).tolist()
        orders.append(sorted(kept, key=texts.__getitem__))
        digest.update("\n".join(texts[at] for at in orders[-1]).encode() + b"\0")
    values = np.where(predicted, predictions, -1.0)[np.ix_(*orders)] + 0.0  # without a sign of 0
    digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:8]


def scores_of(machine: Answers, confidence: Array | None = None) -> Array:
    """Return a machine's answers as predictions (n, K): 1, 0, and NaN where it says nothing.

    With the ``confidence`` (n, K) of each answer they are probabilities; those of yes are at least
    .5, and those of no below.
    """
    yes, no = machine.known_relevant > 0, machine.complementary > 0
    probabilities = np.full(machine.shape, np.nan)
    sure = np.ones(machine.shape) if confidence is None else confidence
    probabilities[yes & ~no] = np.maximum(sure, 0.5)[yes & ~no]
    probabilities[no & ~yes] = np.minimum(1 - sure, np.nextafter(0.5, 0))[no & ~yes]
    return probabilities
