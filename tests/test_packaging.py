"""What a package index shows, and what the files about the project say."""

import re
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
