"""The likelihood of answers for many labels, by other algorithms than the fast one's."""

import math

import mpmath
import numpy as np
import pytest
import torch
from tests.losses.answers_cases import container
from tests.losses.selection_reference import irrelevant_count_distribution

from complabel.losses import answers_log_likelihood


def found(logits, answers, **of):
    """The library's value and gradient for one item."""
    leaf = torch.tensor(logits[None], requires_grad=True)
    value = answers_log_likelihood(leaf, answers, **of)
    (gradient,) = torch.autograd.grad(value.sum(), leaf)
    return float(value.detach()), gradient[0].numpy()


def scene(seed, n_labels, n_named, n_offered, shift):
    """Logits, facts as answers, the two cases of each label, a menu, and labels named of it."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=n_labels) * 2 + shift
    order = rng.permutation(n_labels)
    offered = np.isin(np.arange(n_labels), order[:n_offered])
    named = np.isin(np.arange(n_labels), order[:n_named])
    judged = np.isin(np.arange(n_labels), rng.choice(n_labels, n_labels // 5, replace=False))
    yes = judged & (rng.random(n_labels) < 0.3) & ~named
    facts = {"item": 0, "question": "ticked", "annotator": 1, "offered": judged}
    facts |= {"relevant": yes, "absent": judged & ~yes}
    return logits, facts, offered, named


def cases_of(logits, facts, rate):
    """A and B of each label (K,), from logits that may be complex and judgements with a rate."""
    a, b = 1 / (1 + np.exp(-logits)), 1 / (1 + np.exp(logits))
    right, wrong = 1 - rate / 2, rate / 2
    a = a * np.where(facts["relevant"], right, np.where(facts["absent"], wrong, 1))
    b = b * np.where(facts["relevant"], wrong, np.where(facts["absent"], right, 1))
    return a, b


def by_counts(a, b, offered, named, share):
    """log P of namings whose chance is share(number of labels on offer that do not apply)."""
    others = offered & ~named
    counts = irrelevant_count_distribution((a / (a + b))[others])
    mean = sum(chance * share(int(named.sum()) + n) for n, chance in enumerate(counts))
    return np.log(mean) + np.log(b[named]).sum() + np.log((a + b)[~named]).sum()


SIZES = [(20, 20), (100, 30), (1000, 1000), (1000, 5), (400, 300)]


@pytest.mark.parametrize(("n_labels", "n_offered"), SIZES)
@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("shift", [-4.0, 0.0, 4.0])
def test_one_naming_by_the_distribution_of_counts(n_labels, n_offered, m, shift):
    logits, facts, offered, named = scene(n_labels + m, n_labels, m, n_offered, shift)
    row = {"item": 0, "question": "named", "offered": offered, "named": named, "asked_for": m}
    answers = container([facts, row], 1, n_labels)

    def expected(logits):
        a, b = cases_of(logits, facts, 0.1)
        return by_counts(a, b, offered, named, lambda n: 1 / math.comb(n, m))

    value, gradient = found(logits, answers, error_rates=[0.0, 0.1])
    assert value == pytest.approx(float(expected(logits)), rel=1e-12, abs=1e-8)
    some = np.flatnonzero(named)[:1].tolist() + np.flatnonzero(~named)[:2].tolist()
    some += np.flatnonzero(offered & facts["absent"])[:1].tolist()
    for k in some:
        step = np.zeros(n_labels, dtype=complex)
        step[k] = 1e-40j
        slope = expected(logits + step).imag / 1e-40
        assert gradient[k] == pytest.approx(slope, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("n_labels", "n_offered"), SIZES)
@pytest.mark.parametrize(("r", "different"), [(2, 1), (3, 3), (6, 4), (40, 5)])
@pytest.mark.parametrize("shift", [-4.0, 1.0])
def test_one_menu_shown_to_several(n_labels, n_offered, r, different, shift):
    logits, facts, offered, named = scene(r, n_labels, different, n_offered, shift)
    labels = np.resize(np.flatnonzero(named), r)
    rows = [
        {
            "item": 0,
            "question": "named",
            "offered": offered,
            "named": np.arange(n_labels) == label,
            "asked_for": 1,
        }
        for label in labels
    ]
    a, b = cases_of(logits, facts, 0.0)
    expected = by_counts(a, b, offered, named, lambda n: 1 / n**r)
    answers = container([facts, *rows], 1, n_labels)
    value, _ = found(logits, answers)
    assert value == pytest.approx(float(expected), rel=1e-12, abs=1e-8)


def by_quadrature(a, b, weights, offered, named, n_digits=25):
    """log P of one naming of some labels by propensities, by mpmath's doubly exponential rule."""
    p, q = a / (a + b), b / (a + b)
    with mpmath.workdps(n_digits):
        chosen = [mpmath.mpf(w) for w in weights[named]]
        others = [
            tuple(map(mpmath.mpf, of)) for of in np.column_stack([p, q, weights])[offered & ~named]
        ]

        def integrand(tau):  # t = exp(-tau)
            t = mpmath.exp(-tau)
            powers = [t**w for w in chosen]
            last = mpmath.fsum(
                w * power * mpmath.fprod(1 - other for j, other in enumerate(powers) if j != i)
                for i, (w, power) in enumerate(zip(chosen, powers, strict=True))
            )
            return last * mpmath.fprod(x + y * t**w for x, y, w in others)

        # The first label comes to mind at a tau of about 1 / rate.
        rate = (weights * np.where(named, 1, q))[offered].sum()
        ends = [mpmath.mpf(10) ** power / rate for power in range(-2, 4)]
        integral, error = mpmath.quad(integrand, [0, *ends, mpmath.inf], error=True)
        assert error < 1e-12 * integral
        return float(mpmath.log(integral) + np.log(b[named]).sum() + np.log((a + b)[~named]).sum())


@pytest.mark.parametrize(
    ("n_labels", "n_offered", "m", "sd", "shift"),
    [
        pytest.param(100, 100, 1, 1.0, -2.0, marks=pytest.mark.slow),
        (100, 40, 1, 0.5, 3.0),
        (60, 60, 3, 1.0, -1.0),
        (60, 50, 5, 0.7, 0.0),
        pytest.param(300, 300, 1, 1.0, -4.0, marks=pytest.mark.slow),
    ],
)
def test_propensities_by_arithmetic_of_many_digits(n_labels, n_offered, m, sd, shift):
    logits, facts, offered, named = scene(5, n_labels, m, n_offered, shift)
    weights = np.exp(sd * np.random.default_rng(m).normal(size=n_labels))
    row = {"item": 0, "question": "named", "offered": offered, "named": named, "asked_for": m}
    a, b = cases_of(logits, facts, 0.1)
    expected = by_quadrature(a, b, weights, offered, named)
    value, _ = found(
        logits, container([facts, row], 1, n_labels), error_rates=[0.0, 0.1], propensities=weights
    )
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-8)
