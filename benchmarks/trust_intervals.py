"""How often the intervals of ``estimate_metrics`` hold the truth, and how long they are.

A model learns from one yes/no answer about each item of one half. Then questions about random pairs
of an item and a label of the other half are drawn and answered, many times anew. Compared are the
figures that these answers give with those of all labels: errors (root mean square), how often
intervals of 95 % hold the truth, and their mean length. Beside ``estimate_metrics`` stand the plain
bootstrap over the judged items, with 1,000 replicates and percentiles, and, for precision, which is
a mean over predicted pairs, prediction-powered inference (``ppi_py``, with its tuned weight;
``pip install ppi-python``; left out if it is not installed).

``--missed`` and ``--invented`` make the answers err; ``estimate_metrics`` is told. ``--ticked``
asks for all labels of items instead, as many judgements in all. With ``--new-items`` each draw has
other items, drawn from the second half with replacement: its labels are the truth about all items
of the kind.

``--shares`` is about small populations, of which a large part is judged: ``--items`` of the second
half, others in each draw, and these shares of all their pairs. ``--aimed`` draws them without
replacement, with the chances of the first draw, as a sitting does that is aimed at a figure.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score

from complabel.answers import Answers
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers
from complabel.trust import estimate_metrics
from complabel.trust._metrics import _chances

Array: TypeAlias = NDArray[np.float64]
_DATASETS = ("scene", "yeast", "digits")
_NAMES = {"precision": "precision", "recall": "recall", "f1": "F1", "average_precision": "AP"}
_REPLICATES = 1000


def labels_and_probabilities(name: str, data_dir: Path | None) -> tuple[Any, Array]:
    """Return the labels (n, K) of the items to ask about, and the model's probabilities."""
    data = load_dataset(name, data_dir=data_dir)
    X = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)
    Y = np.asarray(data.Y)
    order = np.random.default_rng(0).permutation(len(Y))
    train, test = np.split(order, [len(Y) // 2])
    answers = draw_answers(Y[train], question="asked", random_state=1)
    model = SelectionLikelihoodClassifier(kernel="linear", random_state=0).fit(X[train], answers)
    return Y[test], model.predict_proba(X[test])


def true_figures(Y: Any, probabilities: Array) -> dict[str, float]:
    """Compute the figures with scikit-learn."""
    y, predicted = Y.ravel(), (probabilities >= 0.5).ravel()
    return {
        "precision": precision_score(y, predicted),
        "recall": recall_score(y, predicted),
        "f1": f1_score(y, predicted),
        "average_precision": average_precision_score(y, probabilities.ravel()),
    }


def judged(
    Y: Any, n_judged: int, rates: tuple[float, float], rng: np.random.Generator, *, ticked: bool
) -> Answers:
    """Draw answers: yes or no about pairs, or about all labels of items."""
    missed, invented = rates
    n, n_labels = Y.shape
    seen = (rng.random(Y.shape) < np.where(Y == 1, 1 - missed, invented)).astype(np.uint8)
    if ticked:
        item = np.sort(rng.choice(n, min(n, round(n_judged / n_labels)), replace=False))
        absent = 1 - seen[item]
        return Answers.from_arrays(absent=absent, question="ticked", item=item, n_items=n)
    item, label = np.divmod(np.sort(rng.choice(Y.size, n_judged, replace=False)), n_labels)
    return asked(seen, item, label, 1 / n_labels)


def asked(seen: Any, item: Any, label: Any, probability: Any) -> Answers:
    """Return yes or no about pairs of (n, K)."""
    marks = np.eye(seen.shape[1], dtype=np.uint8)[label]
    yes = seen[item, label][:, np.newaxis].astype(np.uint8)
    return Answers.from_arrays(
        relevant=marks * yes,
        absent=marks * (1 - yes),
        item=item,
        n_items=len(seen),
        probability=probability,
    )


def of_shares(options: Any) -> None:
    """Print how often intervals hold where a large part of all pairs of few items is judged."""
    print("| data | items | questions | judged | figure | bias | error | held | length |")
    print("|---|--:|---|--:|---|--:|--:|--:|--:|")
    for name in options.datasets:
        of_share(name, *labels_and_probabilities(name, options.data_dir), options)


def of_share(name: str, Y: Any, probabilities: Array, options: Any) -> None:
    """Print the same of one dataset."""
    for aimed in (None, *options.aimed):
        for share in options.shares:
            found = defaultdict(list)
            for draw in range(options.draws):
                rng = np.random.default_rng([draw, 1])
                rows = rng.permutation(len(Y))[: options.items]
                P, truth = probabilities[rows], Y[rows]
                n = round(share * P.size)
                chance = np.full(P.size, 1 / P.shape[1])
                if aimed is not None:
                    chance = _chances(P.ravel(), P.ravel() >= 0.5, aimed, len(P))
                pair = np.argsort(rng.random(P.size) / chance)[:n]
                answers = asked(truth, *np.divmod(pair, P.shape[1]), chance[pair])
                ours = estimate_metrics(answers, P, new_items=False)
                for each, value in true_figures(truth, P).items():
                    figure = getattr(ours, each)
                    is_held = figure.low - 1e-9 <= value <= figure.high + 1e-9
                    found[each].append((figure.value - value, is_held, figure.high - figure.low))
            for each, values in found.items():
                off, held, length = np.array(values).T
                print(
                    f"| {name} | {len(P)} | {aimed or 'random'} | {100 * share:.0f} %"
                    f" | {_NAMES[each]} | {off.mean():+.4f} | {np.sqrt((off**2).mean()):.4f}"
                    f" | {100 * held.mean():.1f} % | {length.mean():.3f} |",
                    flush=True,
                )


def bootstrapped(answers: Answers, probabilities: Array, rng: np.random.Generator) -> Any:
    """Return values and intervals of the figures by the plain bootstrap over judged items."""
    said = answers.statements()
    p = probabilities[said.item, said.label]
    order = np.argsort(-p, kind="stable")
    applies, predicted = said.applies[order].astype(float), (p >= 0.5)[order]
    _, item = np.unique(said.item[order], return_inverse=True)
    n_items = item.max() + 1
    weights = rng.multinomial(n_items, np.full(n_items, 1 / n_items), size=_REPLICATES)
    weights = np.vstack([np.ones(n_items), weights])[:, item]  # the first row is what was seen
    last = np.append(p[order][1:] != p[order][:-1], True)
    end = np.searchsorted(np.flatnonzero(last), np.arange(len(p)))
    end = np.flatnonzero(last)[end]  # equal scores share the last place
    with np.errstate(invalid="ignore"):
        hits, found = weights @ (applies * predicted), weights @ predicted
        total = weights @ applies
        above = np.cumsum(weights * applies, axis=1) / np.cumsum(weights, axis=1)
        values = {
            "precision": hits / found,
            "recall": hits / total,
            "f1": 2 * hits / (found + total),
            "average_precision": np.nansum(weights * applies * above[:, end], axis=1) / total,
        }
        return {k: (v[0], *np.nanquantile(v[1:], [0.025, 0.975])) for k, v in values.items()}


def powered(answers: Answers, probabilities: Array) -> Any:
    """Return the precision by ``ppi_py``, and its interval; None if it is not installed."""
    try:
        from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
    except ImportError:
        return None
    said = answers.statements()
    p = probabilities[said.item, said.label]
    given = said.applies[p >= 0.5].astype(float), p[p >= 0.5], probabilities[probabilities >= 0.5]
    if len(given[0]) < 2:
        return np.nan, 0.0, 1.0
    low, high = ppi_mean_ci(*given, alpha=0.05)
    return tuple(float(np.ravel(each)[0]) for each in (ppi_mean_pointestimate(*given), low, high))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=_DATASETS)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--questions", type=int, nargs="+", default=(200, 1000))
    parser.add_argument("--missed", type=float, default=0.0)
    parser.add_argument("--invented", type=float, default=0.0)
    parser.add_argument("--ticked", action="store_true")
    parser.add_argument("--new-items", action="store_true")
    parser.add_argument("--alone", action="store_true", help="without the others, which are slow")
    parser.add_argument("--shares", type=float, nargs="+", help="of all pairs that are judged")
    parser.add_argument("--items", type=int, default=169, help="with --shares")
    parser.add_argument("--aimed", nargs="*", default=["average_precision", "f1"])
    options = parser.parse_args()
    if options.shares:
        of_shares(options)
    else:
        of_numbers(options)


def of_numbers(options: Any) -> None:
    """Print how often intervals hold with numbers of questions, beside other ways."""
    rates = options.missed, options.invented
    print("| data | judgements | figure | truth | estimate | error | held | length |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.datasets:
        Y, probabilities = labels_and_probabilities(name, options.data_dir)
        truth = true_figures(Y, probabilities)
        for n_judged in options.questions:
            found: dict[tuple[str, str], list[Any]] = defaultdict(list)
            for draw in range(options.draws):
                print(f"\r{name}, {n_judged}: draw {draw + 1}", end="", file=sys.stderr)
                rng = np.random.default_rng([draw, n_judged])
                rows: Any = slice(None)
                if options.new_items:
                    rows = rng.integers(len(Y), size=len(Y))
                P = probabilities[rows]
                answers = judged(Y[rows], n_judged, rates, rng, ticked=options.ticked)
                ours = estimate_metrics(
                    answers, P, missed=rates[0], invented=rates[1], new_items=options.new_items
                )
                for each in truth:
                    figure = getattr(ours, each)
                    found[each, "complabel"].append((figure.value, figure.low, figure.high))
                if options.alone:
                    continue
                for each, values in bootstrapped(answers, P, rng).items():
                    found[each, "bootstrap"].append(values)
                if (values := powered(answers, P)) is not None:
                    found["precision", "`ppi_py`"].append(values)
            print(file=sys.stderr)
            for (each, by), values in sorted(
                found.items(), key=lambda of: [*truth].index(of[0][0])
            ):
                value, low, high = np.array(values).T
                held = 100 * np.mean((low <= truth[each]) & (truth[each] <= high))
                error = np.sqrt(np.nanmean((value - truth[each]) ** 2))
                print(
                    f"| {name} | {n_judged:,} | {_NAMES[each]} | {truth[each]:.3f} | {by}"
                    f" | {error:.4f} | {held:.1f} % | {np.mean(high - low):.3f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
