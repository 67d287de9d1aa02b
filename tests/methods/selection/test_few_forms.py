"""Fits to few whole forms: calmed, averaged, and as before where something is given or known."""

import numpy as np
import pytest
from scipy import special
from tests.methods.selection.answered import logistic_problem

from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier

X, Y = logistic_problem(400, n_features=12, seed=8)
N = 16


def forms(n):
    return Answers.from_arrays(relevant=Y[:n], absent=1 - Y[:n], question="ticked")


def fitted(n=N, answers=None, **given):
    classifier = SelectionLikelihoodClassifier(random_state=0, **given)
    return classifier.fit(X[:n], forms(n) if answers is None else answers)


def test_the_fit_is_the_mean_of_fits_that_are_drawn_to_label_frequencies():
    found = fitted(kernel="linear", scaling="global")
    results = found.cv_results_
    used = np.flatnonzero(results["weight"])
    assert len(used) > 1
    assert results["weight"].sum() == pytest.approx(1)
    # By hand: the constant logits are those of counts, with one more answer that is 1/K of a yes.
    n_labels = Y.shape[1]
    constant = special.logit((Y[:N].sum(axis=0) + 1 / n_labels) / (N + 1))
    expected = 0.0
    for at in used:
        alpha = float(f"{results['param_alpha'][at] * (1 - 1 / found.cv):.3g}")
        logits = fitted(kernel="linear", scaling="global", alpha=alpha, rank=None)
        kept = np.ma.filled(np.ma.asarray(results["param_kept"], dtype=float), 1.0)[at]
        drawn = constant + kept * (logits.decision_function(X) - constant)
        expected = expected + results["weight"][at] * drawn
    np.testing.assert_allclose(found.decision_function(X), expected, atol=0.02)


@pytest.mark.parametrize(
    ("n", "given"),
    [(200, {}), (N, {"alpha": 0.1}), (N, {"warm_start": True}), (N, "asked")],
    ids=str,
)
def test_other_fits_are_not_calmed(n, given):
    answers = None
    if given == "asked":
        label = np.eye(Y.shape[1], dtype=np.uint8)[np.arange(n) % Y.shape[1]]
        answers = Answers.from_arrays(
            relevant=Y[:n] * label, absent=(1 - Y[:n]) * label, question="asked"
        )
        given = {}
    found = fitted(n, answers, **given)
    assert "param_kept" not in found.cv_results_
