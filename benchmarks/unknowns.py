"""Experiments on why some figures of ours differ from printed ones, one part at a time.

``starts`` fits MLCL from several starts. ``mlcl`` varies its settings and tries the loss of its
released code. ``l-uw`` tries readings of L-UW, optimizers and learning rates. ``candidates`` tries
ranks of fPML and weights of PML-LRS, with and without an intercept, on unscaled features. Labels
are drawn uniformly. True labels are only used to measure results on held-out rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from scipy.special import expit
from sklearn.model_selection import KFold
from torch.nn import functional

from complabel import metrics
from complabel.experiments.datasets import load_dataset
from complabel.experiments.losses import GDFLoss, LUWLoss
from complabel.experiments.methods import ComplementaryLossClassifier, make_paper_classifier
from complabel.losses import LogitLoss, MLCLLoss
from complabel.methods import MLCLClassifier, make_classifier
from complabel.simulate import draw_complementary

RATES = (0.1, 0.01, 0.001)
RATE_OF = {"yeast": 0.1, "delicious": 0.001, "scene": 0.01, "corel5k": 0.01, "corel16k": 0.01}
COLLAPSED = 0.01  # a label is dead if its mean score is below this
SETTINGS = {
    "adam": {"optimizer": "adam", "weight_decay": 1e-4, "milestones": ()},
    "sgd": {"optimizer": "sgd", "weight_decay": 1e-3, "milestones": (100, 150)},
}


class ReleasedLoss(LogitLoss):
    """The loss of MLCL's released code: fbar is a logit, and the norm of a batch is not squared."""

    def __init__(self, transition, *, as_logit=True, squared=False):
        super().__init__()
        self.register_buffer("transition", torch.tensor(transition, dtype=torch.float32))
        self.as_logit, self.squared = as_logit, squared

    def forward(self, logits, complementary):
        """Compute the loss of a batch."""
        implied = torch.sigmoid(logits) @ self.transition
        if self.as_logit:
            cross = functional.binary_cross_entropy_with_logits(implied, complementary)
        else:
            inside = implied.clamp(1e-6, 1 - 1e-6)
            cross = functional.binary_cross_entropy(inside, complementary)
        error = implied - complementary
        return cross + (error.square().sum(dim=1).mean() if self.squared else error.norm())


class ReleasedClassifier(MLCLClassifier):
    """MLCL with another loss in step two, made from T."""

    make_loss = staticmethod(ReleasedLoss)

    def _fit(self, X, complementary, relevant, /):
        del relevant
        generator = self._generator()
        self.learning_rate_ = self.learning_rate
        self._estimate_transition(X, complementary, generator)
        self.model_ = self._train(
            X,
            self.make_loss(self.transition_),
            {"complementary": complementary},
            generator=generator,
            stage="classifier",
        )


class LogitsAndSquares(ReleasedClassifier):
    """The released cross-entropy with the printed regularizer."""

    make_loss = staticmethod(partial(ReleasedLoss, squared=True))


class MeanAndNorm(ReleasedClassifier):
    """The printed cross-entropy, averaged over labels, with the released regularizer."""

    make_loss = staticmethod(partial(ReleasedLoss, as_logit=False))


class WeightedLUW(LogitLoss):
    """L-W for several labels: the weight of each entry of L-UW is 1 + (1 - g) / sum (1 - g)."""

    def forward(self, logits, complementary):
        """Compute the loss, without a gradient through the weights."""
        away = 1 - torch.sigmoid(logits)
        total = away.detach().sum(dim=1, keepdim=True)
        weight = 1 + away.detach() / total.clamp(min=1e-12)
        return functional.binary_cross_entropy_with_logits(away, complementary, weight=weight)


class MultiClass(LogitLoss):
    """L-UW as published for one label per instance: -log softmax(1 - softmax(f)) at the label."""

    def forward(self, logits, complementary):
        """Compute the loss."""
        log_q = torch.log_softmax(1 - torch.softmax(logits, dim=1), dim=1)
        return -(complementary * log_q).sum(dim=1).mean()


READINGS = {
    "A: sigmoid(1 - sigmoid)": LUWLoss,
    "A': A, weighted": WeightedLUW,
    "B: 1 - sigmoid (GDF)": GDFLoss,
    "softmax(1 - softmax)": MultiClass,
}


def problems(arguments, name):
    """Yield the training and test parts of the folds, for each draw of complementary labels."""
    data = load_dataset(name, data_dir=arguments.data_dir)
    for draw in range(arguments.draws):
        complementary = draw_complementary(data.Y, random_state=draw)
        splits = KFold(arguments.folds, shuffle=True, random_state=draw).split(data.Y)
        for fold, (train, test) in enumerate(splits):
            if fold < arguments.only:
                yield draw * 100 + fold, data, complementary, train, test


def training_loss(classifier, X, complementary):
    """Return the loss that MLCL has minimized, without the weight decay."""
    loss = MLCLLoss(torch.from_numpy(classifier.transition_), beta=classifier.beta)
    labels = torch.from_numpy(complementary.astype(float))
    return float(loss(torch.from_numpy(classifier.decision_function(X)), labels))


def starts(arguments):
    """Fit MLCL from several starts, and print average precision, dead labels and losses."""

    def one(data, complementary, train, seed, **settings):
        classifier = make_paper_classifier("mlcl", data.name, random_state=seed, **settings)
        return classifier.fit(data.X[train], complementary[train])

    def best_of(n_starts, data, complementary, train, seed):
        fits = [one(data, complementary, train, 1000 * seed + s) for s in range(n_starts)]
        losses = [training_loss(fit, data.X[train], complementary[train]) for fit in fits]
        return fits[int(np.argmin(losses))]

    ways: dict[str, Callable] = {
        "random": one,
        "prior": partial(one, bias_init="prior"),
    }
    if arguments.best_of:
        ways[f"best of {arguments.best_of} by training loss"] = partial(best_of, arguments.best_of)
    print("dataset | start | AP | worst AP | dead label | training loss | held-out log-likelihood")
    for name in arguments.datasets:
        found = {way: [] for way in ways}
        for seed, data, complementary, train, test in problems(arguments, name):
            for way, fit in ways.items():
                classifier = fit(data, complementary, train, seed)
                scores = classifier.decision_function(data.X[test])
                least = expit(classifier.decision_function(data.X[train])).mean(axis=0).min()
                found[way].append(
                    (
                        metrics.average_precision(data.Y[test], scores),
                        least < COLLAPSED,
                        training_loss(classifier, data.X[train], complementary[train]),
                        classifier.score(data.X[test], complementary[test]),
                    )
                )
        for way, rows in found.items():
            if rows:
                AP, dead, loss, held = np.array(rows, dtype=float).T
                print(
                    f"{name} | {way} | {AP.mean():.3f} | {AP.min():.3f} | {int(dead.sum())} of"
                    f" {len(dead)} | {loss.mean():.4f} | {held.mean():.4f}",
                    flush=True,
                )


def table(arguments, variants):
    """Print five criteria of each variant."""
    criteria = ("hamming_loss", "ranking_loss", "one_error", "coverage", "average_precision")
    print("dataset | variant", *criteria, sep=" | ")
    for name in arguments.datasets:
        for title, make in variants(name).items():
            if arguments.like not in title:
                continue
            found = []
            for seed, data, complementary, train, test in problems(arguments, name):
                classifier = make(seed + arguments.seed).fit(data.X[train], complementary[train])
                predicted, f = classifier.predict_with_proba(data.X[test])
                measured = metrics.evaluate(data.Y[test], f, predicted, skip_trivial_rows=True)
                found.append([measured[c] for c in criteria])
            cells = (f"{value:.3f}" for value in np.mean(found, axis=0))
            print(name, title, *cells, sep=" | ", flush=True)


def with_seed(make, seed, **settings):
    """Make a classifier, with a seed if it draws random numbers."""
    classifier = make(**settings)
    if hasattr(classifier, "random_state"):
        classifier.set_params(random_state=seed)
    return classifier


def mlcl(arguments):
    """Compare settings and losses of MLCL; seeds and draws show the influence of chance."""

    def variants(name):
        def of(kind=MLCLClassifier, **settings):
            fixed = {"learning_rate": RATE_OF[name], "threshold": "minmax", **settings}
            return partial(with_seed, kind, **fixed)

        return {
            "as it is": of(),
            "half the epochs": of(epochs=100),
            "twice the epochs": of(epochs=400),
            "bias_init = prior": of(bias_init="prior"),
            "rate .01, 20 epochs": of(learning_rate=0.01, epochs=20),
            "rate .01": of(learning_rate=0.01),
            "rate .1": of(learning_rate=0.1),
            "beta 0": of(beta=0.0),
            "beta 10": of(beta=10.0),
            "no weight decay": of(weight_decay=0.0),
            "weight decay times 15": of(weight_decay=1.5e-3),
            "uniform T": of(transition="uniform"),
            "phi": of(correlation="phi"),
            "no correlation": of(correlation=None),
            "released loss": of(ReleasedClassifier),
            "released loss, phi": of(ReleasedClassifier, correlation="phi"),
            "its cross-entropy only": of(LogitsAndSquares),
            "its norm only, mean over labels": of(MeanAndNorm),
        }

    table(arguments, variants)


def l_uw(arguments):
    """Compare readings of L-UW, with both papers' optimizers."""

    def variants(_name):
        return {
            f"{title}, {optimizer}, {rate:g}": partial(
                with_seed,
                ComplementaryLossClassifier,
                loss=loss,
                learning_rate=rate,
                threshold="minmax",
                **SETTINGS[optimizer],
            )
            for title, loss in READINGS.items()
            for optimizer in SETTINGS
            for rate in RATES
        }

    table(arguments, variants)


def candidates(arguments):
    """Compare ranks of fPML, and weights of PML-LRS."""

    def fpml(name):
        n_labels = {"scene": 6, "yeast": 14}.get(name, 15)
        return {
            f"fPML, rank {rank}, {said}": partial(
                with_seed, partial(make_classifier, "fpml"), rank=rank, fit_intercept=intercept
            )
            for rank in (1, 2, 3, (n_labels + 1) // 2, n_labels - 1)
            for said, intercept in (("bias", True), ("no bias", False))
        }

    def pml_lrs(_name):
        return {
            f"PML-LRS, gamma {gamma:g}, {said}": partial(
                with_seed, partial(make_classifier, "pml-lrs"), gamma=gamma, fit_intercept=intercept
            )
            for gamma in (0.01, 1, 10, 20, 50, 100, 200)
            for said, intercept in (("bias", True), ("no bias", False))
        }

    table(arguments, fpml)
    table(arguments, pml_lrs)


def main():
    """Run one part."""
    parts = {"starts": starts, "mlcl": mlcl, "l-uw": l_uw, "candidates": candidates}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--data-dir", help="folder with dataset files")
    parser.add_argument("--datasets", nargs="*", default=["scene", "yeast"])
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--only", type=int, default=10, help="fit the first folds only")
    parser.add_argument("--draws", type=int, default=1, help="of complementary labels")
    parser.add_argument("--like", default="", help="only variants with this in their names")
    parser.add_argument("--seed", type=int, default=0, help="added to each seed of a fit")
    parser.add_argument("--best-of", type=int, default=0, help="random starts, for starts")
    arguments = parser.parse_args()
    parts[arguments.part](arguments)


if __name__ == "__main__":
    main()
