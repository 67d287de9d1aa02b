"""The manual (``docs/``) is short, shows what it says, and its links lead somewhere."""

import ast
import functools
import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks._results import figure

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
EXAMPLES = DOCS / "examples"
README = CHECKOUT / "README.md"
# Volume 1; all else that is known of complabel is in volume 2. The page of commands is made.
MANUAL = [page for page in sorted(DOCS.glob("*.md")) if page.stem != "commands"]
LINKED = [
    *MANUAL,
    *sorted((DOCS / "evidence").rglob("*.md")),
    *sorted(CHECKOUT.glob("*.md")),
    CHECKOUT / "benchmarks" / "README.md",
]
MOST_WORDS, MOST_WORDS_OF_A_PAGE, MOST_WORDS_OF_README = 25_000, 1_500, 600
# Words that stand for a noun which a reader would have to look for.
VAGUE = r"\b(that of|those (of|that|who|which)|that which|anew|so (many|much) (times|as))\b"
DIARY = (
    r"\b20\d\d-\d\d|\b[Ww]e tried\b|\bgoals? (was|were) (not|missed)|\b[0-9]+[a-f][0-9a-f]{5,}\b"
)


def without_code(text):
    return re.sub(r"^([`:]{3,}).*?^\1$", " ", text, flags=re.DOTALL | re.MULTILINE)


def prose(text):
    """Return what is read: without code, raw HTML, directives' lines, and targets of links."""
    text = re.sub(r"^(`{3,}).*?^\1$", " ", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^:.*$|^\(.*\)=$|<[^>]+>", " ", text, flags=re.MULTILINE)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)


def words(text):
    return sum(1 for word in prose(text).split() if re.search(r"\w", word))


@functools.cache
def anchors(page):
    """Return the anchors of a page: its headings down to the third level, and named targets."""
    whole = page.read_text(encoding="utf-8")
    text = without_code(whole)
    included = re.findall(r"^```\{include\} (\S+)", whole, flags=re.MULTILINE)
    others = [anchors((page.parent / path).resolve()) for path in included]
    headings = re.findall(r"^#{1,3} (.+)$", text, flags=re.MULTILINE)
    shown = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    slugs = [re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in shown]
    named = re.findall(r"^\(([\w-]+)\)=$", text, flags=re.MULTILINE)
    return {*slugs, *named}.union(*others)


def leads_nowhere(page, link):
    """Say whether a link on a page leads to no file, or to no anchor of it."""
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if target.is_relative_to(DOCS / "gallery"):  # made from the examples when the site is built
        name = re.sub(r"^sphx_glr_(\w+)_\d{3}$", r"\1", target.stem)
        return name != "index" and not (EXAMPLES / f"{name}.py").is_file()
    if target == DOCS / "commands.md":
        return False
    if target.suffix == ".md" and anchor and target.exists():
        return anchor not in anchors(target)
    return not target.exists()


def test_the_manual_is_short():
    total = sum(words(page.read_text(encoding="utf-8")) for page in MANUAL)
    assert 10_000 < total <= MOST_WORDS
    assert words(README.read_text(encoding="utf-8")) <= MOST_WORDS_OF_README


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.stem)
def test_a_page_of_the_manual_shows_what_it_says_and_ends(page):
    text = page.read_text(encoding="utf-8")
    assert words(text) <= MOST_WORDS_OF_A_PAGE
    assert re.search(r"^!\[|^```(text|pycon)$|^```\{(raw|eval-rst)\}", text, flags=re.MULTILINE)
    first = re.search(r"^(```|!\[)", text, flags=re.MULTILINE)
    assert words(text[: first.start()]) <= 60
    assert re.findall(rf"{VAGUE}|{DIARY}", prose(text)) == []


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_links_lead_somewhere_and_pictures_have_words(page):
    found = re.findall(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", without_code(page.read_text("utf-8")))
    assert [link for picture, text, link in found if picture and not text] == []
    links = [link for _, _, link in found if not re.match(r"\w+:", link)]
    assert [link for link in links if leads_nowhere(page, link)] == []


@pytest.mark.parametrize("page", [README, DOCS / "index.md"], ids=lambda page: page.stem)
def test_a_sentence_and_its_picture_say_the_same_figures(page):
    picture = (DOCS / "front.svg").read_text(encoding="utf-8")
    drawn = {float(figure) for figure in re.findall(r"<!-- (0\.\d\d) -->", picture)}
    text = re.sub(r"\{value\}`([^`]+)`", lambda of: figure(of[1]), page.read_text(encoding="utf-8"))
    sentence = re.search(r"([^.]*reache?s?( an average precision of)? \.\d\d[^\n]*)\(\[meas", text)
    read = {float(figure) for figure in re.findall(r"(?<!\d)\.\d\d", sentence[1])}
    assert len(read) == 2
    assert read <= drawn


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda script: script.stem)
def test_an_example_uses_the_public_package_and_draws(script):
    tree = ast.parse(script.read_text(encoding="utf-8"))
    title, line, *_ = ast.get_docstring(tree).splitlines()
    assert line == "=" * len(title)
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    ]
    assert not [name for name in modules if "._" in name]
    assert "matplotlib.pyplot" in modules


def test_each_example_has_its_place_in_the_order_of_reading():
    conf = (DOCS / "conf.py").read_text(encoding="utf-8")
    order = re.search(r"^ORDER = \[(.*?)^\]", conf, flags=re.DOTALL | re.MULTILINE)[1]
    examples = {path.stem for path in (DOCS / "examples").glob("*.py")}
    assert examples == {*re.findall(r'"(\w+)"', order)}


def test_python_by_task_has_a_line_for_each_public_name():
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    lines = "\n".join(re.findall(r"^```py\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE))
    rooms = set(re.findall(r"automodule:: (complabel\.\w+)$", page, re.MULTILINE))
    rooms -= {"complabel.errors", "complabel.experiments"}
    assert len(rooms) > 10
    for room in ["complabel", *sorted(rooms)]:
        public = {*import_module(room).__all__} - {"__version__"}
        assert {name for name in public if not re.search(rf"\b{name}\b", lines)} == set(), room
