"""The forms of a study's report, as texts of files."""

from __future__ import annotations

import contextlib
import csv
import errno
import html
import io
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from complabel import __version__
from complabel._writing import explained, replacing
from complabel.experiments.reports._asking import asked_points, tickings
from complabel.experiments.reports._libraries import refuse_without_libraries
from complabel.experiments.reports._sections import Table, headline, notes_on_gaps, sections
from complabel.experiments.reports._summary import Summary, summarize_study
from complabel.experiments.studies import StudyResults
from complabel.reports import MINUS, environment_of

Renderer: TypeAlias = Callable[[Summary, StudyResults], str]
"""Returns the text of one form, from the summary and the results."""

_GAP = "n/a"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>&|#~$])")
_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)
# Signs of our own, which pdflatex does not know; what pandas has escaped stays as it is.
_SIGNS = str.maketrans(
    {
        "▼": r"$\bigtriangledown$",
        "▲": r"$\bigtriangleup$",
        "±": r"$\pm$",
        "×": r"$\times$",  # noqa: RUF001
        "†": r"\textsuperscript{$\dagger$}",
        MINUS: r"$-$",
    }
)


def results_csv(results: StudyResults) -> str:
    """Return a CSV text with a line for every unit; mappings are JSON, and NaN is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, results.columns, lineterminator="\n")
    writer.writeheader()
    for line in results.lines():
        writer.writerow({name: "" if value != value else value for name, value in line.items()})
    return text.getvalue()


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
        If a library of the extra "study" is not installed.
    """
    return FORMATS["report.html"](summarize_study(results), results)


def _page(summary: Summary, _: StudyResults) -> str:
    template = environment_of(__package__, escapes_html=True).get_template("report.html.j2")
    failed = [unit for unit in summary.units if unit.status == "failed"]
    return template.render(
        complabel=__version__,
        plan=summary.plan,
        headline=headline(summary),
        gaps=notes_on_gaps(summary),
        failed=failed,
        sections=sections(summary),
        as_html=_as_html,
    )


def _as_html(table: Table) -> str:
    """Return a table as HTML; all texts in it are escaped here."""

    def cell(text: Any, *, best: bool = False) -> str:
        written = html.escape(_GAP if text != text else str(text)).replace("\n", "<br>")
        return f"<b>{written}</b>" if best else written

    bold = table.cells.map(lambda text: cell(text, best=True))
    shown = table.cells.map(cell).mask(table.best, bold).rename(index=cell, columns=cell)
    text: str = shown.to_html(escape=False, border=0, justify="unset")
    text = text.replace(' style="text-align: unset;"', "").replace("<th>", '<th scope="row">')
    head, body, rest = text.partition("</thead>")
    head = head.replace('scope="row"', 'scope="col"').replace('<th scope="col"></th>', "<td></td>")
    head = head.replace("<thead>", f"<caption>{html.escape(table.caption)}</caption>\n<thead>")
    return head + body + rest


def _as_markdown(summary: Summary, _: StudyResults) -> str:
    def cell(text: Any) -> str:
        written = _MARKDOWN.sub(r"\\\1", _GAP if text != text else str(text))
        return written.replace("\n", "<br>")

    parts = [f"# {cell(summary.plan.title)}", cell(headline(summary))]
    parts += map(cell, filter(None, [summary.plan.description, *notes_on_gaps(summary)]))
    for section in sections(summary):
        if not (section.tables or section.notes):
            continue
        parts += [f"## {section.title}", *map(cell, section.notes)]
        for table in section.tables:
            shown = table.cells.map(cell)
            shown = shown.mask(table.best, shown.map(lambda text: f"**{text}**"))
            lines = [["", *map(cell, shown.columns)], ["---"] * (shown.shape[1] + 1)]
            lines += [[cell(name), *line] for name, *line in shown.itertuples()]
            written = "\n".join(f"| {' | '.join(line)} |" for line in lines)
            parts += [f"### {cell(table.caption)}", written]
    return "\n\n".join(parts) + "\n"


def _as_latex(summary: Summary, _: StudyResults) -> str:
    """Return the tables for LaTeX with booktabs; the texts stand in comments."""
    texts = [summary.plan.title, headline(summary), *notes_on_gaps(summary)]
    parts = ["% " + " ".join(text.split()) for text in texts]
    for section in sections(summary):
        if section.tables:
            parts += ["% " + " ".join(note.split()) for note in section.notes]
        for table in section.tables:
            style = table.cells.fillna(_GAP).style.format(escape="latex")
            for axis in ("index", "columns"):
                style = style.format_index(escape="latex", axis=axis)
            bold = table.best.map({True: "textbf:--rwrap;", False: ""}.get)
            style = style.apply(lambda _, bold=bold: bold, axis=None)
            caption = " ".join(table.caption.split()).translate(_LATEX)
            written = style.to_latex(hrules=True, position_float="centering", caption=caption)
            parts.append(written.translate(_SIGNS))
    return "\n".join(parts) + "\n"


def _as_json(summary: Summary, _: StudyResults) -> str:
    """Return the plan, cells, ranks and costs as JSON, with null for what is unknown."""
    rankings = [
        {
            "draw": ranking.draw,
            "metric": ranking.metric,
            "ranks": ranking.ranks.to_dict(),
            "datasets": ranking.datasets,
            "friedman": ranking.friedman,
            "nemenyi": None if ranking.nemenyi is None else ranking.nemenyi.to_dict(),
            "reason": ranking.reason,
        }
        for ranking in summary.rankings
    ]
    frames = {"cells": summary.cells, "costs": summary.costs.reset_index()}
    records = {name: json.loads(each.to_json(orient="records")) for name, each in frames.items()}
    content = {
        "complabel": __version__,
        "study": summary.plan.model_dump(mode="json"),
        "missing": summary.missing,
        "rankings": rankings,
        "answers": asked_points(summary).to_dict("records"),
        "ticking": [asdict(ticking) for ticking in tickings(summary)],
        **records,
    }
    return json.dumps(content, indent=1) + "\n"


FORMATS: Final[Mapping[str, Renderer]] = MappingProxyType(
    {
        "report.html": _page,
        "tables.md": _as_markdown,
        "tables.tex": _as_latex,
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
        If a library of the extra "study" is not installed; then nothing is written.
    OutputError
        If a file cannot be written; then an older report is unchanged.
    """
    refuse_without_libraries()
    summary = summarize_study(results)
    texts = {name: render(summary, results) for name, render in formats.items()}
    _write_texts(Path(folder), texts)
    return [Path(folder) / name for name in texts]


def _write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write text files into a folder: all of them, or none.

    All files get the same time, which tells later that none was changed.
    """
    now = time.time_ns()
    with explained(folder):
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with contextlib.ExitStack() as files:
                for name, text in texts.items():
                    if (folder / name).is_dir():  # must fail before the first file is replaced
                        raise IsADirectoryError(errno.EISDIR, f"{name} is a folder")
                    partial = files.enter_context(replacing(folder / name))
                    partial.write_text(text, encoding="utf-8")
                    os.utime(partial, ns=(now, now))
        except BaseException:
            for path in made:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise
