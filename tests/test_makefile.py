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


def test_only_an_environment_from_elsewhere_is_installed_into_again(checkout):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}

    def planned():
        command = ["make", "--dry-run", "types", "VENV=.venv"]
        return subprocess.run(command, cwd=checkout, env=clean, capture_output=True, text=True)

    assert "pip install" not in planned().stdout
    (checkout / ".venv" / ".place").write_text("/somewhere/else\n", encoding="utf-8")
    assert "pip install" in planned().stdout
