"""What plain values and arrays become in a file, and that they come back."""

import json

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from tests.refusals import raises

from complabel.errors import InputError
from complabel.methods._model_file import _DTYPES, pack, read_tree, unpack, write_tree

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters(codec=None))
)
keys = st.text().filter(lambda key: key[:1] != "$")
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner) | st.lists(inner).map(tuple),
    max_leaves=20,
)
layouts = st.sampled_from([np.asarray, np.asfortranarray, lambda a: a[::-1], lambda a: a[..., ::2]])
numbers = arrays.arrays(
    st.sampled_from([*sorted(_DTYPES), ">f8", ">i4"]), arrays.array_shapes(min_dims=1, min_side=0)
)


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (np.isnan(one) and np.isnan(other))
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


def through_json(value, tensors):
    text = json.dumps(pack(value, "x", tensors), sort_keys=True, allow_nan=False)
    return json.loads(text)


@given(trees)
@example(("\ud800", {"": [float("-inf"), ()]}, np.float32(0.5).item()))
def test_plain_values_come_back(value):
    tensors = {}
    assert same(unpack(through_json(value, tensors), {}), value)
    assert not tensors


def there_and_back(value, path):
    write_tree(path, {"x": value})
    return read_tree(path)["x"]


@given(numbers, layouts)
def test_arrays_come_back_through_a_file(tmp_path_factory, array, layout):
    array = layout(array)
    found = there_and_back(array, tmp_path_factory.mktemp("file") / "f")
    expected = array.astype(array.dtype.newbyteorder("="))
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert found.tobytes() == expected.tobytes()
    # Products are rounded in the order of the layout: it must stay.
    if array.flags.f_contiguous or array.flags.c_contiguous:
        assert found.flags.f_contiguous == array.flags.f_contiguous


@pytest.mark.parametrize(
    "value",
    [
        np.array(2.5),
        np.array(["a", "\u5929"]),
        np.array([1, "a", None, 0.5, True], dtype=object),
        np.ma.MaskedArray([1.0, 5.0], mask=[True, False]),
        np.ma.MaskedArray(["a", "b"], mask=[True, False]),
        np.ma.MaskedArray([1, None], mask=False, dtype=object),
    ],
    ids=["no axes", "names", "objects", "masked", "masked names", "masked objects"],
)
def test_other_arrays_come_back(value, tmp_path):
    found = there_and_back(value, tmp_path / "f")
    assert (type(found), found.shape) == (type(value), value.shape)
    assert found.tolist() == value.tolist()


def test_what_lies_under_a_mask_is_not_written():
    secret = np.ma.MaskedArray([123.0, 5.0], mask=[True, False])
    names = np.ma.MaskedArray(["secret", "b"], mask=[True, False])
    tensors = {}
    assert "secret" not in json.dumps(pack({"a": secret, "b": names}, "x", tensors))
    assert 123.0 not in tensors["x.a.data"]


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("rows", [[[0, 1, 2], [0, 0, 0], [3, 0, 4]], [[0, 0, 0]]], ids=len)
def test_sparse_matrices_come_back(tmp_path, form, rows):
    found = there_and_back(form(np.array(rows, dtype=np.float64)), tmp_path / "f")
    assert type(found) is form
    assert found.toarray().tolist() == rows


@pytest.mark.parametrize(
    "value",
    [
        *(np.zeros(2, dtype=complex), np.array(["2026-01-01"], dtype="M8[D]"), np.array([b"a"])),
        *(np.array([["a"]]), np.array([object()], dtype=object), np.longdouble(1)),
        *(sparse.csc_array((2, 2)), {1: 2}, {"$array": 1}, {1, 2}, b"bytes", print, lambda: None),
    ],
    ids=[
        *("complex", "dates", "bytes array", "2-D names", "objects", "longdouble", "csc"),
        *("number as key", "mark", "set", "bytes", "function", "lambda"),
    ],
)
def test_what_cannot_be_saved_is_refused_by_its_place(value):
    with raises(InputError, "there."):
        pack({"here": 1, "value": value}, "there", {})
