"""The pictures of README and of the page "How to ask", drawn from the results of two studies.

Reads the files ``summary.json`` that ``complabel study report how-to-ask`` and the report of
``benchmarks/time.toml`` write. The first picture has bars: average precision on scene when people
are asked in different ways. The others have curves, a panel for each dataset: against the number of
answers; and against time, if ticking all labels of an item takes so many times as long as one yes
or no. All show the selection likelihood.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

_METHOD = "Selection likelihood"
_WAYS = {
    "free-biased": "name a label that it is not\n(some come to mind more easily)",
    "free-biased-audit-200": "the same, and 200 yes/no questions",
    "free": "name a label that it is not\n(all come to mind alike)",
    "asked": "yes or no: does this label apply?\n(a random one for each picture)",
    "positive-biased": "name a label that it is\n(some come to mind more easily)",
    "ticked-25pc": "tick all labels that apply\n(a quarter of the pictures)",
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
_ASKED = _CURVES["yes or no"]
_TICKED = [f"ticked-{share}pc" for share in (2, 5, 10, 25, 50)] + ["ticked"]
_SHARES = (0.02, 0.05, 0.10, 0.25, 0.50, 1.0)  # of the items, in the order of the draws
_AMOUNTS = (0.05, 0.10, 0.25, 0.50, 1.0, 2.0, 4.0)  # answers for each item, likewise
_RATIOS = (1.5, 3, 6, 10)
_INK, _ACCENT = "#6e7781", "#2f6fb0"
_LINES = (("#c2571a", "s"), ("#2e8b57", "^"), ("#8e5bb5", "D"), (_ACCENT, "o"))
_STYLE: Any = {"svg.hashsalt": "complabel", "font.size": 10, "svg.fonttype": "path"}


def read(paths: Sequence[Path]) -> tuple[pd.DataFrame, pd.Series]:
    """Return each way's answers and mean of the method, and the mean with all true labels."""
    summaries = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    ways = pd.concat(pd.DataFrame(summary["answers"]) for summary in summaries)
    cells = pd.concat(pd.DataFrame(summary["cells"]) for summary in summaries)
    truth = cells[(cells["row"] == "Supervised") & (cells["metric"] == "average_precision")]
    ways = ways[ways["row"] == _METHOD].drop_duplicates(["dataset", "draw"])
    ways = ways.set_index(["dataset", "draw"])[["answers", "mean"]]
    return ways, truth.groupby("dataset", sort=False)["mean"].first()


def bars(ways: pd.DataFrame, truth: pd.Series, path: Path) -> None:
    """Draw bars for scene."""
    import matplotlib.pyplot as plt

    found = {title: float(ways.loc[("scene", way), "mean"]) for way, title in _WAYS.items()}
    found[_TRUTH] = float(truth["scene"])
    for title, value in found.items():
        print(f"{value:.3f}  {' '.join(title.split())}")
    colours = [_INK, _ACCENT, _INK, _ACCENT, _ACCENT, _ACCENT, "none"]
    # Words stand above each bar, so the picture is narrow and its letters stay large on a phone.
    figure, axes = plt.subplots(figsize=(4.3, 6.0), layout="constrained")
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
    """Draw average precision against answers, a panel for each dataset with named labels."""
    named = [name for name in truth.index if (name, "free") in ways.index]
    figure, panels = _panels(len(named))
    for axes, dataset in zip(panels, named, strict=True):
        for (title, draws), (colour, marker) in zip(_CURVES.items(), _LINES, strict=True):
            line = ways.loc[dataset].loc[draws]
            axes.plot(*line.to_numpy().T, color=colour, marker=marker, markersize=5, label=title)
        _finish(axes, dataset, truth, "answers")
        axes.set_xticks([100, 1000, 10_000], ["100", "1k", "10k"])
    _finish_all(figure, panels)
    _save(figure, path)


def times(ways: pd.DataFrame, truth: pd.Series, path: Path) -> None:
    """Draw average precision against time, for several times that ticking takes."""
    figure, panels = _panels(len(truth))
    for axes, dataset in zip(panels, truth.index, strict=True):
        means = ways.loc[dataset]["mean"]
        look: dict[str, Any] = {"markersize": 4, "linewidth": 1.6}
        asked = means.loc[_ASKED].to_numpy()
        axes.plot(_AMOUNTS, asked, color=_LINES[0][0], marker="s", label="yes or no", **look)
        for ratio, strength in zip(_RATIOS, (1, 0.75, 0.5, 0.3), strict=True):
            title = f"all labels ticked, in {ratio:g} times the time of one yes or no"
            spent = [share * ratio for share in _SHARES]
            ticked = means.loc[_TICKED].to_numpy()
            axes.plot(spent, ticked, color=_ACCENT, alpha=strength, marker="o", label=title, **look)
        _finish(axes, dataset, truth, "time, as yes/no answers\nfor each item")
        axes.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
    _finish_all(figure, panels)
    _save(figure, path)


def _panels(count: int) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(1, count, figsize=(3.2 * count, 3.9), layout="constrained")


def _finish(axes: Any, dataset: str, truth: pd.Series, across: str) -> None:
    axes.axhline(truth[dataset], color=_INK, linestyle="--", linewidth=1, label=_TRUTH)
    axes.set_title(dataset, color=_INK)
    axes.set_xscale("log")
    axes.set_xlabel(across, color=_INK)
    axes.tick_params(which="both", colors=_INK)
    axes.grid(axis="y", color=_INK, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_INK)


def _finish_all(figure: Any, panels: Any) -> None:
    panels[0].set_ylabel("average precision", color=_INK)
    handles, titles = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, titles, loc="outside lower center", ncols=2, frameon=False, labelcolor=_INK
    )


def _save(figure: Any, path: Path) -> None:
    """Write a picture that can be read on light and dark pages."""
    figure.savefig(path, transparent=True, metadata={"Date": None})
    print(f"wrote {path}")


def main() -> None:
    """Print the figures of the bars, and draw the pictures."""
    import matplotlib as mpl

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("summaries", type=Path, nargs="+", help="summary.json of both studies")
    parser.add_argument("--folder", type=Path, default=Path("docs"))
    options = parser.parse_args()
    ways, truth = read(options.summaries)
    with mpl.rc_context(_STYLE):
        bars(ways, truth, options.folder / "front.svg")
        curves(ways, truth, options.folder / "how-to-ask.svg")
        times(ways, truth, options.folder / "time.svg")


if __name__ == "__main__":
    main()
