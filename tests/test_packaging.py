"""What a package index shows, and what the files about the project say."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from complabel import __version__

CHECKOUT = Path(__file__).parents[1]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))


def test_an_index_shows_no_link_to_a_file_that_it_does_not_have():
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    shown = (CHECKOUT / hook["fragments"][0]["path"]).read_text(encoding="utf-8")
    assert "](docs/answers.md)" in shown
    for each in hook["substitutions"]:
        shown = re.sub(each["pattern"], each["replacement"], shown)
    links = re.findall(r"\]\(([^)]*)\)", shown)
    assert all(link.startswith("http") for link in links), links
    assert "[Answers that you have]" not in shown
    assert "Answers that you have" in shown


def test_the_citation_names_this_version():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == __version__
    assert cited["license"] == PROJECT["project"]["license"]
    hosted = yaml.safe_load((CHECKOUT / ".readthedocs.yaml").read_text(encoding="utf-8"))
    assert hosted["version"] == 2


def test_each_python_that_may_be_used_is_a_classifier():
    least, below = re.fullmatch(
        r">=3\.(\d+),<3\.(\d+)", PROJECT["project"]["requires-python"]
    ).groups()
    said = [each for each in PROJECT["project"]["classifiers"] if ":: 3." in each]
    assert said == [
        f"Programming Language :: Python :: 3.{minor}" for minor in range(int(least), int(below))
    ]


def minima():
    """The lower bound of every dependency that a user may install."""
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"]]
    for extra in (
        "cluster",
        "live",
        "onnx",
        "photos",
        "pictures",
        "report",
        "study",
        "tables",
        "texts",
    ):
        wanted += [line for line in extras[extra] if not line.startswith("complabel[")]
    for requirement in wanted:
        name, bound = requirement.split(",")[0].split(">=")
        yield re.sub(r"\[.*\]", "", name), bound


def test_the_oldest_versions_tested_are_the_minima():
    lines = (CHECKOUT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    for name, bound in minima():
        assert tested[name] in (bound, f"{bound}.0"), name


def test_the_skill_for_coding_agents_says_what_commands_take():
    """The front matter that agents read, and each command of the skill, as the parser takes it."""
    yaml, typer = pytest.importorskip("yaml"), pytest.importorskip("typer")
    from complabel.cli._app import app

    path = CHECKOUT / "src/complabel/.agents/skills/complabel/SKILL.md"
    _, head, text = re.split(r"^---$", path.read_text(encoding="utf-8"), maxsplit=2, flags=re.M)
    about = yaml.safe_load(head)
    assert about["name"] == path.parent.name == "complabel"
    assert 100 < len(about["description"]) <= 1024
    assert len(text.split()) < 700
    group = typer.main.get_command(app)
    lines = re.findall(r"^\$ complabel (.*)$|`complabel ([a-z]+ \S+ -.*?)`", text, flags=re.M)
    assert len(lines) == 11
    for line in map("".join, lines):
        name, *words = shlex.split(line)
        command = group.get_command(group.make_context("complabel", [name]), name)
        command.make_context(name, words)
