"""What plain values and arrays become in a file, and that they come back."""

import json

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from complabel.persistence import RefusedError
from complabel.persistence._file import opened, write_file
from complabel.persistence._stored import read
from complabel.persistence._values import DTYPES, packed, unpacked

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
    st.sampled_from([*DTYPES, ">f8", ">i4"]), arrays.array_shapes(min_dims=1, min_side=0)
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
    text = json.dumps(packed(value, "x", tensors), sort_keys=True, allow_nan=False)
    return json.loads(text)


@given(trees)
@example(("\ud800", {"": [float("-inf"), ()]}, np.float32(0.5).item()))
def test_plain_values_come_back(value):
    tensors = {}
    found = unpacked(through_json(value, tensors), "x", None)
    assert same(found, value)
    assert not tensors


@given(numbers, layouts)
def test_arrays_come_back_through_a_file(tmp_path_factory, array, layout):
    array = layout(array)
    path, tensors = tmp_path_factory.mktemp("file") / "f", {}
    write_file(path, {"x": packed(array, "x", tensors)}, tensors)
    with opened(path) as file:
        stored = unpacked(file.header["x"], "x", file.find)
        assert (stored.shape, stored.dtype) == (array.shape, array.dtype.newbyteorder("="))
        found = stored.read()
    assert found.tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()
    # Products are rounded in the order of the layout: it must stay.
    if array.flags.f_contiguous or array.flags.c_contiguous:
        assert found.flags.f_contiguous == array.flags.f_contiguous


def test_arrays_without_axes_of_names_and_of_objects(tmp_path):
    value = {
        "none": np.array(2.5),
        "names": np.array(["a", "\u5929"]),
        "objects": np.array([1, "a", None, 0.5, True], dtype=object),
        "masked": np.ma.MaskedArray([1.0, 5.0], mask=[True, False]),
        "masked names": np.ma.MaskedArray(["a", "b"], mask=[True, False]),
        "few": np.ma.MaskedArray([1, None], mask=False, dtype=object),
    }
    tensors = {}
    write_file(tmp_path / "f", {"x": packed(value, "x", tensors)}, tensors)
    assert tensors["x.none"].shape == ()
    with opened(tmp_path / "f") as file:
        stored = unpacked(file.header["x"], "x", file.find)
        found = {name: read(each) for name, each in stored.items()}
    assert {name: each.tolist() for name, each in found.items()} == {
        name: each.tolist() for name, each in value.items()
    }
    assert {name: type(each) for name, each in found.items()} == {
        name: type(each) for name, each in value.items()
    }


def test_what_lies_under_a_mask_is_not_written():
    secret = np.ma.MaskedArray([123.0, 5.0], mask=[True, False])
    names = np.ma.MaskedArray(["secret", "b"], mask=[True, False])
    tensors = {}
    text = json.dumps(packed({"a": secret, "b": names}, "x", tensors))
    assert "secret" not in text
    assert 123.0 not in tensors["x.a.data"]


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("rows", [[[0, 1, 2], [0, 0, 0], [3, 0, 4]], [[0, 0, 0]]], ids=len)
def test_sparse_matrices_come_back(tmp_path, form, rows):
    matrix = form(np.array(rows, dtype=np.float64))
    tensors = {}
    write_file(tmp_path / "f", {"x": packed(matrix, "x", tensors)}, tensors)
    with opened(tmp_path / "f") as file:
        found = unpacked(file.header["x"], "x", file.find).read()
    assert type(found) is type(matrix)
    assert found.toarray().tolist() == rows


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(2, dtype=complex),
        np.array(["2026-01-01"], dtype="M8[D]"),
        np.array([b"a"]),
        np.array([["a"]]),
        np.array([object()], dtype=object),
        np.longdouble(1),
        sparse.csc_array((2, 2)),
        {1: 2},
        {"$array": 1},
        {1, 2},
        b"bytes",
        print,
        lambda: None,
    ],
    ids=[
        *("complex", "dates", "bytes array", "2-D names", "objects", "longdouble", "csc"),
        *("number as key", "mark", "set", "bytes", "function", "lambda"),
    ],
)
def test_what_cannot_be_saved_is_refused_by_its_place(value):
    with pytest.raises(RefusedError, match=r"^there\.\w+ "):
        packed({"here": 1, "value": value}, "there", {})
