"""Whether questions that promise information teach a classifier more than random ones.

A linear model learns from 200 yes/no answers about random labels of random items, and, with
--named, from one label named per item. It is asked as many questions again, drawn in several ways,
and learns from all answers. Printed is the average precision on a test third, and its difference to
random questions with its standard error over the repeats.

- doubts: chances in proportion to sqrt(p (1 - p)).
- information: one question after the other, the one whose answer is expected to narrow down the
  weights of its label most, p (1 - p) x' H^-1 x, with H as it is after the questions before.
- half: half of them random, half by information.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from complabel import metrics
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers

Array = NDArray[np.float64]
Pairs = NDArray[np.intp]
_ALPHA = 0.02
_WAYS = ("random", "doubts", "information", "half")


def fitted(X: Any, answers: Answers) -> SelectionLikelihoodClassifier:
    """Return the model with fixed settings; its cardinality is that of the yes/no answers."""
    asked = answers.question == "asked"
    yes = answers.relevant[asked].sum() / asked.sum()
    model = SelectionLikelihoodClassifier(
        kernel="linear",
        scaling="standardize",
        alpha=_ALPHA,
        rank=None,
        cardinality=float(yes * answers.n_labels) if (~asked).any() else None,
        propensities="equal",
        random_state=0,
    )
    return model.fit(X, answers)


def answers_to(Y: NDArray[np.uint8], pairs: Pairs) -> Answers:
    """Return the true answers about pairs (n, 2) of item and label."""
    item, label = pairs.T
    asked = np.eye(Y.shape[1], dtype=np.uint8)[label]
    yes = Y[item, label][:, np.newaxis]
    return Answers.from_arrays(
        absent=asked * (1 - yes), relevant=asked * yes, item=item, n_items=len(Y)
    )


def by_information(X: Array, p: Array, seen: NDArray[np.bool_], n: int) -> Pairs:
    """Choose pairs one by one, (n, 2); ``seen`` (N, K) are those already asked about."""
    n_labels = p.shape[1]
    Z = np.hstack([X, np.ones((len(X), 1))])
    doubt = p * (1 - p)
    # The penalty of the fit: alpha ||W||^2 beside the mean over answered items.
    ridge = np.full(Z.shape[1], 2 * _ALPHA * seen.any(axis=1).sum())
    ridge[-1] = 1e-2
    inverses, gains = [], np.empty_like(p)
    for label in range(n_labels):
        rows = Z[seen[:, label]]
        H = np.diag(ridge) + (rows * doubt[seen[:, label], label][:, np.newaxis]).T @ rows
        inverses.append(np.linalg.inv(H))
        gains[:, label] = doubt[:, label] * ((Z @ inverses[label]) * Z).sum(axis=1)
    gains[seen] = -1
    chosen = np.empty((n, 2), dtype=np.intp)
    for at in range(n):
        item, label = chosen[at] = np.unravel_index(np.argmax(gains), gains.shape)
        direction = inverses[label] @ Z[item]
        spread = 1 + doubt[item, label] * (Z[item] @ direction)
        inverses[label] -= doubt[item, label] / spread * np.outer(direction, direction)
        open_rows = gains[:, label] >= 0
        less = doubt[item, label] / spread * (Z @ direction) ** 2 * doubt[:, label]
        gains[open_rows, label] = np.maximum(gains[open_rows, label] - less[open_rows], 0)
        gains[item, label] = -1
    return chosen


def chosen_by(
    way: str, X: Array, p: Array, seen: NDArray[np.bool_], n: int, rng: np.random.Generator
) -> Pairs:
    """Choose pairs (n, 2) that were not asked about."""
    if way == "random":
        rows = np.flatnonzero(seen.any(axis=1))
        asked = Answers.from_arrays(absent=seen[rows], item=rows, n_items=len(seen))
        table = suggest_questions(asked, n, random_state=rng)
        table = table[table["answer"].isna()]
        return np.stack([table["item"], table["label"].astype(np.intp)], axis=1)
    if way == "information":
        return by_information(X, p, seen, n)
    if way == "half":
        first = chosen_by("random", X, p, seen, n // 2, rng)
        with_first = seen.copy()
        with_first[tuple(first.T)] = True
        return np.vstack([first, by_information(X, p, with_first, n - n // 2)])
    weight = np.where(seen, 0, np.sqrt(p * (1 - p)))
    flat = rng.choice(p.size, n, replace=False, p=(weight / weight.sum()).ravel())
    return np.stack(np.unravel_index(flat, p.shape), axis=1)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--named", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| dataset | first answers alone | " + " | ".join(_WAYS) + " |\n|---|---|---|---|---|---|"
    )
    for name in options.datasets:
        data = load_dataset(name, data_dir=options.data_dir)
        found: dict[str, list[float]] = {}
        for repeat in range(options.repeats):
            rng = np.random.default_rng(repeat)
            order = rng.permutation(len(data.Y))
            test, train = np.split(order, [len(order) // 3])
            X = StandardScaler().fit(data.X[train]).transform(data.X)
            Y = np.asarray(data.Y)
            first = chosen_by(
                "random",
                X[train],
                np.full((len(train), Y.shape[1]), 0.5),
                np.zeros((len(train), Y.shape[1]), dtype=np.bool_),
                options.questions,
                rng,
            )
            known = [answers_to(Y[train], first)]
            if options.named:
                known.append(draw_answers(Y[train], random_state=repeat))
            seen = np.zeros((len(train), Y.shape[1]), dtype=np.bool_)
            seen[tuple(first.T)] = True
            model = fitted(X[train], Answers.concatenate(known))
            p = model.predict_proba(X[train])
            models = {"first": model}
            for way in _WAYS:
                pairs = chosen_by(way, X[train], p, seen, options.questions, rng)
                more = Answers.concatenate([*known, answers_to(Y[train], pairs)])
                models[way] = fitted(X[train], more)
            for way, model in models.items():
                scores = model.predict_proba(X[test])
                value = metrics.evaluate(
                    Y[test], scores, model.predict(X[test]), skip_trivial_rows=True
                )["average_precision"]
                found.setdefault(way, []).append(float(value))
        cells = [f"{np.mean(found['first']):.4f}", f"{np.mean(found['random']):.4f}"]
        for way in _WAYS[1:]:
            gain = np.array(found[way]) - found["random"]
            error = gain.std(ddof=1) / np.sqrt(len(gain))
            cells.append(f"{gain.mean():+.4f} ± {error:.4f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
