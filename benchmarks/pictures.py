"""The pictures of README and of the page "How to ask", drawn from one study's results.

Reads ``summary.json``, which ``complabel study report how-to-ask`` writes. The first picture has
bars: average precision on scene when people are asked in different ways. The second one has curves
against annotators' minutes, a panel for each dataset. Both show the selection likelihood.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd

_METHOD = "Selection likelihood"
_WAYS = {
    "free-biased": "name a label that it is not\n(some come to mind more easily)",
    "free-biased-audit-200": "the same, and 200 yes/no questions",
    "free": "name a label that it is not\n(all come to mind alike)",
    "asked": "yes or no: does this label apply?\n(a random one for each picture)",
}
_TRUTH = "all true labels, for comparison"
_CURVES = {
    "yes or no": [f"asked-{share}pc" for share in (5, 10, 25, 50)]
    + ["asked", "asked-2-each", "asked-4-each"],
    "named, all come to mind alike": [f"free-{share}pc" for share in (5, 10, 25, 50)]
    + ["free", "free-2-each", "free-4-each"],
    "named with bias, then 50, 200, 600 yes/no questions": ["free-biased"]
    + [f"free-biased-audit-{n}" for n in (50, 200, 600)],
    "named with bias": ["free-biased-25pc", "free-biased", "free-biased-4-each"],
}
_INK, _ACCENT = "#6e7781", "#2f6fb0"
_LINES = (("#c2571a", "s"), ("#2e8b57", "^"), ("#8e5bb5", "D"), (_ACCENT, "o"))
_STYLE: Any = {"svg.hashsalt": "complabel", "font.size": 10, "svg.fonttype": "path"}


def read(path: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Return each way's minutes and mean of the method, and the mean with all true labels."""
    summary = json.loads(path.read_text(encoding="utf-8"))
    ways = pd.DataFrame(summary["answers"])
    cells = pd.DataFrame(summary["cells"])
    truth = cells[(cells["row"] == "Supervised") & (cells["metric"] == "average_precision")]
    ways = ways[ways["row"] == _METHOD].set_index(["dataset", "draw"])[["minutes", "mean"]]
    return ways, truth.groupby("dataset")["mean"].first()


def bars(ways: pd.DataFrame, truth: pd.Series, path: Path) -> None:
    """Draw bars for scene."""
    import matplotlib.pyplot as plt

    found = {title: float(ways.loc[("scene", way), "mean"]) for way, title in _WAYS.items()}
    found[_TRUTH] = float(truth["scene"])
    for title, value in found.items():
        print(f"{value:.3f}  {' '.join(title.split())}")
    colours = [_INK, _ACCENT, _INK, _ACCENT, "none"]
    # Words stand above each bar, so the picture is narrow and its letters stay large on a phone.
    figure, axes = plt.subplots(figsize=(4.3, 4.4), layout="constrained")
    rows = [1.5 * at for at in range(len(found))]
    drawn = axes.barh(rows, found.values(), color=colours, height=0.45)
    drawn[-1].set(edgecolor=_INK, linestyle="--")
    labels = [f"{value:.2f}" for value in found.values()]
    axes.bar_label(drawn, labels=labels, padding=5, color=_INK, weight="bold", fontsize=13)
    for row, title in zip(rows, found, strict=True):
        axes.text(0, row - 0.3, title, color=_INK, fontsize=12.5, va="bottom", linespacing=1.1)
    axes.set(xlim=(0, 1), ylim=(rows[-1] + 0.3, -1.2), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    _save(figure, path)


def curves(ways: pd.DataFrame, truth: pd.Series, path: Path) -> None:
    """Draw average precision against minutes, a panel for each dataset."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(truth), figsize=(9.6, 3.9), layout="constrained")
    for axes, dataset in zip(panels, ways.index.unique("dataset"), strict=True):
        for (title, draws), (colour, marker) in zip(_CURVES.items(), _LINES, strict=True):
            line = ways.loc[dataset].loc[draws]
            axes.plot(*line.to_numpy().T, color=colour, marker=marker, markersize=5, label=title)
        axes.axhline(truth[dataset], color=_INK, linestyle="--", linewidth=1, label=_TRUTH)
        axes.set_title(dataset, color=_INK)
        axes.set_xscale("log")
        axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
        axes.set_xlabel("annotators' minutes", color=_INK)
        axes.tick_params(which="both", colors=_INK)
        axes.grid(axis="y", color=_INK, alpha=0.25, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(_INK)
    panels[0].set_ylabel("average precision", color=_INK)
    handles, titles = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, titles, loc="outside lower center", ncols=2, frameon=False, labelcolor=_INK
    )
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    """Write a picture that can be read on light and dark pages."""
    figure.savefig(path, transparent=True, metadata={"Date": None})
    print(f"wrote {path}")


def main() -> None:
    """Print the figures of the bars, and draw both pictures."""
    import matplotlib as mpl

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("summary", type=Path, help="summary.json of the study how-to-ask")
    parser.add_argument("--folder", type=Path, default=Path("docs"))
    options = parser.parse_args()
    ways, truth = read(options.summary)
    with mpl.rc_context(_STYLE):
        bars(ways, truth, options.folder / "front.svg")
        curves(ways, truth, options.folder / "how-to-ask.svg")


if __name__ == "__main__":
    main()
