"""What people are asked about, and that nothing else is ever given."""

from __future__ import annotations

import os

import pytest
from tests.refusals import raises

from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError
from complabel.live import read_things


@pytest.fixture
def photos(tmp_path):
    """A folder with pictures, and with much that is none or should not be given."""
    folder = tmp_path / "photos"
    (folder / "sea" / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    for name in ("b.jpg", "a 1#?.PNG", "sea/c.webp", "sea/deep/<b>d.gif", ".git/e.png", ".f.png"):
        (folder / name).write_bytes(b"picture " + name.encode())
    for name in ("notes.txt", "page.svg", "script.html", "jpg"):
        (folder / name).write_text("no picture")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    (folder / "text.png").symlink_to(folder / "notes.txt")
    (folder / "in.png").symlink_to(folder / "b.jpg")
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.png")
    return folder


def test_pictures_of_a_folder_are_found_below_it_and_links_that_lead_out_are_not(photos):
    things = read_things(photos)

    assert things.names == ["a 1#?.PNG", "b.jpg", "in.png", "sea/c.webp", "sea/deep/<b>d.gif"]
    assert things.show(0) == {"image": "/picture/a%201%23%3F.PNG"}
    assert things.show(4) == {"image": "/picture/sea/deep/%3Cb%3Ed.gif"}
    for name in things.names:
        assert things.picture(name).read_bytes().startswith(b"picture ")


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.png", "sea/../b.jpg", "./b.jpg", "/etc/passwd", "out.png", "text.png"),
        *("up/secret.png", ".f.png", ".git/e.png", "notes.txt", "", "b.jpg\0", "B.JPG", "pipe.png"),
        *("sea", "page.svg", "%2e%2e/secret.png", "..\\secret.png"),
    ],
)
def test_no_other_file_is_given(photos, name):
    assert read_things(photos).picture(name) is None


def test_a_picture_that_becomes_a_link_out_is_not_given_any_more(photos, tmp_path):
    things = read_things(photos)
    (photos / "b.jpg").unlink()
    (photos / "b.jpg").symlink_to(tmp_path / "secret.png")
    (photos / "sea" / "c.webp").unlink()

    assert things.picture("b.jpg") is None
    assert things.picture("in.png") is None
    assert things.picture("sea/c.webp") is None


@pytest.mark.parametrize(
    ("header", "items"), [("item", ["x", "y"]), ("ticket", ["0", "1"])], ids=["named", "numbered"]
)
def test_texts_of_a_table(tmp_path, header, items):
    hostile = "<script>alert(1)</script>"
    (tmp_path / "t.csv").write_text(f'{header},body\nx,{hostile}\ny,"two\nlines, a comma"\n')
    things = read_things(tmp_path / "t.csv", text="body")

    assert things.names == items
    assert [*map(things.show, range(2))] == [{"text": hostile}, {"text": "two\nlines, a comma"}]
    assert things.picture(items[0]) is None


def test_pictures_and_addresses_of_a_table(photos):
    table = photos / "t.csv"
    table.write_text("item,file,page\n1,sea/c.webp,http://a.b/?c\n2,https://a.b/d,HTTPS://a.b\n")
    things = read_things(table, image="file")

    assert [*map(things.show, range(2))] == [{"image": "/picture/1"}, {"image": "https://a.b/d"}]
    assert things.picture("1") == photos / "sea/c.webp"
    assert things.picture("2") is None
    assert things.hosts == ("https://a.b",)
    assert read_things(table, url="page").show(1) == {"url": "HTTPS://a.b"}
    assert not read_things(photos).hosts


@pytest.mark.parametrize(
    ("cell", "options", "told"),
    [
        ("../secret.png", {"image": "see"}, ("line 3", "'../secret.png'")),
        ("/etc/passwd", {"image": "see"}, "'/etc/passwd'"),
        (".f.png", {"image": "see"}, ("t.csv", "'.f.png'")),
        ("notes.txt", {"image": "see"}, ("t.csv", "'notes.txt'")),
        ("none.png", {"image": "see"}, "'none.png'"),
        ("", {"image": "see"}, "'see'"),
        ("javascript:alert(1)", {"url": "see"}, ("t.csv", "'see'")),
        ("x", {"text": "saw"}, ("column 'saw'", "'item'", "'see'")),
        ("x", {"text": "see", "item": "name"}, "column 'name'"),
    ],
)
def test_a_row_that_cannot_be_shown_is_named(photos, cell, options, told):
    (photos / "t.csv").write_text(f"item,see\n1,b.jpg\n2,{cell}\n".replace("b.jpg", "http://a/b"))

    with raises(DatasetFormatError, told):
        read_things(photos / "t.csv", **options)


def test_what_is_missing_or_there_twice_is_named(photos, tmp_path):
    (tmp_path / "empty").mkdir()
    (photos / "t.csv").write_text("item,see\n1,a\n1,b\n")
    (photos / "none.csv").write_text("item,see\n")
    with raises(DatasetFormatError, ".jpg", ".jpeg"):
        read_things(tmp_path / "empty")
    with raises(DatasetNotFoundError, "nothing.csv"):
        read_things(tmp_path / "nothing.csv")
    with raises(DatasetFormatError, "item '1'"):
        read_things(photos / "t.csv", text="see")
    with raises(DatasetFormatError, "none.csv"):
        read_things(photos / "none.csv", text="see")
    with raises(InputError, "--text", "--image", "--url"):
        read_things(photos / "t.csv")
    with raises(InputError, "--text"):
        read_things(photos, text="see")


def test_pictures_that_nobody_is_asked_about_are_named(tmp_path):
    jpeg, png, webp = b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBP"
    files = {"a.jpg": jpeg, "b.png": png, "c.webp": webp, "d.gif": b"GIF87a", "e.bmp": b"BM"}
    files |= {"png.jpg": png, "empty.png": b"", "text.jpg": b"text", "heic.jpg": b"\0\0\0\x18ftyp"}
    files |= {"scan.tif": b"II*", "phone.avif": b"", "notes.txt": b"", ".hidden.tif": b""}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    things = read_things(tmp_path)

    assert [things.names[at] for at in things.broken] == [
        "empty.png",
        "heic.jpg",
        "scan.tif",
        "text.jpg",
    ]
    left_out, broken = things.problems()
    assert "1 .avif, 1 .txt" in left_out
    assert "4 pictures" in broken
    (tmp_path / "t.csv").write_text("item,see\n1,a.jpg\n2,text.jpg\n3,http://a/b.png\n")
    assert read_things(tmp_path / "t.csv", image="see").broken == [1]
    for name in things.names:
        (tmp_path / name).write_bytes(b"")
    with raises(DatasetFormatError, "'a.jpg'"):
        read_things(tmp_path).problems()
