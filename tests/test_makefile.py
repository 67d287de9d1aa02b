"""What the Makefile does where a checkout was moved or copied with its environment."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@pytest.fixture
def checkout(tmp_path):
    """A checkout whose environment looks complete."""
    for file in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(CHECKOUT / file, tmp_path)
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").touch()
    (tmp_path / ".venv" / ".test").touch()
    (tmp_path / ".venv" / ".place").write_text(f"{tmp_path}\n", encoding="utf-8")
    return tmp_path


def planned(checkout):
    """The commands that `make types` would run."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "--dry-run", "types", "VENV=.venv"]
    done = subprocess.run(
        command, cwd=checkout, env=clean, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_an_environment_in_its_place_is_used_as_it_is(checkout):
    commands = planned(checkout)
    assert "pip install" not in commands
    assert "bin/python -m mypy" in commands


def test_an_environment_from_elsewhere_is_installed_into_again(checkout):
    (checkout / ".venv" / ".place").write_text("/somewhere/else\n", encoding="utf-8")
    commands = planned(checkout)
    assert ".venv/bin/python -m pip install" in commands
    assert commands.index("pip install") < commands.index("bin/python -m mypy")


def test_no_command_is_run_by_a_script_that_names_its_place():
    lines = (CHECKOUT / "Makefile").read_text(encoding="utf-8").splitlines()
    used = [line for line in lines if "$(BIN)/" in line and not line.startswith("$(BIN)")]
    assert used
    assert all("$(BIN)/python" in line for line in used), used
