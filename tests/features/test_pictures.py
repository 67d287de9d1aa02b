"""Features of pictures, by independent means."""

import numpy as np
import pytest
from PIL import Image
from tests.features.pictures import noise, write_pictures
from tests.refusals import raises

from complabel.errors import ComplabelError, DatasetFormatError, InputError
from complabel.features import encoder_of, picture_features
from complabel.features._pictures import pixels_and_edges, places_and_shades


def row_of(image, path, **options):
    image.save(path, **options)
    return picture_features([path], model="colours")[0]


def test_rows_have_the_length_1_and_do_not_depend_on_other_pictures(tmp_path):
    paths = write_pictures(tmp_path, 5)
    X = picture_features(paths, model="colours")
    assert X.shape == (5, 256 + 8 * 8 * 9 + 8 * 8 * 3 + 5**3)
    assert X.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(
        picture_features(paths[3:4], model="colours")[0], X[3], rtol=1e-5, atol=1e-7
    )


def test_edges_lie_in_the_direction_in_which_the_grey_changes():
    ramp = np.tile(np.arange(64, dtype=np.uint8) * 3, (64, 1))
    for picture, direction in ((ramp, 0), (ramp.T, 4.5), ((ramp // 2 + ramp.T // 2), 2.25)):
        edges = pixels_and_edges(picture[None])[0, 256:].reshape(8, 8, 9)
        low, share = int(direction), direction % 1
        expected = np.zeros(9)
        expected[low], expected[low + 1] = 1 - share, share
        inner = edges[2:6, 2:6].mean(axis=(0, 1))
        np.testing.assert_allclose(inner / inner.sum(), expected, atol=0.03)


def test_grey_pixels_are_means_of_their_squares():
    picture = np.asarray(noise(1, 64, 64).convert("L"))
    small = np.array([[picture[4 * r : 4 * r + 4, 4 * c : 4 * c + 4].mean() for c in range(16)]
                      for r in range(16)])  # fmt: skip
    small = (small - small.mean()).ravel()
    found = pixels_and_edges(picture[None])[0, :256]
    np.testing.assert_allclose(found, small / np.linalg.norm(small), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("other", [(0, 160, 0), (200, 60, 60), (90, 0, 0)])
def test_colour_and_brightness_are_seen(tmp_path, other):
    """Also of pictures without anything on them, whose pixels and edges are zeros."""
    paths = []
    for name, colour in (("a.png", (160, 0, 0)), ("b.png", other)):
        paths.append(tmp_path / name)
        Image.new("RGB", (50, 40), colour).save(paths[-1])
    one, two = picture_features(paths, model="colours")
    assert np.linalg.norm(one - two) > 0.3
    np.testing.assert_allclose([one[:832], two[:832]], 0, atol=1e-5)


def test_places_are_means_of_colours_and_shades_their_shares():
    picture = np.asarray(noise(4, 64, 64)).astype(np.float32)
    found = places_and_shades(picture[None])[0]
    means = [picture[8 * r : 8 * r + 8, 8 * c : 8 * c + 8].mean(axis=(0, 1))
             for r in range(8) for c in range(8)]  # fmt: skip
    expected = (np.array(means).ravel() / 127.5 - 1) / 192**0.5
    np.testing.assert_allclose(found[:192], expected, atol=1e-6)
    shares = np.zeros((5, 5, 5))
    for colour in picture.reshape(32, 2, 32, 2, 3).mean(axis=(1, 3)).reshape(-1, 3) / 255 * 4:
        hats = [np.maximum(1 - abs(np.arange(5) - value), 0) for value in colour]
        shares += np.einsum("r,g,b->rgb", *hats) / 1024
    np.testing.assert_allclose(found[192:] ** 2, shares.ravel(), atol=1e-5)


@pytest.mark.parametrize("colour", ["black", "white", "red", (100, 110, 90)])
def test_no_part_drowns_another(tmp_path, colour):
    """Before the rows are scaled, each part has the length 1, or less."""
    picture = np.asarray(Image.new("RGB", (64, 64), colour)).astype(np.float32)[None]
    found = places_and_shades(picture)[0]
    assert np.linalg.norm(found[:192]) <= 1 + 1e-6
    np.testing.assert_allclose(np.linalg.norm(found[192:]), 1, rtol=1e-6)
    for seed in range(3):
        parts = np.split(row_of(noise(seed), tmp_path / "n.png"), [256, 832, 1024])
        lengths = [np.linalg.norm(part) for part in parts]
        assert max(lengths) < 4 * min(lengths)


def test_a_recipe_of_an_older_version_makes_the_same_rows(tmp_path):
    recipe = "pictures by pixels: 16 x 16 grey pixels, and edges in 9 directions in 8 x 8 cells,"
    encoder = encoder_of(f"{recipe} rows scaled (1)")
    paths = write_pictures(tmp_path, 2)
    grey = [np.asarray(Image.open(p).convert("L").resize((64, 64), Image.Resampling.BOX))
            for p in paths]  # fmt: skip
    found = pixels_and_edges(np.stack(grey))
    expected = found / np.linalg.norm(found, axis=1, keepdims=True)
    np.testing.assert_allclose(picture_features(paths, model=encoder.model), expected, atol=1e-6)


def test_pictures_are_turned_as_the_camera_says(tmp_path):
    upright = noise(2, 32, 48)
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise to show
    turned = row_of(upright.transpose(Image.Transpose.ROTATE_90), tmp_path / "t.png", exif=exif)
    np.testing.assert_allclose(turned, row_of(upright, tmp_path / "u.png"), rtol=1e-5, atol=1e-6)


def test_kinds_of_pictures_that_look_alike_get_the_same_row(tmp_path):
    grey = noise(3).convert("L")
    expected = row_of(grey, tmp_path / "grey.png")
    wide = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)  # 16 bits
    clear = Image.merge("LA", [grey, Image.new("L", grey.size, 255)])
    kinds = {"wide.png": wide, "wide.tif": wide, "clear.png": clear, "p.gif": grey, "b.bmp": grey}
    for name, image in (*kinds.items(), ("b.tiff", grey.convert("CMYK"))):
        np.testing.assert_allclose(row_of(image, tmp_path / name), expected, rtol=1e-4, atol=1e-5)


def test_heic_is_read_where_its_package_is_installed(tmp_path):
    heif = pytest.importorskip("pillow_heif")
    heif.register_heif_opener()
    expected = row_of(noise(5, 64, 64), tmp_path / "a.png")
    found = row_of(noise(5, 64, 64), tmp_path / "a.heic", quality=100)
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_heic_without_its_package_says_what_to_install(tmp_path, without):
    without("pillow_heif")
    (tmp_path / "a.HEIC").write_bytes(b"\0\0\0\x18ftypheic" + bytes(40))
    with raises(DatasetFormatError, "a.HEIC", "complabel[heic]"):
        picture_features([tmp_path / "a.HEIC"], model="colours")


def test_decimal_numbers_whose_range_nobody_knows_are_refused(tmp_path):
    with raises(DatasetFormatError, "a.tif"):
        row_of(Image.new("F", (9, 9), 0.5), tmp_path / "a.tif")


def test_what_is_transparent_is_white(tmp_path):
    left = Image.new("L", (40, 40), 255)
    left.paste(0, (0, 0, 20, 40))
    hidden = Image.merge("LA", [Image.new("L", (40, 40), 0), left.point(lambda v: 255 - v)])
    expected = row_of(left, tmp_path / "white.png")
    np.testing.assert_allclose(row_of(hidden, tmp_path / "a.png"), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "missing", "folder"])
def test_damaged_pictures_are_named(tmp_path, damage):
    good, path = write_pictures(tmp_path, 2)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-60])
    elif damage in ("empty", "text"):
        path.write_bytes(b"no picture" * (damage == "text"))
    else:
        path.unlink()
        if damage == "folder":
            path.mkdir()
    with raises(DatasetFormatError, "01.png"):
        picture_features([good, path], model="colours")


@pytest.mark.parametrize(
    ("height", "told"), [(10_001, "100,010,000 pixels"), (20_000, "100,000,000 pixels")]
)
def test_a_picture_that_would_fill_the_memory_is_refused(tmp_path, height, told):
    path = tmp_path / "00.png"  # a small file; Pillow itself refuses the larger one
    Image.new("1", (10_000, height)).save(path)
    assert path.stat().st_size < 100_000
    with raises(ComplabelError, "00.png", told):
        picture_features([path], model="colours")


def test_wrong_arguments_are_refused(tmp_path):
    with raises(InputError, "paths"):
        picture_features([])
    with raises(InputError, "'hog'", "lite0"):
        picture_features(["a.png"], model="hog")
