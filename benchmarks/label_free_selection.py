"""How well the held-out complementary likelihood tracks what true labels would say.

For each dataset, one fold is held out, models with a grid of settings are fitted to complementary
labels of the rest, and each is scored twice on the held-out part: by the likelihood of its
complementary labels, and by average precision on its true labels. Nothing is chosen by the second.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path

import joblib
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from complabel import metrics
from complabel._training import one_thread
from complabel.datasets import MultiLabelDataset
from complabel.experiments.datasets import load_dataset
from complabel.experiments.studies import split_folds
from complabel.methods import ComplementaryClassifier, make_classifier
from complabel.simulate import draw_complementary

_FOLDS = 3


def models(n_labels: int) -> Iterator[tuple[str, ComplementaryClassifier]]:
    """Yield each method with each of its settings."""
    for alpha, c, scaling in itertools.product(
        (3e-3, 1e-2, 3e-2, 1e-1, 3e-1), (1.0, 2.0, 4.0, 6.0), ("global", "standardize")
    ):
        if c < n_labels and (c != 6.0 or scaling == "global"):
            yield (
                "selection-likelihood",
                make_classifier(
                    "selection-likelihood:kernel=linear",
                    alpha=alpha,
                    cardinality=c,
                    scaling=scaling,
                ),
            )
    for rate, beta, decay in itertools.product((1e-1, 1e-2, 1e-3), (0.1, 1.0), (1e-4, 1e-2)):
        yield (
            "mlcl",
            make_classifier(
                "mlcl", learning_rate=rate, beta=beta, weight_decay=decay, random_state=0
            ),
        )


def score(classifier: ComplementaryClassifier, dataset: MultiLabelDataset) -> tuple[float, float]:
    """Return the held-out complementary log-likelihood, and average precision beside it."""
    labels = draw_complementary(dataset.Y, random_state=0)
    train, test = split_folds(dataset, n_folds=_FOLDS, seed=0)[0]
    with one_thread():
        classifier.fit(dataset.X[train], labels[train])
        return (
            classifier.score(dataset.X[test], labels[test]),
            metrics.average_precision(dataset.Y[test], classifier.predict_proba(dataset.X[test])),
        )


def cardinality_curve(dataset: MultiLabelDataset) -> str:
    """Return what the automatic choice saw over the cardinality, and what it took."""
    labels = draw_complementary(dataset.Y, random_state=0)
    train, _ = split_folds(dataset, n_folds=_FOLDS, seed=0)[0]
    classifier = make_classifier("selection-likelihood", random_state=0)
    with one_thread():
        classifier.fit(dataset.X[train], labels[train])
    curve = classifier.cardinality_curve_  # type: ignore[attr-defined]
    points = zip(curve["cardinality"], curve["mean_log_likelihood"], strict=True)
    return (
        f"| {dataset.name} | {dataset.label_cardinality:.2f} | {classifier.cardinality_:g} | "  # type: ignore[attr-defined]
        + ", ".join(f"{c:g}: {value:.4f}" for c, value in points)
        + " |"
    )


def main() -> None:
    """Print a table and draw a picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--picture", type=Path, default=Path("label_free_selection.svg"))
    options = parser.parse_args()
    figure = Figure(figsize=(3.1 * len(options.datasets), 3.2), layout="constrained")
    plots = figure.subplots(1, len(options.datasets), squeeze=False)[0]
    print("| dataset | method | settings | rank correlation | chosen AP | best AP | worst AP |")
    print("|---|---|---|---|---|---|---|")
    for plot, name in zip(plots, options.datasets, strict=True):
        dataset = load_dataset(name, data_dir=options.data_dir)
        named = list(models(dataset.n_labels))
        scores = np.array(
            joblib.Parallel(options.jobs)(joblib.delayed(score)(m, dataset) for _, m in named)
        )
        for method, marker in (("selection-likelihood", "o"), ("mlcl", "s")):
            likelihood, precision = scores[[n == method for n, _ in named]].T
            correlation = spearmanr(likelihood, precision).statistic
            print(
                f"| {name} | {method} | {len(likelihood)} | {correlation:.2f} |"
                f" {precision[likelihood.argmax()]:.3f} | {precision.max():.3f} |"
                f" {precision.min():.3f} |",
                flush=True,
            )
            (points,) = plot.plot(likelihood, precision, marker, markersize=4, alpha=0.6)
            plot.plot(
                likelihood.max(),
                precision[likelihood.argmax()],
                marker,
                markersize=9,
                markerfacecolor="none",
                color=points.get_color(),
                label=method,
            )
        plot.set_title(name)
        plot.set_xlabel("held-out log-likelihood, nats")
        plot.locator_params(axis="x", nbins=4)
    plots[0].set_ylabel("average precision")
    plots[0].legend(loc="lower right", fontsize="small")
    print("\n| dataset | true | chosen | held-out log-likelihood at each c |\n|---|---|---|---|")
    loaded = [load_dataset(name, data_dir=options.data_dir) for name in options.datasets]
    lines = joblib.Parallel(options.jobs)(joblib.delayed(cardinality_curve)(d) for d in loaded)
    print("\n".join(lines))
    figure.savefig(options.picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
