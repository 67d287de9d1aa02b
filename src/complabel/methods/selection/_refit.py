"""Refits of a selection likelihood to more answers, from its last optimum (``warm_start``)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from scipy import sparse, special

from complabel._parameters import AnyArray, Array, Bools, Features
from complabel._training import CPU, LabelNewton, LinearFits, LinearMap, NormalPrior, one_thread
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import LabelFrequencies
from complabel.methods._consensus import Answered
from complabel.methods.selection._annotators import Annotators
from complabel.methods.selection._features import PreparedFeatures
from complabel.methods.selection._known import Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._maps import MappedLinear
from complabel.methods.selection._objective import Objective
from complabel.methods.selection._prior import variances_of_biases
from complabel.methods.selection._trials import fit_maps

# Choices are made anew once there are so many times the answers that they were made from. With 2,
# a model of 125 ticked digits kept what 66 could tell; its average precision was .44, not .70.
_ANEW = 1.25
# Of more rows than this, the mean cardinality after a refit is that of some, evenly spread.
_MOST_ROWS = 5_000
# A Hessian for each label is kept if all of them have no more entries than this: 240 MB.
_MOST_ENTRIES = 30_000_000


@dataclass(frozen=True, eq=False)
class LastFit:
    """What a refit needs of the fit that made the choices; X and the answers are not kept."""

    parameters: dict[str, str]
    classes: AnyArray
    n_features: int
    n_items: int
    n_answers: int
    setting: Setting
    frequencies: LabelFrequencies | None
    prepared: PreparedFeatures  # without rows
    others: Array  # (1, E)
    newton: LabelNewton | None  # if each label has a loss of its own
    variance: float | None  # of the prior of biases, with newton

    @classmethod
    def of(
        cls,
        classifier: Any,
        setting: Setting,
        likelihood: Likelihood,
        prepared: PreparedFeatures,
        fits: LinearFits,
        annotators: Annotators,
    ) -> LastFit:
        newton, variance = None, None
        if _separates(likelihood, setting, prepared.X):
            newton, (at,) = LabelNewton(prepared.scaling), fits.models
            near = fits.logits_of(None)
            variances = variances_of_biases(likelihood, setting, [len(near)], near)
            variance = None if variances is None else float(variances)
            evidence = _evidence(annotators.likelihood(likelihood.answers))
            prior = _prior(at, variance, prepared)
            newton.renew(prepared.X, evidence, alpha=setting.alpha, at=at, prior=prior)
        return cls(
            parameters=_parameters(classifier),
            classes=classifier.classes_,
            n_features=classifier.n_features_in_,
            n_items=likelihood.answers.n_items,
            n_answers=likelihood.answers.n_answers,
            setting=replace(setting, error_rates=None),  # those found are the annotators'
            frequencies=likelihood.known.frequencies,
            prepared=prepared.with_prepared(prepared.X[:0]),  # ``with_rows`` gives it others
            others=fits.others,
            newton=newton,
            variance=variance,
        )

    @classmethod
    def usable(
        cls, classifier: Any, X: Features, answers: Answers, rows: Bools | None = None
    ) -> LastFit | None:
        """Return what the last fit kept if a refit to ``rows`` can use it; None means all rows.

        Other labels or columns are refused.
        """
        last: LastFit = classifier._last_fit
        if last.parameters != _parameters(classifier):
            return None
        n_answers = answers.n_answers if rows is None else int(rows[answers.item].sum())
        if n_answers >= _ANEW * last.n_answers:
            return None
        labels, n_features = classifier.classes_, X.shape[1]
        classifier.classes_, classifier.n_features_in_ = last.classes, last.n_features
        if n_features != last.n_features:
            what = f"X has {n_features} features, and the fit before had {last.n_features}"
        elif not np.array_equal(labels, last.classes):
            what = "y is about other labels than the fit before"
        else:
            return last
        # The classifier is as it was before.
        raise InputError(f"warm_start=True, and {what}; give the same, or make a new classifier")


def relearn(
    classifier: Any,
    last: LastFit,
    X: Features,
    answers: Answers,
    rows: Bools | None = None,
    device: torch.device = CPU,
) -> dict[str, Any]:
    """Fit to more answers with the choices of the last fit, and return the new attributes.

    If only some ``rows``, (n,), count, each label must have a loss of its own.
    """
    setting, n_items = last.setting, answers.n_items if rows is None else int(rows.sum())
    if classifier.alpha == "auto":  # as when a search goes from a part of the rows to all
        setting = replace(setting, alpha=setting.alpha * (last.n_items / n_items))
    likelihood = classifier._annotators.likelihood(answers).with_frequencies(last.frequencies)
    prepared, others = last.prepared.with_rows(X), last.others
    model = classifier.model_
    start = model.linear if isinstance(model, MappedLinear) else model
    if last.newton is not None and _separates(likelihood, setting, prepared.X):
        evidence = _evidence(likelihood)
        if rows is not None:
            evidence[~rows] = 0
        with one_thread():
            prior = _prior(start, last.variance, prepared)
            linear, n_iter = last.newton.minimize(
                prepared.X, evidence, alpha=setting.alpha, start=start, prior=prior, n=n_items
            )
    else:
        assert rows is None
        logits = torch.from_numpy(start(prepared.X).astype(prepared.X.dtype)).t().unsqueeze(0)
        fits = fit_maps(
            prepared,
            replace(likelihood, device=device),
            setting,
            start=LinearFits([start], others, np.empty(1), logits, 0),
            on_iteration=partial(classifier._report, "classifier"),
        )
        (linear,), others, n_iter = fits.models, fits.others, fits.n_iter
    step, weights = -(-n_items // _MOST_ROWS), likelihood.weights
    some = slice(None, None, step) if rows is None else np.flatnonzero(rows)[::step]
    each = special.expit(linear(prepared.X[some])).sum(axis=1)
    return {
        "alpha_": setting.alpha,
        "mean_cardinality_": float(
            np.average(each, weights=None if weights is None else weights[some])
        ),
        "model_": prepared.model(linear),
        "n_iter_": n_iter,
        "_last_fit": replace(last, others=others),
        "_annotators": Annotators.of(
            likelihood, setting, None if setting.spread is None else others[0]
        ),
    }


def relearn_rows(classifier: Any, X: Features, answers: Answers, rows: Bools) -> bool:
    """Refit to what is said about some rows without a copy of it; return whether that can be."""
    last = (
        LastFit.usable(classifier, X, answers, rows) if hasattr(classifier, "_last_fit") else None
    )
    is_plain = X.dtype in (np.float32, np.float64) and not answers.weighted
    if last is None or last.newton is None or not is_plain or not answers.judges.all():
        return False
    classifier._set_some(relearn(classifier, last, X, answers, rows))
    classifier._set_derived()
    return True


def _parameters(classifier: Any) -> dict[str, str]:
    """Return the parameters, and whether y is one class per row, in a form that is compared."""
    parameters = {**classifier.get_params(deep=False), "callback": None, "device": None}
    return {name: repr(value) for name, value in (parameters | {"y": classifier._single}).items()}


def _separates(likelihood: Likelihood, setting: Setting, X: Features) -> bool:
    """Return whether each label has a loss of its own, and its Hessian is small enough to keep."""
    small = likelihood.answers.n_labels * (X.shape[1] + 1) ** 2 <= _MOST_ENTRIES
    alone = Objective(likelihood, setting).separates and setting.rank is None
    unweighted = likelihood.weights is None and not sparse.issparse(X)
    return likelihood.judges and small and alone and unweighted


def _prior(at: LinearMap, variance: float | None, prepared: PreparedFeatures) -> NormalPrior | None:
    """Return the prior of biases around their mean in a map near the minimum."""
    # Around this fixed mean each label has a loss of its own, with the same minimum.
    if variance is None or math.isinf(variance):
        return None
    return NormalPrior(float((at.intercept + at.coef @ prepared.scaling.shift).mean()), variance)


def _evidence(likelihood: Likelihood) -> Array:
    """Return what judgements add to the log-odds (n, K) of labels."""
    statements = likelihood.answers.statements()
    nothing, rates = np.zeros(likelihood.answers.shape), likelihood.known.error_rates
    if rates is None and not len(statements.contradicted):  # all of them are certain
        nothing[statements.item, statements.label] = np.where(statements.applies, np.inf, -np.inf)
        return nothing
    return Answered(likelihood.answers, None, rates, None).log_odds(nothing)
