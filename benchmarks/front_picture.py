"""The picture in README: the same pictures and the same method, asked in different ways.

Reads what ``complabel study export how.csv --study how-to-ask`` wrote, and draws the mean average
precision of the selection likelihood on scene, beside what all true labels give.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

_WAYS = {
    "free-biased": "name a label that it is not\n(some come to mind more easily)",
    "free-biased-audit-200": "the same, and 200 yes/no questions",
    "free": "name a label that it is not\n(all come to mind alike)",
    "asked": "yes or no: does this label apply?\n(a random one for each picture)",
}
_TRUTH = "all true labels, for comparison"
_INK, _ACCENT = "#6e7781", "#2f6fb0"


def figures(path: Path) -> dict[str, float]:
    """Return the mean of each way, in the order in which they are shown."""
    table = pd.read_csv(path)
    table = table[table["dataset"] == "scene"]
    means = table.groupby(["draw", "row"])["average_precision"].mean()
    found = {title: float(means[draw, "Selection likelihood"]) for draw, title in _WAYS.items()}
    return found | {_TRUTH: float(means["asked", "Supervised"])}


def draw(found: dict[str, float], path: Path) -> Any:
    """Draw the bars, readable on light and dark pages."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    rows = range(len(found))
    colours = [_INK, _ACCENT, _INK, _ACCENT, "none"]
    with mpl.rc_context({"svg.hashsalt": "complabel", "font.size": 10, "svg.fonttype": "path"}):
        figure, axes = plt.subplots(figsize=(7.2, 2.9), layout="constrained")
        bars = axes.barh(rows, found.values(), color=colours, height=0.62)
        bars[-1].set(edgecolor=_INK, linestyle="--")
        labels = [f"{value:.2f}" for value in found.values()]
        axes.bar_label(bars, labels=labels, padding=5, color=_INK, weight="bold")
        axes.set_yticks(rows, found, color=_INK)
        axes.invert_yaxis()
        axes.set(xlim=(0, 1), xticks=[])
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        figure.savefig(path, transparent=True, metadata={"Date": None})


def main() -> None:
    """Print the figures, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="CSV of the study how-to-ask")
    parser.add_argument("--svg", type=Path, default=Path("docs/front.svg"))
    options = parser.parse_args()
    found = figures(options.results)
    for title, value in found.items():
        print(f"{value:.3f}  {' '.join(title.split())}")
    draw(found, options.svg)


if __name__ == "__main__":
    main()
