"""Whether the automatic fit stays in bounds of time and memory on large data.

Features are synthetic embeddings, float32 in a file that is mapped to memory: 100,000 x 768 with 80
labels, of which each row has one answer, freely named or a yes/no question; and 1,000,000 x 256
with 20 labels, freely named, by a linear map. Beside it stands scikit-learn's one-vs-rest logistic
regression, which learns from all true labels of the same rows. Printed are seconds and peak memory
of processes that do nothing else, and average precision on 10,000 other rows. Peak memory includes
those pages of the mapped file that the system keeps in memory.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import flagship_process as process

_CASES = {
    "large-free": "free naming",
    "large-asked": "asked",
    "million": "free naming, kernel='linear'",
}
_FLAGSHIP, _REFERENCE = "selection likelihood", "one-vs-rest, all true labels"


def line(case: str, method: str, shape: list[int], found: process.Result) -> str:
    """Return the line of a fit."""
    sizes = " x ".join(f"{size:,}" for size in shape)
    learns_from = _CASES[case] if method == _FLAGSHIP else "true labels"
    start = f"| {sizes} | {method} | {learns_from} | {4 * shape[0] * shape[1] / 1e9:.2f} |"
    if "limit" in found:
        return f"{start} > {found['seconds']:.0f} | {found['cpu']:.0f} | | | |"
    return (
        f"{start} {found['seconds']:.1f} | {found['cpu']:.1f} | {found['peak_before'] / 1e9:.2f} |"
        f" {found['peak'] / 1e9:.2f} | {found['precision']:.4f} |"
    )


def chosen(case: str, found: process.Result) -> str:
    """Return what was chosen, in words."""
    values = ", ".join(f"{name} {value}" for name, value in found.get("chosen", {}).items())
    return f"{case}: {values}; {found.get('settings_tried', '?')} settings"


def run_case(case: str, options: argparse.Namespace, referenced: set[str]) -> str:
    """Print the lines of a case, and return what was chosen; each reference is fitted once."""
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        shape = process.make_data(case, folder, n=options.n, d=options.d, k=options.k)["shape"]
        limits = {"threads": options.threads, "limit": options.limit}
        found = process.fit(folder, **limits)
        print(line(case, _FLAGSHIP, shape, found), flush=True)
        if not options.no_reference and str(shape) not in referenced:
            referenced.add(str(shape))
            reference = process.fit(folder, options=("--reference",), **limits)
            print(line(case, _REFERENCE, shape, reference), flush=True)
        return chosen(case, found)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=_CASES, default=list(_CASES))
    for size, meaning in {"n": "rows to fit to", "d": "features", "k": "labels"}.items():
        parser.add_argument(f"--{size}", type=int, help=f"number of {meaning}, for trials")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, help="give up after processor seconds per thread")
    parser.add_argument("--no-reference", action="store_true", help="leave scikit-learn out")
    parser.add_argument("--folder", type=Path, help="where 1.1 GB of features can be written")
    options = parser.parse_args()
    print(
        f"{process.tree_name()}, {options.threads} thread(s):\n\n"
        "| rows x features x labels | method | learns from | features, GB | seconds |"
        " processor seconds | peak GB before the fit | with it | average precision |\n"
        + "|---" * 9
        + "|",
        flush=True,
    )
    referenced: set[str] = set()
    choices = [run_case(case, options, referenced) for case in options.cases]
    print("\n" + "\n".join(f"- {choice}" for choice in choices))


if __name__ == "__main__":
    main()
