"""The report's tables as LaTeX, for the package booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from complabel.reports import _notes
from complabel.reports._tables import criterion_tables, rank_tables, standing_tables
from complabel.reports._terms import Record, mark_of, number, p_value, signed

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "†": r"\textsuperscript{$\dagger$}",
        "±": r"$\pm$",
        "•": r"$\bullet$",
        "◦": r"$\circ$",
        "−": r"$-$",  # noqa: RUF001  # the minus sign of the notes
        "\n": " ",
    }
)


def latex_tables(summary: Record) -> str:
    r"""Write a study's tables as LaTeX.

    Parameters
    ----------
    summary : dict
        From :func:`summarize_study`.

    Returns
    -------
    str
        A ``table`` for each criterion, and for wins, ties and losses and for average ranks. The
        document needs ``\usepackage{booktabs}``.
    """
    notes = (_notes.method_note, _notes.mark_note, _notes.published_note, _notes.dagger_note)
    said = [*_notes.missing_notes(summary), *(note(summary) for note in notes)]
    lines = [f"% {' '.join(note.split())}" for note in (summary["study"]["title"], *said) if note]
    for criterion in criterion_tables(summary):
        lines += _criterion(criterion, summary)
    for standing in standing_tables(summary):
        lines += _standing(standing, summary)
    for ranks in rank_tables(summary):
        lines += _ranks(ranks)
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Write text so that LaTeX sets it as it is."""
    return text.translate(_SPECIAL)


def _table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table; cells and caption are LaTeX already."""
    return [
        "",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}",
        r"\toprule",
        rf"{' & '.join(columns)} \\",
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def _criterion(table: Record, summary: Record) -> list[str]:
    """Write a criterion under one draw."""
    better = "higher" if table["higher"] else "lower"
    rows: list[list[str]] = []
    for row in table["rows"]:
        rows.append(
            [
                escape(row["title"]),
                *(_ours(cell, summary["study"]["folds"]) for cell in row["cells"]),
            ]
        )
        if any(cell and cell["published"] for cell in row["cells"]):
            rows.append(["", *map(_published, row["cells"])])
    return _table(
        f"{escape(table['title'])}, {escape(table['draw'])} labels ({better} is better).",
        ["Method", *map(escape, table["datasets"])],
        rows,
    )


def _ours(cell: Record | None, folds: int) -> str:
    """Write our figure, and of how many folds where some are missing."""
    if cell is None:
        return "n/a"
    ours = rf"\textbf{{{number(cell['mean'])}}}" if cell["best"] else number(cell["mean"])
    if cell["std"] is not None:
        ours += rf"$\pm${number(cell['std'])}"
    if mark := mark_of(cell):
        ours += rf"\,{escape(mark)}"
    return ours if cell["complete"] else rf"{ours} [{cell['folds']}/{folds} folds]"


def _published(cell: Record | None) -> str:
    """Write the paper's figure and how much better ours is."""
    if not (cell and cell["published"]):
        return ""
    printed = cell["published"]
    return (
        rf"{{\scriptsize ({number(printed['mean'])}$\pm${number(printed['std'])})"
        rf" {escape(signed(cell['advantage']))}}}"
    )


def _standing(table: Record, summary: Record) -> list[str]:
    """Write wins, ties and losses of the reference row."""
    return _table(
        f"{escape(summary['study']['reference'])} against each row, {escape(table['draw'])} labels:"
        " win/tie/loss.",
        ["Method", "paired $t$-test", "corrected $t$-test"],
        (
            [
                escape(row["title"]),
                *("/".join(map(str, row[test].values())) for test in ("plain", "corrected")),
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
                rf"\textbf{{{rank:.2f}}}" if best else f"{rank:.2f}"
                for rank, best in zip(row["ranks"], row["best"], strict=True)
            ),
        ]
        for row in table["rows"]
    ]
    friedman = ["Friedman's $p$", *("n/a" if p is None else p_value(p) for p in table["friedman"])]
    said = escape(" ".join(_notes.rank_notes(table)))
    return _table(
        f"Average ranks, {escape(table['draw'])} labels. {said}",
        ["Method", *map(escape, table["metrics"])],
        [*rows, [text.replace("<", "$<$") for text in friedman]],
    )
