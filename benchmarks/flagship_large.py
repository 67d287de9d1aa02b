"""How do time and memory of an automatic fit grow?

Features are made embeddings in single precision. With 100,000 rows and more they are in a file that
is mapped to memory, each fit has a process of its own, and 10,000 other rows say how good it is.
"All labels" is scikit-learn's one-vs-rest logistic regression on all true labels. Peak memory
includes those pages of the file that the system keeps. Where ``vary`` is given, 8,000 rows of 200
features with 32 labels are made four times as many and a quarter; the slope is that of a line
through the logarithms of size and processor seconds: 1 is proportional growth.
"""

import pickle
import tempfile
from functools import partial
from pathlib import Path
from statistics import linear_regression
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from benchmarks._fits import alone, embeddings, timed
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_complementary

_LARGE = "100000x768x80"
CELLS = [
    *({"shape": _LARGE, "learns": "asked", "threads": threads} for threads in (2, 1)),
    {"shape": _LARGE, "learns": "all labels", "threads": 2},
    {"shape": _LARGE, "learns": "free", "threads": 2},
    {"shape": "1000000x256x20", "learns": "free", "threads": 2},
    *({"vary": what} for what in ("rows", "features", "labels")),
]
QUICK, TIMES = {"vary": ("rows",)}, ("seconds", "processor", "slope")
_HELD_OUT, _MIDDLE = 10_000, {"rows": 8_000, "features": 200, "labels": 32}


def write(folder: str, shape: tuple[int, int, int], question: str) -> None:
    """Write features to a file, and answers and labels to another."""
    n, d, k = shape
    rows = n + _HELD_OUT
    file = Path(folder, "X.npy")
    X = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(rows, d))
    Y, start = np.empty((rows, k), dtype=np.uint8), 0
    for features, labels in embeddings(rows, d, k):
        X[start : start + len(labels)], Y[start : start + len(labels)] = features, labels
        start += len(labels)
    X.flush()
    answers = draw_answers(Y, question=question, random_state=0)
    Path(folder, "rest.pkl").write_bytes(pickle.dumps((answers[:n], Y[:n], Y[n:])))


def fit(folder: str, learns: str, linear: bool) -> dict[str, float]:
    """Fit to what was written."""
    answers, known, Y = pickle.loads(Path(folder, "rest.pkl").read_bytes())
    X = np.load(Path(folder, "X.npy"), mmap_mode="r")
    kernel = "linear" if linear else "auto"
    model: Any = SelectionLikelihoodClassifier(kernel=kernel, random_state=0)
    if learns == "all labels":
        model, answers = OneVsRestClassifier(LogisticRegression()), known
    _, seconds, processor = timed(lambda: model.fit(X[: len(known)], answers))
    precision = average_precision(Y, model.predict_proba(X[len(known) :]))
    return {"seconds": seconds, "processor": processor, "precision": precision}


def growth(what: str) -> list[Any]:
    """Return the figures of three sizes."""
    sizes = [_MIDDLE[what] // 4, _MIDDLE[what], _MIDDLE[what] * 4]
    found = []
    for size in sizes:
        n, d, k = {**_MIDDLE, what: size}.values()
        X, Y = map(np.concatenate, zip(*embeddings(n + 2_000, d, k), strict=True))
        named = draw_complementary(Y, random_state=0)
        classifier = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
        classifier.fit(X[:50], named[:50])  # imports do not count
        _, _, processor = timed(partial(classifier.fit, X[:n], named[:n]))
        tried = max(len(column) for column in classifier.cv_results_.values())
        found.append({"processor": processor, "settings": tried})
    slope = linear_regression(np.log(sizes), np.log([each["processor"] for each in found])).slope
    return [({"size": size}, {**of, "slope": slope}) for size, of in zip(sizes, found, strict=True)]


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return the figures of a fit, or of three."""
    if "vary" in cell:
        return growth(cell["vary"])
    shape = tuple(map(int, cell["shape"].split("x")))
    learns, linear = cell["learns"], shape[0] >= 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        question = "asked" if learns == "all labels" else learns
        alone(write, folder=folder, shape=shape, question=question)
        return alone(fit, threads=cell["threads"], folder=folder, learns=learns, linear=linear)
