"""The selection likelihood by enumeration of all label sets, by exact arithmetic, and at scale."""

import functools
import itertools
import math

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.losses.selection_reference import selection_log_likelihood_reference
from tests.refusals import raises

from complabel.errors import InputError
from complabel.losses import SelectionLikelihoodLoss, selection_log_likelihood


def enumerate_choice(p, chosen, *, known=(), propensities=None):
    """P(the annotator names just `chosen`, and `known` are relevant), over all 2^K label sets."""
    total = 0.0
    for bits in itertools.product((0, 1), repeat=len(p)):
        relevant = np.array(bits, dtype=bool)
        if relevant[list(chosen)].any() or not relevant[list(known)].all():
            continue
        chance = np.where(relevant, p, 1 - np.asarray(p)).prod()
        if propensities is None:
            total += chance / math.comb(int((~relevant).sum()), len(chosen))
        else:
            (label,) = chosen
            total += chance * propensities[label] / np.asarray(propensities)[~relevant].sum()
    return total


def indicator(labels, n_labels):
    return np.isin(np.arange(n_labels), list(labels)).astype(float)


def found(p, chosen, *, known=(), propensities=None):
    """The library's probability of the same event."""
    logits = torch.logit(torch.tensor(np.array([p]), dtype=torch.float64))
    marks = [torch.tensor(indicator(labels, len(p)))[None] for labels in (chosen, known)]
    value = selection_log_likelihood(
        logits, marks[0], relevant=marks[1] if known else None, propensities=propensities
    )
    return math.exp(float(value))


def draw(seed, n_labels):
    return np.random.default_rng(seed).uniform(0.02, 0.95, n_labels)


def test_by_hand():
    # Three labels at one half: N = 1, 2, 3 in 3, 3, 1 of 8 sets; a label is in N / 3 of them.
    assert found([0.5] * 3, [0]) == pytest.approx((1 + 1 + 1 / 3 * 1 / 1) / 8)
    # Sure that only label 0 applies: two of the three others.
    assert found([1 - 1e-15, 1e-15, 1e-15, 1e-15], [1, 3]) == pytest.approx(1 / 3)


WILD = [1e-4, 1e4, 1, 3, 0.01, 100, 7, 1]


@pytest.mark.parametrize("known", [(), (6,), (3, 6, 7)])
@pytest.mark.parametrize(
    ("chosen", "propensities"),
    [
        ((0,), None),
        ((0, 2), None),
        ((0, 1, 2, 5), None),
        ((1,), [2, 0.3, 1, 1.7, 0.9, 5, 1, 1]),
        ((0,), WILD),
        ((1,), WILD),
    ],
)
def test_choices_equal_the_sum_over_all_label_sets(chosen, known, propensities):
    p = draw(4, 8)
    expected = enumerate_choice(p, chosen, known=known, propensities=propensities)
    value = found(p, chosen, known=known, propensities=propensities)
    assert value == pytest.approx(expected, rel=1e-11)


@given(
    logits=st.lists(st.floats(-40, 40), min_size=2, max_size=12),
    weights=st.none() | st.integers(0, 9),
)
def test_all_choices_sum_to_the_probability_that_there_is_one(logits, weights):
    n_labels = len(logits)
    tensor = torch.tensor([logits], dtype=torch.float64)
    if weights is not None:
        weights = np.random.default_rng(weights).uniform(0.1, 9, n_labels)
    each = selection_log_likelihood(
        tensor.repeat(n_labels, 1), torch.eye(n_labels), propensities=weights
    )
    nothing_left = float(torch.nn.functional.logsigmoid(tensor).sum().exp())
    assert float(each.exp().sum()) == pytest.approx(1 - nothing_left, rel=1e-9, abs=1e-13)


def random_rows(seed, n_rows, n_labels, *, most):
    """Logits, complementary and relevant labels, with one to `most` complementary ones a row."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n_rows, n_labels)) * 3 - 1
    order = rng.random((n_rows, n_labels)).argsort(axis=1)
    complementary = (order < rng.integers(1, most + 1, size=(n_rows, 1))).astype(float)
    relevant = (order == n_labels - 1) & (rng.random((n_rows, 1)) < 0.5)
    return logits, complementary, relevant.astype(float)


@pytest.mark.parametrize("n_labels", [3, 14, 101, 260])
@pytest.mark.parametrize("most", [1, 2])
def test_equals_the_reference_by_another_algorithm(n_labels, most):
    logits, complementary, relevant = random_rows(0, 40, n_labels, most=most)
    value = selection_log_likelihood(
        torch.tensor(logits), torch.tensor(complementary), relevant=torch.tensor(relevant)
    )
    p = 1 / (1 + np.exp(-logits))
    expected = selection_log_likelihood_reference(p, complementary, relevant=relevant)
    np.testing.assert_allclose(value.numpy(), expected, rtol=0, atol=1e-9)


@functools.cache
def exact(logits, chosen):
    """log q_S from the distribution of the number of irrelevant labels, in 500-bit integers."""
    one = 1 << 500
    with mpmath.workprec(600):
        p = [1 / (1 + mpmath.exp(-mpmath.mpf(z))) for z in logits]
        fixed = [int(chance * one) for chance in p]
        distribution = np.array([one], dtype=object)
        for k, chance in enumerate(fixed):
            if k not in chosen:
                stay, move = distribution * chance, distribution * (one - chance)
                distribution = (np.append(stay, 0) + np.append(0, move)) // one
        m = len(chosen)
        mean = sum(share // math.comb(m + i, m) for i, share in enumerate(distribution))
        log_mean = mpmath.log(mpmath.mpf(mean) / one)
        return float(log_mean + mpmath.fsum(mpmath.log(1 - p[k]) for k in chosen))


@pytest.mark.parametrize(
    ("n_labels", "m", "spread", "shift"),
    [
        (15, 1, 30.0, 0.0),
        (1000, 1, 3.0, -4.0),
        (1000, 1, 3.0, 4.0),
        (1000, 5, 3.0, -4.0),
        (300, 40, 5.0, -2.0),
        (300, 150, 1.0, 0.0),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_many_labels_and_extreme_logits_by_exact_arithmetic(n_labels, m, spread, shift, dtype):
    rng = np.random.default_rng(1)
    logits = (rng.normal(size=n_labels) * spread + shift).astype(np.float32)
    chosen = frozenset(range(0, n_labels, n_labels // m)[:m])
    marks = torch.tensor(indicator(chosen, n_labels), dtype=dtype)
    value = float(selection_log_likelihood(torch.tensor(logits, dtype=dtype)[None], marks[None]))
    tolerance = 1e-9 if dtype == torch.float64 else 1e-4
    assert value == pytest.approx(
        exact(tuple(logits.tolist()), chosen), rel=tolerance, abs=tolerance
    )


def test_the_loss_is_the_mean_of_its_two_terms():
    logits, complementary, _ = (torch.tensor(values) for values in random_rows(3, 9, 5, most=1))
    likelihood = selection_log_likelihood(logits, complementary)
    penalty = (torch.sigmoid(logits).sum(dim=1) - 1.3) ** 2
    expected = float((penalty - likelihood).mean())
    loss = SelectionLikelihoodLoss(cardinality=1.3)
    assert float(loss(logits, complementary)) == pytest.approx(expected, rel=1e-12)


def test_rows_do_not_depend_on_how_many_are_worked_on_at_once():
    # Enough rows for several blocks; their number divides none of them evenly.
    logits, complementary, _ = (torch.tensor(values) for values in random_rows(4, 3001, 15, most=1))
    whole = selection_log_likelihood(logits, complementary)
    parts = [
        selection_log_likelihood(logits[rows], complementary[rows])
        for rows in torch.split(torch.arange(3001), 700)
    ]
    torch.testing.assert_close(torch.cat(parts), whole, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    "propensities", [[1.0, 2.0], [[1.0, 2.0, 3.0]], [1.0, 0.0, 3.0], [1.0, 2.0, np.inf]], ids=str
)
def test_propensities_and_cardinalities_are_checked(propensities):
    with raises(InputError, "propensities"):
        selection_log_likelihood(torch.zeros(1, 3), torch.eye(3)[:1], propensities=propensities)
    with raises(InputError, "cardinality"):
        SelectionLikelihoodLoss(cardinality=0.0)
