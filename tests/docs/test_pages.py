"""The code on pages of the docs runs, in its order, and gives what stands there."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "section"),
    [
        ("asking.md", ""),
        ("suggest-questions.md", ""),
        ("people.md", ""),
        ("evaluate.md", "## With answers to random questions\n"),
    ],
)
def test_the_code_runs_and_gives_what_it_says(page, section):
    text = (DOCS / page).read_text(encoding="utf-8")
    if section:
        text = text.split(section)[1].split("\n## ")[0]
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    assert {kind for kind, _ in blocks} - {"sh", "console", "text"} == {"python", "pycon"}
    blocks = [block for block in blocks if block[0].startswith("py")]
    scope = {"__name__": "page"}
    runner = doctest.DocTestRunner()
    for number, (kind, text) in enumerate(blocks):
        name = f"{page}, block {number}"
        if kind == "python":
            exec(compile(text, name, "exec"), scope)
            continue
        test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
        test.globs = scope
        found = runner.run(test, clear_globs=False)
        assert found.attempted > 0
        assert found.failed == 0, name
