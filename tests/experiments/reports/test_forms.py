"""The forms of a study's report: the same figures in each, and nothing that breaks out."""

import csv
import io
import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.experiments.reports.small import DATASETS, failing, make_plan, make_results, the_cell
from tests.reports.small import HOSTILE, Page

from complabel.errors import OutputError
from complabel.experiments import reports
from complabel.experiments.reports import (
    FORMATS,
    render_report,
    results_csv,
    summarize_study,
    write_report,
)
from complabel.metrics import METRICS


def form(name, results):
    return FORMATS[name](summarize_study(results), results)


def lines_of_markdown(text):
    cells = (re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line[:1] == "|")
    return [[cell.strip() for cell in line] for line in cells]


def lines_of_latex(text):
    return [re.split(r"(?<!\\) & ", x.strip()) for x in text.split(r"\\") if " & " in x]


READERS = {
    "report.html": lambda text: [line for table in Page(text).tables for line in table],
    "tables.md": lines_of_markdown,
    "tables.tex": lines_of_latex,
}


@pytest.mark.usefixtures("without_charts")
@pytest.mark.parametrize("name", READERS)
def test_each_form_reads_back_to_the_same_numbers(results, summary, name):
    lines = READERS[name](form(name, results))
    lines = [line for line in lines if len(line) == 4 and line[0].endswith("L-UW")]
    for metric, line in zip(METRICS, lines, strict=False):
        for dataset, written in zip(DATASETS, line[1:], strict=True):
            cell = the_cell(summary, row="L-UW", dataset=dataset, metric=metric)
            expected = [cell.mean, cell.std]
            if not math.isnan(cell.published):
                expected += [cell.published, cell.published_std]
            numbers = [float(number) for number in re.findall(r"\d+\.\d{3}", written)]
            assert numbers == pytest.approx(expected, abs=0.00051)
            bold = "**" in written or "textbf" in written
            assert bold == (metric == "average_precision" and name != "report.html")


@pytest.mark.usefixtures("without_charts")
def test_a_mark_says_how_the_row_is_that_it_stands_on():
    rows = [{"method": "mlcl"}, {"method": "prior"}]
    plan = make_plan(published="", datasets=["scene"], rows=rows)

    def change(unit):
        value = (0.8 if unit.row == "MLCL" else 0.5) + 0.001 * unit.fold
        return {"metrics": dict.fromkeys(METRICS, value)}

    lines = lines_of_markdown(form("tables.md", make_results(plan, change=change)))
    shown = [line[1] for line in lines if line[0] == "Prior"][: len(METRICS)]
    marks = {name: "▼" in text for name, text in zip(METRICS, shown, strict=True)}
    assert marks == {name: each.higher_is_better for name, each in METRICS.items()}


def test_csv_reads_back_to_the_same_units():
    partial = make_results(make_plan(), change=failing)
    lines = list(csv.DictReader(io.StringIO(results_csv(partial))))
    for line, unit in zip(lines, partial.units, strict=True):
        place = (line["dataset"], line["row"], int(line["fold"]), line["status"])
        assert place == (unit.dataset, unit.row, unit.fold, unit.status)
        assert json.loads(line["parameters"]) == unit.parameters
        for metric in METRICS:
            assert float(line[metric] or "nan") == pytest.approx(
                unit.metrics.get(metric, math.nan), nan_ok=True, rel=0, abs=0
            )
    assert {line["error"] for line in lines} == {"", "ValueError: <no> & never"}


@pytest.mark.usefixtures("without_charts")
@pytest.mark.parametrize("name", FORMATS)
def test_what_is_missing_is_said_and_never_bold(name):
    partial = make_results(make_plan(), change=failing, missing=("scene",))
    text = form(name, partial)
    if name in READERS:
        said = Page(text).text if name.endswith("html") else text.replace("\\", "")
        for words in ("put scene.arff <there>", "1 of 24 units failed", "[2 of 3 folds]", "n/a"):
            assert words in said.replace("{[}", "[").replace("textless{}", "<")
    nothing = {"status": "pending", "metrics": {}, "fitted": {}, "details": {}, "machine": {}}
    assert form(name, make_results(make_plan(), change=lambda unit: nothing))
    assert form(name, make_results(make_plan(), missing=DATASETS))


@pytest.mark.usefixtures("without_charts")
def test_odd_names_appear_as_they_are():
    odd = [*HOSTILE, "\\input{x} ^ ~ % $ # _", "| a"]
    rows = [
        {"method": "prior", "title": name.replace("{", "{{").replace("}", "}}")} for name in odd
    ]
    results = make_results(make_plan(title=odd[0], rows=rows, reference=odd[4]))
    page = Page(form("report.html", results))
    heads = {line[0] for table in page.tables for line in table}
    assert {name.replace("\n", "") for name in odd} <= heads
    assert not page.find("script")
    latex = form("tables.tex", results)
    assert not re.search(r"(?<!\\)[%$#_]", re.sub(r"(?m)^%.*$|\$\\?[a-z-]+\$", "", latex))
    assert r"\input" not in re.sub(r"(?m)^%.*$", "", latex)
    table = lines_of_markdown(form("tables.md", results))
    assert {len(line) for line in table[: 8 * len(METRICS)]} == {4}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_the_tables_for_latex_compile(tmp_path):
    rows = [{"method": "prior", "title": name.replace("{", "{{").replace("}", "}}")}
            for name in (*HOSTILE, "\\input{x} ^ ~ % $ # _")]  # fmt: skip
    for name, plan in {"plain": make_plan(), "odd": make_plan(title=HOSTILE[0], rows=rows)}.items():
        tables = form("tables.tex", make_results(plan))
        tables = re.sub(r"[^\x00-\x7f]", "?", tables)  # pdflatex has no glyphs for other scripts
        text = f"\\documentclass{{article}}\\usepackage{{booktabs}}\\begin{{document}}\n{tables}"
        (tmp_path / f"{name}.tex").write_text(f"{text}\\end{{document}}\n")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
        assert (tmp_path / f"{name}.pdf").stat().st_size > 10_000


def test_every_chart_is_described(pages):
    figures = [attributes for attributes, _ in Page(pages["report"]).find("svg")]
    # Criterion 3, ranks 6, curves 2 x 3, matrices of the first row with some 3 x 3.
    assert len(figures) == 3 + 6 + 6 + 9
    assert all(attributes["aria-label"] for attributes in figures)


@pytest.mark.usefixtures("without_charts")
def test_a_form_is_a_function_and_an_entry(results, summary, tmp_path):
    """The example of the room's README."""
    readme = (Path(reports.__file__).parent / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    exec(compile(example, "README.md", "exec"), {"results": results, "folder": tmp_path})
    assert {path.name for path in tmp_path.iterdir()} == {*FORMATS, "means.tsv"}
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == render_report(results)
    lines = (tmp_path / "means.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(summary.cells)
    read = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert [cell["mean"] for cell in read["cells"]] == pytest.approx(list(summary.cells["mean"]))


@pytest.mark.usefixtures("without_charts")
def test_a_report_is_written_as_a_whole_or_not_at_all(results, tmp_path):
    made = tmp_path / "made"
    with pytest.raises(OutputError, match="choose another path"):
        write_report(
            results, made, formats={"a.txt": lambda *_: "a", "no/such.txt": lambda *_: "c"}
        )
    assert not made.exists()
    (tmp_path / "b.html").mkdir()
    (tmp_path / "a.csv").write_text("old", encoding="utf-8")
    with pytest.raises(OutputError, match="An older file is unchanged"):
        write_report(
            results, tmp_path, formats={"a.csv": lambda *_: "new", "b.html": lambda *_: ""}
        )
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "old"
