"""One guess that is the same for all items: what a useful model beats."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import special

from complabel._parameters import Array, Indicator
from complabel.answers import Answers
from complabel.methods.selection._classifier import SelectionLikelihoodClassifier
from complabel.methods.selection._likelihood import START_RANGE
from complabel.methods.selection._prior import likeliest_variance

_MOST_STEPS = 100
_CLOSE = 1e-9  # the largest slope for each judgement at the end of Newton's method
_WIDEST = 1e6  # variance of the prior, so that a label that nobody judged has a logit


def constant_log_likelihood(answers: Answers) -> float:
    """Return the log-likelihood of answers under the best guess that is the same for all items.

    It is the mean over items, in nats. All items have answers, which do not contradict each other.
    The guess is that of a selection likelihood whose features tell nothing.
    """
    if np.isin(answers.question, ("asked", "ticked")).all() and not answers.weighted:
        yes, no = answers.known_relevant, answers.complementary
        logits = _likeliest_logits(yes, no)
        p_yes, p_no = (special.log_expit(sign * logits) for sign in (1, -1))
        return float((yes @ p_yes + no @ p_no).mean())
    nothing = np.zeros((answers.n_items, 1))
    guess = SelectionLikelihoodClassifier(kernel="linear", scaling="global")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the answers, which the caller gave for a test
        return guess.fit(nothing, answers).score(nothing, answers)


def _likeliest_logits(yes: Indicator, no: Indicator) -> Array:
    """Return the likeliest logits (K,) of judged labels (n, K), by Newton's method.

    Their prior is that of biases in a fit: normal around their mean, with the likeliest variance.
    """
    (n, n_labels), n_yes, n_judged = yes.shape, yes.sum(axis=0), yes.sum(axis=0) + no.sum(axis=0)
    p = np.clip((n_yes + 1 / n_labels) / (n_judged + 1), *START_RANGE)
    if_alike = yes - p.mean() * (yes + no)  # the slope of labels that are all alike
    if_alike -= if_alike.mean(axis=1, keepdims=True)
    variance = likeliest_variance(n, if_alike.mean(axis=0), if_alike.T @ if_alike / n)
    prior = (np.eye(n_labels) - 1 / n_labels) / min(variance, _WIDEST)
    logits = np.asarray(special.logit(p))
    for _ in range(_MOST_STEPS):
        p = special.expit(logits)
        slope = n_judged * p - n_yes + prior @ logits
        if np.abs(slope).max() < _CLOSE * n_judged.sum():
            break
        logits -= np.linalg.solve(np.diag(n_judged * p * (1 - p)) + prior, slope)
    return logits
