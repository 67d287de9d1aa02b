"""How well `fit` knows how many labels apply to an item, where labels were only named.

For each dataset and draw, one label that does not apply is named for each item, uniformly, or with
``--sharpness`` some labels more readily than others, which the fit does not know. Printed are the
mean number of labels that the model predicts, the interval that it gives, whether it holds the true
number, and the seconds of a fit with it and, in brackets, of the interval alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from complabel._training import one_thread
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.methods.selection import _search
from complabel.simulate import draw_complementary


def main() -> None:
    """Print a table with a line for each draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sharpness", type=float)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    of_interval = [0.0]
    timed(_search.HalvingSearch, "cardinality_interval", of_interval)
    scheme: dict[str, Any] = {}
    if options.sharpness is not None:
        scheme = {"scheme": "biased", "sharpness": options.sharpness}
    print("| dataset | true | predicted | interval | holds it | seconds |")
    print("|---|--:|--:|--:|---|--:|")
    for name in options.datasets:
        data = load_dataset(name, data_dir=options.data_dir)
        true = data.label_cardinality
        for draw in range(options.draws):
            labels = draw_complementary(data.Y, random_state=draw, **scheme)
            started = time.process_time()
            with one_thread():
                found = SelectionLikelihoodClassifier(random_state=draw).fit(data.X, labels)
            seconds = time.process_time() - started
            low, high = found.cardinality_interval_
            print(
                f"| {name} | {true:.2f} | {found.mean_cardinality_:.2f} | {low:.2f} to {high:.2f}"
                f" | {'yes' if low <= true <= high else 'no'}"
                f" | {seconds:.1f} ({of_interval[0]:.1f}) |",
                flush=True,
            )


def timed(owner: type, name: str, seconds: list[float]) -> None:
    """Let a method of a class write into a list how long its last call took."""
    method = getattr(owner, name)

    def measured(*given: Any) -> Any:
        started = time.process_time()
        result: np.ndarray = method(*given)
        seconds[0] = time.process_time() - started
        return result

    setattr(owner, name, measured)


if __name__ == "__main__":
    main()
