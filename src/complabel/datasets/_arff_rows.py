"""The rows of an ARFF file: dense to an array, sparse to CSR."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.datasets._arff_header import Attribute
from complabel.datasets._dataset import CSR
from complabel.errors import DatasetFormatError

_WORD = {"FALSE": "0", "TRUE": "1"}
# Nine digits are enough for an index, and int() refuses thousands of them.
_SPARSE_WORD = re.compile(r"(?<=[{,\s])([0-9]{1,9})(\s+)(true|false)\b", re.IGNORECASE)
# Bounds the memory that the text of sparse rows takes while it is parsed.
_ROWS_AT_ONCE = 4096
_PAIR = re.compile(r"\s*(\S+)\s+(\S+)\s*")
_QUOTED = re.compile(r"""(?<![^\s,{])(['"])([^'",\s]+)\1(?![^\s,}])""")
# What NumPy's parser reads; float() also takes "1_0" and the digits of other scripts.
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE | re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class DataLines:
    """The lines of a file that hold data, stripped, and their line numbers for messages."""

    source: str
    lines: list[str]
    numbers: NDArray[np.intp]


def parse_dense(rows: DataLines, attributes: Sequence[Attribute]) -> NDArray[np.float64]:
    """Parse comma-separated rows."""
    lines = _without_quotes(rows.lines)
    words: dict[int | str, Callable[[str], float]] = {
        i: _word_to_number for i, attribute in enumerate(attributes) if attribute.words
    }
    try:
        values: NDArray[np.float64] = np.loadtxt(
            lines, delimiter=",", comments=None, converters=words or None, ndmin=2, encoding=None
        )
    except ValueError as cause:
        raise _explain(rows, lines, attributes, _dense_problem) from cause
    sound = values.shape == (len(lines), len(attributes)) and np.isfinite(values).all()
    if sound:
        block = values[:, [attribute.binary for attribute in attributes]]
        sound = ((block == 0) | (block == 1)).all()
    if not sound:
        raise _explain(rows, lines, attributes, _dense_problem)
    return values


def parse_sparse(rows: DataLines, attributes: Sequence[Attribute]) -> CSR:
    """Parse rows ``{index value, ...}``; what a row leaves out is zero."""
    for attribute in attributes:
        if attribute.omitted_means_one:
            raise DatasetFormatError(
                f"{rows.source}: attribute {attribute.name!r} declares 1 before 0, so that sparse "
                "rows without it would mean 1; declare it as {0,1} or save the rows in dense form"
            )
    lines = _without_quotes(rows.lines)
    if any(attribute.words for attribute in attributes):
        lines = [_SPARSE_WORD.sub(lambda m: _replace_word(m, attributes), line) for line in lines]
    matrix = _try_sparse(lines, attributes)
    if matrix is None:
        raise _explain(rows, lines, attributes, _sparse_problem)
    matrix.eliminate_zeros()
    return matrix


def _try_sparse(lines: list[str], attributes: Sequence[Attribute]) -> "CSR | None":
    """Parse sparse rows; None where one is malformed."""
    if not all(line[0] == "{" and line[-1] == "}" for line in lines):
        return None
    inner = (line[1:-1].strip() for line in lines)
    counts = np.array([text.count(",") + 1 if text else 0 for text in inner], dtype=np.intp)
    parts = []
    for start in range(0, len(lines), _ROWS_AT_ONCE):
        chunk = slice(start, start + _ROWS_AT_ONCE)
        part = _parse_pairs(lines[chunk], counts[chunk])
        if part is None:
            return None
        parts.append(part)
    pairs = np.concatenate(parts)
    indices = pairs[:, 0].astype(np.int32)
    values = np.ascontiguousarray(pairs[:, 1])
    if not ((indices == pairs[:, 0]) & (indices >= 0) & (indices < len(attributes))).all():
        return None
    binary = np.array([attribute.binary for attribute in attributes])[indices]
    if not (np.isfinite(values) & (~binary | (values == 0) | (values == 1))).all():
        return None
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    matrix = sparse.csr_array((values, indices, starts), shape=(len(lines), len(attributes)))
    matrix.sort_indices()
    return matrix if matrix.has_canonical_format else None  # else an index is given twice


def _parse_pairs(lines: list[str], counts: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Parse the ``index value`` pairs of some rows to (pairs, 2); None where one is malformed."""
    n_pairs = int(counts.sum())
    if n_pairs == 0:
        return np.empty((0, 2))
    inner = [line[1:-1] for line, count in zip(lines, counts, strict=True) if count]
    text = io.StringIO(",".join(inner).replace(",", "\n"))
    try:
        pairs: NDArray[np.float64] = np.loadtxt(text, comments=None, ndmin=2, encoding=None)
    except ValueError:
        return None
    # An index outside int32 would wrap round when cast.
    sound = pairs.shape == (n_pairs, 2) and bool((np.abs(pairs[:, 0]) < 2**31).all())
    return pairs if sound else None


def _without_quotes(lines: list[str]) -> list[str]:
    """Drop the quotes round whole values; any other quote is left for the number parser."""
    if not any("'" in line or '"' in line for line in lines):
        return lines
    return [_QUOTED.sub(r"\2", line) for line in lines]


def _word_to_number(text: str) -> float:
    """Read TRUE and FALSE, or a number."""
    text = text.strip()
    if text.upper() not in _WORD and not (_NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text)):
        raise ValueError(text)  # float() would take more; the caller names the place
    return float(_WORD.get(text.upper(), text))


def _replace_word(match: re.Match[str], attributes: Sequence[Attribute]) -> str:
    """Write TRUE or FALSE of a word attribute as 1 or 0; leave any other for the number parser."""
    index = int(match[1])
    if index < len(attributes) and attributes[index].words:
        return f"{match[1]}{match[2]}{_WORD[match[3].upper()]}"
    return match[0]


def _explain(
    rows: DataLines,
    lines: list[str],
    attributes: Sequence[Attribute],
    problem: Callable[[str, Sequence[Attribute]], str],
) -> DatasetFormatError:
    """Name the first row that does not parse; only runs once parsing has failed."""
    for number, line in zip(rows.numbers, lines, strict=True):
        found = problem(line, attributes)
        if found:
            return DatasetFormatError(f"{rows.source}, line {number}: {found}")
    return DatasetFormatError(f"{rows.source}: the rows do not parse as the header declares them")


def _dense_problem(line: str, attributes: Sequence[Attribute]) -> str:
    """Say what is wrong with a dense row; empty where nothing is."""
    if line.startswith("{"):
        return "found a sparse row, expected dense as before it"
    values = line.split(",")
    if len(values) != len(attributes):
        return f"found {len(values)} values, expected {len(attributes)}"
    return next(filter(None, map(_problem, values, attributes)), "")


def _sparse_problem(line: str, attributes: Sequence[Attribute]) -> str:
    """Say what is wrong with a sparse row; empty where nothing is."""
    if line[0] != "{" or line[-1] != "}":
        return f"found {line[:60]!r}, expected {{index value, ...}}"
    seen: set[int] = set()
    for text in line[1:-1].split(",") if line[1:-1].strip() else []:
        pair = _PAIR.fullmatch(text)
        if pair is None:
            return f"found {_cut(text)!r}, expected 'index value'"
        index = _index(pair[1], len(attributes))
        if index is None:
            return f"found index {_cut(pair[1])}, expected 0 to {len(attributes) - 1}"
        if index in seen:
            return f"found index {index} twice, expected each attribute at most once"
        seen.add(index)
        problem = _problem(pair[2], attributes[index])
        if problem:
            return problem
    return ""


def _index(text: str, n_attributes: int) -> int | None:
    """Read the index of an attribute; None where it is none."""
    digits = text.lstrip("0") or "0"
    sound = text.isascii() and text.isdecimal() and len(digits) <= len(str(n_attributes))
    return int(digits) if sound and int(digits) < n_attributes else None


def _problem(value: str, attribute: Attribute) -> str:
    """Say what is wrong with one value; empty where nothing is."""
    value = value.strip()
    found = f"found {_cut(value)!r} for attribute {attribute.name!r}"
    if value == "?":
        return f"{found}, a missing value; impute it or drop the row first"
    if attribute.words and value.upper() in _WORD:
        return ""
    if _NOT_FINITE.fullmatch(value):
        return f"{found}, expected a finite number"
    if _NUMBER.fullmatch(value) is None:
        return f"{found}, expected {'TRUE or FALSE' if attribute.words else 'a number'}"
    number = float(value)
    if not np.isfinite(number):
        return f"{found}, expected a finite number"
    return f"{found}, expected 0 or 1" if attribute.binary and number not in (0, 1) else ""


def _cut(text: str) -> str:
    """Shorten what is shown in a message."""
    return text if len(text) <= 60 else f"{text[:60]}..."
