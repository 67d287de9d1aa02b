"""`complabel labelstudio-config`: a labelling configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from complabel.cli._console import save, say
from complabel.cli._help import with_examples


@with_examples(
    "labelstudio-config labels.txt > config.xml",
    "labelstudio-config --question asked --show text    # for the tasks of complabel ask",
)
def labelstudio_config(
    labels: Annotated[
        Path | None,
        typer.Argument(metavar="[LABELS]", help="A file with all labels, one on each line."),
    ] = None,
    question: Annotated[
        str,
        typer.Option(
            metavar="named|ticked|both|asked",
            help="named: one label that does not apply. ticked: all of them. both: one that does"
            " not, and some that do. asked: yes or no about the label of the task.",
        ),
    ] = "named",
    show: Annotated[str, typer.Option(metavar="image|text|audio")] = "image",
    field: Annotated[
        str | None, typer.Option(help="The field of a task that holds it. [default: its kind]")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="[default: the terminal]")
    ] = None,
) -> None:
    """Write the configuration with which Label Studio asks for labels that do not apply."""
    from complabel.importers import label_studio_config
    from complabel.tables import read_label_names

    names = () if labels is None else read_label_names(labels)
    text = label_studio_config(names, question=question, show=show, field=field)
    if out is None:
        say(text)
    else:
        save(out, text + "\n")
