"""What CONTRIBUTING shows is run, in its order and in one folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
TEXT = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")
_GROWING = TEXT[TEXT.index("## Ten lines") :]
BLOCKS = re.findall(r"```(python|console)\n(.*?)```", _GROWING, flags=re.DOTALL)


def test_there_is_something_to_run():
    assert [kind for kind, _ in BLOCKS].count("python") == 7
    assert [kind for kind, _ in BLOCKS].count("console") == 2


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "python"])
def test_an_example_has_about_ten_lines(text):
    assert len([line for line in text.splitlines() if line and "import" not in line]) <= 10


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = os.pathsep.join([str(CHECKOUT / "src"), os.environ.get("PYTHONPATH", "")])
    for kind, text in BLOCKS:
        if kind == "python":
            named = re.match(r"# (\w+\.py)\n", text)
            if named:
                (tmp_path / named[1]).write_text(text, encoding="utf-8")
            exec(compile(text, "CONTRIBUTING.md", "exec"), {"__name__": "example"})
            continue
        for line in text.splitlines():
            arguments = line.removeprefix("$ complabel ").split()
            completed = subprocess.run(
                [sys.executable, "-m", "complabel", *arguments],
                env={**os.environ, "PYTHONPATH": source},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert completed.returncode == 0, completed.stderr
            assert "Prior" in completed.stdout
    assert (tmp_path / "report" / "size.txt").read_text().endswith("folds\n")
