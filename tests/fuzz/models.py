"""Damaged files of models: :mod:`tests.fuzz.driver` says how to run it.

A third are files whose bytes are damaged; the others say something else and have digests that are
right. A find is also an exception of ``load`` that is no ModelFileError, or a model that is loaded
and then takes memory. What a forged model predicts is nobody's business, and it may refuse to.
"""

from __future__ import annotations

import copy
import random
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse
from tests.fuzz import driver, mutants
from tests.methods.saving.files import sealed, take_apart
from tests.methods.small import COMPLEMENTARY, PROBLEM, brief

import complabel
from complabel.answers import Answers
from complabel.errors import ComplabelError, ModelFileError
from complabel.experiments.methods import ComplementaryLossClassifier
from complabel.losses import MLCLLoss
from complabel.methods import METHODS, FrequencyMatchedClassifier, SelectionLikelihoodClassifier

N_ROWS = 30
ODD = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 10**6, 2**31, 2**63, 2**64, 10**30, 0.5, -0.5, 1e308),
    *(-1e308, 1e-320, "", "auto", "linear", "rbf", "libsvm", "prior", "ml-knn", "x" * 5000),
    *("\ud800", "os:system", "state.coef_", "cuda", "cuda:99", "meta", "Linear", "$array", [], {}),
    *([[]], [0], [None], ["a", "a"], {"$float": "nan"}, {"$float": "inf"}, {"$float": 3}),
    *({"$tuple": [1, -1]}, {"$tuple": {"a": 1}}, {"$array": "state.coef_"}, {"$array": 3}),
    *({"$array": ["a"]}, {"$by_columns": "state.coef_"}, {"$texts": ["a", "b", "c", "d"]}),
    *({"$texts": 5}, {"$texts": "abcd"}, {"$objects": [None, 1, "a", 0.5]}, {"$objects": [[]]}),
    *({"$masked": {}}, {"$csr": {}}, {"$csr": []}, {"$generator": {}}, {"$generator": 3}),
    {"$x": 1},
    {"$generator": {"state": 2**128, "inc": 1, "has_uint32": 0, "uinteger": 0}},
    {"$generator": {"state": 5, "inc": 4, "has_uint32": 1, "uinteger": 7}},
    {"$masked": {"data": {"$texts": ["a"]}, "mask": {"$texts": ["a"]}}},
    {"kind": "linear", "of": None},
    {"method": "prior", "parameters": {}},
)


def network(n_features: int, n_labels: int) -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Linear(n_features, 3),
        torch.nn.BatchNorm1d(3),
        torch.nn.LayerNorm(3),
        torch.nn.GELU(),
        torch.nn.Linear(3, n_labels),
    )


def models() -> list[Any]:
    """Return small fitted models of every class, whose files have every kind of part."""
    X, y = PROBLEM.X[:N_ROWS], COMPLEMENTARY[:N_ROWS]
    frequencies = PROBLEM.Y.mean(axis=0)
    fitted = [
        brief(name).fit(X, PROBLEM.Y[:N_ROWS] if METHODS[name].learns_from == "relevant" else y)
        for name in METHODS
    ]
    people = Answers.from_arrays(
        absent=y, question="asked", offered=y, annotator=np.array(["a", "b"])[np.arange(N_ROWS) % 2]
    )
    likelihood = {"kernel": "linear", "random_state": 0}
    return [
        *fitted,
        brief("ml-knn").fit(sparse.csr_array(X), y),
        brief("ml-knn", n_neighbors=3).fit(np.asfortranarray(X), y),
        brief("mlcl", network=network, random_state=np.random.default_rng(0)).fit(X, y),
        brief("mlcl", transition=np.full((4, 4), 1 / 3) - np.eye(4) / 3).fit(X, y),
        brief("selection-likelihood").fit(sparse.csr_array(X), y),
        SelectionLikelihoodClassifier(cv=2, **likelihood).fit(X, y),
        SelectionLikelihoodClassifier(scaling="rows", alpha=0.1, cardinality=1.5, **likelihood).fit(
            X, y
        ),
        SelectionLikelihoodClassifier(
            error_rate="per-annotator", label_frequencies=None, alpha=0.1, cv=2, **likelihood
        ).fit(X, people),
        ComplementaryLossClassifier(loss=MLCLLoss((1 - torch.eye(4)) / 3), epochs=2).fit(X, y),
        *(
            FrequencyMatchedClassifier(brief(name), frequencies, cv=None).fit(X, y)
            for name in ("ridge", "lift")
        ),
    ]


@cache
def sound() -> list[tuple[bytes, Any, Any]]:
    """Return the files, and their headers and arrays."""
    found = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models():
            path = Path(folder, "m")
            model.save(path, provenance={"date": "2026-11-01"})
            found.append((path.read_bytes(), *take_apart(path)))
    return found


def make_mutant(seed: int, index: int) -> tuple[None, mutants.Files]:
    """Make the file of one mutant; the same for the same seed and index."""
    rng = random.Random(f"{seed}:{index}")
    content, header, arrays = rng.choice(sound())
    if rng.random() < 1 / 3:
        for _ in range(rng.choice((1, 1, 2, 3))):
            content = rng.choice(BYTES)(rng, content)
        return None, {"m": content}
    header, arrays = copy.deepcopy(header), dict(arrays)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if header and rng.random() < 0.75:
            header = mutants.change(rng, header, ODD, rng.choice(sound())[1])
        else:
            change_array(rng, arrays)
    return None, {"m": sealed(header, arrays)}


BYTES = (
    *(mutants.flip, mutants.flip, mutants.insert, mutants.delete, mutants.duplicate),
    *(mutants.truncate, mutants.token, mutants.swap, mutants.digits),
)


def change_array(rng: random.Random, arrays: dict[str, np.ndarray]) -> None:
    """Give some array another shape, type or content, or drop, add or exchange one."""
    name, other = rng.choice([*arrays, "extra"]), rng.choice([*arrays, "state.coef_"])
    array = arrays.pop(name, np.zeros(3))
    if (way := rng.choice(ARRAYS)) is not None:
        with np.errstate(all="ignore"):
            arrays[other if rng.random() < 0.2 else name] = way(array, rng)


def with_an_odd_number(array: np.ndarray, rng: random.Random) -> np.ndarray:
    array = array.copy()
    odd = rng.choice((0, 1, -1, 255, 10**6, np.nan, np.inf, -1e308, 1e-320))
    if array.size:
        array.reshape(-1)[rng.randrange(array.size)] = np.array(odd).astype(array.dtype)
    return array


ARRAYS = (
    None,
    lambda array, rng: array,
    lambda array, rng: array.astype(rng.choice(("f8", "f4", "f2", "i8", "i4", "u1", "u8", "?"))),
    lambda array, rng: array.reshape(-1),
    lambda array, rng: array[..., None],
    lambda array, rng: array.T,
    lambda array, rng: array[: rng.randrange(3)] if array.ndim else array,
    lambda array, rng: np.repeat(array, rng.choice((0, 2)), axis=-1) if array.ndim else array,
    *[with_an_odd_number] * 3,
)


def use(_: None, folder: Path) -> str:
    """Load a file and use what is loaded."""
    path = folder / "m"
    try:
        model = complabel.load(path)
    except ModelFileError:
        raise
    except ComplabelError as refusal:
        raise AssertionError("the refusal is no ModelFileError") from refusal
    # A method without weights may hold any number of features; it refuses X of another width.
    X = np.random.default_rng(1).normal(size=(3, min(model.n_features_in_, 10_000)))
    with np.errstate(all="ignore"):
        for rows in (X, sparse.csr_array(X), X.astype(np.float32)):
            try:
                repr(model)
                model.predict(rows)
            except MemoryError:
                raise
            except Exception:
                return "read but refuses the features"
    return "read"


TARGET = driver.Target(__doc__, make_mutant, use, sound, faulty=())

if __name__ == "__main__":
    sys.exit(driver.main(TARGET, None))
