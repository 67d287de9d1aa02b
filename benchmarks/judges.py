"""The courses' recipe to correct a judge, and an audit, on simulated criteria.

2,000 outputs of a system meet K criteria more or less often. A judge is lenient, its verdict is
wrong more often about borderline outputs, and two criteria are judged far worse than the others.
The recipe draws for each criterion 50 outputs that pass and 50 that fail, by the judge's verdict.
People label them, the judge's two rates are plain shares of what people say, and the pass rate is
corrected by them (Rogan and Gladen), with bootstrap intervals. The same with 100 random outputs is
a recipe, too. "audit" has the same 50 and 50; "rounds" 80 questions, then 120. Figures, of blocks
of 20 draws, are the mean square error (its root is the error), how many intervals of 95 % hold, and
their width.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._draws import block, means
from benchmarks._sets import answers_to
from benchmarks.machines import Array, against, holding, ours

CELLS = {"criteria": (6, 10, 15)}
DRAWS, QUICK, N_DRAWS = 5, {"criteria": (6,)}, 20
N, BOOTSTRAPS = 2000, 500


def world(n_criteria: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return which outputs meet which criteria, and what the judge says, (n, K)."""
    quality = rng.normal(size=(N, 1)) + rng.normal(size=(N, n_criteria))
    cut = rng.normal(-1.2, 0.9, n_criteria)
    Y = (quality > cut).astype(np.uint8)
    noise = rng.uniform(0.3, 0.7, n_criteria)
    shift = rng.normal(-0.15, 0.15, n_criteria)  # most judges are lenient
    noise[:2], shift[:2] = 1.5, -0.6
    return Y, (quality + noise * rng.normal(size=Y.shape) > cut + shift).astype(np.uint8)


def recipe(Y: Array, judge: Array, rng: np.random.Generator, *, halves: bool) -> Any:
    """Return corrected pass rates, intervals, and which pairs were labelled."""
    values, ends, pairs = [], [], []
    for k, verdict in enumerate(judge.T):
        words = [verdict == 1, verdict == 0] if halves else [verdict >= 0]
        drawn = [rng.permutation(np.flatnonzero(w))[: 100 // len(words)] for w in words]
        at = np.concatenate(drawn)
        pairs.append((at, np.full(len(at), k)))
        again = np.vstack([at, at[rng.integers(len(at), size=(BOOTSTRAPS, len(at)))]])
        y, said = Y[again, k], verdict[again]
        right = (y * said).sum(axis=1) / np.maximum(y.sum(axis=1), 1)
        invented = ((1 - y) * said).sum(axis=1) / np.maximum((1 - y).sum(axis=1), 1)
        gap = np.maximum(right - invented, 0.05)
        share = np.clip((verdict.mean() - invented) / gap, 0, 1)
        values.append(share[0])
        ends.append(np.quantile(share[1:], [0.025, 0.975]))
    return np.array(values), np.array(ends), tuple(map(np.concatenate, zip(*pairs, strict=True)))


@means
def measure(*, draw: int, criteria: int, **_: Any) -> Any:
    """Yield the error of each way, and how its intervals hold."""
    for seed in block(draw, N_DRAWS):
        rng = np.random.default_rng([seed, criteria])
        Y, judge = world(criteria, rng)
        *by_verdict, pairs = recipe(Y, judge, rng, halves=True)
        ways = {
            "judge alone": (judge.mean(axis=0), None),
            "recipe": by_verdict,
            "random recipe": recipe(Y, judge, rng, halves=False)[:2],
            "audit": ours(answers_to(Y, *pairs), judge),
            "audit in rounds": ours(against(Y, judge, (80, 120), seed), judge),
        }
        truth = Y.mean(axis=0)
        for way, (values, ends) in ways.items():
            figures = {"squares": ((values - truth) ** 2).mean()}
            if ends is not None:
                figures |= {"held": holding(ends, truth).mean()}
                figures |= {"width": np.ptp(ends, axis=1).mean()}
            yield {"way": way}, figures
