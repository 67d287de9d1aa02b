"""Read ARFF files, dense or sparse; an XML file (Mulan) or ``-C n`` (MEKA) tells their labels."""

import logging
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from complabel._opening import explained, fault, is_file, read_bytes, read_members
from complabel._parameters import Array, Bools, Indicator, Ints
from complabel.datasets import Features, MultiLabelDataset
from complabel.errors import DatasetFormatError, DatasetNotFoundError

_NAME = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[^\s{'\"][^\s{]*"
_ATTRIBUTE = re.compile(rf"@attribute\s+({_NAME})\s*(.+)", re.IGNORECASE)
_NUMERIC = {"numeric", "real", "integer"}
_BINARY = {"0": 0, "0.0": 0, "FALSE": 0, "1": 1, "1.0": 1, "TRUE": 1}
# A value in quotes, or a word for 0 or 1, which becomes the plain number.
_WRITTEN = re.compile(r"(?<![^,{\s])(['\"]?)([^'\",{}\s]+)\1(?![^,}\s])")
_WORDS = {"false": "0", "true": "1"}
_OPTION = re.compile(r"(?<!\S)-C\s+(-?\d{1,9})(?!\d)", re.IGNORECASE | re.ASCII)
_MACOS = re.compile(r"__MACOSX/|(?:.*/)?\._", re.DOTALL)
_LONGEST = 60  # characters of a value in a message
_MISSING = (
    "; it is missing. Of a feature, impute it or drop the row. A label must not be imputed: labels"
    " with ? are known in part, and a dataset cannot hold that. Make a table with a column item"
    " and a column of 1, 0 and ? for each label, which complabel import --from coded --yes 1 --no"
    " 0 --unsure '?' reads"
)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class ArffTable:
    """One ARFF file: a column for each attribute; ``binary`` marks those declared as 0/1."""

    source: str
    relation: str
    names: tuple[str, ...]
    binary: Bools
    values: Features


def read_arff_dataset(paths: Sequence[Path], xml: Path | None, name: str) -> MultiLabelDataset:
    """Read a dataset from ARFF files with the same attributes, whose rows are stacked in order.

    With an XML file (Mulan: G. Tsoumakas et al., JMLR 12, 2011), its elements ``<label name=...>``
    name the labels, nested or not. Otherwise the relation has the option ``-C n`` (MEKA: J. Read et
    al., JMLR 17, 2016): the first n attributes are the labels, or the last -n.
    """
    tables = [read_arff(path) for path in paths]
    first = tables[0]
    for other in tables[1:]:
        if other.names != first.names:
            told = f"its attributes differ from those of {first.source}"
            raise fault(other.source, f"{told}; only parts of one dataset can be joined")
    is_label = _counted(first, name) if xml is None else _named(tables, xml)
    columns, others = np.flatnonzero(is_label), np.flatnonzero(~is_label)
    if not others.size:
        told = f"all {len(first.names)} attributes are labels, so none is left as a feature"
        raise fault(first.source, f"{told}; check which attributes are the labels")
    parts = [table.values[:, others] for table in tables]
    whole: Features
    dense = [part for part in parts if isinstance(part, np.ndarray)]
    if len(dense) == len(parts):
        whole = np.ascontiguousarray(np.concatenate(dense))
    else:
        whole = sparse.csr_array(sparse.vstack([sparse.csr_array(part) for part in parts]))
    return MultiLabelDataset(
        name=name,
        X=whole,
        Y=np.concatenate([_labels(table, columns) for table in tables]),
        label_names=tuple(first.names[i] for i in columns),
        feature_names=tuple(first.names[i] for i in others),
    )


def read_arff(path: Path) -> ArffTable:
    """Read an ARFF file, plain or alone in a .zip; sparse rows become CSR.

    Text that is not UTF-8 is taken for Latin-1, as in older benchmark files.
    """
    source, raw = str(path), b""
    if zipfile.is_zipfile(path):
        ((inside, raw),) = read_members(path, lambda names: [_only_arff(path, names)])
        source = f"{path}!{inside}"
    else:
        raw = read_bytes(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = [
        (at, line)
        for at, each in enumerate(text.split("\n"), 1)
        if (line := each.strip()) and line[0] != "%"
    ]
    starts = (at for at, (_, line) in enumerate(lines) if line[:5].lower() == "@data")
    start = next(starts, None)
    if start is None:
        raise fault(source, "no @data line; an ARFF file needs one before its rows")
    if len(lines) == start + 1:
        raise fault(source, "no rows after @data; the file seems cut off")
    relation, attributes = "", []
    for number, line in lines[:start]:
        if line.split()[0].lower() == "@relation":
            relation = line[len("@relation") :].strip()
        else:
            attributes.append(_attribute(source, number, line))
    if not attributes:
        raise fault(source, "no @attribute before @data; an ARFF file needs one for each column")
    names, binary, one_first = zip(*attributes, strict=True)
    if lines[start + 1][1].startswith("{") and True in one_first:
        told = f"attribute {names[one_first.index(True)]!r} declares 1 before 0, so a sparse row"
        told += " without it would mean 1; declare it as {0,1} or save the rows in dense form"
        raise fault(source, told)
    values = _values(source, lines[start + 1 :], names, np.array(binary))
    return ArffTable(source, relation, names, np.array(binary), values)


def _only_arff(path: Path, names: list[str]) -> str:
    """Pick the ARFF file of a .zip, without the files that macOS adds."""
    found = [name for name in names if name.lower().endswith(".arff") and not _MACOS.match(name)]
    if len(found) != 1:
        told = f"{path}: holds {len(found)} ARFF files {sorted(found)}"
        raise DatasetNotFoundError(f"{told}; unpack it, and give the ones that are one dataset")
    return found[0]


def _attribute(source: str, number: int, line: str) -> tuple[str, bool, bool]:
    """Return an attribute's name, whether it is declared as 0/1, and whether 1 stands first."""
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        told = f"found {line[:_LONGEST]!r}, expected @relation, @attribute <name> <type> or @data"
        raise fault(source, told, line=number)
    name, kind = _unquoted(found[1]), found[2].strip()
    if kind.lower() in _NUMERIC:
        return name, False, False
    values = kind[1:-1].split(",") if kind[0] + kind[-1] == "{}" else [kind]
    declared = [_BINARY.get(_unquoted(value.strip()).upper()) for value in values]
    if None in declared:
        told = f"attribute {name!r} has the type {kind[:_LONGEST]}; only numeric attributes and"
        told += " {0,1} or {FALSE,TRUE} can be used: remove it, or encode it as columns of 0/1"
        raise fault(source, told, line=number)
    return name, True, declared[0] == 1


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if is_quoted else text


def _values(
    source: str, numbered: Sequence[tuple[int, str]], names: Sequence[str], binary: Bools
) -> Features:
    """Parse rows, dense ``1,2`` or sparse ``{index value, ...}``; an error names the line."""
    rows = [row for _, row in numbered]
    parse: Callable[[Sequence[str], Bools], Features]
    parse = _sparse_values if rows[0].startswith("{") else _dense_values
    try:
        return parse(rows, binary)
    except ValueError:
        pass  # quotes, words, or a mistake
    plain = [_plain(row, binary) for row in rows]
    try:
        return parse(plain, binary)
    except ValueError:
        for (number, row), each in zip(numbered, plain, strict=True):
            try:
                parse([each], binary)
            except ValueError:
                told = _problem(row, each, names, binary, is_sparse=parse is _sparse_values)
                raise fault(source, told, line=number) from None
        raise


def _plain(row: str, binary: Bools) -> str:
    """Return a row without quotes, and with numbers for words where 0/1 is declared."""

    def of(at: int, field: str) -> str:
        place = field.strip("{ \t").split()[:1] if row[0] == "{" else [str(at)]
        index = "".join(place).strip("'\"")[:9]
        is_binary = index.isdecimal() and int(index) < len(binary) and binary[int(index)]
        return _WRITTEN.sub(_as_number if is_binary else r"\2", field)

    return ",".join(of(at, field) for at, field in enumerate(row.split(",")))


def _as_number(found: re.Match[str]) -> str:
    return _WORDS.get(found[2].lower(), found[2])


def _dense_values(rows: Sequence[str], binary: Bools) -> Array:
    values: Array = np.loadtxt(rows, delimiter=",", comments=None, ndmin=2, encoding=None)
    if values.shape[1] != len(binary):
        raise ValueError("another number of values than attributes")
    _refuse_others(values, binary)
    return values


def _sparse_values(rows: Sequence[str], binary: Bools) -> Features:
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
    if not ((index >= 0) & (index < binary.size) & (index == np.floor(index))).all():
        raise ValueError("an index is none")
    _refuse_others(values, binary[index.astype(np.intp)])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    parts = (np.ascontiguousarray(values), index.astype(np.int32), starts)
    matrix: sparse.csr_array[np.float64, tuple[int, int]]
    matrix = sparse.csr_array(parts, shape=(len(rows), binary.size))
    matrix.sort_indices()
    if not matrix.has_canonical_format:
        raise ValueError("an index is there twice")
    matrix.eliminate_zeros()
    return matrix


def _refuse_others(values: Array, binary: Bools) -> None:
    """Refuse what is not finite, or neither 0 nor 1 where ``binary`` (last axis) is True."""
    marked = values[..., binary]
    if not (np.isfinite(values).all() and ((marked == 0) | (marked == 1)).all()):
        raise ValueError("a value is not allowed")


def _problem(row: str, plain: str, names: Sequence[str], binary: Bools, *, is_sparse: bool) -> str:
    """Say what is wrong in a row; ``plain`` is the row without quotes and words."""
    kinds = ("a dense row 'value,value,...'", "a sparse row '{index value, ...}'")
    if is_sparse != (row[0] == "{" and row[-1] == "}"):
        return f"found {row[:_LONGEST]!r}, expected {kinds[is_sparse]} as the first row is"
    fields = plain.strip("{}").split(",")
    if not is_sparse and len(fields) != len(names):
        return f"found {len(fields)} values, expected {len(names)}"
    pairs = [field.split() for field in fields] if is_sparse else [*enumerate(fields)]
    for field, pair in zip(fields, pairs, strict=True):
        places = f"'index value' with an index from 0 to {len(names) - 1}"
        at = str((*pair, "")[0]).lstrip("0") or "0"  # a pair may be empty
        digits = at.isascii() and at.isdecimal() and len(at) < 10
        if len(pair) != 2 or not digits or int(at) >= len(names):
            return f"found {field[:_LONGEST]!r}, expected {places}"
        value = str(pair[1]).strip()
        try:
            number = np.loadtxt([value], delimiter=",", comments=None).item()
            _refuse_others(np.array([number]), binary[[int(at)]])
        except ValueError:
            wanted = "0 or 1" if binary[int(at)] else "a finite number"
            told = f"found {value[:_LONGEST]!r} for attribute {names[int(at)]!r}, expected {wanted}"
            return told + _MISSING * (value == "?")
    return f"found an index twice in {row[:_LONGEST]!r}, expected each attribute once"


def _labels(table: ArffTable, columns: Ints) -> Indicator:
    labels = table.values[:, columns]
    values = labels if isinstance(labels, np.ndarray) else labels.data
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        told = f"found {values[wrong][0]:g} in a label column, expected 0 or 1"
        raise fault(table.source, f"{told}; check which attributes are the labels")
    indicator = labels.astype(np.uint8)
    return indicator if isinstance(indicator, np.ndarray) else indicator.toarray()


def xml_beside(arff: Path) -> Path | None:
    """Return the XML file that belongs to an ARFF file by its name, the most similar one."""
    words = arff.stem.removesuffix(".arff").split("-")
    names = ("-".join(words[:n]) + ".xml" for n in range(len(words), 0, -1))
    return next((path for path in map(arff.with_name, names) if is_file(path)), None)


def _counted(table: ArffTable, name: str) -> Bools:
    """Mark the labels by the option ``-C n`` of the relation."""
    found, n_attributes = _OPTION.search(table.relation.strip("'\"")), len(table.names)
    if found is None:
        told = f"nothing says which attributes are labels (relation {table.relation[:_LONGEST]!r}"
        told += f" has no '-C n'); put {name}.xml in its folder, with a <label name=\"...\">"
        told += " element for each label (Mulan). Or write '-C 6' into the @relation line if the"
        told += " first 6 attributes are the labels, '-C -6' if the last 6 are (MEKA)"
        raise fault(table.source, told)
    count = int(found[1])
    if not 0 < abs(count) < n_attributes:
        told = f"{count} labels, expected between 1 and {n_attributes - 1} of the {n_attributes}"
        raise fault(table.source, f"{told} attributes (negative: counted from the end)")
    columns = np.arange(n_attributes)
    return np.asarray(columns < count if count > 0 else columns >= n_attributes + count)


def _named(tables: Sequence[ArffTable], xml: Path) -> Bools:
    """Mark the labels that an XML file names; each must be there once, and none be left out."""
    labels, first = _label_names(xml), tables[0]
    count = Counter(first.names)
    for label in labels:
        if count[label] != 1:
            told = f"{count[label]} attributes named {label!r}, a label of {xml}; expected exactly"
            raise fault(first.source, f"{told} one: check that the two files belong together")
    is_label = np.isin(first.names, labels)
    _refuse_unnamed(first, is_label, xml)
    return is_label


def _label_names(xml: Path) -> list[str]:
    """Return the names of all label elements, at any depth."""
    with explained(xml, 'expected well-formed XML: <labels> with <label name="...">'):
        root = ElementTree.fromstring(xml.read_bytes())  # it knows about encodings
    names = [e.get("name") for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    labels = [name for name in names if name is not None]
    if not labels or len(labels) < len(names) or len({*labels}) < len(labels):
        raise DatasetFormatError(
            f"{xml}: {len(labels)} of {len(names)} <label> elements have a name, {len({*labels})}"
            ' names differ; expected at least one <label name="...">, and all names different'
        )
    return labels


def _refuse_unnamed(table: ArffTable, is_label: Bools, xml: Path) -> None:
    """Refuse 0/1 attributes between labels, and report those next to them.

    If the XML file lacks a label, its column would become a feature, which gives the label away.
    """
    looks = table.binary
    if not looks[is_label].all():  # labels are declared as numbers, so values tell
        looks = looks | _only_zeros_and_ones(table.values)
    others = looks & ~is_label
    between = np.logical_or.accumulate(is_label) & np.logical_or.accumulate(is_label[::-1])[::-1]
    beside = np.append(is_label[1:], False) | np.insert(is_label[:-1], 0, False)
    refused, suspects = others & between, others & beside
    if refused.any() or (suspects.any() and not others[~is_label].all()):
        at = int((refused if refused.any() else suspects).argmax())
        told = (
            f"attribute {table.names[at]!r} holds only 0 and 1 and stands beside the labels, but"
            f' {xml} does not name it. If it is a label, add <label name="..."> there, or it'
            " becomes a feature that gives the label away. If not, move it away from the labels"
        )
        if refused.any():
            raise fault(table.source, told)
        _logger.warning("%s: %s", table.source, told)


def _only_zeros_and_ones(values: Features) -> Bools:
    if isinstance(values, np.ndarray):
        return np.asarray(((values == 0) | (values == 1)).all(axis=0))
    only = np.ones(values.shape[1], dtype=np.bool_)
    only[values.indices[values.data != 1]] = False  # zeros are not stored
    return only
