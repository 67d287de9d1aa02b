"""Files written by a test, and what an importer makes of them."""

import copy
import functools
import gzip
import json
import operator
import warnings

import pandas as pd
import pytest

from complabel.answers import Answers, UnlistedLabelsWarning
from complabel.errors import DatasetFormatError
from complabel.files import COLUMNS, CONFIDENCE
from complabel.importers import FORMATS, Head, Options, Tally, import_answers, import_file
from complabel.importers._judges import JUDGES

FORMAT = {each.name: each for each in FORMATS}


def write(folder, name, content):
    """Write bytes, text, what becomes JSON or JSON lines, or the files of a folder by name."""
    if name.endswith("/"):
        for each, text in content.items():
            path = folder / name / each
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder / name
    if not isinstance(content, bytes | str):
        if ".jsonl" in name:
            content = "".join(json.dumps(each) + "\n" for each in content)
        else:
            content = json.dumps(content, indent=1)
    if isinstance(content, str):
        content = content.encode()
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def changed(content, path, value):
    """A copy of a sample with one value replaced; ``path`` has the keys on the way to it."""
    made = copy.deepcopy(content)
    *way, last = path
    functools.reduce(operator.getitem, way, made)[last] = value
    return made


def filled_counts(tally):
    """The counts that are not zero."""
    return {word: count for word, count in tally.counts.items() if count}


def head(path):
    content = path.read_bytes()
    return Head(path, (gzip.decompress(content) if path.suffix == ".gz" else content)[: 2**16])


def read(name, path, **options):
    """Return the whole table, and the tally."""
    tally = Tally()
    table = {}
    n_rows = 0
    for piece in FORMAT[name].read(path, Options(**options), tally):
        assert set(piece) <= {*COLUMNS, CONFIDENCE}
        (length,) = {len(values) for values in piece.values()}
        assert 0 < length <= 100_000
        for column in {*piece, *table}:
            values = table.setdefault(column, [None] * n_rows)
            values.extend(piece.get(column, [None] * length))
        n_rows += length
    return table, tally


def short(table, *columns):
    """Return the rows, by some of their columns."""
    columns = columns or ("answer_id", "item", "label", "answer", "question")
    n_rows = len(table.get("item", ()))
    return list(zip(*(table.get(name, [None] * n_rows) for name in columns), strict=True))


def masks(table, labels):
    """Return the answers, with items in order, as lists of zeros and ones."""
    made = Answers.from_table(table, label_names=labels, contradictions="keep")
    names = ("named", "absent", "relevant", "offered")
    return made, {name: getattr(made, name).toarray().tolist() for name in names}


def imported(path, content, format_=None, **options):
    """Write a file, import it in both ways, and return its rows and the tally.

    A row is a dict of what is filled. Both ways must agree, and answers must come of the table.
    """
    if isinstance(content, str):
        content = content.encode()
    if content is not None:
        path.write_bytes(content)
    table, tally = import_answers(path, format=format_, options=Options(**options))
    assert [*table] == [*COLUMNS, *[CONFIDENCE] * (CONFIDENCE in table)]
    out = path.with_name("out.parquet")
    again = import_file(path, out, format=format_, options=Options(**options))
    assert (again.counts, again.remarks) == (tally.counts, tally.remarks)
    assert list(again.label_names) == list(tally.label_names)
    pd.testing.assert_frame_equal(table, pd.read_parquet(out), check_dtype=False)
    names = list(tally.label_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlistedLabelsWarning)
        answers = Answers.from_table(table, label_names=names or None, contradictions="keep")
    assert answers.n_items == table["item"].nunique()
    return [filled(row) for row in table.to_dict("records")], tally


# How many of the units of a file gave an answer, by the table alone.
UNITS = {
    "table": lambda table, tally: len(table),
    "open-images": lambda table, tally: len(table),
    "github-events": lambda table, tally: len(table),
    "lvis": lambda table, tally: table["item"].nunique(),
    **dict.fromkeys((each.name for each in JUDGES), lambda table, tally: len(table)),
}


def n_ids(table, tally):
    ids = table["answer_id"].astype(str).str.replace("-(asked|absent|present)$", "", regex=True)
    return ids.nunique()


def conserved(format_, table, tally):
    """Assert that what stands in a file is in the table, or is counted as left out."""
    unit, *left = format_.counts or ("",)
    if not unit:
        return
    if format_.name == "coded":  # rows may be about one item, so its cells are counted
        cells = tally.counts[unit] * len(tally.label_names)
        assert cells == len(table) + tally.counts["blank cells"], tally.counts
        return
    units = UNITS.get(format_.name, n_ids)(table, tally)
    assert tally.counts[unit] == units + sum(tally.counts[name] for name in left), tally.counts


def filled(row):
    return {name: value for name, value in row.items() if value is not None and value == value}


def refused(path, content, format_=None, error=DatasetFormatError, **options):
    """Write a file, and return what is said when it is refused, which must name the file."""
    if content is not None:
        path = write(path.parent, path.name, content)
    with pytest.raises(error) as caught:
        import_answers(path, format=format_, options=Options(**options))
    assert error is not DatasetFormatError or str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))
