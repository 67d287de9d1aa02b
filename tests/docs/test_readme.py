"""README's code runs, and prints what stands below it; its files and commands are there."""

import contextlib
import io
import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def test_the_code_prints_what_stands_below_it():
    (code,), (expected,) = blocks("python"), blocks("text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == expected


def test_what_it_links_to_is_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)", README) if "://" not in link]
    assert len(links) > 10
    missing = [link for link in links if not (CHECKOUT / link).exists()]
    assert not missing


@pytest.mark.parametrize("number", range(3))
def test_the_commands_it_shows_exist(number):
    from complabel.cli._app import app

    known = {command.name for command in app.registered_commands} | {"study"}
    shown = re.findall(r"^\$ complabel ([\w-]+)", blocks("console")[number], flags=re.MULTILINE)
    assert {*shown} <= known
