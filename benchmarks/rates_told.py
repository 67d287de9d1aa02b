"""Whether labels per item are right where a fit finds the rates of people, and when it refuses.

Four people answer yes/no questions about random labels of random items: 1,500 pairs are judged
once, and 100, 400 or 1,500 others by two people. Ten labels are rare (they apply to 2 to 12 % of
the items) or frequent (20 to 50 %). Features are weak (they tell nothing) or strong. People miss 3
to 40 % of what applies, in three draws of ten one of them 60 to 90 %, and invent .5 to 6 %. All is
drawn anew each time. Printed for each case, over the draws:

- refused: in how many of 100 draws the fit says that the answers do not tell the rates;
- held: of 100 other draws, in how many the interval of labels per item holds the truth;
- off by: the mean distance of labels per item of the fit from the truth, in percent, where the
  rates are found and, after the slash, where they are refused;
- the mean log-likelihood of a true label of other items, in nats, by the fit; by a fit that is
  given the true rates; and by a fit that takes the first answer about each pair as true.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from typing import Any, NamedTuple

import numpy as np

from complabel._training import one_thread
from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier

N_ITEMS, N_TEST, N_LABELS, N_PEOPLE, ONCE = 1000, 1000, 10, 4, 1500
FREQUENCIES = {"rare": (0.02, 0.12), "frequent": (0.2, 0.5)}
SIGNAL = {"weak": 0.0, "strong": 3.0}


class World(NamedTuple):
    """Items, answers about the first of them, and the true rates of people."""

    X: Any
    Y: Any
    answers: Answers
    first: Answers
    missed: Any
    invented: Any


def draw(labels: str, features: str, shared: int, seed: int) -> World:
    """Draw items, people and their answers."""
    rng = np.random.default_rng([seed, shared, *map(ord, labels + features)])
    X = rng.normal(size=(N_ITEMS + N_TEST, 10))
    directions = rng.normal(size=(10, N_LABELS))
    told = X @ (directions / np.linalg.norm(directions, axis=0)) * SIGNAL[features]
    told += rng.logistic(size=told.shape)
    wanted = rng.uniform(*FREQUENCIES[labels], N_LABELS)
    Y = told > [np.quantile(each, 1 - share) for each, share in zip(told.T, wanted, strict=True)]
    missed = rng.uniform(0.03, 0.4, N_PEOPLE)
    if rng.random() < 0.3:
        missed[0] = rng.uniform(0.6, 0.9)
    invented = rng.uniform(0.005, 0.06, N_PEOPLE)
    pairs = rng.choice(N_ITEMS * N_LABELS, ONCE + shared, replace=False)
    item, label = np.divmod(np.r_[pairs, pairs[:shared]], N_LABELS)
    person = rng.integers(N_PEOPLE, size=len(item))
    others = (person[:shared] + rng.integers(1, N_PEOPLE, size=shared)) % N_PEOPLE
    person[ONCE + shared :] = others
    errs = np.where(Y[item, label], missed[person], invented[person])
    said = Y[item, label] ^ (rng.random(len(item)) < errs)

    def of(rows: Any) -> Answers:
        absent = np.zeros((len(rows), N_LABELS), dtype=np.uint8)
        relevant = np.zeros_like(absent)
        absent[np.arange(len(rows)), label[rows]] = ~said[rows]
        relevant[np.arange(len(rows)), label[rows]] = said[rows]
        names = np.array([f"person {each}" for each in range(N_PEOPLE)])
        return Answers.from_arrays(
            absent=absent,
            relevant=relevant,
            question="asked",
            item=item[rows],
            n_items=N_ITEMS,
            annotator=names[person[rows]],
            probability=np.full(len(rows), 1 / N_LABELS),
        )

    every = np.arange(len(item))
    return World(X, Y, of(every), of(every[: ONCE + shared]), missed, invented)


def measure(labels: str, features: str, shared: int, seed: int) -> list[float]:
    """Return what is printed, of one draw."""
    world = draw(labels, features, shared, seed)
    truth = float(world.Y.sum(axis=1).mean())
    found = _fit(world, world.answers, missed="auto", invented="auto")
    interval = getattr(found, "cardinality_interval_", None)
    refused = interval is None
    held = np.nan if refused else float(interval[0] <= truth <= interval[1])
    off = abs(found.predict_proba(world.X).sum(axis=1).mean() / truth - 1) * 100
    known = _fit(world, world.answers, missed=world.missed, invented=world.invented)
    first = _fit(world, world.first)
    quality = [_likelihood(each, world) for each in (found, known, first)]
    return [refused, held, *((np.nan, off) if refused else (off, np.nan)), *quality]


def _fit(world: World, answers: Answers, **rates: Any) -> Any:
    given = {}
    for name, value in rates.items():
        given[name] = value
        if not isinstance(value, str):
            order = [int(each.split()[1]) for each in answers.annotator_names]
            given[name] = value[order]
    classifier = SelectionLikelihoodClassifier(kernel="linear", random_state=0, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return classifier.fit(world.X[:N_ITEMS], answers)


def _likelihood(classifier: Any, world: World) -> float:
    p = np.clip(classifier.predict_proba(world.X[N_ITEMS:]), 1e-6, 1 - 1e-6)
    return float(np.where(world.Y[N_ITEMS:], np.log(p), np.log1p(-p)).mean())


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--shared", type=int, nargs="+", default=[100, 400, 1500])
    parser.add_argument("--labels", nargs="+", default=[*FREQUENCIES])
    parser.add_argument("--features", nargs="+", default=[*SIGNAL])
    given = parser.parse_args()
    print("labels | features | shared | refused | held | off by % | fit | true rates | first")
    for case in itertools.product(given.labels, given.features, given.shared):
        with one_thread(), warnings.catch_warnings():
            rows = np.array([measure(*case, seed) for seed in range(given.draws)])
            warnings.simplefilter("ignore")  # of means of nothing
            refused, held, off, off_refused, *quality = np.nanmean(rows, axis=0)
        told = f"{100 * refused:.0f} | {100 * held:.0f} | {off:.0f} / {off_refused:.0f}"
        quality = " | ".join(f"{each:.4f}" for each in quality)
        print(f"{' | '.join(map(str, case))} | {told} | {quality}", flush=True)


if __name__ == "__main__":
    main()
