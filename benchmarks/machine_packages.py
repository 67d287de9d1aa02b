"""Other packages' estimates of frequencies beside a machine, and ours.

The worlds, the questions and the errors are those of ``machines``, 20 draws. "ppi_python" is PPI++
by ``pip install ppi-python``, label by label. "glide" is the stratified PPI++ of ``pip install
glide-py``, which needs Python 3.12. It refuses a machine that says one word within a part, so it
gets probabilities; where it refuses those, too, the machine's share stands. "scores" is ours with
the same probabilities, and with questions that are drawn by them. "held" of each is how many of its
intervals of 95 % hold. A package that is not installed has no figure.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from benchmarks.machines import NEEDS as NEEDS
from benchmarks.machines import SETS, Array, against, ours, summary, world
from complabel.answers import Answers

CELLS = {"set": SETS, "machine": ("model", "10%")}
QUICK = {"set": ("digits",), "machine": ("model",)}
N_DRAWS = 20


def ppi_python(answers: Answers, machine: Array) -> tuple[Array, Array]:
    """Return frequencies and intervals; each stratum has as many answers as it has pairs."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    told = answers.statements()
    values, ends = machine.mean(axis=0).astype(float), np.tile([0.0, 1.0], (machine.shape[1], 1))
    for k in range(machine.shape[1]):
        at = told.label == k
        f, said = machine[told.item[at], k].astype(float), machine[:, k].astype(float)
        if at.sum() < 2 or f.std() == 0:
            continue
        q = (said > 0.5).mean()
        w = np.where(f > 0.5, q / max((f > 0.5).sum(), 1), (1 - q) / max((f <= 0.5).sum(), 1))
        given = (told.applies[at].astype(float), f, said)
        values[k] = np.ravel(ppi_mean_pointestimate(*given, w=w))[0]
        ends[k] = np.ravel(ppi_mean_ci(*given, alpha=0.05, w=w))
    return np.clip(values, 0, 1), np.clip(ends, 0, 1)


def glide(answers: Answers, machine: Array) -> tuple[Array, Array]:
    """Return frequencies and intervals by strata of the machine's yes and no."""
    from glide.estimators import StratifiedPPIMeanEstimator

    told = answers.statements()
    values, ends = machine.mean(axis=0).astype(float), np.tile([0.0, 1.0], (machine.shape[1], 1))
    for k in range(machine.shape[1]):
        at, said = told.label == k, machine[:, k].astype(float)
        true = np.full(len(said), np.nan)
        true[told.item[at]] = told.applies[at]
        try:
            found = StratifiedPPIMeanEstimator().estimate(true, said, (said > 0.5).astype(int))
        except ValueError:
            continue
        of_it = found.confidence_interval
        values[k], ends[k] = of_it.mean, (of_it.lower_bound, of_it.upper_bound)
    return np.clip(values, 0, 1), np.clip(ends, 0, 1)


def measure(*, draw: int, data: Any, **cell: str) -> dict[str, float]:
    """Return the error of each package and of ours, and how many intervals hold."""
    Y, p, said = world(cell["set"], cell["machine"], data)
    found: dict[str, list[Any]] = {}
    for each in range(N_DRAWS * draw, N_DRAWS * (draw + 1)):
        answers, by_scores = (against(Y, of, (200,), each) for of in (said, p))
        found.setdefault("ours", []).append(ours(answers, said))
        found.setdefault("scores", []).append(ours(by_scores, p))
        if importlib.util.find_spec("ppi_py"):
            found.setdefault("ppi_python", []).append(ppi_python(answers, said))
        if importlib.util.find_spec("glide"):
            found.setdefault("glide", []).append(glide(answers, p))
    of_all = {name: summary(each, Y.mean(axis=0)) for name, each in found.items()}
    errors = {name: each["rmse"] for name, each in of_all.items()}
    return errors | {f"{name}_held": each["held"] for name, each in of_all.items()}
