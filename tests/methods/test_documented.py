"""Docstrings with shared parts, as ``help`` shows them."""

import ast
import inspect
import re

import pytest

from complabel import methods
from complabel.methods._base import ComplementaryClassifier

CLASSIFIERS = [
    cls
    for cls in map(methods.__dict__.get, methods.__all__)
    if inspect.isclass(cls) and issubclass(cls, ComplementaryClassifier)
]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_parameter_is_told_once_with_its_default(classifier):
    text = inspect.getdoc(classifier)
    for name, parameter in inspect.signature(classifier).parameters.items():
        (told,) = re.findall(rf"^{name} : (.*)", text, flags=re.MULTILINE)
        kind, _, default = told.partition(", default=")
        assert kind
        if parameter.default is parameter.empty:
            assert not default, name
        else:
            assert ast.literal_eval(default) == parameter.default, name


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_no_place_for_shared_text_is_left_empty(classifier):
    assert not re.findall(r"\{[a-z_]+\}", inspect.getdoc(classifier))
