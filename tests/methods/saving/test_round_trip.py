import json
import warnings
from pkgutil import resolve_name

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from tests.methods.saving.files import take_apart
from tests.methods.small import COMPLEMENTARY, N_SAMPLES, PROBLEM, brief, targets_of
from tests.refusals import raises

import complabel
from complabel import methods
from complabel.answers import Answers, ClassPerRowWarning
from complabel.experiments import methods as compared
from complabel.experiments.losses import CCMNLoss, COMESHammingLoss, COMESRankingLoss, GDFLoss
from complabel.experiments.methods import ComplementaryLossClassifier, LIFTClassifier
from complabel.losses import MLCLLoss, SelectionLikelihoodLoss
from complabel.methods import (
    METHODS,
    ComplementaryClassifier,
    FrequencyMatchedClassifier,
    MLCLClassifier,
    SelectionLikelihoodClassifier,
    read_header,
)
from complabel.methods._places import PLACES

FORMS = {
    "dense": np.asarray,
    "by columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sparse.csr_array,
    "sparse matrix in float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
}
LINEAR = {"kernel": "linear", "alpha": 0.1, "random_state": 0}
# What a fit leaves and no file holds: as many rows as were trained on, and nothing needs them.
LEFT_OUT = {"pml-lc": {"confidences_"}, "pml-fp": {"confidences_"}}
OTHERS = {
    "all chosen": SelectionLikelihoodClassifier(random_state=0),
    "by length": SelectionLikelihoodClassifier(scaling="rows", **LINEAR),
    "standardized": SelectionLikelihoodClassifier(scaling="standardize", **LINEAR),
    "frequencies given": SelectionLikelihoodClassifier(
        label_frequencies=PROBLEM.Y.mean(axis=0), **LINEAR
    ),
    "matched ridge": FrequencyMatchedClassifier(brief("ridge"), PROBLEM.Y.mean(axis=0)),
    "matched neighbours": FrequencyMatchedClassifier(brief("ml-knn"), [0.1, 0.2, 0.3, 0.4]),
    "matched machines": FrequencyMatchedClassifier(brief("lift"), (0.1, 0.2, 0.3, 0.4), cv=None),
    "matched kernel": FrequencyMatchedClassifier(
        brief("selection-likelihood"), PROBLEM.Y.mean(axis=0), cv=None
    ),
    "matched twice": FrequencyMatchedClassifier(
        FrequencyMatchedClassifier(brief("mlcl"), [0.2] * 4, cv=None), [0.3] * 4, cv=None
    ),
    "known transition": MLCLClassifier(transition=(1 - np.eye(4)) / 3, epochs=3, random_state=0),
    "rate chosen": MLCLClassifier(epochs=2, random_state=0),
    "LIBSVM": LIFTClassifier(solver="libsvm", random_state=0),
    "loss": ComplementaryLossClassifier(
        loss=MLCLLoss((1 - torch.eye(4)) / 3, beta=0.5), epochs=3, random_state=0
    ),
    "likelihood as loss": ComplementaryLossClassifier(
        loss=SelectionLikelihoodLoss(cardinality=1.5, propensities=[1, 2, 3, 4]), epochs=3
    ),
    "loss of naming rates": ComplementaryLossClassifier(
        loss=CCMNLoss([0.2, 0.4, 0.6, 1]), epochs=3, random_state=0
    ),
    "uncorrected loss": ComplementaryLossClassifier(
        loss=COMESHammingLoss([0.3] * 4, corrected=False), epochs=3, random_state=0
    ),
    "flooded loss": ComplementaryLossClassifier(
        loss=COMESRankingLoss([0.1, 0.4, 0.6, 1], flooding=0.5), epochs=3, random_state=0
    ),
    "class of losses": ComplementaryLossClassifier(loss=GDFLoss, epochs=3, random_state=0),
}


def there_and_back(classifier, path):
    classifier.save(path)
    return complabel.load(path)


def assert_same_predictions(loaded, classifier, X=PROBLEM.X):
    for form in FORMS.values():
        scores = classifier.decision_function(form(X))
        assert np.array_equal(loaded.decision_function(form(X)), scores)
        assert loaded.decision_function(form(X)).dtype == scores.dtype
    assert np.array_equal(loaded.predict(X), classifier.predict(X))
    assert np.array_equal(loaded.predict_proba(X), classifier.predict_proba(X))


def plain(value):
    """Turn parameters and attributes into what ``==`` compares."""
    if isinstance(value, torch.Tensor):
        return plain(value.numpy())
    if isinstance(value, np.ma.MaskedArray):
        return plain(value.filled(0)), plain(np.ma.getmaskarray(value))
    if sparse.issparse(value):
        return type(value), plain(value.toarray())
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if isinstance(value, (list, tuple)):
        return type(value), [plain(each) for each in value]
    if isinstance(value, torch.nn.Module):
        return str(value), plain(dict(value.state_dict()))
    if type(value).__module__.startswith(("complabel", "sklearn")):
        return type(value), plain(vars(value))
    return value


@pytest.mark.parametrize("name", [*METHODS, *OTHERS])
def test_a_method_comes_back_predicts_the_same_to_the_last_bit_and_is_fitted_again(name, path):
    classifier = brief(name) if name in METHODS else clone(OTHERS[name])
    y = targets_of(name) if name in METHODS else COMPLEMENTARY
    loaded = there_and_back(classifier.fit(PROBLEM.X, y), path)
    assert type(loaded) is type(classifier)
    assert_same_predictions(loaded, classifier)
    assert loaded.score(PROBLEM.X, y) == classifier.score(PROBLEM.X, y)
    assert plain(loaded.get_params()) == plain(classifier.get_params())
    found, expected = plain(vars(loaded)), plain(vars(classifier))
    assert expected.keys() - found.keys() == LEFT_OUT.get(name, set())
    assert found == {key: expected[key] for key in found}
    assert repr(clone(loaded)) == repr(clone(classifier))
    before = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == before
    if name in METHODS:
        X = PROBLEM.X + 1
        both = [each.fit(X, y).decision_function(X) for each in (loaded, classifier)]
        assert np.array_equal(*both)


@pytest.mark.parametrize("form", ["by columns", "float32", "sparse", "sparse matrix in float32"])
@pytest.mark.parametrize("name", ["ml-knn", "lift", "selection-likelihood", "ridge"])
def test_a_fit_to_another_form_of_features_predicts_the_same(name, form, path):
    classifier = brief(name).fit(FORMS[form](PROBLEM.X), COMPLEMENTARY)
    assert_same_predictions(there_and_back(classifier, path), classifier)


@pytest.mark.parametrize("name", METHODS)
def test_training_rows_are_only_where_predictions_need_them(name, path):
    brief(name).fit(PROBLEM.X, targets_of(name)).save(path)
    _, arrays = take_apart(path)
    assert name == "ml-knn" or not any(N_SAMPLES in array.shape for array in arrays.values())
    known = {row.tobytes() for row in PROBLEM.X}
    kept = {
        at
        for at, array in arrays.items()
        if array.ndim == 2 and known & {np.ascontiguousarray(row).tobytes() for row in array}
    }
    kernel = {"state.model_.transformer.landmarks"}
    expected = {"ml-knn": {"state.X_"}, "selection-likelihood": kernel, "supervised": kernel}
    # A centre of LIFT is a training row where a cluster has no other.
    assert kept <= {"state.centers_"} if name == "lift" else kept == expected.get(name, set())


def test_names_of_labels_and_features_come_back(path):
    X = pd.DataFrame(PROBLEM.X).add_prefix("x")
    y = pd.DataFrame(COMPLEMENTARY, columns=["sea", "sky", "Straße", "\u5929\u7a7a"])
    classifier = brief("ridge").fit(X, y)
    loaded = there_and_back(classifier, path)
    assert loaded.classes_.tolist() == y.columns.tolist()
    assert loaded.feature_names_in_.tolist() == X.columns.tolist()
    assert loaded.feature_names_in_.dtype == object
    assert np.array_equal(loaded.decision_function(X), classifier.decision_function(X))
    with raises(ValueError, "x0"):
        loaded.predict(X.rename(columns={"x0": "other"}))
    header = read_header(path)
    assert header["state"]["classes_"] == {"$texts": y.columns.tolist()}
    assert header["state"]["feature_names_in_"] == {"$objects": X.columns.tolist()}


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("prior", ["a", "b", "c"]),
        ("ridge", [3, 5, 9]),
        ("mlcl", [1.0, 2.0, 4.0]),
        ("supervised", ["no", "yes"]),
        ("supervised", [False, True]),
        ("ridge", np.array(["a", "b", "c"], dtype=object)),
    ],
    ids=["texts", "numbers", "floats", "two", "truth values", "objects"],
)
def test_one_class_per_row_comes_back(name, classes, path):
    y = np.asarray(classes)[np.arange(N_SAMPLES) % len(classes)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassPerRowWarning)
        classifier = brief(name).fit(PROBLEM.X, y)
    loaded = there_and_back(classifier, path)
    assert_same_predictions(loaded, classifier)
    assert loaded.classes_.dtype.kind == classifier.classes_.dtype.kind
    assert set(loaded.predict(PROBLEM.X).tolist()) <= set(classes)


def test_every_classifier_of_the_package_has_a_name_in_files():
    public = [getattr(room, name) for room in (methods, compared) for name in room.__all__]
    classifiers = {
        each
        for each in public
        if isinstance(each, type) and issubclass(each, ComplementaryClassifier)
    } - {ComplementaryClassifier}
    assert classifiers == {*map(resolve_name, PLACES.values())}


def test_annotators_are_named_only_where_they_have_error_rates(path):
    people = np.array(["anna", "bert", "carl"])[np.arange(N_SAMPLES) % 3]
    answers = Answers.from_arrays(
        absent=1 - PROBLEM.Y, relevant=PROBLEM.Y, question="ticked", annotator=people
    )
    for rate, names in ((0.0, []), ("per-annotator", ["anna", "bert", "carl"])):
        classifier = SelectionLikelihoodClassifier(
            error_rate=rate, label_frequencies=None, cardinality=None, cv=2, **LINEAR
        ).fit(PROBLEM.X, answers)
        loaded = there_and_back(classifier, path)
        assert read_header(path)["state"]["_annotators"]["names"] == {"$texts": names}
        assert loaded.score(PROBLEM.X, answers) == classifier.score(PROBLEM.X, answers)
        assert loaded.error_rate_ == classifier.error_rate_


def test_estimated_frequencies_and_propensities_come_back(path):
    rng = np.random.default_rng(0)
    asked = rng.random(PROBLEM.Y.shape) < 0.3
    asked[:, 0] |= ~asked.any(axis=1)
    judged = Answers.from_arrays(
        absent=asked & (PROBLEM.Y == 0), relevant=asked & (PROBLEM.Y == 1),
        question="ticked", offered=asked, probability=0.1,
    )  # fmt: skip
    classifier = SelectionLikelihoodClassifier(**LINEAR).fit(PROBLEM.X, judged)
    loaded = there_and_back(classifier, path)
    assert plain(vars(loaded)) == plain(vars(classifier))


def test_a_generator_goes_on_where_it_stood_and_infinity_comes_back(path):
    classifier = brief("ridge", random_state=np.random.default_rng(5))
    loaded = there_and_back(classifier.fit(PROBLEM.X, COMPLEMENTARY), path)
    assert loaded.random_state.random() == classifier.random_state.random()
    without_noise = brief("pml-lrs", eta=np.inf).fit(PROBLEM.X, COMPLEMENTARY)
    assert there_and_back(without_noise, path).eta == np.inf


def test_a_callback_is_left_out(path):
    heard = []
    classifier = brief("gdf", callback=lambda *news: heard.append(news))
    loaded = there_and_back(classifier.fit(PROBLEM.X, COMPLEMENTARY), path)
    assert heard
    assert loaded.callback is None
    assert_same_predictions(loaded, classifier)


def test_what_a_file_says_of_itself(path):
    classifier = brief("ridge").fit(PROBLEM.X, COMPLEMENTARY)
    classifier.save(path, provenance={"date": "2026-11-01", "data": {"rows": 90}})
    header = read_header(path)
    assert header["method"] == "ridge"
    assert header["parameters"]["cv"] == 5
    assert header["provenance"]["complabel"] == complabel.__version__
    assert header["provenance"]["numpy"] == np.__version__
    assert header["provenance"]["given"] == {"date": "2026-11-01", "data": {"rows": 90}}
    assert json.dumps(header)  # plain values only
