from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from tests.answers.records import back, same
from tests.examples import examples, relevant_sets
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import AnnotationError, InputError
from complabel.frequencies import estimate_label_frequencies
from complabel.simulate import SCHEMES, draw_answers, draw_complementary, draw_propensities

POSITIVES = ["positive", "positive-menu-2", "positive-menu-3"]
RATES = {"excluded": "exclusion_rates", "tagged": "exposure"}
QUESTIONS = ["named", "menu-2", "menu-3", "asked", "ticked", "ticked-3", *RATES, *POSITIVES]
N = 20_000
PATTERN = np.array([1, 0, 0, 1, 0])  # labels 1, 2 and 4 do not apply
MANY = np.tile(PATTERN, (N, 1))


def options(question, **others):
    """Those that the question needs, and some others."""
    return {"question": question} | ({RATES[question]: 0.5} if question in RATES else {}) | others


def varied(n_items=200, n_labels=5, seed=0):
    """Relevant labels with no row of none or all."""
    Y = np.random.default_rng(seed).random((n_items, n_labels)) < 0.4
    Y[~Y.any(axis=1), 0] = True
    Y[Y.all(axis=1), 1] = False
    return Y.astype(int)


def assert_shares(counts, shares):
    """Counts are as often as expected; where nothing is expected there is nothing."""
    counts, shares = np.asarray(counts), np.asarray(shares, dtype=float)
    assert not counts[shares == 0].any()
    if (shares > 0).sum() > 1:
        expected = shares[shares > 0] / shares.sum() * counts.sum()
        assert stats.chisquare(counts[shares > 0], expected).pvalue > 1e-4


@examples(25)
@given(Y=relevant_sets(), asked_for=st.integers(1, 7), seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("scheme", SCHEMES)
def test_free_naming_is_what_draw_complementary_draws(scheme, Y, asked_for, seed):
    asked = {"scheme": scheme, "asked_for": asked_for, "sharpness": 2.0}
    answers = draw_answers(Y, **asked, random_state=seed)
    drawn = draw_complementary(Y, **asked, random_state=seed)
    assert same(back(answers), back(Answers.from_complementary(drawn)))
    assert (answers.all_apply == "never").all()
    again = draw_answers(sparse.csr_array(Y), **asked, random_state=np.random.default_rng(seed))
    np.testing.assert_array_equal(again.complementary, drawn)


@examples(25)
@given(Y=relevant_sets(), question=st.sampled_from(QUESTIONS), seed=st.integers(0, 2**32 - 1))
def test_without_mistakes_what_is_said_is_true(Y, question, seed):
    answers = draw_answers(Y, **options(question), answers_per_item=2, random_state=seed)
    assert answers.n_answers == 2 * len(Y)
    assert answers.shape == Y.shape
    assert not (answers.complementary & Y).any()
    assert (answers.known_relevant <= Y).all()
    np.testing.assert_array_equal(answers.item, np.repeat(np.arange(len(Y)), 2))
    if question == "ticked":
        np.testing.assert_array_equal(answers.known_relevant, Y)
        np.testing.assert_array_equal(answers.complementary, 1 - Y)
    if question == "ticked-3":
        of_all = answers.n_offered == Y.shape[1]  # a menu of all labels has no entries
        offered = answers.offered.toarray() | of_all[:, np.newaxis]
        repeated = np.tile(Y, (2, 1))[np.argsort(np.tile(np.arange(len(Y)), 2), kind="stable")]
        np.testing.assert_array_equal(answers.relevant.toarray(), offered & repeated)
        np.testing.assert_array_equal(answers.absent.toarray(), offered & (1 - repeated))
    if question[-1].isdecimal():
        assert (answers.n_offered == int(question[-1])).all()
        assert (
            answers.probability == 1 / len(list(combinations(range(Y.shape[1]), int(question[-1]))))
        ).all()
    elif question == "asked":
        assert (answers.n_offered == 1).all()
        assert (answers.probability == 1 / Y.shape[1]).all()
    else:
        assert np.isnan(answers.probability).all()


def test_menus_and_the_labels_named_of_them_are_equally_likely():
    answers = draw_answers(MANY, question="menu-2", random_state=1)
    offered, named = answers.offered.toarray(), answers.named.toarray()
    for menu in combinations(range(5), 2):
        shown = offered[:, menu].all(axis=1)
        irrelevant = [label for label in menu if not PATTERN[label]]
        counts = [named[shown, label].sum() for label in range(5)]
        assert_shares(counts, [label in irrelevant for label in range(5)])
        if not irrelevant:
            assert answers.known_relevant[shown][:, menu].all()
    assert_shares([offered[:, at].all(axis=1).sum() for at in combinations(range(5), 2)], [1] * 10)


@pytest.mark.slow
def test_forms_to_tick_are_equally_likely_and_tell_the_frequencies_without_bias():
    """Ten forms of two of five labels; each label is on four, so on two fifths of all forms."""
    answers = draw_answers(MANY, question="ticked-2", random_state=2)
    offered = answers.offered.toarray()
    forms = [offered[:, form].all(axis=1).sum() for form in combinations(range(5), 2)]
    assert_shares(forms, [1] * 10)
    np.testing.assert_array_equal(answers.question, "ticked")
    np.testing.assert_allclose(answers.probability, 0.1, rtol=1e-12)

    Y = (np.random.default_rng(5).random((300, 4)) < [0.1, 0.3, 0.6, 0.9]).astype(int)
    estimates, few = [], []
    for seed in range(60):
        drawn = draw_answers(Y, question="ticked-2", items_share=0.5, random_state=seed)
        yes, judged = (np.asarray(m.sum(axis=0)) for m in (drawn.relevant, drawn.offered))
        estimates.append(yes / judged)
        few.append(estimate_label_frequencies(drawn).values)
    # About 75 judgements of each label a draw: the standard error of a mean is below .008.
    np.testing.assert_allclose(np.mean(estimates, axis=0), Y.mean(axis=0), atol=0.025)
    np.testing.assert_allclose(np.mean(few, axis=0), Y.mean(axis=0), atol=0.035)


def test_mistakes_on_forms_are_made_for_each_label_on_offer():
    answers = draw_answers(MANY, question="ticked-3", missed=0.2, invented=0.1, random_state=4)
    offered, yes = answers.offered.toarray(), answers.relevant.toarray()
    said = yes.sum(axis=0) / offered.sum(axis=0)
    np.testing.assert_allclose(said, np.where(PATTERN, 0.8, 0.1), atol=0.015)
    np.testing.assert_array_equal(yes + answers.absent.toarray(), offered)


@pytest.mark.parametrize("question", ["named", "menu-3"])
def test_labels_are_named_in_the_proportion_of_their_propensities(question):
    propensities = np.array([9.0, 0.5, 1.0, 3.0, 2.0])
    answers = draw_answers(MANY, question=question, propensities=propensities, random_state=2)
    offered = answers.offered.toarray() if question == "menu-3" else np.ones_like(MANY)
    named = answers.named.toarray()
    for menu in {tuple(row) for row in offered.tolist()}:
        shown = (offered == menu).all(axis=1)
        weights = propensities * np.array(menu) * (PATTERN == 0)
        assert_shares(named[shown].sum(axis=0), weights)


def test_several_are_named_one_after_the_other():
    propensities = np.array([1.0, 4.0, 2.0, 1.0, 1.0])
    answers = draw_answers(MANY, asked_for=2, propensities=propensities, random_state=3)
    weights = {1: 4.0, 2: 2.0, 4: 1.0}
    expected = {}
    for first, second in ((1, 2), (1, 4), (2, 4)):
        expected[first, second] = sum(
            weights[a] / 7 * weights[b] / (7 - weights[a])
            for a, b in ((first, second), (second, first))
        )
    named = answers.named.toarray()
    counts = [named[:, pair].all(axis=1).sum() for pair in expected]
    assert sum(counts) == N
    assert_shares(counts, list(expected.values()))


def test_where_fewer_do_not_apply_than_asked_for_all_of_them_are_named():
    Y = [[1, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1]]
    answers = draw_answers(Y, question="menu-4", asked_for=2, random_state=0)
    assert answers.asked_for.tolist() == [2, 2, 2]
    np.testing.assert_array_equal(answers.complementary, 1 - np.array(Y))
    np.testing.assert_array_equal(
        answers.known_relevant, [[1, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]]
    )
    free = draw_answers(Y[:2], asked_for=2, propensities=[1, 2, 3, 4], random_state=0)
    assert free.asked_for.tolist() == [2, 2]
    np.testing.assert_array_equal(free.known_relevant, [[1, 1, 0, 1], [0, 0, 0, 0]])
    many = draw_answers(Y[:2], asked_for=9, propensities=[1, 2, 3, 4], random_state=0)
    assert many.asked_for.tolist() == [4, 4]
    np.testing.assert_array_equal(many.known_relevant, Y[:2])


@pytest.mark.parametrize("question", RATES)
@pytest.mark.parametrize("rates", [0.3, [0.1, 0.9, 0.0, 0.5, 1.0]])
def test_labels_are_listed_at_their_rates(question, rates):
    answers = draw_answers(MANY, question=question, random_state=5, **{RATES[question]: rates})
    shares = getattr(answers, question).sum(axis=0) / N
    expected = np.broadcast_to(rates, 5) * ((question == "tagged") == PATTERN)
    np.testing.assert_allclose(shares, expected, atol=0.02)
    np.testing.assert_array_equal(
        shares[(expected == 0) | (expected == 1)], expected[(expected == 0) | (expected == 1)]
    )


def test_mistakes_on_menus_are_any_label_on_it_or_that_all_apply():
    answers = draw_answers(MANY, question="menu-3", error_rate=0.4, random_state=7)
    offered, named = answers.offered.toarray(), answers.named.toarray()
    shown = offered[:, [0, 1, 2]].all(axis=1)
    counts = [*named[shown][:, :3].sum(axis=0), (named[shown].sum(axis=1) == 0).sum()]
    assert_shares(counts, [0.1, 0.1 + 0.3, 0.1 + 0.3, 0.1])
    assert (named <= offered).all()


@pytest.mark.parametrize(("question", "least"), [("named", 1), ("menu-4", 0)])
def test_mistakes_of_several_names_are_any_set_that_may_be_answered(question, least):
    answers = draw_answers(MANY, question=question, asked_for=2, error_rate=1.0, random_state=8)
    named = answers.named.toarray()
    shown = np.ones(N, bool) if least else answers.offered.toarray()[:, :4].all(axis=1)
    n_labels = 5 if least else 4
    sets = [s for size in range(least, 3) for s in combinations(range(n_labels), size)]
    patterns = [np.isin(np.arange(5), each) for each in sets]
    counts = [(named[shown] == pattern).all(axis=1).sum() for pattern in patterns]
    assert sum(counts) == shown.sum()
    assert_shares(counts, [1] * len(sets))


def test_mistakes_in_yes_and_no_are_half_of_them_right():
    answers = draw_answers(MANY, question="asked", error_rate=0.3, random_state=9)
    yes = answers.relevant.sum(axis=0) / answers.offered.sum(axis=0)
    np.testing.assert_allclose(yes, np.where(PATTERN, 0.85, 0.15), atol=0.02)
    for question in ("ticked", "excluded"):
        answers = draw_answers(MANY, **options(question, error_rate=0.3), random_state=9)
        right = 0.7 * (PATTERN == 0) * (1.0 if question == "ticked" else 0.5) + 0.15
        np.testing.assert_allclose(answers.complementary.mean(axis=0), right, atol=0.02)


ONE_SIDED = {"missed": [0.0, 0.6], "invented": [0.3, 0.1]}


def test_labels_are_missed_and_invented_in_yes_no_and_ticks():
    for question in ("asked", "ticked"):
        answers = draw_answers(MANY, question=question, **ONE_SIDED, random_state=9)
        assert answers.annotator_names == ("0", "1")
        for person, (missed, invented) in enumerate([(0.0, 0.3), (0.6, 0.1)]):
            of = answers.only(answers.annotator == person)
            yes = of.relevant.sum(axis=0) / (of.relevant + of.absent).sum(axis=0)
            np.testing.assert_allclose(yes, np.where(PATTERN, 1 - missed, invented), atol=0.03)
    by_label = np.array([[0.1, 0.2, 0.3, 0.4, 0.5]])
    answers = draw_answers(MANY, question="ticked", missed=by_label, invented=by_label)
    yes = answers.relevant.mean(axis=0)
    np.testing.assert_allclose(yes, np.where(PATTERN, 1 - by_label[0], by_label[0]), atol=0.02)


def test_who_names_labels_chooses_among_those_they_see():
    answers = draw_answers(MANY, question="menu-2", missed=0.5, invented=0.2, random_state=3)
    shown = answers.offered.toarray()[:, [0, 1]].all(axis=1)  # 0 applies, 1 does not
    named = answers.named.toarray()[shown]
    # Neither is seen: each is named half of the time. Both are seen: no name.
    neither = 0.5 * 0.8
    counts = [*named[:, :2].sum(axis=0), (named.sum(axis=1) == 0).sum()]
    assert_shares(counts, [0.5 * 0.2 + neither / 2, 0.5 * 0.8 + neither / 2, 0.5 * 0.2])
    free = draw_answers(MANY, missed=0.0, invented=0.5, random_state=3)
    named = free.named.toarray()
    assert set(free.all_apply) == {"answer"}
    assert_shares([(named.sum(axis=1) == 0).sum(), named.sum()], [0.125, 0.875])


@pytest.mark.parametrize("question", ["named", "menu-2", "asked", "ticked"])
def test_who_misses_and_invents_nothing_answers_as_without_mistakes(question):
    Y = varied()
    plain = draw_answers(Y, **options(question), random_state=3)
    others = {"missed": [0.0, 0.9], "invented": [0.0, 0.5]}
    mistaken = draw_answers(Y, **options(question), **others, random_state=3)
    right = mistaken.annotator == 0
    np.testing.assert_array_equal(mistaken.complementary[right], plain.complementary[right])
    none = draw_answers(Y, **options(question), missed=0.0, invented=0.0, random_state=3)
    assert same(back(none), back(plain))


@pytest.mark.parametrize("question", QUESTIONS)
def test_annotators_make_mistakes_at_their_own_rates(question):
    rates = [0.0, 0.8, 0.2]
    answers = draw_answers(MANY, **options(question, error_rate=rates), random_state=10)
    assert answers.annotator_names == ("0", "1", "2")
    assert_shares(np.bincount(answers.annotator), [1, 1, 1])
    judged = sparse.csr_array(answers.named + answers.absent + answers.excluded)
    wrong = (judged.toarray() & PATTERN).any(axis=1)
    wrong |= ((answers.positive + answers.tagged).toarray() & (1 - PATTERN)).any(axis=1)
    shares = np.bincount(answers.annotator, wrong) / np.bincount(answers.annotator)
    assert shares[0] == 0
    assert shares[1] > shares[2] > 0
    few = draw_answers(MANY[:1], **options(question, error_rate=rates), random_state=10)
    assert few.annotator_names == ("0", "1", "2")


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_switched_on_does_not_change_the_rest(question):
    Y = varied()
    plain = draw_answers(Y, **options(question), random_state=3)
    asked = {"propensities": np.ones(5)} if question == "named" else {}  # to be stored alike
    alike = draw_answers(Y, **options(question, **asked), random_state=3)
    rounds = draw_answers(Y, **options(question, answers_per_item=3), random_state=3)
    assert same(back(rounds)[::3], back(alike))
    some = draw_answers(Y, **options(question, items_share=0.3), random_state=3)
    assert some.answered.sum() == 60
    np.testing.assert_array_equal(
        some.complementary[some.answered], plain.complementary[some.answered]
    )
    more = draw_answers(Y, **options(question, items_share=0.5), random_state=3)
    assert (some.answered <= more.answered).all()
    mistaken = draw_answers(Y, **options(question, error_rate=[0.0, 1.0]), random_state=3)
    right = mistaken.annotator == 0
    np.testing.assert_array_equal(mistaken.complementary[right], plain.complementary[right])
    np.testing.assert_array_equal(mistaken.offered.toarray(), alike.offered.toarray())


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_seed_draws_the_same(question):
    Y = varied()
    given_options = options(question, error_rate=[0.1, 0.5], answers_per_item=2, items_share=0.5)
    first, again, other = (
        draw_answers(Y, **given_options, random_state=state)
        for state in (7, np.random.default_rng(7), 8)
    )
    assert same(back(first), back(again))
    assert not same(back(first), back(other))
    stream = np.random.default_rng(7)
    one, two = (draw_answers(Y, **given_options, random_state=stream) for _ in range(2))
    assert same(back(one), back(first))
    assert not same(back(one), back(two))


def test_rows_of_none_or_all_labels_are_asked_where_they_can_be():
    Y = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0]])
    for question in QUESTIONS[1:]:
        assert draw_answers(Y, **options(question), random_state=0).n_answers == 3
    assert draw_answers(Y[[0, 2]], random_state=0).n_answers == 2
    with raises(AnnotationError, "relevant", "3 labels", "row 1"):
        draw_answers(Y, random_state=0)
    with raises(AnnotationError, "relevant", "row 0"):
        draw_answers(Y[[0, 2]], scheme="biased", random_state=0)
    with raises(AnnotationError, "at least 3"):
        draw_answers(Y[:, :2], random_state=0)
    assert draw_answers(Y[:, :1], question="asked", random_state=0).n_labels == 1


def test_a_data_frame_names_the_labels():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(varied(), columns=list("abcde"))
    for question in QUESTIONS:
        assert draw_answers(frame, **options(question)).label_names == tuple("abcde")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"question": "menu"}, "question='menu'"),
        ({"question": None}, "question='None'"),
        ({"question": "ticked-6"}, "question='ticked-6'"),  # of five labels
        ({"question": "ticked-3", "asked_for": 2}, ("asked_for", "'ticked-3'")),
        ({"scheme": "random"}, "scheme"),
        ({"scheme": "biased", "question": "menu-2"}, "'biased'"),
        ({"sharpness": -1}, ("sharpness", "at least 0")),
        ({"asked_for": 0}, ("asked_for", "at least 1")),
        ({"asked_for": 2, "question": "asked"}, ("asked_for", "1", "question 'asked'")),
        ({"answers_per_item": 0}, ("answers_per_item", "at least 1")),
        ({"items_share": 0}, ("items_share", "above 0", "1")),
        ({"items_share": 1.5}, "items_share"),
        ({"error_rate": -0.1}, ("error_rate", "0", "1", "-0.1")),
        ({"error_rate": [0.1, 1.1]}, ("error_rate", "0", "1", "1.1")),
        ({"error_rate": "few"}, ("error_rate", "1-D array")),
        ({"error_rate": []}, ("error_rate", "shape (0,)")),
        ({"missed": 1.5}, ("missed", "0", "1", "1.5")),
        ({"invented": [[0.1, 0.2]]}, ("invented", "2 columns", "5 labels")),
        ({"missed": [0.1, 0.2], "invented": [0.1] * 3}, ("missed", "2 rows", "3")),
        ({"missed": 0.1, "error_rate": 0.1}, ("error_rate", "missed")),
        ({"missed": 0.1, **options("excluded")}, ("missed", "exclusion_rates")),
        ({"propensities": [1, 2]}, ("propensities", "2 entries", "5 labels")),
        ({"propensities": [1, 2, 0, 3, 4]}, ("propensities", "above 0", "0.0", "label 2")),
        ({"propensities": [1, 2, np.nan, 3, 4]}, "propensities"),
        ({"exclusion_rates": 0.5}, ("exclusion_rates", "question 'excluded'")),
        ({"question": "excluded"}, "exclusion_rates"),
        ({"question": "tagged", "exclusion_rates": 0.5}, "exclusion_rates"),
        ({"question": "tagged"}, "exposure"),
        ({"question": "excluded", "exclusion_rates": [0.5, 0.5]}, ("exclusion_rates", "2 entries")),
        ({"random_state": "a"}, "random_state"),
    ],
)
def test_what_cannot_be_drawn_is_refused(asked, message):
    with raises(InputError, message):
        draw_answers(varied(), **asked)


@pytest.mark.slow
def test_propensities_are_log_normal():
    drawn = draw_propensities(50_000, 0.5, random_state=0)
    assert stats.kstest(np.log(drawn), stats.norm(scale=0.5).cdf).pvalue > 1e-3
    assert drawn.dtype == np.float64
    np.testing.assert_array_equal(drawn, draw_propensities(50_000, 0.5, random_state=0))
    np.testing.assert_array_equal(draw_propensities(4, 0, random_state=0), np.ones(4))


@pytest.mark.parametrize(("n_labels", "sd"), [(0, 1.0), (3, -1.0), (3, np.inf), (2.5, 1.0)])
def test_propensities_need_labels_and_a_spread(n_labels, sd):
    with pytest.raises(InputError):
        draw_propensities(n_labels, sd)
