"""What CONTRIBUTING shows is run, in its order and in one folder, and inside a copy too."""

import os
import re
import shutil
from pathlib import Path

import pytest
from tests.house import House, circles
from tests.spawned import as_typed, python

from complabel.cli import main

CHECKOUT = Path(__file__).parents[1]
TEXT = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")
_GROWING = TEXT[TEXT.index("## Ten lines") :]
BLOCKS = re.findall(r"```(python|console|diff)\n(.*?)```", _GROWING, flags=re.DOTALL)


@pytest.fixture
def typed(capsys):
    """Type a command of complabel's, and return its output."""

    def call(line):
        with as_typed(*line.removeprefix("$ ").split()), pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert not ended.value.code, printed.err
        return printed.out

    return call


def test_there_is_something_to_run():
    assert {kind for kind, _ in BLOCKS} == {"python", "console", "diff"}


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


def prepare_questions(folder):
    """Write features of 40 items, and a random yes/no question about each."""
    rows = [f"{item},{item % 7},{item % 3}" for item in range(40)]
    (folder / "X.csv").write_text("\n".join(["item,x,z", *rows, ""]))
    answers = [f"{i},{'abc'[i % 3]},{('yes', 'no')[i % 4 > 0]},asked,0.5" for i in range(40)]
    header = "item,label,answer,question,probability"
    (folder / "a.csv").write_text("\n".join([header, *answers, ""]))


COMPARE = f"""
import runpy
runpy.run_path({str(CHECKOUT / "tests" / "comparing.py")!r}, run_name="__main__")
"""
USE = """
import sys
from complabel.cli import main
for line in sys.argv[1:]:
    sys.argv = ["complabel", *line.split()]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, line
"""
IMPORT = """
from complabel.experiments.reports import FORMATS
from complabel.losses import Hinge
from complabel.metrics import METRICS
assert "size.txt" in FORMATS and METRICS["micro_f1"].title == "Micro F1"
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The folder of a copy of the package that has all examples."""
    folder = tmp_path_factory.mktemp("copy") / "src"
    shutil.copytree(CHECKOUT / "src", folder)  # what is compiled, too: it takes seconds to compile
    example = ""
    for kind, text in BLOCKS:
        if kind == "diff":
            applied(folder / "complabel", example, text)
        elif kind == "python":
            example = text
    return folder


def run(source, folder, *words):
    """Run Python with the package of a folder of sources; return what it printed."""
    return python(*words, cwd=folder, env={**os.environ, "PYTHONPATH": str(source)})


def test_a_question_of_their_own_goes_all_the_way(tmp_path, source):
    (tmp_path / "items.txt").write_text("a\nb\nc\n")
    (tmp_path / "labels.txt").write_text("sea\ncity\nwood\n")
    options = "--items items.txt --label-names labels.txt --out questions.csv"
    asked = "--question compared --method selection-likelihood:alpha=.1 --folds 2"
    ask = f"ask --question compared -n 2 {options}"
    lines = ["annotate --help", ask, f"benchmark synthetic {asked}"]
    told = " ".join(run(source, tmp_path, "-c", COMPARE + USE, *lines).replace("│", " ").split())
    assert "applies more?" in told
    assert "2 questions" in told
    assert "two random labels compared" in told


def test_the_examples_become_part_of_a_copy_of_the_package(tmp_path, source):
    (tmp_path / "mine.csv").write_text("a.jpg,sea\nb.jpg,city\n")
    prepare_questions(tmp_path)
    lines = [
        "import mine.csv --from not-lines --out table.csv",
        "benchmark synthetic --method rarity --method prior --folds 2",
        "fit a.csv --features X.csv --method ridge --folds 0 --out m.safetensors",
        "evaluate m.safetensors X.csv --answers a.csv --html page.html",
    ]
    told = run(source, tmp_path, "-c", IMPORT + USE, *lines)
    assert (tmp_path / "table.csv").read_text().count("jpg") == 2
    assert "Rarity" in told
    assert "width" in told
    assert "width</th>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    house = House.here(source.parent)
    assert "src/complabel/methods/baselines/rarity.py" in house.texts
    assert not circles(house)
