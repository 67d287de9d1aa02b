"""`complabel import`: answers of other tools, as one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from complabel.cli import _options as options
from complabel.cli._console import remark, save, say
from complabel.cli._help import with_examples
from complabel.cli._next import command
from complabel.cli._working import working
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.importers import Tally

# Of complabel.importers, which would load NumPy for a help text; a test compares.
NAMES = (
    *("label-studio", "prodigy", "argilla", "lvis", "open-images"),
    *("coded", "pml", "openmic", "replies", "table"),
)


@with_examples(
    "import export.json --absent not_this --out answers.csv",
    "import lvis_val.json --out answers.parquet --labels-out labels.txt",
    "import labels.csv --from coded --yes 1 --no 0 --unsure -1 --out answers.csv",
)
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What a tool wrote.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Write here: .csv, .csv.gz or .parquet.")
    ],
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            autocompletion=lambda incomplete: [n for n in NAMES if n.startswith(incomplete)],
            help=f"{', '.join(NAMES)}. [default: what the file looks like]",
        ),
    ] = None,
    absent: Annotated[
        list[str] | None,
        typer.Option(metavar="CONTROL", help="What is chosen in this control does not apply."),
    ] = None,
    present: Annotated[
        list[str] | None,
        typer.Option(metavar="CONTROL", help="What is chosen in this control applies."),
    ] = None,
    item: Annotated[
        str | None, typer.Option(metavar="FIELD", help="The field that names the item.")
    ] = None,
    yes: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help='Codes for "applies". [default: 1]')
    ] = None,
    no: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help='Codes for "does not apply". [default: 0]'),
    ] = None,
    unsure: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help='Codes for "unsure".')
    ] = None,
    unselected: Annotated[
        str,
        typer.Option(
            metavar="unknown|no", help="What labels say that were shown and not chosen, if open."
        ),
    ] = "unknown",
    random_questions: Annotated[
        bool,
        typer.Option(
            "--random-questions", help="Each question was about a random label of a random item."
        ),
    ] = False,
    label_names: Annotated[
        Path | None, typer.Option(metavar="FILE", help="All labels, one on each line.")
    ] = None,
    class_names: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A CSV of codes and names, if labels are codes."),
    ] = None,
    labels_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the names of all labels here, for --label-names of other commands.",
        ),
    ] = None,
) -> None:
    """Read answers of an annotation tool or a public dataset into one table of answers.

    Nothing is dropped that contradicts something else: fit and inspect say what becomes of it.
    """
    from complabel.importers import Options, import_file
    from complabel.tables import read_label_names

    options.check_folder(out, "--out")
    options.check_folder(labels_out, "--labels-out")
    told = Options(
        absent=tuple(absent or ()),
        present=tuple(present or ()),
        item=item,
        yes=tuple(yes or Options.yes),
        no=tuple(no or Options.no),
        unsure=tuple(unsure or ()),
        unselected=unselected,
        random_questions=random_questions,
        label_names=None if label_names is None else read_label_names(label_names),
        class_names=class_names,
    )
    with working(f"reading {file}") as far:
        tally = import_file(
            file, out, format=from_, options=told, progress=lambda n_rows: far(f"{n_rows:,} rows")
        )
    _show(file, tally)
    say(f"wrote {out}")
    names = told.label_names or tuple(tally.label_names)
    if labels_out is not None:
        names = names or _mentioned(out)
        if any(len(name.splitlines()) != 1 for name in names):
            raise InputError(f"{labels_out}: the name of a label has no line or several; rename it")
        save(labels_out, "".join(f"{name}\n" for name in names))
    elif label_names is None and names and len(names) > tally.counts["labels"]:
        remark(
            f"note: the file lists {len(names):,} labels, and answers mention"
            f" {tally.counts['labels']:,} of them; --labels-out labels.txt keeps the names of all",
            style="yellow",
        )
    say(f"next: {command('inspect', out, label_names=labels_out or label_names)}")


def _mentioned(path: Path) -> tuple[str, ...]:
    """Return the labels that a table of answers mentions."""
    from complabel.cli._own_data import read_quietly

    return read_quietly(path).answers.label_names or ()


def _show(file: Path, tally: Tally) -> None:
    """Print what became of everything in the file, and what was assumed."""
    counts = {what: f"{count:,}" for what, count in tally.counts.items() if count}
    widest = max(map(len, counts.values()), default=0)
    say(f"{file}:")
    for what, count in counts.items():
        say(f"  {count:>{widest}}  {what}")
    for text in tally.remarks:
        remark(f"note: {text}", style="yellow")
