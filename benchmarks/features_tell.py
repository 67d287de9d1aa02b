"""How often labels are named of which features know nothing, and labels of which they know.

    python -m benchmarks.features_tell
    python -m benchmarks.features_tell --only "digits, 5 labels, 300 yes/no" --draws 10

Each draw plants hopeless labels, which chance alone decides, beside labels of which the features
know: sets of digits, whether other columns of breast cancer's cells are large, and made labels.
Hopeless labels apply to .1 to .5 of the items. Simulated people make no mistakes, and are asked
about each item once. Models learn as they do in ``annotate`` (five folds), or in ``fit`` (three).
Found: a hopeless label is named. False alarm: a label is named of which the features know. "Well
told" are those that the model of all answers tells well: of two items, one with the label and one
without, the right one is first in 85 of 100 cases, by true labels of items nobody was asked about.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import roc_auc_score

from complabel.datasets import make_synthetic
from complabel.live._learner import Refits
from complabel.methods import SelectionLikelihoodClassifier, held_out_score
from complabel.simulate import draw_answers
from complabel.trust import FeaturesTell, features_tell

RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
SEEDS = 2000  # the rule was chosen on other draws, of digits and made labels
WELL = 0.85


def digits(rng: np.random.Generator, n_known: int) -> tuple[Any, Any]:
    """Pictures of digits; a label applies to some of the ten."""
    found = load_digits()
    sets = ([0], [1, 7], [0, 2, 4, 6, 8], [6, 7, 8, 9], [0, 6, 8, 9], [3, 5], [0, 1, 2])
    chosen = rng.permutation(len(sets))[:n_known]
    return found.data, np.column_stack([np.isin(found.target, sets[at]) for at in chosen])


def cells(rng: np.random.Generator, n_known: int) -> tuple[Any, Any]:
    """Cells; a label applies if a column that is taken away is large."""
    X = load_breast_cancer().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    hidden = rng.permutation(X.shape[1])[:n_known]
    large = np.quantile(X[:, hidden], 1 - rng.choice(RATES, n_known), axis=0).diagonal()
    return np.delete(X, hidden, axis=1), X[:, hidden] > large


def made(rng: np.random.Generator, n_known: int) -> tuple[Any, Any]:
    """Made features and labels."""
    seed = int(rng.integers(2**31))
    data = make_synthetic(1600, n_features=20, n_labels=n_known, signal=3.0, random_state=seed)
    return data.X, data.Y


def noise(rng: np.random.Generator, n_known: int) -> tuple[Any, Any]:
    """Random numbers, and no label that they know."""
    return rng.normal(size=(6500, 40)), np.zeros((6500, n_known))


class Case(NamedTuple):
    """What is planted, asked and learned."""

    data: Callable[[np.random.Generator, int], tuple[Any, Any]]
    known: int  # labels of which the features know
    hopeless: int
    question: str
    n: int  # answers
    draws: int
    fits: bool = False


CASES = {
    "digits, 5 labels, 300 yes/no": Case(digits, 3, 2, "asked", 300, 50),
    "digits, 10 labels, 1,000 yes/no": Case(digits, 5, 5, "asked", 1000, 20),
    "made, 5 labels, 300 yes/no": Case(made, 3, 2, "asked", 300, 50),
    "made, 10 labels, 1,000 yes/no": Case(made, 5, 5, "asked", 1000, 20),
    "cells, 5 labels, 300 yes/no": Case(cells, 3, 2, "asked", 300, 50),
    "digits, 10 labels, 300 forms": Case(digits, 5, 5, "ticked", 300, 20),
    "digits, 5 labels, 300 yes/no, fit": Case(digits, 3, 2, "asked", 300, 50, True),
    "digits, 10 labels, 300 yes/no": Case(digits, 5, 5, "asked", 300, 20),
    "cells, 10 labels, 300 yes/no": Case(cells, 5, 5, "asked", 300, 20),
    "random numbers, 10 labels, 5,000 yes/no": Case(noise, 0, 10, "asked", 5000, 10, True),
    "digits, 10 labels, 300 named": Case(digits, 5, 5, "named", 300, 2),
}


def draw(case: Case, seed: int) -> tuple[FeaturesTell, list[float]]:
    """Return what is told, and how well the model of all answers orders items by true labels."""
    rng = np.random.default_rng(seed)
    X, known = case.data(rng, case.known)
    hopeless = rng.random((len(X), case.hopeless)) < rng.choice(RATES, case.hopeless)
    Y = np.hstack([known, hopeless]).astype(np.uint8)
    order = rng.permutation(len(X))
    asked, others = order[: case.n], order[case.n :]
    answers = draw_answers(Y[asked], question=case.question, random_state=seed)
    if case.fits or case.question == "named":
        model = SelectionLikelihoodClassifier(random_state=0)
        score = held_out_score(model, X[asked], answers)
        model.fit(X[asked], answers)
        told = features_tell(answers, score.probabilities, folds=score.folds)
    else:
        refits = Refits(X[asked], seed=seed)
        refits.update(answers, np.full(answers.n_answers, 3.0))
        model, everything = refits.model, np.arange(len(asked))
        logits = refits._logits(refits._points[-1], everything, Y.shape[1])
        told = features_tell(answers, 1 / (1 + np.exp(-logits)), folds=refits._fold)
    p = model.predict_proba(X[others])
    both = (Y[others].mean(axis=0) > 0) & (Y[others].mean(axis=0) < 1)
    truth = [roc_auc_score(Y[others, k], p[:, k]) if both[k] else 0.5 for k in range(len(both))]
    return told, truth


def main() -> None:
    """Print a row for each case, in shares of 100 labels."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=CASES, default=[*CASES])
    parser.add_argument("--draws", type=int)
    given = parser.parse_args()
    print("| | hopeless | named | too few | told | known | told | named | well told | named |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in given.only:
        case = CASES[name]
        states: dict[str, list[bool | None]] = {"hopeless": [], "known": [], "well": []}
        advised = 0
        draws = given.draws or case.draws
        for number in range(draws):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                told, truth = draw(case, SEEDS + number)
            advised += told.needs_features
            for k, each in enumerate(told.labels.values()):
                states["known" if k < case.known else "hopeless"].append(each.told)
                if k < case.known and truth[k] >= WELL:
                    states["well"].append(each.told)
        hopeless, known, well = states.values()
        counts = [len(hopeless), *(_percent(hopeless, told) for told in (False, None, True))]
        counts += [len(known), *(_percent(known, told) for told in (True, False))]
        print(
            f"| {name} | {' | '.join(map(str, [*counts, len(well), _percent(well, False)]))} |",
            flush=True,
        )
        if advised:
            print(f"  other features are advised in {advised} of {draws} draws")


def _percent(states: list[bool | None], told: bool | None) -> str:
    return f"{100 * np.mean([each is told for each in states]):.0f}" if states else "-"


if __name__ == "__main__":
    main()
