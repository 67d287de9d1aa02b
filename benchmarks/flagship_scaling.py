"""How the cost of an automatic linear fit grows with the numbers of rows, features and labels.

Each number takes three sizes while the other two stay as they are. The slope is that of a line
through the logarithms of size and processor seconds, on one thread: 1 is proportional growth.
With --profile the fits are profiled, which slows them down a little, and the functions that took
longest themselves are named.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import linear_regression

import flagship_process as process


@dataclass(frozen=True)
class Sizes:
    """Rows, features and labels."""

    n: int = 8_000
    d: int = 200
    k: int = 32

    def __str__(self) -> str:
        return f"{self.n:,} x {self.d:,} x {self.k:,}"


_TITLES = {"n": "rows", "d": "features", "k": "labels"}
_STEP = 4


def three_sizes(middle: Sizes, name: str) -> list[Sizes]:
    """Return a quarter of one of the numbers, itself, and four times as many."""
    value: int = getattr(middle, name)
    return [replace(middle, **{name: size}) for size in (value // _STEP, value, value * _STEP)]


def run(sizes: Sizes, options: argparse.Namespace) -> process.Result:
    """Return the figures of one fit, and print them."""
    with tempfile.TemporaryDirectory() as folder:
        process.make_data("growth", Path(folder), **asdict(sizes))
        found = process.fit(
            Path(folder),
            limit=options.limit,
            options=("--profile",) if options.profile else (),
        )
    if "limit" in found:
        print(f"| {sizes} | > {found['seconds']:.1f} | {found['cpu']:.1f} | | | | |", flush=True)
        return found
    spent = ", ".join(f"{name} {share:.0%}" for name, share in found.get("spent", ()))
    print(
        f"| {sizes} | {found['seconds']:.2f} | {found['cpu']:.2f} | {found['settings_tried']} |"
        f" {found['chosen']['n_iter_']} | {found['peak'] / 1e9:.2f} | {spent} |",
        flush=True,
    )
    return found


def slope(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of the least-squares line through the logarithms."""
    return linear_regression([math.log(s) for s in sizes], [math.log(t) for t in seconds]).slope


def slopes(fits: dict[Sizes, process.Result], middle: Sizes, names: list[str]) -> list[str]:
    """Return lines of a list that name the slopes."""
    lines = []
    for name in names:
        done = [s for s in three_sizes(middle, name) if "limit" not in fits[s]]
        values = [getattr(sizes, name) for sizes in done]
        if len(done) > 1:
            value = slope(values, [fits[sizes]["cpu"] for sizes in done])
            shown = ", ".join(f"{v:,}" for v in values)
            lines.append(f"- {_TITLES[name]} ({shown}): {value:.2f}")
    return lines


def main() -> None:
    """Print a table, then the slopes."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, title in _TITLES.items():
        default = getattr(Sizes, name)
        parser.add_argument(f"--{name}", type=int, default=default, help=f"middle number: {title}")
    parser.add_argument("--vary", nargs="+", choices=_TITLES, default=list(_TITLES))
    parser.add_argument("--limit", type=float, help="give up after so many processor seconds")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    middle = Sizes(options.n, options.d, options.k)
    print(
        f"{process.tree_name()}, kernel='linear', one thread:\n\n"
        "| rows x features x labels | seconds | processor seconds | settings tried |"
        " iterations of the last fit | peak GB | spent in |\n" + "|---" * 7 + "|",
        flush=True,
    )
    fits: dict[Sizes, process.Result] = {}
    for name in options.vary:
        for sizes in three_sizes(middle, name):
            if sizes not in fits:
                fits[sizes] = run(sizes, options)
    print("\nSlopes of log processor seconds:\n")
    print("\n".join(slopes(fits, middle, options.vary)))


if __name__ == "__main__":
    main()
