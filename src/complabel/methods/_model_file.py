"""A model file: a tree of plain values as JSON, in the header of a safetensors file of its arrays.

Nothing in a file is executed, and nothing that it names is imported. Values that JSON does not have
become an object with one key that starts with ``$``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from complabel._parameters import AnyArray
from complabel.errors import InputError

_FORMAT = {"format": "complabel model", "version": 1}
# Only one key, because the library writes several keys in random order.
_KEY = "complabel"
_DAMAGED = "The file is damaged: use another copy of it, or fit and save again"
OTHER_VERSION = (
    "Another version of complabel made the file: make it again with complabel fit, or with"
    " classifier.save(path)"
)
# Truth values, integers with and without a sign, and floats.
_DTYPES = {np.dtype(code).name for code in "?bhilqBHILQefd"}
_ODD_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def write_tree(path: Path, tree: Mapping[str, Any]) -> None:
    """Write a tree; the same tree gives the same bytes."""
    from safetensors.numpy import save

    arrays: dict[str, AnyArray] = {}
    packed = {name: pack(value, name, arrays) for name, value in tree.items()}
    header = {**_FORMAT, **packed}
    text = _canonical(header | {"sha256": _digest(header, arrays)})
    # The library's save_file makes a file that only its owner may read, and raises no OSError.
    path.write_bytes(save(arrays, metadata={_KEY: text}))


def read_tree(path: Path) -> dict[str, Any]:
    """Read a tree; raise InputError if the file is not one that ``write_tree`` wrote."""
    return tree_of(*read_parts(path))


def tree_of(header: Mapping[str, Any], arrays: dict[str, AnyArray]) -> dict[str, Any]:
    """Return the tree of a header and its arrays."""
    with sound():
        return {name: unpack(value, arrays) for name, value in header.items() if name != "sha256"}


@contextlib.contextmanager
def sound() -> Iterator[None]:
    """Refuse what only another version, or a stranger, writes into a file with a right digest."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"a value in it is wrong ({error!s:.200}). {OTHER_VERSION}") from error


def read_parts(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header, with the digest as "sha256", and the arrays by name."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise InputError("there is no such file; classifier.save(path) writes one")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get(_KEY)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror or error}") from error
    except (SafetensorError, ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"it is not a safetensors file, or is incomplete or damaged ({str(error)[:200]}); use"
            " another copy of it, or fit and save again"
        ) from error
    if text is None:
        raise InputError("it is a safetensors file, but not written by complabel")
    return _checked(text, arrays), arrays


def _checked(text: str, arrays: Mapping[str, AnyArray]) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(text)
        digest = header.pop("sha256")
        expected = _digest(header, arrays)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise InputError(f"its header is not JSON written by complabel. {_DAMAGED}") from None
    if digest != expected:
        raise InputError(f"it has changed since it was written. {_DAMAGED}")
    if (made := {name: header.pop(name, None) for name in _FORMAT}) != _FORMAT:
        raise InputError(f"it has version {made['version']!r:.9} of the format. {OTHER_VERSION}")
    return {**header, "sha256": digest}


def _digest(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> str:
    digest = hashlib.sha256(_canonical(header).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.name} {array.shape}".encode())
        in_order = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
        digest.update(in_order.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _canonical(header: object) -> str:
    return json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)


def pack(value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
    """Return a value as JSON, and put its arrays into ``arrays``, each under its place.

    An array in column order keeps this order, because products with it are rounded accordingly.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if _is_plain(value):
        odd = isinstance(value, float) and not math.isfinite(value)
        return {"$float": repr(value)} if odd else value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) and key[:1] != "$" for key in value):
            raise InputError(f"{place} has keys that are not texts, or begin with $")
        return {str(key): pack(each, f"{place}.{key}", arrays) for key, each in value.items()}
    if isinstance(value, list | tuple):
        items = [pack(each, f"{place}.{at}", arrays) for at, each in enumerate(value)]
        return items if isinstance(value, list) else {"$tuple": items}
    if isinstance(value, np.random.Generator):
        state = dict(value.bit_generator.state)
        if state.pop("bit_generator") != "PCG64":
            raise InputError(
                f"{place} is a {type(value.bit_generator).__name__} generator, and only PCG64 can"
                " be saved; call set_params(random_state=None), or use numpy.random.default_rng"
            )
        return {"$generator": state}
    if isinstance(value, sparse.csr_array | sparse.csr_matrix):
        parts = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
        parts |= {"shape": [int(n) for n in value.shape], "matrix": sparse.isspmatrix(value)}
        return {"$csr": pack(parts, place, arrays)}
    if hasattr(value, "__array__"):
        return _pack_array(value, place, arrays)
    kind = f"the {value!r:.80}" if callable(value) else f"a {type(value).__name__}"
    raise InputError(f"{place} is {kind}, which is neither a plain value nor an array")


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _pack_array(value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        # Values under the mask could be anything, even old content of the memory.
        nothing: Any = np.zeros((), value.dtype)
        parts = {"data": value.filled(nothing[()]), "mask": np.ma.getmaskarray(value)}
        return {"$masked": pack(parts, place, arrays)}
    array = np.asarray(value)
    if array.dtype.kind == "U" and array.ndim == 1:
        return {"$texts": array.tolist()}
    if array.dtype == object and array.ndim == 1:
        items = [each.item() if isinstance(each, np.generic) else each for each in array]
        if all(map(_is_plain, items)):
            return {"$objects": pack(items, place, arrays)}
    if array.dtype.name not in _DTYPES:
        raise InputError(
            f"{place} is a {array.ndim}-D array of {array.dtype.name}; arrays of numbers and"
            " lists of names can be saved"
        )
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
    # The library writes an array's memory unchanged, in any order.
    arrays[place] = np.array(array.T if by_columns else array, order="C")
    return {"$by_columns" if by_columns else "$array": place}


def unpack(value: Any, arrays: dict[str, AnyArray]) -> Any:
    """Return the value that ``pack`` was given."""
    return json.loads(json.dumps(value), object_hook=partial(_unmarked, arrays))


def _unmarked(arrays: dict[str, AnyArray], record: dict[str, Any]) -> Any:
    mark = next(iter(record), "")
    if mark[:1] != "$":
        return record
    value = arrays[record[mark]] if mark in ("$array", "$by_columns") else record[mark]
    return _OF_MARK[mark](value)


def _csr(parts: Any) -> Any:
    kind = sparse.csr_matrix if parts["matrix"] is True else sparse.csr_array
    rows = kind((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
    rows.check_format(full_check=True)  # an index out of range would be memory out of range
    return rows


def _generator(state: Any) -> np.random.Generator:
    made: Any = np.random.PCG64(0)
    made.state = {"bit_generator": "PCG64", **state}
    return np.random.Generator(made)


_OF_MARK: Mapping[str, Callable[[Any], Any]] = {
    "$array": lambda array: array,
    "$by_columns": np.transpose,
    "$csr": _csr,
    "$float": _ODD_NUMBERS.__getitem__,
    "$generator": _generator,
    "$masked": lambda parts: np.ma.MaskedArray(parts["data"], mask=parts["mask"]),
    "$objects": partial(np.array, dtype=object),
    "$texts": partial(np.array, dtype=np.str_),
    "$tuple": tuple,
}
