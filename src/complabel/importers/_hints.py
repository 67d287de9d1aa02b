"""What to do with a file that no format recognizes, by what it looks like."""

from __future__ import annotations

import re

from complabel._settings import setting
from complabel.files import meaning_of
from complabel.importers._format import Head, shown, some

_TABLE = (
    "Make a table of it with the columns item, label and answer: a row with yes for each label that"
    " applies to an item, and one with no for each that somebody looked for and did not find."
)
# A tool, what all its files have (fields, columns or tags), and what becomes item and label.
_TOOLS = (
    ("CVAT", {"<annotations"}, "item is the name of an image, label each label in it"),
    ("Pascal VOC", {"<annotation"}, "item is filename, label the name of each object"),
    ("LabelMe", {"shapes", "imagePath"}, "item is imagePath, label each label in shapes"),
    ("Datumaro", {"categories", "items"}, "item is the id in items, label named by label_id"),
    ("spaCy", {"cats"}, "item is the text or its id, label each key of cats (1 is yes, 0 no)"),
    ("spaCy", {"paragraphs"}, "item is the id, label each label in cats (1 is yes, 0 no)"),
    ("doccano", {"text", "label"}, "item is the text, label each entry of label"),
    ("Zooniverse", {"classification_id", "subject_ids"}, "item is one of subject_ids, label each"
     " value in annotations"),
)  # fmt: skip
_MOST = 8  # columns in a message


def hint(head: Head) -> str:
    """Return sentences on what the file looks like, and how it becomes a table of answers."""
    keys, columns = head.keys()[1], [name for name in head.columns() if name.strip()]
    is_xml = head.start.lstrip()[:1] == b"<"
    tags = re.findall(r"<\w+", head.start[:4096].decode("utf-8", "replace")) if is_xml else ()
    for tool, has, fields in _TOOLS:
        if has <= {*keys, *columns, *tags}:
            return f"it looks like a file of {tool}. {_TABLE} There, {fields}."
    return _TABLE if keys or is_xml or len(columns) < 2 else _of_columns(columns, head.rows()[1:])


def _of_columns(columns: list[str], rows: list[list[str]]) -> str:
    """Return what the columns of a CSV file may be, and the options that say so."""
    item = "item" if "item" in columns else columns[0]
    others = [shown(name) for name in columns if name != item and meaning_of(name) is None]
    cells = {shown(cell): 0 for row in rows for cell in row[columns.index(item) + 1 :] if cell}
    of = "" if item == "item" else f"{setting('item')} {shown(item)} "
    present = [f"{setting('present')} {name}" for name in others]
    present = present if len(others) <= _MOST else [f"{setting('present')} COLUMN for each"]
    return (
        f"what are its columns after {shown(item)}? They are called {some(others)}, with cells such"
        f" as {some(cells)}. If they are people, who wrote labels that apply into the cells, give"
        f" {setting('format')} columns {of}{' '.join(present)} ({setting('absent')} for labels that"
        f" do not apply). If they are labels, and the cells hold codes, give {setting('format')}"
        f" coded {of}{setting('yes')} CODE {setting('no')} CODE. If a row is one answer, give"
        f" {setting('format')} table, and {setting('column')} for each column that is called"
        " otherwise than in a table of answers, such as annotator=worker or label=tag."
    )
