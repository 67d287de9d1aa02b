"""An audit: random yes/no questions about the training part of each fold."""

import dataclasses
import inspect

import numpy as np
import pytest

from complabel.answers import Answers
from complabel.datasets import MultiLabelDataset, make_synthetic
from complabel.errors import InputError
from complabel.methods import PriorClassifier
from complabel.studies import (
    Draw,
    Row,
    benchmark_plan,
    plan_units,
    split_folds,
)
from complabel.studies._fold import fit_fold
from complabel.studies._labels import draw_audit, draw_labels
from complabel.studies._plan_files import _make_draw as make_draw

DATASET = make_synthetic(150, n_labels=5, random_state=0)
PRIOR = Row(method="prior")
QUIET = pytest.mark.filterwarnings(
    "ignore::complabel.answers.IgnoredAnswersWarning",
    "ignore::complabel.answers.UnansweredRowWarning",
    "ignore::complabel.answers.UnchosenLabelWarning",
)


def fold_of(number, n_folds=3, seed=3):
    return split_folds(DATASET, n_folds=n_folds, seed=seed)[number]


def audit(size, fold=0, seed=3):
    return draw_audit(DATASET, fold_of(fold)[0], size, fold=fold, seed=seed)


def judged(answers):
    """The pairs of an item and a label that were asked about, with what was said."""
    yes, no = answers.relevant.toarray(), answers.absent.toarray()
    assert ((yes + no).sum(axis=1) == 1).all()
    return {
        (item, label): "yes" if yes[at, label] else "no"
        for at, item in enumerate(answers.item)
        for label in np.flatnonzero(yes[at] + no[at])
    }


@pytest.fixture
def seen(monkeypatch):
    """What fit is given, and the arrays in the frame of its caller."""
    seen = []
    fit = PriorClassifier.fit

    def spying(self, X, y, **named):
        seen.append((X, y, named, dict(inspect.currentframe().f_back.f_locals)))
        return fit(self, X, y, **named)

    monkeypatch.setattr(PriorClassifier, "fit", spying)
    return seen


@pytest.mark.parametrize("fold", range(3))
def test_an_audit_tells_the_truth_about_pairs_of_the_training_part(fold):
    train, test = fold_of(fold)
    answers = audit(60, fold)
    assert (answers.shape, answers.n_answers) == (DATASET.Y.shape, 60)
    assert set(answers.item) <= set(train)
    assert not set(answers.item) & set(test)
    found = judged(answers)
    assert len(found) == 60  # each pair at most once
    for (item, label), said in found.items():
        assert said == ("yes" if DATASET.Y[item, label] else "no")
    assert {*found.values()} == {"yes", "no"}
    assert (answers.question == "asked").all()
    np.testing.assert_allclose(answers.probability, 1 / 5, rtol=1e-12)
    assert (answers.n_offered == 1).all()


def test_the_largest_audit_asks_about_every_pair_once_and_none_is_larger():
    train, _ = fold_of(0)
    answers = audit(len(train) * 5)
    assert {*judged(answers)} == {(item, label) for item in train for label in range(5)}


def test_a_smaller_audit_is_part_of_a_larger_one():
    small, large = judged(audit(50)), judged(audit(200))
    assert small.items() <= large.items()
    assert len(large) == 200


def test_folds_and_seeds_have_audits_of_their_own():
    train, _ = fold_of(0)
    found = [
        {*judged(draw_audit(DATASET, train, 40, fold=fold, seed=seed))}
        for fold, seed in ((0, 3), (1, 3), (0, 4))
    ]
    assert found[0] == {*judged(audit(40))}
    assert found[0] != found[1] != found[2] != found[0]


def test_all_pairs_are_as_likely():
    train = np.arange(4)
    dataset = dataclasses.replace(DATASET, X=DATASET.X[:4], Y=DATASET.Y[:4])
    counts = np.zeros((4, 5))
    for seed in range(100):
        for pair in judged(draw_audit(dataset, train, 5, fold=0, seed=seed)):
            counts[pair] += 1
    # 25 expected, with a standard deviation of sqrt(100 * 1/4 * 3/4).
    assert np.abs(counts - 25).max() < 4.5 * np.sqrt(18.75)


WAYS = [
    {},
    {"scheme": "biased"},
    {"propensity_sd": 1.0, "error_rate": 0.1},
    {"question": "menu-2"},
    {"question": "asked", "items_share": 0.5},
]


@QUIET
@pytest.mark.parametrize("settings", WAYS, ids=str)
def test_fit_is_given_the_draw_as_it_was_and_the_audit_of_its_fold(seen, settings):
    plain = draw_labels(DATASET, make_draw(settings), seed=3)
    if not isinstance(plain, Answers):
        plain = Answers.from_complementary(plain)
    labels = draw_labels(DATASET, make_draw({**settings, "audit": 30}), seed=3)
    assert isinstance(labels, Answers)
    for fold in range(3):
        train, _ = fold_of(fold)
        fit_fold(DATASET, labels, PRIOR, fold=fold, folds=3, seed=3, audit=30)
        X, y, named, reachable = seen[-1]
        assert not named
        np.testing.assert_array_equal(X, DATASET.X[train])
        expected = Answers.concatenate([plain, audit(30, fold)])[train]
        for name in ("item", "question", "probability", "asked_for", "all_apply"):
            np.testing.assert_array_equal(getattr(y, name), getattr(expected, name))
        for name in ("named", "absent", "relevant", "offered"):
            one, two = getattr(y, name).toarray(), getattr(expected, name).toarray()
            np.testing.assert_array_equal(one, two)
        assert not any(isinstance(value, MultiLabelDataset) for value in reachable.values())
        for array in (*reachable.values(), *vars(y).values()):
            if isinstance(array, np.ndarray):
                assert not np.shares_memory(array, DATASET.Y)


@QUIET
def test_what_an_audit_says_changes_with_the_truth_about_its_pairs_alone(seen):
    labels = draw_labels(DATASET, make_draw({"question": "none", "audit": 40}), seed=3)
    pairs = judged(audit(40))
    Y = 1 - DATASET.Y
    Y[tuple(np.array([*pairs]).T)] = [said == "yes" for said in pairs.values()]
    for dataset in (DATASET, dataclasses.replace(DATASET, Y=Y)):
        fit_fold(dataset, labels, PRIOR, fold=0, folds=3, seed=3, audit=40)
    for name in ("relevant", "absent", "offered"):
        one, two = (getattr(y, name).toarray() for _, y, _, _ in seen)
        np.testing.assert_array_equal(one, two)


@QUIET
def test_known_labels_come_beside_an_audit(seen):
    row = PRIOR.model_copy(update={"relevant_per_row": 1})
    drawn = draw_labels(DATASET, Draw(name="u"), seed=3)
    fit_fold(DATASET, drawn, row, fold=0, folds=3, seed=3, audit=20)
    _, y, named, _ = seen[-1]
    assert not named
    in_audit = ~np.isnan(y.probability)
    assert in_audit.sum() == 20
    train, _ = fold_of(0)
    assert ((y.question == "asked") & ~in_audit).sum() == DATASET.Y[train].any(axis=1).sum()


def test_a_reference_is_given_no_audit():
    row = PRIOR.model_copy(update={"method": "supervised-bce", "settings": {"epochs": 2}})
    drawn = draw_labels(DATASET, Draw(name="u"), seed=3)
    first, second = (
        fit_fold(DATASET, drawn, row, fold=0, folds=3, seed=3, audit=size).probabilities
        for size in (0, 50)
    )
    np.testing.assert_array_equal(first, second)


def test_an_audit_that_no_training_part_has_is_refused_before_anything_runs():
    def planned(audit):
        draw = {"audit": audit}
        return plan_units(benchmark_plan(["synthetic"], ["prior"], draw=draw, n_folds=3))[0]

    # The smallest of the training parts has 666 of the 1000 instances.
    assert len(planned(666 * 6)) == 3
    with pytest.raises(InputError, match="synthetic has 3996 pairs"):
        planned(666 * 6 + 1)
