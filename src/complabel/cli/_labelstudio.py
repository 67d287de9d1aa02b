"""`complabel labelstudio-config`: write a labelling configuration."""

from __future__ import annotations

from pathlib import Path

from complabel.cli import _options as options
from complabel.cli._console import command, remark, save, say
from complabel.cli._options import argument, option, target


@options.with_examples(
    "labelstudio-config labels.txt --out config.xml",
    "labelstudio-config --question asked --show text",
    "labelstudio-config --question ticked --out config.xml",
)
def labelstudio_config(
    labels: Path | None = argument(
        "LABELS",
        "File with all labels, one on each line; none for asked, and for tasks of complabel ask,"
        " which have their own menus.",
        default=None,
    ),
    question: str = option(
        "named|ticked|both|asked",
        "What to ask. named: one label that does not apply; without LABELS, one of the task's"
        " menu. ticked: all labels that do not apply; without LABELS, all labels of the task that"
        " apply. both: one label that does not apply, and some that do. asked: whether the label in"
        " the task applies.",
        default="named",
    ),
    show: str = option("image|text|url|audio", "Kind of the items.", default="image"),
    field: str | None = option(
        "FIELD", "Field of a task that holds the item. [default: as --show]"
    ),
    out: Path | None = target("Write to this file. [default: print to the terminal]"),
) -> None:
    """Write a Label Studio configuration that asks for labels that do not apply."""
    from complabel.files import read_label_names
    from complabel.importers import label_studio_config

    names = () if labels is None else read_label_names(labels)
    text = label_studio_config(names, question=question, show=show, field=field)
    if out is None:
        say(text)
    else:
        save(out, text + "\n")
    # On standard error: standard output is the configuration, perhaps redirected to a file.
    remark("next: in Label Studio, paste it at Settings > Labeling Interface > Code. Then export")
    remark("the answers as JSON, and read them with")
    told = {
        "named": {"absent": "not_this"},
        "ticked": {"absent": "not_this", "question": "ticked"},
        "both": {"absent": "not_this", "present": "this"},
    }
    options_ = told.get(question, {}) if names else {}  # questions of ask say it themselves
    remark(f"  {command('import', 'export.json', **options_, out='answers.csv')}")
