"""Units that run side by side, against the same units one after the other."""

import dataclasses

from tests.experiments.studies.small import run, small

from complabel.experiments.studies import Row, Store, _run, run_study

TIMES = {"fit_seconds", "predict_seconds", "peak_memory_mb"}
RATES = (0.1, 0.01)
GDF = {"epochs": 3, "device": "cpu"}  # a GPU rounds in another order
ROWS = [
    Row(method="prior"),
    Row(
        method="gdf",
        title="GDF at {learning_rate}",
        settings=GDF,
        grid={"learning_rate": RATES},
    ),
    Row(method="mlcl", settings={"epochs": 2, "device": "cpu"}),
]


def results(plan):
    """Run a plan; return all that does not depend on time, and the sizes of the groups."""
    _, found = run(plan)
    plain = [dataclasses.asdict(unit) for unit in found.units]
    return [{key: unit[key] for key in unit.keys() - TIMES} for unit in plain], found.units


def test_results_do_not_depend_on_it(monkeypatch):
    plan = small(rows=ROWS, score=True)
    together, units = results(plan)
    assert all(unit.status == "done" and unit.fit_seconds > 0 for unit in units)
    monkeypatch.setattr(_run, "_MOST_UNITS", 1)
    assert results(plan)[0] == together


def test_large_features_are_run_one_by_one(monkeypatch):
    sizes, run_folds = [], _run.run_folds
    monkeypatch.setattr(
        _run, "run_folds", lambda *a, **k: sizes.append(len(a[2])) or run_folds(*a, **k)
    )
    monkeypatch.setattr(_run, "_MOST_NUMBERS", 100)
    run(small(rows=ROWS[1:2]))
    assert sizes == [1] * 6


def test_only_what_is_missing_runs():
    plan = small(rows=ROWS[1:2])
    with Store(":memory:") as store:
        first = Row(method="gdf", settings={**GDF, "learning_rate": RATES[0]})
        run_study(small(rows=[first]), store, n_jobs=1)
        assert run_study(plan, store, n_jobs=1).n_ran == 3
        found = store.results(plan.name).units
    assert [unit.metrics for unit in found] == [unit.metrics for unit in results(plan)[1]]


def test_one_unit_that_fails_is_alone():
    row = Row(
        method="gdf",
        title="{learning_rate}",
        settings=GDF,
        grid={"learning_rate": [0.1, 1e38]},
    )
    _, found = run(small(rows=[row]))
    assert [unit.status for unit in found.units] == ["done"] * 3 + ["failed"] * 3
    assert "diverged" in found.units[-1].error
