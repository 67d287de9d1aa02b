"""Labels that people miss and invent: what that costs, and whether the rates are found.

For each dataset and draw, 40 people answer one yes/no question about a random label of each item;
a share of the questions is put to a second person. People miss labels that apply with rates spread
evenly from 0 to .75, and invent some with rates of about .03. Two thirds of the items are fitted;
average precision is that on the rest, whose true labels are known. Printed are means over draws:

- no mistakes: all answers are true;
- no mistakes, auto: the same answers, with rates to be found;
- ignored: of two people who disagree, the first is believed;
- given: the true rate of each person is given;
- found: ``missed="auto", invented="auto"``.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel import metrics
from complabel._training import one_thread
from complabel.answers import Answers
from complabel.datasets import MultiLabelDataset
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.methods import SelectionLikelihoodClassifier

_PEOPLE, _MOST_MISSED, _INVENTED, _SPREAD_OF_INVENTED = 40, 0.75, 0.03, 0.5
_ENOUGH_ANSWERS = 60
_CASES = ("no mistakes", "no mistakes, auto", "ignored", "given", "found")


@dataclass(frozen=True)
class Asked:
    """Yes/no questions about items, with who answers each, and what is true."""

    item: NDArray[np.intp]
    label: NDArray[np.intp]
    person: NDArray[np.intp]
    applies: NDArray[np.bool_]
    again: NDArray[np.bool_]  # whether somebody else has been asked this before
    n_items: int
    n_labels: int

    def answers(self, said: NDArray[np.bool_]) -> Answers:
        """Return the answers, in which people said these things."""
        asked = np.zeros((len(said), self.n_labels), dtype=np.uint8)
        asked[np.arange(len(said)), self.label] = 1
        yes = said[:, np.newaxis].astype(np.uint8)
        return Answers.from_arrays(
            relevant=asked * yes,
            absent=asked * (1 - yes),
            offered=asked,
            question="asked",
            item=self.item,
            annotator=np.array([f"{each:02d}" for each in self.person]),
            probability=1 / self.n_labels,
            n_items=self.n_items,
        )


def ask(Y: NDArray[np.uint8], share_twice: float, rng: np.random.Generator) -> Asked:
    """Ask one question about each item, and a share of them again, another person."""
    n_items, n_labels = Y.shape
    label = rng.integers(n_labels, size=n_items)
    person = rng.integers(_PEOPLE, size=n_items)
    again = np.flatnonzero(rng.random(n_items) < share_twice)
    other = (person[again] + rng.integers(1, _PEOPLE, size=len(again))) % _PEOPLE
    item = np.concatenate([np.arange(n_items), again])
    order = np.argsort(item, kind="stable")  # as Answers orders them
    item, is_again = item[order], order >= n_items
    label = label[item]
    applies = Y[item, label] == 1
    people = np.concatenate([person, other])[order]
    return Asked(item, label, people, applies, is_again, n_items, n_labels)


def measure(
    dataset: MultiLabelDataset, options: argparse.Namespace, draw: int
) -> dict[str, dict[str, Any]]:
    """Fit each case to the training part of a fold, and measure on its test part."""
    rng = np.random.default_rng(draw)
    train, test = split_folds(dataset, n_folds=3, seed=draw)[0]
    X: Any = dataset.X
    Y = np.asarray(dataset.Y)
    missed = options.most_missed * np.linspace(0, 1, _PEOPLE) ** options.power
    invented = _INVENTED * np.exp(_SPREAD_OF_INVENTED * rng.standard_normal(_PEOPLE))
    asked = ask(Y[train], options.twice, rng)
    wrong = rng.random(len(asked.item)) < np.where(
        asked.applies, missed[asked.person], invented[asked.person]
    )
    true, said = asked.answers(asked.applies), asked.answers(asked.applies ^ wrong)
    names = said.annotator_names
    place = [int(name) for name in names]
    rates = {"missed": missed[place], "invented": invented[place]}
    auto = {"missed": "auto", "invented": "auto"}
    once = said.only(~asked.again)
    cases: dict[str, tuple[Answers, dict[str, Any]]] = {
        "no mistakes": (true, {}),
        "no mistakes, auto": (true, auto),
        "ignored": (once, {}),
        "given": (said, rates),
        "found": (said, auto),
    }
    results = {}
    for name in options.cases:
        answers, settings = cases[name]
        classifier = SelectionLikelihoodClassifier(
            kernel=options.kernel, random_state=draw, **settings
        )
        start = time.perf_counter()
        with one_thread(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            classifier.fit(X[train], answers)
        found: dict[str, Any] = {
            "seconds": time.perf_counter() - start,
            "precision": metrics.average_precision(Y[test], classifier.predict_proba(X[test])),
            "cardinality": classifier.mean_cardinality_ / Y[train].sum(axis=1).mean(),
            "warned": len(caught),
        }
        if name == "found" and hasattr(classifier, "missed_"):
            found |= errors_of_rates(asked, said, wrong, rates, classifier)
        results[name] = found
    return results


def errors_of_rates(
    asked: Asked,
    said: Answers,
    wrong: NDArray[np.bool_],
    rates: dict[str, Any],
    classifier: SelectionLikelihoodClassifier,
) -> dict[str, Any]:
    """Compare the rates of people with many answers with the true ones."""
    # Beside them: the rates that one would count if the true labels were known.
    code = said.annotator
    n_answers = np.bincount(code, minlength=len(said.annotator_names))
    many = n_answers >= _ENOUGH_ANSWERS
    found: dict[str, Any] = {"people": int(many.sum())}
    for name, applies in (("missed", asked.applies), ("invented", ~asked.applies)):
        n_wrong = np.bincount(code, weights=wrong & applies, minlength=len(n_answers))
        n_judged = np.bincount(code, weights=applies, minlength=len(n_answers))
        counted = n_wrong / np.maximum(n_judged, 1)
        of_classifier = getattr(classifier, f"{name}_")
        for kind, values in (("found", of_classifier), ("counted", counted)):
            error = np.abs(values - rates[name])[many]
            found[f"{name} {kind} off"] = error.mean() if len(error) else np.nan
            found[f"{name} {kind} within"] = (error <= 0.1).mean() if len(error) else np.nan
        found[f"mean {name}"] = of_classifier.mean()
        found[f"true {name}"] = rates[name].mean()
    return found


def show(name: str, draws: list[dict[str, dict[str, Any]]], case: str) -> None:
    """Print a row of means over draws."""
    rows = [each[case] for each in draws]

    def mean(key: str) -> float:
        return float(np.nanmean([row.get(key, np.nan) for row in rows]))

    precision = np.array([row["precision"] for row in rows])
    start = f"| {name} | {case} | {precision.mean():.4f} |"
    cardinality = ", ".join(f"{row['cardinality']:.3f}" for row in rows)
    line = f"{start} {mean('cardinality'):.3f} ({cardinality}) | {mean('seconds'):.0f} |"
    if "missed found off" in rows[0]:
        for side in ("missed", "invented"):
            line += (
                f" {mean(f'{side} found off'):.3f} ({mean(f'{side} counted off'):.3f}),"
                f" {mean(f'{side} found within'):.0%} ({mean(f'{side} counted within'):.0%}),"
                f" mean {mean(f'mean {side}'):.3f} ({mean(f'true {side}'):.3f}) |"
            )
    else:
        line += " | |"
    print(line, flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--twice", type=float, default=0.3, help="share of questions asked twice")
    parser.add_argument("--most-missed", type=float, default=_MOST_MISSED)
    parser.add_argument(
        "--power", type=float, default=1.0, help="above 1: more people miss little (1: evenly)"
    )
    parser.add_argument("--kernel", choices=("linear", "auto"), default="linear")
    parser.add_argument("--cases", nargs="+", choices=_CASES, default=_CASES)
    options = parser.parse_args()
    print(
        f"kernel={options.kernel!r}, {options.draws} draws, {options.twice:.0%} asked twice,"
        f" missed up to {options.most_missed} (power {options.power:g}); rates"
        f" of people with {_ENOUGH_ANSWERS} answers (in brackets: counted with the true labels):\n"
        "\n| dataset | case | average precision | cardinality by the true one | seconds |"
        " missed: off by, within .1, mean | invented |\n|---|---|---|---|---|---|---|"
    )
    for name in options.datasets:
        dataset = load_dataset(name, data_dir=options.data_dir)
        draws = []
        for draw in range(options.draws):
            draws.append(measure(dataset, options, draw))
            print(f"{name}: draw {draw + 1} of {options.draws}", file=sys.stderr, flush=True)
        for case in options.cases:
            show(name, draws, case)


if __name__ == "__main__":
    main()
