"""The frame of benchmarks: cells, resuming, what is stored, and what has moved."""

import json

import pytest

from benchmarks import _frame, _results
from benchmarks.__main__ import main
from complabel.errors import InputError

CELLS = [{"set": "made", "bias": 0}, {"set": "made", "bias": 2}, {"set": "scene", "bias": 0}]


def measure(*, draw, data, **cell):
    """Return a figure that depends on the cell and the draw."""
    return {"fit": 0.5 + 0.1 * cell["bias"] + 0.01 * draw, "seconds": 1.0}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A benchmark whose results are stored in a folder of the test."""
    monkeypatch.setattr(_results, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(_frame, "PARTS", tmp_path / "parts")
    yield _frame.Benchmark(
        "made", "What?", measure, CELLS, 3, {"bias": [0], "draws": 2}, ("scene",), ("seconds",)
    )
    _results.read.cache_clear()


def test_quick_units_are_some_of_all(made):
    quick = made.units(quick=True)

    assert len(made.units()) == 9
    assert [draw for _, draw in quick] == [0, 1, 0, 1]
    assert all(each in made.units() for each in quick)
    assert made.units(only={"set": ["scene"]}, draws=1) == [(CELLS[2], 0)]


def test_what_is_measured_is_stored_with_how_it_was_measured(made, tmp_path):
    _frame.run(made, made.units(), data=tmp_path, show=lambda _: None)

    result = _results.read("made")
    assert len(result.rows) == 9
    assert _results.figure("made[bias=2].fit") == ".710"
    assert result.runs[0]["code"]["errors"] == _results.fingerprint("errors")
    assert not [*(tmp_path / "parts").iterdir()]


def test_a_set_without_its_folder_is_named_before_anything_is_measured(made):
    with pytest.raises(InputError, match=r"scene.*--data"):
        _frame.run(made, made.units(), show=lambda _: None)


def test_an_interrupted_run_goes_on_where_it_stopped(made, tmp_path):
    asked = []

    def stopping(*, draw, data, **cell):
        asked.append((cell, draw))
        if len(asked) == 4:
            raise KeyboardInterrupt
        return measure(draw=draw, data=data, **cell)

    made.measure = stopping
    with pytest.raises(KeyboardInterrupt):
        _frame.run(made, made.units(), data=tmp_path, show=lambda _: None)
    part = tmp_path / "parts" / "made.jsonl"
    with part.open("a") as file:
        file.write('["half a li')  # as a kill leaves it
    _frame.run(made, made.units(), data=tmp_path, show=lambda _: None)

    assert len(asked) == 10  # nine, and the one that was stopped
    assert len(_results.read("made").rows) == 9


def test_what_another_code_measured_before_is_measured_again(made, tmp_path, monkeypatch):
    part = tmp_path / "parts" / "made.jsonl"
    key = _frame.unit_key(CELLS[0], 0)
    part.parent.mkdir()
    row = {**CELLS[0], "draw": 0, "figures": {"fit": 9.0}}
    entry = {"rows": [row], "took": [0, 0], "code": {"losses": "old"}}
    part.write_text(json.dumps([key, entry]) + "\n")

    rows = _frame.run(made, made.units(draws=1), data=tmp_path, show=lambda _: None)

    assert rows[0]["figures"]["fit"] == 0.5


@pytest.mark.parametrize(("by", "moves"), [(0.001, False), (0.02, True)])
def test_a_figure_moves_if_it_differs_by_more_than_its_error(made, tmp_path, by, moves):
    rows = _frame.run(made, made.units(), data=tmp_path, show=lambda _: None)
    new = [{**row, "figures": {"fit": row["figures"]["fit"] + by, "seconds": 1.7}} for row in rows]

    found = _frame.moved(made, new[:1], _results.read("made"))

    assert bool(found) == moves
    assert not any("seconds" in each for each in found)


def test_a_name_that_is_no_benchmark_is_answered_with_all_names(monkeypatch):
    monkeypatch.setattr("sys.argv", ["benchmarks", "tagz"])
    with pytest.raises(InputError, match="tags"):
        main()
