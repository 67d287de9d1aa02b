"""Pretrained networks that turn pictures into rows: ONNX files, timm and torchvision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import InputError
from complabel.features._encoder import Encoder, failed, fingerprint, missing, scaled

# The mean and the spread of colours in ImageNet, by which nearly all networks were trained.
_MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
_SPREAD = np.array([0.229, 0.224, 0.225], dtype=np.float32)
_ANY_SIDE = 224  # pixels, for a network that takes any
_BICUBIC = 3  # Pillow's number


def of_onnx(path: Path) -> Encoder:
    """Return a network in a file; a fixed number of pictures at a time is kept to."""
    try:
        import onnxruntime
    except ImportError as cause:
        raise missing(str(path), '"complabel[onnx]"', cause) from cause
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        digits = fingerprint([np.fromfile(path, dtype=np.uint8)])
    except Exception as cause:  # the library's own kinds of error have no common base
        raise failed(str(path), cause) from cause
    entry, *others = session.get_inputs()
    shape = list(entry.shape)
    first = len(shape) == 4 and shape[1] == 3
    if others or len(shape) != 4 or (not first and shape[3] != 3):
        raise InputError(
            f"{path}: takes {len(others) + 1} inputs, the first of shape {shape}; give a network of"
            " pictures (b, 3, height, width) or (b, height, width, 3)"
        )
    sides = shape[2:] if first else shape[1:3]
    height, width = (each if isinstance(each, int) else _ANY_SIDE for each in sides)
    at_once = shape[0] if isinstance(shape[0], int) and shape[0] > 0 else 0
    in_bytes = entry.type == "tensor(uint8)"

    def prepare(image: Any) -> NDArray[np.uint8]:
        return np.asarray(image.resize((width, height), _BICUBIC))

    def run(pictures: NDArray[Any]) -> Any:
        found = pictures if in_bytes else (pictures / np.float32(255) - _MEAN) / _SPREAD
        found = found.transpose(0, 3, 1, 2) if first else found
        (rows,) = session.run([session.get_outputs()[0].name], {entry.name: found})
        return np.asarray(rows, dtype=np.float32)

    def encode(pictures: list[Any]) -> NDArray[Any]:
        size = at_once or len(pictures)
        filled = np.stack(pictures + pictures[:1] * (-len(pictures) % size))
        found = [run(filled[start : start + size]) for start in range(0, len(filled), size)]
        return scaled(_pooled(np.concatenate(found)[: len(pictures)]))

    how = f"whole picture as {width} x {height}, rows scaled (1), weights {digits}"
    return Encoder("pictures", path.name, how, encode, prepare)


def _pooled(found: NDArray[Any]) -> Any:
    """Return rows (b, d): means over places of maps (b, d, height, width) or tokens (b, t, d)."""
    if found.ndim == 4:
        return found.mean(axis=(2, 3))
    return found.mean(axis=1) if found.ndim == 3 else found.reshape(len(found), -1)


def of_timm(model: str, name: str) -> Encoder:
    try:
        import timm
    except ImportError as cause:
        raise missing(model, "timm", cause) from cause
    try:
        network = timm.create_model(name, pretrained=True, num_classes=0)
        settings = timm.data.resolve_model_data_config(network)
        change = timm.data.create_transform(**settings, is_training=False)
    except Exception as cause:  # of the network, of files, of their content
        raise failed(model, cause) from cause
    return _of_torch(model, network, change)


def of_torchvision(model: str, name: str) -> Encoder:
    try:
        from torchvision import models
    except ImportError as cause:
        raise missing(model, "torchvision", cause) from cause
    try:
        weights = models.get_model_weights(name).DEFAULT
        network = models.get_model(name, weights=weights)
        change = weights.transforms()
    except Exception as cause:  # of the network, of files, of their content
        raise failed(model, cause) from cause
    for head in ("fc", "classifier", "heads", "head"):
        if hasattr(network, head):  # the layer that names the classes of ImageNet
            setattr(network, head, models.resnet.nn.Identity())
    return _of_torch(model, network, change)


def _of_torch(model: str, network: Any, change: Any) -> Encoder:
    network.eval().requires_grad_(requires_grad=False)
    weights = (each.cpu().numpy() for each in network.state_dict().values())
    how = f"{' '.join(str(change).split())}, rows scaled (1), weights {fingerprint(weights)}"

    def prepare(image: Any) -> NDArray[Any]:
        found: NDArray[Any] = change(image).numpy()
        return found

    first = next(iter(network.state_dict().values()))

    def encode(pictures: list[Any]) -> NDArray[np.float32]:
        batch = first.new_tensor(np.stack(pictures), dtype=first.dtype)
        return scaled(_pooled(network(batch).numpy()))

    return Encoder("pictures", model, how, encode, prepare)
