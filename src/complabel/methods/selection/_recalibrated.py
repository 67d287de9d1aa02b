"""A factor and a shift of all log-odds, under which held-out answers are likeliest."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from complabel._parameters import check_integer
from complabel._training import LinearMap, one_thread
from complabel.answers import Answers, pair_rows
from complabel.errors import InputError
from complabel.methods._arrays import Array, Features
from complabel.methods._door import check_new, refuse_other_number_of_rows
from complabel.methods.selection._classifier import SelectionLikelihoodClassifier
from complabel.methods.selection._features import MappedLinear

# The prior of the factor is normal around 1, that of the shift around 0, with this deviation.
_SPREAD = 0.2
# Nothing is changed if the log-likelihood gains less than this, twice the numbers that were fitted.
_CLEAR_GAIN = 4.0
# The choices of the fit, which each fit to a part of the items repeats.
_CHOSEN = ("kernel", "scaling", "gamma", "rank", "cardinality")
_FOUND = ("label_frequencies", "propensities")


def recalibrated(
    classifier: SelectionLikelihoodClassifier, X: ArrayLike, answers: Answers, *, cv: int = 3
) -> SelectionLikelihoodClassifier:
    """Return a classifier whose probabilities make held-out answers likelier, if that is clear.

    Log-odds z become a z + b, with two numbers for all labels. So the order of the labels of each
    item stays, but thresholds lie elsewhere. The answers are those that the classifier learned
    from; each is judged by a model that was fitted to other items. No true label is used.

    Parameters
    ----------
    classifier : SelectionLikelihoodClassifier
        A fitted one; it is not changed.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    answers : Answers
        The features and answers that it was fitted to.
    cv : int, default=3
        Number of parts of the items; as many models are fitted, with the settings of the
        classifier.

    Returns
    -------
    SelectionLikelihoodClassifier
        A copy, with the factor and the shift in its ``model_``. It is equal to the classifier if
        the log-likelihood of the answers gains less than four nats.

    Raises
    ------
    InputError
        If the classifier learned from one class per row or from true labels, or ``X`` is wrong.
    AnnotationError
        If the answers are not about its labels.

    References
    ----------
    Platt, "Probabilistic outputs for support vector machines", 1999: the factor and the shift, with
    true labels. Kull, Silva Filho and Flach, "Beta calibration", AISTATS 2017, has one number more,
    which gains no more here.

    Examples
    --------
    >>> from complabel.datasets import make_synthetic
    >>> from complabel.simulate import draw_answers
    >>> data = make_synthetic(600, random_state=0)
    >>> asked = draw_answers(data.Y, question="asked", random_state=0)
    >>> rough = SelectionLikelihoodClassifier(kernel="linear", alpha=1e-6, random_state=0)
    >>> rough.fit(data.X, asked).predict_proba(data.X[:1]).round(2)
    >>> recalibrated(rough, data.X, asked).predict_proba(data.X[:1]).round(2)
    """
    check_integer("cv", cv, at_least=2)
    check_is_fitted(classifier, "model_")
    if classifier.learns_from == "relevant" or classifier._single:
        raise InputError(
            "recalibrated takes a classifier that learned from answers about several labels per"
            f" item, but this {type(classifier).__name__} learned from true labels or from one"
            " class per row"
        )
    answers = pair_rows(X, answers)
    features = classifier._validate_new(X)
    refuse_other_number_of_rows(answers, features.shape[0])
    check_new(answers, classifier.classes_)
    rows = np.flatnonzero(answers.answered)
    features, answers = features[rows], answers[rows]
    scale, shift = _likeliest(classifier, _held_out(classifier, features, answers, cv), answers)
    found = copy.copy(classifier)
    mapped = classifier.model_
    linear = mapped.linear if isinstance(mapped, MappedLinear) else mapped
    linear = LinearMap(scale * linear.coef, scale * linear.intercept + shift)
    is_mapped = isinstance(mapped, MappedLinear)
    found.model_ = MappedLinear(mapped.transformer, linear) if is_mapped else linear
    found._set_derived()
    p = special.expit(found._decision(features))
    found.mean_cardinality_ = float(p.sum(axis=1).mean())
    return found


def _held_out(classifier: Any, X: Features, answers: Answers, cv: int) -> Array:
    """Return log-odds (n, K) of each item by a model that is fitted to the other parts."""
    n = X.shape[0]
    if n < cv:
        raise InputError(f"only {n} items have answers, which is less than cv={cv}")
    settings = {name: getattr(classifier, f"{name}_", None) for name in _CHOSEN}
    settings["scaling"] = getattr(classifier, "scaling_", "auto")  # a kernel has none
    settings["gamma"] = getattr(classifier, "gamma_", "auto")
    settings |= {
        name: getattr(classifier, f"{name}_") for name in _FOUND if hasattr(classifier, f"{name}_")
    }
    # The loss is a mean over items: of fewer items, alpha must be greater for the same penalty.
    settings["alpha"] = classifier.alpha_ * cv / (cv - 1)
    if classifier.error_rate == "auto":
        settings["error_rate"] = classifier.error_rate_
    part = np.random.default_rng(0).permutation(n) % cv
    logits = np.empty((n, answers.n_labels))
    for number in range(cv):
        rest, rows = np.flatnonzero(part != number), np.flatnonzero(part == number)
        fitted = clone(classifier).set_params(**settings, callback=None)
        with warnings.catch_warnings():  # the fit to all items has warned
            warnings.simplefilter("ignore")
            fitted.fit(X[rest], answers[rest])
        logits[rows] = fitted._decision(X[rows])
    return logits


def _likeliest(classifier: Any, logits: Array, answers: Answers) -> tuple[float, float]:
    """Return the factor and the shift of logits under which the answers are likeliest."""
    choices = classifier._annotators.choices(answers)
    nothing = np.array([1.0, 0.0])

    def loss(numbers: Array) -> float:
        away = float(((numbers - nothing) ** 2).sum()) / (2 * _SPREAD**2)
        return away - float(choices.log_likelihood(numbers[0] * logits + numbers[1]).sum())

    with one_thread():
        found: Any = optimize.minimize(loss, nothing, method="L-BFGS-B")
        scale, shift = found.x if loss(nothing) - found.fun >= _CLEAR_GAIN else nothing
    return float(scale), float(shift)
