"""Fits side by side, against fits alone: equal bit for bit."""

import numpy as np
import pytest
import torch
from scipy import sparse

from complabel._training import one_thread
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.experiments.losses import CTLLoss, GDFLoss
from complabel.experiments.methods import BCEClassifier, ComplementaryLossClassifier, GDFClassifier
from complabel.losses import MLCLLoss
from complabel.methods import (
    METHODS,
    ComplementaryRidgeClassifier,
    MLCLClassifier,
    fit_side_by_side,
    make_classifier,
)
from complabel.simulate import draw_complementary

# With 17 numbers in a row, matrices in memory would start at odd places if nothing was done.
N_FEATURES, N_LABELS, BATCH = 16, 5, 64
PROBLEM = make_synthetic(200, n_features=N_FEATURES, n_labels=N_LABELS, random_state=1)
COMPLEMENTARY = draw_complementary(PROBLEM.Y, random_state=0)
SETTINGS = {"epochs": 3, "batch_size": BATCH, "device": "cpu"}  # a GPU rounds in another order
# Rows of each fit: the last batches have 33, 34, 33 and 33 rows; another fit has fewer batches.
FOLDS = [np.delete(np.arange(200), slice(at, at + n)) for at, n in ((0, 39), (39, 38), (9, 39))]
FOLDS += [FOLDS[0], np.arange(90)]
RATES = (0.1, 0.1, 0.01, 0.003, 0.1)
GRADIENT = [
    name
    for name, method in METHODS.items()
    if getattr(method.classifier, "trains_side_by_side", False)
]


def given(fold, *, as_csr=False, labels=COMPLEMENTARY):
    X = np.where(np.abs(PROBLEM.X) < 0.5, 0, PROBLEM.X)[fold]
    return (sparse.csr_array(X) if as_csr else X), labels[fold], {}


def assert_as_alone(make, parts):
    """Check that each of several classifiers is the one that ``fit`` makes."""
    with one_thread():
        together = [make(number) for number in range(len(parts))]
        assert fit_side_by_side(together, parts) == [None] * len(parts)
        for number, (classifier, (X, y, more)) in enumerate(zip(together, parts, strict=True)):
            alone = make(number).fit(X, y, **more)
            np.testing.assert_array_equal(classifier.coef_, alone.coef_)
            np.testing.assert_array_equal(classifier.intercept_, alone.intercept_)
    return together


@pytest.mark.filterwarnings("ignore::complabel.answers.AssumedUniformWarning")
@pytest.mark.parametrize("as_csr", [False, True], ids=["dense", "CSR"])
@pytest.mark.parametrize("name", GRADIENT)
def test_folds_seeds_and_rates_are_as_alone(name, as_csr):
    labels = PROBLEM.Y if METHODS[name].learns_from == "relevant" else COMPLEMENTARY

    def make(number):
        how = {"learning_rate": RATES[number], "random_state": number}
        return make_classifier(name, **SETTINGS, **how)

    assert_as_alone(make, [given(fold, as_csr=as_csr, labels=labels) for fold in FOLDS])


def test_those_of_a_size_are_trained_together():
    calls, kinds = [], [GDFClassifier] * 6 + [BCEClassifier]
    more = [*({"learning_rate": rate} for rate in RATES), {"weight_decay": 0.1}, {}]
    classifiers = [
        kind(**SETTINGS, **each, callback=lambda *_, number=number: calls.append(number))
        for number, (kind, each) in enumerate(zip(kinds, more, strict=True))
    ]
    parts = [given(fold) for fold in [*FOLDS, FOLDS[0], FOLDS[0]]]
    assert fit_side_by_side(classifiers, parts) == [None] * 7
    alone = [4] * 3 + [5] * 3 + [6] * 3  # fewer batches, other decay, another optimizer
    assert calls == [0, 1, 2, 3] * 3 + alone  # after each epoch


@pytest.mark.parametrize("batch_size", [7, 200, 1000], ids=["small", "one", "more than rows"])
def test_any_size_of_a_batch(batch_size):
    def make(number):
        return MLCLClassifier(**{**SETTINGS, "batch_size": batch_size}, random_state=number)

    assert_as_alone(make, [given(fold) for fold in (FOLDS[0], FOLDS[2], FOLDS[2])])


def test_a_search_of_rates_inside_a_fit():
    def make(number):
        return MLCLClassifier(**SETTINGS, random_state=number)

    found = assert_as_alone(make, [given(fold) for fold in FOLDS[:3]])
    assert all(np.isfinite(each.cv_results_["mean_ranking_error"]).all() for each in found)


def test_losses_of_ones_own_and_with_settings():
    class Own(GDFLoss):
        def logit_gradient(self, logits, complementary):
            assert logits.ndim == 2
            return super().logit_gradient(logits, complementary) * (1 + logits.mean().sigmoid())

    shared = torch.rand(N_LABELS, N_LABELS).fill_diagonal_(0)
    losses = [Own(), Own(), CTLLoss, MLCLLoss(shared / shared.sum(dim=1, keepdim=True), beta=0.5)]

    def make(number):
        how = {"loss": losses[number], "random_state": number}
        return ComplementaryLossClassifier(**SETTINGS, **how)

    assert_as_alone(make, [given(FOLDS[0])] * len(losses))


def test_known_relevant_labels():
    relevant = PROBLEM.Y * (np.arange(200)[:, np.newaxis] % 3 == 0)

    def make(number):
        return MLCLClassifier(**SETTINGS, learning_rate=0.1, random_state=number)

    assert_as_alone(make, [(*given(fold)[:2], {"relevant": relevant[fold]}) for fold in FOLDS[:2]])


def test_the_progress_of_one_is_its_own():
    def seen_by(fit):
        seen = []
        first = GDFClassifier(**SETTINGS, random_state=0, callback=lambda *told: seen.append(told))
        fit(first)
        return seen

    alone = seen_by(lambda first: first.fit(*given(FOLDS[0])[:2]))
    others = [GDFClassifier(**SETTINGS, random_state=1)]
    parts = [given(FOLDS[0]), given(FOLDS[1])]
    assert seen_by(lambda first: fit_side_by_side([first, *others], parts)) == alone
    assert [epoch for _, epoch, _, _ in alone] == [1, 2, 3]


def test_an_error_leaves_the_others_alone():
    class Refuses(GDFLoss):
        def forward(self, logits, complementary):
            raise RuntimeError("not today")

        logit_gradient = forward

    wrong = COMPLEMENTARY[FOLDS[0]].copy()
    wrong[3] = 1
    classifiers = [
        GDFClassifier(**SETTINGS, random_state=0),
        GDFClassifier(**SETTINGS, learning_rate=1e38),
        GDFClassifier(**SETTINGS),
        ComplementaryRidgeClassifier(),
        ComplementaryLossClassifier(loss=Refuses, **SETTINGS),
    ]
    parts = [given(FOLDS[0])] * 5
    parts[2] = (parts[2][0], wrong, {})
    errors = fit_side_by_side(classifiers, parts)
    assert [type(error) for error in errors] == [
        *(type(None), InputError),
        *(type(errors[2]), type(None), RuntimeError),
    ]
    assert "diverged" in str(errors[1])
    assert "row 3" in str(errors[2])
    alone = GDFClassifier(**SETTINGS, random_state=0).fit(*parts[0][:2])
    np.testing.assert_allclose(classifiers[0].coef_, alone.coef_, rtol=1e-4, atol=1e-6)
    assert np.isfinite(classifiers[3].predict_proba(parts[0][0])).all()
