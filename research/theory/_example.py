"""Figure 2 of the paper as a worked example with three labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from research.theory._joint import JointDistribution
from research.theory._transition import (
    EstimatedTransitions,
    estimated_transitions,
    exact_transition,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Figure2:
    """The method's estimates from one p(ybar|x), and two distributions that both give it."""

    estimated: EstimatedTransitions
    """S, C and T as the method estimates them. They are the same for both distributions."""
    pairs: JointDistribution
    """The distribution in which exactly two labels always apply."""
    single: JointDistribution
    """The distribution in which exactly one label always applies."""
    choice: NDArray[np.float64]
    """(6, 3), p(ybar|Y), the same for both distributions."""
    pairs_transition: NDArray[np.float64]
    """(3, 3), the exact T of ``pairs``. It has T_12 < T_13, as in the figure."""
    single_transition: NDArray[np.float64]
    """(3, 3), the exact T of ``single``. It has T_12 > T_13."""


def worked_example() -> Figure2:
    """Return an example of three labels with the inequalities of Figure 2 of the paper.

    The paper's text does not give the figure's numbers. It says that S_12 > S_13, that C_12 is
    strong, and that T_12 < T_13 after the correction. The example has two equally likely x,
    with p(ybar|x) equal to (0, 3/5, 2/5) and (3/5, 0, 2/5). So

    - S_12 = 3/7 > S_13 = 2/5,
    - C_12 = 4/7 > C_13 = 3/7,
    - T_12 = 42/85 < T_13 = 43/85.

    Two distributions of label sets have these p(ybar|x). The exact T of one has
    T_12 = 3/7 < T_13 = 4/7. The exact T of the other has T_12 = 3/5 > T_13 = 2/5.

    Returns
    -------
    Figure2

    Examples
    --------
    >>> example = worked_example()
    >>> example.estimated.initial[0].round(3), example.estimated.corrected[0].round(3)
    (array([0.   , 0.429, 0.4  ]), array([0.   , 0.494, 0.506]))
    """
    # Rows are {1}, {2}, {1, 2}, {3}, {1, 3}, {2, 3}; the paper counts labels from 1.
    choice = np.array(
        [[0, 0.6, 0.4], [0.6, 0, 0.4], [0, 0, 1], [0.5, 0.5, 0], [0, 1, 0], [1, 0, 0]],
        dtype=np.float64,
    )
    halves = np.full(2, 0.5)
    pairs = JointDistribution(halves, np.array([[0, 0, 0.4, 0, 0.6, 0], [0, 0, 0.4, 0, 0, 0.6]]))
    single = JointDistribution(halves, np.eye(6)[:2])
    return Figure2(
        estimated=estimated_transitions(pairs, choice),
        pairs=pairs,
        single=single,
        choice=choice,
        pairs_transition=exact_transition(pairs, choice),
        single_transition=exact_transition(single, choice),
    )
