"""Whether figures by cross-fitting hold for a model that learned from a machine and from people.

A sample of items of a dataset is drawn, again and again. A machine that errs as a language model
(``machines.model_of``) answers all of its pairs, and a person who does not err random ones. A model
learns from both, and ``evaluate_model(..., n_folds=5, machine=...)`` measures it by the same
answers. Printed is in how many of 100 samples each interval of 95 % holds the figure of the model
about the other items of the dataset, by their true labels; and by how much the estimate is above.
"""

import argparse
import time

import numpy as np

from benchmarks._sets import items_of, model_of, randomly
from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier, fit_beside_machine
from complabel.trust import estimate_metrics, evaluate_model

FIGURES = ("precision", "recall", "f1", "average_precision")


def main() -> None:
    """Print a row for each dataset and figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default=".")
    parser.add_argument("--data", nargs="*", default=["digits", "scene", "yeast"])
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--answers", type=int, default=200)
    given = parser.parse_args()
    for name in given.data:
        started = time.monotonic()
        X = items_of(name, given.data_dir)[0]
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        Y, _, machine = model_of(name, given.data_dir)
        found = [of_sample(X, Y, machine, seed, given) for seed in range(given.samples)]
        for figure in FIGURES:
            truth, value, low, high = np.array([each[figure] for each in found]).T
            held = np.mean((low <= truth) & (truth <= high))
            print(
                f"{name} | {figure} | held {100 * held:.0f} | estimate {value.mean():.3f},"
                f" {1000 * (value - truth).mean():+.0f} ± {_error(value - truth):.0f} thousandths"
                f" | length {(high - low).mean():.3f} | {time.monotonic() - started:.0f} s",
                flush=True,
            )


def of_sample(X, Y, machine, seed, given):
    """Return the truth, the estimate and the ends of the interval of each figure."""
    order = np.random.default_rng([seed, 3]).permutation(len(Y))
    items, others = np.split(order, [given.items])
    people = randomly(Y[items], given.answers, seed)
    linear = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
    model = fit_beside_machine(linear, X[items], people, machine[items]).classifier
    found = evaluate_model(model, X[items], people, n_folds=5, machine=machine[items]).estimates
    all_answers = Answers.from_arrays(relevant=Y[others], absent=1 - Y[others], question="ticked")
    truth = estimate_metrics(all_answers, model.predict_proba(X[others]))
    return {
        name: (getattr(truth, name).value, each.value, each.low, each.high)
        for name in FIGURES
        for each in [getattr(found, name)]
    }


def _error(differences):
    return 1000 * np.std(differences, ddof=1) / np.sqrt(len(differences))


if __name__ == "__main__":
    main()
