"""What methods refuse or warn of, and in which words."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from tests.methods.small import (
    COMPLEMENTARY,
    LEARNERS,
    N_LABELS,
    N_SAMPLES,
    PROBLEM,
    brief,
    targets_of,
)

from complabel.answers import AssumedUniformWarning, UnchosenLabelWarning
from complabel.errors import AnnotationError, ComplabelError, InputError
from complabel.methods import METHODS, make_classifier

X = np.where(np.abs(PROBLEM.X) < 0.3, 0.0, PROBLEM.X)

every_method = pytest.mark.parametrize("name", METHODS)
every_learner = pytest.mark.parametrize("name", LEARNERS)


def fitted(name):
    return brief(name).fit(X, targets_of(name))


def with_nan(kind):
    """Features with a NaN at row 7, column 2 and another one later."""
    spoilt = np.where(X == 0, 0.5, X)
    spoilt[7, 2] = spoilt[11, 0] = np.nan
    return kind(spoilt)


def with_row(values, row=6):
    spoilt = COMPLEMENTARY.copy()
    spoilt[row] = values
    return spoilt


@every_learner
@pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_array, sparse.csr_matrix, np.ndarray.tolist]
)
def test_nan_is_located(name, kind):
    message = "2 entries are not finite, the first in row 7, column 2. .*impute"
    with pytest.raises(InputError, match=message):
        brief(name).fit(with_nan(kind), COMPLEMENTARY)
    classifier = fitted(name)
    with pytest.raises(InputError, match=message):
        classifier.predict(with_nan(kind))
    with pytest.raises(InputError, match=message):
        classifier.score(with_nan(kind), COMPLEMENTARY)


def test_nothing_is_said_beside_where_the_nan_is():
    with pytest.raises(InputError) as caught:
        brief("prior").fit(with_nan(np.asarray), COMPLEMENTARY)
    assert str(caught.value) == (
        "Input X contains NaN. 2 entries are not finite, the first in row 7, column 2."
        " Remove or impute such entries first."
    )


def test_features_of_one_dimension_are_not_printed():
    with pytest.raises(InputError, match=r"got 1D array instead\. Reshape") as caught:
        brief("prior").fit(X[:, 0], COMPLEMENTARY)
    assert "array=" not in str(caught.value)


def names_with(entry):
    names = list("abcd" * N_SAMPLES)[:N_SAMPLES]
    names[5] = entry
    return names


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(np.arange(360).reshape(90, 4) == 9, np.nan, 0), "y holds nan at row 2, label 1"),
        (np.where(np.arange(90) == 9, np.nan, 1), "y holds nan in row 9 instead of a class"),
        (names_with(None), "y holds None in row 5 .*indicator_from_names"),
        (np.array(names_with(None), dtype=object), "y holds None in row 5 .*indicator_from_nam"),
        (names_with(["a", "b"]), r"not a matrix of numbers|y holds \['a', 'b'\] in row 5"),
        (
            [["a", "b"], *([["a"]] * (N_SAMPLES - 1))],
            "y is not a matrix of numbers: row 0 has 2 entries and row 1 has 1 entry",
        ),
        ([list("abcd")] * N_SAMPLES, "y is not a matrix of numbers: it holds 'a' at row 0, label"),
        (np.linspace(0, 1, N_SAMPLES), "y is no list of classes: Unknown label type: continuous"),
        (None, "requires y to be passed"),
    ],
)
def test_what_is_wrong_with_y_is_said_of_y_and_located(y, message):
    with pytest.raises(ComplabelError, match=message):
        brief("prior").fit(X, y)


def test_relevant_labels_in_a_data_frame_must_have_the_columns_of_y():
    pandas = pytest.importorskip("pandas")
    y = pandas.DataFrame(COMPLEMENTARY, columns=list("abcd"))
    relevant = pandas.DataFrame(0 * COMPLEMENTARY, columns=list("abdc"))
    with pytest.raises(AnnotationError, match="relevant has its columns in another order than y"):
        brief("prior").fit(X, y, relevant=relevant)
    brief("prior").fit(X, y, relevant=relevant[list("abcd")])


def test_infinity_is_located_in_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    frame.iloc[4, 3] = np.inf
    with pytest.raises(InputError, match="1 entry is not finite, the first in row 4, column 3"):
        brief("mlcl").fit(frame, COMPLEMENTARY)


def test_nan_is_located_in_an_array_of_objects():
    with pytest.raises(InputError, match="the first in row 7, column 2"):
        brief("mlcl").fit(with_nan(np.asarray).astype(object), COMPLEMENTARY)


@every_learner
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (0 * COMPLEMENTARY, r"y marks no label in rows 0, 1, .*\(90 in all\); at least one row"),
        (with_row(1), f"y marks all {N_LABELS} labels in row 6; every row must leave"),
        (with_row(2), "y holds 2 at row 6, label 0; every entry must be 0 or 1"),
        (
            np.eye(2, dtype=int)[np.arange(N_SAMPLES) % 2],
            "y has 2 labels .*needs at least 3: with two",
        ),
        (COMPLEMENTARY[:, :1], r"y has shape \(90, 1\) and holds zeros and ones, an indicator of"),
        (np.ones(N_SAMPLES, dtype=int), "y holds only one class, 1, in all rows; at least 2 cl"),
    ],
    ids=["rows with none", "row with all", "not binary", "two labels", "a column", "one class"],
)
def test_labels_that_nothing_can_be_learned_from_are_refused(name, y, message):
    with pytest.raises(AnnotationError, match=message):
        brief(name).fit(X, y)


def known_at(row, label):
    relevant = np.zeros_like(COMPLEMENTARY)
    relevant[row, label] = 1
    return relevant


@every_learner
@pytest.mark.parametrize("single", [False, True], ids=["indicator", "one class per row"])
def test_a_label_given_as_complementary_and_as_relevant_is_refused(name, single):
    label = int(COMPLEMENTARY[8].argmax())
    y = COMPLEMENTARY.argmax(axis=1) if single else COMPLEMENTARY
    message = rf"row 8:? .*label {label} .*as complementary and as relevant"
    with pytest.raises(AnnotationError, match=message):
        brief(name).fit(X, y, relevant=known_at(8, label))


@every_learner
@pytest.mark.parametrize("single", [False, True], ids=["indicator", "one class per row"])
@pytest.mark.parametrize("shape", [(N_SAMPLES - 1, N_LABELS), (N_SAMPLES, N_LABELS + 1)])
def test_relevant_labels_of_another_shape_are_refused(name, shape, single):
    y = COMPLEMENTARY.argmax(axis=1) if single else COMPLEMENTARY
    message = rf"relevant has shape \({shape[0]}, {shape[1]}\) ?,? but "
    with pytest.raises(AnnotationError, match=message):
        brief(name).fit(X, y, relevant=np.zeros(shape))


@every_learner
def test_relevant_labels_must_be_an_indicator(name):
    with pytest.raises(AnnotationError, match="relevant holds 3 at row 0, label 1"):
        brief(name).fit(X, COMPLEMENTARY, relevant=3 * known_at(0, 1))
    with pytest.raises(AnnotationError, match=r"relevant has shape \(90,\)"):
        brief(name).fit(X, COMPLEMENTARY, relevant=np.zeros(N_SAMPLES))


@every_method
def test_numbers_of_rows_must_agree(name):
    targets = targets_of(name)
    with pytest.raises(InputError, match="X has 89 rows but y has 90; both need one row per"):
        brief(name).fit(X[:-1], targets)
    with pytest.raises(
        InputError, match=r"y has shape \(4, 90\), so it looks transposed: give y.T"
    ):
        brief(name).fit(X, targets.T)
    with pytest.raises(ComplabelError, match="90"):
        fitted(name).score(X, targets[:-1])


@every_method
@pytest.mark.parametrize(
    ("features", "message"),
    [(X[:, 0], "Expected 2D array, got 1D"), (X[:0], "0 sample"), (X[:, :0], "0 feature")],
)
def test_features_must_be_a_matrix_with_rows_and_columns(name, features, message):
    with pytest.raises(InputError, match=message):
        brief(name).fit(features, targets_of(name))


@every_method
def test_features_of_another_number_are_refused(name):
    classifier = fitted(name)
    for use in (classifier.predict, classifier.predict_proba, classifier.decision_function):
        with pytest.raises(InputError, match=r"X has 3 features, but .* is expecting 5 features"):
            use(X[:, :3])


@every_method
def test_nothing_is_predicted_before_fit(name):
    classifier = brief(name)
    for use in (classifier.predict, classifier.predict_proba, classifier.decision_function):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            use(X)


@pytest.mark.parametrize("name", METHODS)
def test_nothing_is_scored_before_fit(name):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        brief(name).score(X, targets_of(name))


@every_learner
def test_labels_to_score_on_are_checked_too(name):
    classifier = fitted(name)
    with pytest.raises(AnnotationError, match="y has 5 labels, but fit was given 4"):
        classifier.score(X, np.eye(5, dtype=int)[np.arange(N_SAMPLES) % 5])
    with pytest.raises(AnnotationError, match="y marks no label in rows 0, 1,"):
        classifier.score(X, 0 * COMPLEMENTARY)
    with pytest.raises(AnnotationError, match="y marks all 4 labels in row 6"):
        classifier.score(X, with_row(1))
    with pytest.raises(InputError, match="X has 90 rows but y has 89"):
        classifier.score(X, COMPLEMENTARY[1:])
    of_classes = brief(name).fit(X, COMPLEMENTARY.argmax(axis=1))
    unseen = np.full(N_SAMPLES, 17)
    with pytest.raises(AnnotationError, match=r"17.* was not seen during fit; .*\[0, 1, 2, 3\]"):
        of_classes.score(X, unseen)


@every_learner
def test_a_label_never_chosen_is_warned_of(name):
    unchosen = np.zeros_like(COMPLEMENTARY)
    unchosen[np.arange(N_SAMPLES), np.arange(N_SAMPLES) % (N_LABELS - 1)] = 1
    with pytest.warns(UnchosenLabelWarning, match=f"label {N_LABELS - 1};"):
        classifier = brief(name).fit(X, unchosen)
    assert np.isfinite(classifier.decision_function(X)).all()


@every_learner
def test_no_warning_where_there_is_nothing_to_warn_of(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AssumedUniformWarning)  # said of every free naming
        brief(name).fit(X, COMPLEMENTARY)


THRESHOLDED = [name for name in METHODS if "threshold" in make_classifier(name).get_params()]


@pytest.mark.parametrize("name", THRESHOLDED)
def test_an_unknown_threshold_is_refused(name):
    classifier = brief(name).set_params(threshold="half")
    message = "threshold must be one of 'probability', 'minmax', got 'half'"
    with pytest.raises(InputError, match=message):
        classifier.fit(X, targets_of(name))


@pytest.mark.parametrize("y", [{"a": 1}, iter([1, 2])])
def test_what_is_no_matrix_is_said_without_a_place(y):
    with pytest.raises(AnnotationError, match="y is not a matrix of numbers: it holds") as caught:
        brief("prior").fit(X, y)
    assert "at row" not in str(caught.value)


def test_complex_features_are_refused_in_one_line():
    with pytest.raises(InputError, match="Complex data not supported") as caught:
        brief("prior").fit(X * 1j, COMPLEMENTARY)
    assert "\n" not in str(caught.value)


def test_every_error_is_one_that_scikit_learn_expects():
    assert issubclass(InputError, ValueError)
    assert issubclass(AnnotationError, ValueError)
