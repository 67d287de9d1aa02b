"""Do the theorems of the paper hold, and what do their matrices do?

Cells: "survey" counts statements over random distributions, "simulation" fits methods to more and
more items, a data set is where MLCL learns with each matrix. The code is ``research.theory``
(``python -m research.theory`` draws all of it).
"""

import re
from collections.abc import Sequence
from typing import Any

from research.theory import run_theory, survey_theory
from research.theory._real_data import compare_fold, matrix_costs
from research.theory._tally import Tally

from complabel.experiments.datasets import load_dataset

NEEDS = ("scene", "yeast", "corel5k")
CELLS = {"part": ("survey", "simulation", "digits", *NEEDS)}
QUICK = {"part": ("survey",)}
FOLDS = 3
NAMES = {
    "p(ybar_j|x) >= sum_k T_kj p(y_k|x)": "one T",
    "p(ybar_j|x) >= sum_k T_kj(x) p(y_k|x)": "T of x",
    "the first, at all labels j of an x": "one T for all labels of an x",
    "sum_k T_kj(x) p(y_k|x) >= p(ybar_j|x)": "reversed with T of x",
    "the same on average over x, with one T": "reversed on average with one T",
    "p(ybar_j|x) >= sum_k T_kj p(y_k|x) / E[|Y| | x]": "divided by the cardinality",
    "T_zj >= its formula": "T is its formula",
    "1 >= the formula of T_zj": "the formula is at most 1",
    "l_j >= bound, Q = p(ybar|x), T(x)": "bound with T of x",
    "l_j >= bound, Q = p(ybar|x), one T": "bound with one T",
    "l_j >= bound, Q by anchors, one T": "bound with Q by anchors",
    "l_j >= |Cov(N, ybar_j|x)|": "bound by the covariance",
    "distortion of S >= distortion of SC'": "S is no nearer than SC",
    "distortion of uniform >= distortion of SC'": "uniform is no nearer than SC",
    "distortion of uniform >= distortion of S": "uniform is no nearer than S",
    "distortion of Q >= distortion of SC'": "Q is no nearer than SC",
    "0 >= error: argmin = p(y|x), exact T": "f is p",
    "0 >= error: T'f = p(ybar|x) for some f, exact T": "f is in the box",
    "0 >= error: argmin > 1/2 where p(y|x) > 1/2, exact T": "f and p on one side of one half",
    "0 >= error: argmin ranks as p(y|x), exact T": "ranks by exact T",
    "0 >= error: argmin ranks as p(y|x), T = S": "ranks by S",
    "0 >= error: argmin ranks as p(y|x), T = SC'": "ranks by SC",
    "0 >= error: argmin ranks as p(y|x), T uniform": "ranks by uniform T",
    "0 >= error: seldom named ranks as p(y|x)": "ranks by naming",
}
KIND = r"\|x\) ([^,]+)"
OF = {
    "Theorem 2": {"m": r"m=(\d)"},
    "Corollary": {"m": r"m=(\d)"},
    "Estimates": {"kind": KIND},
    "Theorem 6": {"kind": KIND, "K": r"K=(\d)"},
}


def survey(seed: int) -> list[Any]:
    """Return how often each statement holds, and fails, over the settings of a kind."""
    groups: dict[tuple[Any, ...], list[Tally]] = {}
    for found in survey_theory(1000, random_state=seed):
        if name := NAMES.get(found.statement):
            of = OF.get(found.part, {})
            told = [(key, re.findall(pattern, found.setting)[0]) for key, pattern in of.items()]
            groups.setdefault((("statement", name), *told), []).append(found.tally)
    return [(dict(of), counts(tallies)) for of, tallies in groups.items()]


def counts(tallies: Sequence[Tally]) -> dict[str, float]:
    """Return counts over tallies, the mean of left - right, and the range of the medians."""
    cases = sum(each.n_cases for each in tallies)
    fails = sum(each.below for each in tallies)
    return {
        "cases": cases,
        "fails": fails,
        "failing": fails / cases,
        "farther": sum(each.above for each in tallies) / cases,
        "mean": sum(each.mean * each.n_cases for each in tallies) / cases,
        "least_median": min(each.median for each in tallies),
        "greatest_median": max(each.median for each in tallies),
    }


def simulation(seed: int) -> list[Any]:
    """Return the excess of each method by the number of items, its limit and its slope."""
    rows = []
    for each in run_theory([], n_distributions=20, random_state=seed, n_jobs=1).curves:
        cell = {"world": each.world, "method": each.method, "criterion": each.criterion}
        excess = {f"n{n}": x for n, x in zip(each.sizes, each.excess.mean(axis=0), strict=True)}
        rows.append((cell, {**excess, "limit": each.limit, "slope": each.slope}))
    return rows


def measure(*, draw: int, data: Any, part: str) -> Any:
    """Return the counts, the excesses, or what each matrix does on a data set."""
    if part == "survey":
        return survey(draw)
    if part == "simulation":
        return simulation(draw)
    dataset, rows = load_dataset(part, data_dir=data), []
    for scheme in ("uniform", "biased"):
        how = {"n_folds": FOLDS, "random_state": draw}
        folds = [compare_fold(dataset, scheme, fold, **how) for fold in range(FOLDS)]
        for each in matrix_costs(dataset, scheme, folds):
            distance, precision = each.distortion.sum(axis=1).mean(), each.average_precision.mean()
            matrix = "SC" if each.matrix == "S C'" else each.matrix
            figures = {"distance": distance, "precision": precision}
            rows.append(({"labels": scheme, "matrix": matrix}, figures))
    return rows
