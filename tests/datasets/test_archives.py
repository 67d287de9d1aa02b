"""Archives that are damaged, encrypted, too large or made by macOS."""

import io
import tracemalloc
import zipfile

import pytest

from complabel.datasets import load_dataset, read_meka
from complabel.errors import DatasetFormatError, DatasetNotFoundError

ARFF = "@relation 'r: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute x numeric\n@data\n"
ROWS = "".join(f"{i % 2},1,{i * i % 97}\n" for i in range(400))


def zipped(path, compression=zipfile.ZIP_DEFLATED, **members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, text in (members or {"a.arff": ARFF + ROWS}).items():
            archive.writestr(name, text)
    path.write_bytes(content.getvalue())
    return path


def patched(path, start, new):
    raw = bytearray(path.read_bytes())
    raw[start : start + len(new)] = new
    path.write_bytes(raw)


def encrypt(path):
    """Set the flag of encryption in both headers of the only member."""
    for place in (6, path.read_bytes().index(b"PK\x01\x02") + 8):
        patched(path, place, b"\x01")


def strange_method(path):
    for place in (8, path.read_bytes().index(b"PK\x01\x02") + 10):
        patched(path, place, b"\x63")


def no_deflate(path):
    patched(path, 36, b"\xff" * 8)


def wrong_checksum(path):
    patched(path, len(ARFF) + 60, b"9")


def cut_directory(path):
    patched(path, path.read_bytes().index(b"PK\x01\x02"), b"XX")


@pytest.mark.parametrize(
    ("damage", "compression", "message"),
    [
        (encrypt, zipfile.ZIP_DEFLATED, "encrypted"),
        (strange_method, zipfile.ZIP_DEFLATED, "compression method"),
        (no_deflate, zipfile.ZIP_DEFLATED, "decompressing"),
        (wrong_checksum, zipfile.ZIP_STORED, "CRC"),
        (cut_directory, zipfile.ZIP_DEFLATED, "central directory"),
    ],
)
def test_a_zip_that_does_not_unpack_is_named(tmp_path, damage, compression, message):
    path = zipped(tmp_path / "bad.zip", compression)
    assert read_meka(path).n_samples == 400
    damage(path)
    with pytest.raises(DatasetFormatError, match=rf"bad\.zip.*{message}.*get the file again"):
        read_meka(path)


def test_what_macos_adds_to_a_zip_is_passed_over(tmp_path):
    resource = b"\x00\x05\x16\x07".decode("latin-1")
    members = {"d/a.arff": ARFF + ROWS, "__MACOSX/d/._a.arff": resource, "d/._a.arff": resource}
    path = zipped(tmp_path / "mac.zip", **members)
    assert read_meka(path).n_samples == 400
    with pytest.raises(DatasetNotFoundError, match=r"0 ARFF files \[\]"):
        read_meka(zipped(tmp_path / "only.zip", **{"__MACOSX/._a.arff": resource}))


def test_the_limit_reaches_the_files_of_the_catalog(tmp_path, limited):
    zipped(tmp_path / "Yeast_Meka.zip")
    assert load_dataset("yeast", data_dir=tmp_path, preprocessed=False).n_samples == 400
    limited(100)
    with pytest.raises(DatasetFormatError, match=r"Yeast_Meka\.zip!a\.arff: .*more than 100"):
        load_dataset("yeast", data_dir=tmp_path)


def test_blank_lines_take_no_memory_of_their_own(tmp_path):
    size = 12_000_000
    path = zipped(tmp_path / "blank.zip", **{"b.arff": ARFF + "1,0,2\n" + "\n" * size})
    tracemalloc.start()
    try:
        assert read_meka(path).n_samples == 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The bytes, their copy on leaving the buffer, and the text; a list of lines takes 8 more.
    assert peak < 4 * size
