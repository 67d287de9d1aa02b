"""What features tell: by the definition of the area, and of labels that chance alone decides."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.simulate import draw_answers
from complabel.trust import area, features_tell

NAMES = ("sea", "night", "rare")


def answers_of(Y, **how):
    return Answers.from_arrays(relevant=Y, absent=1 - Y, label_names=NAMES, **how)


@pytest.fixture(scope="module")
def drawn():
    """Items of which a model knows the first label, and chance decides the others."""
    rng = np.random.default_rng(0)
    p = np.column_stack([rng.random(120), rng.uniform(0.2, 0.4, 120), rng.uniform(0, 0.04, 120)])
    Y = rng.random(p.shape) < np.column_stack([p[:, 0], *np.full((2, 120), [[0.3], [0.0]])])
    Y[:2, 2] = True
    return p, Y.astype(np.uint8)


def test_figures_are_shares_of_pairs(drawn):
    p, Y = drawn
    told = features_tell(answers_of(Y), p)
    assert told.score == pytest.approx(roc_auc_score(Y.ravel(), p.ravel()))
    alone = np.broadcast_to(p.mean(axis=0), p.shape)
    assert told.guess == pytest.approx(roc_auc_score(Y.ravel(), alone.ravel()))
    for k, each in enumerate(told.labels.values()):
        assert each.value == pytest.approx(roc_auc_score(Y[:, k], p[:, k]))
        assert (each.n_yes, each.n_no) == (Y[:, k].sum(), 120 - Y[:, k].sum())
    assert {name: each.told for name, each in told.labels.items()} == {
        "sea": True, "night": False, "rare": None,
    }  # fmt: skip
    assert "nothing of night, as far" in told.sentence()


def test_models_of_folds_are_compared_with_their_own_guesses(drawn):
    """One model says less of all labels; the order beside its own guess stays, the pooled not."""
    p, Y = 0.35 + 0.3 * drawn[0], drawn[1]
    folds = np.arange(120) % 2
    odds = p / (1 - p) * np.where(folds, 9.0, 1.0)[:, np.newaxis]
    shifted = features_tell(answers_of(Y), odds / (1 + odds), folds=folds).labels["sea"]
    apart = features_tell(answers_of(Y), p, folds=folds).labels
    assert abs(shifted.value - apart["sea"].value) < 0.03
    assert roc_auc_score(Y[:, 0], odds[:, 0]) < apart["sea"].value - 0.1
    one = features_tell(answers_of(Y), p).labels["night"]
    twice = (apart["night"].high - apart["night"].low) / (one.high - one.low)
    assert twice == pytest.approx(np.sqrt(2), abs=0.1)


def test_the_interval_holds_what_newcombe_says(drawn):
    """The ends solve |value - end| = z * error(end), with Hanley and McNeil's error."""
    p, Y = drawn
    each = features_tell(answers_of(Y), p).labels["sea"]
    for end in (each.low, each.high):
        more = (each.n_yes + each.n_no) / 2 - 1
        excess = 1 + more * ((1 - end) / (2 - end) + end / (1 + end))
        error = np.sqrt(end * (1 - end) * excess / (each.n_yes * each.n_no))
        assert abs(each.value - end) == pytest.approx(stats.norm.ppf(0.975) * error, abs=0.002)


def test_the_area_and_its_error_are_those_of_other_algorithms():
    rng = np.random.default_rng(0)
    item = rng.integers(60, size=200)
    scores, applies = rng.normal(size=200).round(1), rng.random(200) < 0.3
    scores = scores + applies
    value, by_item = area(scores, applies, item)
    assert value == pytest.approx(roc_auc_score(applies, scores))
    # The jackknife over items leaves one out at a time.
    left_out = np.array(
        [roc_auc_score(applies[item != at], scores[item != at]) for at in np.unique(item)]
    )
    n = len(left_out)
    jackknife = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    assert np.sqrt((by_item**2).sum()) == pytest.approx(jackknife, rel=0.1)


def test_people_who_contradict_each_other_count_once(drawn):
    p, Y = drawn
    three = np.repeat(np.arange(120), 3)
    said = Y[three].copy()
    said[::3] = 1 - said[::3]  # two of three are right
    by_three = features_tell(answers_of(said, item=three, n_items=120), p)
    assert by_three.labels == features_tell(answers_of(Y), p).labels


def test_items_without_predictions_do_not_count_and_naming_tells_nothing_by_label(drawn):
    p, Y = drawn
    gaps = p.copy()
    gaps[60:] = np.nan
    part = features_tell(answers_of(Y[:60]), p[:60])
    assert features_tell(answers_of(Y), gaps).labels == part.labels
    lacking = ~Y.all(axis=1)
    named = features_tell(draw_answers(Y[lacking], random_state=0), p[lacking])
    assert (named.labels, named.sentence(), named.lines()) == ({}, "", [])
    with raises(InputError, "folds", "120 numbers"):
        features_tell(answers_of(Y), p, folds=[0])


def test_hopeless_labels_are_named_and_others_not():
    """Of 100 labels, 60 answers each: chance decides them, or the model knows them well."""
    rng = np.random.default_rng(1)
    Y = np.repeat(np.arange(60) < 20, 100).reshape(60, 100).astype(np.uint8)
    answers, noise = Answers.from_arrays(relevant=Y, absent=1 - Y), rng.random(Y.shape)
    hopeless = features_tell(answers, noise)
    assert len(hopeless.named(False)) >= 95
    assert hopeless.sentence().endswith("other features, or more answers?")
    assert features_tell(answers, (noise + Y) / 2).named(False) == []
    many = Answers.from_arrays(relevant=np.tile(Y, (9, 1)), absent=1 - np.tile(Y, (9, 1)))
    enough = features_tell(many, rng.random((540, 100)))
    assert enough.sentence().endswith("enough answers to see it: give other features")
    few = features_tell(answers[np.array([0, 1, 58, 59])], noise[[0, 1, 58, 59]])
    assert few.named(None) == list(few.labels)
