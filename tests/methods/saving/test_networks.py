import numpy as np
import pytest
import torch
from sklearn.base import clone
from tests.methods.saving.files import changed
from tests.methods.small import COMPLEMENTARY, PROBLEM
from tests.refusals import raises

import complabel
from complabel.errors import InputError, ModelFileError
from complabel.experiments.methods import GDFClassifier
from complabel.methods import FrequencyMatchedClassifier

nn = torch.nn
ACTIVATIONS = [
    *(nn.ReLU(), nn.LeakyReLU(0.2), nn.ELU(0.5), nn.GELU("tanh"), nn.SELU(), nn.SiLU(), nn.Tanh()),
    *(nn.Sigmoid(), nn.Softplus(beta=2), nn.Identity(), nn.Dropout(0.3), nn.BatchNorm1d(6)),
    *(nn.BatchNorm1d(6, affine=False, momentum=None), nn.LayerNorm(6)),
    nn.LayerNorm([6], elementwise_affine=False),
]


def mlp(*middle):
    def network(n_features, n_labels):
        first = nn.Linear(n_features, 6, bias=False)
        return nn.Sequential(nn.Sequential(first, *middle), nn.Linear(6, n_labels))

    return network


def fitted(*middle, **settings):
    classifier = GDFClassifier(network=mlp(*middle), epochs=3, random_state=0, **settings)
    return classifier.fit(PROBLEM.X, COMPLEMENTARY)


def quick(network):
    return GDFClassifier(network=network, epochs=2, random_state=0)


@pytest.mark.parametrize(
    "classifier",
    [
        *(quick(mlp(layer)) for layer in ACTIVATIONS),
        quick(nn.Linear),
        FrequencyMatchedClassifier(quick(mlp(nn.ReLU())), [0.2] * 4, cv=None),
    ],
    ids=[*(type(layer).__name__ for layer in ACTIVATIONS), "one layer", "matched"],
)
def test_networks_of_usual_layers_predict_the_same_to_the_last_bit(classifier, path):
    classifier.fit(PROBLEM.X, COMPLEMENTARY).save(path)
    loaded = complabel.load(path)
    scores = classifier.decision_function(PROBLEM.X)
    assert np.array_equal(loaded.decision_function(PROBLEM.X), scores)
    assert not getattr(loaded, "classifier_", loaded).model_.training
    before = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == before


def test_a_loaded_network_is_trained_again_as_the_first_one(path):
    classifier = fitted(nn.ReLU())
    classifier.save(path)
    loaded = complabel.load(path)
    assert clone(loaded).network == loaded.network
    again = clone(loaded).fit(PROBLEM.X, COMPLEMENTARY)
    scores = classifier.decision_function(PROBLEM.X)
    assert np.array_equal(again.decision_function(PROBLEM.X), scores)
    with raises(InputError, "5 features", "4 labels", "set_params", "network=..."):
        clone(loaded).fit(PROBLEM.X[:, :3], COMPLEMENTARY)


def test_saving_and_loading_draw_no_random_numbers(path):
    classifier = fitted(nn.ReLU())
    before = torch.random.get_rng_state()
    classifier.save(path)
    complabel.load(path)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_device_that_is_not_there_becomes_auto(path):
    fitted(nn.ReLU(), device="cpu").save(path)
    assert complabel.load(path).device == "cpu"

    def elsewhere(header, arrays):
        header["parameters"]["device"] = "cuda:99"

    assert complabel.load(changed(path, elsewhere)).device == "auto"


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(5, 4)

    def forward(self, rows):
        return self.inner(rows)


def hooked(n_features, n_labels):
    layer = nn.Linear(n_features, n_labels)
    layer.register_forward_hook(lambda module, given, found: found + 1)
    return layer


def replaced(n_features, n_labels):
    layer = nn.Linear(n_features, n_labels)
    layer.forward = lambda rows: rows[:, :n_labels] + layer.bias
    return layer


def normed(n_features, n_labels):
    return nn.utils.parametrizations.weight_norm(nn.Linear(n_features, n_labels))


@pytest.mark.parametrize("network", [lambda d, K: Own(), hooked, replaced, normed, mlp(nn.PReLU())],
                         ids=["own", "hooked", "replaced", "parametrized", "other"])  # fmt: skip
def test_a_network_of_ones_own_is_refused_with_what_to_do(network, path):
    classifier = GDFClassifier(network=network, epochs=1, random_state=0)
    classifier.fit(PROBLEM.X, COMPLEMENTARY)
    with raises(ModelFileError, "state_dict"):
        classifier.save(path)
    assert not path.exists()
