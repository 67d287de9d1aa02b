"""Datasets in Mulan's format: an ARFF file, and an XML file that names the labels."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from complabel._parameters import check_choice
from complabel.datasets._arff import ArffTable, build_dataset, read_arff
from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._paths import StrPath, StrPaths, as_files, as_path, check_options, is_file
from complabel.datasets._reading import MAX_UNPACKED, read_plain
from complabel.errors import DatasetFormatError, DatasetNotFoundError

_DECLARED = re.compile(rb"""^(?:\xef\xbb\xbf)?<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']""")


def read_mulan(
    arff_path: StrPaths,
    xml_path: StrPath | None = None,
    *,
    name: str | None = None,
    xml_is_complete: bool = False,
    max_unpacked: int = MAX_UNPACKED,
) -> MultiLabelDataset:
    """Read a dataset in Mulan's format.

    Parameters
    ----------
    arff_path : path or sequence of paths
        The ARFF file, dense or sparse, plain or alone in a .zip; or several parts with the same
        attributes, which are put below each other in the order given (scene-train, scene-test).
    xml_path : path or None, default=None
        The XML file whose ``<label name="...">`` elements, nested or not, name the labels. By
        default ``scene.xml`` beside ``scene.arff``, ``scene-train.arff`` or ``scene-sparse.arff``.
    name : str or None, default=None
        By default the XML file's name without its ending.
    xml_is_complete : bool, default=False
        Whether 0/1 attributes that look like labels, and that the XML file does not name, are
        features. By default they are refused; the notes say which.
    max_unpacked : int, default=2**30
        The most bytes that a .zip may unpack to.

    Returns
    -------
    MultiLabelDataset
        Labels and features in the order of the ARFF file. X is a csr_array where the ARFF file
        is sparse, else an ndarray.

    Raises
    ------
    DatasetNotFoundError
        If a file is missing.
    DatasetFormatError
        If a file does not parse or unpack, the two do not fit together, no attribute is left as
        a feature, or a label seems to be unnamed.
    InputError
        If an argument is of the wrong type.

    Notes
    -----
    A label that the XML file has lost would become a feature that tells the answer. So an
    attribute without a name there is refused where it looks like a label (declared as 0/1, or with
    nothing but 0 and 1 where labels are declared as numbers) and lies between labels or directly
    beside them. Where all features are 0/1, as in bags of words, those beside the labels are
    refused only if there are features on both sides of the labels: the rarer side. A lost label
    next to such features cannot be told from them.

    A file that is no UTF-8 is read in the encoding that the XML file declares, else in Latin-1.

    Format: Tsoumakas et al., "Mulan: A Java Library for Multi-Label Learning", JMLR 2011.
    """
    check_options(max_unpacked, name=name)
    check_choice("xml_is_complete", xml_is_complete, (True, False))
    paths = as_files("arff_path", arff_path, "ARFF file")
    xml = _find_xml(paths[0]) if xml_path is None else as_path("xml_path", xml_path)
    if not is_file(xml):
        raise DatasetNotFoundError(
            f"{xml}: no such file; it names the labels of a dataset in Mulan's format"
        )
    labels, encoding = _read_label_names(xml)
    tables = [read_arff(path, encoding=encoding, max_unpacked=max_unpacked) for path in paths]
    count = Counter(tables[0].names)
    for label in labels:
        if count[label] != 1:
            raise DatasetFormatError(
                f"{tables[0].source}: {count[label]} attributes named {label!r}, a label of {xml}; "
                "expected exactly one: do the two files belong together?"
            )
    wanted = set(labels)
    is_label = np.array([attribute in wanted for attribute in tables[0].names])
    dataset = build_dataset(tables, np.flatnonzero(is_label), xml.stem if name is None else name)
    if not xml_is_complete:
        _refuse_unnamed_labels(tables, is_label, xml)
    return dataset


def xml_candidates(arff: Path) -> list[Path]:
    """List the XML files that may belong to an ARFF file by its name, the nearest first."""
    words = arff.stem.removesuffix(".arff").split("-")
    return [arff.with_name("-".join(words[:n]) + ".xml") for n in range(len(words), 0, -1)]


def _find_xml(arff: Path) -> Path:
    """Find the XML file that belongs to an ARFF file by its name."""
    candidates = xml_candidates(arff)
    for candidate in candidates:
        if is_file(candidate):
            return candidate
    raise DatasetNotFoundError(
        f"{arff}: no file that names its labels; expected {candidates[0]}"
        + "".join(f" or {other.name}" for other in candidates[1:])
        + ". Put it there, give xml_path=..., or use read_meka if the relation carries '-C n'"
    )


def _read_label_names(xml: Path) -> tuple[list[str], str | None]:
    """Return the names of all label elements, whatever their depth, and the declared encoding."""
    raw = read_plain(xml)
    found = _DECLARED.match(raw)
    encoding = found[1].decode("ascii", "replace") if found else None
    root = _parse_xml(xml, raw, encoding)
    names = [e.get("name") for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    labels = [name for name in names if name is not None]
    if not labels or len(labels) < len(names):
        raise DatasetFormatError(
            f"{xml}: {len(labels)} of {len(names)} <label> elements carry a name; "
            'expected at least one <label name="..."> and no nameless one'
        )
    repeated, count = Counter(labels).most_common(1)[0]
    if count > 1:
        raise DatasetFormatError(f"{xml}: label {repeated!r} is named twice, expected once")
    return labels, encoding


def _parse_xml(xml: Path, raw: bytes, encoding: str | None) -> ElementTree.Element:
    """Parse an XML file; encodings that the parser does not know are left to Python's codecs."""
    todo = "save the file as UTF-8 and declare that"
    try:
        try:
            return ElementTree.fromstring(raw)
        except (LookupError, ValueError):
            # The parser knows few encodings of several bytes a sign; from a str it needs none.
            return ElementTree.fromstring(raw.decode(encoding or "utf-8"))
    except ElementTree.ParseError as cause:
        line = cause.position[0]
        problem = (
            f"found no well-formed XML ({cause}), expected <labels> with "
            '<label name="..."> elements'
        )
    except LookupError:
        line = 1
        problem = f"found encoding {encoding!r}, which Python does not know; {todo}"
    except ValueError as cause:
        position = cause.start if isinstance(cause, UnicodeDecodeError) else 0
        line = raw.count(b"\n", 0, position) + 1
        problem = f"found bytes that are not of the declared encoding {encoding!r}; {todo}"
    raise DatasetFormatError(f"{xml}, line {line}: {problem}")


def _refuse_unnamed_labels(
    tables: Sequence[ArffTable], is_label: NDArray[np.bool_], xml: Path
) -> None:
    """Refuse attributes that look like labels, lie among or beside them, and have no name."""
    looks = tables[0].binary
    if not looks[is_label].all():
        looks = looks | np.logical_and.reduce([_only_zeros_and_ones(table) for table in tables])
    between = np.logical_or.accumulate(is_label)
    between &= np.logical_or.accumulate(is_label[::-1])[::-1]
    suspects = np.flatnonzero(looks & ~is_label & (between | _beside(is_label, looks)))
    if not suspects.size:
        return
    more = f" (as {suspects.size - 1} more)" if suspects.size > 1 else ""
    raise DatasetFormatError(
        f"{tables[0].source}: attribute {tables[0].names[suspects[0]]!r}{more} holds only 0 and 1 "
        f"and lies between or beside the labels, but {xml} does not name it. A label read as a "
        'feature tells the answer: add <label name="..."> there if it is one; else read the file '
        "with read_mulan(..., xml_is_complete=True), and save_file keeps it for commands"
    )


def _only_zeros_and_ones(table: ArffTable) -> NDArray[np.bool_]:
    """Mark the columns without another value."""
    values = table.values
    if isinstance(values, np.ndarray):
        return np.asarray(((values == 0) | (values == 1)).all(axis=0))
    only = np.ones(values.shape[1], dtype=bool)
    only[values.indices[values.data != 1]] = False  # zeros are not stored
    return only


def _beside(is_label: NDArray[np.bool_], looks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the attributes that touch labels, where they can be told from the features."""
    if not (looks | is_label).all():
        # An unbroken stretch of 0/1 columns: which of them hold a label?
        stretch = np.cumsum(np.diff(looks | is_label, prepend=False))
        return np.isin(stretch, stretch[is_label])
    positions = np.flatnonzero(is_label)
    n_before, n_after = int(positions[0]), int(is_label.size - 1 - positions[-1])
    rarer = np.zeros_like(looks)
    if n_before and n_after:
        rarer[: n_before if n_before <= n_after else 0] = True
        rarer[is_label.size - (n_after if n_after <= n_before else 0) :] = True
    return rarer
