"""Figure 2: the worked example in fractions, and what the correction can and cannot do."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from research.theory import complementary_probabilities, worked_example

from complabel.transition import corrected_transition

ENTRIES = st.floats(0.01, 0.99)


def matrix(diagonal):
    """Random matrices (4, 4) with a given diagonal."""
    return st.lists(ENTRIES, min_size=16, max_size=16).map(
        lambda values: np.where(np.eye(4), diagonal, np.reshape(values, (4, 4)))
    )


def test_the_figure_by_hand():
    q = [
        [Fraction(0), Fraction(3, 5), Fraction(2, 5)],
        [Fraction(3, 5), Fraction(0), Fraction(2, 5)],
    ]  # p(ybar|x) at two x, half each
    share = [(q[0][j] + q[1][j]) / 2 for j in range(3)]
    S = [
        [sum((1 - q[x][k]) * q[x][j] for x in range(2)) / 2 / (1 - share[k]) for j in range(3)]
        for k in range(3)
    ]
    C = [[1 if j == k else 1 - share[j] / (1 - share[k]) for j in range(3)] for k in range(3)]
    assert (S[0][1], S[0][2]) == (Fraction(3, 7), Fraction(2, 5))  # S_12 > S_13
    assert (C[0][1], C[0][2]) == (
        Fraction(4, 7),
        Fraction(3, 7),
    )  # C_12 is the stronger correlation
    # (S C^T)_1j with S_11 = 0
    T_12 = S[0][1] * C[1][1] + S[0][2] * C[1][2]
    T_13 = S[0][1] * C[2][1] + S[0][2] * C[2][2]
    assert (Fraction(3, 5), Fraction(43, 70)) == (T_12, T_13)
    assert (Fraction(42, 85), Fraction(43, 85)) == (T_12 / (T_12 + T_13), T_13 / (T_12 + T_13))

    example = worked_example()
    for joint in (example.pairs, example.single):
        named = complementary_probabilities(joint, example.choice)
        np.testing.assert_allclose(named, [[0, 0.6, 0.4], [0.6, 0, 0.4]])
    estimate = example.estimated
    np.testing.assert_allclose(estimate.initial[0], [0, 3 / 7, 2 / 5])
    np.testing.assert_allclose(estimate.correlation[0], [1, 4 / 7, 3 / 7])
    np.testing.assert_allclose(estimate.corrected[0], [0, 42 / 85, 43 / 85])


def test_two_truths_lead_to_the_same_figure():
    example = worked_example()
    # Pairs: label 1 applies at the first x always, and at the second with 2/5 ({1, 2}).
    # It is there with label 2 named 1/2 * 3/5, with label 3 named 1/2 * (2/5 + 2/5).
    applies = Fraction(1, 2) + Fraction(1, 2) * Fraction(2, 5)
    assert Fraction(1, 2) * Fraction(3, 5) / applies == Fraction(3, 7)
    np.testing.assert_allclose(example.pairs_transition[0], [0, 3 / 7, 4 / 7])
    np.testing.assert_allclose(example.single_transition[0], [0, 3 / 5, 2 / 5])
    # Labels 1 and 2 occur together more often than 1 and 3, as the figure's words say.
    together = example.pairs.sets
    assert together[2] > together[4]


@given(matrix(0.0), matrix(1.0), ENTRIES)
def test_a_strong_correlation_with_k_itself_does_not_touch_its_row(S, C, value):
    changed = C.copy()
    changed[:, 0] = value  # C_j1 meets S_11 = 0
    changed[0, 0] = 1
    changed[0, 1:] = value  # C_1j belongs to T_k1, which is 0 in row 1
    np.testing.assert_allclose(corrected_transition(S, changed)[0], corrected_transition(S, C)[0])


@given(matrix(0.0), matrix(1.0), st.integers(1, 3), st.integers(1, 3), st.floats(0, 0.5))
def test_a_stronger_correlation_never_lowers_the_entry_of_its_label(S, C, j, i, more):
    changed = C.copy()
    changed[j, i] += more
    before, after = corrected_transition(S, C)[0], corrected_transition(S, changed)[0]
    assert after[j] >= before[j] - 1e-12


@given(matrix(0.0), matrix(1.0))
def test_with_a_symmetric_correlation_three_labels_keep_their_order(S, C):
    S, C = S[:3, :3], (C + C.T)[:3, :3] / 2
    T = corrected_transition(S, C)
    assert (S[0, 1] - S[0, 2]) * (T[0, 1] - T[0, 2]) >= -1e-12
