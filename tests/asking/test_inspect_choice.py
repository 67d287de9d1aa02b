"""Whether labels are named with equal chances: found where they are not, and only there."""

import numpy as np
import pytest
from scipy import optimize, stats
from tests.asking.test_inspect import draw_labels

from complabel.answers import Answers
from complabel.asking import _choice, inspect_answers
from complabel.asking._choice import KnownChoices, Proportional
from complabel.simulate import draw_answers

UNEQUAL = [0.3, 3.0, 1.0, 0.5, 2.0]


def with_audit(question, seed, *, propensities=None, share=0.4):
    Y = draw_labels(900, seed=seed + 1000)
    named = draw_answers(Y, question=question, propensities=propensities, random_state=seed)
    asked = draw_answers(Y, question="asked", items_share=share, random_state=seed + 500)
    return Answers.concatenate([named, asked])


def with_everything_known(question, seed, *, name=None):
    """Somebody ticked all labels of each item, somebody else names one."""
    Y = draw_labels(900, seed=seed + 1000)
    ticked = draw_answers(Y, question="ticked", random_state=seed + 500)
    named = draw_answers(Y, question=question, random_state=seed) if name is None else name(Y)
    return Answers.concatenate([named, ticked])


def test_of(answers, name):
    (found,) = [test for test in inspect_answers(answers).tests if test.name == name]
    return found


test_of.__test__ = False


@pytest.mark.parametrize("question", ["named", "menu-2", "menu-3"])
@pytest.mark.parametrize("seed", range(1))
def test_a_uniform_choice_is_not_blamed(question, seed):
    seen = inspect_answers(with_audit(question, seed))
    assert not any(test.labels for test in seen.tests), "no label stands out"
    assert seen.finding("choice-not-uniform") is None
    assert seen.finding("choice-depends") is None


@pytest.mark.parametrize("question", ["named", "menu-2", "menu-3"])
@pytest.mark.parametrize("seed", range(1))
def test_an_unequal_choice_is_found(question, seed):
    seen = inspect_answers(with_audit(question, seed, propensities=UNEQUAL))
    found = seen.finding("choice-not-uniform")
    assert found.severity == "warning"
    assert "times as readily as '0'" in found.what  # its propensity is the least


@pytest.mark.slow
@pytest.mark.parametrize("question", ["named", "menu-2", "menu-4"])
def test_p_values_are_uniform_under_a_uniform_choice(question):
    p_values = [
        test_of(with_audit(question, seed, share=0.2), _choice.EXPECTED).p_value
        for seed in range(12)
    ]
    assert stats.kstest(p_values, "uniform").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("question", ["named", "menu-3"])
@pytest.mark.parametrize("name", [_choice.KNOWN, _choice.DEPENDS])
def test_tests_on_known_labels_keep_their_level(question, name):
    found = [test_of(with_everything_known(question, seed), name) for seed in range(12)]
    p_values = [test.p_value for test in found]
    assert min(p_values) > 1e-3
    if name == _choice.KNOWN:
        assert stats.kstest(p_values, "uniform").pvalue > 0.01


def named_of_known(absent):
    """Of 40 items alike, label 0 is named 28 times and label 1 otherwise; all labels are known."""
    absent = np.tile(absent, (40, 1))
    known = Answers.from_arrays(absent=absent, relevant=1 - absent, question="ticked")
    named = np.eye(3, dtype=int)[np.repeat([0, 1], [28, 12])]
    return Answers.concatenate([Answers.from_arrays(named=named), known])


def test_known_labels_give_pearsons_test_by_hand():
    found = test_of(named_of_known([1, 1, 0]), _choice.KNOWN)
    expected = stats.chisquare([28, 12])
    assert (found.statistic, found.dof) == (pytest.approx(expected.statistic), 1)
    assert found.p_value == pytest.approx(expected.pvalue)


def test_what_is_forced_or_a_mistake_tells_nothing():
    seen = inspect_answers(named_of_known([1, 0, 0]))
    assert _choice.KNOWN not in {test.name for test in seen.tests}


def name_zero_where_four_applies(seed):
    def name(Y):
        rng = np.random.default_rng(seed)
        weights = (1 - Y) * (1 + 4.0 * np.outer(Y[:, 4], [1, 0, 0, 0, 0]))
        chosen = weights.cumsum(axis=1) < rng.random((len(Y), 1)) * weights.sum(axis=1)[:, None]
        marks = np.zeros_like(Y)
        marks[np.arange(len(Y)), chosen.sum(axis=1)] = 1
        return Answers.from_arrays(named=marks)

    return name


@pytest.mark.parametrize("seed", range(2))
def test_a_choice_that_depends_on_other_labels_is_found(seed):
    answers = with_everything_known("named", seed, name=name_zero_where_four_applies(seed + 70))
    seen = inspect_answers(answers)
    assert "0 more where 4 applies" in seen.finding("choice-depends").what


def test_an_unequal_choice_does_not_count_as_one_that_depends():
    Y = draw_labels(1500, seed=1000)
    named = draw_answers(Y, propensities=UNEQUAL, random_state=1)
    ticked = draw_answers(Y, question="ticked", random_state=2)
    seen = inspect_answers(Answers.concatenate([named, ticked]))
    assert "named against what could be named" in seen.finding("choice-not-uniform").what
    assert seen.finding("choice-depends") is None


def test_scores_and_information_are_those_of_enumeration():
    could = np.array([[1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 1]], dtype=bool)
    n_offered, log_w, r = np.array([4, 4, 4]), np.array([0.3, -1.0, 0.5, 0.2]), 0.3

    def log_chance(parameters, row, label):
        q = np.exp(parameters[:-1]) * could[row]
        chance = q[label] / q.sum() + parameters[-1] / 4
        return np.log(chance / (1 + parameters[-1] * could[row].sum() / 4))

    at, expected = np.append(log_w, r), np.zeros((5, 5))
    for row, label in np.argwhere(could):
        slope = optimize.approx_fprime(at, log_chance, 1e-7, row, label)
        expected += np.exp(log_chance(at, row, label)) * np.outer(slope, slope)
    named = np.array([0, 2, 1])
    choices = KnownChoices(could, ~could, named, n_offered, 0.1, 1.0)
    found = Proportional._at(choices, log_w, r)
    assert found.information == pytest.approx(expected, abs=1e-6)
    slopes = [
        optimize.approx_fprime(at, log_chance, 1e-7, row, label)[:-1]
        for row, label in enumerate(named)
    ]
    assert found.residual == pytest.approx(np.array(slopes), abs=1e-6)


def test_chances_on_a_menu_are_those_of_enumeration():
    p = np.array([0.2, 0.5, 0.9])
    expected = np.zeros(3)
    for bits in np.ndindex(2, 2, 2):
        chance = np.where(bits, p, 1 - p).prod()
        absent = 1 - np.array(bits)
        expected += chance * absent / max(absent.sum(), 1)
    assert _choice._chances(p[np.newaxis])[0] == pytest.approx(expected)
