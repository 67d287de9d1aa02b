import bz2
import csv
import datetime
import gzip
import io
import zipfile

import openpyxl
import pandas as pd
import pytest
from tests.refusals import raises

from complabel import _opening
from complabel._opening import (
    existing,
    existing_ones,
    open_binary,
    read_bytes,
    read_members,
    read_text,
)
from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError

TEXT = "item\nä\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    ("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
def test_a_text_is_read_in_any_packing_and_encoding(tmp_path, encoding, ending, pack):
    path = tmp_path / f"a.txt{ending}"
    path.write_bytes(pack(TEXT.replace("\n", "\r\n").encode(encoding)))
    assert read_text(path) == TEXT
    with open_binary(path) as file:
        assert file.read().decode("utf-8-sig").split() == TEXT.split()


def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\nb\xff\n")
    with raises(DatasetFormatError, "a.txt", "line 2", "UTF-8"):
        read_text(path)


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[:-9], lambda raw: b"no archive", lambda raw: raw[:20] + b"\0" * 9]
)
@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_damaged_archive_is_refused(tmp_path, damage, ending, pack):
    path = tmp_path / f"a.txt{ending}"
    path.write_bytes(damage(pack(TEXT.encode() * 9)))
    with raises(DatasetFormatError):
        read_bytes(path)


def limited(monkeypatch, n_bytes):
    monkeypatch.setattr(_opening, "_LEAST_LIMIT", n_bytes)
    monkeypatch.setattr(_opening, "_MOST_SHRUNK", 0)


def test_a_small_archive_cannot_fill_the_memory(tmp_path, monkeypatch):
    limited(monkeypatch, 100)
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"x" * 101))
    with raises(DatasetFormatError, "100"):
        read_bytes(path)
    path.write_bytes(gzip.compress(b"x" * 100))
    assert read_bytes(path) == b"x" * 100
    limited(monkeypatch, 3 << 19)  # it is read in pieces of a mebibyte
    path.write_bytes(gzip.compress(bytes(2 << 20)))
    with raises(DatasetFormatError, "1,572,864"):
        read_bytes(path)


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_stream_cannot_fill_the_memory_either(tmp_path, monkeypatch, ending, pack):
    """Two parts, of which the end tells only the size of the second."""
    limited(monkeypatch, 3 << 19)
    path = tmp_path / f"a.csv{ending}"
    path.write_bytes(pack(bytes(1 << 20)) + pack(b"a,b\n" * (1 << 17)))
    with open_binary(path) as file:
        assert len(file.read()) == 3 << 19
    path.write_bytes(pack(bytes(1 << 20)) + pack(b"a,b\n" * (1 << 18)))
    with open_binary(path) as file, raises(DatasetFormatError, "1,572,864"):
        list(file)


def test_a_packed_file_that_tells_its_size_is_refused_unread(tmp_path, monkeypatch):
    limited(monkeypatch, 1000)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(bytes(2000)))
    with raises(DatasetFormatError, "2,000 bytes"), open_binary(path):
        pytest.fail("it was opened")


def workbook(path, cells):
    book = openpyxl.Workbook()
    for place, value in cells.items():
        book.active[place] = value
    book.save(path)
    return path


def test_a_sheet_is_read_as_pandas_reads_it(tmp_path):
    cells = {"B2": "007", "C2": 7, "D2": 7.0, "E2": 0.1, "F2": True, "G2": 'a "b", c\nd'}
    cells |= {"A4": datetime.datetime(2026, 3, 4, 5, 6), "D6": 1e20}
    cells |= {"C7": "", "I9": None}
    path = workbook(tmp_path / "a.xlsx", cells)
    found = list(csv.reader(io.StringIO(read_text(path))))
    told = pd.read_excel(path, header=None, dtype=str, keep_default_na=False)
    assert found == told.fillna("").values.tolist()
    assert found[1] == ["", "007", "7", "7", "0.1", "True", 'a "b", c\nd']


def test_a_formula_without_a_value_is_no_blank(tmp_path):
    """A program computes it when somebody opens the sheet; until then nobody knows what it says."""
    path = workbook(tmp_path / "a.xlsx", {"A1": "item", "B1": "sea", "A2": "a", "B2": "=1-1"})
    with raises(DatasetFormatError, "cell B2"):
        read_text(path)


@pytest.mark.parametrize("place", ["XFD1048576", "XFD2000", "Z1048576"])
def test_a_cell_far_from_the_others_is_named(tmp_path, place):
    path = workbook(tmp_path / "a.xlsx", {"A1": "item", "A2": "a", place: "x"})
    with raises(DatasetFormatError, f"cell {place}"), open_binary(path):
        pytest.fail("it was opened")


def test_what_is_only_formatted_takes_no_place(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"A1": "item", "A2": "a"})
    book = openpyxl.load_workbook(path)
    book.active["XFD90000"].font = openpyxl.styles.Font(bold=True)
    book.save(path)
    assert read_text(path) == "item\na\n"


def test_files_in_a_zip_share_the_limit(tmp_path, monkeypatch):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a", b"x" * 60)
        archive.writestr("b", b"y" * 60)
    path = tmp_path / "a.zip"
    path.write_bytes(content.getvalue())
    assert dict(read_members(path, lambda names: names[::-1])) == {"b": b"y" * 60, "a": b"x" * 60}
    limited(monkeypatch, 100)
    with raises(DatasetFormatError, "a.zip", "40"):
        list(read_members(path, list))
    path.write_bytes(b"no zip")
    with raises(DatasetFormatError, "a.zip"):
        list(read_members(path, list))


def test_control_characters_of_a_file_do_not_reach_the_terminal(tmp_path):
    assert "\x1b" not in str(_opening.fault("a.csv", "found \x1b[31m", line=3))
    assert str(_opening.fault("a.csv", "is blank", line=3)) == "a.csv, line 3: is blank"


def test_paths_are_checked(tmp_path):
    path = tmp_path / "a"
    path.touch()
    assert existing("path", str(path)) == path
    assert existing_ones("path", [path, path]) == [path, path]
    for wrong in (tmp_path, tmp_path / "b", "x" * 5000, "a\0b", []):
        with pytest.raises(DatasetNotFoundError):
            existing_ones("path", wrong)
    for wrong in (3, None, b"a", [3]):
        with raises(InputError, "path"):
            existing_ones("path", wrong)
    with raises(DatasetNotFoundError, "No such file"), open_binary(tmp_path / "b"):
        pass
