"""Loads a dataset of one's own from a file, whose ending tells the format."""

from complabel.datasets._catalog import CATALOG, EMBEDDED
from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._npz import read_npz
from complabel.datasets._paths import StrPath, as_path, check_options, is_file
from complabel.datasets._pml import read_pml
from complabel.datasets._reading import MAX_UNPACKED
from complabel.datasets._svmlight import read_svmlight
from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError

_SVMLIGHT = (".svm", ".svmlight", ".libsvm")
_PACKED = (ending + packed for ending in _SVMLIGHT for packed in ("", ".gz", ".bz2"))
_ENDINGS = (".npz", *_PACKED, ".mat")


def load_file(
    path: StrPath, name: str | None = None, *, max_unpacked: int = MAX_UNPACKED
) -> MultiLabelDataset:
    """Load a dataset of your own from a file.

    Parameters
    ----------
    path : path
        A ``.npz`` archive in the layout below; or multi-label svmlight text, which ends in
        ``.svm``, ``.svmlight`` or ``.libsvm`` and may be packed as ``.gz`` or ``.bz2``; or a
        ``.mat`` file with candidate labels, as :func:`read_pml` reads it.
    name : str or None, default=None
        By default the file's name without its ending. It must not be one that ``load_dataset``
        knows, so that nobody takes one for the other.
    max_unpacked : int, default=2**30
        The most bytes that the file may unpack to, and each of its matrices take in memory.

    Returns
    -------
    MultiLabelDataset
        As it is in the file; ``preprocess`` makes of it what ``load_dataset`` gives by default.

    Raises
    ------
    DatasetNotFoundError
        If the file is missing or cannot be read.
    DatasetFormatError
        If it has another ending, does not parse, or unpacks to too much.
    InputError
        If an argument is of the wrong type, or ``name`` is taken.

    See Also
    --------
    save_file : Saves a dataset in this layout.
    read_svmlight, read_pml, read_mulan, read_meka : Read other formats, and several files at once.

    Notes
    -----
    A ``.npz`` archive holds these arrays; others in it are not read, and no pickles are:

    - ``X`` (n, d), finite numbers, and ``Y`` (n, K), 1 where a label applies and else 0;
    - instead of ``X``, or of ``Y``, the parts of a SciPy CSR array: ``X_data``, ``X_indices``,
      ``X_indptr``, ``X_shape``;
    - if there are any, ``label_names`` (K,) and ``feature_names`` (d,) of type str, ``groups``
      (n,), integers that rows share which must stay together, and ``excluded`` (n, K), or its
      parts, 1 where somebody ruled the label out.

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
    file = as_path("path", path)
    if not is_file(file):
        raise DatasetNotFoundError(f"{file}: no such file; check the path")
    found = [ending for ending in _ENDINGS if file.name.lower().endswith(ending)]
    if not found:
        raise DatasetFormatError(
            f"{file}: a dataset in one file ends in {', '.join(_ENDINGS)}; save it as one of these,"
            " or use read_mulan or read_meka for ARFF files"
        )
    name = file.name[: -len(found[0])] if name is None else name
    if name in (*CATALOG, *EMBEDDED):
        raise InputError(
            f"name is {name!r}, as a dataset that load_dataset knows; give another name=..."
        )
    if found[0] == ".npz":
        return read_npz(file, name, max_unpacked)
    if found[0] == ".mat":
        return read_pml(file, name=name, max_unpacked=max_unpacked)
    return read_svmlight(file, name=name, max_unpacked=max_unpacked)
