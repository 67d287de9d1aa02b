"""The code on the page on questions to ask next runs, in its order, and gives what stands there."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "suggest-questions.md"
BLOCKS = re.findall(
    r"^```(\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
)


def test_the_code_runs_and_gives_what_it_says():
    assert {kind for kind, _ in BLOCKS} == {"python", "pycon"}
    scope = {"__name__": "page"}
    runner = doctest.DocTestRunner()
    for number, (kind, text) in enumerate(BLOCKS):
        name = f"{PAGE.name}, block {number}"
        if kind == "python":
            exec(compile(text, name, "exec"), scope)
            continue
        test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
        test.globs = scope
        found = runner.run(test, clear_globs=False)
        assert found.attempted > 0
        assert found.failed == 0, name
