"""The servers load nothing of the experiments; test_without_torch.py has the other commands."""

import signal
import subprocess
import sys

import pytest
from tests.cli.own import DATA, NAMES, write_files

from complabel.methods import ComplementaryRidgeClassifier

# At its end a command says which modules are loaded, also one that serves until Ctrl-C.
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from complabel.cli import main
try:
    main()
except (SystemExit, KeyboardInterrupt):
    pass
finally:
    print("LOADED", *sys.modules, flush=True)
"""
SERVERS = [
    "annotate X.csv --text item --labels labels.txt --no-browser --port 0",
    "serve model.safetensors --port 0",
]


@pytest.fixture
def folder(tmp_path):
    pd = pytest.importorskip("pandas")
    write_files(tmp_path)
    excluded = pd.DataFrame(1 - DATA.Y, columns=list(NAMES))
    ComplementaryRidgeClassifier().fit(DATA.X, excluded).save(tmp_path / "model.safetensors")
    return tmp_path


def started(folder, typed):
    words = [sys.executable, "-c", SCRIPT, *typed.split()]
    return subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def loaded(told):
    """The modules that a command names at its end."""
    assert "LOADED" in told, told
    modules = set(told.rpartition("LOADED")[2].split())
    assert "complabel.cli" in modules
    return modules


def of_experiments(modules):
    return {name for name in modules if name.startswith("complabel.experiments")}


@pytest.mark.parametrize("typed", SERVERS)
def test_the_servers_load_no_experiments(folder, typed):
    pytest.importorskip("uvicorn")
    server = started(folder, typed)
    told = ""
    for line in server.stdout:
        told += line
        if "http://" in line:
            break
    server.send_signal(signal.SIGINT)
    told += server.communicate(timeout=120)[0]
    modules = loaded(told)
    assert "starlette" in modules, told
    assert not of_experiments(modules)
