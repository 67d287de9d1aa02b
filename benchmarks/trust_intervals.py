"""How often the intervals of a model's figures hold the truth, and how long they are.

A linear model learned from one yes/no answer about each item of one half. Questions about the other
half are drawn and answered, 200 times anew in each block. Figures by these answers are compared
with those of all labels: squared error, how often the interval of 95 % holds the truth, and its
length. "asked": random yes/no questions. "ticked": all labels of random items. "erring": asked, and
people miss .25 and invent .03; ``estimate_metrics`` is told. "other items": each draw has other
items, drawn with replacement, and all labels are the truth about their kind. Rivals (``boot``,
``ppi``) are the bootstrap over the judged items, with percentiles, and for precision
prediction-powered inference (``pip install ppi-python``), which know no mistakes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks._draws import block
from benchmarks._models import FIGURES, Array, linear_half, true_figures
from benchmarks._sets import answers_to
from complabel.answers import Answers
from complabel.trust import estimate_metrics

CELLS = {
    "how": ("asked", "ticked", "erring", "other items"),
    "set": ("digits", "scene", "yeast"),
    "judgements": (200, 1000),
}
DRAWS, BLOCK, NEEDS = 5, 200, ("scene", "yeast")
QUICK = {"how": ("asked",), "set": ("digits",), "judgements": (200,)}
REPLICATES = 1000


def judged(Y: Any, n: int, how: str, rng: np.random.Generator) -> Answers:
    """Draw answers: yes or no about pairs, or about all labels of items."""
    missed, invented = rates_of(how)
    n_items, n_labels = Y.shape
    seen = (rng.random(Y.shape) < np.where(Y == 1, 1 - missed, invented)).astype(np.uint8)
    if how == "ticked":
        item = np.sort(rng.choice(n_items, min(n_items, round(n / n_labels)), replace=False))
        absent = 1 - seen[item]
        return Answers.from_arrays(absent=absent, question="ticked", item=item, n_items=n_items)
    pair = np.sort(rng.choice(Y.size, n, replace=False))
    return answers_to(seen, *np.divmod(pair, n_labels), 1 / n_labels)


def rates_of(how: str) -> tuple[float, float]:
    """Return the rates at which people miss and invent labels."""
    return (0.25, 0.03) if how == "erring" else (0.0, 0.0)


def bootstrapped(answers: Answers, probabilities: Array, rng: np.random.Generator) -> Any:
    """Return values and intervals of the figures by the plain bootstrap over judged items."""
    said = answers.statements()
    p = probabilities[said.item, said.label]
    order = np.argsort(-p, kind="stable")
    applies, predicted = said.applies[order].astype(float), (p >= 0.5)[order]
    _, item = np.unique(said.item[order], return_inverse=True)
    n_items = item.max() + 1
    weights = rng.multinomial(n_items, np.full(n_items, 1 / n_items), size=REPLICATES)
    weights = np.vstack([np.ones(n_items), weights])[:, item]  # the first row is what was seen
    end = rankdata(-p[order], method="max").astype(int) - 1  # equal scores share the last place
    with np.errstate(invalid="ignore"):
        hits, found = weights @ (applies * predicted), weights @ predicted
        total = weights @ applies
        above = np.cumsum(weights * applies, axis=1) / np.cumsum(weights, axis=1)
        ap = np.nansum(weights * applies * above[:, end], axis=1) / total
        values = (hits / found, hits / total, 2 * hits / (found + total), ap)
    quantiles = ((v[0], *np.nanquantile(v[1:], [0.025, 0.975])) for v in values)
    return dict(zip(FIGURES, quantiles, strict=True))


def powered(answers: Answers, probabilities: Array) -> Any:
    """Return the precision by ``ppi_py``, and its interval; None if it is not installed."""
    try:
        from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
    except ImportError:
        return None
    said = answers.statements()
    p = probabilities[said.item, said.label]
    given = said.applies[p >= 0.5].astype(float), p[p >= 0.5], probabilities[probabilities >= 0.5]
    if len(given[0]) < 2:
        return np.nan, 0.0, 1.0
    low, high = ppi_mean_ci(*given, alpha=0.05)
    return tuple(float(np.ravel(each)[0]) for each in (ppi_mean_pointestimate(*given), low, high))


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return how near the figures of a block of draws are, and how often intervals hold."""
    Y, probabilities = linear_half(cell["set"], data)
    truth, how, n = true_figures(Y, probabilities), cell["how"], cell["judgements"]
    new, (missed, invented) = how == "other items", rates_of(how)
    found: dict[tuple[str, str], list[Any]] = {}
    for each in block(draw, BLOCK):
        rng = np.random.default_rng([each, n])
        rows: Any = rng.integers(len(Y), size=len(Y)) if new else slice(None)
        P = probabilities[rows]
        answers = judged(Y[rows], n, how, rng)
        ours = estimate_metrics(answers, P, new_items=new, missed=missed, invented=invented)
        boot = bootstrapped(answers, P, rng)
        for of in FIGURES:
            figure = getattr(ours, of)
            found.setdefault((of, ""), []).append((figure.value, figure.low, figure.high))
            found.setdefault((of, "boot_"), []).append(boot[of])
        if (values := powered(answers, P)) is not None:
            found.setdefault(("precision", "ppi_"), []).append(values)
    told: dict[str, dict[str, float]] = {of: {"true": truth[of]} for of in FIGURES}
    for (of, by), values in found.items():
        value, low, high = np.array(values).T
        told[of][f"{by}square"] = np.nanmean((value - truth[of]) ** 2)
        told[of][f"{by}held"] = np.mean((low <= truth[of]) & (truth[of] <= high))
        told[of][f"{by}length"] = np.mean(high - low)
    return [({"figure": of}, figures) for of, figures in told.items()]
