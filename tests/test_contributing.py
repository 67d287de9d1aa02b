"""What CONTRIBUTING shows is run, in its order and in one folder, and inside a copy too."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.house import House, circles

from complabel.cli import main

CHECKOUT = Path(__file__).parents[1]
TEXT = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")
_GROWING = TEXT[TEXT.index("## Ten lines") :]
BLOCKS = re.findall(r"```(python|console|diff)\n(.*?)```", _GROWING, flags=re.DOTALL)


@pytest.fixture
def typed(monkeypatch, capsys):
    """Type a command of complabel's, and return its output."""

    def call(line):
        monkeypatch.setattr(sys, "argv", line.removeprefix("$ ").split())
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert not ended.value.code, printed.err
        return printed.out

    return call


def test_there_is_something_to_run():
    kinds = [kind for kind, _ in BLOCKS]
    assert {kind: kinds.count(kind) for kind in kinds} == {"python": 9, "console": 2, "diff": 5}


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "python"])
def test_an_example_has_about_ten_lines(text):
    assert len([line for line in text.splitlines() if line and "import" not in line]) <= 10


def test_the_examples_run(tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    scope = {"__name__": "example"}
    for kind, text in BLOCKS:
        if kind == "python":
            named = re.match(r"# (\w+\.py)\n", text)
            if named:
                (tmp_path / named[1]).write_text(text, encoding="utf-8")
            exec(compile(text, "CONTRIBUTING.md", "exec"), scope)
        elif kind == "console":
            for line in text.splitlines():
                assert "Prior" in typed(line)
    assert (tmp_path / "report" / "size.txt").read_text().endswith("folds\n")


def applied(package, example, changes):
    """Make the changes of a block to a package; new files are the example before it."""
    for part in changes.split("+++ ")[1:]:
        name, *changed = part.splitlines()
        path, at = package / name, 0
        before = path.read_text(encoding="utf-8") if path.exists() else example
        lines = before.splitlines()
        for line in changed:
            if line[0] == "+":
                lines.insert(at, line[1:])
                at += 1
            elif line[0] == "-":
                at = lines.index(line[1:])
                del lines[at]
            else:
                at = lines.index(line[1:]) + 1
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")


USE = """
import sys
from complabel.cli import main
from complabel.losses import Hinge
from complabel.metrics import METRICS
from complabel.reports import FORMATS
assert "size.txt" in FORMATS and METRICS["micro_f1"].title == "Micro F1"
for line in (
    "import mine.csv --from not-lines --out table.csv",
    "benchmark synthetic --method rarity --method prior --folds 2",
):
    sys.argv = ["complabel", *line.split()]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code
"""


def test_the_examples_become_part_of_a_copy_of_the_package(tmp_path):
    source = tmp_path / "src"
    shutil.copytree(
        CHECKOUT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    example = ""
    for kind, text in BLOCKS:
        if kind == "diff":
            applied(source / "complabel", example, text)
        elif kind == "python":
            example = text
    (tmp_path / "mine.csv").write_text("a.jpg,sea\nb.jpg,city\n")
    used = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert used.returncode == 0, used.stderr
    assert "Rarity" in used.stdout
    assert (tmp_path / "table.csv").read_text().count("jpg") == 2
    house = House.here(tmp_path)
    assert "src/complabel/methods/baselines/rarity.py" in house.texts
    assert not circles(house)
