"""One label that applies, named for each item: the exact fit beside "all others do not apply".

Of two thirds of the items, somebody names one label that applies, all alike or with propensities of
a spread ("bias"); items without any are left out. "fit" is SelectionLikelihoodClassifier: as it is,
with the number of labels per item given ("told"), and beside 200 yes/no questions about random
pairs ("asked"). The rival "AN" takes all other labels for "no", with a logistic regression of each
label. All are linear. The rival's penalty and scaling of features are those for which held-out
positives rank highest (mean reciprocal rank, a third held out); "AN*" has those that are best on
the items of the test, which nobody knows. Printed is the average precision on the other third,
means over draws, and how many labels per item the fit expects. `--large-k` measures the time of
the likelihood instead; `--break-even` how many times as long as a yes or no naming may take.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from benchmarks._sets import of_set, over_largest, standardized
from complabel._training import one_thread
from complabel.answers import Answers
from complabel.losses import AnswersLikelihood
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_propensities

SETS = ("made", "digits", "scene", "yeast", "corel5k", "mirflickr")
PENALTIES = np.logspace(-3.5, 1, 7)
ASKED = 200
YES_NO = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)  # questions for each item


def regressions(X: Any, labels: Any, Z: Any, C: float) -> Any:
    """Return the probabilities of labels (n, K) by a logistic regression of each."""
    found = np.zeros((Z.shape[0], labels.shape[1]))
    for label, y in enumerate(labels.T):
        if y.any() and not y.all():
            model = LogisticRegression(C=C, max_iter=300).fit(X, y)
            found[:, label] = model.predict_proba(Z)[:, 1]
    return found


def reciprocal_rank(named: Any, scores: Any) -> float:
    """Return the mean of one over the rank of the label that was named."""
    of_named = scores[np.arange(len(named)), named.argmax(axis=1)]
    return float((1 / (scores >= of_named[:, np.newaxis]).sum(axis=1)).mean())


def rival(X: Any, named: Any, of: Any, other: Any, Y: Any, seed: int) -> tuple[float, float]:
    """Return the average precision of AN: as held-out positives choose, and at best."""
    order = np.random.default_rng([seed, 3]).permutation(len(of))
    held, rest = np.split(order, [len(of) // 3])
    chosen, best = (-1.0, 0.0), 0.0
    for scaled in (standardized(X), over_largest(X)):
        for C in PENALTIES:
            seen = regressions(scaled[of[rest]], named[rest], scaled[of[held]], C)
            scores = regressions(scaled[of], named, scaled[other], C)
            value = average_precision(Y[other], scores)
            chosen = max(chosen, (reciprocal_rank(named[held], seen), value))
            best = max(best, value)
    return chosen[1], best


def measure(X: Any, Y: Any, bias: float, seed: int) -> list[float]:
    """Return the average precision of both rivals and of three fits, and labels per item."""
    order = np.random.default_rng(seed).permutation(len(Y))
    of, other = np.split(order, [2 * len(order) // 3])
    w = draw_propensities(Y.shape[1], bias, random_state=seed)
    answers = draw_answers(Y[of], question="positive", propensities=w, random_state=seed)
    share = ASKED / len(of)
    asked = draw_answers(Y[of], question="asked", items_share=share, random_state=seed)
    both = Answers.concatenate([answers, asked])
    found = [*rival(X, answers.positive.toarray(), of, other, Y, seed)]
    numbers = []
    known = float(Y[of].sum(axis=1).mean())
    for cardinality, y in (("auto", answers), (known, answers), ("auto", both)):
        model = SelectionLikelihoodClassifier(
            kernel="linear", cardinality=cardinality, random_state=0
        )
        model.fit(X[of], y)
        found.append(average_precision(Y[other], model.predict_proba(X[other])))
        numbers.append(model.mean_cardinality_)
    return [*found, *numbers[::2], float(Y[other].sum(axis=1).mean())]


def break_evens(X: Any, Y: Any, seed: int) -> list[float]:
    """Return what one yes or no for each item reaches, and naming a label, and its worth.

    Labels are named without bias, with a bias of 1 and with this bias beside ASKED yes/no. The
    worth is the number of yes/no for each item that reach the same, less the ASKED ones.
    """
    order = np.random.default_rng(seed).permutation(len(Y))
    of, other = np.split(order, [2 * len(order) // 3])

    def reached(*parts: Answers) -> float:
        model = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
        model.fit(X[of], Answers.concatenate(list(parts)))
        return average_precision(Y[other], model.predict_proba(X[other]))

    def judged(share: float) -> Answers:
        return draw_answers(Y[of], question="asked", items_share=share, random_state=seed)

    yes_no = [
        reached(*([judged(share)] if share <= 1 else repeated(Y[of], int(share), seed)))
        for share in YES_NO
    ]
    rising, found = np.maximum.accumulate(yes_no), [yes_no[YES_NO.index(1.0)]]
    for bias, asked in ((0.0, 0), (1.0, 0), (1.0, ASKED)):
        w = draw_propensities(Y.shape[1], bias, random_state=seed)
        parts = [draw_answers(Y[of], question="positive", propensities=w, random_state=seed)]
        value = reached(*parts, *([judged(asked / len(of))] if asked else []))
        worth = np.exp(np.interp(value, rising, np.log(YES_NO))) - asked / len(of)
        found += [value, float(worth)]
    return found


def repeated(Y: Any, times: int, seed: int) -> list[Answers]:
    """Return so many random yes or no about each item."""
    return [draw_answers(Y, question="asked", random_state=[seed, each]) for each in range(times)]


def measure_time(n: int = 200, n_labels: int = 983, repeats: int = 5) -> None:
    """Print processor seconds of the likelihood and its gradient, beside that of names."""
    rng = np.random.default_rng(0)
    Y = (rng.random((n, n_labels)) < 0.02).astype(np.uint8)
    Y[np.arange(n), rng.integers(n_labels, size=n)] = 1
    logits = torch.tensor(rng.normal(-4, 1, size=Y.shape))
    print("| question | propensities | seconds of the processor |\n|---|---|--:|")
    for weighed in (False, True):
        log_w = torch.tensor(rng.normal(size=n_labels)) if weighed else None
        for question in ("named", "positive", "tagged"):
            given = {"exposure": np.full(n_labels, 0.5)} if question == "tagged" else {}
            drawn = draw_answers(Y, question=question, random_state=0, **given)
            likelihood = AnswersLikelihood(drawn, **given)
            likelihood(logits, log_propensities=log_w)
            start = time.process_time()
            for _ in range(repeats):
                likelihood(logits, log_propensities=log_w)
            took = (time.process_time() - start) / repeats
            print(f"| {question} | {'given' if weighed else 'equal'} | {took:.4f} |")


def main() -> None:
    """Print a row for each set and bias."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*SETS])
    parser.add_argument("--biases", type=float, nargs="+", default=[0.0, 1.0, 2.0])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--data-dir")
    parser.add_argument("--large-k", action="store_true")
    parser.add_argument("--break-even", action="store_true")
    given = parser.parse_args()
    if given.large_k:
        with one_thread():
            measure_time()
        return
    if given.break_even:
        print("| set | yes/no | named | worth | bias 1 | worth | and asked | worth |")
        for name in given.sets:
            X, Y = of_set(name, given.data_dir)
            with one_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                each = [break_evens(X, Y, seed) for seed in range(given.draws)]
            print(
                f"| {name} | {' | '.join(f'{x:.3g}' for x in np.mean(each, axis=0))} |", flush=True
            )
        return
    columns = ("set", "bias", "AN", "AN*", "fit", "told", "asked")
    print(f"| {' | '.join(columns)} | labels: fit | asked | true |\n|---|{'--:|' * 9}")
    for name in given.sets:
        X, Y = of_set(name, given.data_dir)
        for bias in given.biases:
            with one_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = np.mean([measure(X, Y, bias, seed) for seed in range(given.draws)], axis=0)
            values = " | ".join(f"{each:.3f}" for each in found[:5])
            numbers = " | ".join(f"{each:.2f}" for each in found[5:])
            print(f"| {name} | {bias:g} | {values} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
