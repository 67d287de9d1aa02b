import os
import random
import sqlite3

import pytest
from tests.experiments.studies.small import small

from complabel import _sqlite
from complabel.errors import StoreError
from complabel.experiments.studies import Outcome, Row, Store, plan_units, run_study
from complabel.metrics import METRICS

PLAN = small(rows=[Row(method="prior"), Row(method="mlcl")])
UNITS, _ = plan_units(PLAN)
DONE = Outcome(
    metrics={**dict.fromkeys(METRICS, 0.5), "ranking_loss": 0.25},
    fit_seconds=1.5,
    predict_seconds=0.5,
    peak_memory_mb=100.0,
    fitted={"alpha_": 0.1, "scaling_": "global"},
    details={"curves": {"classifier": [1.0, 0.5]}},
    machine={"cores": "2"},
)
FAILED = Outcome(error="Traceback\nInputError: no")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path):
    with Store(path) as store:
        store.register(PLAN, UNITS, {"bookmark": "not found"})
        yield store


def test_a_result_comes_back_as_it_was_given(store):
    store.finish(UNITS[1], DONE)
    results = store.results("small")
    assert results.plan == PLAN
    assert results.missing == {"bookmark": "not found"}
    assert [unit.status for unit in results.units] == [
        "pending", "done", "pending", "pending", "pending", "pending",
    ]  # fmt: skip
    (unit,) = results.having("done")
    for field in (
        "metrics", "fit_seconds", "predict_seconds", "peak_memory_mb", "fitted", "details",
        "machine", "error",
    ):  # fmt: skip
        assert getattr(unit, field) == getattr(DONE, field), field
    assert (unit.dataset, unit.row, unit.fold, unit.method) == ("synthetic", "Prior", 1, "prior")
    assert unit.parameters == UNITS[1].parameters


def test_registering_again_replaces_the_study_and_keeps_results(store):
    store.finish(UNITS[0], DONE)
    smaller = PLAN.model_copy(update={"rows": PLAN.rows[:1]})
    units, _ = plan_units(smaller)
    store.register(smaller, units, {})
    results = store.results("small")
    assert [unit.status for unit in results.units] == ["done", "pending", "pending"]
    assert not results.missing


def test_a_full_disk_is_said_and_loses_nothing(store, path):
    store.finish(UNITS[0], DONE)
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    large = Outcome(metrics={"ranking_loss": 0.1}, error="x" * 100_000)
    with pytest.raises(StoreError, match="full") as refusal:
        store.finish(UNITS[1], large)
    assert str(path) in str(refusal.value)
    store._connection.execute("PRAGMA max_page_count = 1000000")
    assert store.statuses([unit.key for unit in UNITS]) == {UNITS[0].key: "done"}
    store.finish(UNITS[1], DONE)
    assert len(store.results("small").having("done")) == 2


def test_a_store_that_is_not_there_is_not_made_by_looking(path):
    with pytest.raises(StoreError, match="run a study first"):
        Store(path, create=False)
    assert not path.exists()


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to have a header" * 10, "other", "later"]
)
def test_a_file_of_something_else_is_refused_and_left_alone(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content == "other":
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE recipes (name TEXT)")
        connection.close()
    else:
        Store(path).close()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"store\.sqlite"):
        Store(path)
    assert path.read_bytes()[100:] == before[100:]


def test_a_study_that_is_not_in_the_store_is_refused(store):
    with pytest.raises(StoreError, match="it holds: small"):
        store.results("large")


def test_looking_at_an_empty_file_leaves_it_empty(tmp_path):
    path = tmp_path / "empty.sqlite"
    path.touch()
    with pytest.raises(StoreError, match="is an empty file, not a store"):
        Store(path, create=False)
    assert path.stat().st_size == 0


def test_a_second_run_is_told_of_the_first(store, path, monkeypatch):
    monkeypatch.setattr(_sqlite, "_LOCK_SECONDS", 0.1)
    with Store(path) as other, store.alone():
        assert store.writer() == other.writer()
        assert f"process {os.getpid()} on " in other.results("small").writer
        with pytest.raises(StoreError, match=rf"another run writes .*process {os.getpid()} on"):
            run_study(PLAN, other, n_jobs=1)
    with Store(path) as other:
        assert other.writer() == ""
        with other.alone():
            other.finish(UNITS[0], DONE)
    assert [file.name for file in path.parent.glob("*-lock")] == []


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("results", "metrics", "{"),
        ("results", "fit_seconds", "long"),
        ("studies", "units", "none"),
        ("studies", "units", "[{}]"),
        ("studies", "plan", "{"),
        ("studies", "plan", '{"name": "small", "repeats": 3}'),
        ("studies", "plan", PLAN.model_copy(update={"name": "other"}).model_dump_json()),
        ("studies", "missing", "synthetic"),
    ],
)
def test_a_value_that_cannot_be_read_is_said(store, path, table, column, value):
    store.finish(UNITS[0], DONE)
    store._connection.execute(f"UPDATE {table} SET {column} = ?", [value])
    with pytest.raises(StoreError, match=r"the study 'small': .* damaged") as refusal:
        store.results("small")
    assert str(path) in str(refusal.value)


def test_flipped_bytes_never_raise_anything_else(store, path):
    store.finish(UNITS[0], DONE)
    store.close()
    content = path.read_bytes()
    chance = random.Random(31)
    refused = []
    for _ in range(60):
        changed = bytearray(content)
        changed[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        try:
            with Store(path, create=False) as found:
                found.results("small")
        except StoreError as refusal:
            refused.append(str(refusal))
    assert len(refused) > 5
    assert not any("Earlier results in it are safe" in text for text in refused)


def test_a_damaged_index_is_noticed_and_can_be_made_again(store, path):
    """It would hide results, which would then be stored twice."""
    store.finish(UNITS[3], DONE)
    store.close()
    content, key = path.read_bytes(), UNITS[3].key.encode()
    places = [i for i in range(len(content)) if content.startswith(key, i)]
    noticed = 0
    for place in places:
        other = b"1" if key[:1] == b"0" else b"0"
        path.write_bytes(content[:place] + other + content[place + 1 :])
        try:
            Store(path).close()
        except StoreError as refusal:
            noticed += "sqlite_autoindex_results_1" in str(refusal)
    assert noticed


def test_numbers_that_are_none_come_back(store):
    nan = float("nan")
    metrics = {**dict.fromkeys(METRICS, 0.5), "ranking_loss": nan}
    details = {"curves": {"classifier": [nan, float("inf")]}}
    store.finish(UNITS[0], Outcome(metrics=metrics, fitted={"a_": nan}, details=details))
    unit = store.results("small").units[0]
    assert unit.status == "done"
    assert repr(unit.details["curves"]) == repr(details["curves"])
    assert repr(unit.metrics["ranking_loss"]) == repr(unit.fitted["a_"]) == "nan"
