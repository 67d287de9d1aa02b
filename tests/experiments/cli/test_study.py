import csv
import json
import re

import pytest

from complabel.experiments.studies import read_plan
from complabel.metrics import METRICS

PLAN = """
name = "small"
title = "A small study"
datasets = ["synthetic", "bookmark"]
folds = 3
rows = [{ method = "prior" }, { method = "mlcl", settings = { epochs = 3 } }]
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Work in a folder of its own, with a plan in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPLABEL_DATA", str(tmp_path))
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")


def test_a_study_is_run_resumed_looked_at_and_reported(run, tmp_path):
    code, out, err = run("study", "run", "plan.toml", "--jobs", 1)
    assert code == 0
    assert "ran 6 of 6 units" in out
    assert "bookmark" in err
    assert (tmp_path / "complabel-studies.sqlite").exists()

    code, out, err = run("study", "run", "plan.toml", "--jobs", 1)
    assert "ran 0 of 6 units" in out
    assert "6 of 6 units are already in the store" in err

    code, out, err = run("study", "status")
    assert code == 0
    assert "small: 6 of 6 units done, 0 failed" in out
    assert "3/3" in out
    assert "bookmark" in err

    code, _, err = run("study", "status", "large")
    assert (code, "it holds: small" in err) == (1, True)

    assert run("study", "export", "all.csv")[0] == 0
    with open(tmp_path / "all.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert set(METRICS) <= rows[0].keys()
    assert run("study", "export", "all.json", "--study", "small")[0] == 0
    units = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert units[3]["details"]["curves"].keys() == {"transition", "classifier"}

    code, out, err = run("study", "report")
    assert code == 0
    assert "A small study" in (tmp_path / "small-report" / "report.html").read_text("utf-8")
    assert {path.name for path in (tmp_path / "small-report").iterdir()} == {
        "report.html", "tables.md", "tables.tex", "results.csv", "summary.json",
    }  # fmt: skip


def test_a_run_ends_with_its_result_and_the_next_step(run):
    _, out, _ = run("study", "run", "plan.toml", "--jobs", 1)
    lines = out.splitlines()
    assert "Average precision, uniform complementary labels" in lines
    shown = {line.split()[0]: float(line.split()[1]) for line in lines if "0." in line}
    assert {"Prior", "MLCL"} <= shown.keys()
    assert lines[-1] == "next: complabel study report small"


@pytest.mark.usefixtures("without_charts")
def test_failures_are_said_and_counted(run, tmp_path):
    broken = PLAN.replace("epochs = 3", "learning_rate = -1.0")
    (tmp_path / "plan.toml").write_text(broken, encoding="utf-8")
    code, out, err = run("study", "run", "plan.toml", "--jobs", 1)
    assert code == 1
    assert "3 failed" in out
    assert err.count("learning_rate must be") == 3 + 1
    for _ in range(2):  # the failures stay known, and are named in the last lines
        assert "MLCL, 3 folds: learning_rate must be" in err
        assert "complabel study report small. To run them again, add --retry-failed" in err
        code, out, err = run("study", "run", "plan.toml", "--jobs", 1)
        assert (code, "next:" in out) == (1, False)
    assert "6 of 6 units are already in the store, 3 of them failed" in err
    code, out, err = run("study", "status")
    assert "3 failed" in out
    assert err.count("learning_rate must be") == 1
    assert "3 folds" in err
    code, out, _ = run("study", "run", "plan.toml", "--jobs", 1, "--retry-failed")
    assert (code, "ran 3 of 6" in out) == (1, True)
    assert run("study", "report")[0] == 0
    assert "Traceback" in (tmp_path / "small-report" / "report.html").read_text("utf-8")


@pytest.mark.usefixtures("without_charts")
@pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
def test_a_report_compares_questions_at_the_seconds_of_ones_own_people(run, tmp_path):
    draws = """draws = [
      { name = "asked", question = "asked" },
      { name = "form", question = "ticked-3", items_share = 0.5 },
      { name = "forms", question = "ticked-3" },
    ]
    """
    plan = PLAN.replace("bookmark", "digits").replace("rows", f"{draws}\nrows").split(", { method")
    (tmp_path / "plan.toml").write_text(f"{plan[0]}]", encoding="utf-8")
    assert run("study", "run", "plan.toml", "--jobs", 1)[0] == 0
    # 10 s for a yes or no, and 4 for each of five further labels of synthetic, nine of digits.
    given = ("--seconds", "asked=10,ticked=22,labels=4")
    assert run("study", "report", *given)[0] == 0
    summary = json.loads((tmp_path / "small-report" / "summary.json").read_text("utf-8"))
    assert (summary["study"]["seconds"]["asked"], summary["study"]["seconds"]["judged"]) == (10, 4)
    ratios = {one["dataset"]: one["ahead"][-1][0] for one in summary["ticking"]}
    assert ratios == {"synthetic": 3, "digits": 4.6}


def test_a_dry_run_says_what_would_run_and_runs_nothing(run, tmp_path):
    _, out, _ = run("study", "run", "how-to-ask", "--dry-run")
    n_draws = len(read_plan("how-to-ask").draws)
    assert f"{n_draws} draws:\n" in out
    assert f"\n  and {n_draws - 5} more\n" in out
    code, out, err = run("study", "run", "plan.toml", "--dry-run")
    assert code == 0
    assert "6 units" in out
    assert "epochs=3" in out
    assert "bookmark" in err
    assert not (tmp_path / "complabel-studies.sqlite").exists()


@pytest.mark.slow
def test_a_table_is_reproduced_quickly(run, data_dir, tmp_path):
    code, out, _ = run("reproduce", "table5", "--quick", "--data-dir", data_dir, "--jobs", 2)
    assert code == 0
    assert "ran 30 of 30 units" in out
    assert "table5-quick" in out
    page = (tmp_path / "table5-quick-report" / "report.html").read_text("utf-8")
    assert "beta = 0.1" in page
    assert "quick" in page


STOPPING = """
from pathlib import Path
from complabel.methods import PriorClassifier
class Stopping(PriorClassifier):
    def fit(self, X, y):
        if Path("stop").exists():
            raise KeyboardInterrupt
        return super().fit(X, y)
"""
COMMANDS = {
    "study run": "study run plan.toml --jobs 1",
    "benchmark": "benchmark synthetic --method prior --method stopping:Stopping --folds 2"
    " --json r.json",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(run, tmp_path, name):
    (tmp_path / "stopping.py").write_text(STOPPING)
    own = PLAN.replace("mlcl", "stopping:Stopping").replace(", settings = { epochs = 3 }", "")
    (tmp_path / "plan.toml").write_text(own)
    (tmp_path / "stop").touch()
    code, out, err = run(COMMANDS[name])
    assert code == 130
    assert "give the same command again to continue" in err
    assert "Traceback" not in err
    assert not (tmp_path / "r.json").exists()  # it would be in the way of the same command
    assert ("Prior" in out) == (name == "benchmark")
    done = int(re.search(r"(\d) of \d units done", run("study", "status")[1])[1])
    assert done >= 2
    (tmp_path / "stop").unlink()
    code, _, err = run(COMMANDS[name])
    assert code == 0
    assert f"{done} of {6 if name == 'study run' else 4} units are already in the store" in err
