"""What ONNX files predict for many rows beside `predict`, and how fast.

    python -m benchmarks.onnx_rows [--rows 100000]

Models have 50 features and 20 labels, and learn from 2,000 items. Features have the mean 0, or 50
with the same spread: in single precision, a kernel of such features loses its digits unless they
are centred first. Both sides get the same float32 rows; `predict` gets them in float64. Printed are
the largest difference of a probability, how many of the labels differ, how many of these are
further than 1e-6 from the cut, and rows a second of onnxruntime and of `predict`, on one thread:
the best of three.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from threadpoolctl import threadpool_limits

from complabel.experiments.methods import GDFClassifier
from complabel.methods import SelectionLikelihoodClassifier, save_onnx
from complabel.simulate import draw_answers

D, K, N_LEARNED = 50, 20, 2_000
_GIVEN: dict[str, Any] = {"alpha": 0.01, "cardinality": 4.0, "rank": None, "random_state": 0}


def perceptron(n_features: int, n_labels: int) -> torch.nn.Module:
    """Make a network with two hidden layers."""
    nn = torch.nn
    return nn.Sequential(
        *(nn.BatchNorm1d(n_features), nn.Linear(n_features, 256), nn.ReLU()),
        *(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, n_labels)),
    )


MODELS: dict[str, Callable[[], Any]] = {
    "linear": lambda: SelectionLikelihoodClassifier(
        kernel="linear", scaling="standardize", **_GIVEN
    ),
    "linear, rows of length 1": lambda: SelectionLikelihoodClassifier(
        kernel="linear", scaling="rows", **_GIVEN
    ),
    "kernel, 500 landmarks": lambda: SelectionLikelihoodClassifier(kernel="rbf", **_GIVEN),
    "network": lambda: GDFClassifier(
        network=perceptron, epochs=20, threshold="probability", random_state=0
    ),
}


def best_of_three(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the least seconds it took."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - start)
    return found, min(seconds)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    n_rows = parser.parse_args().rows
    warnings.simplefilter("ignore")  # namings alone: AssumedUniformWarning
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    plain, new = rng.normal(size=(N_LEARNED, D)), rng.normal(size=(n_rows, D))
    weights = rng.normal(size=(D, K))
    Y = (plain @ weights / np.sqrt(D) + np.sin(2 * plain[:, :K]) > 1).astype(np.uint8)
    answers = draw_answers(Y, question="ticked-5", random_state=0)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    print(
        "| model | mean | largest difference | labels differ | beyond rounding | onnx | predict |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, make in MODELS.items():
        for mean in (0, 50):
            rows = (new + mean).astype(np.float32)
            same = rows.astype(np.float64)
            with threadpool_limits(limits=1):
                classifier = make().fit(plain + mean, answers)
                (labels, f), of_predict = best_of_three(
                    lambda c=classifier, X=same: c.predict_with_proba(X)
                )
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model.onnx"
                save_onnx(classifier, path)
                session = onnxruntime.InferenceSession(path, options)
            (found, shown), of_onnx = best_of_three(
                lambda s=session, X=rows: s.run(["probabilities", "labels"], {"features": X})
            )
            differ = shown != labels
            beyond = differ & (np.abs(f - classifier.cut) > 1e-6)
            speeds = (f"{n_rows / seconds:,.0f}" for seconds in (of_onnx, of_predict))
            print(
                f"| {name} | {mean} | {np.abs(found - f).max():.1e} | {differ.sum()} of {f.size:,}"
                f" | {beyond.sum()} | {' | '.join(speeds)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
