"""Other packages' estimates of frequencies beside a machine, and ours.

The worlds, the questions and the errors are those of ``machines``, 20 draws. "ppi_python" is PPI++
by ``pip install ppi-python``, label by label. "glide" is the stratified PPI++ of ``pip install
glide-py``, which needs Python 3.12. It refuses a machine that says one word within a part, so it
gets probabilities; where it refuses those, too, the machine's share stands. "scores" is ours with
the same probabilities, and with questions that are drawn by them. "held" of each is how many of its
intervals of 95 % hold. A package that is not installed has no figure.
"""

from __future__ import annotations

import contextlib
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks._draws import block, means
from benchmarks.machines import NEEDS as NEEDS
from benchmarks.machines import SETS, Array, against, holding, off, ours, world

CELLS = {"set": SETS, "machine": ("model", "10%")}
QUICK, N_DRAWS = {"set": ("digits",), "machine": ("model",)}, 20


def ppi_python(true: Array, items: Array, said: Array) -> Any:
    """Return a frequency and its interval; each stratum has as many answers as it has pairs."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    f, q = said[items], (said > 0.5).mean()
    if len(f) < 2 or f.std() == 0:
        return None
    w = np.where(f > 0.5, q / max((f > 0.5).sum(), 1), (1 - q) / max((f <= 0.5).sum(), 1))
    value = np.ravel(ppi_mean_pointestimate(true, f, said, w=w))[0]
    return value, np.ravel(ppi_mean_ci(true, f, said, alpha=0.05, w=w))


def glide(true: Array, items: Array, said: Array) -> Any:
    """Return a frequency and its interval, by strata of the machine's yes and no."""
    from glide.estimators import StratifiedPPIMeanEstimator

    known = np.full(len(said), np.nan)
    known[items] = true
    with contextlib.suppress(ValueError):
        found = StratifiedPPIMeanEstimator().estimate(known, said, (said > 0.5).astype(int))
        of = found.confidence_interval
        return of.mean, (of.lower_bound, of.upper_bound)


def by_label(estimate: Any, answers: Any, machine: Array) -> tuple[Array, Array]:
    """Return frequencies and intervals; the machine's share where there is no estimate."""
    told, machine = answers.statements(), machine.astype(float)
    values, ends = machine.mean(axis=0), np.tile([0.0, 1.0], (machine.shape[1], 1))
    for k, said in enumerate(machine.T):
        at = told.label == k
        found = estimate(told.applies[at].astype(float), told.item[at], said)
        values[k], ends[k] = found or (values[k], ends[k])
    return np.clip(values, 0, 1), np.clip(ends, 0, 1)


@means
def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Yield the error of each package and of ours, and how many intervals hold."""
    Y, p, said = world(cell["set"], cell["machine"], data)
    truth = Y.mean(axis=0)
    for each in block(draw, N_DRAWS):
        answers = against(Y, said, (200,), each)
        found = {"ours": ours(answers, said), "scores": ours(against(Y, p, (200,), each), p)}
        if find_spec("ppi_py"):
            found["ppi_python"] = by_label(ppi_python, answers, said)
        if find_spec("glide"):
            found["glide"] = by_label(glide, answers, p)
        held = {f"{name}_held": holding(ends, truth).mean() for name, (_, ends) in found.items()}
        yield {}, {name: off(values, truth) for name, (values, _) in found.items()} | held
