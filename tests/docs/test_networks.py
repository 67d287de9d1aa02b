"""The code on the page on networks runs, and learns as much as the page says."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "networks.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.S | re.M)


def run(*instead):
    """Run the blocks in their order, with some texts replaced; return what they define."""
    code = "\n".join(BLOCKS)
    for text, other in instead:
        assert text in code
        code = code.replace(text, other)
    scope = {"__name__": "page"}
    exec(compile(code, PAGE.name, "exec"), scope)
    return scope


@pytest.mark.slow
def test_the_code_runs():
    scope = run(("2500", "200"), ("epochs=20", "epochs=1"), ("range(20)", "range(1)"))
    assert 0 < scope["of_class"] < 1
    assert 0 < scope["of_loop"] < 1


@pytest.mark.slow
def test_the_class_and_the_loop_learn_what_the_page_says():
    scope = run()
    assert min(scope["of_class"], scope["of_loop"]) > 0.9
