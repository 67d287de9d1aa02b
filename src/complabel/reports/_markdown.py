"""The report's tables as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from complabel.reports import _notes
from complabel.reports._tables import (
    cost_tables,
    criterion_tables,
    rank_tables,
    standing_tables,
)
from complabel.reports._terms import Record, mark_of, number, p_value, quantity, signed

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>&|#~$])")


def markdown_tables(summary: Record) -> str:
    """Write a study's tables as Markdown.

    Parameters
    ----------
    summary : dict
        From :func:`summarize_study`.

    Returns
    -------
    str
        Tables of criteria, of wins, ties and losses, of average ranks and of cost.
    """
    lines = [f"# {escape(summary['study']['title'])}", ""]
    if summary["study"]["description"]:
        lines += [escape(summary["study"]["description"]), ""]
    lines += [f"- {escape(note)}" for note in _notes.missing_notes(summary)]
    lines += [""] if summary["missing"] or summary["incomplete"] else []
    notes = (_notes.method_note, _notes.mark_note, _notes.published_note, _notes.dagger_note)
    lines += [line for note in notes if note(summary) for line in (escape(note(summary)), "")]
    for criterion in criterion_tables(summary):
        lines += _criterion(criterion, summary)
    for standing in standing_tables(summary):
        lines += _standing(standing, summary)
    for ranks in rank_tables(summary):
        lines += _ranks(ranks)
    for cost in cost_tables(summary):
        lines += _costs(cost)
    return "\n".join(lines)


def escape(text: str) -> str:
    """Write text so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", text.replace("\n", " "))


def _table(heading: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a heading and a table; cells are Markdown already."""
    return [
        f"## {heading}",
        "",
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def _criterion(table: Record, summary: Record) -> list[str]:
    """Write a criterion under one draw."""
    better = "higher" if table["higher"] else "lower"
    return _table(
        f"{table['title']}, {escape(table['draw'])} labels ({better} is better)",
        ["method", *map(escape, table["datasets"])],
        (
            [
                escape(row["title"]),
                *(_cell(cell, summary["study"]["folds"]) for cell in row["cells"]),
            ]
            for row in table["rows"]
        ),
    )


def _cell(cell: Record | None, folds: int) -> str:
    """Write a cell, the published one below ours."""
    if cell is None:
        return "n/a"
    ours = f"**{number(cell['mean'])}**" if cell["best"] else number(cell["mean"])
    if cell["std"] is not None:
        ours += f"±{number(cell['std'])}"
    ours += f" {mark}" if (mark := mark_of(cell)) else ""
    if not cell["complete"]:
        ours += f" [{cell['folds']}/{folds} folds]"
    if cell["published"] is None:
        return ours
    printed = cell["published"]
    theirs = f"({number(printed['mean'])}±{number(printed['std'])})"
    return f"{ours}<br>{theirs} {signed(cell['advantage'])}"


def _standing(table: Record, summary: Record) -> list[str]:
    """Write wins, ties and losses of the reference row."""
    return _table(
        f"{escape(summary['study']['reference'])} against each row, {escape(table['draw'])} labels:"
        " win/tie/loss",
        ["method", "paired t-test", "corrected t-test", "cells"],
        (
            [
                escape(row["title"]),
                *("/".join(map(str, row[test].values())) for test in ("plain", "corrected")),
                str(row["cells"]),
            ]
            for row in table["rows"]
        ),
    )


def _ranks(table: Record) -> list[str]:
    """Write average ranks."""
    rows = [
        [
            escape(row["title"]),
            *(
                f"**{rank:.2f}**" if best else f"{rank:.2f}"
                for rank, best in zip(row["ranks"], row["best"], strict=True)
            ),
        ]
        for row in table["rows"]
    ]
    friedman = ["Friedman's p", *("n/a" if p is None else p_value(p) for p in table["friedman"])]
    return [
        *_table(
            f"Average ranks, {escape(table['draw'])} labels",
            ["method", *table["metrics"]],
            [*rows, [escape(text) for text in friedman]],
        ),
        *(escape(note) for note in _notes.rank_notes(table)),
        "",
    ]


def _costs(table: Record) -> list[str]:
    """Write time and memory."""
    return _table(
        f"Cost of a fold, {escape(table['draw'])} labels:"
        " seconds to fit / seconds to predict / peak MB",
        ["method", *map(escape, table["datasets"])],
        (
            [
                escape(row["title"]),
                *(
                    " / ".join(
                        quantity(cell[name])
                        for name in ("fit_seconds", "predict_seconds", "peak_memory_mb")
                    )
                    if cell
                    else "n/a"
                    for cell in row["cells"]
                ),
            ]
            for row in table["rows"]
        ),
    )
