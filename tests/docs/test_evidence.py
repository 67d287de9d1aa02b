"""Figures of pages come from stored results, claims hold, and old code is noticed."""

import functools
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from benchmarks import _claims, _frame, _pages, _results

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
PAGES = [
    CHECKOUT / "README.md",
    *sorted(page for page in DOCS.glob("*.md") if page.stem != "commands"),  # which is made
    *sorted((DOCS / "evidence").rglob("*.md")),
]
TABLE = re.compile(r"^[`:]{3,}\{results\} (.+)\n((?::.*\n)*)", flags=re.MULTILINE)
ROLE = re.compile(r"\{value\}`([^`]+)`")
CITED = re.compile(r'\[([^\]]+)\]\([^\s)]+ "([^"]+)"\)')  # in README, which no site builds
FIGURE = re.compile(
    r"(?<![\w.§-])\d*\.\d+(?![\w.])|(?<![\w.])\d[\d.,]* ?%|(?<![\w.])\d[\d,]* (?:of|times)\b"
)
USUAL = {"95 %"}
QUOTED = re.compile(r"(?<!\})`([+-]?[\d,]*\.?\d+)(?: %)?`")  # a setting, a goal or a border
NUMBER = re.compile(r"(?<![\w.])\d*\.?\d[\d_]*(?:e-?\d+)?")
MOST_WORDS, MOST_WORDS_OF_A_PAGE = 30_000, 500


def prose(text):
    """Return what a page says in its own words: no code, no roles, no addresses."""
    text = re.sub(r"^(```+|:::+).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\{\w+\}`[^`]+`|`[^`]+`|<!--.*?-->", "", text, flags=re.DOTALL)
    text = CITED.sub("", text)
    return re.sub(r"\]\([^)]*\)|^---.*?^---$", "]", text, flags=re.DOTALL | re.MULTILINE)


def typed(text):
    """Return the figures of a page that name no source."""
    return [each for each in FIGURE.findall(prose(text)) if each.strip() not in USUAL]


def wrong(text):
    """Return what is cited in a page and is not what results say."""
    of = [(shown, spec, _results.figure(spec)) for shown, spec in CITED.findall(text)]
    return [each for each in of if each[0] != each[2]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_figure_names_where_it_comes_from(page):
    text = page.read_text(encoding="utf-8")

    for spec in ROLE.findall(text):
        assert _results.figure(spec)
    for spec, options in TABLE.findall(text):
        how = dict(re.findall(r"^:(\w+): *(.*)$", options, flags=re.MULTILINE))
        assert _pages.of_page(spec, how).startswith("|")
    assert not wrong(text)
    assert not typed(text)


@functools.cache
def numbers(file):
    """Return the numbers in a file of code, also those of which a page shows the hundredfold."""
    found = {float(each.replace("_", "")) for each in NUMBER.findall(file.read_text("utf-8"))}
    return found | {round(100 * each, 9) for each in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_number_in_backticks_stands_in_code_or_in_a_claim(page):
    """So it is a setting or a goal. What was measured once is a row, and has its source there."""
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"(?:benchmarks |\{results\} |\{value\}`)(\w+)", text)
    files = [CHECKOUT / "benchmarks" / f"{name}.py" for name in {*names} & {*_frame.names()}]
    files += [*CHECKOUT.glob("benchmarks/_*.py"), *CHECKOUT.glob("src/**/*.py"), _claims.PATH]
    known = {*range(11)}.union(*map(numbers, files))
    quoted = {each: abs(float(each.replace(",", ""))) for each in QUOTED.findall(text)}

    assert [each for each, value in quoted.items() if value not in known] == []


def test_pages_are_short():
    pages = [page.read_text(encoding="utf-8") for page in PAGES if "evidence" in page.parts]
    for text in pages:
        lines = [line for line in prose(text).splitlines() if not line.startswith("|")]
        assert len(" ".join(lines).split()) <= MOST_WORDS_OF_A_PAGE, text[:80]
    assert sum(len(text.split()) for text in pages) <= MOST_WORDS


def test_parts_of_claims_are_on_the_page():
    text = (DOCS / "evidence" / "index.md").read_text(encoding="utf-8")
    assert {claim.about for claim in _claims.claims()} <= {*re.findall(r"\{claims\} (.+)", text)}


@pytest.mark.parametrize("claim", _claims.claims(), ids=lambda claim: claim.name)
def test_a_claim_holds_or_is_marked_as_missed(claim):
    assert claim.text()
    assert claim.is_true() != claim.missed
    assert claim.runs()
    for each in claim.tests:
        assert (CHECKOUT / each).exists(), f"{each} keeps {claim.name}"


def test_a_wrong_figure_in_a_page_is_found(monkeypatch, stored):
    text = 'It is [.500](docs/x.md "made[set=a].fit:.3f"), and .7 on another set.'

    assert typed(text) == [".7"]
    assert wrong(text) == []
    assert wrong(text.replace("[.500]", "[.501]")) == [(".501", "made[set=a].fit:.3f", ".500")]


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Results of a benchmark with two cells and two draws."""
    monkeypatch.setattr(_results, "RESULTS", tmp_path)
    result = _results.Result("made")
    rows = [
        {"set": name, "draw": draw, "figures": {"fit": fit + 0.1 * draw, "AN": 0.5}}
        for name, fit in (("a", 0.45), ("b", 0.25))
        for draw in (0, 1)
    ]
    result.add({"command": "x", "commit": "0", "date": "2026-01-01", "seconds": 1}, rows)
    result.write()
    yield result
    _results.read.cache_clear()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("made[set=b].fit", ".300"),
        ("made.min(fit-AN):+.2f", "-.20"),
        ("made.count(fit>=AN):.0f", "1"),
        ("made.cells", "2"),
        ("made[set!=a].draws", "2"),
        ("made[set=a].se(fit):.2f", ".05"),
        ("made.mean(best(fit,AN)-least(fit,AN)):.1f", ".1"),
    ],
)
def test_figures_are_computed_by_cell(stored, text, value):
    assert _results.figure(text) == value


@pytest.mark.parametrize(
    "text", ["made.fit", "made[set=c].fit", "made[of=a].fit", "made[set=a].hit", "x.fit", "fit"]
)
def test_a_text_that_names_no_figure_or_several_is_refused(stored, text):
    with pytest.raises(_results.NoFigureError, match=re.escape(text.split("[")[0].split(".")[0])):
        _results.figure(text)


def test_a_table_has_a_row_for_each_figure_and_no_factor_that_the_cells_share(stored):
    """Deviations stand beside their figure; a factor that a page fixes is left out."""
    more = [
        {"set": "a", "way": way, "draw": 0, "figures": {"fit": fit, "fit_sd": 0.125, "hits": 7}}
        for way, fit in (("yes", 0.75), ("no", 0.5))
    ]
    stored.add({"command": "y", "commit": "1", "date": "2026-01-02", "seconds": 2}, more)
    stored.write()

    how = {"rows": "method", "across": "way", "error": "_sd"}
    assert _pages.of_page("made[way=yes|no]", how).splitlines()[:4] == [
        "| method | yes | no |",
        "|---|--:|--:|",
        "| fit | .750 ± .125 | .500 ± .125 |",
        "| hits | 7.000 | 7.000 |",
    ]
    narrow = {"columns": "fit hits=number_of_hits", "bold": "max"}
    assert _pages.of_page("made[way=yes]", narrow).splitlines()[2:3] == ["| yes | .750 | **7** |"]


def test_a_new_run_replaces_its_cells_and_transcribed_means(stored):
    old = [{"set": "c", "draw": "mean", "figures": {"fit": 0.1}}]
    stored.add({"transcribed": "a page", "command": "y"}, old)
    stored.add({"command": "z"}, [{"set": "c", "draw": 0, "figures": {"fit": 0.2}}])
    stored.write()

    found = _results.read("made")
    assert [run["command"] for run in found.runs] == ["x", "z"]
    assert _results.figure("made[set=c].fit") == ".200"
    assert len(found.rows) == 5


def test_a_figure_has_no_name_of_what_varies(stored):
    with pytest.raises(_results.NoFigureError, match="fit"):
        stored.add({"command": "x"}, [{"fit": "a", "draw": 0, "figures": {"fit": 0.1}}])


def test_a_change_of_a_loss_is_noticed_and_a_change_of_a_comment_is_not(tmp_path):
    source = tmp_path / "complabel"
    shutil.copytree(CHECKOUT / "src" / "complabel" / "losses", source / "losses")
    run = {"code": {"losses": _results.fingerprint("losses")}}
    namings = source / "losses" / "_namings.py"

    assert _results.changed(run, source) == []
    namings.write_text("# A comment.\n" + namings.read_text(encoding="utf-8"), encoding="utf-8")
    _results.fingerprint.cache_clear()
    assert _results.changed(run, source) == []
    text = namings.read_text(encoding="utf-8")
    namings.write_text(text.replace(".exp()", ".expm1()", 1), encoding="utf-8")
    _results.fingerprint.cache_clear()
    assert _results.changed(run, source) == ["losses"]


def test_each_benchmark_is_one_and_each_result_has_one():
    names = _frame.names()
    for name in names:
        benchmark = _frame.Benchmark.of(name)
        assert benchmark.question.endswith((".", "?"))
        assert len(benchmark.units()) >= len(benchmark.units(quick=True)) > 0
    stored = [_results.read(path.stem) for path in _results.RESULTS.glob("*.jsonl")]
    old = {each.name for each in stored if any(run.get("transcribed") for run in each.runs)}
    assert {each.name for each in stored} <= {*names, "house", "damaged_readers"} | old
    assert old == {*pd.read_csv(DOCS / "evidence" / "not-renewed.csv")["result"]}
