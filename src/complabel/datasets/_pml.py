"""Partial multi-label datasets as MATLAB files: features, candidate labels and true labels."""

from complabel.datasets._dataset import MultiLabelDataset
from complabel.datasets._mat import mat_dataset
from complabel.datasets._matlab import read_matrices
from complabel.datasets._paths import StrPath, as_path, check_options, is_file
from complabel.datasets._reading import MAX_UNPACKED
from complabel.errors import DatasetNotFoundError


def read_pml(
    path: StrPath, *, name: str | None = None, max_unpacked: int = MAX_UNPACKED
) -> MultiLabelDataset:
    """Read a partial multi-label dataset from a MATLAB file of versions 5 to 7.

    Parameters
    ----------
    path : path
        Holds ``data`` (n, d), features; ``partial_labels`` (K, n), 1 where a label is a candidate;
        and ``target`` (K, n), 1 where it is truly relevant; each dense or sparse. Other variables
        are not read.
    name : str or None, default=None
        By default the file's name without its ending.
    max_unpacked : int, default=2**30
        The most bytes that the file may unpack to, and each of its matrices take in memory.

    Returns
    -------
    MultiLabelDataset
        ``excluded`` are the labels that are no candidates. Labels and features are numbered from
        0. X is a csr_array where ``data`` is sparse, or at most a tenth of it differs from zero.

    Raises
    ------
    DatasetNotFoundError
        If the file is missing or cannot be read.
    DatasetFormatError
        If it does not parse or unpack, is of MATLAB 7.3 or 4, lacks a variable, or holds matrices
        that do not fit together.
    InputError
        If an argument is of the wrong type.

    Notes
    -----
    A true label may be missing among the candidates, as the rules and people that chose them err.
    It is excluded then, and relevant all the same.

    Source: Xie and Huang, "Partial Multi-Label Learning", AAAI 2018, for the task; the layout is
    that of the files at https://palm.seu.edu.cn/zhangml/Resources.htm.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from scipy.io import savemat
    >>> path = Path(tempfile.mkdtemp()) / "toy.mat"
    >>> candidates, target = [[1, 0], [1, 1], [0, 1]], [[1, 0], [0, 1], [0, 1]]
    >>> savemat(path, {"data": np.eye(2), "partial_labels": candidates, "target": target})
    >>> read_pml(path).excluded
    array([[0, 0, 1],
           [1, 0, 0]], dtype=uint8)
    """
    check_options(max_unpacked, name=name)
    file = as_path("path", path)
    if not is_file(file):
        raise DatasetNotFoundError(f"{file}: no such file; check the path")
    found = read_matrices(file, [("data", "partial_labels", "target")], max_unpacked)
    return mat_dataset(file, found, file.stem if name is None else name, max_unpacked)
