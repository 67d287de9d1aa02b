"""How long a refit takes after 50 new answers, and how far it is from a fit from nothing.

    python -m benchmarks.annotate_refit                  # 100,000 rows, 768 features, 20 labels
    python -m benchmarks.annotate_refit --dtype float64

Every item has one yes or no about a random label. Then 50 answers come at a time, about any items.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse, special

from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier

ROWS_AT_A_TIME = 10_000


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=768)
    parser.add_argument("--labels", type=int, default=20)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--alpha", type=float, default=1e-3)
    parser.add_argument("--refits", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X, truth = draw(rng, options)
    # One answer for each item, then the new ones.
    item = np.append(np.arange(len(X)), rng.integers(len(X), size=50 * options.refits))
    label = rng.integers(options.labels, size=len(item))
    yes = truth[item, label]

    def answers(count: int) -> Answers:
        return asked(item[:count], label[:count], yes[:count], shape=truth.shape)

    given = {"alpha": options.alpha, "kernel": "linear", "scaling": "global", "rank": None}
    classifier = SelectionLikelihoodClassifier(**given, warm_start=True)
    timed("the first fit", lambda: classifier.fit(X, answers(len(X))))
    for number in range(1, options.refits + 1):
        more = answers(len(X) + 50 * number)
        timed(f"refit {number}", lambda more=more: classifier.fit(X, more))
    again = SelectionLikelihoodClassifier(**given, warm_start=True)
    timed("a fit from nothing", lambda: again.fit(X, more))
    before = again.coef_
    timed("this fit, finished by refits of the same answers", lambda: finished(again, X, more))
    losses = [loss(each, X, more, options.alpha, again) for each in (classifier, again)]
    print(f"loss: refits {losses[0]:.12f}, from nothing and finished {losses[1]:.12f}")
    scale = np.abs(again.coef_).max()
    for name, coef in (("refits", classifier.coef_), ("from nothing, unfinished", before)):
        away = np.abs(coef - again.coef_).max() / scale
        print(f"coefficients, {name}: {away:.1e} of the largest from the finished fit")


def draw(rng: np.random.Generator, options: Any) -> tuple[Any, Any]:
    """Draw features with a spectrum like that of embeddings, and labels that they predict."""
    d, n_labels = options.features, options.labels
    mix = rng.normal(size=(d, d)) * np.arange(1, d + 1) ** -0.5
    X = np.empty((options.rows, d), dtype=options.dtype)
    for at in range(0, len(X), ROWS_AT_A_TIME):
        rows = X[at : at + ROWS_AT_A_TIME]
        rows[:] = rng.normal(size=rows.shape) @ mix.T
    X /= X.std()
    weights = 2 * rng.normal(size=(d, n_labels)) / np.sqrt(d)
    return X, rng.random((len(X), n_labels)) < special.expit(X @ weights - 1.5)


def asked(item: Any, label: Any, yes: Any, *, shape: tuple[int, int]) -> Answers:
    """Return answers to yes/no questions about random labels."""
    number = np.arange(len(item))

    def mask(which: Any) -> Any:
        places = number[which], label[which]
        ones = np.ones(len(places[0]), dtype=np.uint8)
        return sparse.csr_array((ones, places), shape=(len(item), shape[1]))

    return Answers.from_arrays(
        absent=mask(~yes),
        relevant=mask(yes),
        offered=mask(yes | True),
        question="asked",
        item=item,
        probability=np.full(len(item), 1 / shape[1]),
        n_items=shape[0],
    )


def finished(classifier: Any, X: Any, answers: Answers) -> None:
    """Go from where L-BFGS stops to the minimum."""
    for _ in range(3):
        classifier.fit(X, answers)


def loss(classifier: Any, X: Any, answers: Answers, alpha: float, reference: Any) -> float:
    """Return what a fit minimizes with the prior of biases of ``reference``, in float64."""
    of_answers = -classifier._answers_log_likelihood(
        classifier._decision(X.astype(np.float64)), answers
    ).mean()
    spread = np.sqrt(X.var(axis=0, dtype=np.float64).mean())  # of scaling="global"
    biases = classifier.decision_function(X).mean(axis=0)
    of_biases = len(biases) * biases.var() / (2 * reference._last_fit.variance * len(X))
    return float(of_answers + alpha * (classifier.coef_**2).sum() * spread**2 + of_biases)


def timed(name: str, what: Callable[[], Any]) -> None:
    """Run something, and print how long it took."""
    wall, processor = time.perf_counter(), time.process_time()
    what()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{name}: {wall:.2f} s by the clock, {processor:.2f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
