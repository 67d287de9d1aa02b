"""The forms of a study's report: one function for each returns the text of a file."""

from __future__ import annotations

import csv
import functools
import io
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from complabel._writing import write_texts
from complabel.metrics import METRIC_NAMES
from complabel.reports._study_charts import answer_charts, study_charts, time_charts
from complabel.reports._summarize import last_line, summarize_study
from complabel.reports._summary import Summary
from complabel.reports._tables import factor_tables, headline, study_tables, ticking_tables
from complabel.reports._templates import get_template
from complabel.studies import StudyResults

_COLUMNS = (
    *("study", "draw", "dataset", "row", "method", "fold", "status"),
    *METRIC_NAMES,
    *("fit_seconds", "predict_seconds", "peak_memory_mb"),
    *("parameters", "fitted", "error", "key"),
)


def results_csv(results: StudyResults) -> str:
    """Return a CSV text with a line for every unit.

    ``fold`` counts from 0; ``parameters`` and ``fitted`` are JSON objects; ``error`` is the last
    line.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for unit in results.units:
        own = {"study": results.plan.name, "error": last_line(unit.error)}
        values = {**vars(unit), **unit.metrics, **own}
        writer.writerow([_written(values.get(name, "")) for name in _COLUMNS])
    return text.getvalue()


def _written(value: object) -> object:
    """Return a value for CSV: numbers with all digits, mappings as JSON, NaN as empty text."""
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else ""
    if isinstance(value, Mapping):
        return json.dumps(dict(value), sort_keys=True, default=repr)
    return value


Renderer: TypeAlias = Callable[[Summary, StudyResults], str]
"""Returns the text of one form, from the summary and the results."""


def render_tables(template: str, summary: Summary, _: StudyResults) -> str:
    tables = study_tables(summary)
    text = get_template(template).render(
        summary=summary,
        study=summary.study,
        tables=tables,
        factors=factor_tables(summary) if summary.study.has_many_draws else None,
        headline=headline(summary),
        complabel=summary.complabel,
        answer_charts=answer_charts(summary),
        ticking=ticking_tables(summary),
        time_charts=time_charts(summary),
        charts=study_charts(summary, tables),
    )
    return text if template.endswith(".html.j2") else text.rstrip("\n") + "\n"


def _as_json(summary: Summary, _: StudyResults) -> str:
    return json.dumps(summary, indent=1, allow_nan=False, default=vars) + "\n"


FORMATS: Final[Mapping[str, Renderer]] = MappingProxyType(
    {
        "report.html": functools.partial(render_tables, "report.html.j2"),
        "tables.md": functools.partial(render_tables, "tables.md.j2"),
        "tables.tex": functools.partial(render_tables, "tables.tex.j2"),
        "results.csv": lambda _, results: results_csv(results),
        "summary.json": _as_json,
    }
)
"""The forms of a report: the name of each file, and the function that returns its text."""


def write_report(
    results: StudyResults, folder: str | Path, *, formats: Mapping[str, Renderer] = FORMATS
) -> list[Path]:
    """Write the report of a study in all its forms.

    Parameters
    ----------
    results : StudyResults
        May be incomplete; the report lists what is missing.
    folder : path
        Made if it does not exist. An older report in it is replaced after the new one is written.
    formats : mapping of str to callable, default=FORMATS
        Maps the name of each file to a function of the summary and the results that returns its
        text.

    Returns
    -------
    list of Path
        ``report.html``, ``tables.md``, ``tables.tex``, ``results.csv`` (every unit) and
        ``summary.json``, or what ``formats`` names.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed; then nothing is written.
    OutputError
        If a file cannot be written; then an older report is unchanged.
    """
    summary = summarize_study(results)
    texts = {name: render(summary, results) for name, render in formats.items()}
    write_texts(folder, texts)
    return [Path(folder) / name for name in texts]


def render_report(results: StudyResults) -> str:
    """Render a study as one HTML page without external files.

    Parameters
    ----------
    results : StudyResults
        May be incomplete; the page lists what is missing.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed.
    """
    return FORMATS["report.html"](summarize_study(results), results)
