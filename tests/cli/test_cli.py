import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from complabel import __version__
from complabel.cli import _app
from complabel.datasets import CATALOG, make_synthetic, save_file
from complabel.metrics import METRIC_NAMES

# Tests that run in the background inherit that Ctrl-C is ignored; a terminal's programs do not.
HEED_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = [sys.executable, "-c", f"{HEED_CTRL_C}; from complabel.cli import main; main()"]


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Work in a folder of its own: commands keep their results in it."""
    monkeypatch.chdir(tmp_path)


def n_done(store):
    """Count results without a program of ours, which takes seconds to start."""
    if not store.exists():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(store)) as connection:
            return connection.execute("SELECT count(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:  # no tables yet
        return 0


def test_version(run):
    assert run("--version") == (0, f"complabel {__version__}\n", "")


def test_help_names_every_command():
    shown = CliRunner().invoke(_app.app, ["--help"]).output
    for command in ("demo", "datasets", "benchmark", "tune"):
        assert command in shown


def test_help_loads_no_heavy_library():
    heavy = "{'torch', 'sklearn', 'matplotlib', 'scipy', 'numpy'}"
    program = (
        "import sys; sys.argv = ['complabel', '--help']\n"
        "from complabel.cli import main\n"
        "try: main()\n"
        f"finally: assert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_benchmark_prints_a_table_and_writes_json(run, tmp_path):
    target = tmp_path / "results.json"
    code, out, _ = run(
        "benchmark", "synthetic", "--method", "prior", "--method", "supervised",
        "--folds", 2, "--json", target,
    )  # fmt: skip
    assert code == 0
    assert "synthetic: 1000 x 20, 6 labels, uniform complementary labels, 2 folds" in out
    assert "Supervised †" in out
    prior, supervised = json.loads(target.read_text())
    assert (prior["method"], supervised["method"]) == ("prior", "supervised")
    assert tuple(prior["metrics"]) == METRIC_NAMES
    assert f"{prior['metrics']['average_precision']['mean']:.3f}±" in out
    assert "next: complabel study report benchmark-synthetic-" in out


def test_the_same_benchmark_again_goes_on_and_says_so(run, tmp_path):
    arguments = ("benchmark", "synthetic", "--method", "prior", "--folds", 2)
    first = run(*arguments, "--json", "first.json")
    code, out, err = run(*arguments, "--json", "again.json")
    assert code == 0
    assert "2 of 2 units are already in the store" in err
    assert out.replace("again", "first") == first[1]
    assert (tmp_path / "first.json").read_text() == (tmp_path / "again.json").read_text()
    assert "2 of 2 units done" in run("study", "status")[1]
    assert run("study", "report")[0] == 0


def test_a_file_and_a_class_of_ones_own_can_be_compared(run, tmp_path, data_dir, monkeypatch):
    save_file(make_synthetic(200, random_state=3), tmp_path / "mine.npz")
    (tmp_path / "mymethods.py").write_text(
        "from complabel.methods import PriorClassifier\nclass Mine(PriorClassifier): pass\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    code, out, _ = run(
        "benchmark", "mine.npz", "--folds", 2, "--json", "mine.json",
        "--method", "prior", "--method", "mymethods:Mine", "--method", "mlcl:epochs=2",
    )  # fmt: skip
    assert code == 0
    assert "mine: 200 x 20, 6 labels" in out
    assert "MLCL (epochs = 2)" in out
    prior, mine, _ = json.loads((tmp_path / "mine.json").read_text())
    assert mine["method"] == "mymethods:Mine"
    assert mine["metrics"] == prior["metrics"]


def test_a_method_that_fails_is_said_and_the_others_are_shown(run):
    arguments = ("--method", "mlcl:learning_rate=-1", "--method", "prior", "--folds", 2)
    code, out, err = run("benchmark", "synthetic", *arguments)
    assert code == 1
    assert "Prior" in out
    assert "learning_rate must be" in err
    assert "Traceback" not in err


HINTS = "default::complabel.answers.IgnoredAnswersWarning"


@pytest.mark.filterwarnings(HINTS)
def test_a_benchmark_may_ask_another_question(run, tmp_path):
    code, out, err = run(
        "benchmark", "synthetic", "--method", "prior", "--method", "ridge", "--folds", 2,
        "--question", "menu-2", "--propensity-sd", 0.5, "--mistakes", 0.1,
        "--answers-per-item", 2, "--items-share", 0.5, "--labels", "uniform", "--json", "a.json",
    )  # fmt: skip
    assert code == 0
    title = " ".join(out.split())
    assert (
        "6 labels, one label named from a random menu of 2, labels come to mind unequally"
        " (sd 0.5), 10 % of the answers at random, 2 answers per item, 50 % of the items, 2 folds"
    ) in title
    prior, ridge = json.loads((tmp_path / "a.json").read_text())
    assert {key: prior[key] for key in list(prior)[1:7]} == {
        "labels": "uniform", "question": "menu-2", "propensity_sd": 0.5, "mistakes": 0.1,
        "answers_per_item": 2, "items_share": 0.5,
    }  # fmt: skip
    assert ridge["fitted"]["alpha"] > 0
    assert err.count("hint: prior: PriorClassifier learns from labels that do not apply") == 1
    assert "Warning" not in err
    assert run("study", "report")[0] == 0
    (folder,) = tmp_path.glob("*-report")
    for name in ("report.html", "tables.md", "tables.tex"):
        assert "one label named from a random menu of 2" in (folder / name).read_text("utf-8")


@pytest.mark.filterwarnings(HINTS)
def test_a_benchmark_may_have_an_audit_and_match_every_method_to_it(run, tmp_path):
    code, out, _ = run(
        "benchmark", "synthetic", "--method", "ridge", "--method", "supervised", "--folds", 2,
        "--audit", 300, "--match-frequencies", "--json", "a.json",
    )  # fmt: skip
    assert code == 0
    shown = " ".join(out.split())
    assert "complementary labels, an audit of 300 random yes/no answers in each training" in shown
    assert "Ridge, matched" in shown
    assert "Supervised †" in shown
    ridge, supervised = json.loads((tmp_path / "a.json").read_text())
    assert (ridge["audit"], ridge["row"]) == (300, "Ridge, matched frequencies")
    assert (ridge["match_frequencies"], supervised["match_frequencies"]) == (True, False)
    assert ridge["fitted"]["label_frequencies_sum_error"] > 0
    assert run("study", "report")[0] == 0
    (folder,) = tmp_path.glob("*-report")
    for name in ("report.html", "tables.md", "tables.tex"):
        text = (folder / name).read_text("utf-8")
        assert "an audit of 300 random yes/no answers" in text
        assert "Ridge, matched frequencies" in text
    page = (folder / "report.html").read_text("utf-8")
    assert "and an audit for each training part. True labels" in page
    assert "except as answers of an audit, and in rows marked †" in page


def test_what_people_are_asked_is_told_where_options_are():
    for command in ("benchmark", "tune"):
        shown = CliRunner().invoke(_app.app, [command, "--help"], env={"COLUMNS": "200"}).output
        for option in (
            "--scheme", "--labels", "--question", "--propensity-sd", "--mistakes",
            "--answers-per-item", "--items-share", "--audit", "--match-frequencies",
        ):  # fmt: skip
            assert option in shown


def test_benchmark_shows_published_figures(run, data_dir):
    code, out, _ = run(
        "benchmark", "yeast", "--method", "mlcl", "--folds", 2, "--data-dir", data_dir
    )
    assert code == 0
    published = next(line for line in out.splitlines() if "published" in line)
    for figure in ("0.235±0.008", "0.211±0.013", "0.251±0.023", "0.525±0.021", "0.718±0.019"):
        assert figure in published


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["benchmark", "synthetic", "--method", "mlc"], "no method 'mlc'. Did you mean 'mlcl'?"),
        (["benchmark", "sceen"], "unknown dataset 'sceen'; did you mean 'scene'?"),
        (["benchmark", "bookmark", "--data-dir", "nowhere"], "dataset 'bookmark' was not found"),
        (["benchmark", "synthetic", "--json", "no/such/x.json"], "there is no folder no/such"),
        (["benchmark", "synthetic", "--folds", "1001"], "folds must be between 2 and 1000"),
        (["benchmark", "synthetic", "--store", "no/x.sqlite"], "there is no folder no"),
        (["benchmark", "nowhere.npz"], "nowhere.npz: no such file"),
        (["benchmark", "synthetic", "--method", "nomodule:X"], "'nomodule:X' cannot be imported"),
        (["demo", "--output", "no/such/x.html"], "there is no folder no/such"),
        (["benchmark", "synthetic", "--question", "menu-1"], "there is no question 'menu-1'"),
        (["benchmark", "synthetic", "--question", "menu-9"], "too few for a menu-9"),
        (["benchmark", "synthetic", "--labels", "own"], "synthetic has no labels own"),
        (["tune", "synthetic", "--labels", "own"], "synthetic has no labels own"),
        (["benchmark", "synthetic", "--labels", "released"], "no released labels of synthetic"),
        (
            ["benchmark", "synthetic", "--labels", "uniform", "--scheme", "uniform"],
            "labels is another name of scheme unless it is",
        ),
        (
            ["benchmark", "synthetic", "--question", "none"],
            "audit is 0, but with the question none",
        ),
        (["benchmark", "synthetic", "--audit", "9999"], "too few for an audit of 9999"),
        (["benchmark", "synthetic", "--match-frequencies"], "add an audit, such as audit = 200"),
        (["tune", "synthetic", "--match-frequencies"], "add an audit, such as audit = 200"),
        (
            ["tune", "synthetic", "--question", "none", "--audit", "50"],
            "has no answers about held-out instances, which a score needs",
        ),
        (
            ["benchmark", "synthetic", "--labels", "biased", "--question", "asked"],
            "take labels uniform, or leave the question out",
        ),
        (
            ["tune", "synthetic", "--labels", "own", "--mistakes", "0.1"],
            "mistakes cannot be set",
        ),
    ],
)
def test_errors_are_one_sentence_and_no_traceback(run, arguments, message):
    code, out, err = run(*arguments)
    assert code == 1
    assert err.lstrip().startswith("error: ")  # Rich before 15 ends progress with a blank line
    assert message in err
    assert "Traceback" not in err + out


@pytest.mark.parametrize("option", ["--scheme", "--labels"])
def test_misuse_exits_with_two(run, option):
    code, _, err = run("benchmark", "synthetic", option, "odd")
    assert code == 2
    assert "odd" in err


def test_datasets_json_lists_everything(run, data_dir):
    code, out, _ = run("datasets", "--data-dir", data_dir, "--json")
    assert code == 0
    described = {entry["name"]: entry for entry in json.loads(out)}
    assert described.keys() == {*CATALOG, "digits", "synthetic"}
    sizes = {
        name: tuple(described[name][key] for key in ("n_samples", "n_features", "n_labels"))
        for name in ("scene", "yeast", "corel5k", "corel16k", "delicious")
    }
    assert sizes == {
        "scene": (2407, 294, 6),
        "yeast": (2417, 103, 14),
        "corel5k": (4194, 499, 15),
        "corel16k": (11103, 500, 15),
        "delicious": (14784, 500, 15),
    }


def test_datasets_table_names_what_is_missing(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPLABEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, out, _ = run("datasets")
    assert code == 0
    row = next(line for line in out.splitlines() if "bookmark" in line)
    assert " no " in row
    assert "38912" in row


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_interruption_keeps_what_is_done_and_the_same_command_goes_on(run, tmp_path):
    store = tmp_path / "complabel-studies.sqlite"
    # A fit of MLCL takes minutes: the run cannot end before it is told to.
    arguments = [
        "benchmark", "synthetic", "--method", "prior", "--method", "mlcl:epochs=1000000",
        "--folds", "2", "--json", "results.json",
    ]  # fmt: skip
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while n_done(store) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "give the same command again to continue" in err
    assert "Prior" in out
    # A file of some results would be in the way of the same command.
    assert {path.name for path in tmp_path.iterdir()} == {store.name}
    assert "2 of 4 units done" in run("study", "status")[1]
