"""How much of a sitting a second person should answer, so that the rates of people are found.

Three people answer yes/no questions about random labels of random items. They miss labels and
invent some, each at a rate of their own. A share of the questions is put to a second person. The
fit finds the rates (``missed="auto"``); the script says how far they are from the true ones.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from complabel.answers import Answers, resolve_contradictions
from complabel.datasets import make_digits
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision

MISSED, INVENTED = np.array([0.13, 0.23, 0.33]), np.array([0.01, 0.03, 0.05])


def main() -> None:
    """Print a row for each share and number of answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--data", nargs="*", default=["scene", "yeast", "digits"])
    parser.add_argument("--answers", type=int, nargs="*", default=[500, 2000])
    parser.add_argument("--overlap", type=float, nargs="*", default=[0.05, 0.1, 0.2, 0.4])
    parser.add_argument("--draws", type=int, default=5)
    given = parser.parse_args()
    print(
        "data | answers | overlap | pairs twice, one yes | error of missed | invented | AP | none"
    )
    for name in given.data:
        data = make_digits(4000, random_state=0) if name == "digits" else None
        data = data or load_dataset(name, data_dir=given.data_dir)
        X, Y = np.asarray(data.X), np.asarray(data.Y) > 0
        for n in given.answers:
            for overlap in given.overlap:
                rows = np.array([one(X, Y, n, overlap, seed) for seed in range(given.draws)])
                print(f"{name} | {n} | {overlap:g} | " + told(rows), flush=True)


def told(rows: Any) -> str:
    """Return the means over draws."""
    pairs, missed, invented, found, without = rows.mean(axis=0)
    return f"{pairs:.0f} | {missed:.3f} | {invented:.3f} | {found:.3f} | {without:.3f}"


def one(X: Any, Y: Any, n: int, overlap: float, seed: int) -> tuple[float, ...]:
    """Return pairs with a "yes", errors of rates, and average precision with and without rates."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    train, test = order[: 2 * len(X) // 3], order[2 * len(X) // 3 :]
    first = round(n / (1 + overlap))
    item, label = rng.integers(len(train), size=first), rng.integers(Y.shape[1], size=first)
    person = rng.integers(3, size=first)
    again = rng.permutation(first)[: n - first]
    other = (person[again] + rng.integers(1, 3, size=len(again))) % 3
    item, label = np.append(item, item[again]), np.append(label, label[again])
    person = np.append(person, other)
    applies = Y[train][item, label]
    chance = np.where(applies, 1 - MISSED[person], INVENTED[person])
    yes = rng.random(n) < chance
    marks = np.zeros((2, n, Y.shape[1]), dtype=np.uint8)
    marks[np.where(yes, 0, 1), np.arange(n), label] = 1
    answers = Answers.from_arrays(
        relevant=marks[0], absent=marks[1], item=item, question="asked",
        probability=1 / Y.shape[1], n_items=len(train), annotator=[f"p{k}" for k in person],
    )  # fmt: skip
    pairs = float((yes[again] | yes[first:]).sum())
    scores, errors = [], (np.nan, np.nan)
    for missed in ("auto", None):
        how: Any = {} if missed is None else {"missed": "auto", "invented": "auto"}
        classifier = SelectionLikelihoodClassifier(random_state=0, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier.fit(X[train], answers if missed else resolve_contradictions(answers, "drop"))
        if missed:
            found = (np.asarray(each).reshape(-1)[:3] for each in rates_of(classifier))
            errors = tuple(
                float(np.abs(each - true).mean())
                for each, true in zip(found, (MISSED, INVENTED), strict=True)
            )
        scores.append(average_precision(Y[test], classifier.predict_proba(X[test])))
    return (pairs, *errors, *scores)


def rates_of(classifier: Any) -> tuple[Any, Any]:
    """Return the rates (3,) that a fit found, by person; none found are zeros."""
    of = [getattr(classifier, name, None) for name in ("missed_", "invented_")]
    return tuple(np.zeros(3) if each is None else np.broadcast_to(each, 3) for each in of)


if __name__ == "__main__":
    main()
