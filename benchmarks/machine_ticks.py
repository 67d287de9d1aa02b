"""What forms with all labels of an item tell beside a machine, at equal seconds.

The machines are those of ``machines.py``. A form takes a person as long as 1.5 yes/no questions. A
person who does not err answers yes/no questions of ``ask --against`` in two rounds; as long, forms
whose items are drawn by what the machine says, in two rounds (``--question ticked``); as long, and
three quarters as long, forms about random items ("uniform"). Printed are the root mean square error
of the frequencies of ``audit_machine``, also as a part of the first one; the share of 95 %
intervals that hold (mean, worst label); and their mean width.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from benchmarks._sets import machine_of
from benchmarks.machines import against
from complabel._drawn import opened
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.frequencies import audit_machine

Array: TypeAlias = Any


def filled_in(Y: Array, items: Array, drawn: Any) -> Answers:
    """Return forms with all labels of these items."""
    about = {"question": "ticked", "item": items, "n_items": len(Y), "drawn": drawn}
    return Answers.from_arrays(relevant=Y[items], absent=1 - Y[items], **about)


def forms(Y: Array, machine: Array, n: int, draw: int) -> Answers:
    """Ask for n forms in two rounds, by what the machine says."""
    found = filled_in(Y, np.empty(0, dtype=np.intp), "")
    for rnd, size in enumerate((n // 2, n - n // 2)):
        of: Any = {"against": machine, "random_state": [draw, 3, rnd]}
        table = suggest_questions(found, size, kind="ticked", **of).drop_duplicates("answer_id")
        items = table["item"].to_numpy()
        drawn = [opened(*each, "") for each in zip(table["drawn"], items.tolist(), strict=True)]
        found = Answers.concatenate([found, filled_in(Y, items, drawn)])
    return found


def designs(Y: Array, machine: Array, n: int) -> dict[str, Callable[[int], Answers]]:
    """Return what is asked in the time of n yes/no questions."""

    def uniform(size: int, draw: int) -> Answers:
        items = np.random.default_rng([draw, 4]).permutation(len(Y))[:size]
        return filled_in(Y, items, "random")

    m = int(n / 1.5)
    return {
        f"{n} yes/no": lambda draw: against(Y, machine, n, draw, (n // 2, n - n // 2)),
        f"{m} forms": lambda draw: forms(Y, machine, m, draw),
        f"{m} uniform": lambda draw: uniform(m, draw),
        f"{n // 2} uniform": lambda draw: uniform(n // 2, draw),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", required=True, help="folder with the files of the datasets")
    parser.add_argument("--datasets", nargs="+", default=["digits", "scene", "yeast", "corel5k:15"])
    parser.add_argument("--shares", nargs="+", type=float, default=[0.03, 0.1, 0.3])
    parser.add_argument("--draws", type=int, default=20)
    given = parser.parse_args()
    print("| labels | machine of | asked | rmse | of yes/no | held (worst) | width |")
    print(f"|{'---|' * 7}")
    for name, share, n in itertools.product(given.datasets, given.shares, (200, 600)):
        Y, _, said = machine_of(name, given.data_dir, share)
        machine, first = said.astype(float), None
        for words, design in designs(Y, machine, n).items():
            found = [audit_machine(design(d), machine).frequencies for d in range(given.draws)]
            truth, ends = Y.mean(axis=0), np.array([each.intervals for each in found])
            errors = np.array([each.values for each in found]) - truth
            error = np.sqrt((errors**2).mean(axis=1)).mean()
            first = first or error
            held = 100 * ((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean(axis=0)
            cells = f"{error:.4f} | {error / first:.2f} | {held.mean():.0f} ({held.min():.0f}) %"
            cells += f" | {np.diff(ends).mean():.3f} |"
            print(f"| {name} | {100 * share:g} % | {words} | {cells}", flush=True)


if __name__ == "__main__":
    main()
