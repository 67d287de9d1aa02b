import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from complabel.importers._hashes import HashSet, hashes_of, paired

HASHES = st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=8), max_size=5)


def filled(pieces):
    made = HashSet()
    for piece in pieces:
        made.add(np.array(piece, dtype=np.uint64))
    return made


@pytest.mark.parametrize("per_range", [1, 3, 1 << 20])
@given(first=HASHES, second=HASHES)
def test_counts_are_those_of_python_sets(per_range, first, second):
    from unittest.mock import patch

    one, two = (set().union(*pieces) for pieces in (first, second))
    with patch("complabel.importers._hashes._PER_RANGE", per_range):
        assert filled(first).count() == len(one)
        assert filled(first).count_shared(filled(second)) == len(one & two)


def test_equal_texts_have_equal_hashes_in_any_array():
    one = hashes_of(pa.array(["a", None, "b", "a"]))
    two = hashes_of(pa.array(["x", "b", "a", ""]))
    assert one[0] == one[3] == two[2]
    assert one[2] == two[1]
    assert one[1] == two[3]
    assert len({*one.tolist(), *two.tolist()}) == 4


def test_pairs_do_not_meet():
    texts = hashes_of(pa.array([str(number) for number in range(1000)]))
    first, second = np.repeat(texts, 1000), np.tile(texts, 1000)
    assert len(set(paired(first, second).tolist())) == 1_000_000
