"""The exceptions: what they carry beside their text."""

import inspect
import pickle

import pytest

from complabel import errors

CLASSES = [each for each in vars(errors).values() if inspect.isclass(each)]


@pytest.mark.parametrize("error", CLASSES)
def test_an_error_keeps_parameter_row_and_line_in_another_process(error):
    passed_on = pickle.loads(pickle.dumps(error("bad", parameter="alpha", row=3, line=4)))
    assert type(passed_on) is error
    assert str(passed_on) == "bad"
    assert (passed_on.parameter, passed_on.row, passed_on.line) == ("alpha", 3, 4)


@pytest.mark.parametrize("error", CLASSES)
def test_an_error_that_is_about_no_place_names_none(error):
    assert {error("bad").parameter, error("bad").row, error("bad").line} == {None}
