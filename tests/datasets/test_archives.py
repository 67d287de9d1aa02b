"""Archives that are damaged, encrypted, too large or made by macOS."""

import bz2
import gzip
import io
import re
import tracemalloc
import zipfile

import pytest

from complabel.datasets import load_dataset, read_meka, read_svmlight
from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError

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
    with pytest.raises(DatasetFormatError, match=rf"bad\.zip.*cannot be unpacked.*{message}"):
        read_meka(path)


@pytest.mark.parametrize("start", [0, 20, -8], ids=["magic", "body", "checksum"])
@pytest.mark.parametrize("ending", ["gz", "bz2"])
def test_a_damaged_svmlight_archive_is_named(tmp_path, ending, start):
    path = tmp_path / f"bad.svm.{ending}"
    pack = gzip.compress if ending == "gz" else bz2.compress
    raw = bytearray(pack("".join(f"{i % 3} {i % 7 + 1}:{i}\n" for i in range(300)).encode()))
    raw[start] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(DatasetFormatError, match=rf"bad\.svm\.{ending}.*cannot be unpacked"):
        read_svmlight(path)


def test_what_macos_adds_to_a_zip_is_passed_over(tmp_path):
    resource = b"\x00\x05\x16\x07".decode("latin-1")
    members = {"d/a.arff": ARFF + ROWS, "__MACOSX/d/._a.arff": resource, "d/._a.arff": resource}
    path = zipped(tmp_path / "mac.zip", **members)
    assert read_meka(path).n_samples == 400
    with pytest.raises(DatasetNotFoundError, match=r"0 ARFF files \[\]"):
        read_meka(zipped(tmp_path / "only.zip", **{"__MACOSX/._a.arff": resource}))


@pytest.mark.parametrize("read", ["zip", "gz", "bz2"])
def test_what_unpacks_to_too_much_is_refused_unless_asked_for(tmp_path, read):
    text = "0 1:1\n1 2:1\n" + "\n" * 5000
    if read == "zip":
        path, reader = (
            zipped(tmp_path / "b.zip", **{"b.arff": ARFF + ROWS + "\n" * 5000}),
            read_meka,
        )
    else:
        path, reader = tmp_path / f"b.svm.{read}", read_svmlight
        path.write_bytes((gzip if read == "gz" else bz2).compress(text.encode()))
    message = r"b\..*unpacks to more than 5,000 bytes.*give a larger max_unpacked"
    with pytest.raises(DatasetFormatError, match=message):
        reader(path, max_unpacked=5000)
    assert reader(path, max_unpacked=50_000).n_samples >= 2
    assert reader(path).n_samples >= 2
    for wrong in (0, 2.5, "1 GB", None):
        with pytest.raises(InputError, match="max_unpacked must be an integer of at least 1"):
            reader(path, max_unpacked=wrong)


def test_the_limit_reaches_the_files_of_the_catalog(tmp_path):
    zipped(tmp_path / "Yeast_Meka.zip")
    assert load_dataset("yeast", data_dir=tmp_path, preprocessed=False).n_samples == 400
    with pytest.raises(DatasetFormatError, match=re.escape("Yeast_Meka.zip!a.arff: unpacks to")):
        load_dataset("yeast", data_dir=tmp_path, max_unpacked=100)


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
