import errno
import os

import pytest
from tests.refusals import raises

from complabel._writing import keeping, replacing, write_text
from complabel.errors import OutputError


def test_a_file_is_written_and_replaced(tmp_path):
    target = tmp_path / "a.txt"
    write_text(target, "first")
    write_text(target, "zweite Fassung: ü")
    assert target.read_text(encoding="utf-8") == "zweite Fassung: ü"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError("disk full")])
def test_an_interruption_leaves_the_old_file_and_no_other(tmp_path, interruption):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def interrupted():
        with replacing(target) as partial:
            partial.write_text("half")
            raise interruption

    with pytest.raises((KeyboardInterrupt, OSError)):
        interrupted()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_what_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with raises(OutputError, "a.txt"):
        write_text(tmp_path / "file" / "a.txt", "")
    assert (tmp_path / "file").read_text() == ""


def test_an_error_stays_as_it_is_where_a_file_stands_in_the_place_of_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "file" / "a.txt"):
        _ = 1 / 0


def appears_while_written(path):
    with replacing(path) as partial:
        partial.write_text("lost")
        path.write_text("kept")


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_is_kept_is_not_replaced_and_a_new_one_written(
    tmp_path, monkeypatch, has_links
):
    def refused(*_):
        raise OSError(errno.EPERM, "this file system has no links")

    if not has_links:
        monkeypatch.setattr(os, "link", refused)
    old, new, ours = (tmp_path / name for name in ("old", "new", "ours"))
    old.write_text("old")
    ours.write_text("ours")
    with keeping({ours}):
        with raises(OutputError, "old"):
            write_text(old, "lost")
        write_text(new, "new")
        write_text(ours, "replaced")
        with pytest.raises(FileExistsError):
            appears_while_written(tmp_path / "appeared")
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {"old": "old", "new": "new", "ours": "replaced", "appeared": "kept"}
    write_text(old, "in Python, files are replaced")
    assert old.read_text().startswith("in Python")


def test_a_link_stays_and_leads_to_what_was_written(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"
