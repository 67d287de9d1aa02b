"""Networks that learn from answers of any kind, about items of any shape."""

import numpy as np
import pytest
import torch
from scipy import sparse, special
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from tests.refusals import raises
from torch import nn

from complabel.answers import Answers, AssumedUniformWarning
from complabel.errors import AnnotationError, InputError
from complabel.experiments.methods import GDFClassifier, SupervisedBCEClassifier
from complabel.losses import answers_log_likelihood
from complabel.methods import (
    MLCLClassifier,
    NetworkLikelihoodClassifier,
    SelectionLikelihoodClassifier,
    held_out_score,
)
from complabel.simulate import draw_answers

N, K = 240, 4
PICTURES = np.random.default_rng(0).normal(size=(N, 1, K, 5)).astype(np.float32)
Y = (PICTURES.mean(axis=(1, 3)) > 0.2).astype(np.uint8)  # which rows of a picture are bright
Y[Y.all(axis=1), 0] = 0  # somebody can always name a label
X = PICTURES.reshape(N, -1)
QUESTIONS = ("free", "menu-2", "asked", "ticked", "excluded")


def cnn(shape, n_labels):
    """A network whose layers no file can hold, with dropout."""
    assert shape == (1, K, 5)
    layers = nn.Conv2d(1, 4, (1, 5)), nn.ReLU(), nn.Dropout(0.1), nn.Flatten()
    return nn.Sequential(*layers, nn.Linear(4 * K, n_labels))


def mlp(n_features, n_labels):
    return nn.Sequential(nn.Linear(n_features, 8), nn.ReLU(), nn.Linear(8, n_labels))


def answers_to(*questions, seed=0, **settings):
    """Answers of these kinds about all items."""
    rates = {"exclusion_rates": 0.4}
    parts = []
    for at, each in enumerate(questions):
        more = {**settings, **(rates if each == "excluded" else {})}
        parts.append(draw_answers(Y, question=each, random_state=seed + at, **more))
    return Answers.concatenate(parts)


def quick(network=cnn, **settings):
    settings = {"epochs": 30, "learning_rate": 0.02, "random_state": 0, **settings}
    return NetworkLikelihoodClassifier(network=network, **settings)


@pytest.mark.parametrize("questions", [*((each,) for each in QUESTIONS), QUESTIONS], ids=str)
def test_learns_from_every_kind_of_answer(questions):
    settings = {"propensities": "equal"} if questions == ("free",) else {}
    settings["exclusion_rates"] = 0.4 if "excluded" in questions else None
    settings["cardinality"] = Y.sum(axis=1).mean() if "free" in questions else None
    classifier = quick(**settings).fit(PICTURES, answers_to(*questions))
    assert classifier.predict_proba(PICTURES).shape == (N, K)
    right = (classifier.predict(PICTURES) == Y).mean()
    assert right > max(0.75, (Y == 0).mean() + 0.05)


def test_the_score_is_the_likelihood_of_the_answers():
    answers = answers_to("asked", "menu-2", "free")
    classifier = quick(propensities=[1, 2, 3, 4], error_rate=0.1, epochs=2).fit(PICTURES, answers)
    found = classifier.score(PICTURES, answers)
    logits = torch.from_numpy(classifier.decision_function(PICTURES))
    how = {"propensities": [1, 2, 3, 4], "error_rates": 0.1}
    assert found == pytest.approx(float(answers_log_likelihood(logits, answers, **how).mean()))
    np.testing.assert_allclose(classifier.propensities_, [1, 2, 3, 4], rtol=1e-14)


def test_missed_and_invented_labels_are_part_of_the_likelihood():
    said = draw_answers(Y, question="ticked", missed=0.4, invented=0.05, random_state=0)
    rates = {"missed": 0.4, "invented": 0.05}
    classifier = quick(None, epochs=60, **rates).fit(X, said)
    assert classifier.predict_proba(X).mean() == pytest.approx(Y.mean(), abs=0.04)
    logits = torch.from_numpy(classifier.decision_function(X))
    expected = float(answers_log_likelihood(logits, said, **rates).mean())
    assert classifier.score(X, said) == pytest.approx(expected)
    with raises(InputError, "error_rate"):
        quick(error_rate=0.1, **rates).fit(PICTURES, said)


def test_a_linear_map_finds_the_maximum_of_the_likelihood():
    doubtful = Y ^ (np.random.default_rng(1).random(Y.shape) < 0.3)
    answers = draw_answers(doubtful, question="ticked", random_state=0)
    settings = {"epochs": 400, "batch_size": N, "learning_rate": 0.05, "weight_decay": 0.0}
    found = quick(None, **settings).fit(X, answers).score(X, answers)
    best = 0.0
    for yes in doubtful.T:
        chances = LogisticRegression(C=np.inf, tol=1e-8).fit(X, yes).predict_proba(X)
        best -= log_loss(yes, chances)
    assert found == pytest.approx(best, abs=1e-3)


def test_propensities_are_trained_where_answers_show_them():
    weights = np.array([8.0, 2.0, 1.0, 0.5])
    named = answers_to(*["free"] * 3, propensities=weights)
    answers = Answers.concatenate([named, answers_to("asked", seed=1)])
    trained = quick(batch_size=120).fit(PICTURES, answers)
    assert np.log(trained.propensities_).sum() == pytest.approx(0, abs=1e-5)
    found = np.log(trained.propensities_) - np.log(
        weights / special.exp10(np.log10(weights).mean())
    )
    assert np.abs(found).max() < 0.6
    equal = quick(batch_size=120, propensities="equal").fit(PICTURES, answers)
    assert not hasattr(equal, "propensities_")
    assert trained.score(PICTURES, answers) > equal.score(PICTURES, answers) + 0.1


def test_free_namings_alone_do_not_show_propensities():
    with raises(InputError, "propensities"):
        quick(propensities="auto").fit(PICTURES, answers_to("free"))
    with pytest.warns(AssumedUniformWarning) as caught:
        quick(epochs=1).fit(PICTURES, answers_to("free"))
    assert caught[0].filename == __file__


def test_mistakes_are_refused_unless_there_is_a_rate():
    answers = Answers.from_arrays(
        absent=[[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]],
        relevant=[[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]],
        item=[0, 0, 1],
    )
    with raises(AnnotationError, "missed=auto", "invented=auto"):
        quick().fit(PICTURES[:2], answers)
    quick(error_rate=0.2, epochs=1).fit(PICTURES[:2], answers)


def test_exclusions_need_their_rates():
    with raises(InputError, "exclusion_rates"):
        quick().fit(PICTURES, answers_to("excluded"))


@pytest.mark.slow
@pytest.mark.parametrize(("network", "of"), [(cnn, PICTURES), (None, X)], ids=["CNN", "linear"])
def test_held_out_answers_beside_the_best_constant(network, of):
    answers = answers_to("asked")
    found = held_out_score(quick(network, epochs=20), of, answers)
    linear = SelectionLikelihoodClassifier(kernel="linear", scaling="global", random_state=0)
    assert found.criterion == "log-likelihood"
    assert found.constant == pytest.approx(held_out_score(linear, X, answers).constant, abs=0.02)
    assert found.gain > 0.1


@pytest.mark.parametrize(
    ("classifier", "y"),
    [(MLCLClassifier, 1 - Y), (GDFClassifier, 1 - Y), (SupervisedBCEClassifier, Y)],
)
def test_every_gradient_method_takes_pictures_with_a_network(classifier, y):
    y = y * (y.sum(axis=1, keepdims=True) < K)
    rows = y.any(axis=1)
    settings = {"network": cnn, "epochs": 1, "random_state": 0, "learning_rate": 0.01}
    fitted = classifier(**settings).fit(PICTURES[rows], y[rows])
    assert fitted.predict(PICTURES[:2]).shape == (2, K)
    assert fitted.__sklearn_tags__().input_tags.three_d_array
    assert not classifier().__sklearn_tags__().input_tags.three_d_array
    with raises(InputError, "4"):
        classifier().fit(PICTURES[rows], y[rows])


@pytest.mark.parametrize(
    "wrong",
    [PICTURES[..., :4], PICTURES.transpose(0, 2, 3, 1), X, sparse.csr_array(X), X[0]],
    ids=["narrower", "channels last", "flat", "sparse", "one picture"],
)
def test_items_of_another_shape_are_refused(wrong):
    classifier = quick(epochs=1).fit(PICTURES, answers_to("asked"))
    with raises(InputError, "shape"):
        classifier.predict(wrong)
    classifier.set_params(network=mlp).fit(X, answers_to("asked")).predict(X)


def test_what_is_wrong_with_pictures_is_named():
    answers, broken = answers_to("asked"), PICTURES.copy()
    broken[7, 0, 1, 2] = np.nan
    with raises(InputError, "row 7", "column 7"):
        quick().fit(broken, answers)
    broken[7, 0, 1, 2] = np.inf
    with raises(InputError, "row 7", "column 7"):
        quick().fit(broken, answers)
    with raises(InputError, "shape (1, 4, 5)"):
        quick(lambda shape, k: nn.Conv2d(2, k, 3)).fit(PICTURES, answers)
    with raises(InputError, "(1, 4)"):
        quick(lambda shape, k: nn.Conv2d(1, k, (4, 5))).fit(PICTURES, answers)
    with raises(InputError, "X"):
        quick().fit(PICTURES.astype(float) * 1e40, answers)
