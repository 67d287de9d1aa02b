"""How much does a figure vary between draws of complementary labels, and how were some chosen?

Cells with a method have its average precision over ten folds on the labels that the paper's group
released (uniform), and over ten simulated draws with the same folds. Cells with a scheme fit the
formula of a biased draw to released labels: its sharpness with a standard error, p-values of the
sharpness 0, 1 and 4 and of the formula, and by how many nats the choices are likelier than uniform
ones under the formula, and under exp(-s · mean phi with relevant labels) with the best s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from research.sharpness import estimate_sharpness
from scipy.special import log_softmax

from benchmarks._draws import block
from complabel.experiments.datasets import load_dataset, load_released
from complabel.experiments.studies import Row, run_fold
from complabel.simulate import draw_complementary

NEEDS, FOLDS, N_DRAWS = ("scene", "yeast"), 10, 10
CELLS = [{"set": s, "of": m} for s in NEEDS for m in ("ridge", "mlcl", "l-uw", "comrank", "prior")]
CELLS += [{"set": s, "of": scheme} for s in NEEDS for scheme in ("uniform", "biased")]
QUICK = {"of": ("prior", "uniform", "biased")}


def measure(*, draw: int, data: Any, **cell: str) -> dict[str, float]:
    """Return figures of a method, or of a scheme."""
    dataset, of = load_dataset(cell["set"], data_dir=data), cell["of"]
    if of in ("uniform", "biased"):
        return choice(dataset, load_released(dataset, scheme=of, data_dir=data))

    def precision(labels: Any) -> float:
        how: Any = {"folds": FOLDS, "seed": draw}
        found = [run_fold(dataset, labels, Row(method=of), fold=f, **how) for f in range(FOLDS)]
        return float(np.mean([outcome.metrics["average_precision"] for outcome in found]))

    released = precision(load_released(dataset, data_dir=data))
    draws = (draw_complementary(dataset.Y, random_state=s) for s in block(draw, N_DRAWS))
    made = np.array([precision(labels) for labels in draws])
    return {
        "released": released,
        "simulated": made.mean(),
        "lowest": made.min(),
        "highest": made.max(),
        "as_low": int((made <= released).sum()),
    }


def choice(dataset: Any, released: Any) -> dict[str, float]:
    """Return how sharply labels were chosen, and what speaks for the formula."""
    tests = {s: estimate_sharpness(dataset.Y, released, against=s) for s in (0, 1, 4)}
    found, Y = tests[0], dataset.Y.astype(float)
    phi = Y @ np.corrcoef(Y.T) / Y.sum(axis=1, keepdims=True)  # (n, K), mean over relevant labels
    log_weights = (np.where(Y == 0, -s * phi, -np.inf) for s in (0, 1, 3, 5, 7))
    likelihoods = [log_softmax(each, axis=1)[released == 1].sum() for each in log_weights]
    low, high = found.interval()
    return {
        "sharpness": found.sharpness,
        "error": found.standard_error,
        "low": low,
        "high": high,
        **{f"p_{s}": test.p_value for s, test in tests.items()},
        "p_formula": found.fit_p_value,
        "formula_gain": found.likelihood_ratio / 2,
        "phi_gain": max(likelihoods) - likelihoods[0],
    }
