"""The exceptions: what they carry beside their text."""

import ast
import inspect
import pickle
from pathlib import Path

import pytest
from tests.refusals import check_names, raises

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


HERE = Path(__file__).parent
LATER = ("cli", "experiments", "frequencies", "losses", "methods/saving", "methods/selection")


def test_tests_tell_errors_by_names_and_not_by_sentences():
    for path in HERE.rglob("*.py"):
        if not path.relative_to(HERE).as_posix().startswith(LATER):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                pattern = getattr(node, "arg", None) == "match" and node.value
                if isinstance(pattern, ast.Constant):
                    assert len(pattern.value.split()) <= 4, f"{path}:{node.lineno}"


def test_a_name_stands_as_a_word_of_its_own():
    check_names("line 12: 'sea', 1.5 of 2,000 (use --answer yes)", "line 12", "'sea'", "--answer")
    for name in ("line 1", "se", "1", "5", "2", "--answer no"):
        with raises(AssertionError, name):
            check_names("line 12: 'sea', 1.5 of 2,000 (use --answer yes)", name)
