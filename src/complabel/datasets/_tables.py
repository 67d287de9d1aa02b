"""Load the user's own dataset from tables: features, answers of people, and true labels."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from complabel._opening import StrPath, StrPaths, as_path
from complabel.answers import ContradictionPolicy, Question
from complabel.datasets._dataset import MultiLabelDataset, numbered
from complabel.errors import InputError
from complabel.files import read_answers, read_features, read_label_names, read_truth, rows_of


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
        said = read_answers(
            answers,
            items=list(found.items),
            label_names=names,
            question=question,
            contradictions=contradictions,
        ).answers
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
