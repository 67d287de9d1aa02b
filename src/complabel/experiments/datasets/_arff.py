"""Read ARFF files, dense or sparse, and which columns are labels by Mulan and by MEKA."""

import contextlib
import logging
import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from complabel._opening import (
    StrPath,
    StrPaths,
    as_path,
    existing,
    existing_ones,
    explained,
    fault,
    is_file,
    read_bytes,
    read_members,
    wrong_type,
)
from complabel._parameters import Array, Bools, Indicator, Ints, check_choice
from complabel.datasets import Features, MultiLabelDataset
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
    binary: Bools
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


def build_dataset(tables: Sequence[ArffTable], label_columns: Ints, name: str) -> MultiLabelDataset:
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


def _labels(table: ArffTable, columns: Ints) -> Indicator:
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


def _dense_values(rows: list[str], attributes: Sequence[Attribute]) -> Array:
    """Parse rows of numbers and declared words; a ValueError says only that some row is wrong."""
    words: dict[int | str, Callable[[str], float]] = {
        i: partial(_value, attribute=attribute)
        for i, attribute in enumerate(attributes)
        if attribute.words
    }
    values: Array = np.loadtxt(
        rows, delimiter=",", comments=None, converters=words or None, ndmin=2, encoding=None
    )
    if values.shape[1] != len(attributes):
        raise ValueError("another number of values than attributes")
    _refuse_others(values, np.array([attribute.binary for attribute in attributes]))
    return values


def _sparse_values(rows: list[str], attributes: Sequence[Attribute]) -> Features:
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
            raise DatasetFormatError(f"found index {index} twice, expected each attribute once")
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
        wanted = (
            "which is a missing value. Of a feature, impute it or drop the row. A label must not be"
            " imputed: labels with ? are known in part, and a dataset cannot hold that. Make a"
            " table with a column item and a column of 1, 0 and ? for each label, which complabel"
            " import --from coded --yes 1 --no 0 --unsure '?' reads"
        )
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


_logger = logging.getLogger(__name__)
_DECLARED = re.compile(rb"""^(?:\xef\xbb\xbf)?<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']""")
_LABEL_OPTION = re.compile(r"(?<!\S)-C\s+(-?\d+)(?!\d)", re.IGNORECASE | re.ASCII)


def read_mulan(
    arff_path: StrPaths,
    xml_path: StrPath | None = None,
    *,
    name: str | None = None,
    xml_is_complete: bool = False,
) -> MultiLabelDataset:
    """Read a dataset in Mulan's format (G. Tsoumakas et al., JMLR 12, 2011).

    ``arff_path`` is an ARFF file, dense or sparse, plain or alone in a .zip, or several parts with
    the same attributes, which are stacked in the order given. ``xml_path`` names the labels in
    ``<label name="...">`` elements, nested or not; by default ``scene.xml`` in the folder of
    ``scene.arff``, ``scene-train.arff`` or ``scene-sparse.arff``. A file that is not UTF-8 is read
    in the encoding that the XML file declares, else in Latin-1.

    If a label is missing in the XML file, its column becomes a feature, and this feature gives the
    label away. So an attribute between the labels that looks like a label (0/1 as the labels are)
    is refused, unless ``xml_is_complete``. Next to the labels, it may as well be a feature: the log
    has a warning.
    """
    check_choice("xml_is_complete", xml_is_complete, (True, False))
    paths = existing_ones("arff_path", arff_path)
    xml = _find_xml(paths[0]) if xml_path is None else as_path("xml_path", xml_path)
    if not is_file(xml):
        raise DatasetNotFoundError(f"{xml}: no such file; in Mulan's format it has the label names")
    labels, encoding = _read_label_names(xml)
    tables = [read_arff(path, encoding=encoding) for path in paths]
    count = Counter(tables[0].names)
    for label in labels:
        if count[label] != 1:
            raise fault(
                tables[0].source,
                f"{count[label]} attributes named {label!r}, a label of {xml}; "
                "expected exactly one: check that the two files belong together",
            )
    wanted = set(labels)
    is_label = np.array([attribute in wanted for attribute in tables[0].names])
    dataset = build_dataset(tables, np.flatnonzero(is_label), xml.stem if name is None else name)
    if not xml_is_complete:
        _refuse_unnamed_labels(tables, is_label, xml)
    return dataset


def read_meka(
    path: StrPaths,
    *,
    member: str | None = None,
    n_labels: int | None = None,
    name: str | None = None,
) -> MultiLabelDataset:
    """Read a dataset in MEKA's format (J. Read et al., JMLR 17, 2016).

    ``path`` is as for :func:`read_mulan`; ``member`` is the file to read inside a .zip that has
    several ARFF files. If ``n_labels`` is n > 0, the first n attributes are the labels; if n < 0,
    the last -n. By default the relation's option ``-C n`` says so; the ARFF files of OpenML have no
    such option.
    """
    if n_labels is not None and (isinstance(n_labels, bool) or not isinstance(n_labels, Integral)):
        wanted = "an integer: n if the first n attributes are labels, -n if the last n are"
        raise wrong_type("n_labels", n_labels, wanted)
    paths = existing_ones("path", path)
    name = paths[0].stem if name is None else name
    tables = [read_arff(part, member=member) for part in paths]
    source, n_attributes = tables[0].source, len(tables[0].names)
    if n_labels is None:
        found = _LABEL_OPTION.search(tables[0].relation.strip("'\""))
        if found is None:
            raise fault(
                source,
                "nothing says which attributes are labels (relation"
                f" {tables[0].relation[:60]!r} has no '-C n'); put {name}.xml in its folder, with a"
                " <label name=\"...\"> element for each label (Mulan). Or write '-C 6' into the"
                " @relation line if the first 6 attributes are the labels, '-C -6' if the last 6"
                " are (MEKA); read_meka also takes n_labels=6 or n_labels=-6",
            )
        # int() refuses thousands of digits; a number of 20 digits is too large anyway.
        n_labels = int(found[1][:20])
    if not 0 < abs(n_labels) < n_attributes:
        raise fault(
            source,
            f"{n_labels} labels, expected between 1 and {n_attributes - 1} of"
            f" the {n_attributes} attributes (negative: counted from the end)",
        )
    columns = np.arange(n_attributes)
    columns = columns[:n_labels] if n_labels > 0 else columns[n_labels:]
    return build_dataset(tables, columns, name)


def xml_candidates(arff: Path) -> list[Path]:
    """List the XML files that may belong to an ARFF file by its name, the most similar first."""
    words = arff.stem.removesuffix(".arff").split("-")
    return [arff.with_name("-".join(words[:n]) + ".xml") for n in range(len(words), 0, -1)]


def _find_xml(arff: Path) -> Path:
    candidates = xml_candidates(arff)
    for candidate in candidates:
        if is_file(candidate):
            return candidate
    raise DatasetNotFoundError(
        f"{arff}: found no file that names its labels; expected {candidates[0]}"
        + "".join(f" or {other.name}" for other in candidates[1:])
        + ". Put it there, give xml_path=..., or use read_meka if the relation has '-C n'"
    )


def _read_label_names(xml: Path) -> tuple[list[str], str | None]:
    """Return the names of all label elements, at any depth, and the declared encoding."""
    with explained(xml, "check the file"):
        raw = xml.read_bytes()  # the parser knows about encodings
    found = _DECLARED.match(raw)
    encoding = found[1].decode("ascii", "replace") if found else None
    root = _parse_xml(xml, raw, encoding)
    names = [e.get("name") for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    labels = [name for name in names if name is not None]
    if not labels or len(labels) < len(names):
        raise DatasetFormatError(
            f"{xml}: {len(labels)} of {len(names)} <label> elements have a name; "
            'expected at least one <label name="..."> and none without a name'
        )
    repeated, count = Counter(labels).most_common(1)[0]
    if count > 1:
        raise DatasetFormatError(f"{xml}: label {repeated!r} is named twice, expected once")
    return labels, encoding


def _parse_xml(xml: Path, raw: bytes, encoding: str | None) -> ElementTree.Element:
    """Parse an XML file; use Python's codecs for encodings that the parser does not know."""
    try:
        try:
            return ElementTree.fromstring(raw)
        except (LookupError, ValueError):
            # The parser knows few multi-byte encodings, but it can parse a decoded str.
            return ElementTree.fromstring(raw.decode(encoding or "utf-8"))
    except ElementTree.ParseError as cause:
        told = f'found no well-formed XML ({cause}), expected <labels> with <label name="...">'
        raise fault(xml, told, line=cause.position[0]) from cause
    except (LookupError, ValueError) as cause:
        told = f"does not fit the declared encoding {encoding!r} ({cause}); save it as UTF-8"
        raise fault(xml, f"{told}, and declare that") from cause


def _refuse_unnamed_labels(tables: Sequence[ArffTable], is_label: Bools, xml: Path) -> None:
    """Refuse attributes between labels that look like labels; report those next to them."""
    looks = tables[0].binary
    if not looks[is_label].all():
        looks = looks | np.logical_and.reduce([_only_zeros_and_ones(table) for table in tables])
    between = np.logical_or.accumulate(is_label)
    between &= np.logical_or.accumulate(is_label[::-1])[::-1]
    refused = np.flatnonzero(looks & ~is_label & between)
    suspects = (
        refused if refused.size else np.flatnonzero(looks & ~is_label & _beside(is_label, looks))
    )
    if not suspects.size:
        return
    more = f" (and {suspects.size - 1} more)" if suspects.size > 1 else ""
    told = (
        f"attribute {tables[0].names[suspects[0]]!r}{more} holds only 0 and 1 and is"
        f" {'between' if refused.size else 'next to'} the labels, but {xml} does not name it. If it"
        ' is a label, it must not become a feature: add <label name="..."> there'
    )
    if refused.size:
        raise fault(
            tables[0].source,
            f"{told}. If not, read the file with read_mulan(..., xml_is_complete=True); save_file"
            " then saves it for commands",
        )
    _logger.warning("%s: %s", tables[0].source, told)


def _only_zeros_and_ones(table: ArffTable) -> Bools:
    values = table.values
    if isinstance(values, np.ndarray):
        return np.asarray(((values == 0) | (values == 1)).all(axis=0))
    only = np.ones(values.shape[1], dtype=bool)
    only[values.indices[values.data != 1]] = False  # zeros are not stored
    return only


def _beside(is_label: Bools, looks: Bools) -> Bools:
    """Return the attributes next to labels that may be labels, too."""
    if not (looks | is_label).all():
        # Number the unbroken runs of 0/1 columns, and mark the runs that contain a label.
        stretch = np.cumsum(np.diff(looks | is_label, prepend=False))
        return np.isin(stretch, stretch[is_label])
    positions = np.flatnonzero(is_label)
    n_before, n_after = int(positions[0]), int(is_label.size - 1 - positions[-1])
    rarer = np.zeros_like(looks)
    if n_before and n_after:
        rarer[: n_before if n_before <= n_after else 0] = True
        rarer[is_label.size - (n_after if n_after <= n_before else 0) :] = True
    return rarer
