"""Whether recalibrating helps, without true labels.

Reads the fits that ``benchmarks/reliability.py`` keeps in ``--store``, or makes them. A few numbers
change the log-odds: a factor (temperature), also a shift (Platt), or those of beta calibration, all
common to all labels; or a factor, and a shift for each label. They maximize the likelihood of

- the answers that the model learned from, or only those to random questions among them, with
  log-odds of models that were fitted to other items;
- 200 answers to further random yes/no questions, about new items,

with a normal prior around no change, of standard deviation ``--spread``. "If clear": nothing is
changed where the log-likelihood gains less than two for each number. The strongest rivals are
scikit-learn's isotonic regression and logistic calibration (those of its
``CalibratedClassifierCV``) with *true labels* of 200 pairs, or of as many as there are training
items. Printed are changes of the log-loss, of the error of ``reliability``, and of average
precision on the test items, in thousandths: means over datasets and folds, and the worst log-loss.
Below 0 is better, but for average precision.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import optimize, special
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from benchmarks.audits import audit_of
from benchmarks.reliability import FOLDS, WAYS, answers_of, fit, load, log_loss
from complabel.answers import Answers
from complabel.experiments.studies import split_folds
from complabel.frequencies import judged_at_random
from complabel.losses import AnswersLikelihood
from complabel.metrics import average_precision
from complabel.trust import reliability

Array: TypeAlias = NDArray[np.float64]
Map: TypeAlias = Callable[[Array], Array]
SIZE, CLEAR = 200, 2.0
FORMS = ("temperature", "Platt", "beta", "by label")
_BOUND = 30.0


def parts(form: str, z: Array) -> tuple[Array, Array]:
    """Return terms (T, n, K) of new log-odds, and the weights (T,) that change nothing."""
    one, K = np.ones_like(z), z.shape[1]
    if form == "temperature":
        return np.stack([z]), np.ones(1)
    if form == "Platt":
        return np.stack([z, one]), np.array([1.0, 0.0])
    if form == "beta":
        return np.stack([special.log_expit(z), -special.log_expit(-z), one]), np.array([1, 1, 0.0])
    by_label = [one * (np.arange(K) == k) for k in range(K)]
    return np.stack([z, *by_label]), np.array([1.0] + [0.0] * K)


def likeliest(
    spread: float, form: str, z: Array, answers: Answers, log_w: Any, *, only_clear: bool = False
) -> Map:
    """Return the change of log-odds under which the answers are likeliest, given z (n, K)."""
    rows = np.flatnonzero(answers.answered)
    likelihood = AnswersLikelihood(answers[rows])
    terms, start = parts(form, np.clip(z[rows], -_BOUND, _BOUND))

    def loss(weights: Array) -> tuple[float, Array]:
        logits = torch.from_numpy(np.tensordot(weights, terms, 1))
        found = likelihood(logits, log_propensities=log_w)
        slope = np.tensordot(terms, found.through_logits.numpy(), 2)
        away = (weights - start) / spread**2
        value = -float(found.values.sum()) + float(away @ (weights - start)) / 2
        return value, away - slope

    weights = optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x
    if only_clear and loss(start)[0] - loss(weights)[0] < CLEAR * len(start):
        weights = start
    return lambda new: np.tensordot(weights, parts(form, np.clip(new, -_BOUND, _BOUND))[0], 1)


def isotonic(z: Array, y: Array) -> Map:
    """Return scikit-learn's isotonic regression on true labels of pairs."""
    model = IsotonicRegression(y_min=1e-3, y_max=1 - 1e-3, out_of_bounds="clip").fit(z, y)
    return lambda new: special.logit(model.predict(new.ravel()).reshape(new.shape))


def logistic(z: Array, y: Array) -> Map:
    """Return Platt's calibration on true labels of pairs."""
    if y.min() == y.max():
        return lambda new: new
    model = LogisticRegression(C=np.inf).fit(z[:, np.newaxis], y)
    return lambda new: model.decision_function(new.reshape(-1, 1)).reshape(new.shape)


def maps_for(
    way: str, data: Any, fold: int, found: dict[str, Array], spread: float
) -> tuple[dict[str, Map], Array]:
    """Return the changes to compare, and the test labels, NaN where they were asked about."""
    train, test = split_folds(data, n_folds=FOLDS, seed=0)[fold]
    Y = np.asarray(data.Y)
    answers = answers_of(Y, way, train, fold)
    log_w = torch.from_numpy(np.log(found["propensities"])) if "propensities" in found else None
    rng = np.random.default_rng((0, 11, fold))
    z = np.clip(found["log_odds"], -_BOUND, _BOUND)
    further = audit_of(Y[test], SIZE, (0, 12, fold))
    asked = (further.relevant + further.absent).tocsr().indices
    left = Y[test].astype(float)
    said = left[further.item, asked]
    left[further.item, asked] = np.nan
    maps: dict[str, Map] = {}
    judged = answers.only(judged_at_random(answers))
    for only_clear in (False, True) if len(judged) else ():
        name = f"own random judgements, Platt{', if clear' * only_clear}"
        maps[name] = likeliest(
            spread, "Platt", found["crossed"], judged, None, only_clear=only_clear
        )
    for form in FORMS:
        own = partial(likeliest, spread, form, found["crossed"], answers, log_w)
        maps[f"own answers, {form}"] = own()
        maps[f"own answers, {form}, if clear"] = own(only_clear=True)
        maps[f"200 new answers, {form}"] = likeliest(spread, form, z, further, None)
    known = z[further.item, asked]
    maps["200 true labels, logistic"] = logistic(known, said)
    maps["200 true labels, isotonic"] = isotonic(known, said)
    # As many as there are training items: their pairs, with scores of models of other items.
    pairs = rng.choice(Y[train].size, len(train), replace=False)
    crossed = np.clip(found["crossed"], -_BOUND, _BOUND).ravel()[pairs]
    maps["many true labels, logistic"] = logistic(crossed, Y[train].ravel()[pairs])
    maps["many true labels, isotonic"] = isotonic(crossed, Y[train].ravel()[pairs])
    return maps, left


def changes(before: Array, after: Array, left: Array, labels: Any) -> tuple[float, float, float]:
    """Return by how much log-loss, error and average precision change."""
    known = ~np.isnan(left)
    losses = [log_loss(each[known], left[known]) for each in (after, before)]
    errors = [reliability(left, special.expit(each), n_bins=15).error for each in (after, before)]
    ranked = labels.any(axis=1) & ~labels.all(axis=1)
    orders = [average_precision(labels[ranked], each[ranked]) for each in (after, before)]
    return losses[0] - losses[1], errors[0] - errors[1], orders[0] - orders[1]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=["scene", "yeast", "digits", "corel5k"])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--store", type=Path, default=Path("reliability"))
    parser.add_argument("--spread", type=float, default=0.2, help="of the prior")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cells: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for name in options.datasets:
        data = load(name, options.data_dir)
        for way in WAYS:
            for fold in range(FOLDS if way != "truth" else 0):
                path = options.store / f"{name}-{way}-kernel-{fold}.npz"
                found = fit(data, way, "kernel", fold, path)
                maps, left = maps_for(way, data, fold, found, options.spread)
                test = split_folds(data, n_folds=FOLDS, seed=0)[fold][1]
                before = np.clip(found["log_odds"], -_BOUND, _BOUND)
                for each, change in maps.items():
                    after = change(before)
                    measured = changes(before, after, left, np.asarray(data.Y[test]))
                    cells[each][way].append(measured)
    ways = [way for way in WAYS if way != "truth"]
    print("|  |" + "".join(f" {WAYS[way]}: log-loss | worst | error | AP |" for way in ways))
    print("|---" * (1 + 4 * len(ways)) + "|")
    for each, by_way in cells.items():
        line = f"| {each} |"
        for way in ways:
            if not by_way[way]:
                line += "  |" * 4
                continue
            loss, error, order = 1000 * np.array(by_way[way]).T
            line += f" {loss.mean():+.1f} | {loss.max():+.1f} | {error.mean():+.1f} |"
            line += f" {order.mean():+.1f} |"
        print(line)


if __name__ == "__main__":
    main()
