"""What a model learns from a machine's labels and from people's answers beside them.

The machine is a classifier that learned from the true labels of a few items, as in
``machines.py``. It answers about all other items with 0 and 1. A third of these items are kept for
the test. People who do not err answer some yes/no questions about the rest, half of them where the
machine says yes. Printed is the average precision of labels of each item, on the test items:

- people: a fit to people's answers alone.
- machine: a fit to the machine's answers, as if they were true.
- auto: a fit to all answers, with rates of mistakes that are found (``missed="auto"``), which the
  documentation advised until November 2026.
- ridge: regression on the machine's labels, with people's answers in their place where there are
  some; the penalty is chosen by generalized cross-validation.
- ours: ``fit_beside_machine``, with the weight that it found, and the seconds of processor time.

A cell is behind if ours is more than .005 below the better of people and machine, and ahead if it
is .01 above both.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks._sets import items_of
from benchmarks.machines import SHARES, against
from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier, fit_beside_machine

Array: TypeAlias = Any
_MORE = 1.15  # models say too many labels
METHODS = ("people", "machine", "auto", "ridge", "ours")


def world(name: str, data: str, share: float, draw: int, most: int) -> tuple[Array, ...]:
    """Return features, labels and the machine's answers of the items, and of the test items."""
    X, Y = items_of(name, data)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    order = np.random.default_rng([draw, 7]).permutation(len(Y))[:most]
    few, rest = np.split(order, [max(30, int(share * len(order)))])
    test, train = np.split(rest, [len(rest) // 3])
    several = (Y[few].sum(axis=0) > 0) & (Y[few].sum(axis=0) < len(few))
    p = np.tile((Y[few].sum(axis=0) + 0.5) / (len(few) + 1), (len(train), 1))
    linear = OneVsRestClassifier(LogisticRegression(C=1.0, max_iter=300))
    p[:, several] = linear.fit(X[few], Y[few][:, several]).predict_proba(X[train])
    wanted = int(_MORE * Y[few].sum() / len(few) * len(train))
    cut = np.partition(p.ravel(), p.size - wanted)[p.size - wanted]
    return X[train], Y[train], (p >= cut).astype(np.uint8), X[test], Y[test]


def _named(answers: Answers, name: str) -> Answers:
    return Answers.from_arrays(
        relevant=answers.relevant,
        absent=answers.absent,
        question="asked",
        item=answers.item,
        n_items=answers.n_items,
        annotator=[name] * answers.n_answers,
    )


def cell(name: str, data: str, share: float, n: int, draw: int, most: int) -> dict[str, float]:
    """Return the average precision of each method in one draw."""
    warnings.simplefilter("ignore")
    X, Y, said, X_test, Y_test = world(name, data, share, draw, most)
    people = _named(against(Y, said, n, draw), "people")
    machine = _named(
        Answers.from_arrays(relevant=said, absent=1 - said, question="asked"), "machine"
    )
    learner = SelectionLikelihoodClassifier(random_state=0)
    found = {}

    def score(key: str, decision: Array) -> None:
        found[key] = float(label_ranking_average_precision_score(Y_test, decision))

    score("people", learner.fit(X, people).decision_function(X_test))
    score("machine", learner.fit(X, machine).decision_function(X_test))
    auto = SelectionLikelihoodClassifier(missed="auto", invented="auto", random_state=0)
    both = Answers.concatenate([people, machine])
    score("auto", auto.fit(X, both).decision_function(X_test))
    targets, of_people = said.astype(float), people.statements()
    targets[of_people.item, of_people.label] = of_people.applies
    scaler = StandardScaler().fit(X)
    ridge = RidgeCV(np.geomspace(1, 1e5, 21)).fit(scaler.transform(X), targets)
    score("ridge", ridge.predict(scaler.transform(X_test)))
    start = time.process_time()
    ours = fit_beside_machine(learner, X, people, said)
    found["seconds"] = time.process_time() - start
    score("ours", ours.classifier.decision_function(X_test))
    found["weight"] = ours.weight
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with the files of the datasets")
    parser.add_argument(
        "--datasets", nargs="+", default=["scene", "yeast", "digits", "corel5k:15", "delicious:15"]
    )
    parser.add_argument("--shares", nargs="+", type=float, default=[*SHARES])
    parser.add_argument("--answers", nargs="+", type=int, default=[200, 1000])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first-draw", type=int, default=0)
    parser.add_argument("--most-items", type=int, default=4000, help="of each dataset, at random")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    print(f"| labels | machine of | answers | {' | '.join(METHODS)} | weights | s |")
    print("|---" * (5 + len(METHODS)) + "|")
    cells = itertools.product(given.datasets, given.shares, given.answers)
    draws = range(given.first_draw, given.first_draw + given.draws)
    tasks = [(*each, draw) for each in cells for draw in draws]
    results = Parallel(n_jobs=given.jobs, return_as="generator")(
        delayed(cell)(name, given.data, share, n, draw, given.most_items)
        for name, share, n, draw in tasks
    )
    found: list[dict[str, float]] = []
    margins = []
    for (name, share, n, draw), of_draw in zip(tasks, results, strict=True):
        found = [*found, of_draw] if draw > draws[0] else [of_draw]
        if draw == draws[-1]:
            means = [np.mean([each[key] for each in found]) for key in METHODS]
            of = dict(zip(METHODS, means, strict=True))
            margins.append(of["ours"] - max(of["people"], of["machine"]))
            weights = ", ".join(f"{each['weight']:.2g}" for each in found)
            seconds = np.mean([each["seconds"] for each in found])
            row = " | ".join(f"{mean:.3f}" for mean in means)
            print(
                f"| {name} | {100 * share:g} % | {n} | {row} | {weights} | {seconds:.0f} |",
                flush=True,
            )
    behind, ahead = (np.array(margins) < -0.005).sum(), (np.array(margins) >= 0.01).sum()
    print(f"{len(margins)} cells: {behind} behind, {ahead} ahead; least margin {min(margins):+.3f}")


if __name__ == "__main__":
    main()
