"""Rows that are told how often labels apply, and rows whose scores are matched to that."""

import inspect
import re

import numpy as np
import pytest

from complabel.datasets import MultiLabelDataset, make_synthetic
from complabel.errors import PlanError
from complabel.methods import FrequencyMatchedClassifier, PriorClassifier
from complabel.studies import (
    Draw,
    Plan,
    Row,
    Store,
    benchmark_plan,
    plan_units,
    run_study,
    split_folds,
    tune,
)
from complabel.studies._fold import fit_fold
from complabel.studies._labels import draw_labels
from complabel.studies._outcome import fitted_scalars

QUIET = pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
DATASET = make_synthetic(150, n_labels=5, random_state=0)
DRAWN = draw_labels(DATASET, Draw(name="u"), seed=3)


class ToldClassifier(PriorClassifier):
    """Takes label frequencies, and remembers where fit was called from."""

    def __init__(self, *, label_frequencies="auto"):
        self.label_frequencies = label_frequencies

    def fit(self, X, y, **named):
        self.reachable = dict(inspect.currentframe().f_back.f_locals)
        return super().fit(X, y, **named)


TOLD = f"{__name__}:ToldClassifier"


def row_of(method, **fields):
    return Row(method=method, settings={}, **fields)


def fitted(row, fold=0, labels=DRAWN, **options):
    found = fit_fold(DATASET, labels, row, fold=fold, folds=3, seed=3, **options)
    return found.classifier


def shares(fold):
    train, _ = split_folds(DATASET, n_folds=3, seed=3)[fold]
    return [sum(DATASET.Y[i, k] for i in train) / len(train) for k in range(5)]


def make_plan(*rows, **changes):
    fields = {"name": "n", "title": "t", "datasets": ["synthetic"], "folds": 2}
    return Plan.model_validate({**fields, "rows": list(rows), **changes})


def run(plan):
    with Store(":memory:") as store:
        summary = run_study(plan, store, n_jobs=1)
        results = store.results(plan.name)
    assert summary.n_failed == 0, results.having("failed")
    return results


@pytest.mark.parametrize("fold", range(3))
def test_a_row_may_be_told_the_shares_of_its_training_part(fold):
    classifier = fitted(row_of(TOLD, label_frequencies="true"), fold)
    np.testing.assert_allclose(classifier.label_frequencies, shares(fold), rtol=1e-12)
    assert fitted(row_of(TOLD), fold).label_frequencies == "auto"


def test_nothing_else_of_the_truth_is_in_reach():
    classifier = fitted(row_of(TOLD, label_frequencies="true"))
    reachable = classifier.reachable.values()
    assert not any(isinstance(value, MultiLabelDataset) for value in reachable)
    arrays = [value for value in reachable if isinstance(value, np.ndarray)]
    assert arrays
    for array in [*arrays, classifier.label_frequencies]:
        assert not np.shares_memory(array, DATASET.Y)


def test_a_row_may_be_matched_to_the_true_frequencies():
    matched = fitted(row_of("ridge", label_frequencies="true", match_frequencies=True), 1)
    assert isinstance(matched, FrequencyMatchedClassifier)
    assert matched.learns_from == "complementary"
    np.testing.assert_allclose(matched.label_frequencies, shares(1), rtol=1e-12)
    plain = fitted(row_of("ridge"), 1)
    # The same method under the same seed; only what becomes of its scores differs.
    np.testing.assert_array_equal(
        matched.classifier_.decision_function(DATASET.X), plain.decision_function(DATASET.X)
    )
    train, _ = split_folds(DATASET, n_folds=3, seed=3)[1]
    mean = matched.predict_proba(DATASET.X[train]).mean(axis=0)
    np.testing.assert_allclose(mean, shares(1), atol=1e-3)


@QUIET
def test_a_row_may_be_matched_to_what_an_audit_tells():
    matched = fitted(row_of("prior", match_frequencies=True), audit=400)
    assert matched.label_frequencies == "auto"
    # 400 of the 500 pairs: nearly the truth.
    assert np.abs(matched.label_frequencies_ - shares(0)).max() < 0.1


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (
            {"method": "prior", "label_frequencies": "true"},
            "prior has no parameter label_frequencies; add match_frequencies = true, or leave"
            " label_frequencies out",
        ),
        (
            {"method": "*", "label_frequencies": "true", "leave_out": ["selection-likelihood"]},
            "mlcl has no parameter label_frequencies; add match_frequencies = true, or leave"
            ' label_frequencies out, or write leave_out = ["mlcl"]',
        ),
        ({"method": TOLD, "label_frequencies": "auto"}, "Input should be '' or 'true'"),
        (
            {
                "method": TOLD,
                "label_frequencies": "true",
                "settings": {"label_frequencies": [0.1, 0.2]},
            },
            "label_frequencies is given twice",
        ),
        (
            {"method": "supervised", "match_frequencies": True},
            "supervised learns from true labels, so nothing is to be matched; leave"
            " match_frequencies out",
        ),
        (
            {"method": "*", "match_frequencies": True},
            'leave match_frequencies out, or write leave_out = ["supervised"]',
        ),
        (
            {"method": "prior", "match_frequencies": True},
            "in all draws labels are named freely; add an audit, such as audit = 200",
        ),
    ],
)
def test_what_cannot_be_told_or_matched_is_refused(row, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        make_plan(row)


def test_a_study_needs_random_questions_in_one_of_its_draws_to_match_by():
    row = {"method": "prior", "match_frequencies": True}
    draws = [{"name": "u"}, {"name": "a", "audit": 50}]
    assert len(make_plan(row, draws=draws).rows) == 1
    assert make_plan(row, draws=[{"name": "m", "question": "asked"}])
    assert make_plan({**row, "label_frequencies": "true"})
    with pytest.raises(PlanError, match="add an audit"):
        benchmark_plan(["synthetic"], ["prior"], match_frequencies=True)
    with pytest.raises(PlanError, match="add an audit"):
        tune("synthetic", "ridge", grid={"alpha": [1.0]}, match_frequencies=True)


def test_titles_say_what_a_row_is_told():
    every = make_plan(
        {"method": "ridge"},
        {"method": "ridge", "label_frequencies": "true", "match_frequencies": True},
        {"method": "ridge", "match_frequencies": True},
        {"method": TOLD, "label_frequencies": "true"},
        {"method": "mlcl", "match_frequencies": True, "grid": {"beta": [0.5]}},
        draws=[{"name": "a", "audit": 9}],
    ).expanded_rows()
    assert [(row.title, row.learns_from) for row in every] == [
        ("Ridge", "complementary"),
        ("Ridge, matched to true frequencies", "frequencies"),
        ("Ridge, matched frequencies", "complementary"),
        ("ToldClassifier, true frequencies", "frequencies"),
        ("MLCL, beta = 0.5, matched frequencies", "complementary"),
    ]


def units(row, method="ridge"):
    draws = [{"name": "a", "audit": 9}]
    return plan_units(make_plan({"method": method, **row}, draws=draws))[0]


def test_results_of_matched_and_told_rows_have_keys_and_parameters_of_their_own():
    matched = {"match_frequencies": True}
    ways = [{}, matched, {**matched, "label_frequencies": "true"}]
    assert len({unit.key for way in ways for unit in units(way)}) == 3 * 2
    plain, auto, true = (units(way)[0].parameters for way in ways)
    assert auto == {**plain, "match_frequencies": "auto"}
    assert true == {**plain, "match_frequencies": "true"}
    told = units({"label_frequencies": "true"}, TOLD)[0]
    assert told.parameters == {"label_frequencies": "true"}
    assert told.key != units({}, TOLD)[0].key


@QUIET
def test_a_benchmark_matches_every_method_but_references():
    draw = {"question": "asked", "audit": 60}
    methods = ["prior", "ridge", "supervised"]
    plan = benchmark_plan(["synthetic"], methods, draw=draw, match_frequencies=True, n_folds=2)
    records = run(plan).records()
    assert [(r["row"], r["match_frequencies"], r["learns_from"]) for r in records] == [
        ("Prior, matched frequencies", True, "complementary"),
        ("Ridge, matched frequencies", True, "complementary"),
        ("Supervised", False, "relevant"),
    ]
    _, ridge, _ = (record["fitted"] for record in records)
    mean = make_synthetic(random_state=0).Y.sum(axis=1).mean()
    assert ridge["label_frequencies_sum"] == pytest.approx(mean, rel=0.25)
    assert 0 < ridge["label_frequencies_sum_error"] < mean
    assert ridge["alpha"] > 0  # of the method inside
    assert plan.name != benchmark_plan(["synthetic"], methods, draw=draw, n_folds=2).name


def test_frequencies_that_a_fit_found_are_summed_with_their_error():
    found = PriorClassifier()
    found.label_frequencies_ = np.array([0.25, 0.5, 0.125])
    assert fitted_scalars(found) == {"label_frequencies_sum_": 0.875}
    found.label_frequencies_errors_ = np.array([0.02, 0.03, 0.06])
    assert fitted_scalars(found) == {
        "label_frequencies_sum_": 0.875,
        "label_frequencies_sum_error_": pytest.approx(0.07, rel=1e-12),
    }
    # Errors that belong together: 0.0004 + 0.0009 + 0.0036 + 2 * (0.0006 + 0.0006 + 0.0013)
    found.label_frequencies_covariance_ = np.array(
        [[0.0004, 0.0006, 0.0006], [0.0006, 0.0009, 0.0013], [0.0006, 0.0013, 0.0036]]
    )
    error = fitted_scalars(found)["label_frequencies_sum_error_"]
    assert error == pytest.approx(0.0099**0.5, rel=1e-12)
    del found.label_frequencies_covariance_
    for unknown in (None, np.full(3, np.nan)):
        found.label_frequencies_errors_ = unknown
        assert fitted_scalars(found) == {"label_frequencies_sum_": 0.875}
