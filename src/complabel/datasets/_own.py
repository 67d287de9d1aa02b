"""Loads a dataset of one's own from its files, whose endings tell the format."""

from dataclasses import replace
from typing import Any

import numpy as np

from complabel.datasets._arff import read_arff
from complabel.datasets._catalog import CATALOG, EMBEDDED
from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._mat import read_mat
from complabel.datasets._meka import labels_of_relation, meka_dataset
from complabel.datasets._mulan import read_mulan
from complabel.datasets._npz import read_npz
from complabel.datasets._own_files import OwnFiles, find_own_files
from complabel.datasets._paths import StrPaths, check_options
from complabel.datasets._reading import MAX_UNPACKED
from complabel.datasets._svmlight import read_svmlight
from complabel.errors import DatasetFormatError, InputError

_TITLES = {
    "npz": "NumPy archive",
    "mat": "MATLAB file",
    "svmlight": "svmlight",
    "mulan": "ARFF and XML (Mulan)",
    "arff": "ARFF (MEKA)",
}


def load_file(
    path: StrPaths, name: str | None = None, *, max_unpacked: int = MAX_UNPACKED
) -> MultiLabelDataset:
    """Load a dataset of your own from a file, or from its several files.

    Parameters
    ----------
    path : path or sequence of paths
        A ``.npz`` or ``.mat`` file in one of the layouts below; multi-label svmlight text, which
        ends in ``.svm``, ``.svmlight`` or ``.libsvm`` and may be packed as ``.gz`` or ``.bz2``; or
        an ``.arff`` file, which may be alone in a ``.zip``. ARFF and svmlight files may be several
        parts, which are put below each other in the order given. An XML file with the names of
        the labels may be among ARFF files; by default it is ``mine.xml`` beside ``mine.arff`` or
        ``mine-train.arff``. Where there is none, the ARFF file's relation has to say with
        ``-C n`` that the first n attributes are the labels, or with ``-C -n`` the last n.
    name : str or None, default=None
        By default the file's name without its ending; of parts, what their names have in common.
        It must not be one that ``load_dataset`` knows, so that nobody takes one for the other.
    max_unpacked : int, default=2**30
        The most bytes that the file may unpack to, and each of its matrices take in memory.

    Returns
    -------
    MultiLabelDataset
        As it is in the file; ``preprocess`` makes of it what ``load_dataset`` gives by default.

    Raises
    ------
    DatasetNotFoundError
        If a file is missing or cannot be read.
    DatasetFormatError
        If a file has another ending, does not parse, unpacks to too much, or does not say which
        of its attributes are labels.
    InputError
        If an argument is of the wrong type, or ``name`` is taken.

    See Also
    --------
    save_file : Saves a dataset as a ``.npz`` archive.
    describe_file : Says how files would be read, and what is in them.
    read_mulan, read_meka, read_svmlight, read_pml : The same formats with more to choose.

    Notes
    -----
    A ``.npz`` archive holds these arrays; others in it are not read, and no pickles are:

    - ``X`` (n, d), finite numbers, and ``Y`` (n, K), 1 where a label applies and else 0;
    - instead of ``X``, or of ``Y``, the parts of a SciPy CSR array: ``X_data``, ``X_indices``,
      ``X_indptr``, ``X_shape``;
    - if there are any, ``label_names`` (K,) and ``feature_names`` (d,) of type str, ``groups``
      (n,), integers that rows share which must stay together, and ``excluded`` (n, K), or its
      parts, 1 where somebody ruled the label out.

    A ``.mat`` file, of MATLAB up to version 7, holds one of these:

    - ``X`` (n, d), ``Y`` (n, K) and, if somebody ruled labels out, ``excluded`` (n, K);
    - ``data`` (n, d), ``target`` (K, n) with a *row* for each label and, where there are
      candidate labels, ``partial_labels`` (K, n), as :func:`read_pml` reads them. Labels are 1,
      and else 0 or all of them -1.

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
    check_options(max_unpacked, name=name)
    files = find_own_files(path)
    if name is not None:
        files = replace(files, name=name)
    if files.name in (*CATALOG, *EMBEDDED):
        raise InputError(
            f"name is {files.name!r}, as a dataset that load_dataset knows; give another name=..."
        )
    return _read(files, max_unpacked)


def describe_file(path: StrPaths) -> dict[str, Any]:
    """Say how a dataset of your own would be read, and what is in it.

    Parameters
    ----------
    path : path or sequence of paths
        As for :func:`load_file`.

    Returns
    -------
    dict
        ``name``; ``format``, in words; ``files``, all that are read; ``n_samples``,
        ``n_features``, ``n_labels``, ``label_cardinality`` and ``label_names`` as they are in the
        file; ``n_some_labels``, the number of instances that have some but not all labels; and
        ``excluded``, whether labels are excluded. All values are plain strings, numbers, booleans
        or lists.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError, InputError
        As :func:`load_file`; any name is allowed here.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "mine.npz"
    >>> np.savez(path, X=np.eye(3), Y=[[1, 0], [0, 1], [1, 1]])
    >>> described = describe_file(path)
    >>> described["format"], described["n_labels"], described["n_some_labels"]
    ('NumPy archive', 2, 2)
    """
    files = find_own_files(path)
    dataset = _read(files, MAX_UNPACKED)
    n_relevant = dataset.Y.sum(axis=1, dtype=np.intp)
    return {
        "name": dataset.name,
        "format": _TITLES[files.format],
        "files": [str(file) for file in files.all_files],
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "n_labels": dataset.n_labels,
        "label_cardinality": dataset.label_cardinality,
        "label_names": list(dataset.label_names),
        "n_some_labels": int(((n_relevant > 0) & (n_relevant < dataset.n_labels)).sum()),
        "excluded": dataset.excluded is not None,
    }


def files_of_dataset(path: StrPaths) -> tuple[str, ...]:
    """List all files that :func:`load_file` would read, an XML file that it finds included.

    Parameters
    ----------
    path : path or sequence of paths

    Returns
    -------
    tuple of str

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError, InputError
        If the files cannot be those of one dataset; what is in them is not looked at.
    """
    return tuple(map(str, find_own_files(path).all_files))


def _read(files: OwnFiles, limit: int) -> MultiLabelDataset:
    """Read the files of a dataset by their format."""
    match files.format:
        case "npz":
            return read_npz(files.parts[0], files.name, limit)
        case "mat":
            return read_mat(files.parts[0], files.name, limit)
        case "svmlight":
            return read_svmlight(files.parts, name=files.name, max_unpacked=limit)
        case "mulan":
            return read_mulan(files.parts, files.labels, name=files.name, max_unpacked=limit)
        case "arff":
            return _read_arff(files, limit)


def _read_arff(files: OwnFiles, limit: int) -> MultiLabelDataset:
    """Read ARFF files without an XML file, whose relation tells the labels."""
    tables = [read_arff(part, max_unpacked=limit) for part in files.parts]
    n_labels = labels_of_relation(tables[0])
    if n_labels is None:
        raise DatasetFormatError(
            f"{tables[0].source}: nothing says which attributes are labels; put {files.name}.xml"
            " beside it, with a <label name=\"...\"> element for each (Mulan), or write '-C 6' into"
            " the @relation line if the first 6 attributes are the labels, '-C -6' for the last"
            " (MEKA)"
        )
    return meka_dataset(tables, n_labels, files.name)
