"""An audit: random yes/no questions about the training part of each fold."""

import dataclasses
import inspect

import numpy as np
import pytest

from complabel.answers import Answers
from complabel.datasets import MultiLabelDataset, make_synthetic
from complabel.errors import InputError, PlanError
from complabel.methods import PriorClassifier
from complabel.studies import (
    Draw,
    ExpandedRow,
    Plan,
    Store,
    benchmark_plan,
    plan_units,
    run_study,
    split_folds,
)
from complabel.studies._fold import fit_fold
from complabel.studies._labels import draw_audit, draw_labels
from complabel.studies._plan_files import _make_draw as make_draw

DATASET = make_synthetic(150, n_labels=5, random_state=0)
PRIOR = ExpandedRow(title="", published="", method="prior", settings={})
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
    for seed in range(400):
        for pair in judged(draw_audit(dataset, train, 5, fold=0, seed=seed)):
            counts[pair] += 1
    # 100 expected, with a standard deviation of sqrt(400 * 1/4 * 3/4).
    assert np.abs(counts - 100).max() < 4.5 * np.sqrt(75)


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
def test_an_indicator_gets_its_audit_too(seen):
    drawn = draw_labels(DATASET, Draw(name="u"), seed=3)
    fit_fold(DATASET, drawn, PRIOR, fold=1, folds=3, seed=3, audit=20)
    _, y, _, _ = seen[-1]
    assert ((y.question == "named").sum(), (y.question == "asked").sum()) == (100, 20)
    named = y.named.toarray()[y.question == "named"]
    np.testing.assert_array_equal(named, drawn[fold_of(1)[0]])


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
def test_there_may_be_an_audit_alone(seen):
    draw = make_draw({"question": "none", "audit": 80})
    labels = draw_labels(DATASET, draw, seed=3)
    assert (labels.shape, labels.n_answers) == (DATASET.Y.shape, 0)
    fit_fold(DATASET, labels, PRIOR, fold=2, folds=3, seed=3, audit=80)
    _, y, _, _ = seen[-1]
    assert (y.question == "asked").all()
    train, _ = fold_of(2)
    assert {(train[item], label): said for (item, label), said in judged(y).items()} == judged(
        audit(80, 2)
    )


@QUIET
def test_known_labels_come_beside_an_audit(seen):
    row = dataclasses.replace(PRIOR, relevant_per_row=1)
    drawn = draw_labels(DATASET, Draw(name="u"), seed=3)
    fit_fold(DATASET, drawn, row, fold=0, folds=3, seed=3, audit=20)
    _, y, named, _ = seen[-1]
    assert not named
    in_audit = ~np.isnan(y.probability)
    assert in_audit.sum() == 20
    train, _ = fold_of(0)
    assert ((y.question == "asked") & ~in_audit).sum() == DATASET.Y[train].any(axis=1).sum()


def test_a_reference_is_given_no_audit():
    row = dataclasses.replace(PRIOR, method="supervised-bce", settings={"epochs": 2})
    drawn = draw_labels(DATASET, Draw(name="u"), seed=3)
    first, second = (
        fit_fold(DATASET, drawn, row, fold=0, folds=3, seed=3, audit=size).probabilities
        for size in (0, 50)
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("settings", "name", "title"),
    [
        (
            {"audit": 200},
            "uniform-audit-200",
            "uniform complementary labels, an audit of 200 random yes/no answers in each training"
            " part",
        ),
        (
            {"question": "none", "audit": 50},
            "audit-50",
            "nothing but an audit of 50 random yes/no answers in each training part",
        ),
        (
            {"scheme": "own", "items_share": 0.5, "audit": 50},
            "own-share-0.5-audit-50",
            "the dataset's own excluded labels, 50 % of the items, an audit of 50 random yes/no"
            " answers in each training part",
        ),
    ],
)
def test_an_audit_is_named(settings, name, title):
    draw = make_draw(settings)
    assert (draw.name, draw.title) == (name, title)
    assert draw.settings()["audit"] == settings["audit"]
    assert not draw.is_plain
    assert not draw.is_published


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"audit": -1}, "audit: Input should be greater than or equal to 0"),
        ({"audit": 1.5}, "audit: Input should be a valid integer"),
        (
            {"question": "none"},
            "audit is 0, but with the question none people only answer the audit; set audit",
        ),
        (
            {"question": "none", "audit": 9, "error_rate": 0.1, "propensity_sd": 1.0},
            "propensity_sd and error_rate cannot be set with the question none, where people only",
        ),
        ({"question": "none", "audit": 9, "items_share": 0.5}, "items_share cannot be"),
        ({"question": "none", "audit": 9, "scheme": "own"}, "question cannot be set"),
        ({"question": "none", "audit": 9, "scheme": "biased"}, "take labels uniform"),
        ({"n_audit": 9}, "n_audit: there is no such key; known are name"),
    ],
)
def test_what_does_not_fit_an_audit_is_refused_with_what_to_do(settings, complaint):
    with pytest.raises(PlanError) as refusal:
        benchmark_plan(["synthetic"], ["prior"], draw=settings)
    assert complaint in str(refusal.value)
    assert "\n" not in str(refusal.value)


def keys(method="prior", **settings):
    fields = {"name": "n", "title": "t", "datasets": ["synthetic"], "folds": 3}
    draws = [Draw(name="d", **settings)]
    plan = Plan.model_validate({**fields, "draws": draws, "rows": [{"method": method}]})
    return [unit.key for unit in plan_units(plan)[0]]


def test_results_with_an_audit_have_keys_of_their_own():
    ways = [{}, {"audit": 50}, {"audit": 200}, {"question": "none", "audit": 50}]
    assert len({key for way in ways for key in keys(**way)}) == 4 * 3
    assert keys(audit=0) == keys()
    assert keys("supervised", audit=50) == keys("supervised")
    assert len({benchmark_plan(["synthetic"], ["prior"], draw=way).name for way in ways}) == 4


def test_an_audit_that_no_training_part_has_is_refused_before_anything_runs():
    def planned(audit):
        draw = {"audit": audit}
        return plan_units(benchmark_plan(["synthetic"], ["prior"], draw=draw, n_folds=3))[0]

    # The smallest of the training parts has 666 of the 1000 instances.
    assert len(planned(666 * 6)) == 3
    with pytest.raises(InputError, match="synthetic has 3996 pairs"):
        planned(666 * 6 + 1)


def run(plan):
    with Store(":memory:") as store:
        summary = run_study(plan, store, n_jobs=1)
        return summary, store.results(plan.name)


@pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
def test_an_audit_helps_and_is_reported_where_labels_come_to_mind_unequally():
    named, both, alone = (
        run(benchmark_plan(["digits"], ["ridge", "supervised"], draw=draw, n_folds=2))
        for draw in (
            {"propensity_sd": 1.0},
            {"propensity_sd": 1.0, "audit": 2000},
            {"question": "none", "audit": 2000},
        )
    )
    for summary, results in (named, both, alone):
        assert (summary.n_ran, summary.n_failed) == (4, 0), results.having("failed")
    precision = []
    for (_, results), size in ((named, 0), (both, 2000), (alone, 2000)):
        ridge, supervised = results.records()
        assert (ridge["audit"], ridge["learns_from"]) == (size, "complementary")
        assert (ridge["row"], ridge["match_frequencies"]) == ("Ridge", False)
        precision.append(
            [record["metrics"]["average_precision"]["mean"] for record in (ridge, supervised)]
        )
    (before, reference), (after, same), (_, same_again) = precision
    assert after > before + 0.05
    assert reference == same == same_again
