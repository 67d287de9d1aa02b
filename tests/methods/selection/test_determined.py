"""What answers determine, what is assumed where they do not, and what is refused."""

import linecache
import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.methods.selection import answered
from tests.methods.selection.answered import (
    ANSWERS,
    ASKED,
    COMPLEMENTARY,
    FREE,
    PROPER,
    X,
    Y,
    assumed,
    fixed,
)
from tests.refusals import raises

from complabel.answers import Answers, UnchosenLabelWarning
from complabel.errors import InputError
from complabel.simulate import draw_answers

N, K = Y.shape
RULES = ANSWERS["excluded"]
FREE_OF_ALL = ANSWERS["free"]
MENUS = draw_answers(Y, question="menu-3", answers_per_item=2, random_state=5)


def asked(share):
    """Yes/no answers about a random label of a share of the items."""
    return draw_answers(Y, question="asked", items_share=share, random_state=1)


def undrawn(answers):
    """The same answers to questions that somebody chose."""
    return replace(answers, probability=np.full(answers.n_answers, np.nan))


FREELY_NAMED = [
    (X[PROPER], COMPLEMENTARY[PROPER]),
    (X[PROPER], FREE),
    (X[PROPER], COMPLEMENTARY[PROPER].argmax(axis=1)),
    (X, Answers.concatenate([FREE_OF_ALL, asked((K - 1) / N)])),
    (X, Answers.concatenate([FREE_OF_ALL, undrawn(asked(0.9))])),
]


@pytest.mark.parametrize(
    ("features", "y"),
    FREELY_NAMED,
    ids=["labels", "answers", "classes", "few asked", "asked, not at random"],
)
def test_a_fit_on_labels_named_freely_says_what_it_assumes(features, y):
    (warning,) = assumed(fixed(cardinality=1.5), features, y)
    assert "is equally likely to be named" in str(warning.message)
    assert warning.filename == answered.__file__
    line = linecache.getline(warning.filename, warning.lineno)
    assert line.strip() == "classifier.fit(features, y)"


@pytest.mark.parametrize("search", [{}, {"alpha": "auto"}], ids=str)
def test_it_is_said_once_also_after_a_search(search):
    assert len(assumed(fixed(**search), X[PROPER], FREE)) == 1


@pytest.mark.parametrize(
    ("settings", "features", "y"),
    [
        ({"propensities": "equal"}, X[PROPER], FREE),
        ({"propensities": np.ones(K)}, X[PROPER], FREE),
        ({}, X, ASKED),
        ({}, X, ANSWERS["ticked"]),
        ({}, X, ANSWERS["menu-2"]),
        ({}, X, undrawn(draw_answers(Y, question="menu-3", random_state=5))),
        ({}, X, Answers.concatenate([FREE_OF_ALL, asked(0.9)])),
        ({"exclusion_rates": 0.4}, X, RULES),
        ({}, X, Answers.concatenate([RULES, asked(0.9)])),
    ],
    ids=[
        *("equal", "given", "asked", "ticked", "menus", "menus, not at random", "free and asked"),
        *("exclusions with rates", "exclusions and asked"),
    ],
)
def test_nothing_is_said_where_it_is_known_or_of_no_account(settings, features, y):
    assert assumed(fixed(**settings), features, y) == []


@pytest.mark.parametrize(
    ("answers", "determined"),
    [
        (ASKED, True),
        (ANSWERS["menu-2"], True),
        (ANSWERS["ticked"], True),
        (Answers.concatenate([RULES, asked(0.9)]), True),
        (MENUS, False),
        (Answers.concatenate([MENUS, asked(0.5)]), False),
        (FREE, False),
    ],
    ids=["asked", "pairs", "ticked", "excluded", "menus", "a fifth asked", "free"],
)
def test_the_cardinality_is_left_open_where_answers_determine_it(answers, determined):
    classifier = fixed(cardinality="auto", propensities="equal")
    classifier.fit(X[: len(answers)], answers)
    assert (classifier.cardinality_ is None) == determined
    assert hasattr(classifier, "cardinality_curve_") == (not determined)


@pytest.mark.parametrize(
    "answers",
    [MENUS, Answers.concatenate([FREE_OF_ALL, asked(0.9)])],
    ids=["menus", "free and asked"],
)
def test_propensities_are_fitted_where_answers_determine_them(answers):
    classifier = fixed(propensities="auto")
    assert assumed(classifier, X, answers) == []
    assert classifier.propensities_.shape == (K,)
    assert "param_propensity_spread" in classifier.cv_results_


@pytest.mark.parametrize(
    "answers",
    [FREE, RULES, ASKED, undrawn(draw_answers(Y, question="menu-3", random_state=5))],
    ids=["free", "excluded", "asked", "menus, not at random"],
)
def test_propensities_are_not_fitted_where_nothing_determines_them(answers):
    with raises(InputError, "propensities='auto'"):
        fixed(propensities="auto").fit(X[: len(answers)], answers)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("propensities", ["often", [1, 2], [1, 2, 0, 1]]),
        ("error_rate", ["per-annotator", "often", 1, True]),
        ("exclusion_rates", ["auto", [0.5], 1.5]),
        ("label_frequencies", ["all", [0.1, 0.2], [0.1, 0.2, 1.5, 0.1]]),
        ("rank", [0, "low"]),
    ],
)
def test_parameters_about_answers_are_checked(name, wrong):
    for value in wrong:
        with raises(InputError, name):
            fixed(**{name: value}).fit(X, ASKED)


def low_rank_problem():
    """Many features, and labels that share two directions of them; yes/no answers."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 20))
    logits = features @ rng.normal(size=(20, 2)) @ rng.normal(size=(2, 6))
    relevant = (logits + rng.logistic(size=logits.shape) > 0).astype(np.uint8)
    return features, draw_answers(relevant, question="asked", random_state=0)


def test_a_given_rank_is_kept():
    features, answers = low_rank_problem()
    for rank in (1, 2):
        classifier = fixed(rank=rank).fit(features, answers)
        assert np.linalg.matrix_rank(classifier.coef_) == classifier.rank_ == rank


@pytest.mark.parametrize("rank", [6, 99])
def test_a_rank_that_no_map_exceeds_changes_nothing(rank):
    features, answers = low_rank_problem()
    free = fixed(rank=None).fit(features, answers)
    np.testing.assert_array_equal(fixed(rank=rank).fit(features, answers).coef_, free.coef_)
    assert not hasattr(free, "rank_")


def test_the_rank_is_the_one_that_held_out_answers_prefer():
    features, answers = low_rank_problem()
    classifier = fixed(rank="auto").fit(features, answers)
    results = classifier.cv_results_
    tried = [None if rank is np.ma.masked else int(rank) for rank in results["param_rank"]]
    assert set(tried) == {None, 2, 4}
    assert tried[results["mean_test_score"].argmax()] == classifier.rank_ == 2
    assert np.linalg.matrix_rank(classifier.coef_) == 2


def test_labels_named_freely_alone_are_not_compared_by_rank():
    features, answers = low_rank_problem()
    y = answers.complementary
    named = Answers.from_complementary(y)[y.any(axis=1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnchosenLabelWarning)
        classifier = fixed(rank="auto").fit(features[y.any(axis=1)], named)
    assert not hasattr(classifier, "cv_results_")
    assert not hasattr(classifier, "rank_")
