"""What ``fit`` and ``score`` make of what they are told, on methods that keep what they get."""

import multiprocessing
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.inspection import permutation_importance
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from tests.examples import examples
from tests.methods.small import (
    COMPLEMENTARY,
    N_LABELS,
    N_SAMPLES,
    PROBLEM,
    Recorder,
    Reference,
    Understanding,
    brief,
    learned,
)
from tests.refusals import raises, warns

import complabel
from complabel import metrics
from complabel.answers import (
    Answers,
    ClassPerRowWarning,
    IgnoredAnswersWarning,
    ReadAsComplementaryWarning,
    UnansweredRowWarning,
    UnchosenLabelWarning,
)
from complabel.errors import AnnotationError, InputError
from complabel.methods import PriorClassifier, SelectionLikelihoodClassifier, held_out_score
from complabel.metrics import (
    average_precision_scorer,
    complementary_log_likelihood_scorer,
    complementary_ranking_error,
    complementary_ranking_scorer,
)
from complabel.simulate import draw_answers, draw_complementary

X, Y = PROBLEM.X, PROBLEM.Y
FREE = Answers.from_complementary(COMPLEMENTARY)
ASKED = draw_answers(Y, question="asked", random_state=0)
QUESTIONS = ("free", "menu-2", "menu-3", "asked", "ticked", "excluded")
NAMES = ["ash", "beech", "cedar", "oak"]
NAMED = Answers.from_arrays(named=COMPLEMENTARY, label_names=NAMES)
FRAME = pd.DataFrame(COMPLEMENTARY, columns=NAMES)
CLASSES = COMPLEMENTARY.argmax(axis=1)

unheard = pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
every_kind = pytest.mark.parametrize("method", [Recorder, Understanding])


def of_questions(questions, **settings):
    """Answers to several questions about the same items."""
    rates = {"exclusion_rates": 0.4}
    return Answers.concatenate(
        draw_answers(Y, question=question, **(rates if question == "excluded" else {}), **settings)
        for question in questions
    )


def by_hand(answers):
    """What is known of each label of each item, answer by answer: -1 no, 1 yes, 0 unknown."""
    known = np.zeros(answers.shape, dtype=int)
    masks = {
        name: getattr(answers, name).toarray().astype(bool)
        for name in ("offered", "named", "absent", "relevant", "excluded")
    }
    for at, item in enumerate(answers.item):
        mask = {name: values[at] for name, values in masks.items()}
        known[item, mask["relevant"]] = 1
        if answers.question[at] == "named" and mask["named"].sum() < answers.asked_for[at]:
            known[item, mask["offered"] if mask["offered"].any() else slice(None)] = 1
    for name in ("named", "absent", "excluded"):  # who says no is believed
        for at, item in enumerate(answers.item):
            known[item, masks[name][at]] = -1
    return known


@examples(25)
@given(
    st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=3),
    st.integers(0, 99),
    st.sampled_from([0.3, 1]),
    st.sampled_from([0, 0.3]),
)
def test_who_does_not_understand_gets_the_labels_that_do_not_apply(
    questions, seed, share, mistakes
):
    answers = of_questions(questions, random_state=seed, items_share=share, error_rate=mistakes)
    known = by_hand(answers)
    n_wrong = (known == -1).sum(axis=1)
    rows = (n_wrong > 0) & (n_wrong < N_LABELS)
    for form in (np.asarray, sparse.csr_array):
        features, complementary, relevant = learned(answers, features=form(X)).given_
        np.testing.assert_array_equal(complementary, known[rows] == -1)
        dense = features.toarray() if sparse.issparse(features) else features
        np.testing.assert_array_equal(dense, X[rows])
        if relevant is None:
            assert not (known[rows] == 1).any()
        else:
            np.testing.assert_array_equal(relevant, known[rows] == 1)


@examples(20)
@given(st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=3), st.integers(0, 99))
def test_who_understands_is_given_every_answer(questions, seed):
    answers = of_questions(questions, random_state=seed, items_share=0.5)
    rows = np.isin(np.arange(N_SAMPLES), answers.item)
    classifier = learned(answers, Understanding)
    features, told = classifier.answers_
    np.testing.assert_array_equal(features, X[rows])
    np.testing.assert_array_equal(told.named.toarray(), answers.named.toarray())
    np.testing.assert_array_equal(np.flatnonzero(rows)[told.item], answers.item)
    assert classifier.score(X, answers) == pytest.approx(X[rows, 0].mean())


@every_kind
def test_an_indicator_is_given_as_it_is_without_the_rows_that_mark_nothing(method):
    gaps, relevant = COMPLEMENTARY.copy(), np.zeros_like(COMPLEMENTARY)
    gaps[[4, 61]] = 0
    relevant[[4, 5], [1, gaps[5].argmin()]] = 1
    answered = gaps.any(axis=1)
    message = ("2 of 90", "rows 4", "61", "1")
    with warns(UnansweredRowWarning, message) as caught:
        classifier = method().fit(X, gaps, relevant=relevant)
    assert {warning.filename for warning in caught} == {__file__}
    expected = X[answered], gaps[answered], relevant[answered]
    for found, same in zip(classifier.given_, expected, strict=True):
        np.testing.assert_array_equal(found, same)
    decision = classifier.decision_function(X)[answered]
    ranked = -complementary_ranking_error(gaps[answered], decision)
    score = X[answered, 1].mean() if method is Understanding else ranked
    assert classifier.score(X, gaps) == pytest.approx(score)


@pytest.mark.filterwarnings("ignore::complabel.answers.ClassPerRowWarning")
@pytest.mark.parametrize(
    "form",
    [
        *(np.ndarray.tolist, sparse.csr_array, sparse.csc_matrix, pd.DataFrame),
        *(lambda y: y.astype(bool), lambda y: y.astype(float), Answers.from_complementary),
        *(lambda y: y.argmax(axis=1), lambda y: y.argmax(axis=1)[:, np.newaxis]),
        lambda y: np.array(NAMES)[y.argmax(axis=1)],
        lambda y: np.array(NAMES, dtype=object)[y.argmax(axis=1)],
    ],
)
def test_labels_may_come_in_many_forms(form):
    classifier = Recorder().fit(X.tolist(), form(COMPLEMENTARY))
    np.testing.assert_array_equal(classifier.given_[1], COMPLEMENTARY)
    assert classifier.given_[1].dtype == np.uint8


def test_one_class_per_row_is_predicted_as_one_class_per_row():
    classes = np.array([3, 5, 7, 9])
    classifier = Recorder().fit(X, classes[CLASSES])
    np.testing.assert_array_equal(classifier.classes_, classes)
    assert set(classifier.predict(X)) == {9}
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)
    assert classifier.score(X, classes[CLASSES]) == Recorder().fit(X, COMPLEMENTARY).score(
        X, COMPLEMENTARY
    )
    assert Reference().fit(X, np.arange(90) % 2).decision_function(X).shape == (90,)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.array(NAMES)[CLASSES], "indicator_from_names"),
        (list(np.array(NAMES)[CLASSES]), "indicator_from_names"),
        (CLASSES[:, np.newaxis], "indicator_from_indices"),
    ],
)
def test_doubtful_classes_say_how_they_are_read(y, words):
    with warns(ClassPerRowWarning, words) as caught:
        Recorder().fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}


def test_names_of_labels_become_the_classes():
    for y in (FRAME, NAMED, pl.DataFrame(COMPLEMENTARY, schema=NAMES)):
        classifier = Recorder().fit(X, y)
        assert classifier.classes_.tolist() == NAMES
        assert np.isfinite(classifier.score(X, y))
    from_polars = Recorder().fit(pl.DataFrame(X, schema=list("abcde")), COMPLEMENTARY)
    assert from_polars.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(from_polars.given_[0], X)
    true_names = np.array(NAMES)[Y.argmax(axis=1)]
    assert Reference().fit(X, true_names).classes_.tolist() == NAMES
    np.testing.assert_array_equal(Reference().fit(X, Y).given_[1], Y)


# Seven items with three labels, and one answer each but the last two.
TOLD = Answers.concatenate(
    [
        Answers.from_arrays(
            absent=np.array([[1, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 1]]),
            relevant=np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]),
            question="asked",
            item=np.array([0, 1, 0, 2]),
            n_items=7,
        ),
        Answers.from_arrays(
            named=np.array([[0, 1, 0], [0, 0, 1]]),
            offered=np.array([[1, 1, 0], [0, 0, 0]]),
            item=np.array([3, 4]),
            n_items=7,
        ),
        Answers.from_arrays(excluded=np.array([[0, 1, 0]]), item=np.array([4]), n_items=7),
    ]
)


def test_what_is_ignored_and_misread_is_counted_in_one_line():
    unasked = warns(UnansweredRowWarning, "2 of 7")
    with pytest.warns(IgnoredAnswersWarning) as caught, unasked:
        Recorder().fit(np.zeros((7, 1)), TOLD)
    (message,) = [str(each.message) for each in caught if each.category is IgnoredAnswersWarning]
    assert message == (
        "Recorder learns from labels that do not apply:"
        " 1 of 7 answers rule out no label and are ignored;"
        " 1 of 7 answers say only which labels apply, which are used as known relevant labels;"
        " 1 of 7 answers are about items for which all labels are ruled out, and are ignored;"
        " 1 time a label judged 'no' is treated as named freely of all labels;"
        " 1 time a label named from a menu is treated as named freely of all labels;"
        " 1 time an excluded label is treated as named freely;"
        " 1 time several answers about an item are treated as one."
        " SelectionLikelihoodClassifier understands every answer."
    )
    assert caught[0].filename == __file__


def test_nothing_is_said_where_nothing_is_ignored():
    two_named = draw_complementary(Y[Y.sum(axis=1) < 3], asked_for=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Recorder().fit(X, FREE)
        Recorder().fit(X, draw_answers(Y, random_state=0))
        Recorder().fit(X[Y.sum(axis=1) < 3], Answers.from_complementary(two_named))
        Understanding().fit(X, ASKED)


def test_labels_that_nothing_rules_out_are_warned_of():
    named = COMPLEMENTARY.copy()
    named[named[:, 2] == 1] = [1, 0, 0, 0]
    for method in (Recorder, Understanding):
        for y in (named, Answers.from_complementary(named)):
            with warns(UnchosenLabelWarning, "label 2") as caught:
                method().fit(X, y)
            assert {warning.filename for warning in caught} == {__file__}


def test_who_understands_is_not_warned_of_labels_that_were_judged():
    yes = Answers.from_arrays(relevant=np.eye(4, dtype=int))
    no = Answers.from_arrays(absent=np.eye(4, dtype=int)[:2], item=[1, 2], n_items=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Understanding().fit(X[:4], Answers.concatenate([yes, no]))
        Understanding().fit(X[:4], yes)
        ticked = np.array([[1, 1, 1, 0], [1, 1, 0, 0]])
        Understanding().fit(X[:2], Answers.from_arrays(absent=ticked, question="ticked"))
    with warns(UnchosenLabelWarning, "labels 2", "3"):
        Understanding().fit(X[:4], Answers.concatenate([yes[[0, 1, 0, 0]], no]))
    # Who volunteers what applies, beside what is named, is not asked about it.
    volunteered = Answers.from_arrays(named=[[1, 0, 0], [0, 1, 0]], relevant=[[0, 0, 1]] * 2)
    with warns(UnchosenLabelWarning, "label 2"):
        Understanding().fit(X[:2], volunteered)


def test_two_labels_are_enough_for_who_understands():
    answers = draw_answers(Y[:, :2], question="asked", random_state=0)
    assert learned(answers, Understanding).predict(X).shape == (N_SAMPLES, 2)


def with_entry(values, row, entry):
    spoilt = values.copy()
    spoilt[row] = entry
    return spoilt


def names_with(entry):
    return with_entry(np.array(list("abcd" * N_SAMPLES)[:N_SAMPLES], dtype=object), 5, entry)


ONE = Answers.from_arrays(absent=np.ones((90, 1), dtype=int))
TWO = Answers.from_arrays(absent=np.eye(2, dtype=int)[np.arange(90) % 2])
FULL = Answers.from_arrays(absent=np.ones((90, 4), dtype=int))
NOBODY = Answers.from_arrays(absent=np.eye(4, dtype=int)[:1], n_items=91)[1:]
YES = Answers.from_arrays(relevant=np.eye(4, dtype=int)[np.arange(90) % 4])


@pytest.mark.parametrize(
    ("y", "error", "found"),
    [
        (None, InputError, "None"),
        (0 * COMPLEMENTARY, AnnotationError, ("rows 0", "1", "90 in all")),
        (with_entry(COMPLEMENTARY, 6, 1), AnnotationError, ("4 labels", "row 6")),
        (with_entry(COMPLEMENTARY, 6, 2), AnnotationError, ("2", "row 6", "label 0")),
        (with_entry(COMPLEMENTARY.astype(float), 2, np.nan), AnnotationError, ("nan", "row 2")),
        (np.eye(2, dtype=int)[CLASSES % 2], AnnotationError, ("2 labels", "at least 3")),
        (COMPLEMENTARY[:, :1], AnnotationError, "(90, 1)"),
        (np.ones(90, dtype=int), AnnotationError, "1"),
        (np.linspace(0, 1, 90), AnnotationError, "y"),
        (with_entry(np.ones(90), 9, np.nan), AnnotationError, ("nan", "row 9")),
        (names_with(None), AnnotationError, ("None", "row 5")),
        (names_with(None).tolist(), AnnotationError, ("None", "row 5")),
        (names_with(pd.NA), AnnotationError, "row 5"),
        (with_entry(names_with("a"), 5, [["a", "b"]]), AnnotationError, "row 5"),
        ([["a", "b"], *([["a"]] * 89)], AnnotationError, ("row 0", "2 entries", "row 1", "1")),
        ([list("abcd")] * 90, AnnotationError, ("'a'", "row 0")),
        ({"a": 1}, AnnotationError, ("'a'", "indicator_from_indices")),
        (COMPLEMENTARY[1:], InputError, ("X", "90 rows", "89")),
        (COMPLEMENTARY.T, InputError, ("(4, 90)", "y.T")),
        (FREE[1:], InputError, ("X", "90 rows", "89")),
        (NOBODY, AnnotationError, "y"),
        (ONE, AnnotationError, ("1 label", "at least 2")),
        (TWO, AnnotationError, ("2 labels", "at least 3")),
        (YES, AnnotationError, "SelectionLikelihoodClassifier"),
        (FULL, AnnotationError, "SelectionLikelihoodClassifier"),
    ],
)
def test_what_nothing_can_be_learned_from_is_refused(y, error, found):
    with raises(error, found):
        Recorder().fit(X, y)


LABEL = int(CLASSES[8])
KNOWN = np.zeros_like(COMPLEMENTARY)
KNOWN[8, LABEL] = 1


@pytest.mark.parametrize("y", [COMPLEMENTARY, CLASSES], ids=["indicator", "classes"])
@pytest.mark.parametrize(
    ("relevant", "found"),
    [
        (KNOWN, ("row 8", f"label {LABEL}")),
        (KNOWN[1:], ("relevant", "shape (89, 4)")),
        (KNOWN[:, 1:], ("relevant", "shape (90, 3)")),
        (3 * KNOWN, ("relevant", "row 8")),
        (KNOWN[:, 0], ("relevant", "shape (90,)")),
    ],
)
def test_relevant_labels_are_checked_against_y(y, relevant, found):
    with raises(AnnotationError, found):
        Recorder().fit(X, y, relevant=relevant)


def test_relevant_labels_have_one_place():
    with raises(InputError, "y"):
        Recorder().fit(X, FREE, relevant=0 * KNOWN)
    with raises(InputError):
        Reference().fit(X, Y, relevant=Y)
    with raises(InputError):
        Reference().fit(X, FREE)
    with raises(AnnotationError, "relevant"):
        Recorder().fit(X, FRAME, relevant=pd.DataFrame(0 * KNOWN, columns=NAMES[::-1]))


@pytest.mark.parametrize(
    ("fitted_to", "y", "error", "found"),
    [
        (COMPLEMENTARY, np.eye(5, dtype=int)[CLASSES], AnnotationError, ("5 labels", "4")),
        (COMPLEMENTARY, 0 * COMPLEMENTARY, AnnotationError, ("rows 0", "1")),
        (COMPLEMENTARY, with_entry(COMPLEMENTARY, 6, 1), AnnotationError, ("4 labels", "row 6")),
        (COMPLEMENTARY, COMPLEMENTARY[1:], InputError, ("X", "90 rows", "89")),
        (CLASSES, CLASSES + 17, AnnotationError, "[0, 1, 2, 3]"),
        (FREE, FREE[1:], InputError, ("X", "90 rows", "89")),
        (FREE, NOBODY, AnnotationError, ()),
        (FREE, Answers.from_complementary(np.eye(5, dtype=int)[CLASSES]), AnnotationError, "5"),
        (NAMED, FREE, AnnotationError, ("y", "label_names")),
        (NAMED, replace(NAMED, label_names=tuple(NAMES[::-1])), AnnotationError, "y"),
        (FRAME, pd.DataFrame(COMPLEMENTARY, columns=NAMES[::-1]), AnnotationError, "y"),
        (FRAME, pd.DataFrame(COMPLEMENTARY, columns=[*NAMES[:3], "oat"]), AnnotationError, "'oak'"),
        (FREE, Y, InputError, ("average_precision_scorer", "Answers.from_complementary")),
        (FREE, CLASSES, InputError, "y"),
    ],
)
@every_kind
def test_what_cannot_be_scored_is_refused(method, fitted_to, y, error, found):
    classifier = method().fit(X, fitted_to)
    with raises(error, found):
        classifier.score(X, y)


def test_scorers_refuse_what_score_refuses():
    fitted = Recorder().fit(X, NAMED)
    with raises(AnnotationError, "y", "label_names", "'ash'"):
        complementary_ranking_scorer(fitted, X, FREE)
    with raises(InputError, "y"):
        brief("supervised").fit(X, Y).score(X, FREE)
    prior = PriorClassifier().fit(X, COMPLEMENTARY)
    with raises(InputError, "PriorClassifier"):
        complementary_log_likelihood_scorer(prior, X, ASKED)
    understanding = Understanding().fit(X, ASKED)
    found = complementary_log_likelihood_scorer(understanding, X, ASKED)
    assert found == understanding.score(X, ASKED)


def shuffled_by_name():
    """A frame with named rows in another order than answers about them, and that order."""
    names = np.array([f"img{number}.png" for number in range(N_SAMPLES)], dtype=object)
    answers = replace(FREE, item_names=names)
    order = np.random.default_rng(0).permutation(N_SAMPLES)
    return pd.DataFrame(X, index=names).iloc[order], answers, order


@unheard
def test_a_frame_in_another_order_than_the_answers_is_paired_by_name():
    frame, answers, order = shuffled_by_name()
    by_name, expected = (
        brief("ridge").fit(*rows) for rows in ((frame, answers), (X[order], answers[order]))
    )
    np.testing.assert_allclose(
        by_name.decision_function(frame.to_numpy()), expected.decision_function(X[order]), 1e-6
    )
    assert by_name.score(frame, answers) == pytest.approx(expected.score(X, FREE))
    found, same = (
        held_out_score(brief("ridge"), *each, n_folds=2).score
        for each in ((frame, answers), (X[order], answers[order]))
    )
    assert found == pytest.approx(same)
    with raises(InputError, "10 of 90"):
        by_name.fit(frame.iloc[10:], answers)


def test_labels_in_frames_are_paired_with_the_rows_of_x_by_name():
    frame, answers, order = shuffled_by_name()
    true, y = (pd.DataFrame(values, index=answers.item_names) for values in (Y, COMPLEMENTARY))
    relevant = true * (np.arange(N_LABELS) == 1)
    given = Recorder().fit(frame, y, relevant=relevant).given_
    expected = X[order], COMPLEMENTARY[order], relevant.to_numpy()[order]
    for found, same in zip(given, expected, strict=True):
        np.testing.assert_array_equal(found, same)
    supervised = brief("supervised").fit(frame, true)
    assert supervised.score(frame, true) == pytest.approx(supervised.score(X, Y))
    found = average_precision_scorer(supervised, frame, true_labels=true)
    assert found == pytest.approx(supervised.score(X, Y))


def said_of(y, method=Recorder, features=X):
    """The categories of warnings that a fit gives, each time."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        method().fit(features, y)
    return [each for each in said if each.category is ReadAsComplementaryWarning]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, pd.DataFrame, pl.DataFrame])
@every_kind
def test_a_matrix_is_told_to_be_read_as_what_does_not_apply(kind, method):
    (warning,) = said_of(kind(COMPLEMENTARY), method)
    text = str(warning.message)
    assert text.startswith("1 in y means that the label does NOT apply")
    assert warning.filename == __file__ or "test_door" in warning.filename


def test_where_the_meaning_is_told_nothing_is_said():
    assert not said_of(FREE)
    assert not said_of(ASKED, Understanding)
    assert not said_of(Y, Reference)
    assert len(said_of(CLASSES)) == 1


def test_the_advice_for_what_applies_learns_what_applies():
    told = Answers.from_frame(Y)
    right, opposite = (brief("ridge", alpha=1.0).fit(X, y) for y in (FREE, Y))
    with warnings.catch_warnings(action="ignore", category=IgnoredAnswersWarning):
        advised = brief("ridge", alpha=1.0).fit(X, told)
    found = [metrics.average_precision(Y, each.predict_proba(X)) for each in (advised, right)]
    assert min(found) > metrics.average_precision(Y, opposite.predict_proba(X))


def test_the_advice_about_gaps_learns_what_the_known_cells_say():
    cells = np.where(np.random.default_rng(0).random(Y.shape) < 0.5, Y, np.nan)
    cells[7] = np.nan
    frame = pd.DataFrame(cells, columns=NAMES)
    for refused in (
        lambda: Recorder().fit(X, frame),
        lambda: Answers.from_arrays(relevant=frame == 1, absent=frame == 0),
    ):
        with raises(AnnotationError, "Answers.from_frame"):
            refused()
    (warning,) = said_of(frame.drop(index=7).fillna(0), features=X[np.arange(90) != 7])
    assert re.search(r"Answers\.from_frame.* must be NaN", str(warning.message))
    with pytest.warns(UnansweredRowWarning):
        fitted = brief("selection-likelihood").fit(X, Answers.from_frame(frame))
    assert abs(fitted.predict_proba(X).mean() - Y.mean()) < 0.1


@pytest.mark.parametrize("classes", [[0, 1], [False, True], [0.0, 1.0], [-1, 1], ["ham", "spam"]])
def test_one_of_two_classes_per_row_is_refused(classes):
    y = np.array(classes)[Y[:, 0]]
    for each in (y, y.tolist(), pd.Series(y)):
        with raises(AnnotationError, "Answers.from_frame"):
            Recorder().fit(X, each)


@pytest.mark.parametrize("wrapper", [MultiOutputClassifier, OneVsRestClassifier, ClassifierChain])
def test_a_wrapper_that_hands_on_one_label_is_refused(wrapper):
    with raises(AnnotationError, "Answers.from_frame"):
        wrapper(PriorClassifier()).fit(X, Y)


def test_a_fit_to_answers_is_scored_on_answers_also_from_a_file(tmp_path):
    PriorClassifier().fit(X, FREE).save(tmp_path / "model.safetensors")
    fitted = complabel.load(tmp_path / "model.safetensors")
    assert np.isfinite(fitted.score(X, FREE))
    for refuse in (PriorClassifier.score, complementary_ranking_scorer, permutation_importance):
        with raises(InputError, "y"):
            refuse(fitted, X, Y)
    assert average_precision_scorer(fitted, X, true_labels=Y) > 0


@pytest.mark.parametrize("scoring", ["average_precision", "f1_micro", "roc_auc"])
def test_importance_by_true_labels_has_the_right_sign(scoring):
    told = Answers.from_frame(Y)
    with warnings.catch_warnings(action="ignore", category=IgnoredAnswersWarning):
        fitted = brief("selection-likelihood").fit(X, told)
    found = permutation_importance(fitted, X, Y, scoring=scoring, n_repeats=3, random_state=0)
    assert found.importances_mean.sum() > 0.05


@pytest.mark.parametrize(
    "scoring", ["f1_micro", ["roc_auc"], {"a": "accuracy"}, make_scorer(f1_score)]
)
def test_scorers_of_true_labels_refuse_answers_at_once(scoring):
    for run in (
        lambda: cross_validate(PriorClassifier(), X, FREE, scoring=scoring, cv=2),
        lambda: GridSearchCV(PriorClassifier(), {}, scoring=scoring, cv=2, refit=False).fit(
            X, FREE
        ),
    ):
        with raises(AnnotationError, "complementary_ranking_scorer"):
            run()
    assert np.isfinite(cross_val_score(PriorClassifier(), X, FREE, cv=2)).all()


@pytest.fixture
def new_process(monkeypatch):
    """Nothing was told in this process, which may be renamed."""
    monkeypatch.setattr("complabel.methods._door._assumed", set())
    process = multiprocessing.current_process()
    name = process.name
    yield process
    process.name = name


@pytest.mark.usefixtures("new_process")
def test_it_is_told_once_in_a_process():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for at in range(3):
            Recorder().fit(X[at:], COMPLEMENTARY[at:])
    assert [each.category for each in said] == [ReadAsComplementaryWarning]


@pytest.mark.parametrize(("worker", "times"), [("MainProcess", 1), ("LokyProcess-2", 0)])
def test_rows_without_answers_are_told_once_for_all_folds(new_process, worker, times):
    new_process.name = worker
    answers = of_questions(QUESTIONS[:1], random_state=0, items_share=0.5)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        warnings.filterwarnings("ignore", "about something else")
        cross_val_score(Understanding(), X, answers, cv=4)
    assert [each.category for each in said] == [UnansweredRowWarning] * times


def test_a_table_of_answers_leads_to_where_it_is_read():
    table = pd.DataFrame({"item": [0, 1, 1], "label": ["a", "b", "a"], "answer": ["no"] * 3})
    for each in (table, pl.from_pandas(table)):
        with raises(InputError, "Answers.from_table"):
            Recorder().fit(X, each)


@pytest.mark.filterwarnings("ignore::complabel.answers.UnansweredRowWarning")
def test_a_contradiction_is_told_by_its_row():
    """Also in a part of the rows, in folds, and by its name if it has one."""
    item = np.r_[np.arange(300, 400), 350]
    says = np.where(item[:, np.newaxis] % 2, [1, 0, 0], [0, 1, 0])
    absent = [*[[0, 0, 1]] * 100, [0, 1, 0]]
    said = {"relevant": [*says[:-1].tolist(), [0, 0, 0]], "absent": absent}
    answers = Answers.from_arrays(**said, question="asked", item=item, n_items=400)
    rows = np.random.default_rng(0).normal(size=(400, 3))
    with raises(AnnotationError, "item 350"):
        SelectionLikelihoodClassifier().fit(rows, answers)
    named = replace(answers, item_names=np.array([f"n{n}" for n in range(400)], dtype=object))
    with raises(AnnotationError, "item 'n350'"):
        SelectionLikelihoodClassifier().fit(rows, named)
