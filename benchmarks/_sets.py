"""Data sets, simulated machines and answers that several benchmarks share."""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import maxabs_scale, scale

from complabel.answers import Answers
from complabel.datasets import make_digits, make_synthetic
from complabel.experiments.datasets import load_dataset

Array: TypeAlias = Any
_MORE = 1.15  # models say too many labels


def dense(values: Any) -> Array:
    """Return an array that may have been sparse."""
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def items_of(name: str, data: str) -> tuple[Any, Array]:
    """Return features and labels; digits have five labels of each digit's properties."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        of_digit = [y % 2 == 1, y < 5, np.isin(y, (2, 3, 5, 7)), np.isin(y, (0, 6, 8, 9))]
        return X / 16.0, np.stack([*of_digit, y % 3 == 0], axis=1).astype(np.uint8)
    name, _, n_labels = name.partition(":")
    loaded: Any = load_dataset(name, data_dir=data, preprocessed=int(n_labels or 15) <= 15)
    Y = dense(loaded.Y).astype(np.uint8)
    if n_labels:
        Y = Y[:, np.argsort(-Y.sum(axis=0), kind="stable")[: int(n_labels)]]
    return loaded.X, Y


def of_set(name: str, data_dir: str | None) -> tuple[Any, Any]:
    """Return features and labels of the items to which some label applies."""
    if name == "digits":
        made = make_digits(3000)
    elif name == "made":
        made = make_synthetic(3000, n_features=40, n_labels=10, signal=3.0, random_state=0)
    X, Y = (made.X, made.Y) if name in ("digits", "made") else items_of(name, str(data_dir))
    some = np.flatnonzero(Y.any(axis=1))
    return (X.tocsr() if sparse.issparse(X) else X)[some], Y[some].astype(np.uint8)


def machine_of(name: str, data: str, share: float, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return true labels, probabilities and 0/1 answers (n, K) of the items it did not learn."""
    X, Y = items_of(name, data)
    order = np.random.default_rng([seed, 7]).permutation(len(Y))
    few, rest = np.split(order, [max(30, int(share * len(Y)))])
    return (Y[rest], *learned_from(X, Y, few, rest, seed=seed))


def learned_from(
    X: Any, Y: Array, few: Array, rest: Array, *, C: float = 1.0, seed: int = 0
) -> tuple[Array, Array]:
    """Return probabilities and 0/1 answers (n, K) of a classifier of a few items about others."""
    several = (Y[few].sum(axis=0) > 0) & (Y[few].sum(axis=0) < len(few))
    p = np.tile((Y[few].sum(axis=0) + 0.5) / (len(few) + 1), (len(rest), 1))
    if Y.shape[1] <= 30:
        linear = OneVsRestClassifier(LogisticRegression(C=C, max_iter=300))
        p[:, several] = linear.fit(X[few], Y[few][:, several]).predict_proba(X[rest])
    else:
        trees = ExtraTreesClassifier(60, min_samples_leaf=2, n_jobs=2, random_state=seed)
        X = dense(X)
        found = trees.fit(X[few], Y[few][:, several]).predict_proba(X[rest])
        p[:, several] = np.stack([each[:, 1] for each in found], axis=1)
    wanted = int(min(_MORE * Y[few].sum() / len(few) * len(rest), p.size - 1))
    cut = np.partition(p.ravel(), p.size - wanted)[p.size - wanted]
    return p, (p >= cut).astype(np.uint8)


def model_of(name: str, data: str, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return what ``machine_of`` does, of a machine that errs as often as a language model.

    It misses about .048 of what applies to each label, and of its yes .86 apply; for a tenth of the
    labels .4 (what an open model answered about 5,000 pictures and 20 labels). A classifier says
    which pairs look alike, so the mistakes depend on the item.
    """
    X, Y = items_of(name, data)
    X, rng = dense(X), np.random.default_rng([seed, 11])
    few = rng.permutation(len(Y))[: max(300, len(Y) // 5)]
    several = (Y[few].sum(axis=0) > 0) & (Y[few].sum(axis=0) < len(few))
    z = np.zeros(Y.shape)
    linear = OneVsRestClassifier(LogisticRegression(C=0.01, max_iter=100))
    p = linear.fit(X[few], Y[few][:, several]).predict_proba(X)
    z[:, several] = np.log(p / (1 - p))
    z = (z - z.mean(axis=0)) / np.maximum(z.std(axis=0), 1e-9) + rng.normal(size=z.shape)
    missed = rng.beta(2, 40, Y.shape[1])
    precision = 1 / (1 + np.exp(-(1.8 + 0.4 * rng.normal(size=Y.shape[1]))))
    precision[rng.choice(Y.shape[1], -(-Y.shape[1] // 10), replace=False)] = 0.4
    sure = np.zeros(Y.shape)
    for k in range(Y.shape[1]):
        yes, no = np.flatnonzero(Y[:, k]), np.flatnonzero(Y[:, k] == 0)
        n_right = round((1 - missed[k]) * len(yes))
        n_wrong = min(round(n_right * (1 / precision[k] - 1)), len(no) // 2)
        for items, n_said in ((yes, n_right), (no, n_wrong)):
            cut = np.sort(z[items, k])[::-1][n_said - 1] if n_said else np.inf
            sure[items, k] = z[items, k] - cut + 1e-9 if n_said else z[items, k] - z[items, k].max()
    return Y, 1 / (1 + np.exp(-2 * sure)), (sure > 0).astype(np.uint8)


def answers_to(Y: Array, items: Array, labels: Array, probability: Any = None) -> Answers:
    """Return what a person says about these pairs who does not err."""
    asked = np.zeros((len(items), Y.shape[1]), dtype=np.uint8)
    asked[np.arange(len(items)), labels] = 1
    said = {"relevant": asked * Y[items], "absent": asked * (1 - Y[items])}
    drawn = {"question": "asked", "probability": probability}
    return Answers.from_arrays(**said, **drawn, item=items, n_items=len(Y))


def randomly(Y: Array, n: int, draw: int) -> Answers:
    """Ask about n random pairs."""
    at = np.random.default_rng([draw, 1]).permutation(Y.size)[:n]
    items, labels = np.divmod(at, Y.shape[1])
    return answers_to(Y, items, labels, 1 / Y.shape[1])


def read_tab(path: Path) -> tuple[list[str], list[str]]:
    """Return the classes and the texts of a file of Orange, cut to 60 words."""
    rows = [line.split("\t", 1) for line in path.read_text("utf-8").split("\n")[3:]]
    found = [(row[0], " ".join(row[1].split()[:60])) for row in rows if len(row) == 2]
    return [name for name, _ in found], [text for _, text in found]


def labels_of(classes: list[str], names: list[str]) -> np.ndarray:
    """Return which labels apply (n, K): the class, and what is before its first dot."""
    rows = [[name in (each, each.split(".")[0]) for name in names] for each in classes]
    return np.array(rows, dtype=np.uint8)


def in_few_columns(X: object, Z: object) -> tuple[object, object]:
    """Return dense rows with the same inner products, so that wide sparse ones take no hours.

    Ridge regression and kernels see nothing else of them.
    """
    if not sparse.issparse(X) or X.shape[1] <= X.shape[0]:
        return X, Z
    values, vectors = np.linalg.eigh((X @ X.T).toarray().astype(np.float64))
    kept = values > 1e-9 * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    return vectors * np.sqrt(values), (Z @ X.T).toarray() @ (vectors / np.sqrt(values))


def scalings(X: Any) -> list[Any]:
    """Return features by standard deviations, centred if they are dense, and by largest values."""
    return [scale(X, with_mean=not sparse.issparse(X)), maxabs_scale(X)]
