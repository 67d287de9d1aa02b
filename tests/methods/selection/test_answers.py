"""What the selection likelihood learns from answers, by other means to the same end."""

import numpy as np
import pytest
import torch
from scipy import optimize
from scipy.special import expit
from tests.methods.selection.answered import (
    ANSWERS,
    ASKED,
    COMPLEMENTARY,
    FIXED,
    FREE,
    NAMES,
    PROPER,
    X,
    Y,
    fixed,
    logistic_problem,
    logistic_regression,
    prior_of,
)

from complabel.answers import Answers
from complabel.losses import answers_log_likelihood
from complabel.methods.selection import _over_blocks, _trials
from complabel.simulate import draw_answers

N, K = Y.shape


def test_plain_labels_are_answers_that_name_them():
    y, known = COMPLEMENTARY[PROPER], np.zeros_like(COMPLEMENTARY[PROPER])
    known[:5] = Y[PROPER][:5]
    for relevant in (None, known):
        plain, told = (fixed(alpha="auto", cardinality="auto", cv=2) for _ in range(2))
        plain.fit(X[PROPER], y, relevant=relevant)
        told.fit(X[PROPER], Answers.from_complementary(y, relevant=relevant))
        np.testing.assert_array_equal(told.decision_function(X), plain.decision_function(X))
        found, expected = (each.cv_results_["mean_test_score"] for each in (told, plain))
        np.testing.assert_array_equal(found, expected)
        assert told.score(X[PROPER], FREE) == plain.score(X[PROPER], y)


@pytest.mark.parametrize("kind", ["asked", "weighted", "excluded", "rank", "mistakes"])
def test_fits_that_compute_few_logits_are_those_that_compute_all(kind, monkeypatch):
    settings = {"kernel": "auto", "scaling": "auto", "alpha": "auto", "n_components": 20}
    answers = draw_answers(Y, question="asked", random_state=0)
    if kind == "weighted":
        answers = answers.with_weight(np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=N))
    elif kind == "excluded":
        chance = np.random.default_rng(0).random(Y.shape) < 0.5
        rules = Answers.from_arrays(excluded=(1 - Y) * chance, question="excluded")
        answers, settings = rules, settings | {"exclusion_rates": 0.5}
    elif kind != "asked":
        settings |= {"rank": 2} if kind == "rank" else {"error_rate": 0.1}
    fits = []
    for share in (0.0, 1.0):
        monkeypatch.setattr(_trials, "_MUCH", 0)
        monkeypatch.setattr(_over_blocks, "_FEW", share)
        monkeypatch.setattr(_over_blocks, "_MOST_COPIES", K)
        fits.append(fixed(**settings).fit(X, answers))
    tried, expected = (each.cv_results_["mean_test_score"] for each in fits)
    np.testing.assert_allclose(tried, expected, rtol=5e-4)  # trials end at a tolerance of 5e-5
    assert fits[0].get_params() == fits[1].get_params()
    assert fits[0].alpha_ == fits[1].alpha_
    logits = [each.decision_function(X) for each in fits]
    np.testing.assert_allclose(*logits, rtol=0, atol=1e-4 * np.abs(logits[0]).max())


def logistic_regressions(judged, prior):
    """The log-odds (n, K) of a penalized regression for each label, on the items it was judged."""
    scaled = (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0).mean())
    fits = [
        logistic_regression(
            scaled[rows], labels[rows], n_items=N, alpha=FIXED["alpha"], prior=prior
        )
        for rows, labels in zip(judged.T, Y.T, strict=True)
    ]
    return np.column_stack([scaled @ fit[:-1] + fit[-1] for fit in fits])


def judgements(share):
    """Answers that judge a share of the labels of each item, and which they judge."""
    judged = np.random.default_rng(0).random(Y.shape) < share
    judged[np.arange(N), np.arange(N) % K] = True
    answers = Answers.from_arrays(
        absent=judged * (1 - Y), relevant=judged * Y, offered=judged, question="asked"
    )
    return answers, judged


def of_random_labels():
    """Answers about one label each, some of them about the same one of an item."""
    judged = np.zeros((N, K), dtype=bool)
    judged[ASKED.item, ASKED.offered.indices] = True
    assert judged.sum() < ASKED.n_answers
    return ASKED, judged


@pytest.mark.parametrize(
    ("answers", "judged"),
    [
        judgements(1),
        judgements(0.5),
        of_random_labels(),
        (ANSWERS["ticked"], np.full(Y.shape, True)),
    ],
    ids=["all", "half", "random, repeated", "ticked"],
)
def test_judged_labels_are_logistic_regressions(answers, judged):
    fitted = fixed().fit(X, answers)
    expected = logistic_regressions(judged, prior_of(fitted, X, answers))
    np.testing.assert_allclose(fitted.predict_proba(X), expit(expected), atol=0.01)


def test_given_exclusion_rates_enter_the_likelihood_as_written_out():
    rates = np.array([0.9, 0.3, 0.6, 0.5])
    answers = draw_answers(Y, question="excluded", exclusion_rates=rates, random_state=3)
    excluded = answers.complementary
    variance = X.var(axis=0).mean()

    def objective(vector):
        coef, intercept = vector[: 3 * K].reshape(K, 3), vector[3 * K :]
        chance = rates * expit(-(X @ coef.T + intercept))  # of being excluded
        likelihood = np.where(excluded, np.log(chance), np.log1p(-chance)).sum(axis=1)
        return FIXED["alpha"] * variance * np.sum(coef**2) - likelihood.mean()

    best = optimize.minimize(objective, np.zeros(4 * K), method="BFGS", options={"gtol": 1e-4})
    classifier = fixed(exclusion_rates=rates).fit(X, answers)
    vector = np.concatenate([classifier.coef_.ravel(), classifier.intercept_])
    assert objective(vector) == pytest.approx(best.fun, abs=1e-4)
    expected = expit(X @ best.x[: 3 * K].reshape(K, 3).T + best.x[3 * K :])
    np.testing.assert_allclose(classifier.predict_proba(X), expected, atol=0.02)
    np.testing.assert_array_equal(classifier.exclusion_rates_, rates)
    assert classifier.mean_cardinality_ == pytest.approx(expected.sum(axis=1).mean(), abs=0.02)


@pytest.mark.slow
def test_menus_tell_how_readily_labels_come_to_mind():
    features, relevant = logistic_problem(600, n_labels=5)
    truth = np.array([-1.0, 1.0, -0.5, 0.5, 0.0])
    answers = draw_answers(
        relevant, question="menu-2", answers_per_item=8, propensities=np.exp(truth), random_state=0
    )
    classifier = fixed(propensities="auto").fit(features, answers)
    # Their standard errors are about a tenth, and the prior draws them to one another.
    np.testing.assert_allclose(np.log(classifier.propensities_), truth, atol=0.35)
    assert np.log(classifier.propensities_).mean() == pytest.approx(0)
    assert not classifier.cv_results_["param_propensity_spread"].mask.any()


def test_propensities_are_fitted_unasked_only_where_answers_show_them():
    uneven = np.exp([-1.5, 1.5, 0, 0])
    for propensities, shown in ((uneven, True), (None, False)):
        answers = draw_answers(
            Y, question="menu-3", answers_per_item=4, propensities=propensities, random_state=0
        )
        classifier = fixed().fit(X, answers)
        assert hasattr(classifier, "propensities_") == shown
        spreads = classifier.cv_results_["param_propensity_spread"]
        assert spreads.mask[classifier.cv_results_["chosen"]] == (not shown)


@pytest.mark.parametrize("question", ["menu-3", "asked"])
@pytest.mark.parametrize("mistakes", [0.0, 0.2])
def test_the_rate_of_mistakes_is_found(question, mistakes):
    answers = draw_answers(
        Y, question=question, answers_per_item=3, error_rate=mistakes, random_state=2
    )
    classifier = fixed(error_rate="auto", propensities="equal").fit(X, answers)
    assert classifier.error_rate_ == pytest.approx(mistakes, abs=0.08)
    if mistakes == 0:
        assert classifier.error_rate_ == 0
        assert not hasattr(classifier, "error_rates_")
        assert sorted(classifier.cv_results_["param_error_rate"].mask) == [False, True]


@pytest.mark.parametrize("question", ["menu-3", "asked"])
def test_the_one_bad_annotator_is_found(question):
    truth = [0.02, 0.02, 0.02, 0.6, 0.02]
    answers = draw_answers(
        Y, question=question, answers_per_item=4, error_rate=truth, random_state=0
    )
    classifier = fixed(error_rate="per-annotator", propensities="equal").fit(X, answers)
    others = np.delete(classifier.error_rates_, 3)
    assert classifier.error_rates_[3] > 0.4
    assert (others < 0.15).all()
    weights = np.bincount(answers.annotator)
    expected = np.average(classifier.error_rates_, weights=weights)
    assert classifier.error_rate_ == pytest.approx(expected)


def test_a_given_rate_of_mistakes_is_used():
    answers = Answers.from_arrays(named=COMPLEMENTARY[PROPER], annotator=["ann"] * PROPER.sum())
    sure, unsure = (fixed(error_rate=rate).fit(X[PROPER], answers) for rate in (0, 0.4))
    assert (sure.error_rate_, unsure.error_rate_) == (0.0, 0.4)
    assert unsure.error_rates_.tolist() == [0.4]
    found = unsure.score(X[PROPER], answers)
    logits = torch.from_numpy(unsure.decision_function(X[PROPER]))
    expected = answers_log_likelihood(logits, answers, error_rates=0.4).mean()
    assert found == pytest.approx(float(expected), rel=1e-12)


def by_people(names):
    """The answers about random labels, given by some people in turn."""
    return Answers.from_arrays(
        absent=ASKED.absent,
        relevant=ASKED.relevant,
        item=ASKED.item,
        annotator=np.array(names)[np.arange(ASKED.n_answers) % len(names)],
        probability=1 / K,
    )


def test_a_score_knows_annotators_by_their_names():
    classifier = fixed(error_rate="per-annotator").fit(X, by_people(NAMES))
    ann, bob, cleo = classifier.error_rates_
    assert len({ann, bob, cleo}) == 3
    logits = torch.from_numpy(classifier.decision_function(X))
    held_out = by_people(["cleo", "a stranger", "ann", "bob"])
    of_name = dict(zip(NAMES, (ann, bob, cleo), strict=True))
    of_name["a stranger"] = classifier.error_rate_
    rates = [of_name[name] for name in held_out.annotator_names]
    expected = answers_log_likelihood(logits, held_out, error_rates=rates).mean()
    assert classifier.score(X, held_out) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_score_is_the_mean_likelihood_of_held_out_answers(kind):
    given = {"propensities": np.array([0.5, 1, 1, 2]), "exclusion_rates": np.full(K, 0.4)}
    classifier = fixed(**given).fit(X[:150], ANSWERS["all at once"][:150])
    held_out = ANSWERS[kind][150:]
    logits = torch.from_numpy(classifier.decision_function(X[150:]))
    by_item = answers_log_likelihood(logits, held_out, **given).numpy()
    found = classifier.score(X[150:], held_out)
    assert found == pytest.approx(by_item[held_out.answered].mean(), rel=1e-12)
