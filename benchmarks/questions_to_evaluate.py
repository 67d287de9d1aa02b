"""How much questions tell about a model that are drawn for one of its figures, beside random ones.

A model learns from one yes/no about a random label of each item of one half, once. Then yes/no
questions about the other half are drawn many times: at random, and for each figure by
``suggest_evaluation_questions``. ``estimate_metrics`` reads the answers. Printed are the root mean
square error of each figure, how often its interval of 95 % holds the truth (the figure of all pairs
of these items), and its mean width. The ratio of mean squared errors says how many random questions
tell as much as one that is drawn.

- ``--misled``: questions are drawn by the probabilities of other items, so by wrong ones.
- ``--equal-share``: the share of the chances that is equal for all pairs.
- ``--learn``: a model learns from its first answers with and without the answers to the questions;
  average precision on the items about which nothing was asked, and mean absolute error of the
  frequencies of labels.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import complabel.trust._metrics as drawing
from benchmarks.partly_known import DATASETS, fitted, halves
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.frequencies import estimate_label_frequencies
from complabel.methods import SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers
from complabel.trust import estimate_metrics, suggest_evaluation_questions

Array: TypeAlias = NDArray[np.float64]
FIGURES = ("precision", "recall", "f1", "average_precision")


def nothing_said(n_items: int, n_labels: int) -> Answers:
    """Return no answers about some items."""
    names = [str(label) for label in range(n_labels)]
    return Answers.from_table({"item": [], "label": []}, items=range(n_items), label_names=names)


def answered(table: Any, Y: NDArray[np.uint8], *, with_chances: bool = True) -> Answers:
    """Return the true answers to the questions of a table."""
    item, label = (table[name].to_numpy().astype(int) for name in ("item", "label"))
    marks = np.eye(Y.shape[1], dtype=np.uint8)[label]
    yes = Y[item, label][:, np.newaxis]
    return Answers.from_arrays(
        item=item,
        n_items=len(Y),
        relevant=marks * yes,
        absent=marks * (1 - yes),
        probability=table["probability"].to_numpy() if with_chances else None,
    )


def compare(Y: NDArray[np.uint8], p: Array, by: Array, n: int, n_draws: int) -> str:
    """Return a table of figures; questions are drawn by the probabilities ``by``."""
    nothing = nothing_said(*Y.shape)
    all_known = draw_answers(Y, question="ticked", random_state=0)
    truth = estimate_metrics(all_known, p, new_items=False)
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for draw in range(n_draws):
        print(f"\rdraw {draw + 1} of {n_draws}", end="", file=sys.stderr)
        tables = {"random": suggest_questions(nothing, n, random_state=draw)}
        for figure in FIGURES:
            tables[figure] = suggest_evaluation_questions(
                nothing, by, n, figure=figure, random_state=draw
            )
        for way, table in tables.items():
            estimates = estimate_metrics(answered(table, Y), p, new_items=False)
            for figure in FIGURES:
                each = getattr(estimates, figure)
                found.setdefault((way, figure), []).append((each.value, each.low, each.high))
    print(file=sys.stderr)
    lines = [
        "| figure | its value | random: error | held | width | drawn for it: error | held | width"
        " | worth, by error | by width | drawn for F1: worth | held |\n|" + "---|" * 12
    ]
    for figure in FIGURES:
        true = getattr(truth, figure).value
        errors, widths, held = {}, {}, {}
        for way in ("random", figure, "f1"):
            value, low, high = np.array(found[way, figure]).T
            errors[way] = np.sqrt(np.nanmean((value - true) ** 2))
            widths[way] = np.mean(high - low)
            held[way] = 100 * np.mean((low <= true) & (true <= high))
        cells = [
            f"{errors[way]:.4f} | {held[way]:.0f} % | {widths[way]:.3f}"
            for way in ("random", figure)
        ]
        worth = [(each["random"] / each[figure]) ** 2 for each in (errors, widths)]
        of_f1 = (errors["random"] / errors["f1"]) ** 2
        lines.append(
            f"| {figure} | {true:.3f} | {' | '.join(cells)} | {worth[0]:.2f} | {worth[1]:.2f}"
            f" | {of_f1:.2f} | {held['f1']:.0f} % |"
        )
    return "\n".join(lines)


def learned(parts: tuple[Any, ...], p: Array, n: int, n_draws: int) -> str:
    """Return a table of what a model learns from its first answers and those to the questions."""
    X, Y, X_held, Y_held = parts
    first = draw_answers(Y, question="asked", random_state=0)
    cut = len(Y_held) // 2  # questions are about these, the others measure the model
    both, labels = np.vstack([X, X_held[:cut]]), np.vstack([Y, Y_held[:cut]])
    ways: dict[str, list[tuple[float, float]]] = {}

    def measure(way: str, X_fit: Any, said: Answers, true: NDArray[np.uint8]) -> None:
        model = SelectionLikelihoodClassifier(random_state=0).fit(X_fit, said)
        score = average_precision(Y_held[cut:], model.predict_proba(X_held[cut:]))
        gap = np.abs(estimate_label_frequencies(said).values - true.mean(axis=0)).mean()
        ways.setdefault(way, []).append((score, float(gap)))

    measure("first answers alone", X, first, Y)
    for draw in range(n_draws):
        nothing = nothing_said(cut, Y.shape[1])
        tables = {
            "random questions": suggest_questions(nothing, n, random_state=draw),
            "for F1": suggest_evaluation_questions(nothing, p[:cut], n, random_state=draw),
        }
        more = {name: answered(table, Y_held[:cut]) for name, table in tables.items()}
        more["for F1, without chances"] = answered(
            tables["for F1"], Y_held[:cut], with_chances=False
        )
        for way, second in more.items():
            measure(way, both, stacked(first, second), labels)
    lines = ["| learns from | average precision | error of frequencies |\n|---|---|---|"]
    for way, values in ways.items():
        score, gap = np.mean(values, axis=0)
        lines.append(f"| {way} | {score:.4f} | {gap:.4f} |")
    return "\n".join(lines)


def stacked(first: Answers, second: Answers) -> Answers:
    """Return answers about two sets of items, one below the other."""
    n_items = first.n_items + second.n_items
    parts = [
        Answers.from_arrays(
            item=each.item + start,
            n_items=n_items,
            relevant=each.relevant,
            absent=each.absent,
            probability=each.probability,
        )
        for each, start in ((first, 0), (second, first.n_items))
    ]
    return Answers.concatenate(parts)


def main() -> None:
    """Print a table for each dataset."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--equal-share", type=float, default=drawing._EQUAL_SHARE)
    parser.add_argument("--misled", action="store_true")
    parser.add_argument("--learn", action="store_true")
    options = parser.parse_args()
    drawing._EQUAL_SHARE = options.equal_share
    warnings.simplefilter("ignore")  # some labels of some draws have no "yes"
    for name in options.datasets:
        parts = halves(name, options.data_dir)
        p = fitted(*parts[:2]).predict_proba(parts[2])
        print(f"\n**{name}**, {options.questions} questions, {options.draws} draws\n")
        if options.learn:
            print(learned(parts, p, options.questions, options.draws), flush=True)
            continue
        by = np.random.default_rng(0).permutation(p) if options.misled else p
        print(compare(parts[3], p, by, options.questions, options.draws), flush=True)


if __name__ == "__main__":
    main()
