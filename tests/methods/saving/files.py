"""Model files taken apart and put together again by means of their own, with sound digests."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

import complabel
from complabel.errors import ModelFileError

KEY = "complabel"


def take_apart(path):
    """Return the header without its digests, and the arrays by name."""
    with safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()[KEY])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    del header["sha256"]
    return header, arrays


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def sealed(header, arrays, **further):
    """Return the bytes of a file with a digest that is right, as somebody hostile would write."""
    arrays = {name: np.array(array, order="C") for name, array in arrays.items()}
    whole = {**header, **further}
    digest = hashlib.sha256(canonical(whole).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.name} {array.shape}".encode() + array.tobytes())
    return save(arrays, metadata={KEY: canonical({**whole, "sha256": digest.hexdigest()})})


def changed(path, change):
    """Let a function change header and arrays of a file, and seal it again."""
    header, arrays = take_apart(path)
    change(header, arrays)
    Path(path).write_bytes(sealed(header, arrays))
    return path


def refused(path, said):
    with pytest.raises(ModelFileError, match=f"(?s)cannot be loaded: .*{said}") as caught:
        complabel.load(path)
    assert str(path) in str(caught.value)


def setting(*keys, to):
    """Make a change that puts something in a place of the header."""

    def change(header, arrays):
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = to

    return change


def array(name, to):
    """Make a change that puts another array in the place of one."""

    def change(header, arrays):
        arrays[name] = to(arrays[name])

    return change


def without(*keys):
    def change(header, arrays):
        for key in keys[:-1]:
            header = header[key]
        del header[keys[-1]]

    return change


def one(name, to, at=0):
    """Make a change of a single number of an array."""

    def put(found):
        found = found.copy()
        found.reshape(-1)[at] = to
        return found

    return array(name, put)
