"""Thresholds that a model keeps: which labels it predicts by them, and what it refuses."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.examples import examples
from tests.methods.saving.files import array, changed, refused
from tests.methods.small import COMPLEMENTARY, PROBLEM, brief
from tests.refusals import raises

import complabel
from complabel.errors import InputError
from complabel.methods import METHODS

X, NAMES = PROBLEM.X, ["city", "sea", "sky", "tree"]


@pytest.fixture
def fitted():
    return brief("ridge").fit(X, COMPLEMENTARY)


@pytest.mark.parametrize("name", METHODS)
def test_a_label_is_predicted_where_its_probability_is_at_least_the_threshold(name):
    y = PROBLEM.Y if METHODS[name].learns_from == "relevant" else COMPLEMENTARY
    classifier = brief(name).fit(X, y)
    probabilities = classifier.predict_proba(X)
    # Thresholds are probabilities of some items: rounding must not decide about these.
    thresholds = np.clip(probabilities[[3, 1, 4, 5], range(4)], 0.01, 0.99)
    expected = probabilities >= thresholds
    assert classifier.set_thresholds(thresholds) is classifier
    np.testing.assert_array_equal(classifier.predict(X), expected)
    np.testing.assert_array_equal(classifier.predict_with_proba(X)[0], expected)
    np.testing.assert_array_equal(classifier.predict_proba(X), probabilities)


@examples(20)
@given(hnp.arrays(np.float64, 4, elements=st.floats(0, 1, exclude_min=True, exclude_max=True)))
def test_thresholds_come_back_from_a_file_and_from_a_pickle(tmp_path_factory, values):
    classifier = brief("prior").fit(X, COMPLEMENTARY).set_thresholds(values)
    path = tmp_path_factory.mktemp("model") / "m.safetensors"
    classifier.save(path)
    for copy in (complabel.load(path), pickle.loads(pickle.dumps(classifier))):
        np.testing.assert_array_equal(copy.thresholds_, values)
        np.testing.assert_array_equal(copy.predict(X), classifier.predict(X))


def test_they_are_forgotten_on_request_by_a_fit_and_by_a_clone(fitted, tmp_path):
    before = fitted.predict(X)
    assert fitted.set_thresholds(1e-9).predict(X).sum() > before.sum()
    np.testing.assert_array_equal(fitted.set_thresholds(None).predict(X), before)
    fitted.save(tmp_path / "m.safetensors")
    assert not hasattr(complabel.load(tmp_path / "m.safetensors"), "thresholds_")
    assert not hasattr(clone(fitted.set_thresholds(0.3)), "thresholds_")
    np.testing.assert_array_equal(fitted.fit(X, COMPLEMENTARY).predict(X), before)


def test_labels_are_named_and_others_keep_theirs():
    pd = pytest.importorskip("pandas")
    classifier = brief("ridge").fit(X, pd.DataFrame(COMPLEMENTARY, columns=NAMES))
    np.testing.assert_array_equal(
        classifier.set_thresholds({"sky": 0.2}).thresholds_, [0.5, 0.5, 0.2, 0.5]
    )
    np.testing.assert_array_equal(
        classifier.set_thresholds({"city": 0.9, "sea": 0.1}).thresholds_, [0.9, 0.1, 0.2, 0.5]
    )
    with raises(InputError, "label 'ski'", "'city'"):
        classifier.set_thresholds({"ski": 0.5})


def test_the_callers_array_stays_the_callers(fitted):
    values = np.full(4, 0.3)
    fitted.set_thresholds(values)
    values[:] = 0.9
    np.testing.assert_array_equal(fitted.thresholds_, 0.3)


WRONG = {
    "zero": (0, ("label 0", "0", "1")),
    "one": ([0.5, 1.0, 0.5, 0.5], ("label 1", "1")),
    "NaN": ([0.5, 0.5, np.nan, 0.5], ("thresholds", "nan", "label 2")),
    "three": ([0.5] * 3, ("3", "4 labels")),
    "a table": ([[0.5] * 4], "1-D array"),
    "text": ("half", "thresholds"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_are_no_thresholds(case, fitted):
    values, said = WRONG[case]
    with raises(InputError, said):
        fitted.set_thresholds(values)
    assert not hasattr(fitted, "thresholds_")


@pytest.mark.filterwarnings("ignore::complabel.answers.ClassPerRowWarning")
def test_one_class_per_row_has_no_thresholds():
    classifier = brief("ridge").fit(X, np.array(NAMES)[COMPLEMENTARY.argmax(axis=1)])
    with raises(InputError):
        classifier.set_thresholds(0.3)
    with pytest.raises(NotFittedError):
        brief("ridge").set_thresholds(0.3)


def test_a_file_with_other_thresholds_than_labels_is_refused(fitted, tmp_path):
    path = tmp_path / "m.safetensors"
    fitted.set_thresholds(0.3).save(path)
    refused(changed(path, array("state.thresholds_", lambda values: values[1:])), "thresholds_")
