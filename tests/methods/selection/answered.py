"""A small problem whose labels are logistic in the features, and fits without a search."""

import warnings

import numpy as np
from scipy import optimize
from scipy.special import expit, log_expit

from complabel.answers import Answers, AssumedUniformWarning
from complabel.methods import SelectionLikelihoodClassifier
from complabel.methods.selection._features import FeatureMap
from complabel.methods.selection._known import Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._prior import variances_of_biases
from complabel.simulate import draw_answers, draw_complementary

FIXED = {"alpha": 0.003, "cardinality": None, "scaling": "global", "kernel": "linear", "rank": None}
NAMES = ["ann", "bob", "cleo"]


def logistic_problem(n, n_labels=4, n_features=3, seed=0):
    """Features, and labels that are independent given these."""
    rng = np.random.default_rng(seed)
    X, coef = rng.normal(size=(n, n_features)), 1.2 * rng.normal(size=(n_labels, n_features))
    p = expit(X @ coef.T + np.linspace(-0.8, 0.3, n_labels))
    return X, (rng.random(p.shape) < p).astype(np.uint8)


def fixed(**settings):
    """No search but for what the settings leave open."""
    return SelectionLikelihoodClassifier(**{**FIXED, "random_state": 0, **settings})


def prior_of(fitted, rows, answers):
    """The mean and the variance of the prior of biases at the end of a linear fit to answers."""
    setting = Setting(FeatureMap("global"), 1.0, None)
    logits = fitted.decision_function(rows)
    variance = variances_of_biases(Likelihood(answers), setting, [len(logits)], logits)
    return logits.mean(), float(variance)


def logistic_regression(scaled, yes, *, n_items, alpha, prior):
    """The weights and bias (d + 1,) of one label, judged on centred rows; by another optimizer.

    Losses are added and divided by the number of all items; the bias has a normal prior.
    """
    sign, (mean, variance) = 2.0 * yes - 1, prior

    def objective(vector):
        losses = -log_expit(sign * (scaled @ vector[:-1] + vector[-1])).sum()
        losses += (vector[-1] - mean) ** 2 / (2 * variance)
        return losses / n_items + alpha * vector[:-1] @ vector[:-1]

    return optimize.minimize(objective, np.zeros(scaled.shape[1] + 1), tol=1e-9).x


def assumed(classifier, features, y):
    """The warnings that something was assumed in a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.fit(features, y)
    return [each for each in caught if each.category is AssumedUniformWarning]


X, Y = logistic_problem(300)
# Somebody can name a label of these, and something is left to name.
PROPER = Y.any(axis=1) & ~Y.all(axis=1)
COMPLEMENTARY = np.zeros_like(Y)
COMPLEMENTARY[PROPER] = draw_complementary(Y[PROPER], random_state=0)
FREE = Answers.from_complementary(COMPLEMENTARY[PROPER])

# Answers to each question about all items; free namings about those where there is one.
ASKED = draw_answers(Y, question="asked", answers_per_item=2, random_state=1)
ANSWERS = {
    "free": Answers.from_complementary(COMPLEMENTARY),
    "menu-2": draw_answers(Y, question="menu-2", answers_per_item=2, random_state=0),
    "menu-3, two named": draw_answers(Y, question="menu-3", asked_for=2, random_state=0),
    "asked": ASKED,
    "ticked": draw_answers(Y, question="ticked", random_state=0),
    "excluded": draw_answers(Y, question="excluded", exclusion_rates=0.4, random_state=0),
}
ANSWERS["all at once"] = Answers.concatenate(list(ANSWERS.values()))
