import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.methods.small import COMPLEMENTARY, PROBLEM, brief
from tests.refusals import raises

from complabel.errors import ModelFileError
from complabel.experiments.losses import GDFLoss
from complabel.experiments.methods import ComplementaryLossClassifier, GDFClassifier
from complabel.methods import FrequencyMatchedClassifier, PriorClassifier


def test_what_is_not_fitted_is_not_saved(path):
    with pytest.raises(NotFittedError):
        PriorClassifier().save(path)
    assert not path.exists()


class Own(PriorClassifier):
    pass


class OwnLoss(GDFLoss):
    pass


class Odd:
    pass


@pytest.mark.parametrize(
    ("classifier", "odd", "said"),
    [
        (Own(), {}, ("Own", "numpy.savez")),
        (
            FrequencyMatchedClassifier(Own(), [0.2] * 4, cv=None),
            {},
            ("Own", "numpy.savez"),
        ),
        (
            ComplementaryLossClassifier(loss=OwnLoss, epochs=1),
            {},
            ("OwnLoss", "set_params"),
        ),
        (
            GDFClassifier(epochs=1),
            {"random_state": np.random.Generator(np.random.MT19937(0))},
            ("set_params", "random_state=None"),
        ),
        (GDFClassifier(epochs=1), {"batch_size": np.array(1j)}, "0-D array"),
        (GDFClassifier(epochs=1), {"milestones": Odd()}, "parameters.milestones"),
    ],
    ids=["class", "class inside", "loss", "generator", "complex number", "object"],
)
def test_what_no_file_can_hold_is_refused_with_what_to_do(classifier, odd, said, path):
    PriorClassifier().fit(PROBLEM.X, COMPLEMENTARY).save(path)
    before = path.read_bytes()
    classifier.fit(PROBLEM.X, COMPLEMENTARY).set_params(**odd)
    with raises(ModelFileError, said):
        classifier.save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_parameters_that_contradict_the_fit_are_refused(path):
    classifier = brief("ml-knn").fit(PROBLEM.X, COMPLEMENTARY).set_params(n_neighbors=3)
    with raises(ModelFileError, "n_neighbors", "3"):
        classifier.save(path)
    assert not path.exists()


@pytest.mark.parametrize("given", [{"when": Odd()}, {"$x": 1}])
def test_provenance_is_of_plain_values(given, path):
    classifier = PriorClassifier().fit(PROBLEM.X, COMPLEMENTARY)
    with raises(ModelFileError, "provenance"):
        classifier.save(path, provenance=given)
