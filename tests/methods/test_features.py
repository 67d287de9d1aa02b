"""Features far from 0 or far apart: a method learns from them, or says what is wrong with them."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from tests.methods.small import FAMILIES, brief, targets_of
from tests.refusals import raises, warns

from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.methods import MLCLClassifier
from complabel.simulate import draw_complementary
from complabel.transition import uniform_transition

PROBLEM = make_synthetic(60, n_features=5, n_labels=4, signal=6.0, random_state=1)
X = PROBLEM.X
COMPLEMENTARY = draw_complementary(PROBLEM.Y, random_state=1)
FEATURES = {
    "times 1e30": X * 1e30,
    "times 1e160": X * 1e160,
    "plus 1e9": X + 1e9,
    "columns from 1e-100 to 1e100": X * np.logspace(-100, 100, 5),
    "columns from 1e-10 to 1e10": X * np.logspace(-10, 10, 5),
    "times 1e-310": X * 1e-310,
}
FEW = {"epochs": 3, "svm_max_iter": 500, "kernel": "linear", "scaling": "global"}


@pytest.mark.filterwarnings("ignore:LIBSVM stopped")
@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("name", ["prior", "pml-lrs", *FAMILIES])
def test_every_method_learns_or_says_that_the_features_are_at_fault(name, kind):
    try:
        classifier = brief(name, **FEW).fit(
            FEATURES[kind], targets_of(name, PROBLEM.Y, COMPLEMENTARY)
        )
    except InputError as error:
        assert "X" in str(error)  # noqa: PT017
        assert "scale" in str(error).lower()  # noqa: PT017
    else:
        assert np.isfinite(classifier.predict_proba(FEATURES[kind])).all()
        assert np.isfinite(classifier.decision_function(FEATURES[kind])).all()
        assert np.isfinite(classifier.score(FEATURES[kind], COMPLEMENTARY))


@pytest.mark.parametrize("name", ["mlcl", "gdf", "ccmn", "supervised-bce"])
def test_networks_that_diverge_say_so(name):
    def network(n_features, n_labels):
        hidden = torch.nn.Linear(n_features, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8)
        return torch.nn.Sequential(*hidden, torch.nn.ReLU(), torch.nn.Linear(8, n_labels))

    classifier = brief(name, **FEW, network=network, learning_rate=1e8)
    with raises(InputError, "row 0"):
        classifier.fit(X * 1e37, targets_of(name, PROBLEM.Y, COMPLEMENTARY))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
def test_new_features_too_large_for_a_sound_model_are_named(convert):
    classifier = brief("mlcl").fit(convert(X), COMPLEMENTARY)
    new = X[:5].copy()
    new[3] = [1.7e308, -1.7e308, 1.7e308, 1.7e308, 1.7e308]
    classifier.model_.coef[:] = 2.0
    with raises(InputError, "row 3"):
        classifier.decision_function(convert(new))


UNCENTRED = [(name, {}) for name in FAMILIES if name not in ("ml-knn", "lift")]
UNCENTRED += [("selection-likelihood", {"kernel": "linear", "scaling": "standardize"})]


@pytest.mark.parametrize(("name", "settings"), UNCENTRED)
def test_how_far_features_are_from_0_does_not_matter(name, settings):
    """Rounding of X itself, a ten thousandth at 1e12, is all that is lost."""
    targets = targets_of(name, PROBLEM.Y, COMPLEMENTARY)
    base = X - X.mean(axis=0)
    near, *others = (
        brief(name, **settings).fit(base + far, targets).decision_function(base + far)
        for far in (0.0, 1e3, 1e12)
    )
    for found in others:
        np.testing.assert_allclose(found, near, rtol=0.01, atol=0.01)


@pytest.mark.parametrize("name", ["ml-knn", "lift"])
def test_distances_that_rounding_hides_are_refused(name):
    with raises(InputError, "1e+12"):
        brief(name).fit(X + 1e12, COMPLEMENTARY)


@pytest.mark.parametrize(
    ("rows", "settings"), [(sparse.csr_array(X + 100), {}), (X + 100, {"network": torch.nn.Linear})]
)
def test_features_far_from_0_that_cannot_be_centred_are_warned_of(rows, settings):
    with warns(ConvergenceWarning, "X", "0") as caught:
        brief("gdf", **settings).fit(rows, COMPLEMENTARY)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("times", [1.0, 1e12, 1e38])
def test_the_kernel_takes_single_precision_or_says_that_squares_overflow(times):
    rows = (X / np.abs(X).max() * times).astype(np.float32)
    classifier = brief("selection-likelihood", gamma="auto")
    if times == 1e38:
        with raises(InputError, "up to 1e+38"):
            classifier.fit(rows, COMPLEMENTARY)
        return
    expected = brief("selection-likelihood", gamma="auto").fit(X, COMPLEMENTARY)
    found = classifier.fit(rows, COMPLEMENTARY).decision_function(rows)
    np.testing.assert_allclose(found, expected.decision_function(X), atol=0.02)


def test_a_kernel_that_rounding_makes_singular_names_the_features():
    with raises(InputError, "X", "0"):
        brief("selection-likelihood").fit(sparse.csr_array(X + 1e12), COMPLEMENTARY)


def test_rows_whose_scores_all_vanish_still_have_a_likelihood():
    classifier = MLCLClassifier(transition="uniform", epochs=1, random_state=0)
    classifier.fit(X, COMPLEMENTARY)
    classifier.model_.coef[:] = 0.0
    classifier.model_.intercept[:] = [-800.0, -801.0, -5000.0, -5000.0]
    first = 1 / (1 + np.exp(-1.0))
    expected = np.array([first, 1 - first, 0, 0]) @ uniform_transition(4)
    complementary = np.eye(4, dtype=np.uint8)[[0, 2]]
    found = classifier._log_likelihood(X[:2], complementary)
    np.testing.assert_allclose(found, np.log(expected[[0, 2]]), rtol=1e-12)


def test_fpml_names_the_columns_norms():
    with raises(InputError, "100"):
        brief("fpml").fit(FEATURES["columns from 1e-100 to 1e100"], COMPLEMENTARY)


# However a sparse matrix is written down.
THIN = np.where(np.abs(X) < 0.4, 0.0, X)


def untidy(dense, *, index=np.int64):
    """Write each entry as two halves apart, backwards, with zeros stored and wide indices."""
    n_samples, n_features = dense.shape
    backwards = np.arange(n_features)[::-1]
    columns = np.tile(np.concatenate([backwards, backwards]), n_samples)
    data = np.concatenate([dense[:, ::-1] / 2, dense[:, ::-1] / 2], axis=1).ravel()
    rows = np.arange(0, len(data) + 1, 2 * n_features)
    matrix = sparse.csr_array((n_samples, n_features), dtype=dense.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, columns.astype(index), rows.astype(index)
    np.testing.assert_array_equal(matrix.toarray(), dense)
    return matrix


def learned(name, features, new):
    """What a method says of new rows, with its seed fixed and without a search."""
    classifier = brief(name, epochs=3)
    classifier.fit(features, targets_of(name, PROBLEM.Y, COMPLEMENTARY))
    return classifier.decision_function(new)


def arrays(matrix):
    return [matrix.data, matrix.indices, matrix.indptr]


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("name", ["prior", *FAMILIES])
def test_untidy_sparse_features_are_the_same_features_and_left_as_they_were(name, index):
    dense = THIN, THIN[::-1] * 1.5
    tidy = learned(name, *map(sparse.csr_array, dense))
    given = [untidy(each, index=index) for each in dense]
    before = [[part.copy() for part in arrays(matrix)] for matrix in given]
    np.testing.assert_array_equal(learned(name, *given), tidy)
    for matrix, parts in zip(given, before, strict=True):
        for part, same in zip(arrays(matrix), parts, strict=True):
            assert part.dtype == same.dtype
            assert part.tobytes() == same.tobytes()


def test_entries_for_one_place_that_overflow_are_refused():
    huge = untidy(THIN)
    huge.data[:] = 1e308
    with raises(InputError, "row 0", "column 0"):
        brief("prior").fit(huge, COMPLEMENTARY)
