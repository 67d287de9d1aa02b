"""Rates of missed and invented labels: given, found with the model, kept in files, and refused."""

import numpy as np
import pytest
import torch
from scipy import optimize
from tests.methods.selection.answered import assumed, fixed, logistic_problem

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.losses import answers_log_likelihood
from complabel.methods import load
from complabel.methods.selection._known import OneSided
from complabel.methods.selection._likelihood import Likelihood
from complabel.methods.selection._mistakes import RateProfile, balanced_rates
from complabel.simulate import draw_answers

X, Y = logistic_problem(2500, seed=4)
MISSED, INVENTED = np.array([0.0, 0.2, 0.4, 0.6, 0.1, 0.3]), np.full(6, 0.04)
PEOPLE = {"missed": MISSED, "invented": INVENTED}
AUTO = {"missed": "auto", "invented": "auto"}


def asked_twice(**mistakes):
    """Two people say yes or no about the same label of each item."""
    return draw_answers(Y, question="ticked", answers_per_item=2, random_state=3, **mistakes)


SAID = asked_twice(**PEOPLE)
TRUE_CARDINALITY = Y.sum(axis=1).mean()


@pytest.fixture(scope="module")
def found():
    return fixed(alpha=0.0003, **AUTO).fit(X, SAID)


def test_given_rates_mend_the_cardinality():
    once = draw_answers(Y, question="asked", random_state=3, **PEOPLE)
    ignored = fixed(alpha=0.0003).fit(X, once).mean_cardinality_
    classifier = fixed(alpha=0.0003, **PEOPLE).fit(X, once)
    assert ignored < 0.9 * TRUE_CARDINALITY
    assert classifier.mean_cardinality_ == pytest.approx(TRUE_CARDINALITY, rel=0.05)
    np.testing.assert_array_equal(classifier.missed_, MISSED)
    np.testing.assert_array_equal(classifier.invented_, INVENTED)
    assert not hasattr(classifier, "missed_by_label_")


@pytest.mark.slow
def test_rates_are_found_where_two_people_judge_the_same(found):
    np.testing.assert_allclose(found.missed_, MISSED, atol=0.05)
    np.testing.assert_allclose(found.missed_by_label_, 0.25, atol=0.1)  # labels do not differ
    np.testing.assert_allclose(found.invented_, INVENTED, atol=0.03)
    assert found.mean_cardinality_ == pytest.approx(TRUE_CARDINALITY, rel=0.03)


@pytest.mark.slow
def test_rates_of_labels_are_found_where_people_judge_many_twice():
    by_label = [[0.05, 0.2, 0.4, 0.6]] * 6
    classifier = fixed(alpha=0.0003, **AUTO).fit(X, asked_twice(missed=by_label, invented=0.02))
    np.testing.assert_allclose(classifier.missed_by_label_, by_label[0], atol=0.08)
    share = classifier.predict_proba(X).mean(axis=0)
    np.testing.assert_allclose(share, Y.mean(axis=0), atol=0.04)


def test_common_rates_are_found_of_people_without_names():
    unnamed = Answers.from_arrays(
        relevant=SAID.relevant,
        absent=SAID.absent,
        offered=SAID.offered,
        question="ticked",
        item=SAID.item,
    )
    classifier = fixed(alpha=0.0003, **AUTO).fit(X, unnamed)
    assert classifier.missed_.shape == classifier.invented_.shape == (1,)
    assert classifier.missed_[0] == pytest.approx(MISSED.mean(), abs=0.06)
    assert classifier.mean_cardinality_ == pytest.approx(TRUE_CARDINALITY, rel=0.06)


def test_without_mistakes_the_fit_is_as_if_nothing_had_been_said():
    right, few = asked_twice(missed=np.zeros(6))[:600], X[:600]
    classifier, plain = fixed(**AUTO), fixed()
    assert not assumed(classifier, few, right)
    np.testing.assert_array_equal(classifier.coef_, plain.fit(few, right).coef_)
    assert not hasattr(classifier, "missed_")


def test_where_nothing_tells_a_sentence_says_what_would_be_needed():
    once = draw_answers(Y, question="asked", random_state=3, **PEOPLE)
    classifier, plain = fixed(**AUTO), fixed()
    (warning,) = assumed(classifier, X, once)
    text = str(warning.message)
    assert "judged the same label of the same item 0 times" in text
    share = once.relevant.sum() / once.n_answers
    assert f"about {int(np.ceil(40 / share))} of them" in text
    np.testing.assert_array_equal(classifier.coef_, plain.fit(X, once).coef_)


@pytest.fixture(scope="module")
def rare():
    """Rare labels, features that tell nothing, and few pairs that two people judged."""
    rng = np.random.default_rng(0)
    truth = rng.random((800, 6)) < 0.06
    pair = rng.choice(truth.size, 1200, replace=False)
    item, label = np.divmod(np.r_[pair, pair[:120]], 6)
    person = np.r_[np.arange(1200) % 3, (np.arange(120) + 1) % 3]
    errs = np.where(truth[item, label], np.array([0.1, 0.3, 0.6])[person], 0.03)
    yes = truth[item, label] ^ (rng.random(len(item)) < errs)
    of_label = np.eye(6, dtype=np.uint8)[label]
    said = Answers.from_arrays(
        relevant=of_label * yes[:, np.newaxis],
        absent=of_label * ~yes[:, np.newaxis],
        question="asked",
        item=item,
        n_items=800,
        annotator=[str(each) for each in person],
    )
    return rng.normal(size=(800, 5)), said


def test_where_rates_are_not_told_labels_apply_as_often_as_people_say(rare):
    classifier = fixed(**AUTO)
    warning = next(each for each in assumed(classifier, *rare) if "miss" in str(each.message))
    assert "judged the same label of the same item 120 times" in str(warning.message)
    assert not hasattr(classifier, "cardinality_interval_")
    share = rare[1].statements().applies.mean()
    assert classifier.mean_cardinality_ == pytest.approx(6 * share, rel=0.15)


def test_where_rates_are_told_the_interval_of_labels_per_item_holds_the_truth():
    few = SAID[np.arange(600)]
    classifier = fixed(alpha=0.0003, **AUTO).fit(X[:600], few)
    low, high = classifier.cardinality_interval_
    assert low < Y[:600].sum(axis=1).mean() < high < 1.6 * low


def test_balanced_rates_by_hand():
    # Both say yes of half of the labels; of 8 pairs, they differ about 2. By chance it were 4.
    ann, bob = (
        np.array([[1, 0], [1, 0], [1, 0], [0, 1]]),
        np.array([[1, 0], [1, 0], [0, 1], [0, 1]]),
    )
    both = Answers.concatenate(
        Answers.from_arrays(relevant=each, absent=1 - each, question="ticked", annotator=[name] * 4)
        for name, each in (("ann", ann), ("bob", bob))
    )
    share = (np.array([5, 3]) + 0.5) / 9
    by_chance = 4 * (2 * share * (1 - share)).sum()
    kappa = 1 - (2 + 0.4 * 3) / (by_chance + 3)
    missed, invented = balanced_rates(both).rates
    np.testing.assert_allclose(missed, np.tile((1 - share) * (1 - kappa**0.5), (3, 1)))
    np.testing.assert_allclose(missed * share, invented * (1 - share))


def test_the_slopes_of_the_profile_are_right(rare):
    profile = RateProfile(
        Likelihood(rare[1]), 0.3 * np.random.default_rng(1).normal(size=(800, 6)), None
    )
    at = profile._start(OneSided(np.tile(np.reshape([0.3, 0.05], (2, 1, 1)), (1, 4, 1)))) + 0.1
    profile._aim = -0.5
    _, slope = profile._loss(at)
    found = optimize.approx_fprime(at, lambda each: profile._loss(each)[0], 1e-6)
    np.testing.assert_allclose(slope, found, atol=2e-3, rtol=2e-4)
    # A step may take all probabilities below the least number there is.
    strain, slope = profile._strained(np.full((4, 6), -800.0))
    above = profile._strained(np.full((4, 6), -799.9))[0]
    np.testing.assert_allclose(slope.sum() / 10, above - strain, rtol=1e-3)


def test_rates_by_label_are_used_and_shown():
    by_label = np.array([[0.1, 0.2, 0.5, 0.6]] * 6)
    said = draw_answers(Y, question="asked", random_state=3, missed=by_label)
    classifier = fixed(alpha=0.0003, missed=by_label).fit(X, said)
    np.testing.assert_allclose(classifier.missed_, 0.35)
    np.testing.assert_allclose(classifier.missed_by_label_, by_label[0])
    np.testing.assert_array_equal(classifier.invented_by_label_, np.zeros(4))
    share = classifier.predict_proba(X).mean(axis=0)
    np.testing.assert_allclose(share, Y.mean(axis=0), atol=0.05)


@pytest.mark.parametrize("which", ["people", "labels"])
def test_files_and_the_likelihood_of_answers_keep_the_rates(which, found, tmp_path):
    classifier = found
    if which == "labels":
        classifier = fixed(missed=np.full((6, 4), 0.2), invented=0.1).fit(X, SAID)
    classifier.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    for name in ("missed_", "invented_", "missed_by_label_"):
        assert hasattr(loaded, name) == hasattr(classifier, name)
        if hasattr(classifier, name):
            np.testing.assert_array_equal(getattr(loaded, name), getattr(classifier, name))
    # Persons are found by name; one who is new has the common rates.
    new = Answers.from_arrays(
        relevant=np.eye(4)[:2], offered=np.eye(4)[:2], question="asked", annotator=["new", "3"]
    )
    rates = loaded._annotators.one_sided[:, [-1, 3], :]
    missed, invented = np.broadcast_to(rates, (2, 2, 4))
    order = [("new", "3").index(name) for name in new.annotator_names]
    expected = answers_log_likelihood(
        torch.from_numpy(loaded.decision_function(X[:2])),
        new,
        missed=missed[order],
        invented=invented[order],
    )
    assert loaded.score(X[:2], new) == pytest.approx(float(expected.mean()), rel=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"missed": "auto"}, "give rates, or 'auto' for both"),
        ({"missed": "often", "invented": "often"}, "give rates, or 'auto' for both"),
        ({**AUTO, "error_rate": "auto"}, "give only one sort of mistakes"),
        ({"missed": 0.1, "error_rate": 0.1}, "give only one sort of mistakes"),
        ({"missed": [0.1, 0.2]}, "one for each annotator, 6 in all"),
        ({"invented": 1.1}, r"invented is 1\.1; give rates between 0 and 1"),
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        fixed(**given).fit(X, SAID)
