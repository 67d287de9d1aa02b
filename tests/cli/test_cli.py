import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from complabel import __version__
from complabel.cli import _app
from complabel.datasets import CATALOG
from complabel.metrics import METRIC_NAMES

# Tests that run in the background inherit that Ctrl-C is ignored; a terminal's programs do not.
HEED_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = [sys.executable, "-c", f"{HEED_CTRL_C}; from complabel.cli import main; main()"]


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
        (["demo", "--output", "no/such/x.html"], "there is no folder no/such"),
    ],
)
def test_errors_are_one_sentence_and_no_traceback(run, arguments, message):
    code, out, err = run(*arguments)
    assert code == 1
    assert err.lstrip().startswith("error: ")  # Rich before 15 ends progress with a blank line
    assert message in err
    assert "Traceback" not in err + out


def test_misuse_exits_with_two(run):
    code, _, err = run("benchmark", "synthetic", "--labels", "odd")
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
def test_interruption_keeps_what_is_done_and_no_half_written_file(tmp_path):
    target = tmp_path / "results.json"
    process = subprocess.Popen(
        [
            *COMMAND, "benchmark", "synthetic", "digits", "--method", "prior", "--method", "mlcl",
            "--json", str(target),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not target.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "Prior" in out
    finished = json.loads(target.read_text())
    assert finished[0]["method"] == "prior"
    assert list(tmp_path.iterdir()) == [target]
