"""Draw the pictures of README and of the pages about ways of asking, from stored results.

``python -m benchmarks.pictures`` draws docs/front.svg (bars: average precision on scene by way of
asking), and in docs/evidence how-to-ask.svg (curves by the number of answers) and time.svg (by
time, if ticking all labels takes so many times as long as one yes or no). All show the selection
likelihood; the results are those of the benchmark asking_tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd

from benchmarks._results import CHECKOUT, read

WAYS = {
    "free-biased": "name a label that it is not\n(some come to mind more easily)",
    "free-biased-audit-200": "the same, and 200 yes/no questions",
    "free": "name a label that it is not\n(all come to mind alike)",
    "asked": "yes or no: does this label apply?\n(a random one for each picture)",
    "positive-biased": "name a label that it is\n(some come to mind more easily)",
    "ticked-25pc": "tick all labels that apply\n(a quarter of the pictures)",
}
TRUTH = "all true labels, for comparison"
SHARES = ("5pc", "10pc", "25pc", "50pc")
ASKED = [*(f"asked-{share}" for share in SHARES), "asked", "asked-2-each", "asked-4-each"]
CURVES = {
    "yes or no": ASKED,
    "named, all come to mind alike": [way.replace("asked", "free") for way in ASKED],
    "named with bias, then 50, 200, 600 yes/no questions": ["free-biased"]
    + [f"free-biased-audit-{n}" for n in (50, 200, 600)],
    "named with bias": ["free-biased-25pc", "free-biased", "free-biased-4-each"],
}
AMOUNTS = (0.05, 0.10, 0.25, 0.50, 1.0, 2.0, 4.0)  # answers for each item, in the order of ASKED
TICKED = ["ticked-2pc", *(f"ticked-{share}" for share in SHARES), "ticked"]
OF_ITEMS = (0.02, 0.05, 0.10, 0.25, 0.50, 1.0)
INK, ACCENT = "#6e7781", "#2f6fb0"
LINES = (("#c2571a", "s"), ("#2e8b57", "^"), ("#8e5bb5", "D"), (ACCENT, "o"))
STYLE: Any = {"svg.hashsalt": "complabel", "font.size": 10, "svg.fonttype": "path"} | {
    **{f"axes.spines.{side}": False for side in ("top", "right")},
    **{f"axes.{of}color": INK for of in ("edge", "title", "label")},
    **dict.fromkeys(("xtick.color", "ytick.color", "grid.color", "legend.labelcolor"), INK),
}
STYLE |= {"axes.grid": True, "axes.grid.axis": "y", "grid.alpha": 0.25, "grid.linewidth": 0.6}


def column(studies: str, criterion: str, figure: str) -> pd.Series:
    """Return a figure by data set and way of asking."""
    table = read("asking_tables").table(f"study={studies},criterion={criterion}")[figure].dropna()
    return table.groupby(["set", "way"], sort=False).first()


def bars(means: pd.Series, truth: float, path: Path) -> None:
    """Draw bars for scene."""
    found = {**{title: means["scene", way] for way, title in WAYS.items()}, TRUTH: truth}
    colours = [INK, ACCENT, INK, ACCENT, ACCENT, ACCENT, "none"]
    # Words stand above each bar, so the picture is narrow and its letters stay large on a phone.
    figure, axes = plt.subplots(figsize=(4.3, 6.0), layout="constrained")
    rows = [1.5 * at for at in range(len(found))]
    drawn = axes.barh(rows, found.values(), color=colours, height=0.45)
    drawn[-1].set(edgecolor=INK, linestyle="--")
    labels = [f"{value:.2f}" for value in found.values()]
    axes.bar_label(drawn, labels=labels, padding=5, color=INK, weight="bold", fontsize=13)
    for row, title in zip(rows, found, strict=True):
        axes.text(0, row - 0.3, title, color=INK, fontsize=12.5, va="bottom", linespacing=1.1)
    axes.set(xlim=(0, 1), ylim=(rows[-1] + 0.3, -1.2), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    save(figure, path)


def panels(
    truth: pd.Series, across: str, ticks: dict[float, str], path: Path, draw: Callable[..., None]
) -> None:
    """Draw average precision across something, a panel for each data set."""
    size = (3.2 * len(truth), 3.9)
    figure, each = plt.subplots(1, len(truth), figsize=size, layout="constrained")
    for axes, (name, level) in zip(each, truth.items(), strict=True):
        draw(axes, name)
        axes.axhline(level, color=INK, linestyle="--", linewidth=1, label=TRUTH)
        axes.set(title=name, xscale="log", xlabel=across)
        axes.set_xticks([*ticks], [*ticks.values()])
    each[0].set_ylabel("average precision")
    lines = each[0].get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", ncols=2, frameon=False)
    save(figure, path)


def by_answers(means: pd.Series, answers: pd.Series, axes: Any, name: str) -> None:
    """Draw the curves of some ways of asking."""
    for (title, ways), (colour, marker) in zip(CURVES.items(), LINES, strict=True):
        points = answers[name][ways], means[name][ways]
        axes.plot(*points, color=colour, marker=marker, markersize=5, label=title)


def by_time(means: pd.Series, axes: Any, name: str) -> None:
    """Draw curves of yes or no, and of ticking that takes several times as long."""
    look: dict[str, Any] = {"markersize": 4, "linewidth": 1.6}
    of = means[name]
    axes.plot(AMOUNTS, of[ASKED], color=LINES[0][0], marker="s", label="yes or no", **look)
    for ratio, strength in ((1.5, 1), (3, 0.75), (6, 0.5), (10, 0.3)):
        title = f"all labels ticked, in {ratio:g} times the time of one yes or no"
        spent = [share * ratio for share in OF_ITEMS]
        look |= {"color": ACCENT, "alpha": strength, "marker": "o", "label": title}
        axes.plot(spent, of[TICKED], **look)


def save(figure: Any, path: Path) -> None:
    """Write a picture that can be read on light and dark pages."""
    figure.savefig(path, transparent=True, metadata={"Date": None})
    print(f"wrote {path}")


def main() -> None:
    """Draw all three."""
    docs, precision = CHECKOUT / "docs", "average_precision"
    means = column("how-to-ask|positives", precision, "Selection_likelihood")
    in_time = column("time", precision, "Selection_likelihood")
    truth, of_time = (
        column(study, precision, "Supervised").groupby("set", sort=False).first()
        for study in ("how-to-ask", "time")
    )
    answers = column("how-to-ask", "asked", "answers")
    with mpl.rc_context(STYLE):
        bars(means, float(truth["scene"]), docs / "front.svg")
        ticks = {100: "100", 1000: "1k", 10_000: "10k"}
        path = docs / "evidence" / "how-to-ask.svg"
        panels(truth, "answers", ticks, path, partial(by_answers, means, answers))
        ticks, across = {0.1: "0.1", 1: "1", 10: "10"}, "time, as yes/no answers\nfor each item"
        panels(of_time, across, ticks, docs / "evidence" / "time.svg", partial(by_time, in_time))


if __name__ == "__main__":
    main()
