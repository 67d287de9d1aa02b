"""A loss as a method: what the five share, what each learns, and a loss of one's own."""

import itertools

import numpy as np
import pytest
import torch
from scipy import sparse, special
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from complabel import metrics
from complabel.datasets import load_dataset, make_synthetic
from complabel.errors import InputError
from complabel.losses import BinaryCrossEntropy, GDFLoss, MLCLLoss, SelectionLikelihoodLoss
from complabel.methods import (
    ComplementaryLossClassifier,
    ComRankClassifier,
    CTLClassifier,
    GDFClassifier,
    LUWClassifier,
    PriorClassifier,
    UnbiasedBCEClassifier,
)
from complabel.simulate import draw_complementary

CLASSIFIERS = [
    LUWClassifier,
    GDFClassifier,
    UnbiasedBCEClassifier,
    CTLClassifier,
    ComRankClassifier,
]
every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS)


@pytest.fixture(scope="module")
def problem():
    """Features, relevant and complementary labels; 400 instances, 5 labels."""
    data = make_synthetic(n_samples=400, n_features=8, n_labels=5, random_state=0)
    return data.X, data.Y, draw_complementary(data.Y, random_state=0)


def quick(classifier, **settings):
    """A classifier that trains in a blink."""
    return classifier(**{"epochs": 12, "learning_rate": 0.05, "random_state": 0, **settings})


@every_classifier
@pytest.mark.parametrize("cut", [0.3, 0.5, 0.8])
def test_predicts_what_lies_above_the_cut_of_its_rows_range(problem, classifier, cut):
    X, _, complementary = problem
    fitted = quick(classifier, cut=cut).fit(X, complementary)
    scores = fitted.predict_proba(X)
    lowest, highest = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    expected = (scores - lowest) / (highest - lowest) > cut
    np.testing.assert_array_equal(fitted.predict(X), expected)
    np.testing.assert_allclose(fitted.decision_function(X), special.logit(scores), rtol=1e-9)


@every_classifier
def test_the_middle_of_the_range_is_the_shared_minmax_rule(problem, classifier):
    X, _, complementary = problem
    fitted = quick(classifier, cut=0.5).fit(X, complementary)
    expected = metrics.threshold_minmax(fitted.predict_proba(X))
    np.testing.assert_array_equal(fitted.predict(X), expected)


@every_classifier
def test_the_probability_rule_cuts_scores_at_one_half(problem, classifier):
    X, _, complementary = problem
    fitted = quick(classifier, threshold="probability", cut=0.5).fit(X, complementary)
    scores = special.expit(X @ fitted.coef_.T + fitted.intercept_)
    np.testing.assert_allclose(fitted.predict_proba(X), scores)
    np.testing.assert_array_equal(fitted.predict(X), scores > 0.5)
    np.testing.assert_allclose(special.expit(fitted.decision_function(X)), scores)


@every_classifier
def test_the_rule_changes_no_ranking(problem, classifier):
    X, _, complementary = problem
    fitted = quick(classifier).fit(X, complementary)
    np.testing.assert_array_equal(
        fitted.decision_function(X).argsort(axis=1), fitted.predict_proba(X).argsort(axis=1)
    )
    by_other_rule = quick(classifier, threshold="probability").fit(X, complementary)
    assert fitted.score(X, complementary) == pytest.approx(by_other_rule.score(X, complementary))


@every_classifier
def test_the_score_is_the_ranking_error_where_no_likelihood_is_modelled(problem, classifier):
    X, _, complementary = problem
    fitted = quick(classifier).fit(X, complementary)
    error = metrics.complementary_ranking_error(complementary, fitted.predict_proba(X))
    assert (fitted.score(X, complementary) == pytest.approx(-error)) == (
        classifier is not LUWClassifier
    )


@pytest.mark.parametrize(("logit", "predicted"), [(5.0, 1), (0.5, 0), (-5.0, 0)])
def test_a_row_of_equal_scores_is_cut_as_it_is(logit, predicted):
    X, complementary = np.zeros((3, 2)), np.eye(3, dtype=int)
    fitted = quick(GDFClassifier, epochs=1).fit(X, complementary)
    fitted.model_.coef[:], fitted.model_.intercept[:] = 0, logit
    assert (special.expit(logit) > 0.8) == predicted
    np.testing.assert_array_equal(fitted.predict(X), np.full((3, 3), predicted))


def test_saturated_scores_keep_their_cut():
    X, complementary = np.zeros((1, 2)), np.eye(3, dtype=int)
    fitted = quick(GDFClassifier, epochs=1).fit(np.zeros((3, 2)), complementary)
    # 1 - f is exp(-50), exp(-51) and exp(-60): scaled, the scores are 0, 0.632 and 0.99995.
    fitted.model_.coef[:], fitted.model_.intercept[:] = 0, [50.0, 51.0, 60.0]
    np.testing.assert_array_equal(fitted.predict(X), [[0, 0, 1]])
    assert np.isfinite(fitted.decision_function(X)).all()


@every_classifier
def test_learns_more_than_the_prior_knows(problem, classifier):
    X, Y, complementary = problem
    fitted = clone(classifier(random_state=0, learning_rate=0.1)).fit(X[:300], complementary[:300])
    prior = PriorClassifier().fit(X[:300], complementary[:300])
    found, bar = (
        metrics.average_precision(Y[300:], model.predict_proba(X[300:]))
        for model in (fitted, prior)
    )
    assert found > bar + 0.03


@every_classifier
def test_the_seed_alone_decides(problem, classifier):
    X, _, complementary = problem
    first, second, other = (
        quick(classifier, random_state=seed).fit(X, complementary).predict_proba(X)
        for seed in (7, np.random.default_rng(7), 8)
    )
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 1e-4


@every_classifier
def test_sparse_equals_dense(problem, classifier):
    X, _, complementary = problem
    thinned = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = quick(classifier).fit(thinned, complementary)
    from_sparse = quick(classifier).fit(sparse.csr_array(thinned), complementary)
    np.testing.assert_allclose(
        from_sparse.predict_proba(sparse.csr_array(thinned)),
        dense.predict_proba(thinned),
        atol=1e-6,
    )


@every_classifier
def test_one_class_per_row_gives_one_class_back(problem, classifier):
    X, _, complementary = problem
    single = complementary.argmax(axis=1)
    indicator = np.eye(5, dtype=int)[single]
    fitted = quick(classifier).fit(X, single)
    by_indicator = quick(classifier).fit(X, indicator)
    probabilities = fitted.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.predict(X), probabilities.argmax(axis=1))
    logits = special.logit(by_indicator.predict_proba(X))
    np.testing.assert_allclose(probabilities, special.softmax(logits, axis=1), atol=1e-9)


@every_classifier
def test_known_relevant_labels_change_nothing(problem, classifier):
    X, Y, complementary = problem
    without = quick(classifier).fit(X, complementary)
    given = quick(classifier).fit(X, complementary, relevant=Y)
    np.testing.assert_array_equal(given.coef_, without.coef_)


@every_classifier
def test_several_complementary_labels_help(classifier):
    data = make_synthetic(n_samples=600, n_features=8, n_labels=6, random_state=1)
    found = []
    for asked_for in (1, 3):
        complementary = draw_complementary(data.Y[:400], asked_for=asked_for, random_state=0)
        fitted = classifier(epochs=60, learning_rate=0.1, random_state=0)
        scores = fitted.fit(data.X[:400], complementary).predict_proba(data.X[400:])
        found.append(metrics.average_precision(data.Y[400:], scores))
    assert found[1] > found[0]


@every_classifier
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_constant_feature_and_single_rows_are_no_trouble(problem, classifier, as_given):
    X, _, complementary = problem
    X = np.column_stack([X, np.ones(len(X)), np.zeros(len(X))])
    fitted = quick(classifier).fit(as_given(X), complementary)
    np.testing.assert_allclose(
        fitted.decision_function(as_given(X[:1])),
        fitted.decision_function(as_given(X))[:1],
        rtol=1e-10,
        atol=1e-10,
    )


@every_classifier
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cut": 1.0}, "cut must be a finite number above 0 and below 1, got 1.0"),
        ({"cut": 0.0}, "cut must be a finite number above 0 and below 1"),
        ({"threshold": "max"}, "threshold must be one of"),
        ({"optimizer": "rmsprop"}, "optimizer must be one of 'adam', 'sgd', got 'rmsprop'"),
        ({"momentum": 2.0}, "momentum must be a finite number"),
        ({"milestones": 100}, "milestones must be a sequence"),
        ({"learning_rate": 0.0}, "learning_rate must be a finite number above 0"),
    ],
)
def test_parameters_out_of_range_are_refused(problem, classifier, settings, message):
    X, _, complementary = problem
    with pytest.raises(InputError, match=message):
        classifier(**settings).fit(X, complementary)


def test_the_default_settings_are_those_of_the_papers():
    for classifier in CLASSIFIERS[1:]:
        settings = classifier().get_params()
        assert (settings["optimizer"], settings["momentum"]) == ("sgd", 0.9)
        assert settings["milestones"] == (100, 150)
        assert settings["weight_decay"] == 1e-3
    settings = LUWClassifier().get_params()
    assert (settings["optimizer"], settings["weight_decay"]) == ("adam", 1e-4)
    assert settings["milestones"] == ()
    cuts = [classifier().cut for classifier in CLASSIFIERS]
    assert cuts == [0.5, 0.8, 0.8, 0.5, 0.5]


def logistic_regression(X, complementary, *, share, weight_decay):
    """Minimize the GDF or unbiased objective with scikit-learn: ``share`` is a candidate's a."""
    augmented = np.column_stack([X, np.ones(len(X))])
    solver = LogisticRegression(
        C=1 / (len(X) * weight_decay), fit_intercept=False, tol=1e-10, max_iter=1000
    )
    coefficients = []
    for label in complementary.T:
        positive = share * (1 - label)
        solver.fit(
            np.vstack([augmented, augmented]),
            np.repeat([1, 0], len(X)),
            sample_weight=np.concatenate([positive, 1 - positive]),
        )
        coefficients.append(solver.coef_[0])
    return np.array(coefficients)  # (K, d + 1)


@pytest.mark.parametrize(
    ("classifier", "share"),
    [(GDFClassifier, 1.0), (UnbiasedBCEClassifier, 8 / 15)],
)
def test_converges_to_the_minimum_that_logistic_regression_finds(problem, classifier, share):
    X, _, complementary = problem
    fitted = classifier(
        learning_rate=0.3, weight_decay=0.02, batch_size=400, epochs=600, milestones=()
    ).fit(X, complementary)
    expected = logistic_regression(X, complementary, share=share, weight_decay=0.02)
    np.testing.assert_allclose(fitted.coef_, expected[:, :-1], atol=1e-4)
    np.testing.assert_allclose(fitted.intercept_, expected[:, -1], atol=1e-4)


def luw_objective(f, complementary):
    """The objective of L-UW as documented."""
    q = special.expit(1 - f)
    return -(complementary * np.log(q) + (1 - complementary) * np.log(1 - q)).mean()


def test_luw_stops_where_its_documented_objective_is_flat(problem):
    X, _, complementary = problem
    decay = 0.01
    fitted = LUWClassifier(
        optimizer="sgd", learning_rate=1.0, weight_decay=decay, batch_size=400, epochs=1500
    ).fit(X, complementary)

    def objective(weights):
        f = special.expit(X @ weights[:, :-1].T + weights[:, -1])
        return luw_objective(f, complementary) + decay / 2 * (weights**2).sum()

    found = np.column_stack([fitted.coef_, fitted.intercept_])
    steps = 1e-4 * np.eye(found.size).reshape(-1, *found.shape)
    slopes = [(objective(found + step) - objective(found - step)) / 2e-4 for step in steps]
    assert np.abs(slopes).max() < 1e-5


def test_comrank_orders_labels_by_how_unlikely_they_are_to_be_complementary():
    # Three kinds of instances, each with known chances of the complementary label.
    counts = np.array([[50, 30, 20, 0], [0, 10, 35, 55], [25, 60, 5, 10]])
    X = np.repeat(np.eye(3), 100, axis=0)
    chosen = np.concatenate([np.repeat(np.arange(4), row) for row in counts])
    complementary = np.eye(4, dtype=int)[chosen]
    model = ComRankClassifier(learning_rate=0.1, epochs=100, weight_decay=1e-4, random_state=0).fit(
        X, complementary
    )
    ranks = model.decision_function(np.eye(3)).argsort(axis=1)
    np.testing.assert_array_equal(ranks, (-counts).argsort(axis=1))


def test_a_loss_may_be_given_as_a_class_or_an_object(problem):
    X, _, complementary = problem
    settings = {"epochs": 5, "random_state": 0, "cut": 0.8}
    expected = GDFClassifier(**settings).fit(X, complementary)
    for loss in (GDFLoss, GDFLoss()):
        found = ComplementaryLossClassifier(loss=loss, **settings).fit(X, complementary)
        np.testing.assert_array_equal(found.coef_, expected.coef_)
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_a_loss_with_a_use_for_known_relevant_labels_gets_them(problem):
    X, Y, complementary = problem
    loss = MLCLLoss(torch.full((5, 5), 0.25, dtype=torch.float64).fill_diagonal_(0))
    classifier = ComplementaryLossClassifier(loss=loss, epochs=5, random_state=0)
    without = classifier.fit(X, complementary).coef_
    assert np.abs(classifier.fit(X, complementary, relevant=Y).coef_ - without).max() > 1e-3
    assert loss.transition.dtype == torch.float64  # the caller's loss stays as it is


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (None, "loss must be a complabel.losses.LogitLoss or a subclass of it, got None"),
        (torch.nn.BCELoss, "loss must be a complabel.losses.LogitLoss"),
        ("gdf", "loss must be a complabel.losses.LogitLoss or a subclass of it, got 'gdf'"),
        (BinaryCrossEntropy, "must take complementary .* BinaryCrossEntropy takes true_labels"),
    ],
)
def test_what_is_no_loss_of_complementary_labels_is_refused(problem, loss, message):
    X, _, complementary = problem
    with pytest.raises(InputError, match=message):
        ComplementaryLossClassifier(loss=loss).fit(X, complementary)


class Patient(GDFClassifier):
    """A method with other defaults than the one it is made from."""

    epochs = 7


def test_class_attributes_are_the_defaults_of_parameters(problem):
    X, _, complementary = problem
    assert (Patient().epochs, Patient(epochs=3).epochs, GDFClassifier().epochs) == (7, 3, 200)
    assert (Patient().cut, Patient().get_params()["epochs"]) == (0.8, 7)
    assert (repr(Patient()), repr(Patient(epochs=3))) == ("Patient()", "Patient(epochs=3)")
    assert clone(Patient(epochs=3)).epochs == 3
    fitted = Patient(random_state=0).fit(X, complementary)
    expected = GDFClassifier(epochs=7, random_state=0).fit(X, complementary)
    np.testing.assert_array_equal(fitted.coef_, expected.coef_)


@every_classifier
def test_the_loss_of_a_method_is_no_parameter_of_it(classifier):
    assert "loss" not in classifier().get_params()
    with pytest.raises(TypeError, match="unexpected keyword argument 'loss'"):
        classifier(loss=GDFLoss)
    assert "loss" in ComplementaryLossClassifier().get_params()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classifier", "dataset", "settings", "expected", "tolerance"),
    [
        # Measured independently on the authors' own files: average precision and ranking loss.
        (GDFClassifier, "scene", {"learning_rate": 0.01}, (0.741, 0.167), (0.05, 0.04)),
        (GDFClassifier, "yeast", {"learning_rate": 0.1}, (0.704, 0.232), (0.02, 0.02)),
        (
            LUWClassifier,
            "yeast",
            {
                "optimizer": "sgd",
                "weight_decay": 1e-3,
                "learning_rate": 0.1,
                "milestones": (100, 150),
            },
            (0.685, 0.242),
            (0.02, 0.02),
        ),
    ],
)
def test_real_data_as_measured_elsewhere(
    data_dir, classifier, dataset, settings, expected, tolerance
):
    data = load_dataset(dataset, data_dir=data_dir)
    complementary = draw_complementary(data.Y, random_state=0)
    fold = np.random.default_rng(0).permutation(data.n_samples) % 5
    found = []
    for number in range(5):
        training, test = fold != number, fold == number
        fitted = classifier(random_state=0, **settings)
        fitted.fit(data.X[training], complementary[training])
        scores = fitted.predict_proba(data.X[test])
        found.append(
            [
                metrics.average_precision(data.Y[test], scores),
                metrics.ranking_loss(data.Y[test], scores),
            ]
        )
    assert (np.abs(np.mean(found, axis=0) - expected) < tolerance).all(), np.mean(found, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "learning_rate", "average_precision"), [("scene", 0.01, 0.80), ("yeast", 0.1, 0.71)]
)
def test_comrank_on_real_data_stays_at_the_level_measured(
    dataset, learning_rate, average_precision, data_dir
):
    data = load_dataset(dataset, data_dir=data_dir)
    complementary = draw_complementary(data.Y, random_state=0)
    held_out = np.arange(len(data.Y)) % 5 == 0
    model = ComRankClassifier(learning_rate=learning_rate, random_state=0)
    model.fit(data.X[~held_out], complementary[~held_out])
    scores = model.decision_function(data.X[held_out])
    found = metrics.average_precision(data.Y[held_out], scores)
    assert found == pytest.approx(average_precision, abs=0.02)


def test_a_loss_that_models_the_choice_gives_the_score(problem):
    X, _, complementary = problem
    loss = SelectionLikelihoodLoss(cardinality=1.5)
    fitted = quick(ComplementaryLossClassifier, loss=loss).fit(X, complementary)
    assert fitted.models_the_choice
    # The chance to be named: over all relevant sets, one label of those that are left.
    f, named = fitted.predict_proba(X), complementary.argmax(axis=1)
    q = np.zeros(len(X))
    for relevant in itertools.product([0, 1], repeat=f.shape[1]):
        left = f.shape[1] - sum(relevant)
        chance = np.where(relevant, f, 1 - f).prod(axis=1)
        if left:
            q += chance * (1 - np.array(relevant)[named]) / left
    assert fitted.score(X, complementary) == pytest.approx(np.log(q).mean(), rel=1e-9)


@every_classifier
def test_only_the_loss_of_l_uw_models_the_choice(problem, classifier):
    X, _, complementary = problem
    fitted = quick(classifier).fit(X, complementary)
    assert fitted.models_the_choice == (classifier is LUWClassifier)
    expected = -metrics.complementary_ranking_error(complementary, fitted.decision_function(X))
    if fitted.models_the_choice:
        q = special.expit(1 - fitted.predict_proba(X))
        expected = metrics.complementary_log_likelihood(complementary, q)
    assert fitted.score(X, complementary) == pytest.approx(expected, rel=1e-9)
