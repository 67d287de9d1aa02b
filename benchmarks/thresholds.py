"""Whether promised precision and recall are kept, and which thresholds reach the highest F1.

    python -m benchmarks.thresholds promises scene yeast digits --data-dir DIR
    python -m benchmarks.thresholds aims scene yeast digits synthetic corel5k --data-dir DIR

A model learns from one random yes or no for each of some items. ``promises`` asks random questions
about the other items, many times anew, and chooses thresholds. True labels of all these items say
what precision and recall really are. Printed are how often thresholds were found, how often the
promise was kept (it is, too, where none was found), the other figure on average, and that of the
best threshold that true labels can find. "missed" is the share of labels that apply that are not
predicted, on average over draws: over all pairs, and as the mean over items with a label. For
recall there is also the rule of conformal risk control, which bounds that average only.

``aims`` asks about a second part of the items, or (``learned``) uses the answers that the model
learned from, by cross-fitting, and measures F1 on the last part. The rivals tune thresholds on all
true labels of as many items as there are questions: scikit-learn's TunedThresholdClassifierCV, one
threshold for each label, and one threshold for all labels.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import f1_score
from sklearn.model_selection import TunedThresholdClassifierCV

from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier, cross_fit_probabilities
from complabel.simulate import draw_answers
from complabel.trust import choose_thresholds, suggest_evaluation_questions

Array: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.uint8]
_AIMS: dict[str, dict[str, Any]] = {
    "F1, one threshold": {},
    "F1, by label": {"by_label": True},
    "frequencies matched": {"match_frequencies": True},
}


def parts(name: str, data_dir: Path | None, n_parts: int) -> list[tuple[Any, Labels]]:
    """Return features and true labels of random parts of a dataset, equally large."""
    if name == "synthetic":
        data = make_synthetic(3000, n_labels=12, cardinality=0.8, random_state=0)
    else:
        data = load_dataset(name, data_dir=data_dir)
    order = np.random.default_rng(0).permutation(len(data.Y))
    Y = np.asarray(data.Y.toarray() if hasattr(data.Y, "toarray") else data.Y, dtype=np.uint8)
    return [(data.X[rows], Y[rows]) for rows in np.array_split(order, n_parts)]


def asked(Y: Labels, n: int, seed: list[int], question: str = "asked") -> Answers:
    """Return answers to n random questions; each item is asked about again as late as possible."""
    rounds = -(-n // len(Y))
    rng = np.random.default_rng(seed)
    share = n / rounds / len(Y)
    return Answers.concatenate(
        [
            draw_answers(Y, question=question, items_share=share, random_state=rng)
            for _ in range(rounds)
        ]
    )


def asked_to_evaluate(p: Array, Y: Labels, n: int, seed: list[int], figure: str) -> Answers:
    """Return answers to n questions that tell most about a figure at a threshold of .5."""
    labels = [str(label) for label in range(Y.shape[1])]
    nothing = Answers.from_table({"item": [], "label": []}, items=range(len(Y)), label_names=labels)
    rng = np.random.default_rng(seed)
    table = suggest_evaluation_questions(nothing, p, n, figure=figure, random_state=rng)
    yes = Y[table["item"].astype(int), table["label"].astype(int)]
    table["answer"] = np.where(yes, "yes", "no")
    return Answers.from_table(table, items=range(len(Y)), label_names=labels)


def draws_of(n_draws: int, what: str) -> Iterator[int]:
    """Yield the numbers of draws, and show how far they are."""
    for draw in range(n_draws):
        print(f"\r{what}: draw {draw + 1} of {n_draws}", end="", file=sys.stderr)
        yield draw
    print(file=sys.stderr)


class Reached:
    """Precision and recall of one threshold for all labels, over all pairs of some items."""

    def __init__(self, p: Array, Y: Labels) -> None:
        order = np.argsort(-p, axis=None)
        right = np.cumsum(Y.ravel()[order], dtype=np.float64)
        self._scores = p.ravel()[order][::-1]
        self.precision, self.recall = right / np.arange(1, p.size + 1), right / right[-1]
        self._p, self._Y = p, Y

    def at(self, threshold: float) -> tuple[float, float]:
        """Return precision and recall."""
        n = len(self._scores) - int(np.searchsorted(self._scores, threshold, side="left"))
        return (float(self.precision[n - 1]), float(self.recall[n - 1])) if n else (1.0, 0.0)

    def best(self, of: str, least: float) -> float:
        """Return the highest recall with such a precision, or the other way round."""
        named, other = self.precision, self.recall
        if of == "recall":
            named, other = other, named
        return float(other[named >= least].max(initial=0.0))

    def missed_by_item(self, threshold: float) -> float:
        """Return the share of an item's labels that are missed, on average."""
        has = self._Y.any(axis=1)
        Y, p = self._Y[has], self._p[has]
        return float(((Y * (p < threshold)).sum(axis=1) / Y.sum(axis=1)).mean())


def conformal(answers: Answers, p: Array, most: float) -> float:
    """Return the threshold of conformal risk control for a share ``most`` of missed labels."""
    pairs = answers.relevant.tocoo()
    scores = np.sort(p[answers.item[pairs.row], pairs.col])
    return float(scores[max(0, int(np.floor(most * (len(scores) + 1))) - 1)])


def cuts_of(said: Answers, p: Array, of: str) -> Iterator[tuple[str, float, bool, float]]:
    """Yield names of rules, the share that they promise, whether they found one, and thresholds."""
    for least in (0.8, 0.9):
        chosen = choose_thresholds(said, p, **{of: least})
        yield of, least, bool(chosen.promised.all()), float(chosen.values[0])
        if of == "recall":
            yield "conformal", least, True, conformal(said, p, 1 - least)


def promises(options: argparse.Namespace) -> None:
    """Print a table of kept promises."""
    print(
        "| dataset | questions | promise | found | kept | other figure | best | missed, of pairs"
        " | of an item |\n|---|---|---|---|---|---|---|---|---|"
    )
    for name in options.datasets:
        (X, Y), (others, truth) = parts(name, options.data_dir, 2)
        model = SelectionLikelihoodClassifier(random_state=0)
        p = model.fit(X, draw_answers(Y, question="asked", random_state=0)).predict_proba(others)
        reached = Reached(p, truth)
        for n in options.questions:
            rows: dict[tuple[str, float], list[tuple[float, ...]]] = {}
            for draw in draws_of(options.draws, f"{name}, {n} questions"):
                for of in ("precision", "recall"):
                    if options.question == "to-evaluate":
                        said = asked_to_evaluate(p, truth, n, [draw, n], of)
                    else:
                        said = asked(truth, n, [draw, n], options.question)
                    for rule, least, found, cut in cuts_of(said, p, of):
                        precision, recall = reached.at(cut)
                        named, other = (
                            (precision, recall) if of == "precision" else (recall, precision)
                        )
                        missed = (1 - recall, reached.missed_by_item(cut))
                        each = (found, named >= least, other, *missed)
                        rows.setdefault((rule, least), []).append(each)
            for (rule, least), draws in rows.items():
                found, kept, other, missed, of_item = np.mean(draws, axis=0)
                best = reached.best(rule if rule == "precision" else "recall", least)
                print(
                    f"| {name} | {n:,} | {rule} {least} | {100 * found:.0f} % | {100 * kept:.1f} %"
                    f" | {other:.3f} | {best:.3f} | {missed:.3f} | {of_item:.3f} |",
                    flush=True,
                )


class _Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose only feature is the probability."""

    classes_ = np.array([0, 1])

    def fit(self, X: Array, y: Labels) -> _Given:  # noqa: ARG002
        return self

    def predict_proba(self, X: Array) -> Array:
        return np.hstack([1 - X, X])


def tuned(p: Array, Y: Labels) -> Array:
    """Return thresholds (K,) of scikit-learn; .5 where labels or probabilities are all alike."""
    cuts = np.full(p.shape[1], 0.5)
    for label, (scores, truth) in enumerate(zip(p.T, Y.T, strict=True)):
        if np.ptp(truth) and np.ptp(scores):
            tuner = TunedThresholdClassifierCV(_Given(), cv="prefit", refit=False, scoring="f1")
            cuts[label] = tuner.fit(scores[:, np.newaxis], truth).best_threshold_
    return cuts


def tuned_together(p: Array, Y: Labels) -> Array:
    """Return the threshold for all labels with the highest F1 over all pairs, (K,)."""
    order = np.argsort(-p, axis=None)
    right = np.cumsum(Y.ravel()[order], dtype=np.float64)
    f1 = 2 * right / (np.arange(1, p.size + 1) + right[-1])
    return np.full(p.shape[1], p.ravel()[order][np.argmax(f1)])


def both_f1(truth: Labels, p: Array, cuts: Array) -> tuple[float, float]:
    """Return F1 over all pairs, and the mean over labels."""
    micro, macro = (
        float(f1_score(truth, p >= cuts, average=each, zero_division=0))
        for each in ("micro", "macro")
    )
    return micro, macro


def linear() -> SelectionLikelihoodClassifier:
    """Return the model of ``aims``."""
    return SelectionLikelihoodClassifier(kernel="linear", random_state=0)


def aims(options: argparse.Namespace) -> None:
    """Print a table of F1, over all pairs and as the mean over labels."""
    for name in options.datasets:
        (X, Y), (more, labels), (test, truth) = parts(name, options.data_dir, 3)
        model = linear().fit(X, draw_answers(Y, question="asked", random_state=0))
        p, of_test = model.predict_proba(more), model.predict_proba(test)
        stacked = sparse.vstack if sparse.issparse(X) else np.concatenate
        both, labels_of_both = stacked([X, more]), np.concatenate([Y, labels])
        cases: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for n in options.questions:
            found = cases.setdefault(f"{n:,} more questions", {})
            for draw in draws_of(options.draws, f"{name}, {n} questions"):
                said = asked(labels, n, [draw, n])
                rows = np.random.default_rng([draw, n]).permutation(len(p))[:n]
                cuts = {"0.5": np.full(p.shape[1], 0.5)}
                for aim, given in _AIMS.items():
                    cuts[aim] = choose_thresholds(said, p, **given).values
                if draw < options.fits:  # it takes a thousand times as long as ours
                    cuts["complete labels, by label"] = tuned(p[rows], labels[rows])
                cuts["complete labels, one threshold"] = tuned_together(p[rows], labels[rows])
                for aim, values in cuts.items():
                    found.setdefault(aim, []).append(both_f1(truth, of_test, values))
            found["true labels of the test items"] = [
                both_f1(truth, of_test, tuned_together(of_test, truth))
            ]
        n = max(options.questions)
        found = cases.setdefault(f"the {n:,} answers that it learned from", {})
        for draw in draws_of(options.fits, f"{name}, cross-fitting"):
            said = asked(labels_of_both, n, [draw, 7])
            of_test = linear().fit(both, said).predict_proba(test)
            p_both = cross_fit_probabilities(linear(), both, said)
            found.setdefault("0.5", []).append(both_f1(truth, of_test, np.full(p.shape[1], 0.5)))
            for aim, given in _AIMS.items():
                values = choose_thresholds(said, p_both, **given).values
                found.setdefault(aim, []).append(both_f1(truth, of_test, values))
            found.setdefault("true labels of the test items", []).append(
                both_f1(truth, of_test, tuned_together(of_test, truth))
            )
        print(f"\n**{name}**\n\n| thresholds |" + "".join(f" {case} |" for case in cases))
        print("|---" * (len(cases) + 1) + "|")
        for aim in cases[next(iter(cases))]:
            means = [
                np.mean(found[aim], axis=0) if aim in found else None for found in cases.values()
            ]
            cells = ["-" if each is None else f"{each[0]:.3f}, {each[1]:.3f}" for each in means]
            print(f"| {aim} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("promises", "aims"))
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, help="of the questions: 200 for promises, 10 for aims")
    parser.add_argument(
        "--fits", type=int, default=3, help="draws of what takes long: fits, scikit-learn"
    )
    parser.add_argument("--questions", type=int, nargs="+")
    parser.add_argument("--question", choices=("asked", "ticked", "to-evaluate"), default="asked")
    options = parser.parse_args()
    is_aims = options.what == "aims"
    options.draws = options.draws or (10 if is_aims else 200)
    options.questions = options.questions or ([200, 600] if is_aims else [200, 1000])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # items without an answer
        (aims if is_aims else promises)(options)


if __name__ == "__main__":
    main()
