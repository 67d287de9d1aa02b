"""`complabel inspect`: look at answers before anything is fitted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import output, save_json, say, working
from complabel.cli._options import argument, option, target
from complabel.errors import DatasetNotFoundError, InputError

if TYPE_CHECKING:
    from complabel.answers import Answers

_TABLES = (".csv", ".tsv", ".gz", ".parquet")
# Wider lines are hard to read.
_MOST_COLUMNS = 100


@options.with_examples(
    "inspect answers.csv",
    "inspect answers.csv answered-questions.csv --features X.csv --html page.html",
    "inspect mirflickr --data-dir DIR --json found.json",
)
def inspect(
    answers: list[str] = argument(
        "ANSWERS",
        "Tables of answers, as complabel import writes; or one dataset in which people"
        " ruled labels out, such as mirflickr.",
    ),
    features: Path | None = option("FILE", "Features of all items, with or without an answer."),
    items: Path | None = options.ITEMS,
    label_names: Path | None = options.LABEL_NAMES,
    question: str | None = options.QUESTION,
    html: Path | None = target("Also write a web page with charts to this file.", page=True),
    json_file: Path | None = options.JSON_FILE,
    data_dir: Path | None = options.DATA_DIR,
) -> None:
    """Check answers for gaps, contradictions and failed assumptions, and suggest what to ask next.

    Nothing is fitted, and no file is changed.
    """
    from complabel.asking import inspect_answers
    from complabel.reports import inspection_lines, write_inspection_page

    if items is not None and features is None:
        raise InputError(
            "--items is given without --features; it names the rows of the features, so give both"
            " or neither"
        )
    is_table = all(Path(name).suffix in _TABLES for name in answers)
    if is_table:
        found = None if features is None else own.read_own_features(features, items)
        tables = [Path(path) for path in answers]
        known = None if found is None else list(found.items)
        said = own.read_own_answers(tables, known, label_names, question, "keep", says=False)
        X = None if found is None else found.X
        given = {"--items": items, "--label-names": label_names, "--question": question}
        words = [*answers]
        for option, value in given.items():
            words += [] if value is None else [option, str(value)]
        source = shlex.join(words)
    else:
        said, X = _of_dataset(answers, features, label_names, data_dir)
        source = ""
    with working("looking at the answers"):
        inspection = inspect_answers(
            said,
            X,
            labels_listed=not is_table or label_names is not None,
            source=source,
            features="" if features is None else shlex.quote(str(features)),
        )
    for line in inspection_lines(inspection, min(output().width, _MOST_COLUMNS)):
        say(line)
    if html is not None:
        write_inspection_page(inspection, html)
        say(f"wrote {html}")
    save_json(json_file, inspection.as_json())


def _of_dataset(
    names: Sequence[str], features: Path | None, label_names: Path | None, data_dir: Path | None
) -> tuple[Answers, Any]:
    from complabel.answers import Answers
    from complabel.datasets import load_dataset, load_file

    if len(names) > 1 or features is not None or label_names is not None:
        raise InputError(
            f"{' '.join(names)}: give either tables of answers ({', '.join(_TABLES)}), or one"
            " dataset without --features and --label-names, which it has itself"
        )
    name = names[0]
    if not Path(name).exists() and (Path(name).suffix or Path(name).name != name):
        raise DatasetNotFoundError(f"{name}: no such file; check the path")
    data = load_file(name) if Path(name).is_file() else load_dataset(name, data_dir=data_dir)
    if data.excluded is None:
        raise InputError(
            f"{data.name} has no labels that people ruled out, so there are no answers to inspect;"
            " take mirflickr or yeastbp, or a file of yours with an array 'excluded'"
        )
    said = Answers.from_arrays(
        excluded=data.excluded, question="excluded", label_names=data.label_names
    )
    return said, data.X
