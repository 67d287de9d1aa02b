"""Read the ARFF files of Mulan and MEKA, which say in their own ways which columns are labels."""

import logging
import re
from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from complabel._opening import (
    StrPath,
    StrPaths,
    as_path,
    existing_ones,
    explained,
    fault,
    is_file,
    wrong_type,
)
from complabel._parameters import check_choice
from complabel.datasets._arff import ArffTable, build_dataset, read_arff
from complabel.datasets._dataset import MultiLabelDataset
from complabel.errors import DatasetFormatError, DatasetNotFoundError

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
        raise DatasetNotFoundError(
            f"{xml}: no such file; a dataset in Mulan's format needs it for the label names"
        )
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


def _refuse_unnamed_labels(
    tables: Sequence[ArffTable], is_label: NDArray[np.bool_], xml: Path
) -> None:
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


def _only_zeros_and_ones(table: ArffTable) -> NDArray[np.bool_]:
    values = table.values
    if isinstance(values, np.ndarray):
        return np.asarray(((values == 0) | (values == 1)).all(axis=0))
    only = np.ones(values.shape[1], dtype=bool)
    only[values.indices[values.data != 1]] = False  # zeros are not stored
    return only


def _beside(is_label: NDArray[np.bool_], looks: NDArray[np.bool_]) -> NDArray[np.bool_]:
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
