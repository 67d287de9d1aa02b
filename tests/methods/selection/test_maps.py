"""Fitted maps are scikit-learn's to the last digit, without scikit-learn."""

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import normalize

from complabel.methods import read_model
from complabel.methods.selection._classifier import SelectionLikelihoodClassifier
from complabel.methods.selection._features import FeatureMap
from complabel.methods.selection._maps import LandmarkKernel, RowsToLengthOne

X = np.random.default_rng(0).normal(size=(40, 6))
X[3] = 0
FORMS = [X, X.astype(np.float32), sparse.csr_array(X)]
IDS = ["float64", "float32", "sparse"]


@pytest.mark.parametrize("rows", FORMS, ids=IDS)
def test_kernel_features_are_those_of_scikit_learns_kernel(rows):
    landmarks, factor = rows[:9], np.tril(np.ones((9, 9)))
    found = LandmarkKernel(landmarks, 0.3, factor).transform(rows)
    centre = 0 if sparse.issparse(rows) else landmarks.mean(axis=0)
    centred = [each if sparse.issparse(each) else each - centre for each in (rows, landmarks)]
    kernel = rbf_kernel(*centred, gamma=0.3)
    expected = linalg.solve_triangular(factor.astype(kernel.dtype), kernel.T, lower=True).T
    assert (found == expected).all()


@pytest.mark.parametrize("rows", FORMS, ids=IDS)
def test_rows_of_length_one_are_those_of_scikit_learn(rows):
    assert (RowsToLengthOne().transform(rows) != normalize(rows)).sum() == 0


def test_what_only_predicts_is_shown_as_the_classifier_and_predicts_the_same(tmp_path):
    settings = {"kernel": "rbf", "alpha": 0.1, "gamma": 0.25, "propensities": "equal", "cv": 4}
    classifier = SelectionLikelihoodClassifier(**settings, random_state=0)
    classifier.fit(X, np.eye(4, dtype=int)[np.arange(40) % 4]).save(tmp_path / "m.safetensors")
    predictor, header = read_model(tmp_path / "m.safetensors", only_predicts=True)
    assert not hasattr(predictor, "fit")
    assert " ".join(repr(classifier).split()) == repr(predictor)
    assert (predictor.predict_proba(X) == classifier.predict_proba(X)).all()
    assert header["method"] == "selection-likelihood"


@pytest.mark.parametrize("scaling", ["global", "standardize", "rows"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_fewer_rows_than_columns_are_rotated_to_as_many_columns(form, scaling, monkeypatch):
    # A penalty on the norm depends on inner products of rows alone.
    wide = np.random.default_rng(1).poisson(0.3, size=(30, 90)) + np.eye(30, 90)
    monkeypatch.setattr("complabel.methods.selection._features._MOST_ROTATED", 20)
    prepared = FeatureMap(scaling).fit_transform(form(wide))
    assert prepared.in_short(63).X.shape == wide.shape  # of few labels, only fewer rows
    short = prepared.in_short(64)
    rows = normalize(wide) if scaling == "rows" else wide
    centred = rows - rows.mean(axis=0)
    spread = np.sqrt(centred.var(axis=0))
    of_all = np.sqrt((spread**2).mean())
    scaled = centred / (np.where(spread > 0, spread, 1) if scaling == "standardize" else of_all)
    inner = scaled @ scaled.T
    assert short.X.shape == (30, 29)  # centred rows add up to 0
    np.testing.assert_allclose(short.X @ short.X.T, inner, atol=1e-5 * inner.max())
    covariance, values = short.X.T @ short.X / 30, short.spread.values
    np.testing.assert_allclose(covariance, np.diag(values), atol=1e-5 * values.max())
