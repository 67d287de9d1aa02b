"""Which files of a folder are pictures."""

import pytest

from complabel.errors import ComplabelError
from complabel.files import list_pictures


def test_pictures_of_all_folders_are_sorted_and_named_from_the_top(tmp_path):
    for name in ("b.png", "a/z.JPG", "a/deep/c.webp", "d.gif", "e.bmp", "f.jpeg", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = ["a/deep/c.webp", "a/z.JPG", "b.png", "d.gif", "e.bmp", "f.jpeg"]
    assert list_pictures(tmp_path) == found
    assert list_pictures(str(tmp_path)) == found


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
    assert list_pictures(top) == ["b.png", "in.png"]


def test_a_folder_without_pictures_and_odd_names_are_refused(tmp_path):
    with pytest.raises(ComplabelError, match=r"no pictures; their names end in \.jpg"):
        list_pictures(tmp_path)
    with pytest.raises(ComplabelError, match="no such folder"):
        list_pictures(tmp_path / "absent")
    (tmp_path / "a\nb.png").touch()
    with pytest.raises(ComplabelError, match="no plain text; rename it"):
        list_pictures(tmp_path)
