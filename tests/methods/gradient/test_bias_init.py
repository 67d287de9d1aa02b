"""Where MLCL's biases start: the fall that leaves a label dead, and the start that avoids it."""

import numpy as np
import pytest
import torch

import complabel
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.methods import MLCLClassifier
from complabel.simulate import draw_complementary

N_LABELS = 5
STILL = {"epochs": 1, "learning_rate": 1e-12, "weight_decay": 0.0, "random_state": 0}
PRIOR = np.log(1 / (N_LABELS - 1))  # the log-odds of 1 / K


@pytest.fixture(scope="module")
def problem():
    data = make_synthetic(300, n_features=6, n_labels=N_LABELS, random_state=1)
    return data.X, draw_complementary(data.Y, random_state=1)


def one_output_layer(n_features, n_labels):
    return torch.nn.Sequential(
        torch.nn.Linear(n_features, 8), torch.nn.ReLU(), torch.nn.Linear(8, n_labels)
    )


def no_bias(n_features, n_labels):
    return torch.nn.Linear(n_features, n_labels, bias=False)


def normalized_last(n_features, n_labels):
    # A layer's bias is not that of the outputs where another layer comes after it.
    return torch.nn.Sequential(
        torch.nn.Linear(n_features, n_labels), torch.nn.Linear(n_labels, n_labels, bias=False)
    )


def test_the_prior_start_is_the_log_odds_of_one_label_in_k(problem):
    classifier = MLCLClassifier(**STILL, bias_init="prior").fit(*problem)
    np.testing.assert_allclose(classifier.intercept_, PRIOR, rtol=1e-6)
    at_zero = classifier.predict_proba(np.zeros((1, 6)))
    np.testing.assert_allclose(at_zero.sum(), 1, rtol=1e-6)


def test_the_prior_start_leaves_the_transition_as_it_was(problem):
    settings = {"epochs": 3, "learning_rate": 0.01, "random_state": 0}
    random = MLCLClassifier(**settings).fit(*problem)
    prior = MLCLClassifier(**settings, bias_init="prior").fit(*problem)
    np.testing.assert_array_equal(prior.transition_, random.transition_)
    assert np.abs(prior.intercept_ - random.intercept_).max() > 0.5


def test_the_last_layer_of_a_network_starts_there(problem):
    classifier = MLCLClassifier(**STILL, bias_init="prior", network=one_output_layer).fit(*problem)
    np.testing.assert_allclose(classifier.model_[2].bias.detach().numpy(), PRIOR, rtol=1e-6)
    assert np.abs(classifier.model_[0].bias.detach().numpy() - PRIOR).min() > 0.1


@pytest.mark.parametrize("network", [no_bias, normalized_last], ids=["no bias", "bias inside"])
def test_a_network_without_biases_of_its_outputs_is_refused(network, problem):
    MLCLClassifier(**STILL, network=network).fit(*problem)
    with pytest.raises(InputError, match="no bias of 5 numbers, one per label, to start from"):
        MLCLClassifier(**STILL, bias_init="prior", network=network).fit(*problem)


def test_another_start_is_refused_by_name(problem):
    with pytest.raises(InputError, match="bias_init"):
        MLCLClassifier(bias_init="zero").fit(*problem)


def test_the_start_is_saved_with_the_model(problem, tmp_path):
    X, complementary = problem
    classifier = MLCLClassifier(**STILL, bias_init="prior").fit(X, complementary)
    classifier.save(tmp_path / "model.complabel")
    loaded = complabel.load(tmp_path / "model.complabel")
    assert loaded.bias_init == "prior"
    np.testing.assert_array_equal(loaded.predict_proba(X), classifier.predict_proba(X))
