"""Own data as people have it: gaps, names, data frames, columns."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.methods.small import COMPLEMENTARY, N_LABELS, N_SAMPLES, PROBLEM, brief, targets_of

from complabel import metrics
from complabel.answers import (
    Answers,
    ClassPerRowWarning,
    UnansweredRowWarning,
    UnchosenLabelWarning,
    names_from_indicator,
)
from complabel.errors import AnnotationError, InputError
from complabel.methods import held_out_score

LABELS = ["beach", "city", "forest", "sea"]
X = PROBLEM.X


def with_gaps():
    """Complementary labels of which two rows have none, and which rows have some."""
    gaps = COMPLEMENTARY.copy()
    gaps[[4, 61]] = 0
    return gaps, gaps.any(axis=1)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("prior", np.asarray),
        ("ridge", sparse.csr_array),
        ("mlcl", sparse.csr_matrix),
        ("ml-knn", np.asarray),
        ("selection-likelihood", np.asarray),  # scores by a rule of its own
    ],
)
def test_rows_without_an_answer_are_left_out_and_counted(name, kind):
    gaps, answered = with_gaps()
    features = kind(X)
    with pytest.warns(UnansweredRowWarning, match=r"2 of 90 rows of y .*\(rows 4, 61\)") as caught:
        classifier = brief(name).fit(features, gaps)
    assert {warning.filename for warning in caught} == {__file__}
    assert [warning.category for warning in caught].count(UnansweredRowWarning) == 1
    expected = brief(name).fit(features[answered], gaps[answered])
    np.testing.assert_array_equal(classifier.decision_function(X), expected.decision_function(X))
    score = classifier.score(features, gaps)
    assert score == pytest.approx(expected.score(features[answered], gaps[answered]), rel=1e-12)
    np.testing.assert_array_equal(gaps, with_gaps()[0])


def test_known_relevant_labels_of_rows_without_an_answer_are_counted_too():
    gaps, answered = with_gaps()
    relevant = np.zeros_like(gaps)
    relevant[[4, 5], [1, gaps[5].argmin()]] = 1
    with pytest.warns(UnansweredRowWarning, match="1 of them have known relevant labels"):
        classifier = brief("mlcl").fit(X, gaps, relevant=relevant)
    expected = brief("mlcl").fit(X[answered], gaps[answered], relevant=relevant[answered])
    np.testing.assert_array_equal(classifier.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize(
    "form", [list, np.array, lambda names: np.array(names, dtype=object)[:, np.newaxis]]
)
def test_names_of_one_class_per_row_say_how_they_are_read(form):
    y = form([LABELS[label] for label in COMPLEMENTARY.argmax(axis=1)])
    message = "read as a complementary class, and exactly one class .*indicator_from_names"
    with pytest.warns(ClassPerRowWarning, match=message) as caught:
        classifier = brief("prior").fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert classifier.predict(X).shape == (N_SAMPLES,)


def test_a_column_of_classes_says_how_it_is_read():
    y = COMPLEMENTARY.argmax(axis=1)
    with pytest.warns(ClassPerRowWarning, match="classes in a column.* indicator_from_indices"):
        classifier = brief("prior").fit(X, y[:, np.newaxis])
    np.testing.assert_array_equal(classifier.predict(X), brief("prior").fit(X, y).predict(X))


@pytest.mark.parametrize("name", ["prior", "mlcl", "comrank", "supervised"])
def test_a_data_frame_names_the_classes(name):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(targets_of(name), columns=LABELS)
    classifier = brief(name).fit(X, frame)
    assert classifier.classes_.tolist() == LABELS
    nameless = brief(name).fit(X, targets_of(name))
    np.testing.assert_array_equal(classifier.decision_function(X), nameless.decision_function(X))
    predicted = classifier.predict(X)
    np.testing.assert_array_equal(predicted, nameless.predict(X))
    names = names_from_indicator(predicted, classifier.classes_)
    assert names == [tuple(np.array(LABELS)[row == 1]) for row in predicted]
    assert classifier.score(X, frame) == pytest.approx(nameless.score(X, targets_of(name)))
    swapped = frame[["city", "beach", "forest", "sea"]]
    with pytest.raises(AnnotationError, match="y has its columns in another order than fit"):
        classifier.score(X, swapped)
    with pytest.raises(AnnotationError, match=r"y has the column 'see', .* did you mean 'sea'?"):
        classifier.score(X, frame.rename(columns={"sea": "see"}))


def test_a_data_frame_without_names_leaves_numbers():
    pandas = pytest.importorskip("pandas")
    classifier = brief("prior").fit(X, pandas.DataFrame(COMPLEMENTARY))
    np.testing.assert_array_equal(classifier.classes_, range(N_LABELS))


def test_named_classes_work_under_cross_validation():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COMPLEMENTARY, columns=LABELS)
    for scoring in (None, metrics.complementary_ranking_scorer):
        found, expected = (
            cross_val_score(brief("prior"), X, y, cv=3, scoring=scoring, error_score="raise")
            for y in (frame, COMPLEMENTARY)
        )
        np.testing.assert_array_equal(found, expected)


def test_names_of_true_classes_are_taken_as_they_are():
    names = np.array(LABELS)[PROBLEM.Y.argmax(axis=1)]
    assert brief("supervised").fit(X, names).predict(X).shape == (N_SAMPLES,)


def test_the_warning_of_an_unchosen_label_points_to_the_call_of_fit():
    unchosen = COMPLEMENTARY.copy()
    unchosen[:, 2] = 0
    unchosen[~unchosen.any(axis=1), 0] = 1
    with pytest.warns(UnchosenLabelWarning, match="label 2;") as caught:
        brief("prior").fit(X, unchosen)
    assert [warning.filename for warning in caught] == [__file__]


def shuffled_by_name():
    """A frame with named rows in another order than answers about them, and that order."""
    names = np.array([f"img{number}.png" for number in range(N_SAMPLES)], dtype=object)
    answers = replace(Answers.from_complementary(COMPLEMENTARY), item_names=names)
    order = np.random.default_rng(0).permutation(N_SAMPLES)
    return pd.DataFrame(X, index=names).iloc[order], answers, order


@pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
@pytest.mark.parametrize("name", ["ridge", "selection-likelihood"])
def test_a_frame_in_another_order_than_the_answers_is_paired_by_name(name):
    frame, answers, order = shuffled_by_name()
    by_name = brief(name).fit(frame, answers)
    rows = pd.DataFrame(X[order]), answers[order]  # a frame has another layout than an array
    expected = brief(name).fit(*rows)
    scores = expected.decision_function(X)
    np.testing.assert_allclose(by_name.decision_function(frame.to_numpy()), scores[order], 1e-6)
    assert by_name.score(frame, answers) == pytest.approx(expected.score(*rows))
    scorer = metrics.complementary_ranking_scorer
    assert scorer(by_name, frame, answers) == pytest.approx(scorer(expected, *rows))
    found, same = (
        held_out_score(brief(name), *each, n_folds=2).score for each in ((frame, answers), rows)
    )
    assert found == pytest.approx(same)
    pipeline = make_pipeline(StandardScaler(), brief(name)).set_output(transform="pandas")
    assert pipeline.fit(frame, answers).score(frame, answers) == pytest.approx(
        pipeline.fit(*rows).score(*rows)
    )
    with pytest.raises(InputError, match=r"10 of 90 names are only in y \('img"):
        by_name.fit(frame.iloc[10:], answers)


def test_labels_in_frames_are_paired_with_the_rows_of_x_by_name():
    frame, answers, order = shuffled_by_name()
    true, y = (pd.DataFrame(Y, index=answers.item_names) for Y in (PROBLEM.Y, COMPLEMENTARY))
    relevant = true * (np.arange(N_LABELS) == 1)
    by_name = brief("mlcl").fit(frame, y, relevant=relevant)
    rows = pd.DataFrame(X[order]), COMPLEMENTARY[order]
    expected = brief("mlcl").fit(*rows, relevant=relevant.to_numpy()[order])
    np.testing.assert_allclose(
        by_name.decision_function(frame), expected.decision_function(rows[0]), 1e-4
    )
    assert by_name.score(frame, y) == pytest.approx(expected.score(*rows))
    found, same = (
        metrics.average_precision_scorer(expected, rows[0].set_axis(index), true_labels=true)
        for index, true in ((frame.index, true), (range(N_SAMPLES), PROBLEM.Y[order]))
    )
    assert found == same
    supervised = brief("supervised").fit(frame, true)
    assert supervised.score(frame, true) == pytest.approx(supervised.score(X, PROBLEM.Y))


@pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
def test_frames_and_answers_that_are_split_together_stay_paired():
    frame, answers, _ = shuffled_by_name()
    in_order = frame.loc[answers.item_names]
    by_position = cross_val_score(brief("ridge"), X, answers, cv=3, error_score="raise")
    for rows in (in_order, in_order.reset_index(drop=True)):  # named, and numbered, rows
        found = cross_val_score(brief("ridge"), rows, answers, cv=3, error_score="raise")
        np.testing.assert_array_equal(found, by_position)
