"""Damaged files of models: :mod:`tests.fuzz.driver` says how to run it.

A find is also an exception of ``load`` that is no ModelFileError, or a model that is loaded and
does not predict what it did.
"""

from __future__ import annotations

import random
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import torch
from scipy import sparse
from tests.fuzz import driver, mutants
from tests.methods.small import COMPLEMENTARY, PROBLEM, brief

import complabel
from complabel.errors import ComplabelError, ModelFileError
from complabel.methods import FrequencyMatchedClassifier

N_ROWS = 30


def network(n_features: int, n_labels: int) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(n_features, 3), torch.nn.Linear(3, n_labels))


@cache
def sound() -> dict[bytes, np.ndarray]:
    """Return files of small fitted models with parts of all kinds, and what the models predict."""
    X, y = PROBLEM.X[:N_ROWS], COMPLEMENTARY[:N_ROWS]
    models = (
        brief("prior").fit(X, y),
        brief("ml-knn").fit(sparse.csr_array(X), y),
        brief("mlcl", network=network, random_state=np.random.default_rng(0)).fit(X, y),
        brief("selection-likelihood").fit(X, y),
        FrequencyMatchedClassifier(brief("ridge"), [0.2] * 4, cv=None).fit(X, y),
    )
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            path = Path(folder, "m")
            model.save(path, provenance={"date": "2026-11-01"})
            found[path.read_bytes()] = model.predict_proba(PROBLEM.X)
    return found


def make_mutant(seed: int, index: int) -> tuple[np.ndarray, mutants.Files]:
    """Make the file of one mutant; the same for the same seed and index."""
    rng = random.Random(f"{seed}:{index}")
    content, predicted = rng.choice(list(sound().items()))
    for _ in range(rng.choice((1, 1, 2, 3))):
        content = rng.choice(BYTES)(rng, content)
    return predicted, {"m": content}


BYTES = (
    *(mutants.flip, mutants.flip, mutants.insert, mutants.delete, mutants.duplicate),
    *(mutants.truncate, mutants.token, mutants.swap, mutants.digits),
)


def use(predicted: np.ndarray, folder: Path) -> str:
    """Load a file; what is loaded says what was saved."""
    try:
        model = complabel.load(folder / "m")
    except ModelFileError:
        raise
    except ComplabelError as refusal:
        raise AssertionError("the refusal is no ModelFileError") from refusal
    assert np.array_equal(model.predict_proba(PROBLEM.X), predicted)
    return "read"


TARGET = driver.Target(__doc__, make_mutant, use, sound, faulty=())

if __name__ == "__main__":
    sys.exit(driver.main(TARGET, None))
