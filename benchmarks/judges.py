"""The courses' recipe to correct a judge, and an audit, on simulated criteria.

Outputs of a system meet K criteria more or less often. A judge's verdict is wrong more often about
borderline outputs, and two criteria are judged far worse than the others. The recipe draws for each
criterion 50 outputs that pass and 50 that fail, by the judge's verdict. People label them, the
judge's two rates are plain shares of what people say, and the pass rate is corrected by them (Rogan
and Gladen), with bootstrap intervals. The same with 100 random outputs is a recipe, too. Printed
are the root mean square error, the share of 95 % intervals that hold, and their mean width.
"""

from __future__ import annotations

import argparse
from typing import Any, TypeAlias

import numpy as np

from benchmarks._sets import answers_to
from benchmarks.machines import against, ours

Array: TypeAlias = Any
_N, _BOOTSTRAPS = 2000, 500


def world(n_criteria: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return which outputs meet which criteria, and what the judge says, (n, K)."""
    quality = rng.normal(size=(_N, 1)) + rng.normal(size=(_N, n_criteria))
    cut = rng.normal(-1.2, 0.9, n_criteria)
    Y = (quality > cut).astype(np.uint8)
    noise = rng.uniform(0.3, 0.7, n_criteria)
    shift = rng.normal(-0.15, 0.15, n_criteria)  # most judges are lenient
    noise[:2], shift[:2] = 1.5, -0.6
    return Y, (quality + noise * rng.normal(size=Y.shape) > cut + shift).astype(np.uint8)


def recipe(Y: Array, judge: Array, rng: np.random.Generator, *, halves: bool) -> Any:
    """Return corrected pass rates, intervals, and which pairs were labelled."""
    values, ends, pairs = [], [], []
    for k in range(Y.shape[1]):
        words = [judge[:, k] == 1, judge[:, k] == 0] if halves else [judge[:, k] >= 0]
        drawn = [rng.permutation(np.flatnonzero(w))[: 100 // len(words)] for w in words]
        at = np.concatenate(drawn)
        pairs.append((at, np.full(len(at), k)))
        again = rng.integers(len(at), size=(_BOOTSTRAPS, len(at)))
        y, said = Y[np.vstack([at, at[again]]), k], judge[np.vstack([at, at[again]]), k]
        right = (y * said).sum(axis=1) / np.maximum(y.sum(axis=1), 1)
        invented = ((1 - y) * said).sum(axis=1) / np.maximum((1 - y).sum(axis=1), 1)
        gap = np.maximum(right - invented, 0.05)
        share = np.clip((judge[:, k].mean() - invented) / gap, 0, 1)
        values.append(share[0])
        ends.append(np.quantile(share[1:], [0.025, 0.975]))
    return np.array(values), np.array(ends), tuple(map(np.concatenate, zip(*pairs, strict=True)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--criteria", nargs="+", type=int, default=[6, 10, 15])
    parser.add_argument("--draws", type=int, default=100)
    given = parser.parse_args()
    print("| criteria | way | answers | rmse | held, % | width |\n|---|---|---|---|---|---|")
    for n_criteria in given.criteria:
        rows: dict[str, list[Any]] = {}
        for draw in range(given.draws):
            rng = np.random.default_rng([draw, n_criteria])
            Y, judge = world(n_criteria, rng)
            q = judge.mean(axis=0)
            *by_verdict, pairs = recipe(Y, judge, rng, halves=True)
            *at_random, _ = recipe(Y, judge, rng, halves=False)
            two = against(Y, judge, 0, draw, (80, 120))
            ways = {
                "the judge alone": (q, np.stack([q, q], 1), 0),
                "recipe, 50 pass and 50 fail": (*by_verdict, len(pairs[0])),
                "recipe, 100 random": (*at_random, 100 * n_criteria),
                "audit, the same 50 and 50": (*ours(answers_to(Y, *pairs), judge), len(pairs[0])),
                "audit, two rounds": (*ours(two, judge), 200),
            }
            truth = Y.mean(axis=0)
            for way, (values, ends, n) in ways.items():
                held = (ends[:, 0] <= truth + 1e-9) & (truth <= ends[:, 1] + 1e-9)
                error = ((values - truth) ** 2).mean()
                rows.setdefault(way, []).append(
                    (n, error, held.mean(), np.ptp(ends, axis=1).mean())
                )
        for way, each in rows.items():
            n, error, held, width = np.mean(each, axis=0)
            print(f"| {n_criteria} | {way} | {n:.0f} | {error**0.5:.3f} | {100 * held:.0f}"
                  f" | {width:.3f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
