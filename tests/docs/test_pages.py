"""The code on pages of the docs runs, in its order, and gives what stands there."""

import contextlib
import doctest
import io
import re
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from complabel import asking
from complabel.cli import _app

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"


def text_of(page):
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(text, languages="python"):
    """The language and the code of each block in one of some languages."""
    pattern = rf"^```({languages})\n(.*?)^```$"
    return re.findall(pattern, text, flags=re.DOTALL | re.MULTILINE)


def pages_with_code():
    """Pages whose code runs here; what takes long, and needs data, runs below."""
    manual = [page.name for page in sorted(DOCS.glob("*.md")) if page.stem != "networks"]
    return [page for page in manual if blocks(text_of(page), "python|pycon")]


def run(code, scope=None):
    """Run the code of a page; return what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "page.md", "exec"), {} if scope is None else scope)
    return printed.getvalue()


@pytest.mark.parametrize("page", ["../README.md", *pages_with_code()])
def test_the_code_runs_and_gives_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "page"}
    runner = doctest.DocTestRunner()
    printed, attempted = None, 0
    text = text_of(page)
    for number, (kind, code) in enumerate(blocks(text, "python|pycon|text|console|sh")):
        name = f"{page}, block {number}"
        if kind == "python":
            printed = run(code, scope)
            attempted += 1
        elif kind == "pycon":
            test = doctest.DocTestParser().get_doctest(code, {}, name, None, 0)
            test.globs = scope
            result = runner.run(test, clear_globs=False)
            attempted += result.attempted
            assert result.failed == 0, name
        else:
            assert kind != "text" or printed in (None, "", code), name  # below what prints it
            printed = None
    assert attempted


def test_the_commands_that_pages_show_exist():
    known = {*get_command(_app.app).list_commands(None)}  # also those of the experiments
    shown = set()
    for page in [CHECKOUT / "README.md", *sorted(DOCS.glob("*.md"))]:
        for _, console in blocks(page.read_text(encoding="utf-8"), "console"):
            shown |= {*re.findall(r"^\$ complabel ([\w-]+)", console, flags=re.MULTILINE)}
    assert len(shown) > 10
    assert shown <= known


def test_the_page_about_inspection_names_every_finding():
    table = Path(asking.__file__).parent / "findings.toml"
    names = set(tomllib.loads(table.read_text(encoding="utf-8")))
    rows = [line.split("|")[1] for line in text_of("inspect.md").splitlines() if line[:3] == "| `"]
    assert len(names) > 20
    assert names <= {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("instead", "least"),
    [({"2500": "200", "epochs=20": "epochs=1", "range(20)": "range(1)"}, 0), ({}, 0.9)],
    ids=["in short", "as the page says"],
)
def test_the_page_about_networks_learns(instead, least):
    code = "\n".join(code for _, code in blocks(text_of("networks.md")))
    for text, other in instead.items():
        assert text in code
        code = code.replace(text, other)
    scope = {"__name__": "page"}
    run(code, scope)
    found = scope["of_class"], scope["of_loop"]
    assert least < min(found)
    assert max(found) < 1
