from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import stats

from complabel.metrics import METRIC_NAMES
from complabel.paper._tables import published_cells
from complabel.reports import _html, render_report, results_csv, summarize_study, write_report
from complabel.reports._charts import Bar, bar_chart
from complabel.reports._latex import latex_tables
from complabel.reports._markdown import markdown_tables
from complabel.studies._plan import Plan
from complabel.studies._results import StudyResults, UnitResult

ROWS = [
    {"method": "mlcl"},
    {"method": "prior", "title": "a < b & 50 % of_it | x"},
    {"method": "l-uw"},
    {"method": "supervised"},
]
DATASETS = ["scene", "yeast", "corel5k"]
DETAILS = {
    "label_names": ["Sun<set>", "Beach & sea", "snow_y"],
    "matrices": {
        "initial_transition_": [[0.0, 0.4, 0.6], [0.5, 0.0, 0.5], [0.3, 0.7, 0.0]],
        "label_correlation_": [[1.0, 0.9, 0.8], [0.9, 1.0, 0.7], [0.8, 0.7, 1.0]],
        "transition_": [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.4, 0.6, 0.0]],
    },
    "curves": {"selection": [3.0, 2.0, 1.0], "scores": [1.0, math.nan, 0.25]},
}


def make_plan(**changed):
    fields = {
        "name": "small",
        "title": "A <small> study & more",
        "datasets": DATASETS,
        "rows": ROWS,
        "folds": 3,
        "published": "table2",
    }
    return Plan.model_validate(fields | changed)


def make_results(plan, *, change=lambda unit: {}, missing=(), seed=0):
    """Every unit done, with metrics that differ between rows; `change` overrides fields of one."""
    random = np.random.default_rng(seed)
    units = []
    for dataset in plan.datasets:
        for draw in plan.draws:
            for row_number, row in enumerate(plan.expanded_rows()):
                for fold in range(plan.folds):
                    values = 0.3 + 0.1 * row_number + 0.05 * random.random(len(METRIC_NAMES))
                    fields = {
                        "key": f"{dataset}-{draw.name}-{row_number}-{fold}",
                        "dataset": dataset,
                        "draw": draw.name,
                        "row": row.title,
                        "method": row.method,
                        "parameters": {"random_state": fold, "alpha": len(dataset), "beta": 0.5},
                        "fold": fold,
                        "status": "done",
                        "metrics": dict(zip(METRIC_NAMES, values.tolist(), strict=True)),
                        "fit_seconds": 1.0 + fold,
                        "predict_seconds": 0.25,
                        "peak_memory_mb": 300.0 + fold,
                        "fitted": {"alpha_": 0.1 * (fold + 1), "rule_": "top"},
                        "details": DETAILS if row.method == "mlcl" and fold == 0 else {},
                        "machine": {"system": "Linux", "torch": "2.9"},
                    }
                    if dataset not in missing:
                        units.append(UnitResult(**fields | change(UnitResult(**fields))))
    reasons = {name: f"put {name}.arff <there>" for name in missing}
    return StudyResults(plan=plan, units=units, missing=reasons)


def failing(unit):
    """Fold 1 of L-UW on yeast failed; nothing of it has run on corel5k."""
    nothing = {
        "metrics": {},
        "fit_seconds": math.nan,
        "predict_seconds": math.nan,
        "peak_memory_mb": math.nan,
        "fitted": {},
        "details": {},
        "machine": {},
    }
    if (unit.row, unit.dataset, unit.fold) == ("L-UW", "yeast", 1):
        return nothing | {"status": "failed", "error": "Traceback:\n  x\nValueError: <no> & never"}
    if (unit.row, unit.dataset) == ("L-UW", "corel5k"):
        return nothing | {"status": "pending"}
    return {}


@pytest.fixture(scope="module")
def results():
    return make_results(make_plan())


@pytest.fixture(scope="module")
def summary(results):
    return summarize_study(results)


@pytest.fixture(scope="module")
def page(results):
    return render_report(results)


@pytest.fixture
def without_charts(monkeypatch):
    """Leave out what takes most of the time where it is not looked at."""
    kinds = ("criteria", "ranks", "curves", "sensitivity", "costs", "matrices")
    nothing = {kind: [] for kind in kinds}
    monkeypatch.setattr(_html, "study_drawings", lambda summary: nothing)


@pytest.fixture(scope="module")
def partial():
    return make_results(make_plan(), change=failing, missing=("scene",))


class Tables(HTMLParser):
    """The texts of every cell, table by table, and of the whole page; refuses wrong nesting."""

    VOID = frozenset({"meta", "img", "br", "path", "use"})

    def __init__(self, html):
        super().__init__()
        self.tables, self.text, self.tags, self._open = [], [], [], []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("th", "td"):
            self.tables[-1][-1].append("")
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self._open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if "th" in self._open or "td" in self._open:
            self.tables[-1][-1][-1] += data


def the_cell(summary, **place):
    (found,) = [c for c in summary["cells"] if place.items() <= c.items()]
    return found


def folds_of(results, row, dataset, metric):
    return [
        unit.metrics[metric]
        for unit in results.units
        if (unit.row, unit.dataset) == (row, dataset) and unit.status == "done"
    ]


def test_a_cell_by_hand():
    plan = make_plan(datasets=["scene"], rows=[{"method": "mlcl"}, {"method": "prior"}])

    def change(unit):
        value = 0.2 + 0.1 * unit.fold if unit.row == "MLCL" else 0.5
        return {"metrics": dict.fromkeys(METRIC_NAMES, value)}

    results = make_results(plan, change=change)
    summary = summarize_study(results)
    cell = the_cell(summary, row="MLCL", metric="hamming_loss_minmax")
    assert (cell["folds"], cell["mean"], cell["std"]) == (3, pytest.approx(0.3), pytest.approx(0.1))
    # Printed: 0.264 with 0.027; lower is better.
    assert cell["published"] == {"mean": 0.264, "std": 0.027}
    assert cell["advantage"] == pytest.approx((0.264 - 0.3) / 0.027)
    assert cell["plain"] is None  # the reference itself
    # Differences of -0.3, -0.2, -0.1: t = -0.2 / (0.1 / sqrt(3)) = -3.46, p = 0.074; a tie.
    other = the_cell(summary, row="Prior", metric="ranking_loss")
    assert (other["plain"], other["corrected"], other["tested_folds"]) == ("tie", "tie", 3)
    assert other["published"] is None
    assert other["advantage"] is None


def test_hamming_losses_are_held_against_the_printed_one_only_once(summary):
    printed = published_cells("table2")
    mlcl = {m: the_cell(summary, row="MLCL", dataset="yeast", metric=m) for m in METRIC_NAMES}
    assert mlcl["hamming_loss"]["published"] is None
    assert mlcl["hamming_loss_minmax"]["published"]["mean"] == (
        printed["yeast", "uniform", "MLCL", "hamming_loss"].mean
    )
    luw = {m: the_cell(summary, row="L-UW", dataset="yeast", metric=m) for m in METRIC_NAMES}
    assert luw["hamming_loss_minmax"]["published"] is None
    assert luw["hamming_loss"]["published"]["mean"] == (
        printed["yeast", "uniform", "L-UW", "hamming_loss"].mean
    )


@pytest.mark.parametrize("draw", [{"labels_per_row": 2}, {"scheme": "biased", "sharpness": 2.0}])
def test_draws_other_than_the_papers_have_no_published_cells(draw):
    plan = make_plan(draws=[{"name": "mine", **draw}], published="table3", datasets=["scene"])
    assert all(c["published"] is None for c in summarize_study(make_results(plan))["cells"])


def test_tests_agree_with_scipy(results, summary):
    for cell in summary["cells"]:
        if cell["row"] == "MLCL":
            continue
        ours = folds_of(results, "MLCL", cell["dataset"], cell["metric"])
        theirs = folds_of(results, cell["row"], cell["dataset"], cell["metric"])
        test = stats.ttest_rel(ours, theirs)
        better = (test.statistic > 0) == (cell["metric"] == "average_precision")
        assert cell["plain"] == ("tie" if test.pvalue > 0.05 else "better" if better else "worse")


def test_wins_ties_and_losses_count_the_cells(summary):
    assert [counted["row"] for counted in summary["comparison"]] == [
        ROWS[1]["title"], "L-UW", "Supervised",
    ]  # fmt: skip
    for counted in summary["comparison"]:
        cells = [c for c in summary["cells"] if c["row"] == counted["row"]]
        assert counted["cells"] == len(cells) == 18
        for test in ("plain", "corrected"):
            assert counted[test] == {
                "wins": sum(c[test] == "better" for c in cells),
                "ties": sum(c[test] == "tie" for c in cells),
                "losses": sum(c[test] == "worse" for c in cells),
            }
    assert sum(counted["plain"]["wins"] for counted in summary["comparison"]) > 0


def test_ranks_leave_out_references_and_follow_the_means(summary):
    for ranking in summary["rankings"]:
        # Values grow from row to row, by more than they spread.
        expected = [3, 2, 1] if ranking["metric"] == "average_precision" else [1, 2, 3]
        assert ranking["rows"] == ["MLCL", ROWS[1]["title"], "L-UW"]
        assert ranking["ranks"] == expected
        assert ranking["friedman"]["statistic"] == pytest.approx(6.0)  # 3 problems, same order
        assert ranking["friedman"]["f_statistic"] is None
        # 2.343 sqrt(3 * 4 / (6 * 3))
        assert ranking["critical_difference"] == pytest.approx(1.913, abs=1e-3)


def test_what_is_missing_is_said_everywhere(partial, without_charts):
    summary = summarize_study(partial)
    json.dumps(summary, allow_nan=False)
    assert summary["units"] == {
        "planned": 36, "without_data": 12, "done": 20, "failed": 1, "running": 0, "pending": 3,
    }  # fmt: skip
    assert summary["incomplete"] == [
        {"draw": "uniform", "dataset": "yeast", "row": "L-UW", "done": 2, "failed": 1, "folds": 3},
        {
            "draw": "uniform",
            "dataset": "corel5k",
            "row": "L-UW",
            "done": 0,
            "failed": 0,
            "folds": 3,
        },
    ]
    assert the_cell(summary, row="L-UW", dataset="yeast", metric="coverage")["folds"] == 2
    assert not [c for c in summary["cells"] if (c["row"], c["dataset"]) == ("L-UW", "corel5k")]
    ranking = summary["rankings"][0]
    assert ranking["left_out_rows"] == ["L-UW"]
    assert ranking["datasets"] == ["yeast", "corel5k"]
    assert (ranking["friedman"], ranking["groups"]) == (None, None)
    assert "3 methods" in ranking["reason"]
    shown = "".join(Tables(render_report(partial)).text)
    for said in (
        "put scene.arff <there>",
        "1 of 36 units failed",
        "3 of 36 units had not been run",
        "ValueError: <no> & never",
        "2 of 3 folds",
        "not run",
        "Left out, without a complete dataset: L-UW",
    ):
        assert said in shown
    markdown, latex = markdown_tables(summary), latex_tables(summary)
    assert "[2/3 folds]" in markdown
    assert "[2/3 folds]" in latex
    assert "1 of 36 units failed." in markdown
    assert "1 of 36 units failed." in latex


def test_incomplete_rows_are_never_bold():
    plan = make_plan(datasets=["yeast"])
    low = dict.fromkeys(METRIC_NAMES, 0.0)

    def change(unit):
        if unit.row != "L-UW":
            return {}
        return failing(unit) if unit.fold == 1 else {"metrics": low}

    table = markdown_tables(summarize_study(make_results(plan, change=change)))
    rows = [line for line in table.splitlines() if line.startswith("| L-UW | 0.000")]
    assert len(rows) == len(METRIC_NAMES)


def test_a_study_that_has_not_begun_has_a_report(without_charts):
    results = make_results(make_plan(), change=lambda unit: failing(unit) or {})
    waiting = StudyResults(
        plan=results.plan,
        units=[
            UnitResult(u.key, u.dataset, u.draw, u.row, u.method, {}, u.fold, "pending")
            for u in results.units
        ],
        missing={},
    )
    assert "No unit of this study is done" in render_report(waiting)
    summary = summarize_study(waiting)
    assert "36 of 36 units had not been run" in markdown_tables(summary)
    assert "table" not in latex_tables(summary).partition("\n\n")[2]


def test_a_single_fold_has_no_spread_and_no_test(without_charts):
    results = make_results(
        make_plan(datasets=["yeast"]), change=lambda u: {"status": "pending"} if u.fold else {}
    )
    cell = the_cell(summarize_study(results), row="L-UW", metric="coverage")
    assert (cell["folds"], cell["std"], cell["plain"]) == (1, None, None)
    assert "1 of 3 folds" in render_report(results)


def test_a_study_without_a_published_table_says_nothing_of_one():
    html = render_report(make_results(make_plan(published="", datasets=["yeast"])))
    assert "published standard deviations" not in html
    assert "diamonds" not in html


def test_tables_of_the_page_have_the_summarys_numbers(page, summary):
    tables = Tables(page).tables
    for table, metric in zip(tables, METRIC_NAMES, strict=False):
        assert table[0] == ["Method", *DATASETS]
        assert [row[0] for row in table[1:]] == ["MLCL", ROWS[1]["title"], "L-UW", "Supervised †"]
        for row, title in zip(table[1:], [r["title"] for r in summary["rows"]], strict=True):
            for shown, dataset in zip(row[1:], DATASETS, strict=True):
                cell = the_cell(summary, row=title, dataset=dataset, metric=metric)
                assert shown.startswith(f"{cell['mean']:.3f} ± {cell['std']:.3f}")
                if cell["published"]:
                    printed, _, advantage = shown.rpartition(" ")
                    assert printed.endswith(f"± {cell['published']['std']:.3f})")
                    assert float(advantage.replace("−", "-")) == pytest.approx(  # noqa: RUF001
                        cell["advantage"], abs=0.051
                    )


def test_the_best_in_competition_is_bold(page):
    bold = re.findall(r"<b>(\d\.\d{3})</b>", page)
    # MLCL has the lowest values, so it is best everywhere but in average precision, where L-UW is:
    # the reference's higher values are out of competition.
    assert len(bold) == 3 * len(METRIC_NAMES)
    assert all(0.3 <= float(value) <= 0.35 for value in bold[:15])
    assert all(0.5 <= float(value) <= 0.55 for value in bold[15:])


def test_names_appear_as_they_are(page, summary):
    tables = Tables(page)
    assert not [tag for tag, _ in tables.tags if tag in ("script", "set", "small")]
    shown = "".join(tables.text)
    assert "A <small> study & more" in shown
    assert "Sun<set>" in shown
    assert r"a \textless{} b \& 50 \% of\_it \textbar{} x &" in latex_tables(summary)
    assert r"| a \< b \& 50 % of\_it \| x |" in markdown_tables(summary)


def test_ids_are_unique_and_links_lead_somewhere(page):
    attributes = [attrs for _, attrs in Tables(page).tags]
    ids = [attrs["id"] for attrs in attributes if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = {attrs["href"][1:] for attrs in attributes if attrs.get("href", "").startswith("#")}
    named = {attrs["aria-labelledby"] for attrs in attributes if "aria-labelledby" in attrs}
    assert links
    assert links | named <= set(ids)


def test_the_page_needs_nothing_from_outside(page):
    for _, attributes in Tables(page).tags:
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert "url(http" not in page


def test_every_chart_is_described(page):
    figures = [attrs for tag, attrs in Tables(page).tags if tag == "svg"]
    # criteria 6 x 3, ranks 6, curves 2 x 3, cost 2 x 3, matrices 3 x 3
    assert len(figures) == 18 + 6 + 6 + 6 + 9
    assert all(attrs["aria-label"] for attrs in figures)


def test_the_page_is_the_same_each_time():
    results = make_results(make_plan(datasets=["yeast"], rows=ROWS[:2]))
    assert render_report(results) == render_report(results)


def test_markdown_reads_back_to_the_same_numbers(summary):
    lines = markdown_tables(summary).splitlines()
    for metric in METRIC_NAMES:
        title = {m["name"]: m["title"] for m in summary["metrics"]}[metric]
        start = next(n for n, line in enumerate(lines) if line.startswith(f"## {title}, "))
        for row, line in zip(summary["rows"], lines[start + 4 : start + 8], strict=True):
            _, _, *cells, _ = re.split(r"(?<!\\)\|", line)
            for dataset, written in zip(DATASETS, cells, strict=True):
                cell = the_cell(summary, row=row["title"], dataset=dataset, metric=metric)
                numbers = [float(n) for n in re.findall(r"\d+\.\d{3}", written)]
                expected = [cell["mean"], cell["std"], *(cell["published"] or {}).values()]
                assert numbers == pytest.approx(expected, abs=0.00051)


def test_latex_reads_back_to_the_same_numbers(summary):
    latex = latex_tables(summary)
    assert latex.count(r"\begin{tabular}{lrrr}") == len(METRIC_NAMES)
    assert latex.count(r"\toprule") == latex.count(r"\bottomrule") == latex.count(r"\end{tabular}")
    for metric, table in zip(METRIC_NAMES, latex.split(r"\midrule")[1:], strict=False):
        body = table.partition(r"\bottomrule")[0].replace(r"\&", "").strip()
        lines = [line.removesuffix(r" \\").split(" & ") for line in body.splitlines()]
        assert {len(line) for line in lines} == {4}
        named = [line for line in lines if line[0]]
        for row, line in zip(summary["rows"], named, strict=True):
            for dataset, written in zip(DATASETS, line[1:], strict=True):
                cell = the_cell(summary, row=row["title"], dataset=dataset, metric=metric)
                numbers = [float(n) for n in re.findall(r"\d+\.\d{3}", written)]
                assert numbers == pytest.approx([cell["mean"], cell["std"]], abs=0.00051)


def test_csv_reads_back_to_the_same_units(partial):
    lines = list(csv.DictReader(io.StringIO(results_csv(partial))))
    assert len(lines) == len(partial.units)
    for line, unit in zip(lines, partial.units, strict=True):
        assert (line["dataset"], line["row"], int(line["fold"])) == (
            unit.dataset, unit.row, unit.fold,
        )  # fmt: skip
        assert line["status"] == unit.status
        assert json.loads(line["parameters"]) == unit.parameters
        for metric in METRIC_NAMES:
            assert float(line[metric] or "nan") == pytest.approx(
                unit.metrics.get(metric, math.nan), nan_ok=True, rel=0, abs=0
            )
    assert {line["error"] for line in lines} == {"", "ValueError: <no> & never"}


def test_costs_scalars_settings_and_machines(summary):
    cost = summary["costs"][0]
    assert (cost["fit_seconds"], cost["predict_seconds"], cost["peak_memory_mb"]) == (
        2.5,
        0.25,
        302,
    )
    number, text = summary["fitted"][:2]
    assert (number["mean"], number["min"], number["max"]) == pytest.approx((0.2, 0.1, 0.3))
    assert text["counts"] == {"top": 3}
    assert summary["settings"][0]["parameters"] == {"beta": 0.5}
    assert summary["settings"][0]["by_dataset"] == {"alpha": {"scene": 5, "yeast": 5, "corel5k": 7}}
    assert summary["machines"] == [{"system": "Linux", "torch": "2.9", "units": 36}]
    assert summary["curves"][0]["stages"]["scores"] == [1.0, None, 0.25]
    assert summary["matrices"][0]["matrices"] == DETAILS["matrices"]


def test_a_grid_of_numbers_gives_curves_by_value():
    grid = {"beta": [1.0, 0.1, 0.5]}
    plan = make_plan(
        rows=[{"method": "mlcl", "title": "beta = {beta}", "published": "{beta:g}", "grid": grid}],
        published="table5",
        datasets=["yeast"],
    )
    results = make_results(plan)
    summary = summarize_study(results)
    assert len(summary["sensitivity"]) == len(METRIC_NAMES)
    (record,) = [r for r in summary["sensitivity"] if r["metric"] == "average_precision"]
    assert record["parameter"] == "beta"
    assert [point["value"] for point in record["points"]] == [0.1, 0.5, 1.0]
    for point in record["points"]:
        folds = folds_of(results, f"beta = {point['value']}", "yeast", "average_precision")
        assert point["mean"] == pytest.approx(np.mean(folds))
    assert record["points"][0]["published"] == 0.714
    assert "over beta of mlcl" in render_report(results)


def test_bars_are_as_long_as_their_values():
    bars = [Bar("a", 0.2), Bar("b", 0.4, kind="reference"), Bar("c", None), Bar("d", 0.1)]
    svg = bar_chart(bars, ident="x", description="d")
    paths = re.findall(r'<path d="M ([\d.]+) [\d.]+\s+L ([\d.]+) [^"]*z\s*" clip-path', svg)
    lengths = sorted(float(end) - float(start) for start, end in paths)
    assert np.array(lengths) / lengths[0] == pytest.approx([1, 2, 4], rel=1e-3)
    assert svg.count("var(--accent)") == 1


def test_write_report_writes_every_form(results, summary, tmp_path, without_charts):
    paths = write_report(results, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == [
        "report.html", "tables.md", "tables.tex", "results.csv", "summary.json",
    ]  # fmt: skip
    assert {path.name for path in paths[0].parent.iterdir()} == {path.name for path in paths}
    assert paths[0].read_text(encoding="utf-8") == render_report(results)
    assert json.loads(paths[4].read_text(encoding="utf-8")) == summary


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A headless Chromium that cannot reach anything but files."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which("chromium"), shutil.which("chromedriver")]
    if None in programs:
        pytest.skip("chromium and chromedriver are not on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=programs[1], log_output=subprocess.DEVNULL)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_every_figure_and_nothing_sticks_out(
    browser, page, tmp_path, width, scheme
):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get((tmp_path / "report.html").as_uri())
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.get_log("browser") == []
    root = "document.documentElement"
    needed, given = browser.execute_script(f"return [{root}.scrollWidth, {root}.clientWidth]")
    assert width - 20 <= given <= width  # a scroll bar takes some
    assert needed == given
    shown = browser.execute_script(
        "return [...document.querySelectorAll('svg, table')].map(e => e.getBoundingClientRect())"
    )
    assert len(shown) == page.count("<svg") + page.count("<table") > 50
    assert all(box["width"] > 100 and box["height"] > 30 for box in shown)
    background, ink = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
    )
    brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (background, ink)]
    assert (brightness[0] < brightness[1]) == (scheme == "dark")


@pytest.mark.slow
def test_row_titles_stay_in_sight_while_a_table_scrolls(browser, page, tmp_path):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    metrics = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get((tmp_path / "report.html").as_uri())
    moved = browser.execute_script(
        """const box = document.querySelector('.scroll');
        const [title, cell] = box.querySelectorAll('tbody th, tbody td');
        const left = e => e.getBoundingClientRect().left;
        const before = [left(title), left(cell)];
        box.scrollLeft = 80;
        return [left(title) - before[0], left(cell) - before[1]];"""
    )
    assert moved == [0, -80]


@pytest.mark.slow
def test_the_sections_are_listed_side_by_side(browser, page, tmp_path):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    metrics = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get((tmp_path / "report.html").as_uri())
    tops = browser.execute_script(
        "return [...document.querySelectorAll('nav a')].map(a => a.getBoundingClientRect().top)"
    )
    assert len(tops) > 5
    assert len(set(tops)) < len(tops) / 2
