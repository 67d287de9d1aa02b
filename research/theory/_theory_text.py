"""Texts of the theory page and its command: names of statements, counts and short lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from complabel.reports import MINUS

if TYPE_CHECKING:
    from research.theory import Finding, MatrixCost, RiskCurve, TheoryResults

STATEMENTS: Final[Mapping[str, str]] = {
    "p(ybar_j|x) >= sum_k T_kj p(y_k|x)": "as printed, one T",
    "p(ybar_j|x) >= sum_k T_kj(x) p(y_k|x)": "as printed, T of each x",
    "the first, at all labels j of an x": "as printed, all labels of an x",
    "sum_k T_kj(x) p(y_k|x) >= p(ybar_j|x)": "reversed, T of each x",
    "the same on average over x, with one T": "reversed, one T, mean over x",
    "p(ybar_j|x) >= sum_k T_kj p(y_k|x) / E[|Y| | x]": "right side by cardinality",
    "0 >= sum_j |E[ybar_j|Y] - (T'y)_j| where |Y| = 1": "where one label applies",
    "0 >= sum_j |E[ybar_j|Y] - (T'y)_j| where |Y| = 2": "where two labels apply",
    "T_zj >= its formula": "T by the printed formula",
    "1 >= the formula of T_zj": "the formula is at most 1",
    "T_zj >= Bayes' rule": "T by Bayes’ rule",  # noqa: RUF001
    "l_j >= bound, Q = p(ybar|x), T(x)": "printed bound, T of each x",
    "l_j >= bound, Q = p(ybar|x), one T": "printed bound, one T",
    "l_j >= bound, Q by anchors, one T": "printed bound, Q by anchors",
    "l_j >= |Cov(N, ybar_j|x)|": "bound by the covariance",
}
"""Short names of what the survey counts."""

MATRIX_NAMES: Final[Mapping[str, str]] = {
    "S": "S, rows normalized",
    "S C'": "S Cᵀ, the paper’s T",  # noqa: RUF001
    "uniform": "uniform T",
    "exact": "exact T †",
}
"""Names of the matrices on real data. † marks the one from true labels."""

_MINIMIZERS: Final[Mapping[str, str]] = {
    "0 >= error: argmin ranks as p(y|x), exact T": "MLCL, exact T",
    "0 >= error: argmin ranks as p(y|x), T = S": "MLCL, T = S",
    "0 >= error: argmin ranks as p(y|x), T = SC'": "MLCL, T = S Cᵀ",
    "0 >= error: argmin ranks as p(y|x), T uniform": "MLCL, uniform T",
    "0 >= error: seldom named ranks as p(y|x)": "seldom named",
}


@dataclass(frozen=True)
class Counted:
    """The counts of a statement, added up over settings."""

    short: str
    printed: bool
    n_cases: int
    n_failing: int
    least: float
    greatest: float
    medians: tuple[float, ...]
    """The median of left - right in each setting."""

    @property
    def share(self) -> float:
        """The share of the cases that fail."""
        return self.n_failing / self.n_cases if self.n_cases else float("nan")

    @property
    def median_range(self) -> str:
        """The range of the medians over settings, as text."""
        ends = f"{min(self.medians):.3f} to {max(self.medians):.3f}"
        return ends.replace("-", MINUS)


def counted(findings: Sequence[Finding], *parts: str, within: str = "") -> list[Counted]:
    """Add up the findings of these parts by statement, if ``within`` is in their setting."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.part in parts and within in finding.setting and finding.statement in STATEMENTS:
            found.setdefault(finding.statement, []).append(finding)
    return [
        Counted(
            short=name,
            printed=found[statement][0].printed,
            n_cases=sum(f.tally.n_cases for f in found[statement]),
            n_failing=sum(f.tally.below for f in found[statement]),
            least=min(f.tally.least for f in found[statement]),
            greatest=max(f.tally.greatest for f in found[statement]),
            medians=tuple(f.tally.median for f in found[statement]),
        )
        for statement, name in STATEMENTS.items()
        if statement in found
    ]


def by_number(findings: Sequence[Finding]) -> dict[str, dict[int, float]]:
    """Return the failing share of each statement of Theorem 2 by the number of dependent labels."""
    lines: dict[str, dict[int, float]] = {}
    for m in range(2, 7):
        for row in counted(findings, "Theorem 2", "Corollary", within=f"m={m} "):
            if row.short == "printed bound, one T":
                continue  # its line nearly covers the one with the T of each x
            lines.setdefault(row.short, {})[m] = row.share
    return lines


def ranking_errors(findings: Sequence[Finding]) -> dict[tuple[str, str, int], float]:
    """Return the mean share of reversed pairs, by method, kind of p(Y|x) and K."""
    found = {}
    for statement, name in _MINIMIZERS.items():
        for finding in findings:
            if finding.part == "Theorem 6" and finding.statement == statement:
                n_labels, kind, _ = finding.setting.split(", ")
                key = (name, kind.removeprefix("p(Y|x) "), int(n_labels.removeprefix("K=")))
                found[key] = abs(finding.tally.mean)
    return found


def nearer(findings: Sequence[Finding]) -> dict[tuple[str, str], float]:
    """Return how often one matrix is farther from the exact T than another, by kind of p(Y|x)."""
    counts: dict[tuple[str, str], list[int]] = {}
    for finding in findings:
        if finding.part == "Estimates":
            words = finding.statement.removeprefix("distortion of ").split(" >= distortion of ")
            names = [word.replace("SC'", "S Cᵀ").replace("Q", "anchors") for word in words]
            kind = finding.setting.split(", ")[1].removeprefix("p(Y|x) ")
            count = counts.setdefault((" than ".join(names), kind), [0, 0])
            count[0] += finding.tally.above
            count[1] += finding.tally.n_cases
    return {key: above / cases for key, (above, cases) in counts.items()}


def said_slope(curve: RiskCurve) -> str:
    """Return the slope of an excess in words."""
    if curve.slope != curve.slope:
        return "no slope"
    slope = f"slope {round(curve.slope, 2) + 0.0:.2f}".replace("-", MINUS)
    if curve.slope_error != curve.slope_error:
        return slope
    return f"{slope} ± {curve.slope_error:.2f}"


def short_world(name: str) -> str:
    """Return the name of a world for the title of a chart."""
    return {"several labels": "Several labels", "one label": "One label"}[name]


def quantity_of(cost: MatrixCost) -> str:
    """Return the distance and the average precision of a matrix in words."""
    return (
        f"distance {cost.distortion.sum(axis=1).mean():.3f}, average precision"
        f" {cost.average_precision.mean():.3f}"
    )


def theory_lines(results: TheoryResults) -> Iterator[tuple[str, str]]:
    """Yield the main results, each as a name and a text with its figures.

    Parameters
    ----------
    results : TheoryResults

    Yields
    ------
    tuple of (str, str)
    """
    theorem = {row.short: row for row in counted(results.findings, "Theorem 1")}
    for name in ("as printed, one T", "reversed, T of each x"):
        row = theorem[name]
        yield f"Theorem 1, {name}: fails", _failing(row)
    second = {row.short: row for row in counted(results.findings, "Theorem 2", "Corollary")}
    for name in ("printed bound, T of each x", "bound by the covariance"):
        yield f"Theorem 2, {name}: fails", _failing(second[name])
    for row in counted(results.findings, "Assumption"):
        yield f"ȳ = Tᵀy, {row.short}: fails", _failing(row)
    for curve in results.curves:
        if curve.criterion == "squared":
            name = f"error of p(y|x), {curve.world}, {curve.method}"
            last = f"{curve.excess.mean(axis=0)[-1]:.1e} at {curve.sizes[-1]:,}"
            yield name, f"{last}, {said_slope(curve)}"
    for dataset, scheme in dict.fromkeys((c.dataset, c.scheme) for c in results.costs):
        costs = [c for c in results.costs if (c.dataset, c.scheme) == (dataset, scheme)]
        found = ", ".join(f"{c.matrix} {c.average_precision.mean():.3f}" for c in costs)
        yield f"average precision of MLCL by its T, {dataset}, {scheme} draw", found


def _failing(row: Counted) -> str:
    """Return the share of failing cases and the number of cases in words."""
    return f"{100 * row.share:.1f} % of {row.n_cases:,}"
