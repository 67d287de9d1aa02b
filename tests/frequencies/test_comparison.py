"""Two systems, and a second person: by simulation, by hand, and what is refused."""

import numpy as np
import pytest
from scipy import stats
from tests.frequencies.test_strata import asked_about, half_and_half, world
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import audit_machine, compare_audits, compare_with_second_person


def audited(seed, n=400, names=None):
    Y, machine = world(n, 6, seed=seed, missed=0.15, invented=0.1)
    pairs = half_and_half(Y, machine, 150, np.random.default_rng(seed))
    return Y, audit_machine(asked_about(Y, *pairs, label_names=names), machine)


def test_intervals_of_differences_hold():
    held, whole = [], []
    for seed in range(0, 40, 2):
        (first, of_first), (second, of_second) = audited(seed), audited(seed + 1)
        compared = compare_audits(of_first, of_second)
        truth = first.mean(axis=0) - second.mean(axis=0)
        low, high = compared.differences.intervals.T
        held.append((low - 1e-9 <= truth) & (truth <= high + 1e-9))
        _, low, high = compared.differences.overall
        whole.append(low <= truth.sum() <= high)
        gaps = of_first.frequencies.values - of_second.frequencies.values
        np.testing.assert_allclose(compared.differences.values, gaps, atol=0.03)
    assert 0.91 < np.mean(held) <= 0.995
    assert np.mean(whole) > 0.85


def test_labels_are_matched_by_their_names_and_the_order_changes_signs_only():
    (_, first), (_, second) = audited(0, names=[*"abcdef"]), audited(1, names=[*"fedcba"])
    there, back = compare_audits(first, second), compare_audits(second, first)
    assert there.label_names == [*"abcdef"]
    # Draws are paired anew, so figures agree as well as draws can.
    of_back = back.differences.values[::-1]
    np.testing.assert_allclose(there.differences.values, -of_back, atol=0.01)
    np.testing.assert_allclose(there.probabilities, 1 - back.probabilities[::-1], atol=0.03)
    assert len(there.lines()) == 7
    itself = compare_audits(first, first)
    assert (np.abs(itself.probabilities - 0.5) < 0.05).all()
    assert all("no difference" in line for line in itself.lines()[:6])
    with raises(InputError, "'f'"):
        compare_audits(first, audited(2, names=[*"abcdeg"])[1])


def two_people(Y, items, labels, wrong, rng, names=(0, 1)):
    marks = np.eye(Y.shape[1], dtype=np.uint8)[labels]
    said = [(Y[items, labels] ^ (rng.random(len(items)) < wrong))[:, np.newaxis] for _ in names]
    return Answers.from_arrays(
        relevant=np.concatenate([marks * each for each in said]),
        absent=np.concatenate([marks * (1 - each) for each in said]),
        question="asked",
        item=np.tile(items, len(names)),
        n_items=len(Y),
        annotator=np.repeat(names, len(items)),
    )


def test_agreement_with_a_second_person_holds_and_its_verdict_is_right():
    held, verdicts = [], {0.05: [], 0.3: []}
    for seed in range(25):
        rng = np.random.default_rng(seed)
        Y = (rng.random((500, 4)) < [0.1, 0.3, 0.5, 0.8]).astype(np.uint8)
        for errs, told in verdicts.items():
            machine = Y ^ (rng.random(Y.shape) < errs)
            pairs = half_and_half(Y, machine, 200, rng)
            compared = compare_with_second_person(two_people(Y, *pairs, 0.1, rng), machine)
            right = (machine == Y).mean()
            truth = 0.82, 0.9 * right + 0.1 * (1 - right)
            rates = (compared.people, compared.machine, compared.differences)
            for rate, value in zip(rates, (*truth, truth[1] - truth[0]), strict=True):
                held.append(rate.overall[1] <= value <= rate.overall[2])
            told.append(compared.verdict)
            assert compared.verdict in compared.lines()[0]
    assert 0.9 < np.mean(held) <= 0.99
    assert "worse" not in " ".join(verdicts[0.05])
    assert np.mean(["worse" in each for each in verdicts[0.3]]) > 0.95


def test_with_one_stratum_agreement_is_a_beta_distribution():
    Y, rng = np.ones((60, 1), dtype=np.uint8), np.random.default_rng(0)
    items, labels = np.arange(40), np.zeros(40, dtype=np.intp)
    answers = two_people(Y, items, labels, 0.2, rng)
    compared = compare_with_second_person(answers, np.ones(Y.shape))
    n_yes = np.bincount(answers.item, answers.relevant.toarray()[:, 0])
    n_same = int((n_yes != 1).sum())
    beta = stats.beta(n_same + 2 / 3, 40 - n_same + 1 / 3)
    np.testing.assert_allclose(compared.people.overall, beta.ppf([0.5, 0.025, 0.975]), atol=0.015)
    assert compared.n_pairs.tolist() == [40]
    few = compare_with_second_person(answers, np.ones(Y.shape), least_pairs=41)
    assert np.isnan(few.people.values).all()
    assert len(few.lines()) == 1


@pytest.mark.parametrize("names", [(0,), (0, 0), (-1, -1), (-1, 0)])
def test_who_is_no_second_person_is_refused(names):
    Y, rng = np.ones((20, 1), dtype=np.uint8), np.random.default_rng(0)
    answers = two_people(Y, np.arange(20), np.zeros(20, dtype=np.intp), 0.0, rng, names)
    with raises(InputError, "second"):
        compare_with_second_person(answers, np.ones(Y.shape))
