"""Thresholds from answers: beside counts, scikit-learn and all thresholds tried one by one."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import AnnotationError, InputError
from complabel.simulate import draw_answers
from complabel.trust import choose_thresholds
from complabel.trust._thresholds import Judged, for_precision

RNG = np.random.default_rng(0)
P = RNG.beta(0.4, [1.2, 0.8, 4.0, 0.5], (2000, 4))
Y = (RNG.random(P.shape) < P).astype(np.uint8)
# The classifier is sure of too little: chances are recalibrated, and order is all that counts.
SCORES = P / (P + 5 * (1 - P))


def asked(Y=Y, share=0.5, seed=0):
    return draw_answers(Y, question="asked", items_share=share, random_state=seed)


def predicted(found, scores=SCORES):
    return (scores >= found.values).astype(int)


def test_the_highest_f1_over_all_pairs_is_found_nearly():
    found = choose_thresholds(asked(), SCORES)
    assert found.aim == "F1"
    reached = f1_score(Y, predicted(found), average="micro")
    tried = [f1_score(Y, cut <= SCORES, average="micro") for cut in np.linspace(0.01, 0.9, 30)]
    assert reached > max(tried) - 0.01
    assert reached > f1_score(Y, SCORES >= 0.5, average="micro") + 0.1
    assert len(np.unique(found.values)) == 1
    assert not found.promised.any()
    assert found.estimates.f1.low < reached < found.estimates.f1.high
    assert found.remarks == ()


def test_it_is_said_where_the_highest_f1_comes_from_always_saying_yes():
    rng = np.random.default_rng(3)
    chance = np.array([0.1, 0.2, 0.1, 0.9])  # the last label applies to most items
    truth = (rng.random((2000, 4)) < chance).astype(np.uint8)
    nothing_told = chance + 0.001 * rng.random(truth.shape)
    found = choose_thresholds(asked(truth), nothing_told, by_label=True)
    assert predicted(found, nothing_told).mean() > 0.95
    (told,) = found.remarks
    assert told.startswith("0, 1, 2:")


def test_the_highest_f1_of_each_label_is_found_nearly():
    found = choose_thresholds(asked(), SCORES, by_label=True)
    assert found.alone.all()
    for label, cut in enumerate(found.values):
        scores, truth = SCORES[:, label], Y[:, label]
        best = max(f1_score(truth, scores >= cut) for cut in np.linspace(0.005, 0.9, 30))
        assert f1_score(truth, scores >= cut) > best - 0.03


def test_each_label_is_predicted_as_often_as_it_applies():
    known = np.array([0.0, 0.25, 0.1, 1.0])
    found = choose_thresholds(asked(), SCORES, match_frequencies=known)
    np.testing.assert_array_equal(predicted(found).sum(axis=0), [0, 500, 200, 2000])
    found = choose_thresholds(asked(), SCORES, match_frequencies=True)
    np.testing.assert_allclose(predicted(found).mean(axis=0), Y.mean(axis=0), atol=0.05)
    assert found.aim == "label frequencies"


def test_items_with_equal_probabilities_are_predicted_together_as_often_as_is_nearest():
    scores = np.repeat(
        [[0.9, 0.3, 0.3], [0.5, 0.3, 0.3], [0.2, 0.3, 0.3]], [300, 500, 1200], axis=0
    )
    said = asked(Y[:, :3])
    found = choose_thresholds(said, scores, match_frequencies=[0.3, 0.2, 0.7])
    np.testing.assert_array_equal(predicted(found, scores).sum(axis=0), [800, 0, 2000])


def test_rare_questions_weigh_more():
    said = asked()
    label, yes = said.offered.indices, np.diff(said.relevant.indptr) > 0
    chance = np.where(yes, 0.25, 0.15)
    found = choose_thresholds(replace(said, probability=chance), SCORES, precision=0.7)
    judged = Judged.sorted(SCORES[said.item, label], yes * 1.0, 1 / chance, np.arange(len(yes)))
    assert found.values == pytest.approx(for_precision(judged, 0.7, 0.05), rel=1e-12)
    assert found.values != pytest.approx(choose_thresholds(said, SCORES, precision=0.7).values)


def test_a_precision_and_a_recall_are_kept_over_all_pairs():
    said = asked(share=0.9)
    for least in (0.7, 0.8):
        found = choose_thresholds(said, SCORES, precision=least, confidence=0.999)
        assert found.promised.all()
        assert not found.alone.any()
        assert found.remarks == ()
        assert precision_score(Y, predicted(found), average="micro") >= least
        found = choose_thresholds(said, SCORES, recall=least, confidence=0.999)
        assert least <= recall_score(Y, predicted(found), average="micro") < least + 0.15


def test_a_higher_confidence_or_share_never_lowers_a_threshold_for_precision():
    said = asked()
    cuts = [choose_thresholds(said, P, recall=r).values[0] for r in (0.5, 0.7, 0.9)]
    assert cuts == sorted(cuts, reverse=True)
    sure = [choose_thresholds(said, P, recall=0.8, confidence=c).values[0] for c in (0.5, 0.9)]
    assert sure[0] > sure[1]


@pytest.mark.parametrize("aim", ["precision", "recall"])
def test_answers_that_are_given_twice_promise_nothing_more(aim):
    # At least 14 are needed: log(.05) / log(.8).
    few, enough = (
        Answers.from_table(
            {"item": range(n), "label": ["0"] * n, "answer": ["yes"] * n, "probability": [1.0] * n},
            items=range(20),
            label_names=["0"],
            question="asked",
        )
        for n in (13, 14)
    )
    scores = np.linspace(0.9, 0.95, 20)[:, np.newaxis]
    assert choose_thresholds(enough, scores, **{aim: 0.8}).promised.all()
    for said in (few, Answers.concatenate([few, few])):
        assert not choose_thresholds(said, scores, **{aim: 0.8}).promised.any()


def test_labels_with_enough_judgements_have_their_own_promise():
    """Of 0.8 with 99.9 %, at least 31 judged pairs to which the label applies are needed."""
    said = asked(share=0.4)
    found = choose_thresholds(said, SCORES, recall=0.8, by_label=True, confidence=0.999)
    yes = np.asarray(said.relevant.sum(axis=0)).ravel()
    np.testing.assert_array_equal(found.alone, yes >= 31)
    np.testing.assert_array_equal(found.alone, [True, True, False, True])
    assert found.remarks[0].startswith("2: too few judgements for a promise about each label")
    assert "2: a recall of 0.8 cannot be promised" in found.remarks[1]
    np.testing.assert_array_equal(found.promised, found.alone)
    for label in np.flatnonzero(found.promised):
        assert recall_score(Y[:, label], SCORES[:, label] >= found.values[label]) >= 0.8
    assert len(np.unique(found.values)) == 4


@pytest.mark.parametrize(
    ("of", "done", "shown"),
    [("precision", "no label is predicted", 0), ("recall", "all labels are predicted", 1)],
)
def test_what_cannot_be_promised_is_said_and_safe(of, done, shown):
    said = draw_answers(Y[:20], question="asked", random_state=0)
    found = choose_thresholds(said, SCORES[:20], **{of: 0.95})
    assert not found.promised.any()
    (remark,) = found.remarks
    # 0.95^58 is 0.051, and 0.95^59 is 0.048.
    assert "all labels together: a " + of + " of 0.95 cannot be promised from 20" in remark
    assert done in remark
    assert "at least 59 judgements" in remark
    assert (predicted(found, SCORES[:20]) == shown).all()


def test_the_arrays_of_the_caller_stay():
    p, before = SCORES.copy(), SCORES.copy()
    choose_thresholds(asked(), p, match_frequencies=True)
    np.testing.assert_array_equal(p, before)


WRONG = {
    "two aims": ({"precision": 0.9, "recall": 0.9}, "match_frequencies"),
    "a precision of 1": ({"precision": 1}, "precision"),
    "a recall of 0": ({"recall": 0.0}, "recall"),
    "confidence": ({"recall": 0.5, "confidence": 1}, "confidence"),
    "three frequencies": ({"match_frequencies": [0.5] * 3}, ("match_frequencies", "4")),
    "no frequency": ({"match_frequencies": [2.0] * 4}, ("match_frequencies", "4")),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(case):
    arguments, said = WRONG[case]
    with raises(InputError, said):
        choose_thresholds(asked(), SCORES, **arguments)


def test_other_shapes_and_answers_that_are_no_sample_are_refused():
    with raises(InputError, "shape (2000, 3)", "labels (2000, 4)"):
        choose_thresholds(asked(), SCORES[:, :3])
    with raises(AnnotationError, "--random-questions"):
        choose_thresholds(
            Answers.from_complementary(1 - Y[Y.all(axis=1) == 0]), SCORES[Y.all(axis=1) == 0]
        )
