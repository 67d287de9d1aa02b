"""`evaluate_model`: one object that holds all that answers say of a model."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from tests.trust.small import Stated

from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.errors import AnnotationError
from complabel.methods import (
    SelectionLikelihoodClassifier,
    cross_fit_probabilities,
    make_classifier,
)
from complabel.metrics import complementary_ranking_error
from complabel.simulate import draw_answers
from complabel.trust import COLUMNS, FIGURES, estimate_metrics, evaluate_model, reliability

Y = make_synthetic(300, n_features=5, n_labels=4, signal=4.0, random_state=0).Y
P = np.where(Y == 1, 0.7, 0.2) + np.random.default_rng(1).normal(0, 0.1, Y.shape)
X = special.logit(P.clip(0.01, 0.99))
ASKED = draw_answers(Y, question="asked", items_share=0.6, random_state=2)

# Fits say what they leave out of the answers.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def model():
    return Stated.of(ASKED)


def test_all_figures_come_from_one_pass_over_the_features(model):
    found = evaluate_model(model, X, ASKED, missed=0.1, invented=0.02)
    assert model.n_passes == 1
    rates = {"missed": 0.1, "invented": 0.02}
    expected = estimate_metrics(ASKED, special.expit(X), **rates)
    for name in FIGURES:
        assert getattr(found.estimates, name) == getattr(expected, name)
    assert found.ranking_error == complementary_ranking_error(ASKED, X)
    assert found.log_likelihood == pytest.approx(model.score(X, ASKED))
    assert found.reliability.error == reliability(ASKED, special.expit(X), **rates).error
    assert (found.n_items, found.n_answers) == (180, 180)


def test_the_label_with_the_longest_interval_is_least_known(model):
    found = evaluate_model(model, X, ASKED)
    assert {*found.least_known} == {*found.estimates.labels}
    figures = [found.estimates.labels[name].average_precision for name in found.least_known]
    lengths = [each.high - each.low for each in figures]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1]


def test_cross_fitted_figures_are_of_the_fits_alone():
    data = make_synthetic(120, n_features=5, n_labels=4, signal=4.0, random_state=3)
    answers = draw_answers(data.Y, question="asked", random_state=4)
    ridge, folds = make_classifier("ridge:alpha=1.0,rank=none").fit(data.X, answers), []
    found = evaluate_model(ridge, data.X, answers, n_folds=3, on_fold=folds.append)
    expected = estimate_metrics(answers, cross_fit_probabilities(ridge, data.X, answers, n_folds=3))
    assert found.estimates.f1 == expected.f1
    assert (found.n_folds, folds) == (3, [1, 2, 3])
    assert found.ranking_error is found.log_likelihood is None
    assert found.as_dict()["cross_fit"] == 3


@pytest.mark.parametrize("question", ["asked", "ticked"])
@pytest.mark.parametrize(("n", "seed"), [(25, 0), (200, 1)])
def test_the_guess_for_all_items_is_that_of_a_fit_to_features_that_tell_nothing(question, n, seed):
    data = make_synthetic(n, n_features=5, n_labels=6, random_state=seed)
    answers = draw_answers(data.Y, question=question, random_state=seed)
    found = evaluate_model(Stated.of(answers), np.zeros(answers.shape), answers)
    nothing = np.zeros((n, 1))
    blind = SelectionLikelihoodClassifier(kernel="linear", scaling="global", alpha=1.0)
    expected = blind.fit(nothing, answers).score(nothing, answers)
    assert found.constant["log_likelihood"] == pytest.approx(expected, rel=2e-5)
    prior = make_classifier("prior").fit(nothing, answers).decision_function(nothing)
    error = complementary_ranking_error(answers, prior)
    assert found.constant["ranking_error"] == pytest.approx(error)


def test_labels_that_nobody_judged_and_answers_that_all_say_no_have_a_guess():
    absent = np.eye(4, dtype=int)[[0, 1, 1]]
    answers = Answers.from_arrays(absent=absent, question="asked")
    found = evaluate_model(Stated.of(answers), np.zeros(answers.shape), answers)
    assert found.constant["log_likelihood"] == pytest.approx(0, abs=1e-6)


def test_weights_count_in_the_order_for_all_items():
    absent = np.eye(3, dtype=int)[[0, 0, 1]]
    answers = Answers.from_arrays(absent=absent, question="asked", weight=[1.0, 1.0, 5.0])
    found = evaluate_model(Stated.of(answers), np.zeros(answers.shape), answers)
    # Label 1 is lowest, then label 0: right about the third item, and half about the others.
    assert found.constant["ranking_error"] == pytest.approx((0.5 + 0.5 + 0) / 3)


def test_items_of_which_all_labels_are_denied_do_not_count_in_the_order_for_all_items():
    # They add the same to each label, and so cannot change the order.
    ruled_out = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 0]])
    answers = Answers.from_arrays(absent=ruled_out, question="asked")
    found = evaluate_model(Stated.of(answers), np.zeros(answers.shape), answers)
    assert found.constant["ranking_error"] == 0


def test_a_probability_at_the_cut_predicts_no_label_as_in_the_model(model):
    found = evaluate_model(model, np.zeros(Y.shape), ASKED)
    assert not model.predict(np.zeros(Y.shape)).any()
    assert found.estimates.recall.value == 0
    assert "above 0.5" in found.rule
    model.set_thresholds(0.5)
    found = evaluate_model(model, np.zeros(Y.shape), ASKED)
    assert found.estimates.recall.value == 1
    assert "threshold of this label" in found.rule


def test_it_warns_where_the_model_predicts_by_another_rule(model):
    assert not evaluate_model(model, X, ASKED).remarks
    model.threshold = "minmax"
    (remark,) = evaluate_model(model, X, ASKED).remarks
    assert remark.startswith("warning")
    assert "minmax" in remark


def test_it_warns_of_labels_that_chance_cannot_have_left_out(model):
    label = (ASKED.relevant + ASKED.absent).indices
    chances = np.where(label == 2, np.nan, ASKED.probability)  # as after a merge
    (remark,) = evaluate_model(model, X, replace(ASKED, probability=chances)).remarks
    assert (remark.startswith("warning"), "about 2;" in remark) == (True, True)
    few = draw_answers(Y, question="asked", items_share=0.2, random_state=2)
    label = (few.relevant + few.absent).indices
    chances = np.where(label == 2, np.nan, few.probability)
    assert not evaluate_model(model, X, replace(few, probability=chances)).remarks


def test_unequal_chances_leave_only_the_figures_that_allow_for_them(model):
    chances = np.where(np.arange(ASKED.n_answers) % 2, 0.1, 0.3)
    unequal = replace(ASKED, probability=chances)
    found = evaluate_model(model, X, unequal)
    assert found.estimates is not None
    assert found.ranking_error is found.log_likelihood is None
    assert found.remarks
    assert {"ranking_error", "log_likelihood", "constant"}.isdisjoint(found.as_dict())


def test_named_labels_have_a_ranking_and_no_estimates():
    named = draw_answers(Y, random_state=5)
    found = evaluate_model(Stated.of(named), X, named)
    assert found.estimates is None
    assert not found.least_known
    assert found.ranking_error < found.constant["ranking_error"]
    assert {"figures", "n_judgements"}.isdisjoint(found.as_dict())


def test_where_nothing_can_be_ranked_the_estimates_are_enough(model):
    yes = ASKED.only(ASKED.known_relevant.any(axis=1)[ASKED.item])
    found = evaluate_model(model, X, yes)
    assert found.estimates.recall.n_judgements == yes.n_answers
    assert found.ranking_error is None
    chosen = Answers.from_arrays(relevant=Y, question="asked")
    with pytest.raises(AnnotationError):
        evaluate_model(model, X, chosen)


def test_answers_are_needed(model):
    with pytest.raises(AnnotationError):
        evaluate_model(model, X, ASKED.only(np.zeros(ASKED.n_answers, dtype=bool)))


def test_plain_values_can_be_written_as_json_and_hold_what_the_figures_do(model):
    found = evaluate_model(model, np.full(Y.shape, -9.0), ASKED)  # no label is predicted
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert math.isnan(found.estimates.precision.value)
    assert plain["figures"]["precision"]["value"] is None
    assert plain["figures"]["recall"]["high"] == found.estimates.recall.high
    assert [*plain["figures_by_label"]] == ["0", "1", "2", "3"]


def test_the_columns_say_what_is_unknown(model):
    found = evaluate_model(model, np.full(Y.shape, -9.0), ASKED).estimates
    texts = {column.title: column.text(found.precision) for column in COLUMNS}
    assert texts["estimate"] == "-"
    assert texts["to halve"] == "more items"
