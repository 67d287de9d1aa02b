"""Files written by a test, and what an importer makes of them."""

import gzip
import json

from complabel.answers import Answers
from complabel.files import COLUMNS
from complabel.importers import FORMATS, Head, Options, Tally

FORMAT = {each.name: each for each in FORMATS}


def write(folder, name, content):
    """Write bytes, text, or what becomes JSON, or JSON lines if the name says so."""
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


def head(path):
    content = path.read_bytes()
    return Head(path, (gzip.decompress(content) if path.suffix == ".gz" else content)[: 2**16])


def read(name, path, **options):
    """Return the whole table, and the tally."""
    tally = Tally()
    table = {}
    n_rows = 0
    for piece in FORMAT[name].read(path, Options(**options), tally):
        assert set(piece) <= set(COLUMNS)
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
    made = Answers.from_table(table, labels=labels, contradictions="keep")
    names = ("named", "absent", "relevant", "offered")
    return made, {name: getattr(made, name).toarray().tolist() for name in names}
