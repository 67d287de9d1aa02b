"""What people are made to say, and what becomes of it in a fold; the audit of a fold."""

import dataclasses

import numpy as np
import pytest
from tests.experiments.studies.small import WATCHED, assert_out_of_reach, fit_fold, run

from complabel.answers import Answers, IgnoredAnswersWarning
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.experiments.datasets import save_file
from complabel.experiments.studies import (
    Draw,
    Row,
    benchmark_plan,
    plan_units,
    run_fold,
    split_folds,
)
from complabel.experiments.studies._labels import draw_audit, draw_labels
from complabel.experiments.studies._plan_files import _make_draw as make_draw
from complabel.metrics import complementary_ranking_error
from complabel.simulate import draw_answers, draw_complementary, draw_propensities

DATASET = make_synthetic(150, n_labels=5, random_state=0)
PRIOR, SEEN = Row(method="prior"), Row(method=WATCHED)
QUIET = pytest.mark.filterwarnings(
    "ignore::complabel.answers.IgnoredAnswersWarning",
    "ignore::complabel.answers.UnansweredRowWarning",
    "ignore::complabel.answers.UnchosenLabelWarning",
)
OTHER_WAYS = [
    {"question": "menu-2"},
    {"question": "menu-3", "propensity_sd": 1.0, "error_rate": 0.1},
    {"question": "asked"},
    {"question": "ticked", "error_rate": 0.2},
    {"question": "asked", "missed": 0.2, "invented": 0.1},
    {"propensity_sd": 1.0},
    {"scheme": "biased", "error_rate": 0.1},
    {"answers_per_item": 2},
    {"items_share": 0.5},
]


def draw(seed=3, dataset=DATASET, **settings):
    return draw_labels(dataset, make_draw(settings), seed=seed)


def assert_alike(one, two):
    """Check that two indicators, or two sets of answers, are the same."""
    assert type(one) is type(two)
    if isinstance(two, np.ndarray):
        np.testing.assert_array_equal(one, two)
        return
    for name in ("item", "question", "probability", "asked_for", "all_apply"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("offered", "named", "absent", "relevant", "excluded"):
        one_mask, two_mask = getattr(one, name), getattr(two, name)
        np.testing.assert_array_equal(one_mask.toarray(), two_mask.toarray())


@pytest.mark.parametrize("settings", [{}, {"scheme": "biased", "sharpness": 2.0}, {"asked_for": 2}])
def test_free_naming_gives_the_indicator_of_before(settings):
    assert_alike(draw(**settings), draw_complementary(DATASET.Y, random_state=3, **settings))


@pytest.mark.parametrize("settings", OTHER_WAYS, ids=str)
def test_every_other_way_gives_answers_that_the_seed_repeats(settings):
    answers, again, other = draw(**settings), draw(**settings), draw(seed=4, **settings)
    assert isinstance(answers, Answers)
    assert answers.shape == DATASET.Y.shape
    assert_alike(answers, again)
    assert (answers.complementary != other.complementary).any()
    given = {name: settings[name] for name in settings if name != "propensity_sd"}
    if "propensity_sd" in settings:
        stream = np.random.default_rng(np.random.SeedSequence(3, spawn_key=(2,)))
        given["propensities"] = draw_propensities(5, settings["propensity_sd"], stream)
    assert_alike(answers, draw_answers(DATASET.Y, random_state=3, **given))


def own_dataset(rows=40):
    """Labels that a rule excluded, in a dataset with rows of none and all labels."""
    rng = np.random.default_rng(7)
    Y = (rng.random((rows, 4)) < 0.4).astype(np.uint8)
    Y[0], Y[1] = 0, 1
    excluded = ((rng.random(Y.shape) < 0.7) & (Y == 0)).astype(np.uint8)
    return dataclasses.replace(
        make_synthetic(rows, n_labels=4, random_state=0), Y=Y, excluded=excluded
    )


def test_own_labels_are_those_of_the_dataset():
    dataset = own_dataset()
    answers = draw(dataset=dataset, scheme="own")
    assert (answers.question == "excluded").all()
    np.testing.assert_array_equal(answers.item, np.arange(40))
    np.testing.assert_array_equal(answers.complementary, dataset.excluded)
    assert answers.offered.nnz == 0  # all labels
    assert answers.label_names == dataset.label_names


def test_nobody_names_a_label_where_all_apply(tmp_path):
    dataset = own_dataset()
    save_file(dataset, tmp_path / "own.npz")
    full = dataset.Y.all(axis=1).sum()
    empty = (~dataset.Y.any(axis=1)).sum()
    for scheme, count in {"uniform": full, "biased": full + empty}.items():
        plan = benchmark_plan([str(tmp_path / "own.npz")], ["prior"], scheme=scheme, n_folds=2)
        with pytest.raises(InputError, match=rf"own has .*\({count} of 40\).*menu-4"):
            plan_units(plan)
    assert isinstance(draw(dataset=dataset, question="menu-4"), Answers)


@QUIET
def test_the_score_is_that_of_held_out_answers():
    answers = draw(question="menu-3")
    fitted = fit_fold(DATASET, answers, PRIOR, fold=1, folds=3, seed=3)
    outcome = run_fold(DATASET, answers, PRIOR, fold=1, folds=3, seed=3, criteria=False, score=True)
    expected = fitted.classifier.score(DATASET.X[fitted.test], answers[fitted.test])
    held_out = complementary_ranking_error(answers[fitted.test], fitted.probabilities)
    assert outcome.metrics == {"score": expected, "held_out_ranking": pytest.approx(-held_out)}


@QUIET
def test_labels_that_a_row_makes_known_become_answers_yes(seen):
    row = SEEN.model_copy(update={"relevant_share": 0.5})
    answers = draw(question="menu-2")
    fit_fold(DATASET, answers, row, fold=0, folds=3, seed=3)
    _, y, named, _ = seen[-1]
    train, _ = split_folds(DATASET, n_folds=3, seed=3)[0]
    assert not named
    yes = y.relevant.toarray()[y.question == "asked"]
    items = y.item[y.question == "asked"]
    assert yes.any(axis=1).all()
    assert not (yes & (1 - DATASET.Y[train][items])).any()
    assert y.n_answers == len(train) + len(items)


@pytest.mark.parametrize(
    "settings", [{"question": "asked", "propensity_sd": 1.0}, {"question": "menu-2"}], ids=str
)
def test_a_benchmark_of_another_question_runs_and_says_so_once_for_each_method(settings):
    plan = benchmark_plan(["synthetic"], ["prior", "ridge"], draw=settings, n_folds=3)
    with pytest.warns(IgnoredAnswersWarning) as hints:
        summary, results = run(plan)
    assert (summary.n_ran, summary.n_failed) == (6, 0), results.having("failed")
    texts = [str(hint.message).partition(":")[0] for hint in hints]
    assert texts == ["prior", "ridge"]
    prior, ridge = results.records()
    assert {name: prior[name] for name in settings} == settings
    assert (prior["labels"], prior["error_rate"], prior["answers_per_item"]) == ("uniform", 0.0, 1)
    assert prior["fitted"] == {}
    alphas = [unit.fitted["alpha_"] for unit in results.units if unit.method == "ridge"]
    assert ridge["fitted"]["alpha"] == pytest.approx(np.mean(alphas))
    assert ridge["metrics"]["average_precision"]["mean"] > 0.5


def test_unanswered_items_that_the_plan_asks_for_are_no_news():
    settings = {"error_rate": 0.1, "items_share": 0.5}
    plan = benchmark_plan(["synthetic"], ["prior"], draw=settings, n_folds=2)
    summary, _ = run(plan)  # where warnings are errors
    assert (summary.n_ran, summary.n_failed) == (2, 0)


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


def test_folds_and_seeds_have_audits_of_their_own():
    train, _ = fold_of(0)
    found = [
        {*judged(draw_audit(DATASET, train, 40, fold=fold, seed=seed))}
        for fold, seed in ((0, 3), (1, 3), (0, 4))
    ]
    assert found[0] == {*judged(audit(40))}
    assert found[0] != found[1] != found[2] != found[0]


@QUIET
@pytest.mark.parametrize("size", [0, 30])
@pytest.mark.parametrize("settings", [{}, {"scheme": "biased"}, *OTHER_WAYS], ids=str)
def test_fit_is_given_the_labels_of_its_rows_an_audit_and_no_other_truth(seen, settings, size):
    labels, plain = draw(**settings, audit=size), draw(**settings)
    if size and not isinstance(plain, Answers):
        plain = Answers.from_complementary(plain)
    for fold, (train, test) in enumerate(split_folds(DATASET, n_folds=3, seed=3)):
        fitted = fit_fold(DATASET, labels, SEEN, fold=fold, folds=3, seed=3, audit=size)
        np.testing.assert_array_equal(fitted.train, train)
        np.testing.assert_array_equal(fitted.test, test)
        X, y, named, reachable = seen[-1]
        assert not named
        np.testing.assert_array_equal(X, DATASET.X[train])
        expected = Answers.concatenate([plain, audit(size, fold)]) if size else plain
        assert_alike(y, expected[train])
        parts = vars(y).values() if isinstance(y, Answers) else []
        assert_out_of_reach(DATASET.Y, [*reachable.values(), *parts])


@QUIET
def test_what_an_audit_says_changes_with_the_truth_about_its_pairs_alone(seen):
    labels = draw_labels(DATASET, make_draw({"question": "none", "audit": 40}), seed=3)
    pairs = judged(audit(40))
    Y = 1 - DATASET.Y
    Y[tuple(np.array([*pairs]).T)] = [said == "yes" for said in pairs.values()]
    for dataset in (DATASET, dataclasses.replace(DATASET, Y=Y)):
        fit_fold(dataset, labels, SEEN, fold=0, folds=3, seed=3, audit=40)
    (_, first, *_), (_, second, *_) = seen
    assert_alike(first, second)


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
