"""Plans from files and from arguments of commands, and the records of what came out."""

import json

import numpy as np
import pytest
from tests.experiments.studies.small import run

from complabel.errors import DatasetNotFoundError, InputError, PlanError
from complabel.experiments.paper import TABLES, printed_name, published_cells
from complabel.experiments.studies import (
    Store,
    benchmark_plan,
    read_plan,
    run_study,
)
from complabel.methods import METHODS, get_method
from complabel.metrics import METRICS

SMALL = """
name = "small"
title = "A small study"
datasets = ["synthetic"]
rows = [{ method = "prior" }, { method = "mlcl" }]
"""


def mlcl(more):
    """A plan whose second row says more."""
    return SMALL.replace('"mlcl"', f'"mlcl", {more}')


def own(entry):
    """A plan on files of one's own."""
    return SMALL.replace('"synthetic"', f"{{ {entry} }}")


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "plan.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("text", "place", "complaint"),
    [
        ('colour = "red"' + SMALL, "colour", "no such key; known are name, title"),
        (SMALL.replace('"synthetic"', '"scen"'), "the plan", "'scen'"),
        (SMALL.replace('"prior"', '"pior"'), "row 1, method", "Did you mean 'prior'?"),
        (SMALL.replace('"mlcl"', '"*", leave_out = ["x"]'), "row 2, leave_out, 0", "no method 'x'"),
        (mlcl("settings = { btea = 1 }"), "row 2", "'beta'?"),
        (mlcl('none = ["bta"]'), "row 2", "bta"),
        (mlcl('title = "{gamma}"'), "row 2", "gamma"),
        (mlcl('title = "sets {1, 2}"'), "row 2", "write two"),
        (SMALL.replace('"mlcl"', '"prior"'), "the plan", "two rows called 'Prior'"),
        (mlcl("epochs = 20"), "row 2, epochs", "known are method, leave_out, title"),
        (SMALL + 'draws = [{ name = "a", xyz = 1 }]', "draw 1, xyz", "known are name, scheme"),
        ('reference = "LIFT"' + SMALL, "the plan", "Prior, MLCL"),
        (SMALL + 'draws = [{ name = "a" }, { name = "a" }]', "the plan", "two draws called 'a'"),
        ('published = "table7"' + SMALL, "published", "'table2', 'table3'"),
        (own('file = "x.npz"'), "the plan", "needs a name"),
        (
            own('name = "a"'),
            "files, a",
            'file of your own as { name = "mine", file = "mine.arff" }',
        ),
        (own('name = "a", file = "x", truth = "t"'), "files, a", "or tables as { name = "),
        (own('name = "a", file = "x", labels = "y"'), "files, a, labels", "known are file, feat"),
        (own('name = "scene", file = "x.npz"'), "the plan", "the catalog has a dataset 'scene'"),
        (own('name = "a", features = "X"'), "files, a", "X: features without labels tell nothing"),
    ],
)
def test_what_cannot_be_run_is_refused_at_its_key(write, text, place, complaint):
    with pytest.raises(PlanError) as refusal:
        read_plan(write(text))
    problem = next(x for x in str(refusal.value).splitlines() if x.startswith(f"  {place}:"))
    assert complaint in problem
    assert "plan.toml" in str(refusal.value)


def test_a_file_that_is_no_toml_is_refused_with_its_line(write):
    with pytest.raises(PlanError, match="line 3"):
        read_plan(write('name = "x"\n\ntitle = = 1\n'))


def test_a_grid_is_crossed(write):
    grid = '"mlcl", grid = { beta = [0.0, 1.0], epochs = [5, 10] }, none = ["correlation"]'
    plan = read_plan(write(SMALL.replace('"mlcl"', grid)))
    rows = plan.expanded_rows()[1:]
    assert [row.title for row in rows] == [
        "MLCL, beta = 0.0, epochs = 5",
        "MLCL, beta = 0.0, epochs = 10",
        "MLCL, beta = 1.0, epochs = 5",
        "MLCL, beta = 1.0, epochs = 10",
    ]
    assert rows[1].settings == {"correlation": None, "beta": 0.0, "epochs": 10}


def test_titles_and_published_names_can_name_settings(write):
    grid = '"mlcl", title = "b{beta}", published = "{beta:g}", grid = { beta = [0.5, 1.0] }'
    plan = read_plan(write(SMALL.replace('"mlcl"', grid)))
    assert [(row.title, row.published) for row in plan.expanded_rows()[1:]] == [
        ("b0.5", "0.5"),
        ("b1.0", "1"),
    ]


def test_a_star_stands_for_every_method_but_those_left_out(write):
    rows = 'rows = [{ method = "*", leave_out = ["mlcl"] }]'
    plan = read_plan(write(SMALL.replace(SMALL.splitlines()[-1], rows)))
    assert [row.method for row in plan.expanded_rows()] == [n for n in METHODS if n != "mlcl"]


@pytest.mark.parametrize("name", TABLES)
def test_the_papers_plans_hold_every_published_row_on_every_published_dataset(name):
    plan = read_plan(name)
    assert plan.name == plan.published == name
    cells = published_cells(name)
    assert set(plan.datasets) == {dataset for dataset, *_ in cells}
    assert {draw.scheme for draw in plan.draws} == {scheme for _, scheme, *_ in cells}
    rows = {
        row.published or printed_name(get_method(row.method).base) for row in plan.expanded_rows()
    }
    assert {row for _, _, row, _ in cells} <= rows


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
        "dataset", "labels", "question", "propensity_sd", "error_rate", "missed", "invented",
        "answers_per_item", "items_share", "audit", "draw", "row", "method", "match_frequencies",
        "learns_from", "seed", "folds", "seconds", "metrics", "fitted",
    ]  # fmt: skip
    assert [record[key] for key in ("dataset", "labels", "method", "learns_from")] == [
        "synthetic", "uniform", "prior", "complementary",
    ]  # fmt: skip
    assert reference["learns_from"] == "relevant"
    assert (record["seed"], record["folds"]) == (7, 4)
    assert [*record["metrics"]] == [*METRICS]
    for values in record["metrics"].values():
        assert len(values["folds"]) == 4
        assert values["mean"] == pytest.approx(np.mean(values["folds"]))
        assert values["std"] == pytest.approx(np.std(values["folds"], ddof=1))


def test_a_dataset_of_the_catalog_that_is_not_there_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("COMPLABEL_DATA", raising=False)
    plan = benchmark_plan(["bookmark", "synthetic"], ["prior"], n_folds=2)
    with pytest.raises(DatasetNotFoundError, match="bookmark"):
        run(plan, allow_missing=False)
    summary, results = run(plan)
    assert {unit.dataset for unit in results.units} == {"synthetic"}
    assert summary.missing == results.missing == {
        "bookmark": "not at hand; get it with: complabel datasets --download bookmark"
    }  # fmt: skip


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
