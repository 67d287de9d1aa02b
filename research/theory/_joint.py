"""The joint distribution of x and Y over finitely many x and all label sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from research.theory._families import (
    dependent_sets,
    fitted_ising_sets,
    independent_sets,
    ising_sets,
)
from research.theory._label_sets import label_sets, n_labels_of
from research.theory._sample import Sample, draw

from complabel._parameters import check_integer, check_random_state, check_real
from complabel.answers import IndicatorLike, check_relevant
from complabel.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """A joint distribution of x and Y, which gives p(x) and p(Y|x) for m points x.

    Y is any label set but the empty and the full one. Leading axes hold several distributions,
    and all quantities that are computed from them keep these axes.

    Parameters
    ----------
    weights : ndarray of shape (..., m), float64
        p(x).
    conditional : ndarray of shape (..., m, 2**K - 2), float64
        p(Y|x), with the sets in the order of :func:`label_sets`. K is at most 16.

    Raises
    ------
    InputError
        If shapes do not fit, or rows are not probabilities that sum to 1.

    Examples
    --------
    There are three labels, and exactly the first two always apply:

    >>> always = JointDistribution.dependent([[0, 0, 1]], n_labels=3)
    >>> always.marginals
    array([[1., 1., 0.]])
    """

    weights: NDArray[np.float64]
    conditional: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name in ("weights", "conditional"):
            values = np.array(getattr(self, name), dtype=np.float64)  # a copy
            if not (values >= 0).all() or not np.allclose(values.sum(axis=-1), 1, atol=1e-9):
                raise InputError(f"{name} must be probabilities that sum to 1 along the last axis")
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        if self.weights.shape != self.conditional.shape[:-1]:
            raise InputError(
                f"p(x) has shape {self.weights.shape} and p(Y|x) {self.conditional.shape}: "
                "all axes of p(x) must be the first axes of p(Y|x)"
            )
        n_labels_of(self.conditional.shape[-1])

    @classmethod
    def independent(
        cls, marginals: ArrayLike, *, weights: ArrayLike | None = None
    ) -> JointDistribution:
        """Build a distribution whose labels are independent given x.

        The empty and the full set are left out, and p(Y|x) is normalized again.

        Parameters
        ----------
        marginals : array-like of shape (..., m, K)
            Probability of each label before the empty and the full set are left out. The
            attribute :attr:`marginals` has the probabilities after that.
        weights : array-like of shape (..., m) or None, default=None
            p(x); None is uniform.
        """
        return cls._at(independent_sets(marginals), weights)

    @classmethod
    def ising(
        cls, fields: ArrayLike, couplings: ArrayLike, *, weights: ArrayLike | None = None
    ) -> JointDistribution:
        """Build the one with p(Y|x) proportional to exp(sum_k h_k y_k + sum_{j<k} J_jk y_j y_k).

        Parameters
        ----------
        fields : array-like of shape (..., m, K)
            h at each x.
        couplings : array-like of shape (K, K)
            J, a symmetric matrix with diagonal 0.
        weights : array-like of shape (..., m) or None, default=None
            p(x); None is uniform.
        """
        return cls._at(ising_sets(fields, couplings), weights)

    @classmethod
    def ising_with(
        cls, marginals: ArrayLike, covariances: ArrayLike, *, weights: ArrayLike | None = None
    ) -> JointDistribution:
        """Build the Ising distribution with given probabilities and covariances of labels.

        Fields and couplings are fitted to these moments. The moments hold after the empty and
        the full set are left out.

        Parameters
        ----------
        marginals : array-like of shape (m, K)
            p(y_k = 1 | x).
        covariances : array-like of shape (K, K) or (m, K, K)
            Covariances of labels given x. The diagonal is not used.
        weights : array-like of shape (m,) or None, default=None
            p(x); None is uniform.

        Raises
        ------
        InputError
            If no such distribution exists.
        """
        return cls._at(fitted_ising_sets(marginals, covariances), weights)

    @classmethod
    def dependent(
        cls,
        group: ArrayLike,
        *,
        n_labels: int,
        exclusive: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> JointDistribution:
        """Build one where the first s labels depend on each other, as in Theorem 2.

        Parameters
        ----------
        group : array-like of shape (..., m, 2**s - 1)
            Probabilities of the non-empty sets of the first s labels. For s = 2 they are: only
            label 0, only label 1, both.
        n_labels : int
            K, more than s.
        exclusive : array-like of shape (..., m, K - s) or None, default=None
            Probability of each other label to apply alone. This is the wider reading of "the
            rest are mutually exclusive". With None, Y is a set of the first s labels.
        weights : array-like of shape (..., m) or None, default=None
            p(x); None is uniform.
        """
        return cls._at(dependent_sets(group, n_labels=n_labels, exclusive=exclusive), weights)

    @classmethod
    def empirical(cls, Y: IndicatorLike, *, groups: ArrayLike | None = None) -> JointDistribution:
        """Build the distribution of the label sets of a dataset.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_samples, K)
            Relevant labels. Each row has at least one of them, and not all.
        groups : array-like of shape (n_samples,) or None, default=None
            The group of each row, such as the number of a cluster. Groups replace x: the
            sorted groups are the points. With None, all rows are one point.
        """
        relevant = check_relevant(Y)
        size = len(label_sets(relevant.shape[1]))
        sets = relevant @ (1 << np.arange(relevant.shape[1])) - 1
        labels = np.zeros(len(sets)) if groups is None else np.asarray(groups)
        if labels.shape != sets.shape:
            raise InputError(f"groups have shape {labels.shape}, expected ({len(sets)},)")
        names, points = np.unique(labels, return_inverse=True)
        counts = np.bincount(points * size + sets, minlength=len(names) * size)
        counts = counts.reshape(len(names), size)
        totals = counts.sum(axis=1)
        return cls(totals / totals.sum(), counts / totals[:, np.newaxis])

    @classmethod
    def random(
        cls,
        n_labels: int,
        *,
        n_points: int = 1,
        size: tuple[int, ...] = (),
        concentration: float = 1.0,
        n_dependent: int | None = None,
        exclusive: bool = False,
        random_state: int | np.random.Generator | None = None,
    ) -> JointDistribution:
        """Draw p(x) and, at each x, p(Y|x) from Dirichlet distributions.

        Parameters
        ----------
        n_labels : int
            K.
        n_points : int, default=1
            m.
        size : tuple of int, default=()
            Leading axes of the arrays, which say how many distributions are drawn.
        concentration : float, default=1.0
            Parameter of the Dirichlet distribution of p(Y|x). If it is below 1, few label sets
            have most of the probability.
        n_dependent : int or None, default=None
            s, if Y is a set of the first s labels, as in :meth:`dependent`. None allows all sets.
        exclusive : bool, default=False
            Only used with ``n_dependent``: whether Y may also be one of the other labels alone.
        random_state : int, numpy.random.Generator or None, default=None
        """
        check_integer("n_points", n_points, at_least=1)
        check_real("concentration", concentration, above=0)
        rng = check_random_state(random_state)
        sets = label_sets(n_labels)
        if n_dependent is None:
            possible = np.arange(len(sets))
        else:
            inside = ~sets[:, n_dependent:].any(axis=1)
            possible = np.flatnonzero(inside | (exclusive & (sets.sum(axis=1) == 1)))
        conditional = np.zeros((*size, n_points, len(sets)))
        chances = rng.dirichlet(np.full(len(possible), concentration), (*size, n_points))
        conditional[..., possible] = chances
        return cls(rng.dirichlet(np.ones(n_points), size), conditional)

    @property
    def n_labels(self) -> int:
        """The number of labels, K."""
        return n_labels_of(self.conditional.shape[-1])

    @property
    def marginals(self) -> NDArray[np.float64]:
        """p(y_k = 1 | x), (..., m, K)."""
        return np.asarray(self.conditional @ label_sets(self.n_labels))

    @property
    def sets(self) -> NDArray[np.float64]:
        """p(Y), (..., 2**K - 2)."""
        return np.asarray((self.weights[..., np.newaxis, :] @ self.conditional)[..., 0, :])

    @property
    def label_frequencies(self) -> NDArray[np.float64]:
        """p(y_k = 1), (..., K)."""
        return np.asarray(self.sets @ label_sets(self.n_labels))

    def sample(
        self,
        n_samples: int,
        choice: NDArray[np.float64],
        *,
        random_state: int | np.random.Generator | None = None,
    ) -> Sample:
        """Draw items: first x, then Y given x, then one complementary label given Y.

        Parameters
        ----------
        n_samples : int
        choice : ndarray of shape (2**K - 2, K), float64
            p(ybar|Y), for example from :func:`uniform_choice`.
        random_state : int, numpy.random.Generator or None, default=None

        Returns
        -------
        Sample

        Raises
        ------
        InputError
            If leading axes hold several distributions.
        """
        check_integer("n_samples", n_samples, at_least=1)
        if self.weights.ndim != 1:
            raise InputError("only one distribution can be sampled, without leading axes")
        rng = check_random_state(random_state)
        points = draw(self.weights[np.newaxis], np.zeros(n_samples, dtype=np.intp), rng)
        sets = draw(self.conditional, points, rng)
        named = draw(choice, sets, rng)
        complementary = np.zeros((n_samples, self.n_labels), dtype=np.uint8)
        complementary[np.arange(n_samples), named] = 1
        return Sample(points, label_sets(self.n_labels)[sets].astype(np.uint8), complementary)

    @classmethod
    def _at(cls, conditional: NDArray[np.float64], weights: ArrayLike | None) -> JointDistribution:
        """Build a distribution from p(Y|x); p(x) is uniform if it is not given."""
        shape = conditional.shape[:-1]
        given = 1 / shape[-1] if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(np.broadcast_to(given, shape), conditional)
