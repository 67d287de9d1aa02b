"""What the gradient-trained classifiers share, tried on MLCL: seeds, callbacks, networks."""

import numpy as np
import pytest
import torch
from tests.refusals import raises

from complabel.errors import InputError
from complabel.methods import MLCLClassifier
from complabel.simulate import draw_complementary


@pytest.fixture(scope="module", name="X")
def _features(X):
    return X[:300]


@pytest.fixture(scope="module", name="complementary")
def _labels(complementary):
    return complementary[:300]


def brief(**settings):
    """A fit too short to learn, long enough to see what it does."""
    return MLCLClassifier(**{"epochs": 2, "learning_rate": 0.01, "random_state": 0, **settings})


def linear_network(n_features, n_labels):
    return torch.nn.Linear(n_features, n_labels)


def dropout_network(n_features, n_labels):
    return torch.nn.Sequential(
        torch.nn.Linear(n_features, 32),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.2),
        torch.nn.Linear(32, n_labels),
    )


def test_there_is_no_coef_before_fit_nor_of_a_network(X, complementary):
    network = brief(network=linear_network).fit(X, complementary)
    for classifier in (brief(), network):
        for name in ("coef_", "intercept_"):
            assert not hasattr(classifier, name)
            with raises(AttributeError):
                getattr(classifier, name)


def test_the_callback_hears_of_both_steps(X, complementary):
    reports = []
    classifier = brief(epochs=12, learning_rate=0.05, callback=lambda *args: reports.append(args))
    classifier.fit(X, complementary)
    expected = [(stage, e, 12) for stage in ("transition", "classifier") for e in range(1, 13)]
    assert [report[:3] for report in reports] == expected
    losses = [report[3] for report in reports]
    assert losses[11] < losses[0]
    assert losses[-1] < losses[12]
    # The last epoch's mean loss is close to the cross-entropy of a model better than chance.
    assert losses[11] < np.log(5)
    unwatched = brief(epochs=12, learning_rate=0.05).fit(X, complementary)
    np.testing.assert_array_equal(unwatched.coef_, classifier.coef_)


def test_a_known_transition_needs_one_step_only(X, complementary):
    stages = []
    classifier = brief(transition="uniform", callback=lambda stage, *_: stages.append(stage))
    classifier.fit(X, complementary)
    assert stages == ["classifier"] * 2


@pytest.mark.parametrize("network", [None, dropout_network], ids=["linear", "MLP"])
def test_the_seed_alone_decides(network, X, complementary):
    def coefficients(random_state):
        classifier = brief(network=network, random_state=random_state)
        return classifier.fit(X, complementary).decision_function(X)

    torch.manual_seed(1)
    first = coefficients(3)
    torch.manual_seed(2)
    np.testing.assert_array_equal(coefficients(3), first)
    np.testing.assert_array_equal(coefficients(np.random.default_rng(3)), first)
    assert np.abs(coefficients(4) - first).max() > 1e-3
    assert np.abs(coefficients(None) - first).max() > 1e-3


@pytest.mark.parametrize("network", [None, dropout_network], ids=["linear", "MLP"])
def test_random_numbers_of_others_are_left_alone(network, X, complementary):
    torch_before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    brief(network=network).fit(X, complementary).predict(X)
    assert torch.equal(torch.get_rng_state(), torch_before)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_before)  # noqa: NPY002


def test_a_network_learns_what_no_linear_map_can():
    # Three rings around the origin: their labels' scores are no linear function of the position.
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 2))
    ring = np.digitize(np.linalg.norm(X, axis=1), [0.45, 0.8])
    rings = np.eye(3, dtype=int)[ring]
    complementary = draw_complementary(rings, random_state=0)
    settings = {"epochs": 60, "learning_rate": 0.02, "batch_size": 64, "random_state": 0}
    found = {}
    for name, network in (("linear", None), ("network", dropout_network)):
        classifier = MLCLClassifier(network=network, transition="uniform", **settings)
        classifier.fit(X, complementary)
        found[name] = np.mean(classifier.decision_function(X).argmax(axis=1) == ring)
    assert found["network"] > 0.85
    assert found["network"] > found["linear"] + 0.2


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (lambda d, k: torch.nn.Linear(d, k + 1), ("shape (1, 6)", "(1, 5)")),
        (
            lambda d, k: torch.nn.Sequential(torch.nn.Linear(d, k), torch.nn.Flatten(0)),
            ("6 features", "shape (5,)", "(1, 5)"),
        ),
        (lambda d, k: "net", ("network", "torch.nn.Module")),
        (lambda d, k: torch.nn.Linear, ("network", "torch.nn.Module")),
    ],
    ids=["outputs", "shape", "text", "class"],
)
def test_a_factory_of_something_else_is_refused(network, message, X, complementary):
    with raises(InputError, message):
        brief(network=network).fit(X, complementary)
