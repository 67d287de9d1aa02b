"""The theory as it is typed, computed elsewhere."""

import pytest
from research.theory import __main__ as command
from research.theory._theory_page import render_theory
from research.theory.tests.results import made_up


@pytest.fixture
def computed(monkeypatch, tmp_path):
    """Stand in for the computation; remember what it was asked for. No folder has datasets."""
    asked, found = [], made_up()

    def run_theory(datasets, *, tell, **settings):
        asked.append(([dataset.name for dataset in datasets], settings))
        tell("1 of 1 parts")
        return found

    monkeypatch.setattr(command, "run_theory", run_theory)
    monkeypatch.setenv("COMPLABEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return asked, found


def test_it_writes_the_page_and_says_what_is_left_out(tmp_path, computed, capsys):
    target = tmp_path / "page.html"
    command.main(["--output", str(target), "--seed", "3", "--jobs", "1"])
    ((names, settings),) = computed[0]
    assert names == ["digits"]
    assert settings == {"n_distributions": 1000, "quick": False, "random_state": 3, "n_jobs": 1}
    out, err = capsys.readouterr()
    for name in ("scene", "yeast", "corel5k"):
        assert f"left out: {name}, no file of it was found" in err
    assert "no file of it was found" in target.read_text(encoding="utf-8")
    assert "S 0.500, S C' 0.625, uniform 0.750, exact 0.875" in out


def test_quick_is_digits_alone(tmp_path, computed, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command.main(["--quick", "--distributions", "20"])
    ((names, settings),) = computed[0]
    assert (names, settings["quick"], settings["n_distributions"]) == (["digits"], True, 20)
    out, err = capsys.readouterr()
    assert "left out" not in err
    assert "in a browser" in out
    shown = (tmp_path / "complabel-theory.html").read_text(encoding="utf-8")
    assert shown == render_theory(computed[1])


def test_a_folder_that_is_not_there_is_refused_first(tmp_path, computed):
    with pytest.raises(SystemExit, match="there is no folder"):
        command.main(["--output", str(tmp_path / "no" / "page.html")])
    assert not computed[0]


def test_the_real_computation_says_what_the_theorems_are_worth(tmp_path, capsys):
    target = tmp_path / "page.html"
    command.main(["--quick", "--distributions", "20", "--jobs", "1", "--output", str(target)])
    found = [line.partition(": fails ") for line in capsys.readouterr().out.splitlines()]
    lines = {what: said.split() for what, _, said in found}
    # Proved: the reversed inequality and the bound by the covariance hold for any distribution.
    for proved in ("Theorem 1, reversed, T of each x", "Theorem 2, bound by the covariance"):
        assert lines[proved][-4:-2] == ["0.0", "%"]
    for refuted in ("Theorem 1, as printed, one T", "Theorem 2, printed bound, T of each x"):
        assert float(lines[refuted][-4]) > 50
    assert "for 20 random distributions" in target.read_text(encoding="utf-8")
