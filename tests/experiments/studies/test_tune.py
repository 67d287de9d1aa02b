"""Settings chosen by held-out complementary labels."""

import dataclasses
import json

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from complabel import metrics
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.experiments.datasets import save_file
from complabel.experiments.methods import MLKNNClassifier, make_paper_classifier
from complabel.experiments.studies import (
    Draw,
    Monitor,
    Store,
    TunedSetting,
    TuningResult,
    split_folds,
)
from complabel.experiments.studies import tune as tune_any
from complabel.experiments.studies._tune import grid_of
from complabel.methods import METHODS, make_classifier
from complabel.simulate import draw_complementary

DATASET = make_synthetic(120, n_features=5, n_labels=4, random_state=2)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "toy.npz"
    save_file(DATASET, path)
    return str(path)


@pytest.fixture
def tune(file):
    """Tune a method on DATASET."""
    return lambda method, **options: tune_any(file, method, **options)


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].grid])
def test_default_grids_name_parameters_of_their_methods(name):
    tried = [(key, value) for key, values in grid_of(name).items() for value in values]
    assert len(tried) > 1
    for key, value in tried:
        assert make_classifier(name, **{key: value}).get_params()[key] == value


@pytest.mark.parametrize(
    ("method", "grid", "message"),
    [
        ("mlc", None, "no method 'mlc'. Did you mean 'mlcl'"),
        ("supervised", None, "supervised learns from true labels"),
        ("ridge", None, "ridge has no grid, because it chooses .*alpha"),
        ("prior", None, "prior has no grid.*it has none"),
        ("mlcl", {"betta": [1]}, "mlcl has no parameter 'betta'; did you mean 'beta'"),
        ("mlcl", {"xyz": [1]}, "no parameter 'xyz'; it has .*weight_decay"),
        ("mlcl", {"beta": []}, "the grid has no value for beta"),
    ],
)
def test_impossible_grids_are_refused(tune, method, grid, message):
    with pytest.raises(InputError, match=message):
        tune(method, grid=grid)


def test_the_search_equals_scikit_learns(tune):
    grid = {"n_neighbors": [3, 8, 20]}
    found = tune("ml-knn", grid=grid, n_folds=4, seed=5)
    complementary = draw_complementary(DATASET.Y, random_state=5)
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
    assert found.criterion == "minus complementary ranking error"


@pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
def test_no_true_label_reaches_a_fit_or_the_choice(tmp_path):
    grid, own = {"n_neighbors": [3, 20]}, {"scheme": "own"}
    excluded = draw_complementary(DATASET.Y, random_state=0)
    found = []
    for name, Y, reveal in (("plain", DATASET.Y, False), ("turned", 1 - DATASET.Y, True)):
        path = tmp_path / f"{name}.npz"
        save_file(dataclasses.replace(DATASET, Y=Y, excluded=excluded), path)
        found.append(tune_any(str(path), "ml-knn", grid=grid, draw=own, reveal=reveal))
    plain, revealed = found
    for first, second in zip(plain.settings, revealed.settings, strict=True):
        np.testing.assert_array_equal(first.scores, second.scores)
    assert plain.best.parameters == revealed.best.parameters
    assert plain.best.average_precision is None
    assert revealed.best.average_precision is not None


class Record(Monitor):
    def __init__(self):
        self.told = []

    def finished(self, unit, outcome, seconds):
        self.told.append((unit.row.title, unit.fold, *outcome.metrics))


def test_a_search_that_was_interrupted_goes_on_in_its_store(tune, tmp_path):
    class Stop(Record):
        def finished(self, unit, outcome, seconds):
            super().finished(unit, outcome, seconds)
            if len(self.told) == 3:
                raise KeyboardInterrupt

    options = {"grid": {"n_neighbors": [3, 5]}, "n_folds": 2}
    record = Record()
    with Store(tmp_path / "store.sqlite") as store:
        with pytest.raises(KeyboardInterrupt):
            tune("ml-knn", store=store, monitor=Stop(), **options)
        found = tune("ml-knn", store=store, monitor=record, **options)
        assert len(record.told) == 1
        (name,) = store.studies()
        assert name.startswith("tune-toy-")
    alone = tune("ml-knn", **options)
    for first, second in zip(found.settings, alone.settings, strict=True):
        np.testing.assert_array_equal(first.scores, second.scores)


def test_a_search_starts_without_the_papers_settings(data_dir):
    found = tune_any(
        "yeast",
        "mlcl",
        grid={"epochs": [1]},
        n_folds=2,
        data_dir=data_dir,
        monitor=(seen := Seen()),
    )
    assert found.best.parameters == {"epochs": 1}
    default = make_classifier("mlcl").learning_rate
    assert make_paper_classifier("mlcl", "yeast").learning_rate != default
    assert {unit.parameters["learning_rate"] for unit in seen.units} == {default}


class Seen(Monitor):
    def planned(self, units, todo, n_failed):
        self.units = units


def test_a_setting_that_fails_does_not_cost_the_others(tune):
    found = tune("ml-knn", grid={"n_neighbors": [-1, 5]}, n_folds=2, reveal=True)
    failed, fine = found.settings
    assert np.isnan(failed.scores).all()
    assert np.isnan(failed.average_precision).all()
    assert "n_neighbors must be" in failed.error
    assert (found.best, fine.error) == (fine, "")
    record = json.loads(found.as_json())
    assert record["settings"][0]["score"] is None
    assert record["best"] == {"n_neighbors": 5}


def setting(scores, **parameters):
    return TunedSetting(parameters, np.array(scores), 1.0, None, "")


def test_of_equal_settings_the_first_is_chosen_and_written_as_python():
    settings = (
        setting([-2.0, -1.0], beta=2.0),
        setting([-1.0, -1.0], beta=0.5, transition="uniform"),
        setting([-1.5, -0.5], beta=0.25),
        setting([np.nan, 0.0], beta=4.0),
    )
    result = TuningResult("toy", "mlcl", Draw(name="uniform"), 0, 2, "", settings)
    assert result.best is settings[1]
    names = {}
    exec(result.code(), names)
    assert (
        names["classifier"].get_params()
        == make_classifier("mlcl", beta=0.5, transition="uniform").get_params()
    )
    # Deviations of 0.5 from the mean: variance 0.5, over two folds 0.25.
    assert settings[0].standard_error == pytest.approx(0.5)
