"""What the page about inspection shows is what happens, and it names every finding."""

import doctest
import re
import tomllib
from pathlib import Path

from complabel import asking

PAGE = (Path(__file__).parents[2] / "docs" / "inspect.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|pycon)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_page_runs():
    assert [kind for kind, _ in BLOCKS] == ["python", "pycon"]
    scope = {}
    exec(compile(BLOCKS[0][1], "inspect.md", "exec"), scope)
    test = doctest.DocTestParser().get_doctest(BLOCKS[1][1], scope, "inspect.md", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_page_names_every_finding():
    table = Path(asking.__file__).parent / "findings.toml"
    names = set(tomllib.loads(table.read_text(encoding="utf-8")))
    listed = {
        name
        for line in PAGE.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([a-z-]+)`", line.split("|")[1])
    }
    assert len(names) > 20
    assert names == listed
