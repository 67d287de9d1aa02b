"""The methods that learn from labels that somebody named because they apply."""

import numpy as np
import pytest
import torch

from complabel import load
from complabel.answers import Answers, IgnoredAnswersWarning
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.experiments.methods import POSITIVE_METHODS
from complabel.metrics import average_precision
from complabel.simulate import draw_answers, draw_complementary

DATA = make_synthetic(300, n_features=6, n_labels=5, signal=3.0, random_state=0)
X, Y = DATA.X, DATA.Y
POSITIVE = draw_answers(Y, question="positive", random_state=0)
CONSTANT = average_precision(Y, np.tile(Y.mean(axis=0), (len(Y), 1)))
every_method = pytest.mark.parametrize("name", POSITIVE_METHODS)


def made(name, **settings):
    method = POSITIVE_METHODS[name]
    usual = {"learning_rate": 0.05, "weight_decay": 1e-3, "epochs": 20, "random_state": 0}
    settings = usual | {"cardinality": Y.sum(axis=1).mean()} | settings
    return method.classifier(**method.settings, **settings)


@every_method
def test_a_method_learns_the_same_wherever_features_are_and_comes_back(name, tmp_path):
    classifier = made(name).fit(X, POSITIVE)
    probabilities = classifier.predict_proba(X)
    assert average_precision(Y, probabilities) > CONSTANT + 0.1
    far = made(name).fit(X + 1000, POSITIVE).predict_proba(X + 1000)
    near = made(name).fit(X - X.mean(axis=0), POSITIVE).predict_proba(X - X.mean(axis=0))
    np.testing.assert_allclose(far, near, atol=1e-3)
    classifier.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), probabilities)
    np.testing.assert_array_equal(loaded.fit(X, POSITIVE).predict_proba(X), probabilities)


@every_method
def test_what_is_no_named_positive_is_refused(name):
    asked = draw_answers(Y, question="asked", items_share=1.0, random_state=0)
    complementary = draw_complementary(Y, random_state=0)
    for y in (complementary, asked, Answers.concatenate([POSITIVE, asked])):
        with pytest.raises(InputError, match=r"the question positive.* question (named|asked)"):
            made(name).fit(X, y)
    with pytest.raises(InputError, match="cardinality is None"):
        made("role", cardinality=None).fit(X, POSITIVE)


def test_items_to_which_nothing_applies_are_left_out_and_a_network_is_trained():
    some = np.arange(len(Y)) % 7 > 0
    answers = draw_answers(Y * some[:, np.newaxis], question="positive", random_state=0)
    with pytest.warns(IgnoredAnswersWarning, match=f"{(~some).sum()} items are left out"):
        found = made("an").fit(X, answers).decision_function(X)
    alone = made("an").fit(X[some], answers[some])
    np.testing.assert_array_equal(found, alone.decision_function(X))

    def network(d, n_labels):
        return torch.nn.Sequential(torch.nn.Linear(d, 16), torch.nn.Linear(16, n_labels))

    seen = []
    classifier = made("em-apl", network=network, callback=lambda *each: seen.append(each))
    scores = classifier.fit(X, POSITIVE).decision_function(X)
    assert [each[:3] for each in seen] == [("classifier", epoch, 20) for epoch in range(1, 21)]
    assert average_precision(Y, scores) > CONSTANT + 0.1


def test_held_out_positives_choose_settings(tmp_path):
    """Of a strong and of a weak penalty, and of rates that are far too low and that are not."""
    values = {"weight_decay": [100.0, 1e-3], "learning_rate": [0.05, 1e-6]}
    chosen = made("an", choose=values).fit(X, POSITIVE)
    assert chosen.chosen_ == {"weight_decay": 1e-3, "learning_rate": 0.05}
    same = made("an", **chosen.chosen_).fit(X, POSITIVE)
    np.testing.assert_array_equal(chosen.predict_proba(X), same.predict_proba(X))
    # By hand: the ranks of the labels that were named for the third that is held out.
    held, rest = np.split(np.random.default_rng(0).permutation(len(X)), [len(X) // 3])
    named = POSITIVE.known_relevant.argmax(axis=1)[held]

    def rank(**settings):
        scores = made("an", **settings).fit(X[rest], POSITIVE[rest]).decision_function(X[held])
        places = (-scores).argsort(axis=1).argsort(axis=1)[np.arange(len(held)), named]
        return (1 / (1 + places)).mean()

    ranks = {decay: rank(weight_decay=decay) for decay in (1e-3, 0.3, 3.0)}
    found = made("an", choose={"weight_decay": [*ranks]}).fit(X, POSITIVE)
    assert found.chosen_["weight_decay"] == max(ranks, key=ranks.get)
    unequal = X * np.array([1, 100, 0, 1e-3, 1, 1])
    means, scales = unequal.mean(axis=0), np.where(np.arange(6) == 2, 1, unequal.std(axis=0))
    by_hand = made("an").fit((unequal - means) / scales, POSITIVE)
    scaled = made("an", scaled=True).fit(unequal, POSITIVE)
    expected = by_hand.decision_function((unequal - means) / scales)
    np.testing.assert_allclose(scaled.decision_function(unequal), expected, atol=1e-4)
    found.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.fit(X, POSITIVE).predict_proba(X), found.predict_proba(X))
    role = made("role", cardinality=None, choose={"cardinality": [1.0, 2.0]}).fit(X, POSITIVE)
    assert role.chosen_["cardinality"] in (1.0, 2.0)


@pytest.mark.parametrize("values", [{"above": []}, {"nothing": [1]}, {"choose": [None]}])
def test_names_and_values_to_choose_from_are_checked(values):
    with pytest.raises(InputError, match=repr(next(iter(values)))):
        made("an", choose=values).fit(X, POSITIVE)
    with pytest.raises(InputError, match="above must be"):
        made("splc", choose={"above": [0.5, 2.0]}).fit(X, POSITIVE)
    with pytest.raises(InputError, match="scaled is True"):
        made("an", scaled=True, network=torch.nn.Linear).fit(X, POSITIVE)
    few = draw_answers(np.eye(2, dtype=int), question="positive", random_state=0)
    with pytest.raises(InputError, match="choose needs 3 items"):
        made("an", choose={"weight_decay": [1.0]}).fit(X[:2], few)
