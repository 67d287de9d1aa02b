"""Plans made from the arguments of a command, and the records of what came out."""

import dataclasses
import json

import numpy as np
import pytest

from complabel.datasets import make_synthetic, save_file
from complabel.errors import DatasetNotFoundError, InputError, PlanError
from complabel.metrics import METRIC_NAMES
from complabel.studies import Store, StudyResults, benchmark_plan, run_study


def run(plan, **options):
    with Store(":memory:") as store:
        summary = run_study(plan, store, n_jobs=1, **options)
        return summary, store.results(plan.name)


@pytest.fixture
def mine(tmp_path):
    """A file of one's own, with an instance that no complementary label can be drawn for."""
    path = tmp_path / "my data.v2.npz"
    dataset = make_synthetic(200, random_state=0)
    X = np.vstack([dataset.X, np.zeros((1, dataset.n_features))])
    Y = np.vstack([dataset.Y, np.ones((1, dataset.n_labels), dtype=np.uint8)])
    np.savez(path, X=X, Y=Y)
    return path


def test_a_plan_holds_what_the_arguments_say():
    plan = benchmark_plan(
        ["synthetic", "digits"], ["prior", "mlcl", "mlcl"], scheme="biased", n_folds=3, seed=4
    )
    assert plan.datasets == ["synthetic", "digits"]
    assert [row.method for row in plan.expanded_rows()] == ["prior", "mlcl"]
    assert [draw.scheme for draw in plan.draws] == ["biased"]
    assert (plan.folds, plan.seed, plan.published) == (3, 4, "table3")


def test_the_same_arguments_give_the_same_name_and_others_another():
    def name(**changes):
        return benchmark_plan(**{"datasets": ["digits"], "methods": ["prior"], **changes}).name

    assert name() == name()
    changed = [{"seed": 1}, {"n_folds": 5}, {"scheme": "biased"}, {"methods": ["mlcl"]}]
    assert len({name(), *(name(**change) for change in changed)}) == 5
    assert name().startswith("benchmark-digits-")


def test_a_record_has_what_the_interface_promises():
    _, results = run(benchmark_plan(["synthetic"], ["prior", "supervised"], n_folds=4, seed=7))
    records = results.records()
    assert json.loads(json.dumps(records)) == records
    record, reference = records
    assert list(record) == [
        "dataset", "labels", "question", "propensity_sd", "error_rate", "answers_per_item",
        "items_share", "audit", "row", "method", "match_frequencies", "learns_from", "seed",
        "folds", "seconds", "metrics", "fitted",
    ]  # fmt: skip
    assert [record[key] for key in ("dataset", "labels", "method", "learns_from")] == [
        "synthetic", "uniform", "prior", "complementary",
    ]  # fmt: skip
    assert reference["learns_from"] == "relevant"
    assert (record["seed"], record["folds"]) == (7, 4)
    assert tuple(record["metrics"]) == METRIC_NAMES
    for values in record["metrics"].values():
        assert len(values["folds"]) == 4
        assert values["mean"] == pytest.approx(np.mean(values["folds"]))
        assert values["std"] == pytest.approx(np.std(values["folds"], ddof=1))


def test_a_row_with_a_fold_to_come_has_no_record():
    plan = benchmark_plan(["synthetic"], ["prior"], n_folds=2)
    first, second = run(plan)[1].units
    assert len(StudyResults(plan, [first, second], {}).records()) == 1
    pending = dataclasses.replace(second, status="pending")
    assert not StudyResults(plan, [first, pending], {}).records()


def test_a_file_of_ones_own_is_a_dataset(mine):
    plan = benchmark_plan([str(mine)], ["prior"], n_folds=2)
    assert plan.datasets == ["my-data"]
    summary, results = run(plan, allow_missing=False)
    assert (summary.n_ran, summary.n_failed) == (2, 0)
    assert results.records()[0]["dataset"] == "my-data"


def test_a_dataset_of_the_catalog_that_is_not_there_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("COMPLABEL_DATA", raising=False)
    summary, results = run(benchmark_plan(["bookmark", "synthetic"], ["prior"], n_folds=2))
    assert summary.missing == results.missing == {
        "bookmark": "not at hand; get it with: complabel datasets --download bookmark"
    }  # fmt: skip


@pytest.mark.parametrize("allow_missing", [True, False])
def test_a_file_that_is_not_there_is_refused_before_anything_runs(tmp_path, allow_missing):
    plan = benchmark_plan(["synthetic", str(tmp_path / "none.npz")], ["prior"], n_folds=2)
    with Store(":memory:") as store:
        with pytest.raises(DatasetNotFoundError, match=r"none\.npz: no such file"):
            run_study(plan, store, n_jobs=1, allow_missing=allow_missing)
        assert not store.studies()


def test_a_file_that_changes_has_results_of_its_own(tmp_path):
    path = tmp_path / "mine.npz"
    plan = benchmark_plan([str(path)], ["prior"], n_folds=2)
    with Store(":memory:") as store:
        for seed, n_ran in ((0, 2), (0, 0), (1, 2)):
            save_file(make_synthetic(200, random_state=seed), path)
            assert run_study(plan, store, n_jobs=1).n_ran == n_ran


@pytest.mark.parametrize(
    ("datasets", "methods", "error", "message"),
    [
        (["synthetic"], ["priro"], PlanError, "no method 'priro'. Did you mean 'prior'"),
        (["synthetic"], ["mlcl:bta=1"], PlanError, "no parameter 'bta'; did you mean 'beta'"),
        (["synthetic"], ["nowhere:X"], PlanError, "'nowhere:X' cannot be imported"),
        (["sceen"], ["prior"], DatasetNotFoundError, "unknown dataset 'sceen'"),
        (["scene.npz"], ["prior"], InputError, r"scene.npz would be called 'scene'"),
        (["a/x.npz", "b/x.npz"], ["prior"], PlanError, "two datasets called 'x'"),
    ],
)
def test_what_cannot_run_is_refused_in_one_sentence(datasets, methods, error, message):
    with pytest.raises(error, match=message) as refusal:
        benchmark_plan(datasets, methods)
    assert "\n" not in str(refusal.value)


OWN_METHOD = """
import numpy as np
from complabel.methods import ComplementaryClassifier
from own_constant import LEVEL

class Level(ComplementaryClassifier):
    def __init__(self, shift=0.0):
        self.shift = shift

    def _fit(self, X, complementary, relevant, /):
        self.n_labels_ = complementary.shape[1]

    def _decision(self, X):
        return np.tile(np.arange(self.n_labels_) * LEVEL + self.shift, (X.shape[0], 1))
"""


@pytest.mark.slow
def test_a_class_of_ones_own_runs_in_workers_and_counts_in_the_key(tmp_path, monkeypatch):
    (tmp_path / "own_method.py").write_text(OWN_METHOD, encoding="utf-8")
    (tmp_path / "own_constant.py").write_text("LEVEL = 1.0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    names = ["own_method:Level", "own_method:Level:shift=2.0"]
    plan = benchmark_plan(["synthetic"], names, n_folds=3)
    assert [row.title for row in plan.expanded_rows()] == ["Level", "Level (shift = 2.0)"]
    with Store(":memory:") as store:
        # These processes are there before the folder is known.
        monkeypatch.undo()
        run_study(benchmark_plan(["synthetic"], ["prior"], n_folds=3), store, n_jobs=2)
        monkeypatch.syspath_prepend(str(tmp_path))
        summary = run_study(plan, store, n_jobs=2)
        results = store.results(plan.name)
        assert (summary.n_ran, summary.n_failed) == (6, 0), results.having("failed")
        assert [record["method"] for record in results.records()] == names
