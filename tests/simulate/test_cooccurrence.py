import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from complabel.errors import AnnotationError
from complabel.simulate import cooccurrence


def test_worked_by_hand():
    # Label 0 in rows 0, 1, 2; label 1 in rows 0, 3; label 2 in rows 0, 1.
    indicator = [[1, 1, 1], [1, 0, 1], [1, 0, 0], [0, 1, 0]]
    expected = [[1, 1 / 3, 2 / 3], [1 / 2, 1, 1 / 2], [1, 1 / 2, 1]]
    np.testing.assert_allclose(cooccurrence(indicator), expected, rtol=1e-15)


@given(
    hnp.arrays(
        np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=st.integers(0, 1)
    )
)
def test_equals_conditional_means(indicator):
    indicator[0] = 1
    expected = np.stack([indicator[column == 1].mean(axis=0) for column in indicator.T])
    np.testing.assert_allclose(cooccurrence(indicator), expected, rtol=1e-12)
    np.testing.assert_array_equal(
        cooccurrence(sparse.csr_array(indicator)), cooccurrence(indicator)
    )


def test_a_label_without_rows_is_refused_by_number():
    with pytest.raises(AnnotationError, match=r"^label 1 is 1 in no row"):
        cooccurrence([[1, 0, 1], [0, 0, 1]])
