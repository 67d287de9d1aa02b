"""Messages call parameters as the caller writes them."""

from tests.refusals import raises

from complabel._parameters import check_integer
from complabel._settings import setting, settings_as_options
from complabel.errors import InputError


def test_python_and_the_command_line_each_have_their_own_words():
    words = [setting("n"), setting("n", 3), setting("question", "named")]
    assert words == ["n", "n=3", "question='named'"]
    with settings_as_options({"question": "--question"}):
        assert setting("question", "named") == "--question named"
        assert setting("n", 3) == "n=3", "the command has no such option"
    assert setting("question") == "question"


def test_a_command_that_fails_leaves_no_options_behind():
    with raises(InputError, "--number"), settings_as_options({"n": "--number"}):
        check_integer("n", 0, at_least=1)
    with raises(InputError, "n") as error:
        check_integer("n", 0, at_least=1)
    assert error.value.parameter == "n"
