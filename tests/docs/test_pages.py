"""The code on pages of the docs runs, in its order, and gives what stands there."""

import contextlib
import doctest
import io
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from complabel import asking
from complabel.cli import _app

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def text_of(page):
    return (CHECKOUT / "docs" / page).read_text(encoding="utf-8")


def blocks(text, languages="python"):
    """The language and the code of each block in one of some languages."""
    pattern = rf"^```({languages})\n(.*?)^```$"
    return re.findall(pattern, text, flags=re.DOTALL | re.MULTILINE)


def run(code, scope=None):
    """Run the code of a page; return what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "page.md", "exec"), {} if scope is None else scope)
    return printed.getvalue()


@pytest.mark.parametrize(
    ("page", "section"),
    [
        ("asking.md", ""),
        ("inspect.md", ""),
        ("suggest-questions.md", ""),
        ("people.md", ""),
        ("evaluate.md", "## With answers to random questions\n"),
    ],
)
def test_the_code_runs_and_gives_what_it_says(page, section):
    text = text_of(page)
    if section:
        text = text.split(section)[1].split("\n## ")[0]
    shown = {"sh", "console", "text"}
    found = [block for block in blocks(text, r"\w+") if block[0] not in shown]
    assert {kind for kind, _ in found} == {"python", "pycon"}
    scope = {"__name__": "page"}
    runner = doctest.DocTestRunner()
    for number, (kind, code) in enumerate(found):
        name = f"{page}, block {number}"
        if kind == "python":
            run(code, scope)
            continue
        test = doctest.DocTestParser().get_doctest(code, {}, name, None, 0)
        test.globs = scope
        result = runner.run(test, clear_globs=False)
        assert result.attempted > 0
        assert result.failed == 0, name


def test_readme_prints_what_stands_below_its_code():
    ((_, code),), ((_, expected),) = blocks(README), blocks(README, "text")
    assert run(code) == expected


def test_what_readme_links_to_is_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)", README) if "://" not in link]
    assert len(links) > 10
    missing = [link for link in links if not (CHECKOUT / link).exists()]
    assert not missing


def test_the_commands_that_readme_shows_exist():
    known = {*get_command(_app.app).list_commands(None)}  # also those of the experiments
    consoles = blocks(README, "console")
    assert len(consoles) >= 3
    for _, console in consoles:
        assert {*re.findall(r"^\$ complabel ([\w-]+)", console, flags=re.MULTILINE)} <= known


def test_the_page_about_inspection_names_every_finding():
    table = Path(asking.__file__).parent / "findings.toml"
    names = set(tomllib.loads(table.read_text(encoding="utf-8")))
    rows = [line.split("|")[1] for line in text_of("inspect.md").splitlines() if line[:3] == "| `"]
    assert len(names) > 20
    assert names == {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)}


def test_released_labels_give_what_stands_below_the_code(data_dir):
    missing = [
        name for name in ("scene", "yeast") if not (data_dir / "released" / f"{name}.csv").is_file()
    ]
    if missing:
        pytest.skip(f"no released labels: {', '.join(missing)} in {data_dir / 'released'}")
    found, scope = blocks(text_of("released.md"), "python|text"), {}
    assert [kind for kind, _ in found] == ["python", "text"] * 2
    for (_, code), (_, expected) in zip(found[::2], found[1::2], strict=True):
        assert '"DIR"' in code
        assert run(code.replace('"DIR"', repr(str(data_dir))), scope) == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
def test_the_page_about_frequencies_finds_them():
    found, names = blocks(text_of("frequencies.md")), {}
    assert len(found) == 4
    for _, code in found:
        run(code, names)
    classifier = names["classifier"]
    off = classifier.predict_proba(names["X"]).mean(axis=0) - names["Y"].mean(axis=0)
    assert (np.abs(off) < 2 * classifier.label_frequencies_errors_).all()
    assert names["ridge"].label_frequencies_.shape == (5,)
    assert names["found"].cardinality == pytest.approx(names["Y"].sum(axis=1).mean(), abs=0.5)
    # Nobody erred here, so to allow for labels that were missed makes all more frequent.
    assert names["corrected"].cardinality > 1.1 * names["found"].cardinality


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
