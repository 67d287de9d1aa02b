"""The selection likelihood as a whole: what it learns, what it chooses, and how it refuses."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold
from tests.losses.selection_reference import selection_log_likelihood_reference

from complabel import metrics
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.experiments.datasets import load_dataset, preprocess
from complabel.experiments.methods import SupervisedBCEClassifier
from complabel.methods import PriorClassifier, SelectionLikelihoodClassifier
from complabel.methods.selection._features import FeatureMap
from complabel.methods.selection._known import Setting
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._prior import variances_of_biases
from complabel.simulate import draw_answers, draw_complementary

TRAIN, TEST = slice(0, 1000), slice(1000, None)
FIXED = {"alpha": 0.01, "cardinality": 1.7, "scaling": "global", "kernel": "linear"}


@pytest.fixture(scope="module")
def chosen(X, complementary):
    """All choices automatic."""
    classifier = SelectionLikelihoodClassifier(n_components=50, random_state=0)
    return classifier.fit(X[TRAIN], complementary[TRAIN])


def fixed(**settings):
    """No search."""
    return SelectionLikelihoodClassifier(**{**FIXED, "random_state": 0, **settings})


@pytest.mark.slow
def test_ranks_as_well_as_training_on_relevant_labels(chosen, precision_of, X, relevant):
    full = SupervisedBCEClassifier(epochs=60, learning_rate=0.05, random_state=0)
    constant = PriorClassifier().fit(X[TRAIN], 1 - relevant[TRAIN])
    assert precision_of(chosen) > precision_of(full.fit(X[TRAIN], relevant[TRAIN])) - 0.02
    assert precision_of(chosen) > precision_of(constant) + 0.2


def test_the_choice_is_the_best_of_what_was_tried(chosen):
    results = chosen.cv_results_
    at = np.flatnonzero(results["chosen"])
    assert len(at) == 1
    of_kind = "gamma" if chosen.kernel_ == "rbf" else "scaling"
    for name in ("kernel", of_kind, "cardinality"):
        assert results[f"param_{name}"][at[0]] == getattr(chosen, f"{name}_")
    # Each fold is trained on two thirds of the rows.
    assert results["param_alpha"][at[0]] * 2 / 3 == pytest.approx(chosen.alpha_, rel=0.01)
    columns = [column for name, column in results.items() if name.startswith("param_")]
    settings = list(zip(*columns, strict=True))
    assert len({str(setting) for setting in settings}) == len(settings)
    best = results["mean_test_score"].argmax()
    assert results["mean_test_score"][at[0]] > results["mean_test_score"][best] - 0.01
    assert results["rank_test_score"][best] == 1
    of_kernel = np.asarray(results["param_kernel"] == "rbf")
    assert (results["param_scaling"].mask == of_kernel).all()
    assert (results["param_gamma"].mask == ~of_kernel).all()
    assert set(results["param_scaling"][~of_kernel]) == {"global", "standardize", "rows"}


def test_the_mean_held_out_likelihood_is_that_of_refits(X, complementary):
    X, complementary = X[:300], complementary[:300]
    settings = {"alpha": 0.05, "cardinality": 1.5, "kernel": "linear"}
    classifier = SelectionLikelihoodClassifier(random_state=3, **settings)
    classifier.fit(X, complementary)
    seed = int(np.random.default_rng(3).integers(2**32))
    scores, of_folds = np.empty(300), []
    for train, test in KFold(3, shuffle=True, random_state=seed).split(X):
        part = fixed(alpha=0.05, cardinality=1.5, scaling=classifier.scaling_)
        probability = part.fit(X[train], complementary[train]).predict_proba(X[test])
        scores[test] = selection_log_likelihood_reference(probability, complementary[test])
        of_folds.append(scores[test].mean())
    results = classifier.cv_results_
    assert results["mean_test_score"][results["chosen"]] == pytest.approx(scores.mean(), abs=1e-3)
    assert results["std_test_score"][results["chosen"]] == pytest.approx(np.std(of_folds), abs=1e-3)


def test_a_fit_minimizes_the_stated_objective(X, complementary):
    classifier = fixed().fit(X[TRAIN], complementary[TRAIN])
    scale, answers = np.sqrt(X[TRAIN].var(axis=0).mean()), Answers.from_complementary(complementary)
    setting = Setting(FeatureMap("global"), alpha=0.01, cardinality=1.7)
    near = classifier.decision_function(X[TRAIN])
    variance = float(variances_of_biases(Likelihood(answers[TRAIN]), setting, [1000], near))

    def objective(coef, intercept):
        logits = X[TRAIN] @ coef.T + intercept
        biases, p = logits.mean(axis=0), 1 / (1 + np.exp(-logits))
        likelihood = selection_log_likelihood_reference(p, complementary[TRAIN])
        penalty = 0.01 * np.sum((coef * scale) ** 2)
        penalty += np.sum((biases - biases.mean()) ** 2) / (2 * variance * 1000)
        return np.mean((p.sum(axis=1) - 1.7) ** 2 - likelihood) + penalty

    coef, intercept = classifier.coef_, classifier.intercept_
    found = objective(coef, intercept)
    rng = np.random.default_rng(0)
    for step in (1e-3, 1e-2, 1e-1):
        for _ in range(5):
            moved = coef + step * rng.normal(size=coef.shape)
            assert objective(moved, intercept + step * rng.normal(size=5)) > found


def test_rows_are_scaled_to_length_1(X, complementary):
    by_hand = X / np.linalg.norm(X, axis=1, keepdims=True)
    one = fixed(scaling="rows").fit(X, complementary)
    other = fixed(scaling="global").fit(by_hand, complementary)
    np.testing.assert_allclose(one.predict_proba(7 * X), other.predict_proba(by_hand), atol=1e-9)
    assert one.scaling_ == "rows"
    assert not hasattr(one, "coef_")


def kernel(**settings):
    """A kernel, no search."""
    return fixed(**{"kernel": "rbf", "gamma": 0.1, "random_state": 0, **settings})


def test_with_all_rows_the_kernel_is_exact(X, complementary):
    X, complementary = X[:120], complementary[:120]
    classifier = kernel(n_components=500, alpha=0.05).fit(X, complementary)
    # Any features with these inner products give the same functions and norms.
    features = np.linalg.cholesky(rbf_kernel(X, gamma=0.1) + 1e-10 * np.eye(120))
    by_hand = fixed(alpha=0.05).fit(features, complementary)
    np.testing.assert_allclose(
        classifier.predict_proba(X), by_hand.predict_proba(features), atol=5e-3
    )


def test_a_kernel_is_chosen_where_no_linear_map_will_do():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2))
    ring = np.digitize(np.linalg.norm(X, axis=1), [0.76, 1.18, 1.67])  # quartiles
    relevant = np.eye(4, dtype=np.uint8)[ring]
    complementary = draw_complementary(relevant, random_state=0)
    few = {"cardinality": 1, "random_state": 0}
    automatic = SelectionLikelihoodClassifier(n_components=50, cv=2, **few)
    automatic.fit(X[:400], complementary[:400])
    assert automatic.kernel_ == "rbf"
    linear = SelectionLikelihoodClassifier(kernel="linear", alpha=0.01, **few)
    linear.fit(X[:400], complementary[:400])
    precision = [
        metrics.average_precision(relevant[400:], each.predict_proba(X[400:]))
        for each in (automatic, linear)
    ]
    assert precision[0] > 0.8
    assert precision[1] < 0.65


@pytest.mark.parametrize("scaling", ["standardize", "global", "rows", None])
def test_sparse_and_dense_features_give_the_same(scaling, X, complementary):
    X, rows = np.where(np.abs(X) < 0.5, 0, X)[:400], complementary[:400]
    made = kernel if scaling is None else fixed
    of = {} if scaling is None else {"scaling": scaling}
    dense, thin = made(**of).fit(X, rows), made(**of).fit(sparse.csr_array(X), rows)
    for model in (dense, thin):  # whatever a model was fitted to, it takes both
        found = [model.predict_proba(each) for each in (X + 3, sparse.csr_array(X + 3))]
        np.testing.assert_allclose(*found, atol=1e-9)
    np.testing.assert_allclose(thin.predict_proba(X), dense.predict_proba(X), atol=2e-3)


@pytest.mark.parametrize("question", ["named", "asked"])
@pytest.mark.parametrize("shape", [(200, 30), (50, 80)], ids=["tall", "wide"])
def test_sparse_and_dense_features_choose_alike(shape, question):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.2, size=shape).astype(float)
    labels = (X @ rng.normal(size=(shape[1], 5)) + rng.logistic(size=(shape[0], 5)) > 0.5) * 1
    labels[labels.all(axis=1), 0] = 0
    answers = draw_answers(labels, question=question, random_state=0)
    automatic = SelectionLikelihoodClassifier(random_state=0)
    dense, thin = (
        clone(automatic).fit(form(X), answers) for form in (np.asarray, sparse.csr_array)
    )
    for name, values in dense.cv_results_.items():
        if name.startswith("param_") or name in ("chosen", "weight"):
            assert (thin.cv_results_[name] == values).all()
    assert (thin.alpha_, thin.cardinality_) == (dense.alpha_, dense.cardinality_)
    np.testing.assert_allclose(thin.predict_proba(X), dense.predict_proba(X), atol=2e-3)


def test_a_kernel_is_applied_in_batches(X, complementary):
    X = X[:110]
    classifier = kernel().fit(X, complementary[:110])
    found = classifier.predict_proba(np.tile(X, (100, 1)))  # a batch has 10,000 rows
    np.testing.assert_allclose(found, np.tile(classifier.predict_proba(X), (100, 1)), atol=1e-12)


@pytest.mark.parametrize("asked_for", [1, 2])
def test_the_score_is_the_mean_log_likelihood_by_another_algorithm(asked_for, chosen, X, relevant):
    held_out = draw_complementary(relevant[TEST], asked_for=asked_for, random_state=5)
    expected = selection_log_likelihood_reference(chosen.predict_proba(X[TEST]), held_out).mean()
    assert chosen.score(X[TEST], held_out) == pytest.approx(expected, rel=1e-9)


@pytest.mark.filterwarnings("ignore::complabel.answers.ClassPerRowWarning")
def test_one_class_per_row_has_one_relevant_label(X):
    rng = np.random.default_rng(0)
    truth = X[:, :4].argmax(axis=1)
    y = np.array(["a", "b", "c", "d"])[(truth + rng.integers(1, 4, size=len(truth))) % 4]
    classifier = SelectionLikelihoodClassifier(kernel="linear", random_state=0)
    classifier.fit(X[TRAIN], y[TRAIN])
    assert classifier.cardinality_ == 1
    assert not hasattr(classifier, "cardinality_curve_")
    found = classifier.predict(X[TEST])
    assert np.mean(found == np.array(["a", "b", "c", "d"])[truth[TEST]]) > 0.85
    np.testing.assert_allclose(classifier.predict_proba(X[TEST]).sum(axis=1), 1)


def test_progress_is_reported(X, complementary):
    seen = []
    classifier = fixed(cardinality="auto", callback=lambda *args: seen.append(args))
    classifier.fit(X[:200], complementary[:200])
    stages = [stage for stage, *_ in seen]
    assert stages.count("search") == len(classifier.cv_results_["param_alpha"])
    assert stages.count("classifier") == classifier.n_iter_
    for stage, number, most, _ in seen:
        assert most is None if stage == "search" else number <= most


def test_a_fit_keeps_to_one_thread_and_gives_the_others_back(X, complementary):
    before, seen = torch.get_num_threads(), set()
    classifier = fixed(callback=lambda *_: seen.add(torch.get_num_threads()))
    torch.set_num_threads(2)
    try:
        classifier.fit(X[:100], complementary[:100])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == {1}


def test_the_same_seed_gives_the_same_fit(chosen, X, complementary):
    one, other = (
        clone(chosen)
        .set_params(n_components=20, cv=2, cardinality=1.5)
        .fit(X[:60], complementary[:60])
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_a_second_fit_forgets_what_only_the_first_chose(X, complementary):
    classifier = fixed(alpha=0.1, cardinality="auto", random_state=0)
    classifier.fit(X[:200], complementary[:200])
    classifier.set_params(cardinality=1.5).fit(X[:200], complementary[:200])
    assert not hasattr(classifier, "cv_results_")
    assert not hasattr(classifier, "cardinality_curve_")
    assert not hasattr(classifier, "cardinality_interval_")


def test_penalties_that_namings_hardly_tell_apart_are_averaged(X, complementary):
    given = {"kernel": "linear", "scaling": "global", "random_state": 0}
    mean = SelectionLikelihoodClassifier(**given).fit(X[:60], complementary[:60])
    results = mean.cv_results_
    averaged, weights = results["weight"] > 0, results["weight"]
    assert averaged.sum() > 1
    assert weights.sum() == pytest.approx(1)
    assert weights[results["chosen"]] == weights.max()
    assert set(results["param_cardinality"][averaged]) == {mean.cardinality_}
    alphas = results["param_alpha"][averaged] * 2 / 3  # of folds with two thirds of the rows
    parts = [fixed(alpha=a, cardinality=mean.cardinality_) for a in alphas]
    logits = [each.fit(X[:60], complementary[:60]).decision_function(X) for each in parts]
    found = mean.decision_function(X)
    expected = np.average(logits, axis=0, weights=weights[averaged])
    assert np.abs(found - expected).max() < 0.02 * np.abs(found).max()


def test_answers_that_tell_penalties_apart_are_not_averaged(X, relevant):
    asked = draw_answers(relevant[:300], question="asked", random_state=0)
    for answers in (asked, draw_answers(relevant[:300], question="ticked", random_state=0)):
        found = SelectionLikelihoodClassifier(kernel="linear", random_state=0).fit(X[:300], answers)
        assert (found.cv_results_["weight"] == found.cv_results_["chosen"]).all()


def test_the_interval_of_the_cardinality_is_about_the_true_one(chosen, relevant):
    # Each row has a label, so labels are not quite independent, as the likelihood takes them.
    low, high = chosen.cardinality_interval_
    assert low / 1.1 <= relevant[TRAIN].sum(axis=1).mean() <= 1.1 * high
    assert low <= chosen.mean_cardinality_ <= high
    results = chosen.cv_results_
    tried = np.asarray(results["param_cardinality"], dtype=float)
    assert {low, high} <= {0.0, float(relevant.shape[1]), *np.round(tried, 3)}
    best = results["mean_test_score"].max()
    for end in {low, high} & {*tried}:
        assert results["mean_test_score"][tried == end].max() < best


def test_fewer_rows_make_the_interval_of_the_cardinality_no_narrower(X, complementary):
    widths = []
    for n in (60, 1000):
        found = fixed(cardinality="auto").fit(X[:n], complementary[:n]).cardinality_interval_
        widths.append(found[1] - found[0])
    assert widths[0] > widths[1]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("alpha", [0, "best"]),
        ("cardinality", ["many", 5]),
        ("scaling", ["none"]),
        ("kernel", ["cosine"]),
        ("gamma", [-1]),
        ("n_components", [0]),
        ("cv", [1]),
        ("random_state", [-1]),
    ],
)
def test_parameters_are_checked(name, wrong, X, complementary):
    for value in wrong:
        with pytest.raises(InputError, match=f"^{name} must be"):
            fixed(**{"kernel": "rbf", name: value}).fit(X, complementary)


def test_a_given_alpha_leaves_the_cardinality_to_choose():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(150, 3)), rng.normal(size=(3, 16))
    relevant = X @ weights - 1.2 + 0.3 * rng.logistic(size=(150, 16)) > 0
    proper = relevant.any(axis=1) & (relevant.sum(axis=1) < 15)
    complementary = draw_complementary(relevant[proper].astype(int), random_state=1)
    classifier = fixed(alpha=0.003, cardinality="auto", random_state=0)
    classifier.fit(X[proper], complementary)
    tried = set(classifier.cardinality_curve_["cardinality"])
    assert set(classifier.cv_results_["param_alpha"]) == {0.003}
    # It climbs from 2 to 3 and beyond, and looks below 2 only then.
    assert {1.0, 1.5, 2.0, 3.0, 4.0} <= tried


def test_new_features_far_from_those_of_fit_are_at_fault(X, complementary):
    classifier = fixed().fit(X, complementary)
    new = X[:5].copy()
    new[3] = 1.7e308 * np.sign(classifier.coef_[0])
    with pytest.raises(InputError, match=r"row 3 of X has scores that are not finite\. .*as those"):
        classifier.decision_function(new)


def test_too_few_rows_for_the_folds_are_refused(X, complementary):
    rows = np.unique(complementary.argmax(axis=1), return_index=True)[1]
    with pytest.raises(InputError, match="n_samples=5 is less than cv=6"):
        SelectionLikelihoodClassifier(cv=6).fit(X[rows], complementary[rows])


@pytest.mark.slow
def test_scene_is_ranked_better_than_the_published_figures(data_dir):
    dataset = preprocess(load_dataset("scene", data_dir=data_dir))
    complementary = draw_complementary(dataset.Y, random_state=0)
    train, test = next(KFold(10, shuffle=True, random_state=0).split(dataset.X))
    classifier = SelectionLikelihoodClassifier(random_state=0)
    classifier.fit(dataset.X[train], complementary[train])
    found = metrics.average_precision(
        dataset.Y[test], classifier.decision_function(dataset.X[test])
    )
    assert found > 0.78
    assert classifier.cardinality_ < 2
