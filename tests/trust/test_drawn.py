"""Figures from questions that were drawn by what a machine says, beside the truth."""

from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import raises

from complabel.answers import Answers
from complabel.asking import inspect_answers, suggest_questions
from complabel.errors import AnnotationError
from complabel.frequencies import audit_machine, estimate_label_frequencies
from complabel.trust import estimate_metrics

N, K = 2000, 12
ITEMS, LABELS = [f"t{at}" for at in range(N)], [f"L{at}" for at in range(K)]


def world(seed, scores=False):
    """The truth, and a machine of recall .7 and precision .85, or its scores."""
    rng = np.random.default_rng(seed)
    often = np.geomspace(0.03, 0.3, K)
    Y = (rng.random((N, K)) < often).astype(np.uint8)
    invented = often * 0.7 * 0.15 / 0.85 / (1 - often)
    machine = np.where(Y, rng.random(Y.shape) < 0.7, rng.random(Y.shape) < invented).astype(float)
    if scores:  # chances that are right
        logit = rng.normal(-2.5, 2.0, size=Y.shape)
        machine = 1 / (1 + np.exp(-logit))
        Y = (rng.random(Y.shape) < machine).astype(np.uint8)
    return Y, machine


def ask(Y, known, n, machine, seed, kept=None):
    """People answer right; somebody may stop after some."""
    table = suggest_questions(known, n, against=machine, random_state=seed)[:kept]
    rows = zip(table["item"], table["label"], strict=True)
    table["answer"] = [["no", "yes"][Y[int(item[1:]), int(label[1:])]] for item, label in rows]
    new = Answers.from_table(table, items=ITEMS, label_names=LABELS)
    return Answers.concatenate([known, new])


def nothing():
    return Answers.from_table({"item": [], "label": []}, items=ITEMS, label_names=LABELS)


def sitting(seed, *, scores=False, kept=None):
    Y, machine = world(seed, scores)
    said = nothing()
    for n in (200, 60):
        said = ask(Y, said, n, machine, seed, kept)
    return Y, machine, said


def figures(Y, predicted):
    right = (Y * predicted).sum()
    return {"precision": right / predicted.sum(), "recall": right / Y.sum(), "share": Y.mean()}


@pytest.mark.parametrize(
    ("how", "least"), [({}, 0.84), ({"scores": True}, 0.84), ({"kept": 100}, 0.7)]
)
def test_intervals_hold_the_truth_and_estimates_lie_about_it(how, least):
    held, off, widths, cardinality = [], [], [], []
    for seed in range(25):
        Y, machine, said = sitting(seed, **how)
        p = machine if how.get("scores") else np.where(machine > 0, 0.8, 0.04)
        found, truth = estimate_metrics(said, p), figures(Y, p >= 0.5)
        ends = [(getattr(found, name), true) for name, true in truth.items()]
        held.append([each.low <= true <= each.high for each, true in ends])
        off.append([each.value - true for each, true in ends])
        widths += [each.high - each.low for each, _ in ends]
        known = inspect_answers(said).knowledge
        cardinality.append((known.cardinality - Y.sum(axis=1).mean()) / known.error)
    assert min(widths) > 0.005
    assert (np.mean(held, axis=0) >= least).all()
    assert (np.abs(np.mean(off, axis=0)) < 3 * np.std(off, axis=0) / 5 + 0.005).all()
    assert np.mean(np.abs(cardinality) < 2.5) >= 0.84


def test_strata_of_few_answers_stand_for_their_pairs():
    """As a sum over pairs, with one answer about a stratum, and two or none."""
    drawn = ["machine 0a1b2c3d yes 1/10", *["machine 0a1b2c3d no 2/90"] * 2]
    draws = {"drawn": drawn, "item": [0, 1, 2], "n_items": 100, "question": "asked"}
    said = Answers.from_arrays(
        relevant=[[1, 0], [0, 0], [0, 0]], absent=[[0, 0], [1, 0], [1, 0]], **draws
    )
    assert estimate_metrics(said, np.full((100, 2), 0.5)).share.value == pytest.approx(0.1)
    few = replace(said, drawn=np.array(["machine 0a1b2c3d yes 0.5/10", *drawn[1:]]))
    assert estimate_metrics(few, np.full((100, 2), 0.5)).share.value == pytest.approx(2 / 11)
    other = [each.replace("0a1b", "ffff") for each in drawn]
    two = Answers.concatenate([said, replace(said, drawn=np.array(other))])
    assert estimate_metrics(two, np.full((100, 2), 0.5)).share.value == pytest.approx(0.1)


def test_the_machines_own_draws_are_random_within_its_strata_and_others_keep_their_chances():
    Y, machine, said = sitting(0)
    blank = replace(said, drawn=np.full(said.n_answers, ""))
    own, before = (estimate_label_frequencies(of, predictions=machine) for of in (said, blank))
    np.testing.assert_array_equal(own.values, before.values)
    assert audit_machine(said, machine).n_asked.sum() == 260
    order, names = np.random.default_rng(0).permutation(N), np.array(ITEMS, dtype=object)
    turned = replace(said[order], item_names=names[order])
    again = estimate_label_frequencies(turned, predictions=machine[order])
    np.testing.assert_allclose(again.values, own.values)
    other = np.where(np.random.default_rng(1).random(Y.shape) < 0.1, 1 - Y, Y).astype(float)
    assert audit_machine(said, other).n_asked.sum() == 212  # 48 followed earlier answers


def test_no_advice_to_say_that_chance_drew_what_the_table_says_was_not():
    Y, _, said = sitting(0)
    p = np.full(Y.shape, 0.5)
    for drawn in ("rule", "aimed"):
        with pytest.raises(AnnotationError) as refusal:
            estimate_metrics(replace(said, drawn=np.full(said.n_answers, drawn)), p)
        assert "--random-questions" not in str(refusal.value)
    with raises(AnnotationError, "--random-questions"):
        estimate_metrics(replace(said, drawn=np.full(said.n_answers, "")), p)
    assert "random-questions" not in str(inspect_answers(said).findings)
