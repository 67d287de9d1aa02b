"""Reads ARFF tables whose attributes are numbers or 0/1, dense or sparse."""

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from complabel.datasets._arff_header import parse_header
from complabel.datasets._arff_rows import DataLines, parse_dense, parse_sparse
from complabel.datasets._dataset import Features
from complabel.datasets._paths import is_file
from complabel.datasets._text import decode, numbered_lines
from complabel.datasets._unpack import MAX_UNPACKED, read_member, read_plain
from complabel.errors import DatasetFormatError, DatasetNotFoundError

_DATA = re.compile(r"^[ \t]*@data\b[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, eq=False)
class ArffTable:
    """One ARFF file: ``values`` has one column per attribute; ``binary``: declared as 0/1."""

    source: str
    relation: str
    names: tuple[str, ...]
    binary: NDArray[np.bool_]
    values: Features


def read_arff(
    path: Path,
    *,
    member: str | None = None,
    encoding: str | None = None,
    max_unpacked: int = MAX_UNPACKED,
) -> ArffTable:
    """Read a plain or zipped ARFF file; sparse rows become CSR without passing through dense.

    ``encoding`` is what a file that is no UTF-8 is tried with, before Latin-1.
    """
    source, raw = _read_bytes(path, member, max_unpacked)
    text = decode(raw, encoding)
    del raw  # as large as the text
    data = _DATA.search(text)
    if data is None:
        raise DatasetFormatError(f"{source}: no @data line; an ARFF file needs one before its rows")
    relation, attributes = parse_header(source, text, data.start())
    rows = _data_lines(source, text, data.end(), text.count("\n", 0, data.start()) + 2)
    del text
    parse = parse_sparse if rows.lines[0].startswith("{") else parse_dense
    return ArffTable(
        source=source,
        relation=relation,
        names=tuple(attribute.name for attribute in attributes),
        binary=np.array([attribute.binary for attribute in attributes]),
        values=parse(rows, attributes),
    )


def _read_bytes(path: Path, member: str | None, max_unpacked: int) -> tuple[str, bytes]:
    """Return what to call the file in messages, and what it holds."""
    if not is_file(path):
        raise DatasetNotFoundError(f"{path}: no such file; check the path of the ARFF file")
    if zipfile.is_zipfile(path):
        return read_member(path, member, max_unpacked)
    if path.suffix.lower() == ".zip":
        raise DatasetFormatError(f"{path}: not a zip archive, though so named; download it again")
    return str(path), read_plain(path)


def _data_lines(source: str, text: str, start: int, first_line: int) -> DataLines:
    """Drop blank lines and comments, keeping the line numbers of the rest."""
    lines: list[str] = []
    numbers: list[int] = []
    for number, line in numbered_lines(text, start, len(text), first_line):
        if line[0] != "%":
            lines.append(line)
            numbers.append(number)
    if not lines:
        raise DatasetFormatError(f"{source}: no rows after @data; the file seems cut off")
    return DataLines(source, lines, np.array(numbers, dtype=np.intp))
