"""What commands print."""

from complabel.cli import _console


def test_what_a_file_holds_cannot_steer_the_terminal(capsys):
    _console.output.cache_clear()
    _console.errors.cache_clear()
    _console.say("a\x1b[31m\x9b1m\rb\nd")
    _console.complain("e\x07")
    captured = capsys.readouterr()
    assert captured.out == "a\\x1b[31m\\x9b1m\\rb\nd\n"
    assert captured.err == "e\\x07\n"
    _console.output.cache_clear()
    _console.errors.cache_clear()
