"""Exposure: how often a label that applies is tagged, found beside judgements of random labels.

Tags alone do not tell it: a label that is tagged for a tenth of the items may apply to these alone,
or to all. With the exposure e, label k applies to the share pi = t / e of the items, where t is the
share with its tag. If L lists do not tag it, it applies with a chance in proportion to
pi (1 - e)^L. So each judgement of a label that is not tagged tells of e.

Judgements are few for a label. So exposures are drawn from one beta distribution, of which mean and
concentration are open (exchangeable labels): sums over grids of all of them give the posterior.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

from complabel._parameters import Array
from complabel.answers import Answers
from complabel.frequencies._counts import Audit, judged_at_random
from complabel.frequencies._estimate import RATES, listed_counts

# The grids: of exposures, of the mean of their distribution, and of its concentration. A beta
# distribution of concentration 2 and mean .5 is uniform; at 64, 95 % lie within .12 of .5.
_EXPOSURES = special.expit(np.linspace(-5, 5, 61))
_MEANS = np.linspace(0.04, 0.96, 24)
_CONCENTRATIONS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


@dataclass(frozen=True)
class ExposureEstimate:
    """The exposure of each label (K,), and the interval of 95 % of the labels per item."""

    values: Array
    cardinality: float
    interval: tuple[float, float]


def estimate_exposure(
    answers: Answers, *, missed: float = 0.0, invented: float = 0.0
) -> ExposureEstimate | None:
    """Return the exposure by tags and judgements of random labels; None if one of both lacks.

    Each value is the share with a tag divided by the mean of the frequency's posterior. People who
    judge labels err with the rates ``missed`` and ``invented``.
    """
    asked = answers.only(judged_at_random(answers))
    if not asked.n_answers or not (answers.question == "tagged").any():
        return None
    share = tag_shares(answers)[:, np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        frequency = share / _EXPOSURES  # (K, G)
        log_chance = np.where(frequency < 1, 0.0, -np.inf)
        for number, yes, no in _counts(answers, asked):
            untagged = frequency * (1 - _EXPOSURES) ** number
            chance = np.where(frequency < 1, untagged / (1 - frequency + untagged), 0.5)
            p_yes = np.clip(chance * (1 - missed) + (1 - chance) * invented, 1e-12, 1 - 1e-12)
            log_chance += yes[:, np.newaxis] * np.log(p_yes) + no[:, np.newaxis] * np.log1p(-p_yes)
    grid = np.array([(m * c, (1 - m) * c) for m in _MEANS for c in _CONCENTRATIONS])
    e, (a, b) = _EXPOSURES[:, np.newaxis], grid.T
    prior = special.xlogy(a - 1, e) + special.xlog1py(b - 1, -e) - special.betaln(a, b)  # (G, H)
    prior += np.log(_EXPOSURES * (1 - _EXPOSURES))[:, np.newaxis]  # the grid is one of log-odds
    prior -= special.logsumexp(prior, axis=0)
    largest = log_chance.max(axis=1, keepdims=True)
    chance = np.exp(log_chance - largest)
    evidence = chance @ np.exp(prior)  # (K, H)
    weight = special.softmax(np.log(np.maximum(evidence, 1e-300)).sum(axis=0))  # (H,)
    finite = np.where(frequency < 1, frequency, 0.0)
    first, second = (
        (chance * finite**power) @ np.exp(prior) / np.maximum(evidence, 1e-300) for power in (1, 2)
    )
    mean = first @ weight
    cardinality = float(mean.sum())
    variance = ((second - first**2).sum(axis=0) + (first.sum(axis=0) - cardinality) ** 2) @ weight
    ratio = float(np.exp(1.96 * np.sqrt(max(variance, 0.0)) / cardinality))
    return ExposureEstimate(
        values=np.clip(share[:, 0] / np.maximum(mean, share[:, 0]), *RATES),
        cardinality=cardinality,
        interval=(cardinality / ratio, cardinality * ratio),
    )


def tag_shares(answers: Answers) -> Array:
    """Return the share of lists that tag each label (K,), a little above 0."""
    tagged, looked_at = listed_counts(answers, "tagged")
    return (tagged + 0.5) / (looked_at + 1)


def shared_exposure(shares: Array, cardinality: float) -> float:
    """Return the one exposure with which so many labels apply, by the shares (K,) of tags."""

    def excess(exposure: float) -> float:
        return float(np.minimum(shares / exposure, 1).sum() - cardinality)

    low, high = RATES
    from scipy import optimize  # takes a third of a second

    return high if excess(high) >= 0 else float(optimize.brentq(excess, low, high))


def _counts(answers: Answers, asked: Answers) -> Iterator[tuple[int, Array, Array]]:
    """Yield numbers of "yes" and "no" (K,) about labels without a tag, by the number of lists."""
    audit, lists = Audit.of(asked), answers.only(answers.question == "tagged")
    n_labels = answers.n_labels
    pair = audit.item.astype(np.int64) * n_labels + audit.label
    statements, about_all = lists.statements(), lists.n_offered == n_labels
    menus = lists.only(~about_all)
    rows, labels = menus.offered.nonzero()
    listed = np.sort(menus.item[rows].astype(np.int64) * n_labels + labels)
    n_lists = np.bincount(lists.item[about_all], minlength=answers.n_items)[audit.item]
    n_lists += np.searchsorted(listed, pair, "right") - np.searchsorted(listed, pair)
    tagged = np.isin(pair, statements.pair[statements.applies])
    for number in np.unique(n_lists[~tagged]).tolist():
        no, yes = (
            np.bincount(audit.label[which], audit.weight[which], n_labels).astype(np.float64)
            for side in (False, True)
            for which in [(n_lists == number) & ~tagged & (audit.applies == side)]
        )
        yield number, yes, no
