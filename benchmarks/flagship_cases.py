"""The data that the flagship is timed on: writes those of one case to a folder.

The rows to fit come first in X, those that are held out after them. All is written by the package
of the working tree and read as arrays, so that older commits get the same bits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.feature_extraction.text import TfidfTransformer

from complabel.datasets import MultiLabelDataset, make_digits, make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.experiments.studies._fold import fold_seed
from complabel.simulate import draw_answers, draw_complementary

_CHUNK_ROWS = 20_000


@dataclass(frozen=True)
class Case:
    """Rows to fit and rows held out, the labels of each, and settings of the classifier.

    ``X`` is None where the features are in the folder already, and to be mapped from their file.
    """

    X: Any
    y: Any
    Y: NDArray[np.uint8]
    n_train: int
    settings: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> dict[str, Any]:
        """Write all to a folder, and return shape and digest."""
        if isinstance(self.X, sparse.csr_array):
            sparse.save_npz(folder / "X.npz", self.X, compressed=False)
        elif self.X is not None:
            np.save(folder / "X.npy", self.X)
        rest = {
            "n_train": self.n_train,
            "settings": {"random_state": 0} | self.settings,
            "mapped": self.X is None,
            "y_train": self.y[: self.n_train],
            "y_test": self.y[self.n_train :],
            "Y_train": self.Y[: self.n_train],
            "Y_test": self.Y[self.n_train :],
        }
        with (folder / "rest.pkl").open("wb") as file:
            pickle.dump(rest, file)
        return {"shape": (self.n_train, *self._columns(folder)), "digest": self._digest()}

    def _columns(self, folder: Path) -> tuple[int, int]:
        """Return the numbers of features and labels."""
        X = np.load(folder / "X.npy", mmap_mode="r") if self.X is None else self.X
        return X.shape[1], self.Y.shape[1]

    def _digest(self) -> str:
        """Return a digest of what is in memory."""
        parts = [part for part in (self.X,) if part is not None]
        if isinstance(self.X, sparse.csr_array):
            parts = [self.X.data, self.X.indices]
        digest = hashlib.sha256(json.dumps([self.n_train, self.settings]).encode())
        y = self.y if isinstance(self.y, np.ndarray) else np.frombuffer(pickle.dumps(self.y), "u1")
        for part in [*parts, y, self.Y]:
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Sizes:
    """Where data are, and sizes that are asked for."""

    folder: Path
    data_dir: str | None
    n: int | None
    d: int | None
    k: int | None


def of_fold(
    dataset: MultiLabelDataset, y: Any, folds: int = 3, fold: int = 0, **settings: Any
) -> Case:
    """Return a fold of a dataset."""
    train, test = split_folds(dataset, n_folds=folds, seed=0)[fold]
    rows = np.concatenate([train, test])
    X: Any = dataset.X
    return Case(X[rows], y[rows], dataset.Y[rows], len(train), settings)


def numbered(case: str) -> Callable[[Sizes], Case]:
    """Return what makes a fold with its seed, such as "scene/3", or the draw "digits/3"."""
    name, _, number = case.partition("/")
    fold = int(number)

    def make(sizes: Sizes) -> Case:
        if name == "digits":
            dataset = make_digits(5000, random_state=fold)
            y: Any = draw_complementary(dataset.Y, random_state=fold)
            return of_fold(dataset, y, folds=5, random_state=fold)
        dataset = load_dataset(name, data_dir=sizes.data_dir)
        seed = fold_seed(0, fold)
        if name == "mirflickr":
            return of_fold(dataset, dataset.excluded, folds=5, fold=fold, random_state=seed)
        y = draw_complementary(dataset.Y, random_state=0)
        return of_fold(dataset, y, folds=10, fold=fold, random_state=seed)

    return make


def named(name: str) -> Callable[[Sizes], Case]:
    """Return what makes a benchmark dataset with one label named per row, drawn uniformly."""

    def make(sizes: Sizes) -> Case:
        dataset = load_dataset(name, data_dir=sizes.data_dir)
        return of_fold(dataset, draw_complementary(dataset.Y, random_state=0))

    return make


def mirflickr(sizes: Sizes) -> Case:
    """Return the exclusions of mirflickr as complementary labels: all rows have one to six of 7."""
    dataset = load_dataset("mirflickr", data_dir=sizes.data_dir)
    return of_fold(dataset, dataset.excluded, folds=5)


def digits(**settings: Any) -> Callable[[Sizes], Case]:
    """Return what makes 5,000 canvases of digits, of which 4,000 are fitted to."""

    def make(_: Sizes) -> Case:
        dataset = make_digits(5000, random_state=0)
        y = draw_complementary(dataset.Y, random_state=0)
        return of_fold(dataset, y, folds=5, **settings)

    return make


def small(_: Sizes) -> Case:
    """Return 200 rows of 8 Gaussian features to fit to, 4 labels, and 1,000 that are held out."""
    dataset = make_synthetic(1200, n_features=8, n_labels=4, random_state=0)
    return Case(dataset.X, draw_complementary(dataset.Y, random_state=0), dataset.Y, 200)


def draw_text(
    n: int,
    n_words: int,
    n_labels: int,
    *,
    cardinality: float = 1.8,
    power: float = 0.5,
    strength: float = 1.5,
    seed: int = 0,
) -> tuple[sparse.csr_array, NDArray[np.uint8]]:
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


def text(_: Sizes) -> Case:
    """Return texts of 20 labels and 1,836 words, of which 3,200 are fitted to."""
    X, Y = draw_text(4000, 1836, 20)
    return Case(X, draw_complementary(Y, random_state=0), Y, 3200)


@dataclass(frozen=True)
class Embeddings:
    """Embeddings whose features are correlated, and labels of a linear map of low rank.

    Features are a random mixture of 64 Gaussian factors, factor i with standard deviation
    1 / sqrt(i), and noise of .05. Logits are a linear map of all factors at unit variance, of rank
    16, with standard deviation 2.5, and a normal bias; a shift brings the mean number of labels to
    ``cardinality``. A row without any label gets its most probable one, one with all loses
    its least probable one.
    """

    d: int
    n_labels: int
    cardinality: float = 3.0

    def chunks(self, n: int, seed: int = 0) -> Iterator[tuple[NDArray[np.float32], Any]]:
        """Yield features and labels, some thousand rows at a time."""
        rng = np.random.default_rng(seed)
        mixture = rng.standard_normal((64, self.d)) / np.sqrt(np.arange(1, 65))[:, None]
        mapping = rng.standard_normal((64, 16)) @ rng.standard_normal((16, self.n_labels))
        mapping *= 2.5 / np.linalg.norm(mapping, axis=0)
        bias, shift = rng.standard_normal(self.n_labels), None
        for start in range(0, n, _CHUNK_ROWS):
            factors = rng.standard_normal((min(_CHUNK_ROWS, n - start), 64))
            noise = rng.standard_normal((len(factors), self.d), dtype=np.float32)
            logits = factors @ mapping + bias
            if shift is None:
                shift = self._shift(logits)
            chance = expit(logits + shift)
            labels = (rng.random(chance.shape) < chance).astype(np.uint8)
            empty, full = (np.flatnonzero(labels.sum(axis=1) == m) for m in (0, self.n_labels))
            labels[empty, chance[empty].argmax(axis=1)] = 1
            labels[full, chance[full].argmin(axis=1)] = 0
            yield (factors @ mixture).astype(np.float32) + 0.05 * noise, labels

    def _shift(self, logits: NDArray[np.float64]) -> float:
        """Return what to add to logits for the mean sum of probabilities to be the cardinality."""
        return float(
            brentq(lambda s: expit(logits + s).sum(axis=1).mean() - self.cardinality, -60, 60)
        )


def embeddings(
    n: int, d: int, k: int, *, held_out: int, **settings: Any
) -> Callable[[Sizes], Case]:
    """Return what makes embeddings as float32 in memory, with one label named per row."""

    def make(sizes: Sizes) -> Case:
        n_train, n_labels = sizes.n or n, sizes.k or k
        chunks = Embeddings(sizes.d or d, n_labels).chunks(n_train + held_out)
        X, Y = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
        return Case(X, draw_complementary(Y, random_state=0), Y, n_train, settings)

    return make


def mapped(question: str, n: int, d: int, k: int, **settings: Any) -> Callable[[Sizes], Case]:
    """Return what makes embeddings as float32 in a file that is not read to memory."""

    def make(sizes: Sizes) -> Case:
        n_train, width, n_labels = sizes.n or n, sizes.d or d, sizes.k or k
        rows = n_train + 10_000
        file = sizes.folder / "X.npy"
        X = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(rows, width))
        Y = np.empty((rows, n_labels), dtype=np.uint8)
        start = 0
        for features, labels in Embeddings(width, n_labels).chunks(rows):
            X[start : start + len(labels)], Y[start : start + len(labels)] = features, labels
            start += len(labels)
        X.flush()
        answers = draw_answers(Y, question=question, random_state=0)
        return Case(None, answers, Y, n_train, settings)

    return make


CASES: dict[str, Callable[[Sizes], Case]] = {
    "small": small,
    "scene": named("scene"),
    "yeast": named("yeast"),
    "delicious": named("delicious"),
    "corel5k": named("corel5k"),
    "mirflickr": mirflickr,
    "digits": digits(),
    "digits-linear": digits(kernel="linear"),
    "text": text,
    "corel16k": named("corel16k"),
    "embeddings": embeddings(22_000, 500, 15, held_out=5_000),
    "growth": embeddings(4_000, 100, 16, held_out=2_000, kernel="linear"),
    "large-free": mapped("free", 100_000, 768, 80),
    "large-asked": mapped("asked", 100_000, 768, 80),
    "million": mapped("free", 1_000_000, 256, 20, kernel="linear"),
}


def main() -> None:
    """Write a case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", help=f"{', '.join(CASES)}; or a fold, such as scene/3")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--answer", type=Path, required=True)
    parser.add_argument("--data-dir")
    for size in "ndk":
        parser.add_argument(f"--{size}", type=int)
    options = parser.parse_args()
    sizes = Sizes(options.folder, options.data_dir, options.n, options.d, options.k)
    make = CASES.get(options.case) or numbered(options.case)
    made = make(sizes).write(options.folder)
    options.answer.write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main()
