"""What commands do not load: libraries that take seconds, and the laboratory."""

import json
import signal
import subprocess
import sys

import pytest
from tests.cli.own import DATA, NAMES, write_files
from tests.spawned import python

from complabel.methods import make_classifier
from complabel.simulate import draw_complementary

# Nothing is searched, so that the fits are quick.
GIVEN = {"alpha": 0.1, "cardinality": 2.0, "scaling": "standardize", "gamma": 0.1, "rank": None}
SETTINGS = "alpha=0.1,kernel=linear,cardinality=1.5,rank=none"
MODELS = {
    "linear": ("selection-likelihood", {"kernel": "linear", **GIVEN}),
    "kernel": ("selection-likelihood", {"kernel": "rbf", **GIVEN}),
    "ridge": ("ridge", {}),
    "prior": ("prior", {}),
}
PREDICTING = ("linear", "kernel")
LABORATORY = {"complabel.experiments"}
TRAINING = {"torch", "sklearn", "scipy.stats", "scipy.optimize"}
ASK = "ask named.csv --label-names labels.txt --features X.csv -n 10 --out questions.csv"
INSPECT = "inspect named.csv --label-names labels.txt --features X.csv"
FIT = "fit named.csv --label-names labels.txt --features X.csv"
# Commands in one process, with what neither a command nor those before it load.
NUMBERS = {"numpy", "pandas"} | TRAINING
LISTS = [("--help", {"scipy", "matplotlib", "pydantic"} | NUMBERS)]
LISTS += [(name, {"matplotlib"} | NUMBERS) for name in ("--version", "methods", "datasets")]
TOOL = [
    *((f"show {name}.safetensors", {"pandas"} | TRAINING) for name in PREDICTING),
    # To turn columns into arrays, pyarrow loads pandas.
    *((f"predict {name}.safetensors X.csv --out {name}.csv", TRAINING) for name in PREDICTING),
    ("import export.json --absent not_this --out imported.csv", TRAINING | LABORATORY),
    (ASK, TRAINING | LABORATORY),
    (INSPECT, TRAINING | LABORATORY),
    (f"{FIT} --method ridge --out new.safetensors", {"torch"} | LABORATORY),
    ("predict ridge.safetensors X.csv --out ridge.csv", {"torch"}),
    ("predict prior.safetensors X.csv --out prior.csv", {"torch"}),
    *((f"evaluate {name}.safetensors X.csv --truth truth.csv", {"torch"}) for name in MODELS),
    (f"{INSPECT} asked.csv", LABORATORY),
    (f"{FIT} --out s.safetensors --folds 0 --method selection-likelihood:{SETTINGS}", LABORATORY),
    # One that is only compared with is found by its name.
    (f"{FIT} --out l.safetensors --folds 0 --method lift", {"complabel.experiments.studies"}),
]
# At its end a server says which modules are loaded; it serves until Ctrl-C.
SERVER = """
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
    "annotate X.csv --text item --label-names labels.txt --no-browser --port 0",
    "serve ridge.safetensors --port 0",
]
SCRIPT = """
import json, sys
from complabel.cli import main
for command, heavy in json.loads(sys.argv[1]):
    sys.argv = ["complabel", *command.split()]
    try:
        main()
    except SystemExit as stop:
        assert stop.code == 0, (command, stop.code)
    assert not {*heavy} & {*sys.modules}, (command, {*heavy} & {*sys.modules})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pd = pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("folder")
    write_files(folder)
    y = pd.DataFrame(draw_complementary(DATA.Y, random_state=0), columns=list(NAMES))
    for name, (method, settings) in MODELS.items():
        classifier = make_classifier(method, **settings)
        classifier.fit(DATA.X, y).save(folder / f"{name}.safetensors")
    return folder


@pytest.mark.parametrize("listed", [LISTS, TOOL], ids=["lists", "tool"])
def test_commands_load_only_what_they_need(folder, listed):
    commands = [(command, sorted(heavy)) for command, heavy in listed]
    python("-c", SCRIPT, json.dumps(commands), cwd=folder)


@pytest.mark.parametrize("typed", SERVERS)
def test_the_servers_load_no_experiments(folder, typed):
    pytest.importorskip("uvicorn")
    words = [sys.executable, "-c", SERVER, *typed.split()]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    server = subprocess.Popen(words, cwd=folder, **pipes)
    told = ""
    for line in server.stdout:
        told += line
        if "http://" in line:
            break
    server.send_signal(signal.SIGINT)
    told += server.communicate(timeout=120)[0]
    _, found, modules = told.rpartition("LOADED")
    assert found, told
    assert {"complabel.cli", "starlette"} <= {*modules.split()}
    assert not [name for name in modules.split() if name.startswith("complabel.experiments")]
