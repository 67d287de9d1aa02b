from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from tests.examples import examples, relevant_sets
from tests.refusals import raises

from complabel.errors import AnnotationError, InputError
from complabel.simulate import SCHEMES, draw_complementary, draw_relevant

PATTERNS = np.array(
    [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [0, 1, 0, 1, 0],
        [0, 0, 0, 1, 1],
        [1, 0, 0, 0, 1],
    ]
)
COPIES = 4000
MANY = np.repeat(PATTERNS, COPIES, axis=0)
GOLDEN_Y = np.array([[(3 * i + j * j + i * j) % 7 < 3 for j in range(8)] for i in range(10)])


def weights_by_definition(pattern, Y, sharpness):
    """(1 - r_j)^sharpness of the irrelevant labels j of one row, label by label."""
    weights = {}
    for j in np.flatnonzero(pattern == 0):
        rates = [Y[Y[:, k] == 1, j].mean() for k in np.flatnonzero(pattern)]
        weights[int(j)] = (1 - np.mean(rates)) ** sharpness
    return weights


def set_probabilities(weights, size):
    """The probability of every set, over the orders in which its labels can be drawn."""
    probabilities = {}
    for order in permutations(weights, min(size, len(weights))):
        remaining, probability = dict(weights), 1.0
        for label in order:
            probability *= remaining[label] / sum(remaining.values())
            del remaining[label]
        key = tuple(sorted(order))
        probabilities[key] = probabilities.get(key, 0.0) + probability
    return probabilities


def assert_frequencies(drawn, expected_of_pattern):
    for at, pattern in enumerate(PATTERNS):
        expected = expected_of_pattern(pattern)
        sets, counts = np.unique(drawn[at * COPIES : (at + 1) * COPIES], axis=0, return_counts=True)
        observed = {
            tuple(np.flatnonzero(each).tolist()): count
            for each, count in zip(sets, counts, strict=True)
        }
        assert observed.keys() <= expected.keys()
        if len(expected) > 1:
            result = stats.chisquare(
                [observed.get(key, 0) for key in expected],
                [COPIES * probability for probability in expected.values()],
            )
            assert result.pvalue > 1e-3


@pytest.mark.parametrize("asked_for", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"scheme": "biased", "sharpness": 0.0}])
def test_uniform_frequencies(asked_for, options):
    drawn = draw_complementary(MANY, asked_for=asked_for, random_state=11, **options)
    assert_frequencies(
        drawn,
        lambda pattern: set_probabilities(weights_by_definition(pattern, PATTERNS, 0), asked_for),
    )


@pytest.mark.parametrize("asked_for", [1, 2])
@pytest.mark.parametrize("sharpness", [1.0, 3.5])
def test_biased_frequencies(asked_for, sharpness):
    drawn = draw_complementary(
        MANY, scheme="biased", sharpness=sharpness, asked_for=asked_for, random_state=12
    )
    assert_frequencies(
        drawn,
        lambda pattern: set_probabilities(
            weights_by_definition(pattern, PATTERNS, sharpness), asked_for
        ),
    )


@pytest.mark.parametrize("asked_for", [1, 2])
def test_relevant_frequencies(asked_for):
    drawn = draw_relevant(MANY, asked_for=asked_for, random_state=13)
    assert_frequencies(
        drawn,
        lambda pattern: set_probabilities(
            dict.fromkeys(map(int, np.flatnonzero(pattern)), 1.0), asked_for
        ),
    )


def test_an_extreme_sharpness_always_draws_what_seldom_co_occurs():
    # The weights, such as 0.6 ** 10000, are below the smallest floating-point number.
    Y = np.array([[1, 1, 0, 0]] * 2 + [[1, 0, 1, 0]] + [[1, 0, 0, 1]] * 2 + [[0, 1, 1, 1]])
    drawn = draw_complementary(Y, scheme="biased", sharpness=1e4, random_state=0)
    for row, pattern in zip(drawn, Y, strict=True):
        weights = weights_by_definition(pattern, Y, 1.0)
        likeliest = [label for label in weights if weights[label] > max(weights.values()) - 1e-12]
        assert np.flatnonzero(row) in likeliest


@examples(25)
@given(Y=relevant_sets(), asked_for=st.integers(1, 9), seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("scheme", SCHEMES)
def test_draws_lie_outside_the_relevant_set_and_are_as_many_as_asked(scheme, Y, asked_for, seed):
    drawn = draw_complementary(Y, scheme=scheme, asked_for=asked_for, random_state=seed)
    assert drawn.dtype == np.uint8
    assert not (drawn & Y).any()
    np.testing.assert_array_equal(drawn.sum(axis=1), np.minimum(asked_for, (Y == 0).sum(axis=1)))
    one_more = draw_complementary(Y, scheme=scheme, asked_for=asked_for + 1, random_state=seed)
    assert (drawn <= one_more).all()


@examples(30)
@given(Y=relevant_sets(), seed=st.integers(0, 2**32 - 1))
def test_a_seed_a_generator_of_it_and_a_sparse_matrix_draw_the_same(Y, seed):
    expected = draw_complementary(Y, scheme="biased", random_state=seed)
    generator = np.random.default_rng(seed)
    again = draw_complementary(sparse.csr_array(Y), scheme="biased", random_state=generator)
    np.testing.assert_array_equal(again, expected)


def test_a_generator_moves_on_and_no_seed_is_fresh():
    generator = np.random.default_rng(0)
    first = draw_complementary(MANY, random_state=generator)
    assert (first != draw_complementary(MANY, random_state=generator)).any()
    assert (draw_complementary(MANY) != draw_complementary(MANY)).any()


@pytest.mark.parametrize(
    ("draw", "options", "expected"),
    [
        (draw_complementary, {}, [5, 6, 6, 3, 7, 6, 1, 2, 7, 7]),
        (draw_complementary, {"scheme": "biased", "sharpness": 5}, [5, 6, 5, 3, 1, 6, 1, 2, 7, 5]),
        (draw_relevant, {}, [6, 4, 4, 5, 4, 1, 4, 0, 4, 3]),
    ],
)
def test_the_same_seed_gives_the_same_labels_on_every_machine(draw, options, expected):
    drawn = draw(GOLDEN_Y, random_state=2024, **options)
    assert np.argmax(drawn, axis=1).tolist() == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "skewed"}, ("scheme", "'uniform'", "'biased'", "'skewed'")),
        ({"asked_for": 0}, ("asked_for", "at least 1", "0")),
        ({"asked_for": 1.5}, ("asked_for", "at least 1", "1.5")),
        ({"random_state": "now"}, ("random_state", "'now'")),
        ({"scheme": "biased", "sharpness": -1.0}, "sharpness"),
        ({"scheme": "biased", "sharpness": np.inf}, ("sharpness", "inf")),
    ],
)
def test_impossible_options_are_refused(options, message):
    with raises(InputError, message):
        draw_complementary(PATTERNS, **options)


@pytest.mark.parametrize("draw", [draw_complementary, draw_relevant])
def test_rows_without_a_choice_are_refused(draw):
    with raises(AnnotationError, "3 labels", "row 1"):
        draw([[1, 0, 0], [1, 1, 1]], random_state=0)
