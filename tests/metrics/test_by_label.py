"""Each label by itself."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_fscore_support

from complabel.errors import AnnotationError, InputError
from complabel.metrics import evaluate_labels


def test_figures_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    true, scores = rng.integers(2, size=(60, 4)), rng.normal(size=(60, 4))
    predicted = (scores > 0.3).astype(int)
    found = evaluate_labels(true, scores, predicted)
    expected = precision_recall_fscore_support(true, predicted)
    for at, each in enumerate(found):
        assert [each[name] for name in ("precision", "recall", "f1")] == pytest.approx(
            [column[at] for column in expected[:3]]
        )
        assert each["average_precision"] == average_precision_score(true[:, at], scores[:, at])
        assert each["applies"] == pytest.approx(true[:, at].mean())
        assert each["predicted"] == pytest.approx(predicted[:, at].mean())


@pytest.mark.parametrize(
    ("true", "predicted", "undefined"),
    [
        (0, 0, {"precision", "recall", "f1", "average_precision"}),
        (0, 1, {"recall", "average_precision"}),
        (1, 0, {"precision"}),
        (1, 1, set()),
    ],
)
def test_what_is_not_defined_is_none(true, predicted, undefined):
    (found,) = evaluate_labels([[true]] * 3, [[0.1], [0.2], [0.3]], [[predicted]] * 3)
    assert {name for name, value in found.items() if value is None} == undefined


def test_shapes_and_values_are_checked():
    with pytest.raises(InputError):
        evaluate_labels([[1, 0]], [[0.1]], [[1, 0]])
    with pytest.raises(AnnotationError):
        evaluate_labels([[2]], [[0.1]], [[1]])
