"""Saving and loading fitted classifiers, and reading the headers of their files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel import __version__
from complabel._writing import explained, replacing
from complabel.errors import ModelFileError
from complabel.persistence._file import OpenFile, opened, write_file
from complabel.persistence._kinds import Context, refuse_other_names
from complabel.persistence._parts import PARTS, Fitted
from complabel.persistence._probes import compare_probes, probes_of
from complabel.persistence._refused import RefusedError
from complabel.persistence._values import packed, unpacked

if TYPE_CHECKING:
    from numpy.typing import NDArray


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    known: Mapping[str, str],
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted model to a file; the file appears after a test that it loads correctly.

    Parameters
    ----------
    model : object
        A fitted model of one of the known classes.
    path : path-like
    known : mapping of str to str
        The places of the classes that may be saved, ``"module:Class"``, by their names in files.
    provenance : mapping of str to object or None, default=None
        Facts that the caller adds: plain values that JSON can hold.

    Raises
    ------
    ModelFileError
        If the model cannot be saved. An older file is unchanged.
    OutputError
        If the file cannot be written. An older file is unchanged.
    """
    tensors: dict[str, NDArray[Any]] = {}
    target = Path(path)
    try:
        plain = Fitted().plain(model, Context(known)) | {"probes": probes_of(model)}
        header = {name: packed(each, name, tensors) for name, each in plain.items()}
        header["provenance"] = _provenance(provenance)
        with explained(target), replacing(target) as partial:
            write_file(partial, header, tensors)
            with opened(partial) as file:
                _load(file, known)
    except RefusedError as refusal:
        raise ModelFileError(f"the classifier cannot be saved: {refusal}") from refusal.__cause__


def load_model(path: str | os.PathLike[str], *, known: Mapping[str, str]) -> Any:
    """Load a model that ``save_model`` wrote. Nothing that a file names is imported.

    Parameters
    ----------
    path : path-like
    known : mapping of str to str
        The places of the classes that may be loaded, ``"module:Class"``, by their names in files.

    Returns
    -------
    object
        A model of one of these classes.

    Raises
    ------
    ModelFileError
        If the file cannot be loaded; the message says what was found, and what to do.
    """
    try:
        with opened(Path(path)) as file:
            return _load(file, known)
    except RefusedError as refusal:
        raise ModelFileError(f"{path} cannot be loaded: {refusal}") from refusal.__cause__


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the header of a model file, without its arrays.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict of str to object
        ``"method"``, ``"parameters"``, ``"labels"``, ``"features"``, ``"state"``,
        ``"provenance"`` and others, as plain data.

    Raises
    ------
    ModelFileError
        If the file is not a model, or its header was changed.
    """
    try:
        with opened(Path(path)) as file:
            return dict(file.header)
    except RefusedError as refusal:
        raise ModelFileError(f"{path} cannot be read: {refusal}") from refusal.__cause__


def _load(file: OpenFile, known: Mapping[str, str]) -> Any:
    """Make a model from an open file, and compare its outputs for the probe rows."""
    header = dict(file.header)
    refuse_other_names(
        header, "the header", (*PARTS, "format", "probes", "provenance", "tensors", "version")
    )
    parts = {name: unpacked(header[name], name, file.find) for name in (*PARTS, "probes")}
    probes = parts.pop("probes")
    model = Fitted().restored(parts, "the model", Context(known))
    file.refuse_others()
    compare_probes(model, probes)
    return model


def _provenance(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the versions at saving and the caller's facts, without a time and a machine."""
    versions = {name: _version(name) for name in ("numpy", "scikit-learn", "scipy", "torch")}
    nothing: dict[str, NDArray[Any]] = {}
    added = packed(dict(given or {}), "provenance", nothing)
    if nothing:
        raise RefusedError("provenance holds an array; give plain values")
    return {"complabel": __version__, **versions, "given": added}


def _version(package: str) -> str | None:
    """Return the version of a package without importing it; None if it is missing."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
