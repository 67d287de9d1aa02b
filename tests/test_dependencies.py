"""The oldest dependencies that are allowed are those that are tested."""

import re
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]


def minima():
    """The lower bound of every dependency that a user may install."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"]]
    for extra in ("cluster", "report", "tables"):
        wanted += [line for line in extras[extra] if not line.startswith("complabel[")]
    for requirement in wanted:
        name, bound = requirement.split(">=")
        yield re.sub(r"\[.*\]", "", name), bound


def test_the_oldest_versions_tested_are_the_minima():
    lines = (CHECKOUT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    for name, bound in minima():
        assert tested[name] in (bound, f"{bound}.0"), name
