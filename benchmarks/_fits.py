"""Made data, and functions in processes of their own, for benchmarks of fits."""

import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.feature_extraction.text import TfidfTransformer

_CHUNK_ROWS, _FACTORS, _RANK = 20_000, 64, 16
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def timed(function: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what a call returns, its seconds by the clock, and of the processor."""
    clock, processor = time.perf_counter(), processor_seconds()
    found = function()
    return found, time.perf_counter() - clock, processor_seconds() - processor


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def alone(function: Callable[..., Any], *, threads: int = 1, **given: Any) -> Any:
    """Call a function in a new process; return its figures, and ``peak_gb``, its peak memory."""
    with (
        patch.dict(os.environ, dict.fromkeys(_THREADS, str(threads))),
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
    ):
        return pool.submit(_called, function, given).result()


def _called(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Call a function, and add the peak memory of this process."""
    warnings.simplefilter("ignore")
    found = function(**given)
    return {**found, "peak_gb": memory("VmHWM")} if isinstance(found, dict) else found


def memory(name: str, process: int | str = "self") -> float:
    """Return a figure of a process's memory in GB, as Linux tells it."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024 / 1e9
    return float("nan")


def draw_text(
    n: int,
    n_words: int,
    n_labels: int,
    *,
    cardinality: float = 1.8,
    power: float = 0.5,
    strength: float = 1.5,
    seed: int = 0,
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return word counts of a log-linear model as tf-idf in rows of length 1, and their labels.

    Words have frequencies after Zipf. Each label makes a random tenth of the words more or less
    frequent, by factors exp(strength z) with z standard normal; those of a text's labels multiply.
    A text has 1 + Poisson(cardinality - 1) labels, labels with frequencies like rank^-power, and
    log-normal length around 70.
    """
    rng = np.random.default_rng(seed)
    base = -np.log(np.arange(1, n_words + 1) + 10.0)
    effects = strength * rng.standard_normal((n_labels, n_words))
    effects *= rng.random((n_labels, n_words)) < 0.1
    order = -power * np.log(np.arange(1, n_labels + 1)) + rng.gumbel(size=(n, n_labels))
    count = np.minimum(1 + rng.poisson(cardinality - 1, size=n), n_labels - 1)
    Y = (np.argsort(np.argsort(-order, axis=1), axis=1) < count[:, None]).astype(np.uint8)
    rate = np.exp(base + Y @ effects)  # (n, n_words)
    rate /= rate.sum(axis=1, keepdims=True)
    length = np.exp(np.log(70) + 0.5 * rng.standard_normal(n))
    counts = sparse.csr_array(rng.poisson(rate * length[:, None]))
    return sparse.csr_array(TfidfTransformer().fit_transform(counts)), Y


def wide_rows(n: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Return 5,000 features, of which a random 5 % are not 0, and a named label of 15 for each row.

    They are made in little more memory than they take: one column from each of 250 equal ranges.
    """
    rng = np.random.default_rng(0)
    columns = rng.integers(20, size=(n, 250), dtype=np.int32) + np.arange(
        0, 5000, 20, dtype=np.int32
    )
    starts = np.arange(0, columns.size + 1, 250, dtype=np.int32)
    values = rng.random(columns.size, dtype=np.float32)
    X = sparse.csr_array((values, columns.ravel(), starts), shape=(n, 5000))
    return X, np.eye(15, dtype=np.uint8)[rng.integers(15, size=n)]


def embeddings(n: int, d: int, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield correlated features in single precision and labels, some thousand rows at a time.

    Features are a random mixture of 64 Gaussian factors, factor i with standard deviation
    1 / sqrt(i), and noise of .05. Logits are a linear map of all factors at unit variance, of rank
    16, with standard deviation 2.5, and a normal bias; a shift brings the mean number of labels to
    3. A row without any label gets its most probable one, one with all loses its least probable.
    """
    rng, shift = np.random.default_rng(0), None
    mixture = rng.standard_normal((_FACTORS, d)) / np.sqrt(np.arange(1, _FACTORS + 1))[:, None]
    mapping = rng.standard_normal((_FACTORS, _RANK)) @ rng.standard_normal((_RANK, k))
    mapping *= 2.5 / np.linalg.norm(mapping, axis=0)
    bias = rng.standard_normal(k)
    for start in range(0, n, _CHUNK_ROWS):
        factors = rng.standard_normal((min(_CHUNK_ROWS, n - start), _FACTORS))
        noise = rng.standard_normal((len(factors), d), dtype=np.float32)
        logits = factors @ mapping + bias
        if shift is None:
            shift = brentq(lambda s, z=logits: expit(z + s).sum(axis=1).mean() - 3.0, -60, 60)
        chance = expit(logits + shift)
        labels = (rng.random(chance.shape) < chance).astype(np.uint8)
        empty, full = (np.flatnonzero(labels.sum(axis=1) == m) for m in (0, k))
        labels[empty, chance[empty].argmax(axis=1)] = 1
        labels[full, chance[full].argmin(axis=1)] = 0
        yield (factors @ mixture).astype(np.float32) + np.float32(0.05) * noise, labels
