"""How well the frequency of each single label is estimated, rare ones included, beside rivals.

A ridge regression learns from a tenth of the items, with all their labels, and predicts the others.
These are the items about which random yes/no questions are asked, many times anew. Compared are
plain counts with intervals of Clopper and Pearson, prediction-powered inference (``ppi_py``, with
its tuned weight; ``pip install ppi-python``), and ``estimate_label_frequencies`` without and with
the same predictions. Printed are, over draws: root mean square errors, how often intervals of 95 %
hold the truth, and their length; for all labels, and for those that are held least often.

With ``--missed`` and ``--invented`` the answers err at these rates. complabel is told, and plain
counts are corrected by the formula of Rogan and Gladen; ``ppi_py`` knows no mistakes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.linear_model import Ridge

from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.frequencies import estimate_label_frequencies
from complabel.simulate import draw_answers

Array: TypeAlias = NDArray[np.float64]
Found: TypeAlias = tuple[Array, Array]  # estimates (K,) and intervals (K, 2)
_CASES = ("scene:200", "yeast:200", "yeast:600", "corel5k:5000")
_LEARNED_FROM = 0.1


def items_and_predictions(name: str, data_dir: Path | None) -> tuple[Any, Array]:
    """Return the labels (n, K) of the items to ask about, and predictions of them."""
    # As published: preprocessing would leave out rare labels.
    data = load_dataset(name, data_dir=data_dir, preprocessed=False)
    X, Y = (
        np.asarray(each.toarray() if hasattr(each, "toarray") else each)
        for each in (data.X, data.Y)
    )
    order = np.random.default_rng(0).permutation(len(Y))
    cut = int(_LEARNED_FROM * len(Y))
    model = Ridge(alpha=1.0).fit(X[order[:cut]], Y[order[:cut]])
    return Y[order[cut:]], np.clip(model.predict(X[order[cut:]]), 0, 1)


def erring(answers: Answers, missed: float, invented: float, draw: int) -> Answers:
    """Return yes/no answers with mistakes at these rates."""
    if not missed and not invented:
        return answers
    label = (answers.relevant + answers.absent).tocsr().indices
    yes = np.asarray(answers.relevant.sum(axis=1)).ravel() > 0
    chance = np.where(yes, 1 - missed, invented)
    said = np.random.default_rng([draw, 8]).random(len(yes)) < chance
    marks = np.zeros((len(yes), answers.n_labels), dtype=np.uint8)
    marks[np.arange(len(yes)), label] = 1
    return Answers.from_arrays(
        item=answers.item,
        n_items=answers.n_items,
        relevant=marks * said[:, np.newaxis],
        absent=marks * ~said[:, np.newaxis],
        probability=answers.probability,
    )


def judgements(answers: Answers) -> tuple[Array, Array]:
    """Return the numbers of "yes" and of judgements, both (K,)."""
    yes = np.asarray(answers.relevant.sum(axis=0), dtype=np.float64).ravel()
    return yes, yes + np.asarray(answers.absent.sum(axis=0)).ravel()


def counted(answers: Answers, missed: float, invented: float) -> Found:
    """Estimate by plain counts, with intervals of Clopper and Pearson, corrected for mistakes."""
    yes, n = judgements(answers)
    low = np.where(yes > 0, stats.beta.ppf(0.025, np.maximum(yes, 1e-9), n - yes + 1), 0.0)
    high = np.where(yes < n, stats.beta.ppf(0.975, yes + 1, np.maximum(n - yes, 1e-9)), 1.0)
    shares = np.where(n > 0, yes / np.maximum(n, 1), yes.sum() / n.sum())
    corrected = [(each - invented) / (1 - missed - invented) for each in (shares, low, high)]
    values, *ends = (np.clip(each, 0, 1) for each in corrected)
    return values, np.stack(ends, axis=1)


def powered(answers: Answers, predictions: Array) -> Found:
    """Estimate by ``ppi_py``; a label with fewer than two judgements counts as unknown."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    yes, n = judgements(answers)
    values = np.full(len(yes), yes.sum() / n.sum())
    intervals = np.tile([0.0, 1.0], (len(yes), 1))
    label = (answers.relevant + answers.absent).tocsr().indices
    said = np.asarray(answers.relevant.sum(axis=1), dtype=np.float64).ravel()
    for k in np.flatnonzero(n >= 2):
        rows = label == k
        given = said[rows], predictions[answers.item[rows], k], predictions[:, k]
        # Its tuned weight is 0 / 0 where predictions are all alike: then it is not powered.
        weight = None if np.ptp(given[1]) > 0 else 0.0
        values[k] = float(np.ravel(ppi_mean_pointestimate(*given, lam=weight))[0])
        intervals[k] = np.ravel(ppi_mean_ci(*given, alpha=0.05, lam=weight))
    return values, intervals


def methods(
    predictions: Array, missed: float, invented: float
) -> dict[str, Callable[[Answers], Found]]:
    """Return the estimates to compare, by name."""

    def ours(answers: Answers, **given: Any) -> Found:
        found = estimate_label_frequencies(answers, missed=missed, invented=invented, **given)
        return found.values, found.intervals

    return {
        "plain counts, Clopper-Pearson": lambda answers: counted(answers, missed, invented),
        "`ppi_py`": lambda answers: powered(answers, predictions),
        "complabel": ours,
        "complabel with predictions": lambda answers: ours(answers, predictions=predictions),
    }


def table(found: dict[str, list[Found]], truth: Array, title: str, n_shown: int) -> str:
    """Return a table of methods, and one of the labels that complabel holds least often."""
    lines = [
        f"\n**{title}**\n",
        "| | error, mean over labels | largest | held, mean | worst label | labels below 90 % "
        "| length |\n|---|---|---|---|---|---|---|",
    ]
    errors, held = {}, {}
    for name, draws in found.items():
        values, intervals = (np.stack(part) for part in zip(*draws, strict=True))
        low, high = intervals[..., 0], intervals[..., 1]
        error = errors[name] = np.sqrt(((values - truth) ** 2).mean(axis=0))
        hold = held[name] = 100 * ((low <= truth) & (truth <= high)).mean(axis=0)
        lines.append(
            f"| {name} | {error.mean():.4f} | {error.max():.3f} | {hold.mean():.0f} %"
            f" | {hold.min():.0f} % | {np.count_nonzero(hold < 90)} of {len(truth)}"
            f" | {(high - low).mean():.3f} |"
        )
    lines.append("\n| frequency |" + "".join(f" {name}: error | held |" for name in found))
    lines.append("|---" * (2 * len(found) + 1) + "|")
    worst = sorted(range(len(truth)), key=lambda k: (held["complabel"][k], truth[k]))
    for k in worst[:n_shown]:
        cells = "".join(f" {errors[name][k]:.3f} | {held[name][k]:.0f} |" for name in found)
        lines.append(f"| {truth[k]:.4f} |{cells}")
    return "\n".join(lines)


def main() -> None:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=_CASES, help="DATASET:QUESTIONS")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--labels", type=int, default=14, help="labels to show, worst first")
    parser.add_argument("--missed", type=float, default=0.0)
    parser.add_argument("--invented", type=float, default=0.0)
    options = parser.parse_args()
    for case in options.cases:
        name, n_asked = case.split(":")
        Y, predictions = items_and_predictions(name, options.data_dir)
        compared = methods(predictions, options.missed, options.invented)
        found: dict[str, list[Found]] = {each: [] for each in compared}
        for draw in range(options.draws):
            print(f"\r{case}: draw {draw + 1} of {options.draws}", end="", file=sys.stderr)
            rounds = -(-int(n_asked) // len(Y))  # one question for each item, in each round
            asked = [
                draw_answers(
                    Y,
                    question="asked",
                    items_share=int(n_asked) / rounds / len(Y),
                    random_state=np.random.default_rng([draw, number]),
                )
                for number in range(rounds)
            ]
            answers = erring(Answers.concatenate(asked), options.missed, options.invented, draw)
            for each, estimate in compared.items():
                found[each].append(estimate(answers))
        print(file=sys.stderr)
        title = f"{name}, {int(n_asked):,} questions, {Y.shape[1]} labels, {options.draws} draws"
        print(table(found, Y.mean(axis=0), title, options.labels), flush=True)


if __name__ == "__main__":
    main()
