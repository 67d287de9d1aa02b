"""Networks in ONNX files: opened without any other file, and found again by their weights."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from complabel.errors import InputError
from complabel.features._encoder import digest, failed, missing


def open_network(path: Path, extra: str, *, n_threads: int = 0) -> tuple[Any, bytes]:
    """Return a session of the network in a file, and the content of the file.

    ``extra`` is what to install if a package is missing. By default, there is a thread for each
    core.
    """
    try:
        import onnx
        import onnxruntime
    except ModuleNotFoundError as cause:
        raise missing(str(path), f'"complabel[{extra}]"', cause) from cause
    try:
        content = path.read_bytes()
        elsewhere = next(_files_of(onnx.load_from_string(content)), None)
        if elsewhere is None:
            options = onnxruntime.SessionOptions()  # the other format may name files, too
            options.add_session_config_entry("session.load_model_format", "ONNX")
            options.intra_op_num_threads = n_threads
            session = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
    except Exception as cause:  # the library's own kinds of error have no common base
        raise failed(str(path), cause) from cause
    if elsewhere is not None:
        raise InputError(
            f"{path}: takes weights from another file, {elsewhere!r}, which is not opened; if you"
            " trust it, make one file in Python:"
            f" import onnx; onnx.save(onnx.load({path.name!r}), 'one.onnx')"
        )
    return session, content


def _files_of(message: Any) -> Iterator[str]:
    """Yield the other files that a part of an ONNX model takes numbers from, at any depth."""
    if message.DESCRIPTOR.name == "TensorProto":
        if message.data_location == message.EXTERNAL:
            yield {each.key: each.value for each in message.external_data}.get("location", "")
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in [value] if hasattr(value, "DESCRIPTOR") else value:
                yield from _files_of(each)


def file_of(
    recipe: str,
    name: str,
    folders: Sequence[Path],
    content_of: Callable[[Path], bytes] = Path.read_bytes,
) -> Path | None:
    """Return the file of the network that a recipe names, found by its weights; None of others."""
    if not name.lower().endswith(".onnx"):
        return None
    # A stranger's recipe may hold a path, also one that leads to another machine.
    paths = [folder / Path(name).name for folder in dict.fromkeys((Path(), *folders))]
    match = re.search(r"weights ([0-9a-f]{12})\b", recipe)
    wanted, others = match[1] if match else "", []
    for path in paths:
        with contextlib.suppress(OSError, InputError):  # also a network that lacks its tokenizer
            if digest(content_of(path))[:12] == wanted:
                return path
            others.append(f"; {path} holds other weights")
    raise InputError(
        f"{name} with the weights {wanted}, the first digits of the file's SHA-256, is in none of"
        f" the folders {', '.join(str(path.parent.absolute()) for path in paths)}{''.join(others)}."
        " Put the network's file into one of them, such as the folder of the model"
    )
