"""What is a GPU worth: for an evaluation of the objective, and for whole fits?

An evaluation is what each step of L-BFGS needs: the logits of all rows, the likelihood of one
answer about each with its gradient, and the product of that gradient with the features; the least
of three repeats, with everything on the device before. "error" is the greatest of the gradient, as
a share of its largest entry, against the processor's in double precision. "fit" are five epochs of
methods that are trained by gradient descent; "automatic" is the selection likelihood, everything
automatic, to one yes or no about each row, where "difference" is the greatest of the probabilities
from the processor's. ``on`` is a number of threads, or "cuda": without a GPU that torch can use,
its cells are left out, with a message.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks._fits import timed
from benchmarks.networks import network
from complabel.datasets import make_digits, make_synthetic
from complabel.losses import AnswersLikelihood
from complabel.methods import (
    MLCLClassifier,
    NetworkLikelihoodClassifier,
    SelectionLikelihoodClassifier,
)
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_complementary

ON, SHAPES = ("1", "8", "cuda"), ("100000x768x20", "100000x768x80", "1000000x256x20")
FITS = ("MLCL linear", "MLCL wide", "likelihood wide", "likelihood pictures")
N_TEST, SHARE = 2000, 0.1  # rows to test on; the share of labels that apply
CELLS = [
    *({"evaluation": shape, "question": question, "type": precision, "on": on}
      for shape in ("2000x64x8", *SHAPES) for question in ("asked", "named")
      for precision in ("float64", "float32") for on in ON),
    *({"fit": fit, "on": on} for fit in FITS for on in ON),
    *({"automatic": shape, "on": on}
      for shape in ("100000x768x80", "1000000x768x80") for on in ("8", "cuda")),
]  # fmt: skip
QUICK, TIMES = {"evaluation": ("2000x64x8",), "on": ("1", "cuda")}, ("seconds", "error")


def evaluation(shape: str, question: str, precision: str, device: str) -> dict[str, float]:
    """Return the seconds of an evaluation, and the error of its gradient."""
    n, d, k = map(int, shape.split("x"))
    rng = np.random.default_rng(0)
    Y = (rng.random((n, k)) < SHARE).astype(np.uint8)
    answers = draw_answers(Y, question=question, random_state=0)
    coef = torch.from_numpy(rng.standard_normal((k, d)) / np.sqrt(d))
    X = torch.from_numpy(rng.standard_normal((n, d), dtype=np.float32))

    def prepared(on: str, dtype: Any) -> Any:
        weights, rows = coef.to(on, dtype), X.to(on, dtype)
        likelihood = AnswersLikelihood(answers, dtype=dtype, device=on)

        @torch.inference_mode()
        def evaluate() -> Any:
            found = likelihood(torch.mm(weights, rows.t()).t())  # label by label, as in a fit
            gradient = torch.mm(found.through_logits.t(), rows)
            return float(found.values.sum()), gradient.cpu()  # this waits for the GPU

        return evaluate

    exact = prepared("cpu", torch.float64)()[1]
    evaluate = prepared(device, getattr(torch, precision))
    error = (evaluate()[1].double() - exact).abs().max() / exact.abs().max()
    return {"seconds": min(timed(evaluate)[1] for _ in range(3)), "error": float(error)}


def wide(n_features: int, n_labels: int) -> nn.Module:
    """Return a network with two hidden layers."""
    first, second = nn.Linear(n_features, 2048), nn.Linear(2048, 2048)
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Linear(2048, n_labels))


def of_fit(name: str, device: str) -> dict[str, float]:
    """Return the seconds of a fit, after a short one that warms up, and average precision."""
    settings: dict[str, Any] = {"learning_rate": 0.01 if name == "MLCL linear" else 0.001}
    if name.endswith("pictures"):
        items, settings["network"] = make_digits(5000, random_state=0), partial(network, width=32)
        X: Any = items.X.astype(np.float32).reshape(-1, 1, 16, 16)
    else:
        items = make_synthetic(8000, n_features=512, n_labels=12, signal=4.0, random_state=0)
        X = items.X
        if name.endswith("wide"):
            settings["network"] = wide
    if name.startswith("MLCL"):
        kind: Any = MLCLClassifier
        said: Any = draw_complementary(items.Y, random_state=0)
    else:
        kind = NetworkLikelihoodClassifier
        said = draw_answers(items.Y, question="asked", answers_per_item=4, random_state=0)
    part = np.arange(len(items.Y)) % 5 > 0
    kind(**settings, epochs=1, device=device).fit(X[:400], said[:400])
    model = kind(**settings, epochs=5, device=device, random_state=0)
    seconds = timed(lambda: model.fit(X[part], said[part]))[1]
    precision = average_precision(items.Y[~part], model.predict_proba(X[~part]))
    return {"seconds": seconds, "precision": precision}


def automatic(shape: str, device: str) -> dict[str, float]:
    """Return seconds and average precision of a fit, and how far it is from another."""
    n, d, k = map(int, shape.split("x"))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + N_TEST, d), dtype=np.float32)
    coef = 2 / np.sqrt(d) * rng.standard_normal((d, k), dtype=np.float32)
    Y = (X @ coef + rng.logistic(size=(len(X), k)) > 2).astype(np.uint8)
    asked = draw_answers(Y[:n], question="asked", random_state=0)
    torch.ones(9, 9, device=device).mm(torch.ones(9, 9, device=device)).sum().item()
    model = SelectionLikelihoodClassifier(device=device, random_state=0)
    found = {"seconds": timed(lambda: model.fit(X[:n], asked))[1]}
    p = model.predict_proba(X[n:])
    found["precision"] = average_precision(Y[n:], p)
    if device == "cuda":
        other = SelectionLikelihoodClassifier(device="cpu", random_state=0).fit(X[:n], asked)
        found["difference"] = float(np.abs(p - other.predict_proba(X[n:])).max())
    return found


def measure(*, draw: int, data: Any, on: str, **cell: str) -> Any:
    """Return the figures of an evaluation or a fit; nothing for a GPU where there is none."""
    if on == "cuda" and not torch.cuda.is_available():
        print("There is no GPU that torch can use here: a cell is left out.")
        return []
    device = "cuda" if on == "cuda" else "cpu"
    torch.set_num_threads(8 if on == "cuda" else int(on))  # the frame sets them back
    if "evaluation" in cell:
        return evaluation(cell["evaluation"], cell["question"], cell["type"], device)
    return of_fit(cell["fit"], device) if "fit" in cell else automatic(cell["automatic"], device)
