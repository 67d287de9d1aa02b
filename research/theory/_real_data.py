"""Transition matrices on real data: distance from the exact one, and how well MLCL ranks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from research.theory._choice import cooccurrence_choice, uniform_choice
from research.theory._joint import JointDistribution
from research.theory._transition import distortion, exact_transition
from sklearn.model_selection import GroupKFold, KFold

from complabel import metrics
from complabel.answers import UnchosenLabelWarning
from complabel.errors import InputError
from complabel.experiments.methods import make_paper_classifier
from complabel.methods import MLCLClassifier
from complabel.simulate import Scheme, draw_complementary
from complabel.transition import corrected_transition, uniform_transition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.datasets import MultiLabelDataset

MOST_LABELS = 15
"""More labels have too many label sets for an exact matrix."""

SHARPNESS = 4.0
"""Sharpness of the biased draw, the same as in the survey."""

MATRICES = ("S", "S C'", "uniform", "exact")
"""The matrices that are compared. The last one is computed from true labels."""


@dataclass(frozen=True, eq=False)
class MatrixCost:
    """Results of one matrix on one dataset, with one draw of complementary labels, by fold."""

    dataset: str
    scheme: str
    matrix: str
    label_names: tuple[str, ...]
    distortion: NDArray[np.float64]
    """(folds, K), l_j, the distance from the exact matrix of the training part."""
    average_precision: NDArray[np.float64]
    """(folds,), average precision on the test part, after MLCL is trained with this matrix."""
    n_samples: int
    cardinality: float

    @property
    def from_true_labels(self) -> bool:
        """Whether the matrix is computed from true labels, which no method can have."""
        return self.matrix == "exact"


def compare_fold(
    dataset: MultiLabelDataset,
    scheme: Scheme,
    fold: int,
    *,
    n_folds: int = 3,
    random_state: int = 0,
    epochs: int = 200,
) -> dict[str, tuple[NDArray[np.float64], float]]:
    """Estimate the matrices in one fold, and train MLCL with each of them.

    MLCL has the settings that the paper states for the dataset. If the paper states none, the
    learning rate is 0.01.

    Parameters
    ----------
    dataset : MultiLabelDataset
        A dataset of at most 15 labels. Each row has at least one relevant label, and not all.
    scheme : {"uniform", "biased"}
        Scheme of the draw. Biased draws have sharpness 4.
    fold : int
        Number of the fold, from 0.
    n_folds : int, default=3
    random_state : int, default=0
        Seed of the draw, the folds and the method.
    epochs : int, default=200

    Returns
    -------
    dict of str to (ndarray of shape (K,), float)
        The distortion of each label, and the average precision, for each matrix.

    Raises
    ------
    InputError
        If the dataset has more than 15 labels.
    """
    n_labels = dataset.n_labels
    if n_labels > MOST_LABELS:
        raise InputError(
            f"{dataset.name} has {n_labels} labels; exact matrices take at most {MOST_LABELS}"
        )
    complementary = draw_complementary(
        dataset.Y, scheme=scheme, sharpness=SHARPNESS, random_state=random_state
    )
    splitter = KFold if dataset.groups is None else GroupKFold
    folds = splitter(n_splits=n_folds, shuffle=True, random_state=random_state)
    train, test = list(folds.split(dataset.X, groups=dataset.groups))[fold]
    choice = uniform_choice(n_labels)
    if scheme == "biased":
        choice = cooccurrence_choice(JointDistribution.empirical(dataset.Y), sharpness=SHARPNESS)
    exact = exact_transition(JointDistribution.empirical(dataset.Y[train]), choice)
    uniform = uniform_transition(n_labels)
    # If no training row has a label, its row of T is undefined, and the uniform one replaces it.
    exact = np.where(np.isnan(exact), uniform, exact)

    def fitted(transition: str | NDArray[np.float64]) -> MLCLClassifier:
        classifier = make_paper_classifier(
            "mlcl",
            dataset.name,
            transition=transition,
            random_state=random_state,
            epochs=epochs,
        )
        assert isinstance(classifier, MLCLClassifier)
        if classifier.learning_rate == "auto":  # a search takes ten times as long
            classifier.learning_rate = 0.01
        with warnings.catch_warnings():  # some label may never be named, which is no error here
            warnings.simplefilter("ignore", UnchosenLabelWarning)
            return classifier.fit(dataset.X[train], complementary[train])

    paper = fitted("estimate")
    classifiers = {
        "S": fitted(corrected_transition(paper.initial_transition_)),
        "S C'": paper,
        "uniform": fitted("uniform"),
        "exact": fitted(exact),
    }
    return {
        name: (
            distortion(exact, classifier.transition_),
            metrics.average_precision(dataset.Y[test], classifier.predict_proba(dataset.X[test])),
        )
        for name, classifier in classifiers.items()
    }


def matrix_costs(
    dataset: MultiLabelDataset,
    scheme: Scheme,
    folds: Sequence[dict[str, tuple[NDArray[np.float64], float]]],
) -> list[MatrixCost]:
    """Combine the results of :func:`compare_fold` over the folds, for each matrix.

    Parameters
    ----------
    dataset : MultiLabelDataset
    scheme : {"uniform", "biased"}
    folds : sequence of dicts
        What :func:`compare_fold` returns for each fold.

    Returns
    -------
    list of MatrixCost
        One for each matrix.
    """
    return [
        MatrixCost(
            dataset.name,
            scheme,
            matrix,
            dataset.label_names,
            np.array([fold[matrix][0] for fold in folds]),
            np.array([fold[matrix][1] for fold in folds]),
            dataset.n_samples,
            dataset.label_cardinality,
        )
        for matrix in MATRICES
    ]
