"""The commands that train nothing load no torch, which takes seconds."""

import subprocess
import sys

import pytest
from tests.cli.own import DATA, NAMES, write_files

from complabel.methods import make_classifier
from complabel.simulate import draw_complementary

# Nothing is searched, so that the fits are quick.
GIVEN = {"alpha": 0.1, "cardinality": 2.0, "scaling": "standardize", "gamma": 0.1, "rank": None}
MODELS = {
    "linear": ("selection-likelihood", {"kernel": "linear", **GIVEN}),
    "kernel": ("selection-likelihood", {"kernel": "rbf", **GIVEN}),
    "ridge": ("ridge", {}),
    "prior": ("prior", {}),
}
COMMANDS = [
    "import export.json --absent not_this --out imported.csv",
    "inspect named.csv asked.csv --label-names labels.txt --features X.csv",
    "ask named.csv --label-names labels.txt --features X.csv -n 10 --out questions.csv",
    "fit named.csv --label-names labels.txt --features X.csv --method ridge --out new.safetensors",
    *(f"predict {name}.safetensors X.csv --out {name}.csv" for name in MODELS),
    *(f"evaluate {name}.safetensors X.csv --truth truth.csv" for name in MODELS),
]
# Anything that imports torch fails, and its traceback names who did.
SCRIPT = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        assert name != "torch", "torch is imported"
sys.meta_path.insert(0, NoTorch())
from complabel.cli import main
for command in sys.argv[1:]:
    sys.argv = ["complabel", *command.split()]
    try:
        main()
    except SystemExit as stop:
        assert stop.code in (0, None), (command, stop.code)
"""


@pytest.fixture
def folder(tmp_path):
    pd = pytest.importorskip("pandas")
    write_files(tmp_path)
    y = pd.DataFrame(draw_complementary(DATA.Y, random_state=0), columns=list(NAMES))
    for name, (method, settings) in MODELS.items():
        classifier = make_classifier(method, **settings)
        classifier.fit(DATA.X, y).save(tmp_path / f"{name}.safetensors")
    return tmp_path


def loaded(command, folder):
    """The packages that a command loads."""
    script = (
        "import sys; from complabel.cli import main\n"
        "try: main()\n"
        "except SystemExit as stop: assert stop.code in (0, None)\n"
        "print(*{name.split('.')[0] for name in sys.modules}, 'scipy.stats' in sys.modules)"
    )
    words = [sys.executable, "-c", script, *command.split()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return {*done.stdout.splitlines()[-1].split()}


@pytest.mark.parametrize("model", ["linear", "kernel"])
@pytest.mark.parametrize(
    "command", ["predict {}.safetensors X.csv --out p.csv", "show {}.safetensors"]
)
def test_what_only_predicts_needs_no_scikit_learn(folder, command, model):
    packages = loaded(command.format(model), folder)
    assert "safetensors" in packages
    # To turn columns into arrays, pyarrow loads pandas.
    assert not packages & {"torch", "sklearn", "True", *(["pandas"] * command.startswith("show"))}


def test_no_command_but_those_that_train_loads_torch(folder):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *COMMANDS],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(list(folder.glob("*.csv"))) >= len(MODELS)
