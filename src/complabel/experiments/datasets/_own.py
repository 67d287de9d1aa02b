"""The user's own datasets: files, whose endings tell their format, and tables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from complabel._opening import (
    StrPath,
    StrPaths,
    as_path,
    ending_of,
    existing_ones,
    wrong_type,
)
from complabel.answers import ContradictionPolicy, Question
from complabel.datasets import MultiLabelDataset
from complabel.errors import DatasetFormatError, InputError
from complabel.experiments.datasets._arff import read_arff_dataset, xml_beside
from complabel.experiments.datasets._matrices import numbered, read_mat, read_npz, read_svmlight
from complabel.files import (
    SVMLIGHT,
    read_answers,
    read_features,
    read_label_names,
    read_truth,
    rows_of,
)

Format = Literal["npz", "mat", "svmlight", "mulan", "meka", "pml"]

_FORMATS: dict[str, Format] = {
    ".npz": "npz",
    ".mat": "mat",
    ".arff": "meka",
    ".arff.zip": "meka",
    ".zip": "meka",
    **{word + packed: "svmlight" for word in SVMLIGHT for packed in ("", ".gz", ".bz2")},
}
_KNOWN = ".npz, .mat, .arff, .zip (with one .arff), or .svm, .svmlight, .libsvm (also .gz, .bz2)"
_IN_PARTS = ("svmlight", "meka")


@dataclass(frozen=True)
class DatasetFiles:
    """The parts of one dataset, and the XML file with its label names (Mulan), if there is one.

    Without one, the relation of ARFF files must say which attributes are labels.
    """

    name: str
    format: Format
    parts: tuple[Path, ...]
    labels: Path | None = None
    n_features: int | None = None

    @property
    def all_files(self) -> tuple[Path, ...]:
        return self.parts if self.labels is None else (*self.parts, self.labels)


def load_file(path: StrPaths, name: str | None = None) -> MultiLabelDataset:
    """Load your own dataset from one or several files.

    Parameters
    ----------
    path : path or sequence of paths
        A ``.npz`` or ``.mat`` file in one of the layouts below; multi-label svmlight text
        (``.svm``, ``.svmlight`` or ``.libsvm``, also ``.gz`` or ``.bz2``); or an ``.arff`` file,
        which may be alone in a ``.zip``. Several svmlight or ARFF files are parts of one dataset,
        stacked in the order given. An XML file that is given with ARFF files, or ``mine.xml``
        beside ``mine.arff`` or ``mine-train.arff``, names the labels. Without one, the relation
        must have the option ``-C n`` (the first n attributes are the labels) or ``-C -n`` (the
        last n).
    name : str or None, default=None
        By default the file's name without its ending, or the beginning that the names of all parts
        share.

    Returns
    -------
    MultiLabelDataset
        As it is in the file.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        If a file is missing, has another ending, cannot be parsed, unpacks to too many bytes, or
        does not say which attributes are labels.

    Notes
    -----
    A ``.npz`` archive has the arrays ``X`` (n, d) and ``Y`` (n, K), each maybe as the parts of a
    SciPy CSR array: ``X_data``, ``X_indices``, ``X_indptr``, ``X_shape``. Optional are
    ``label_names`` (K,) and ``feature_names`` (d,) of str, ``groups`` (n,) of integers, and
    ``excluded`` (n, K), 1 where somebody excluded the label. Pickles are never read.

    A ``.mat`` file of MATLAB up to version 7 has ``X``, ``Y`` and maybe ``excluded``; or ``data``
    (n, d), ``target`` (K, n) with a *row* for each label and maybe candidate labels
    ``partial_labels`` (K, n). 1 means that a label applies; all other values are 0, or all are -1.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "mine.npz"
    >>> np.savez(path, X=np.eye(3), Y=[[1, 0], [0, 1], [1, 1]], label_names=["sea", "sky"])
    >>> load_file(path)
    MultiLabelDataset(name='mine', label_names=('sea', 'sky'))
    """
    if name is not None and not isinstance(name, str):
        raise wrong_type("name", name, "a str, or leave it out")
    files = find_own_files(path)
    if name is not None:
        files = replace(files, name=name)
    return read_files(files)


def read_files(files: DatasetFiles) -> MultiLabelDataset:
    parts, name = files.parts, files.name
    match files.format:
        case "npz":
            return read_npz(parts[0], name)
        case "mat" | "pml":
            return read_mat(parts[0], name, with_candidates=files.format == "pml")
        case "svmlight":
            return read_svmlight(parts, name, files.n_features)
        case "mulan" | "meka":
            return read_arff_dataset(parts, files.labels, name)


def find_own_files(path: StrPaths) -> DatasetFiles:
    """Find the files of a dataset, given one or all of them; refuse files that do not fit."""
    given = existing_ones("path", path)
    named = [file for file in given if file.suffix.lower() == ".xml"]
    parts = [file for file in given if file not in named]
    if not parts:
        raise DatasetFormatError(
            f"{named[0]}: only names the labels of an ARFF file; give the ARFF file, too"
        )
    found = [_format(file) for file in parts]
    several = len({*found}) > 1 or (len(found) > 1 and found[0] not in _IN_PARTS)
    if several or (named and (len(named) > 1 or found[0] != "meka")):
        raise DatasetFormatError(
            f"{', '.join(map(str, given))}: these are not one dataset. Several ARFF files with at"
            " most one XML file, which names their labels, or several svmlight files can be one;"
            " give one file"
        )
    labels = named[0] if named else xml_beside(parts[0]) if found[0] == "meka" else None
    kind: Format = "mulan" if labels is not None else found[0]
    return DatasetFiles(_common_name(parts), kind, tuple(parts), labels)


def _format(file: Path) -> Format:
    ending = ending_of(file, _FORMATS)
    if not ending:
        raise DatasetFormatError(
            f"{file}: the name of a dataset's file must end in {_KNOWN}; save it as one of these"
            " (save_file writes .npz)"
        )
    return _FORMATS[ending]


def _common_name(parts: Sequence[Path]) -> str:
    """Return the name without its ending; for several parts, the words with which all begin."""
    names = [part.name[: -len(ending_of(part, _FORMATS))] for part in parts]
    words = [name.split("-") for name in names]
    shared = [first for first, *others in zip(*words, strict=False) if {*others} <= {first}]
    return "-".join(shared) or names[0]


def load_tables(
    features: StrPath,
    *,
    answers: StrPaths | None = None,
    truth: StrPath | None = None,
    items: StrPath | None = None,
    label_names: StrPath | None = None,
    question: Question | None = None,
    contradictions: ContradictionPolicy = "error",
    name: str | None = None,
) -> MultiLabelDataset:
    r"""Load your own dataset from tables: features with answers, true labels, or both.

    Parameters
    ----------
    features : path
        Features of the items, as :func:`complabel.files.read_features` reads them.
    answers : path, sequence of paths or None, default=None
        Tables of answers, as :func:`complabel.files.read_answers` reads them. Answers about items
        without features are left out, with a warning.
    truth : path or None, default=None
        A table of true labels, as :func:`complabel.files.read_truth` reads it. Items may be
        missing in it; if no answers are given, these items are left out.
    items : path or None, default=None
        File with the id of each row of the features, one on each line, if these have none.
    label_names : path or None, default=None
        File with all labels, one on each line. By default those of ``truth``, or of the answers.
    question, contradictions : default=None, "error"
        As for :func:`complabel.files.read_answers`.
    name : str or None, default=None
        By default the name of the features' file without its ending.

    Returns
    -------
    MultiLabelDataset
        With ``answers`` if given, and with ``known`` if some true labels are not known.

    Raises
    ------
    InputError
        If neither answers nor true labels are given, or true labels are about items without
        features.
    DatasetNotFoundError, DatasetFormatError, AnnotationError
        See the functions that read the tables.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "X.csv").write_text("item,red,blue\na,0.5,1\nb,0,-2\n")
    >>> _ = (folder / "answers.csv").write_text("item,label,answer\na,sea,yes\nb,sky,no\n")
    >>> data = load_tables(folder / "X.csv", answers=folder / "answers.csv")
    >>> data.answers, data.n_known
    (Answers(2 items, 2 labels, 2 answers: 2 asked), 0)
    """
    path = as_path("features", features)
    if answers is None and truth is None:
        raise InputError(f"{path}: features alone tell nothing; give answers, truth, or both")
    found = read_features(path, items=items)
    known_names = None if label_names is None else read_label_names(label_names)
    true = None if truth is None else read_truth(truth, label_names=known_names)
    names = known_names if true is None else true.label_names
    said = None
    if answers is not None:
        how: Any = {"question": question, "contradictions": contradictions}
        said = read_answers(answers, items=[*found.items], label_names=names, **how).answers
        names = said.label_names
    assert names is not None
    Y = np.zeros((len(found.items), len(names)), dtype=np.uint8)
    known = np.zeros(len(found.items), dtype=np.bool_)
    if true is not None:
        rows = rows_of(true.items, found.items, str(truth))
        Y[rows], known[rows] = true.Y, True
    X: Any = found.X if sparse.issparse(found.X) else np.asarray(found.X)
    X = X.astype(np.float64, copy=False)
    dataset = MultiLabelDataset(
        name=path.name.partition(".")[0] if name is None else name,
        X=X,
        Y=Y,
        label_names=tuple(names),
        feature_names=found.feature_names or numbered("feature", X.shape[1]),
        answers=said,
        known=None if known.all() else known,
    )
    if said is None and not known.all():
        return replace(dataset, X=X[known], Y=Y[known], known=None)
    return dataset
