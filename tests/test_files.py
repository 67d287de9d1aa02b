import pytest

from complabel.files import replacing, write_text


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
