"""Reads ARFF tables whose attributes are numbers or 0/1, dense or sparse."""

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from complabel.datasets._arff_header import parse_header
from complabel.datasets._arff_rows import DataLines, parse_dense, parse_sparse
from complabel.datasets._dataset import Features
from complabel.errors import DatasetFormatError, DatasetNotFoundError

_DATA = re.compile(r"^[ \t]*@data\b[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, eq=False)
class ArffTable:
    """One ARFF file: `values` has one column per attribute."""

    source: str
    relation: str
    names: tuple[str, ...]
    values: Features


def read_arff(path: Path, *, member: str | None = None) -> ArffTable:
    """Read a plain or zipped ARFF file; sparse rows become CSR without passing through dense."""
    source, text = _read_text(path, member)
    data = _DATA.search(text)
    if data is None:
        raise DatasetFormatError(f"{source}: no @data line; an ARFF file needs one before its rows")
    header = text[: data.start()]
    relation, attributes = parse_header(source, header)
    rows = _data_lines(source, text[data.end() :], first_line=header.count("\n") + 2)
    parse = parse_sparse if rows.lines[0].startswith("{") else parse_dense
    names = tuple(attribute.name for attribute in attributes)
    return ArffTable(source, relation, names, parse(rows, attributes))


def _read_text(path: Path, member: str | None) -> tuple[str, str]:
    """Return what to call the file in messages, and its text with Unix line ends."""
    if not path.is_file():
        raise DatasetNotFoundError(f"{path}: no such file; check the path of the ARFF file")
    source = str(path)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            inside = _choose_member(source, archive.namelist(), member)
            source, raw = f"{path}!{inside}", archive.read(inside)
    elif path.suffix.lower() == ".zip":
        raise DatasetFormatError(f"{path}: not a zip archive, though so named; download it again")
    else:
        raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Older benchmark files name labels in Latin-1, which decodes any byte.
        text = raw.decode("latin-1")
    return source, text.replace("\r\n", "\n").replace("\r", "\n")


def _choose_member(source: str, names: list[str], member: str | None) -> str:
    """Pick the ARFF file inside a zip archive."""
    if member is not None:
        if member not in names:
            raise DatasetNotFoundError(f"{source}: holds no {member!r}; it holds {sorted(names)}")
        return member
    found = [name for name in names if name.lower().endswith(".arff")]
    if len(found) != 1:
        raise DatasetNotFoundError(
            f"{source}: holds {len(found)} ARFF files {sorted(found)}; "
            "name the wanted one with member=..."
        )
    return found[0]


def _data_lines(source: str, body: str, *, first_line: int) -> DataLines:
    """Drop blank lines and comments, keeping the line numbers of the rest."""
    stripped = [line.strip() for line in body.split("\n")]
    kept = [i for i, line in enumerate(stripped) if line and line[0] != "%"]
    if not kept:
        raise DatasetFormatError(f"{source}: no rows after @data; the file seems cut off")
    lines = [stripped[i] for i in kept]
    return DataLines(source, lines, np.array(kept, dtype=np.intp) + first_line)
