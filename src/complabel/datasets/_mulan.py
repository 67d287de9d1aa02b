"""Datasets in Mulan's format: an ARFF file, and an XML file that names the labels."""

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from complabel.datasets._arff import read_arff
from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._tables import StrPath, StrPaths, as_paths, build_dataset
from complabel.errors import DatasetFormatError, DatasetNotFoundError


def read_mulan(
    arff_path: StrPaths, xml_path: StrPath | None = None, *, name: str | None = None
) -> MultiLabelDataset:
    """Read a dataset in Mulan's format.

    Parameters
    ----------
    arff_path : path or sequence of paths
        The ARFF file, dense or sparse, plain or alone in a .zip; or several parts with the same
        attributes, which are put below each other in the order given (scene-train, scene-test).
    xml_path : path, optional
        The XML file whose `<label name="...">` elements, nested or not, name the labels. By
        default `scene.xml` beside `scene.arff`, `scene-train.arff` or `scene-sparse.arff`.
    name : str, optional
        Name of the dataset; by default the XML file's without its ending.

    Returns
    -------
    MultiLabelDataset
        Labels and features in the order of the ARFF file. X is a csr_array where the ARFF file
        is sparse, else an ndarray.

    Raises
    ------
    DatasetNotFoundError
        When a file is missing.
    DatasetFormatError
        When a file does not parse, or the two do not fit together.

    Notes
    -----
    Format: Tsoumakas et al., "Mulan: A Java Library for Multi-Label Learning", JMLR 2011.
    """
    paths = as_paths(arff_path)
    if not paths:
        raise DatasetNotFoundError("read_mulan got no ARFF file; give at least one path")
    xml = _find_xml(paths[0]) if xml_path is None else Path(xml_path)
    labels = _read_label_names(xml)
    tables = [read_arff(path) for path in paths]
    count = Counter(tables[0].names)
    for label in labels:
        if count[label] != 1:
            raise DatasetFormatError(
                f"{tables[0].source}: {count[label]} attributes named {label!r}, a label of {xml}; "
                "expected exactly one: do the two files belong together?"
            )
    wanted = set(labels)
    columns = np.array([i for i, found in enumerate(tables[0].names) if found in wanted], np.intp)
    return build_dataset(tables, columns, xml.stem if name is None else name)


def _find_xml(arff: Path) -> Path:
    """Find the XML file that belongs to an ARFF file by its name."""
    words = arff.stem.split("-")
    candidates = [arff.with_name("-".join(words[:n]) + ".xml") for n in range(len(words), 0, -1)]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise DatasetNotFoundError(
        f"{arff}: no file that names its labels; expected {candidates[0]}"
        + "".join(f" or {other.name}" for other in candidates[1:])
        + ". Put it there, give xml_path=..., or use read_meka if the relation carries '-C n'"
    )


def _read_label_names(xml: Path) -> list[str]:
    """Return the names of all label elements, whatever their depth and namespace."""
    if not xml.is_file():
        raise DatasetNotFoundError(
            f"{xml}: no such file; it names the labels of a dataset in Mulan's format"
        )
    try:
        root = ElementTree.parse(xml).getroot()
    except ElementTree.ParseError as cause:
        raise DatasetFormatError(
            f"{xml}, line {cause.position[0]}: found no well-formed XML ({cause}), "
            'expected <labels> with <label name="..."> elements'
        ) from cause
    elements = [e for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    names = [element.get("name") for element in elements]
    labels = [name for name in names if name is not None]
    if not labels or len(labels) < len(names):
        raise DatasetFormatError(
            f"{xml}: {len(labels)} of {len(names)} <label> elements carry a name; "
            'expected at least one <label name="..."> and no nameless one'
        )
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        raise DatasetFormatError(f"{xml}: label {repeated[0]!r} is named twice, expected once")
    return labels
