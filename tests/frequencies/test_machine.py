"""How good a machine is: rates, verdicts, and what more answers would give."""

import json

import numpy as np
import pytest
from tests.frequencies.test_strata import asked_about, half_and_half, world
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.frequencies import audit_machine, estimate_label_frequencies


@pytest.fixture(scope="module")
def found():
    Y, machine = world(bad=2, seed=3)
    items, labels = half_and_half(Y, machine, 600, np.random.default_rng(3))
    return Y, machine, audit_machine(asked_about(Y, items, labels), machine)


def test_frequencies_are_those_of_the_estimate(found):
    Y, machine, audited = found
    items, labels = half_and_half(Y, machine, 600, np.random.default_rng(3))
    alone = estimate_label_frequencies(asked_about(Y, items, labels), predictions=machine)
    np.testing.assert_array_equal(audited.frequencies.values, alone.values)
    np.testing.assert_array_equal(audited.frequencies.intervals, alone.intervals)
    assert audited.cardinality[0] == pytest.approx(alone.cardinality)
    assert audited.cardinality[1] < Y.sum(axis=1).mean() < audited.cardinality[2]


def test_labels_that_the_machine_invents_are_called_bad(found):
    Y, machine, audited = found
    precision = (Y * machine).sum(axis=0) / machine.sum(axis=0)
    assert precision.argmin() == 1
    assert precision[1] < 0.1
    assert audited.unusable[1]
    assert not (audited.usable & audited.unusable).any()
    np.testing.assert_allclose(audited.machine_shares, machine.mean(axis=0))
    low, high = audited.precision.intervals.T
    assert ((low <= precision) & (precision <= high)).mean() > 0.8
    value, least, most = audited.precision.overall
    assert least < (Y * machine).sum() / machine.sum() < most
    assert least < value < most


def test_missed_is_what_recall_leaves(found):
    audited = found[2]
    np.testing.assert_allclose(audited.recall.values + audited.missed.values, 1, atol=1e-3)


def test_so_many_more_answers_halve_the_interval(found):
    Y, machine, audited = found
    label = int(audited.frequencies.standard_errors.argmax())
    rng = np.random.default_rng(4)
    items, labels = half_and_half(Y, machine, 600, np.random.default_rng(3))
    # Neyman's division of the answers is between both parts; twice as many surely suffice.
    n = int(audited.n_more[label])
    pools = [np.flatnonzero(machine[:, label] == word) for word in (0, 1)]
    more = [rng.choice(pool, min(n, len(pool)), replace=False) for pool in pools]
    items = np.concatenate([items, *more])
    labels = np.concatenate([labels, np.full(sum(map(len, more)), label)])
    then = audit_machine(asked_about(Y, items, labels), machine)
    errors = [each.frequencies.standard_errors[label] for each in (audited, then)]
    assert 0.25 < errors[1] / errors[0] < 0.65


def test_the_figures_can_be_written_as_json(found):
    audited = found[2]
    told = json.loads(json.dumps(audited.as_dict(), allow_nan=False))
    assert told["n_answers"] == 600
    assert list(told["labels"]) == audited.label_names
    assert told["labels"]["0"]["precision"]["value"] == pytest.approx(audited.precision.values[0])


def test_a_label_that_is_never_said_has_no_precision():
    Y, machine = world(500, 3, seed=1)
    machine[:, 1] = 0
    Y[:, 1] = np.arange(500) == 7  # it may apply to nothing, as far as people can tell
    items, labels = np.arange(90) * 5, np.arange(90) % 3
    audited = audit_machine(asked_about(Y, items, labels), machine)
    assert np.isnan(audited.precision.values[1])
    assert audited.as_dict()["labels"]["1"]["precision"]["value"] is None
    assert not audited.usable[1]
    np.testing.assert_array_equal(audited.recall.intervals[1], 0)
    assert audited.tells_nothing.tolist() == [False, True, False]
    said = np.where([False, False, True], np.nan, np.where([True, False, False], 1.0, machine))
    constant = audit_machine(asked_about(Y, items, labels), said)
    assert constant.tells_nothing.all()
    assert "no of 1; yes of 0; nothing of 2" in constant.about_nothing()
    assert audit_machine(asked_about(Y, items, labels), 1 - Y).about_nothing() == ""


def test_answers_about_no_pair_are_refused():
    Y, machine = world(50, 3)
    with raises(InputError, "--against"):
        audit_machine(asked_about(Y, [], []), machine)


@pytest.mark.parametrize("question", ["ticked", "asked"])
def test_a_sum_over_labels_that_err_together_is_as_uncertain_as_they_are(question):
    # Nine labels that apply to the same items, of which a machine says the same: right in .7.
    rng = np.random.default_rng(0)
    Y = np.repeat((rng.random((900, 1)) < 0.5).astype(np.uint8), 9, axis=1)
    machine = np.where(rng.random((900, 1)) < 0.3, 1 - Y, Y)
    asked = np.ones((180, 9), dtype=np.uint8)
    if question == "asked":
        asked = np.tile(np.eye(9, dtype=np.uint8), (20, 1))
    items = rng.permutation(900)[:180]
    answers = Answers.from_arrays(
        relevant=asked * Y[items],
        absent=asked * (1 - Y[items]),
        question=question,
        item=items,
        n_items=900,
    )
    found = audit_machine(answers, machine.astype(float))
    # Half of what was asked is about the machine's yes, half about its no; no pair is asked twice.
    n, n_labels, rest = (90, 9, 0.8) if question == "ticked" else (10, 3, 0.98)
    width = 2 * 1.96 * np.sqrt(0.21 / n * rest)
    assert np.ptp(found.cardinality[1:]) == pytest.approx(n_labels * width / np.sqrt(2), rel=0.1)
    of_all = width * n_labels / 9
    assert np.ptp(found.precision.overall[1:]) == pytest.approx(of_all, rel=0.15)
    for rate in (found.recall, found.missed, found.invented):
        both = of_all * np.hypot(0.3, 0.7)
        assert np.ptp(rate.overall[1:]) == pytest.approx(both, rel=0.15)
