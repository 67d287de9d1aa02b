"""Can probabilities be believed? Four ways of asking, beside full supervision.

Each method is fitted to the training part of three folds, and its ``predict_proba`` is compared
with the true labels of the test part, which serve for measuring only. Biased naming has
propensities exp(z), z standard normal. The fits of a folder ``--store`` are kept: the same command
continues after an interruption, and prints tables without fitting again.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from benchmarks.audits import audit_of
from benchmarks.logistic import TunedLogistic
from complabel._training import one_thread
from complabel.answers import Answers
from complabel.datasets import MultiLabelDataset
from complabel.experiments.datasets import load_dataset
from complabel.experiments.methods import SupervisedClassifier, make_paper_classifier
from complabel.experiments.studies import split_folds
from complabel.methods import (
    FrequencyMatchedClassifier,
    SelectionLikelihoodClassifier,
    make_classifier,
)
from complabel.simulate import draw_answers, draw_propensities
from complabel.trust import reliability

_INK = "#6e7781"  # can be read on light and dark pages
_LINES: Any = {
    "asked": {"color": "#c2571a", "marker": "s"},
    "ticked": {"color": "#2f6fb0", "marker": "o"},
    "menu": {"color": "#2e8b57", "marker": "^"},
    "named": {"color": "#8e5bb5", "marker": "D"},
    "truth": {"color": _INK, "marker": ".", "linestyle": "--"},
}
_STYLE: Any = {"svg.hashsalt": "complabel", "font.size": 10, "svg.fonttype": "path"}
Array: TypeAlias = NDArray[np.float64]
FOLDS, PARTS, AUDIT, BINS = 3, 3, 200, 15
WAYS = {
    "asked": "one yes or no for each item",
    "ticked": "all ticked, 25 % of the items",
    "menu": "one of two labels named, biased",
    "named": "labels named, biased, and 200 questions",
    "truth": "true labels",
}
METHODS = ("kernel", "linear", "ridge, matched", "mlcl")
REFERENCES = ("kernel", "linear", "scikit-learn")


def made(method: str, way: str, name: str) -> Any:
    """Return an unfitted method; on true labels, the selection likelihood is ``supervised``."""
    own = SupervisedClassifier if way == "truth" else SelectionLikelihoodClassifier
    return {
        "kernel": own(random_state=0),
        "linear": own(kernel="linear", random_state=0),
        "ridge, matched": FrequencyMatchedClassifier(make_classifier("ridge")),
        "mlcl": make_paper_classifier("mlcl", name, random_state=0),
        "scikit-learn": TunedLogistic(),
    }[method]


def load(name: str, data_dir: Path | None) -> MultiLabelDataset:
    """Load a dataset, or make a synthetic one, whose seed is the number behind the name."""
    if name.startswith("synthetic"):
        seed = int(name.removeprefix("synthetic-"))
        return load_dataset("synthetic", random_state=seed)
    data = load_dataset(name, data_dir=data_dir)
    if data.known is None:
        return data
    X: Any = data.X
    return replace(data, X=X[data.known], Y=data.Y[data.known], excluded=None, known=None)


def answers_of(Y: Any, way: str, train: Any, fold: int) -> Answers:
    """Return what people say about the training items when they are asked in one way."""
    propensities = draw_propensities(Y.shape[1], 1.0, np.random.default_rng((0, 1)))
    if way == "asked":
        return draw_answers(Y, question="asked", random_state=0)[train]
    if way == "ticked":
        return draw_answers(Y, question="ticked", items_share=0.25, random_state=0)[train]
    if way == "menu":
        how: dict[str, Any] = {"question": "menu-2", "propensities": propensities}
        return draw_answers(Y, **how, random_state=0)[train]
    named = draw_answers(Y, propensities=propensities, random_state=0)[train]
    return Answers.concatenate([named, audit_of(Y[train], AUDIT, (0, 3, fold))])


def crossed(model: Any, X: Any, answers: Answers) -> Array:
    """Return scores (n, K) of the items, each by a clone that is fitted to the other parts."""
    part = np.random.default_rng(0).permutation(X.shape[0]) % PARTS
    names = ("kernel", "scaling", "gamma", "rank", "cardinality")
    fixed = {each: getattr(model, f"{each}_", model.get_params()[each]) for each in names}
    fixed["rank"] = getattr(model, "rank_", None)
    # The loss is a mean over items, so fewer items need a greater alpha for the same penalty.
    fixed["alpha"] = model.alpha_ * PARTS / (PARTS - 1)
    for each in ("label_frequencies", "propensities"):
        if hasattr(model, f"{each}_"):
            fixed[each] = getattr(model, f"{each}_")
    scores = np.empty((X.shape[0], answers.n_labels))
    for number in range(PARTS):
        rest, rows = np.flatnonzero(part != number), np.flatnonzero(part == number)
        fitted = clone(model).set_params(**fixed).fit(X[rest], answers[rest])
        scores[rows] = fitted.decision_function(X[rows])
    return scores


def fit(data: MultiLabelDataset, way: str, method: str, fold: int, path: Path) -> dict[str, Array]:
    """Return log-odds of the test items and, of our method, cross-fitted ones of the others."""
    if path.exists():
        return {**np.load(path)}
    train, test = split_folds(data, n_folds=FOLDS, seed=0)[fold]
    X: Any = data.X
    Y = np.asarray(data.Y)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told: Any = Y[train] if way == "truth" else answers_of(Y, way, train, fold)
        model = made(method, way, data.name).fit(X[train], told)
        p = model.predict_proba(X[test])
        decision = model.decision_function(X[test])
        found = {"p": p, "log_odds": model._log_odds(decision)}
        if way != "truth" and method == "kernel":
            found["crossed"] = crossed(model, X[train], told)
            if hasattr(model, "propensities_"):
                found["propensities"] = model.propensities_
    np.savez_compressed(path, **found)
    return found


def measures(Y: Any, found: dict[str, Array]) -> dict[str, float]:
    """Return how far probabilities of the test items are from what is true."""
    p, log_odds, y = found["p"], found["log_odds"], np.asarray(Y, dtype=float)
    slope, intercept = recalibrating(log_odds, y)
    by_label = [squared_error(p[:, [k]], y[:, [k]]) for k in range(y.shape[1])]
    return {
        "error, plain": plain_error(p, y),
        "error": reliability(y, p, n_bins=BINS).error,
        "RMS error": max(0.0, squared_error(p, y)) ** 0.5,
        "RMS by label": max(0.0, float(np.mean(by_label))) ** 0.5,
        "Brier": float(np.mean((p - y) ** 2)),
        "log-loss": log_loss(log_odds, y),
        "slope": slope,
        "intercept": intercept,
        "cardinality": float(p.sum() / y.sum()),
    }


def log_loss(log_odds: Array, y: Array) -> float:
    """Return the mean over pairs, in nats."""
    return float(-np.mean(special.log_expit(np.where(y > 0, log_odds, -log_odds))))


def plain_error(p: Array, y: Array, bins: int = BINS) -> float:
    """Return the expected calibration error, with what chance adds to it."""
    n, mean, share = binned(p, y, bins)
    return float(n @ np.abs(share - mean) / n.sum())


def squared_error(p: Array, y: Array) -> float:
    """Return the squared calibration error without bias, by Kumar, Liang and Ma."""
    n, mean, share = binned(p, y)
    noise = share * (1 - share) / np.maximum(n - 1, 1)
    return float(n @ ((share - mean) ** 2 - noise) / n.sum())


def binned(p: Array, y: Array, bins: int = BINS) -> tuple[Array, Array, Array]:
    """Return sizes, mean probabilities and shares that apply, of bins of about equal sizes."""
    before = (stats.rankdata(p) - 0.5) / p.size
    _, place = np.unique((bins * before).astype(int), return_inverse=True)
    n = np.bincount(place).astype(float)
    mean, share = (np.bincount(place, weights=each.ravel()) / n for each in (p, y))
    return n, mean, share


def recalibrating(log_odds: Array, y: Array) -> tuple[float, float]:
    """Return slope and intercept of the logistic regression of labels on log-odds."""
    x = np.clip(log_odds.ravel(), -30, 30)[:, np.newaxis]
    if np.ptp(x) == 0:
        return 0.0, float(special.logit(y.mean()))
    model = LogisticRegression(C=np.inf).fit(x, y.ravel())
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def cells(name: str, options: argparse.Namespace) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield each way and method, with true labels of the test items and what was found."""
    data = load(name, options.data_dir)
    splits = split_folds(data, n_folds=FOLDS, seed=0)
    for way in WAYS:
        for method in REFERENCES if way == "truth" else METHODS:
            if options.methods and method not in options.methods:
                continue
            folds = []
            for fold, (_, test) in enumerate(splits):
                print(f"\r{name}, {way}, {method}, fold {fold} ", end="", file=sys.stderr)
                path = options.store / f"{name}-{way}-{method}-{fold}.npz"
                folds.append((np.asarray(data.Y[test]), fit(data, way, method, fold, path)))
            yield way, method, folds


def table(name: str, found: Sequence[tuple[str, str, list[Any]]]) -> str:
    """Return means over folds, each with its standard error."""
    lines = []
    for way, method, folds in found:
        each = [measures(Y, fitted) for Y, fitted in folds]
        if not lines:
            lines = [f"\n**{name}**\n", "| | |" + "".join(f" {key} |" for key in each[0])]
            lines.append("|---" * (2 + len(each[0])) + "|")
        text = f"| {WAYS[way]} | {method} |"
        for key in each[0]:
            values = np.array([measured[key] for measured in each])
            text += f" {values.mean():.3f} ± {values.std(ddof=1) / len(values) ** 0.5:.3f} |"
        lines.append(text)
    return "\n".join(lines)


def coverage(name: str, way: str, folds: list[Any], draws: int) -> str:
    """Return lines of a table: intervals from a few random questions about all test items."""
    Y = np.concatenate([true_labels for true_labels, _ in folds])
    p = np.concatenate([fitted["p"] for _, fitted in folds])
    bins, lines = 10, ""
    truth = plain_error(p, Y.astype(float), bins)
    for size in (200, 1000):
        errors, held = [], []
        for draw in range(draws):
            asked = audit_of(Y, size, (draw, 7))
            found = reliability(asked, p, n_bins=bins)
            label = (asked.relevant + asked.absent).tocsr().indices
            said, judged = Y[asked.item, label].astype(float), p[asked.item, label]
            rng = np.random.default_rng((draw, 8))
            again = [rng.integers(size, size=size) for _ in range(200)]
            plain = [plain_error(judged[rows], said[rows], bins) for rows in again]
            errors.append(
                (found.error, plain_error(judged, said, bins), np.diff(found.interval)[0])
            )
            ends = (found.interval, np.quantile(plain, [0.025, 0.975]))
            held.append([low <= truth <= high for low, high in ends])
        ours, alone, length = np.mean(errors, axis=0)
        hold, rival = 100 * np.mean(held, axis=0)
        lines += f"| {name} | {WAYS[way]} | {size:,} | {truth:.3f} | {alone:.3f} | {ours:.3f} |"
        lines += f" {length:.3f} | {hold:.0f} % | {rival:.0f} % |\n"
    return lines


def draw(found: dict[str, dict[str, list[Any]]], path: Path) -> None:
    """Draw the share that applies over the probability: a panel for each dataset."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    look: Any = {"markersize": 4, "linewidth": 1.6}
    with mpl.rc_context(_STYLE):
        # Two beside each other, so that letters stay large on a phone.
        shape = (-(-len(found) // 2), 2)
        size = (6.2, 3.1 * shape[0] + 0.8)
        figure, panels = plt.subplots(*shape, figsize=size, layout="constrained")
        for axes, (name, by_way) in zip(np.ravel(panels), found.items(), strict=False):
            axes.axline((0, 0), slope=1, color=_INK, alpha=0.5, linewidth=1)
            for way, folds in by_way.items():
                y = np.concatenate([true_labels for true_labels, _ in folds]).astype(float)
                _, mean, share = binned(np.concatenate([fitted["p"] for _, fitted in folds]), y)
                axes.plot(mean, share, label=WAYS[way], **_LINES[way], **look)
            axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
            axes.set_title(name, color=_INK)
            axes.set_xlabel("predicted probability", color=_INK)
            axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
            axes.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
            axes.tick_params(colors=_INK)
            axes.spines[["top", "right"]].set_visible(False)
            axes.spines[["left", "bottom"]].set_color(_INK)
        figure.supylabel("share to which the label applies", color=_INK, fontsize=10)
        first = np.ravel(panels)[0]
        figure.legend(
            *first.get_legend_handles_labels(),
            loc="outside lower center",
            ncols=2,
            columnspacing=1,
            frameon=False,
            labelcolor=_INK,
        )
        figure.savefig(path, transparent=True, metadata={"Date": None})
    print(f"wrote {path}")


def main() -> None:
    """Print a table for each dataset, and draw the diagram."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["scene", "yeast", "digits", "corel5k"])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--store", type=Path, default=Path("reliability"))
    parser.add_argument("--methods", nargs="+", choices={*METHODS, *REFERENCES})
    parser.add_argument("--coverage", type=int, default=0, help="draws of random questions")
    parser.add_argument("--picture", type=Path, help="file for the diagram, such as a.svg")
    options = parser.parse_args()
    options.store.mkdir(exist_ok=True)
    drawn: dict[str, dict[str, list[Any]]] = {}
    for name in options.datasets:
        found = list(cells(name, options))
        print(table(name, found), flush=True)
        drawn[name] = {way: folds for way, method, folds in found if method == "kernel"}
    if options.coverage:
        print("\n| | | questions | true error | plain | corrected | length | held | bootstrap |")
        print("|---" * 9 + "|")
        for name, by_way in drawn.items():
            for way in ("asked", "menu", "truth"):
                print(coverage(name, way, by_way[way], options.coverage), end="", flush=True)
    if options.picture:
        draw(drawn, options.picture)


if __name__ == "__main__":
    main()
