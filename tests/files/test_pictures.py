"""Which files of a folder are pictures."""

from tests.refusals import raises

from complabel.errors import ComplabelError
from complabel.files import READ_PICTURES, read_folder


def test_pictures_of_all_folders_are_sorted_and_named_from_the_top(tmp_path):
    for name in ("b.png", "a/z.JPG", "a/deep/c.webp", "d.gif", "e.bmp", "f.jpeg", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = ["a/deep/c.webp", "a/z.JPG", "b.png", "d.gif", "e.bmp", "f.jpeg"]
    assert read_folder(tmp_path).pictures == found
    assert read_folder(str(tmp_path)).pictures == found


def test_hidden_files_and_links_out_do_not_count(tmp_path):
    outside, top = tmp_path / "outside", tmp_path / "top"
    for path in (outside / "secret.png", top / ".hidden" / "a.png", top / ".a.png", top / "b.png"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (top / "out.png").symlink_to(outside / "secret.png")
    (top / "folder").symlink_to(outside)
    (top / "gone.png").symlink_to(top / "nothing.png")
    (top / "in.png").symlink_to(top / "b.png")
    (top / "shown.png").symlink_to(top / ".hidden" / "a.png")
    assert read_folder(top).pictures == ["b.png", "in.png"]


def test_files_that_are_left_out_are_counted_by_their_ending(tmp_path):
    names = ("a.png", "b.tif", "in/c.TIF", "d.heic", "e.txt", "README", ".f.txt", ".g/h.txt")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "i.png").symlink_to(tmp_path / "nothing.png")
    shown = read_folder(tmp_path)
    assert shown.pictures == ["a.png"]
    assert shown.left_out().startswith("6 files are left out: 2 .tif, ")
    for kind in ("1 .heic", "1 .txt", "1 without an ending", "1 by links that lead nowhere"):
        assert kind in shown.left_out()
    read = read_folder(tmp_path, READ_PICTURES)
    assert read.pictures == ["a.png", "b.tif", "d.heic", "in/c.TIF"]
    assert read.others.total() == 3
    assert read_folder(tmp_path / "in", [".tif"]).left_out() == ""


def test_a_folder_without_pictures_and_odd_names_are_refused(tmp_path):
    with raises(ComplabelError, ".jpg"):
        read_folder(tmp_path)
    with raises(ComplabelError):
        read_folder(tmp_path / "absent")
    (tmp_path / "a\nb.png").touch()
    with raises(ComplabelError, "file 'a\\nb.png'"):
        read_folder(tmp_path)
