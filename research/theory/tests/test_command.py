"""The theory as it is typed, computed elsewhere."""

import pytest
from research.theory.tests.results import made_up

from complabel import reports, theory


@pytest.fixture
def computed(monkeypatch):
    """Stand in for the computation; remember what it was asked for."""
    asked, found = [], made_up()

    def run_theory(datasets, *, tell, **settings):
        asked.append(([dataset.name for dataset in datasets], settings))
        tell("1 of 1 parts")
        return found

    monkeypatch.setattr(theory, "run_theory", run_theory)
    return asked, found


@pytest.fixture
def without_files(monkeypatch, tmp_path):
    """No folder that has datasets."""
    monkeypatch.setenv("COMPLABEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.usefixtures("without_files")
def test_it_writes_the_page_and_says_what_is_left_out(run, tmp_path, computed):
    target = tmp_path / "page.html"
    code, out, err = run("theory", "--output", target, "--seed", 3, "--jobs", 1)
    assert code == 0
    (names, settings), = computed[0]  # fmt: skip
    assert names == ["digits"]
    assert settings == {"n_distributions": 1000, "quick": False, "random_state": 3, "n_jobs": 1}
    for name in ("scene", "yeast", "corel5k"):
        assert f"left out: {name}, no file of it was found" in err
    page = target.read_text(encoding="utf-8")
    assert "no file of it was found" in page
    assert "S 0.500, S C' 0.625, uniform 0.750, exact 0.875" in " ".join(out.split())
    last = out.splitlines()[-1]
    assert last.startswith("next: complabel theory --data-dir FOLDER")


@pytest.mark.usefixtures("without_files")
def test_quick_is_digits_alone(run, tmp_path, computed, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("theory", "--quick", "--distributions", 20)
    assert code == 0
    (names, settings), = computed[0]  # fmt: skip
    assert (names, settings["quick"], settings["n_distributions"]) == (["digits"], True, 20)
    assert "left out" not in err
    assert "in a browser" in out.splitlines()[-1]
    shown = (tmp_path / "complabel-theory.html").read_text(encoding="utf-8")
    assert shown == reports.render_theory(computed[1])


@pytest.mark.usefixtures("without_files")
def test_stopped_it_leaves_the_page_as_it_was(run, tmp_path, monkeypatch):
    def stopped(*given, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(theory, "run_theory", stopped)
    target = tmp_path / "page.html"
    target.write_text("before")
    code, _, err = run("theory", "--quick", "--output", target, "--force")
    assert code == 130
    assert f"stopped; {target} was not written" in err
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert target.read_text() == "before"


def test_a_folder_that_is_not_there_is_refused_first(run, tmp_path):
    code, _, err = run("theory", "--output", tmp_path / "no" / "page.html")
    assert code == 1
    assert "there is no folder" in err


@pytest.mark.slow
@pytest.mark.usefixtures("without_files")
def test_the_real_computation_says_what_the_theorems_are_worth(run, tmp_path):
    target = tmp_path / "page.html"
    code, out, _ = run("theory", "--quick", "--distributions", 20, "--jobs", 1, "--output", target)
    assert code == 0
    lines = {line.strip().partition(": fails ")[0]: line.split() for line in out.splitlines()}
    # Proved: the reversed inequality and the bound by the covariance hold for any distribution.
    for proved in ("Theorem 1, reversed, T of each x", "Theorem 2, bound by the covariance"):
        assert lines[proved][-4:-2] == ["0.0", "%"]
    for refuted in ("Theorem 1, as printed, one T", "Theorem 2, printed bound, T of each x"):
        assert float(lines[refuted][-4]) > 50
    assert "for 20 random distributions" in target.read_text(encoding="utf-8")
