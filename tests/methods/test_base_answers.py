"""What methods learn from answers, those that understand them and those that do not."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.examples import examples
from tests.methods.small import COMPLEMENTARY, LEARNERS, PROBLEM, brief

from complabel import metrics
from complabel.answers import (
    Answers,
    IgnoredAnswersWarning,
    UnansweredRowWarning,
    UnchosenLabelWarning,
)
from complabel.methods import ComplementaryClassifier
from complabel.simulate import draw_answers, draw_complementary

X, Y = PROBLEM.X, PROBLEM.Y
N_SAMPLES, N_LABELS = Y.shape
FREE = Answers.from_complementary(COMPLEMENTARY)
QUESTIONS = ("free", "menu-2", "menu-3", "asked", "ticked", "excluded")

unheard = pytest.mark.filterwarnings(
    "ignore::complabel.answers.IgnoredAnswersWarning",
    "ignore::complabel.answers.UnansweredRowWarning",
    "ignore::complabel.answers.UnchosenLabelWarning",
)


class Recorder(ComplementaryClassifier):
    """Keeps what it is given; scores a label by its number."""

    def _fit(self, X, complementary, relevant, /):
        self.given_ = X, complementary, relevant

    def _decision(self, X):
        return np.tile(np.arange(len(self.classes_), dtype=float), (X.shape[0], 1))


class Understanding(Recorder):
    """Keeps the answers too; the likelihood of a row is its first feature."""

    models_the_choice = True
    understands_answers = True

    def _fit_answers(self, X, answers, /):
        self.answers_ = X, answers

    def _log_likelihood(self, X, complementary):
        return X[:, 1]

    def _answers_log_likelihood(self, X, answers):
        assert X.shape[0] == len(answers) == answers.answered.sum()
        return X[:, 0]


def learned(answers, method=Recorder, features=X, **masks):
    """What a method is given of answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return method().fit(features, answers, **masks)


def of_questions(questions, **settings):
    """Answers to several questions about the same items."""
    rates = {"exclusion_rates": 0.4}
    return Answers.concatenate(
        draw_answers(Y, question=question, **(rates if question == "excluded" else {}), **settings)
        for question in questions
    )


@pytest.mark.parametrize("name", LEARNERS)
def test_free_namings_are_learned_as_the_labels_they_name(name):
    expected = brief(name).fit(X, COMPLEMENTARY).decision_function(X)
    found = brief(name).fit(X, FREE)
    np.testing.assert_allclose(found.decision_function(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(found.classes_, range(N_LABELS))


@unheard
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("question", ["asked", "menu-2"])
def test_every_method_learns_from_answers_to_other_questions(name, question):
    answers = draw_answers(Y, question=question, answers_per_item=2, random_state=0)
    classifier = brief(name).fit(X, answers)
    assert np.isfinite(classifier.decision_function(X)).all()
    assert np.isfinite(classifier.score(X, answers))


def some_marks(draw):
    """Complementary labels with rows of none, and known relevant ones beside them."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    complementary = draw_complementary(Y, random_state=rng)
    emptied = rng.random(N_SAMPLES) < draw(st.sampled_from([0, 0.2, 0.9]))
    emptied[:10] = False  # enough rows for the five folds of ridge
    complementary[emptied] = 0
    return complementary, Y * (rng.random(Y.shape) < draw(st.sampled_from([0, 0.5])))


@unheard
@examples(15)
@given(st.data())
def test_a_fit_on_named_labels_is_a_fit_on_answers_that_name_them(data):
    y, relevant = some_marks(data.draw)
    answers = Answers.from_complementary(y, relevant=relevant)
    for name in ("ridge", "mlcl", "comrank", "prior"):
        expected = brief(name).fit(X, y, relevant=relevant)
        found = brief(name).fit(X, answers)
        np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))
        assert found.score(X, answers) == pytest.approx(
            -metrics.complementary_ranking_error(
                y[y.any(axis=1)], expected.decision_function(X[y.any(axis=1)])
            )
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


@unheard
@examples(30)
@given(
    st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=3),
    st.integers(0, 99),
    st.sampled_from([0.3, 1]),
    st.sampled_from([0, 0.3]),
)
def test_others_are_given_the_labels_that_do_not_apply(questions, seed, share, mistakes):
    answers = of_questions(questions, random_state=seed, items_share=share, error_rate=mistakes)
    known = by_hand(answers)
    n_wrong = (known == -1).sum(axis=1)
    rows = (n_wrong > 0) & (n_wrong < N_LABELS)
    features, complementary, relevant = learned(answers).given_
    np.testing.assert_array_equal(complementary, known[rows] == -1)
    np.testing.assert_array_equal(features, X[rows])
    assert complementary.dtype == np.uint8
    if relevant is None:
        assert not (known[rows] == 1).any()
    else:
        np.testing.assert_array_equal(relevant, known[rows] == 1)
        assert relevant.any()


@unheard
@examples(20)
@given(st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=3), st.integers(0, 99))
def test_who_understands_is_given_every_answer(questions, seed):
    answers = of_questions(questions, random_state=seed, items_share=0.5)
    rows = np.isin(np.arange(N_SAMPLES), answers.item)
    classifier = learned(answers, Understanding)
    features, given = classifier.answers_
    np.testing.assert_array_equal(features, X[rows])
    assert given.n_answers == answers.n_answers
    assert given.shape == (rows.sum(), N_LABELS)
    np.testing.assert_array_equal(np.flatnonzero(rows)[given.item], answers.item)
    assert classifier.score(X, answers) == pytest.approx(X[rows, 0].mean())
    assert not hasattr(classifier, "given_")


def test_who_understands_is_given_plain_labels_as_before():
    relevant = np.zeros_like(COMPLEMENTARY)
    relevant[3, np.argmax(Y[3])] = 1
    classifier = Understanding().fit(X, COMPLEMENTARY, relevant=relevant)
    _, complementary, known = classifier.given_
    np.testing.assert_array_equal(complementary, COMPLEMENTARY)
    np.testing.assert_array_equal(known, relevant)
    assert not hasattr(classifier, "answers_")
    assert classifier.score(X, COMPLEMENTARY) == pytest.approx(X[:, 1].mean())


def test_two_labels_are_enough_for_who_understands():
    answers = draw_answers(Y[:, :2], question="asked", random_state=0)
    assert learned(answers, Understanding).predict(X).shape == (N_SAMPLES, 2)


def test_sparse_features_lose_the_same_rows():
    answers = draw_answers(Y, question="asked", items_share=0.5, random_state=0)
    for method, kept in ((Recorder, "given_"), (Understanding, "answers_")):
        dense = getattr(learned(answers, method), kept)[0]
        found = getattr(learned(answers, method, sparse.csr_array(X)), kept)[0]
        np.testing.assert_array_equal(found.toarray(), dense)


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
    with pytest.warns(IgnoredAnswersWarning) as caught, pytest.warns(UnansweredRowWarning):
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


@pytest.mark.filterwarnings("ignore::complabel.answers.IgnoredAnswersWarning")
@pytest.mark.parametrize("method", [Recorder, Understanding])
def test_items_without_an_answer_are_counted(method):
    with pytest.warns(UnansweredRowWarning, match="2 of 7 items have no answer, so they are left"):
        method().fit(np.zeros((7, 1)), TOLD)


def test_nothing_is_said_where_nothing_is_ignored():
    two_named = draw_complementary(Y[Y.sum(axis=1) < 3], asked_for=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Recorder().fit(X, FREE)
        Recorder().fit(X, draw_answers(Y, random_state=0))
        Recorder().fit(X[Y.sum(axis=1) < 3], Answers.from_complementary(two_named))
        Understanding().fit(X, draw_answers(Y, question="asked", random_state=0))


def test_labels_that_nothing_rules_out_are_warned_of():
    named = COMPLEMENTARY.copy()
    named[named[:, 2] == 1] = [1, 0, 0, 0]
    for method in (Recorder, Understanding):
        with pytest.warns(UnchosenLabelWarning, match="label 2;"):
            method().fit(X, Answers.from_complementary(named))


def test_who_understands_is_not_warned_of_labels_that_were_judged():
    yes = Answers.from_arrays(relevant=np.eye(4, dtype=int))
    no = Answers.from_arrays(absent=np.eye(4, dtype=int)[:2], item=[1, 2], n_items=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Understanding().fit(X[:4], Answers.concatenate([yes, no]))
        Understanding().fit(X[:4], yes)
        ticked = np.array([[1, 1, 1, 0], [1, 1, 0, 0]])
        Understanding().fit(X[:2], Answers.from_arrays(absent=ticked, question="ticked"))
    with pytest.warns(UnchosenLabelWarning, match="or judged: labels 2, 3; no answer") as caught:
        Understanding().fit(X[:4], Answers.concatenate([yes[[0, 1, 0, 0]], no]))
    assert [each.filename for each in caught] == [__file__]
    # Who volunteers what applies, beside what is named, is not asked about it.
    volunteered = Answers.from_arrays(named=[[1, 0, 0], [0, 1, 0]], relevant=[[0, 0, 1]] * 2)
    with pytest.warns(UnchosenLabelWarning, match="never named, excluded or judged: label 2;"):
        Understanding().fit(X[:2], volunteered)


def test_names_of_labels_become_the_classes():
    names = ["ash", "beech", "cedar", "oak"]
    answers = Answers.from_arrays(named=COMPLEMENTARY, label_names=names)
    assert Recorder().fit(X, answers).classes_.tolist() == names


@unheard
def test_methods_are_searched_and_validated_with_answers():
    answers = draw_answers(Y, question="asked", answers_per_item=3, random_state=0)
    ridge = brief("ridge")
    scores = cross_val_score(ridge, X, answers, cv=3, error_score="raise")
    bounds = [slice(0, 30), slice(30, 60), slice(60, 90)]
    for score, test in zip(scores, bounds, strict=True):
        train = np.setdiff1d(np.arange(N_SAMPLES), np.arange(N_SAMPLES)[test])
        alone = brief("ridge").fit(X[train], answers[train])
        assert score == pytest.approx(alone.score(X[test], answers[test]))
    search = GridSearchCV(
        make_pipeline(StandardScaler(), ridge),
        {"complementaryridgeclassifier__alpha": [0.1, 100.0]},
        scoring=metrics.complementary_ranking_scorer,
        cv=3,
        error_score="raise",
    ).fit(X, answers)
    assert np.isfinite(search.best_score_)
    assert search.predict(X).shape == Y.shape


@unheard
def test_answers_are_split_with_their_rows():
    answers = draw_answers(Y, question="asked", answers_per_item=3, random_state=0)
    X_train, _, rows, _, train, test = train_test_split(
        X, np.arange(N_SAMPLES), answers, random_state=0
    )
    assert isinstance(train, Answers)
    np.testing.assert_array_equal(train.complementary, answers.complementary[rows])
    assert len(train) + len(test) == N_SAMPLES
    assert np.isfinite(brief("mlcl").fit(X_train, train).decision_function(X)).all()
