"""Settings chosen by held-out complementary labels."""

import dataclasses
import json

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from complabel import metrics
from complabel.datasets import load_dataset, make_synthetic
from complabel.errors import InputError
from complabel.methods import METHODS, MLKNNClassifier, make_classifier
from complabel.studies import (
    LOG_LIKELIHOOD,
    RANKING_ERROR,
    TunedSetting,
    TuningResult,
    draw_labels,
    expand_grid,
    split_folds,
    tune,
)
from complabel.studies import _tune as module

DATASET = make_synthetic(120, n_features=5, n_labels=4, random_state=2)
LEARNERS = [name for name, method in METHODS.items() if method.learns_from == "complementary"]


def test_a_grid_is_expanded_in_its_order():
    settings = expand_grid("mlcl", {"beta": [1.0, 0.5], "epochs": [20, 30]})
    expected = [(1.0, 20), (1.0, 30), (0.5, 20), (0.5, 30)]
    assert [(setting["beta"], setting["epochs"]) for setting in settings] == expected


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].grid])
def test_default_grids_name_parameters_of_their_methods(name):
    settings = expand_grid(name)
    assert len(settings) > 1
    for setting in settings:
        parameters = make_classifier(name, **setting).get_params()
        assert {key: parameters[key] for key in setting} == setting


def test_methods_without_a_default_grid_choose_by_themselves():
    assert not METHODS["prior"].grid
    assert not METHODS["ridge"].grid
    assert METHODS["mlcl"].grid


@pytest.mark.parametrize(
    ("method", "grid", "message"),
    [
        ("mlc", None, "no method 'mlc'. Did you mean 'mlcl'"),
        ("supervised", None, "supervised learns from true labels"),
        ("ridge", None, "ridge chooses what matters by itself; .*alpha"),
        ("prior", None, "prior chooses .*it has none"),
        ("mlcl", {"betta": [1]}, "mlcl has no parameter 'betta'; did you mean 'beta'"),
        ("mlcl", {"xyz": [1]}, "no parameter 'xyz'; it has .*weight_decay"),
        ("mlcl", {"beta": []}, "the grid has no value for beta"),
    ],
)
def test_impossible_grids_are_refused(method, grid, message):
    with pytest.raises(InputError, match=message):
        tune(DATASET, method, grid=grid)


def test_the_search_equals_scikit_learns():
    grid = {"n_neighbors": [3, 8, 20]}
    found = tune(DATASET, "ml-knn", grid=grid, n_folds=4, seed=5)
    complementary = draw_labels(DATASET, scheme="uniform", seed=5)
    search = GridSearchCV(
        MLKNNClassifier(),
        grid,
        scoring=metrics.complementary_ranking_scorer,
        cv=split_folds(DATASET, n_folds=4, seed=5),
        error_score="raise",
    ).fit(DATASET.X, complementary)
    scores = [setting.score for setting in found.settings]
    np.testing.assert_allclose(scores, search.cv_results_["mean_test_score"])
    assert found.best.parameters == search.best_params_
    errors = [setting.standard_error for setting in found.settings]
    # scikit-learn divides by n where a sample's deviation takes n - 1.
    np.testing.assert_allclose(errors, search.cv_results_["std_test_score"] / 3**0.5)
    assert found.criterion == RANKING_ERROR


def test_methods_with_a_likelihood_are_compared_by_it():
    grid = {"learning_rate": [0.1], "epochs": [3]}
    found = tune(DATASET, "mlcl", grid=grid, scheme="biased", n_folds=2)
    assert found.criterion == LOG_LIKELIHOOD
    assert found.labels == "biased"
    assert found.best.score < -1  # nats: chance has -log 4 = -1.39, a ranking error is above -1


def test_no_true_label_reaches_a_fit_or_the_choice(monkeypatch):
    grid = {"n_neighbors": [3, 20]}
    complementary = draw_labels(DATASET, scheme="uniform", seed=0)
    monkeypatch.setattr(module, "draw_labels", lambda *_, **__: complementary)
    plain = tune(DATASET, "ml-knn", grid=grid)
    turned = dataclasses.replace(DATASET, Y=1 - DATASET.Y)
    revealed = tune(turned, "ml-knn", grid=grid, reveal=True)
    for first, second in zip(plain.settings, revealed.settings, strict=True):
        np.testing.assert_array_equal(first.scores, second.scores)
    assert plain.best.parameters == revealed.best.parameters
    assert plain.best.average_precision is None


def test_revealed_average_precision_is_that_of_the_held_out_parts():
    found = tune(DATASET, "prior", grid={}, n_folds=3, reveal=True)
    complementary = draw_labels(DATASET, scheme="uniform", seed=0)
    expected = [
        metrics.average_precision(
            DATASET.Y[test],
            make_classifier("prior")
            .fit(DATASET.X[train], complementary[train])
            .decision_function(DATASET.X[test]),
        )
        for train, test in split_folds(DATASET, n_folds=3, seed=0)
    ]
    (only,) = found.settings
    np.testing.assert_allclose(only.average_precision, expected)


def test_progress_comes_fold_by_fold():
    seen = []
    tune(
        DATASET,
        "ml-knn",
        grid={"n_neighbors": [3, 5]},
        n_folds=2,
        on_fold=lambda *told: seen.append(told),
    )
    assert [(name, text, fold.fold) for name, text, fold in seen] == [
        ("synthetic", f"ml-knn, n_neighbors={k}", fold) for k in (3, 5) for fold in (0, 1)
    ]
    assert all(fold.metrics.keys() == {"score"} for *_, fold in seen)


def test_a_setting_that_fails_does_not_cost_the_others():
    found = tune(DATASET, "ml-knn", grid={"n_neighbors": [-1, 5]}, n_folds=2, reveal=True)
    failed, fine = found.settings
    assert np.isnan(failed.scores).all()
    assert np.isnan(failed.average_precision).all()
    assert "n_neighbors must be" in failed.error
    assert (found.best, fine.error) == (fine, "")
    record = json.loads(found.as_json())
    assert record["settings"][0]["score"] is None
    assert record["best"] == {"n_neighbors": 5}


def test_a_search_of_failures_says_why():
    with pytest.raises(InputError, match="no setting of ml-knn could be scored: n_neighbors must"):
        tune(DATASET, "ml-knn", grid={"n_neighbors": [-1, 0]}, n_folds=2)


def setting(scores, **parameters):
    return TunedSetting(parameters, np.array(scores), 1.0, None, "")


def test_of_equal_settings_the_first_is_chosen_and_written_as_python():
    settings = (
        setting([-2.0, -1.0], beta=2.0),
        setting([-1.0, -1.0], beta=0.5, transition="uniform"),
        setting([-1.5, -0.5], beta=0.25),
        setting([np.nan, 0.0], beta=4.0),
    )
    result = TuningResult("toy", "mlcl", "uniform", 0, 2, LOG_LIKELIHOOD, settings)
    assert result.best is settings[1]
    names = {}
    exec(result.code(), names)
    assert (
        names["classifier"].get_params()
        == make_classifier("mlcl", beta=0.5, transition="uniform").get_params()
    )
    # Deviations of 0.5 from the mean: variance 0.5, over two folds 0.25.
    assert settings[0].standard_error == pytest.approx(0.5)


def test_workers_give_the_same(monkeypatch):
    grid = {"learning_rate": [0.1, 0.01], "epochs": [2]}
    alone = tune(DATASET, "mlcl", grid=grid, n_folds=2)
    with joblib.parallel_config(backend="threading"):
        together = tune(DATASET, "mlcl", grid=grid, n_folds=2, n_jobs=2)
    for first, second in zip(alone.settings, together.settings, strict=True):
        np.testing.assert_array_equal(first.scores, second.scores)


@pytest.mark.slow
def test_the_choice_on_real_data_is_near_the_best(data_dir):
    dataset = load_dataset("scene", data_dir=data_dir)
    grid = {"alpha": [1e4, 10.0, 1e-4], "rank": [None]}
    found = tune(dataset, "ridge", grid=grid, reveal=True)
    precisions = [setting.average_precision.mean() for setting in found.settings]
    assert found.best.average_precision.mean() == max(precisions)
    assert found.best.parameters["alpha"] == 10.0
