"""What ONNX files predict for many rows beside ``predict``, and how fast.

Models have 50 features and 20 labels, and learn from 2,000 items. Features have the mean 0, or 50
with the same spread: in single precision, a kernel of such features loses its digits unless they
are centred first. Both sides get the same float32 rows; ``predict`` gets them in float64. Figures
are the largest difference of a probability in units of 1e-8 (``largest``), how many of the labels
differ, how many of these are further than 1e-6 from the cut (``beyond``), and rows a second of
onnxruntime and of ``predict``, on one thread: the best of three.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._fits import timed
from complabel.experiments.methods import GDFClassifier
from complabel.methods import SelectionLikelihoodClassifier, save_onnx
from complabel.simulate import draw_answers

CELLS = {"model": ("linear", "linear on rows", "kernel", "network"), "mean": (0, 50)}
QUICK, TIMES = {"model": ("linear on rows",)}, ("onnx", "predict")
D, K, N_LEARNED, N_ROWS = 50, 20, 2_000, 100_000
GIVEN: dict[str, Any] = {"alpha": 0.01, "cardinality": 4.0, "rank": None, "random_state": 0}


def perceptron(n_features: int, n_labels: int) -> Any:
    """Make a network with two hidden layers."""
    from torch import nn

    return nn.Sequential(
        *(nn.BatchNorm1d(n_features), nn.Linear(n_features, 256), nn.ReLU()),
        *(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, n_labels)),
    )


def made(name: str) -> Any:
    """Return an unfitted model; the kernel has 500 landmarks, and rows the length 1."""
    if name == "network":
        how: dict[str, Any] = {"epochs": 20, "threshold": "probability", "random_state": 0}
        return GDFClassifier(network=perceptron, **how)
    if name == "kernel":
        return SelectionLikelihoodClassifier(kernel="rbf", **GIVEN)
    scaling = "rows" if name == "linear on rows" else "standardize"
    return SelectionLikelihoodClassifier(kernel="linear", scaling=scaling, **GIVEN)


def best_of_three(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the least seconds it took."""
    found, seconds, _ = zip(*(timed(run) for _ in range(3)), strict=True)
    return found[0], min(seconds)


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return how far both are apart, and rows a second."""
    import onnxruntime

    rng = np.random.default_rng(draw)
    plain, new = rng.normal(size=(N_LEARNED, D)), rng.normal(size=(N_ROWS, D))
    weights = rng.normal(size=(D, K))
    Y = (plain @ weights / np.sqrt(D) + np.sin(2 * plain[:, :K]) > 1).astype(np.uint8)
    answers = draw_answers(Y, question="ticked-5", random_state=0)
    rows = (new + cell["mean"]).astype(np.float32)
    same = rows.astype(np.float64)
    classifier = made(cell["model"]).fit(plain + cell["mean"], answers)
    (labels, p), of_predict = best_of_three(lambda: classifier.predict_with_proba(same))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        save_onnx(classifier, Path(folder) / "model.onnx")
        session = onnxruntime.InferenceSession(Path(folder) / "model.onnx", options)
    (found, shown), of_onnx = best_of_three(
        lambda: session.run(["probabilities", "labels"], {"features": rows})
    )
    differ, sure = shown != labels, np.abs(p - classifier.cut) > 1e-6
    return {
        "largest": 1e8 * float(np.abs(found - p).max()),
        "differ": int(differ.sum()),
        "beyond": int((differ & sure).sum()),
        "onnx": N_ROWS / of_onnx,
        "predict": N_ROWS / of_predict,
    }
