"""Datasets of ARFF files whose attributes are numbers or 0/1, dense or sparse."""

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.datasets._arff_rows import WORDS, Attribute, parse_rows
from complabel.datasets._dataset import Features, MultiLabelDataset
from complabel.datasets._paths import is_file
from complabel.datasets._reading import (
    MAX_UNPACKED,
    at_line,
    decode,
    numbered_lines,
    read_plain,
    read_zipped,
)
from complabel.errors import DatasetFormatError, DatasetNotFoundError

_QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_NUMERIC = {"numeric", "real", "integer"}
_BINARY = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}
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
    relation, attributes = _parse_header(source, text, data.start())
    lines = numbered_lines(text, data.end(), len(text))
    rows = [(number, line) for number, line in lines if line[0] != "%"]
    if not rows:
        raise DatasetFormatError(f"{source}: no rows after @data; the file seems cut off")
    return ArffTable(
        source=source,
        relation=relation,
        names=tuple(attribute.name for attribute in attributes),
        binary=np.array([attribute.binary for attribute in attributes]),
        values=parse_rows(source, rows, attributes),
    )


def build_dataset(
    tables: Sequence[ArffTable], label_columns: NDArray[np.intp], name: str
) -> MultiLabelDataset:
    """Put the parts of a dataset below each other, and split off the columns that are labels."""
    first = tables[0]
    for other in tables[1:]:
        if other.names != first.names:
            raise DatasetFormatError(
                f"{other.source}: its attributes differ from those of {first.source}; "
                "only parts of one dataset can be joined"
            )
    feature_columns = np.setdiff1d(np.arange(len(first.names)), label_columns)
    if not feature_columns.size:
        raise DatasetFormatError(
            f"{first.source}: all {len(first.names)} attributes are labels, so that none is left "
            "as a feature; check which attributes are the labels"
        )
    parts = [table.values[:, feature_columns] for table in tables]
    dense = [part for part in parts if isinstance(part, np.ndarray)]
    X: Features
    if len(dense) == len(parts):
        X = np.ascontiguousarray(np.concatenate(dense))
    else:
        X = sparse.csr_array(sparse.vstack([sparse.csr_array(part) for part in parts]))
    return MultiLabelDataset(
        name=name,
        X=X,
        Y=np.concatenate([_labels(table, label_columns) for table in tables]),
        label_names=tuple(first.names[i] for i in label_columns),
        feature_names=tuple(first.names[i] for i in feature_columns),
    )


def _read_bytes(path: Path, member: str | None, limit: int) -> tuple[str, bytes]:
    """Return what to call the file in messages, and what it holds."""
    if not is_file(path):
        raise DatasetNotFoundError(f"{path}: no such file; check the path of the ARFF file")
    if zipfile.is_zipfile(path):
        found = read_zipped(path, lambda names: [_choose(path, names, member)], limit)
        ((inside, raw),) = found.items()
        return f"{path}!{inside}", raw
    if path.suffix.lower() == ".zip":
        raise DatasetFormatError(f"{path}: not a zip archive, though so named; download it again")
    return str(path), read_plain(path)


def _choose(path: Path, names: list[str], member: str | None) -> str:
    """Pick the ARFF file of a .zip; macOS adds one beside each, of its own name or folder."""
    if member is not None:
        if member not in names:
            raise DatasetNotFoundError(f"{path}: holds no {member!r}; it holds {sorted(names)}")
        return member
    macos = re.compile(r"__MACOSX/|(?:.*/)?\._", re.DOTALL)
    found = [name for name in names if name.lower().endswith(".arff") and not macos.match(name)]
    if len(found) != 1:
        raise DatasetNotFoundError(
            f"{path}: holds {len(found)} ARFF files {sorted(found)}; "
            "name the wanted one with member=..."
        )
    return found[0]


def _parse_header(source: str, text: str, stop: int) -> tuple[str, list[Attribute]]:
    """Return the relation's text and the attributes, which stand in text[:stop]."""
    relation = ""
    attributes: list[Attribute] = []
    for number, line in numbered_lines(text, 0, stop):
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            relation = line[len(keyword) :].strip()
        elif not line.startswith("%"):
            with at_line(source, number):
                attributes.append(_parse_attribute(line, keyword))
    if not attributes:
        raise DatasetFormatError(f"{source}: no @attribute before @data; the file is no ARFF table")
    return relation, attributes


def _parse_attribute(line: str, keyword: str) -> Attribute:
    """Read one @attribute line."""
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        wanted = "@attribute <name> <type>"
        if keyword != "@attribute":
            wanted = "@relation, @attribute or @data"
        raise DatasetFormatError(f"found {line[:60]!r}, expected {wanted}")
    name, kind = _unquote(found[1]), found[2].strip()
    if kind.lower() in _NUMERIC:
        return Attribute(name)
    if not (kind.startswith("{") and kind.endswith("}")):
        raise DatasetFormatError(
            f"attribute {name!r} is of type {kind[:40]!r}; only numeric attributes and {{0,1}} can "
            "be used: remove or encode it"
        )
    declared = [_unquote(value.strip()).upper() for value in kind[1:-1].split(",")]
    for meaning in (_BINARY, WORDS):
        if all(value in meaning for value in declared):
            return Attribute(name, True, meaning is WORDS, meaning[declared[0]] == 1)
    raise DatasetFormatError(
        f"attribute {name!r} has the values {kind[:60]}; of nominal attributes only {{0,1}} and "
        "{FALSE,TRUE} can be used: encode it as 0/1 columns"
    )


def _unquote(text: str) -> str:
    """Strip the quotes round a name and undo its backslashes."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _labels(table: ArffTable, columns: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return the label columns as an indicator matrix (n, K)."""
    labels = table.values[:, columns]
    values = labels if isinstance(labels, np.ndarray) else labels.data
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise DatasetFormatError(
            f"{table.source}: found {values[wrong][0]:g} in a label column, expected 0 or 1; "
            "check which attributes are the labels"
        )
    indicator = labels.astype(np.uint8)
    return indicator if isinstance(indicator, np.ndarray) else indicator.toarray()
