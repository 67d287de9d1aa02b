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
