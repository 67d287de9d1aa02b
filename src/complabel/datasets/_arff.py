"""Read ARFF files, dense or sparse, whose attributes are numbers or 0/1."""

import contextlib
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel._opening import existing, fault, read_bytes, read_members
from complabel.datasets._dataset import CSR, Features, MultiLabelDataset
from complabel.errors import DatasetFormatError, DatasetNotFoundError

_QUOTED_NAME = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED_NAME}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_NUMERIC = {"numeric", "real", "integer"}
_BINARY = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}
_DATA = re.compile(r"^[ \t]*@data\b[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)

WORDS = {"FALSE": 0, "TRUE": 1}
_QUOTED = re.compile(r"""(['"])([^'",\s]+)\1""")
# The numbers that NumPy's parser reads. float() also reads "1_0" and non-ASCII digits.
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE | re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.IGNORECASE)
_LINE = re.compile(r"[^\n]+")  # blank lines take no memory, as they would in a list of all lines


@dataclass(frozen=True)
class Attribute:
    """One column of an ARFF file; ``words``: its 0 and 1 are written FALSE and TRUE.

    ``omitted_means_one``: 1 is declared before 0, so sparse rows leave out ones, not zeros.
    """

    name: str
    binary: bool = False
    words: bool = False
    omitted_means_one: bool = False


@dataclass(frozen=True, eq=False)
class ArffTable:
    """One ARFF file: a column for each attribute; ``binary`` marks those declared as 0/1."""

    source: str
    relation: str
    names: tuple[str, ...]
    binary: NDArray[np.bool_]
    values: Features


def read_arff(path: Path, *, member: str | None = None, encoding: str | None = None) -> ArffTable:
    """Read a plain or zipped ARFF file; sparse rows become CSR without a dense array.

    A file that is not UTF-8 is read in ``encoding`` if given, else in Latin-1.
    """
    source = str(existing("path", path))
    if zipfile.is_zipfile(path):
        ((inside, raw),) = read_members(path, lambda names: [_choose(path, names, member)])
        source = f"{path}!{inside}"
    elif path.suffix.lower() == ".zip":
        raise fault(path, "not a zip archive, although its name ends in .zip; get it again")
    else:
        raw = read_bytes(path)
    text = _decode(raw, encoding)
    del raw  # frees as much memory as the text takes
    data = _DATA.search(text)
    if data is None:
        raise fault(source, "no @data line; an ARFF file needs one before its rows")
    relation, attributes = _parse_header(source, text, data.start())
    lines = _numbered_lines(text, data.end(), len(text))
    rows = [(number, line) for number, line in lines if line[0] != "%"]
    if not rows:
        raise fault(source, "no rows after @data; the file seems cut off")
    return ArffTable(
        source=source,
        relation=relation,
        names=tuple(attribute.name for attribute in attributes),
        binary=np.array([attribute.binary for attribute in attributes]),
        values=_parse_rows(source, rows, attributes),
    )


def build_dataset(
    tables: Sequence[ArffTable], label_columns: NDArray[np.intp], name: str
) -> MultiLabelDataset:
    first = tables[0]
    for other in tables[1:]:
        if other.names != first.names:
            raise fault(
                other.source,
                f"its attributes differ from those of {first.source}; "
                "only parts of one dataset can be joined",
            )
    feature_columns = np.setdiff1d(np.arange(len(first.names)), label_columns)
    if not feature_columns.size:
        raise fault(
            first.source,
            f"all {len(first.names)} attributes are labels, so none is left as a feature; "
            "check which attributes are the labels",
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


def _choose(path: Path, names: list[str], member: str | None) -> str:
    """Pick the ARFF file of a .zip, without the files that macOS adds (``__MACOSX/``, ``._*``)."""
    if member is not None:
        if member not in names:
            raise DatasetNotFoundError(
                f"{path}: holds no file {member!r}; it holds {sorted(names)}"
            )
        return member
    macos = re.compile(r"__MACOSX/|(?:.*/)?\._", re.DOTALL)
    found = [name for name in names if name.lower().endswith(".arff") and not macos.match(name)]
    if len(found) != 1:
        raise DatasetNotFoundError(
            f"{path}: holds {len(found)} ARFF files {sorted(found)}; choose one with member=..."
        )
    return found[0]


def _parse_header(source: str, text: str, stop: int) -> tuple[str, list[Attribute]]:
    relation = ""
    attributes: list[Attribute] = []
    for number, line in _numbered_lines(text, 0, stop):
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            relation = line[len(keyword) :].strip()
        elif not line.startswith("%"):
            with _at_line(source, number):
                attributes.append(_parse_attribute(line, keyword))
    if not attributes:
        raise fault(source, "no @attribute before @data; an ARFF file needs one for each column")
    return relation, attributes


def _parse_attribute(line: str, keyword: str) -> Attribute:
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
            f"attribute {name!r} has type {kind[:40]!r}; only numeric attributes and {{0,1}} can "
            "be used: remove or encode it"
        )
    declared = [_unquote(value.strip()).upper() for value in kind[1:-1].split(",")]
    for meaning in (_BINARY, WORDS):
        if all(value in meaning for value in declared):
            return Attribute(name, True, meaning is WORDS, meaning[declared[0]] == 1)
    raise DatasetFormatError(
        f"attribute {name!r} has the values {kind[:60]}; a nominal attribute can only be {{0,1}} "
        "or {FALSE,TRUE}: encode it as 0/1 columns"
    )


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _labels(table: ArffTable, columns: NDArray[np.intp]) -> NDArray[np.uint8]:
    labels = table.values[:, columns]
    values = labels if isinstance(labels, np.ndarray) else labels.data
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise fault(
            table.source,
            f"found {values[wrong][0]:g} in a label column, expected 0 or 1; "
            "check which attributes are the labels",
        )
    indicator = labels.astype(np.uint8)
    return indicator if isinstance(indicator, np.ndarray) else indicator.toarray()


def _parse_rows(
    source: str, numbered: Sequence[tuple[int, str]], attributes: Sequence[Attribute]
) -> Features:
    """Parse stripped rows, dense ``1,2`` or sparse ``{index value, ...}`` (all others are zero).

    If NumPy cannot read them, rows are looked at one by one: an error names the line, and quotes
    and words become plain numbers.
    """
    rows = [row for _, row in numbered]
    is_sparse = rows[0].startswith("{")
    one_first = [attribute.name for attribute in attributes if attribute.omitted_means_one]
    if is_sparse and one_first:
        raise fault(
            source,
            f"attribute {one_first[0]!r} declares 1 before 0, so a sparse row without it "
            "would mean 1; declare it as {0,1} or save the rows in dense form",
        )
    read = _sparse_values if is_sparse else _dense_values
    try:
        return read(rows, attributes)
    except ValueError:
        plain = _plain_sparse_row if is_sparse else _plain_row
        for at, (number, row) in enumerate(numbered):
            with _at_line(source, number):
                rows[at] = plain(row, attributes)
        return read(rows, attributes)


def _dense_values(rows: list[str], attributes: Sequence[Attribute]) -> NDArray[np.float64]:
    """Parse rows of numbers and declared words; a ValueError says only that some row is wrong."""
    words: dict[int | str, Callable[[str], float]] = {
        i: partial(_value, attribute=attribute)
        for i, attribute in enumerate(attributes)
        if attribute.words
    }
    values: NDArray[np.float64] = np.loadtxt(
        rows, delimiter=",", comments=None, converters=words or None, ndmin=2, encoding=None
    )
    if values.shape[1] != len(attributes):
        raise ValueError("another number of values than attributes")
    _refuse_others(values, np.array([attribute.binary for attribute in attributes]))
    return values


def _sparse_values(rows: list[str], attributes: Sequence[Attribute]) -> CSR:
    """Parse rows of plain numbers; a ValueError says only that some row is wrong."""
    if not all(row[0] == "{" and row[-1] == "}" for row in rows):
        raise ValueError("a row is not sparse")
    counts = [row.count(",") + 1 if row[1:-1].strip() else 0 for row in rows]
    inner = (row[1:-1] for row, count in zip(rows, counts, strict=True) if count)
    pairs = np.empty((0, 2))
    if any(counts):
        lines = (pair for row in inner for pair in row.split(","))
        pairs = np.loadtxt(lines, comments=None, ndmin=2, encoding=None)
    if pairs.shape != (sum(counts), 2):
        raise ValueError("a pair has no two numbers")
    index, values = pairs.T
    binary = np.array([attribute.binary for attribute in attributes])
    if not ((index >= 0) & (index < binary.size) & (index == np.floor(index))).all():
        raise ValueError("an index is none")
    _refuse_others(values, binary[index.astype(np.intp)])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    parts = (np.ascontiguousarray(values), index.astype(np.int32), starts)
    matrix: CSR = sparse.csr_array(parts, shape=(len(rows), binary.size))
    matrix.sort_indices()
    if not matrix.has_canonical_format:
        raise ValueError("an index is there twice")
    matrix.eliminate_zeros()
    return matrix


def _refuse_others(values: NDArray[np.float64], binary: NDArray[np.bool_]) -> None:
    """Refuse what is not finite, or neither 0 nor 1 where ``binary`` (last axis) is True."""
    marked = values[..., binary]
    if not (np.isfinite(values).all() and ((marked == 0) | (marked == 1)).all()):
        raise ValueError("a value is not allowed")


def _plain_row(row: str, attributes: Sequence[Attribute]) -> str:
    if row.startswith("{"):
        raise DatasetFormatError("found a sparse row, expected a dense one like the first row")
    texts = row.split(",")
    if len(texts) != len(attributes):
        raise DatasetFormatError(f"found {len(texts)} values, expected {len(attributes)}")
    return ",".join(map(repr, map(_value, texts, attributes)))


def _plain_sparse_row(row: str, attributes: Sequence[Attribute]) -> str:
    if row[0] != "{" or row[-1] != "}":
        raise DatasetFormatError(f"found {row[:60]!r}, expected {{index value, ...}}")
    found: dict[int, float] = {}
    for text in row[1:-1].split(",") if row[1:-1].strip() else []:
        pair = text.split()
        if len(pair) != 2:
            raise DatasetFormatError(f"found {_cut(text)!r}, expected 'index value'")
        given = _without_quotes(pair[0])
        digits = given.lstrip("0") or "0"
        # No file has 10**9 attributes, and int() refuses thousands of digits.
        sound = digits.isascii() and digits.isdecimal() and len(digits) <= 9
        if not sound or int(digits) >= len(attributes):
            raise DatasetFormatError(
                f"found index {_cut(given)}, expected 0 to {len(attributes) - 1}"
            )
        index = int(digits)
        if index in found:
            raise DatasetFormatError(
                f"found index {index} twice, expected each attribute at most once"
            )
        found[index] = _value(pair[1], attributes[index])
    return "{" + ",".join(f"{index} {value!r}" for index, value in found.items()) + "}"


def _value(text: str, attribute: Attribute) -> float:
    text = _without_quotes(text.strip())
    if attribute.words and text.upper() in WORDS:
        return WORDS[text.upper()]
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if math.isfinite(number) and (number in (0, 1) or not attribute.binary):
        return number
    wanted = "expected TRUE or FALSE" if attribute.words else "expected a number"
    if text == "?":
        wanted = "which is a missing value; impute it or drop the row first"
    elif math.isinf(number) or _NOT_FINITE.fullmatch(text):
        wanted = "expected a finite number"
    elif math.isfinite(number):
        wanted = "expected 0 or 1"
    raise DatasetFormatError(f"found {_cut(text)!r} for attribute {attribute.name!r}, {wanted}")


def _without_quotes(text: str) -> str:
    quoted = _QUOTED.fullmatch(text)
    return quoted[2] if quoted else text


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."


def _decode(raw: bytes, declared: str | None = None) -> str:
    """Decode UTF-8, else the ``declared`` encoding, else Latin-1, with the line ends of Unix.

    Older benchmark files have label names in Latin-1, which can decode any byte.
    """
    text = None
    for encoding in ("utf-8-sig", declared or "latin-1"):
        with contextlib.suppress(LookupError, ValueError):
            # Skip encodings such as UTF-16, in which the keywords of ARFF are not ASCII.
            if b"@data\n".decode(encoding) == "@data\n":
                text = raw.decode(encoding)
                break
    text = raw.decode("latin-1") if text is None else text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _numbered_lines(text: str, start: int, stop: int) -> Iterator[tuple[int, str]]:
    """Yield the number and the stripped text of each line of text[start:stop] that is not blank."""
    number, before = 1, 0
    for line in _LINE.finditer(text, start, stop):
        if stripped := line[0].strip():
            number += text.count("\n", before, line.start())
            before = line.start()
            yield number, stripped


@contextlib.contextmanager
def _at_line(source: str | Path, number: int) -> Iterator[None]:
    try:
        yield
    except DatasetFormatError as problem:
        raise fault(source, str(problem), line=number) from None
