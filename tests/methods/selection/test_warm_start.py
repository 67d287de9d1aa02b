"""Refits of the selection likelihood start from its last optimum, and end where others end."""

import numpy as np
import pytest
from tests.methods.selection.answered import logistic_regression, prior_of

from complabel import load
from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.methods import SelectionLikelihoodClassifier
from complabel.simulate import draw_answers

ALPHA, N_ITEMS = 0.01, 300
DATA = make_synthetic(N_ITEMS, n_features=6, n_labels=4, signal=4.0, random_state=0)
X = DATA.X
KERNEL = {"kernel": "rbf", "scaling": "auto", "gamma": 0.1}
pytestmark = pytest.mark.filterwarnings("ignore::complabel.answers.AssumedUniformWarning")


def answers_in_two_parts(question, **given):
    """Return answers about all items, and these with others about some of them."""
    first = draw_answers(DATA.Y, question=question, random_state=1, **given)
    more = draw_answers(DATA.Y, question=question, random_state=2, **given)
    new = np.arange(more.n_answers) < 60
    return first, Answers.concatenate([first, more.only(new)])


def fixed(**settings):
    usual = {"alpha": ALPHA, "kernel": "linear", "scaling": "global", "rank": None}
    return SelectionLikelihoodClassifier(**{**usual, "random_state": 0, **settings})


@pytest.mark.parametrize("rows", [X, X.astype(np.float32)], ids=["double", "single"])
@pytest.mark.parametrize("question", ["asked", "ticked", "ticked-3"])
def test_a_refit_to_judgements_is_the_logistic_regression_of_each_label(question, rows):
    first, both = answers_in_two_parts(question)
    refitted = fixed(warm_start=True).fit(rows, first)
    # A refit keeps the prior that the first answers led to.
    prior = prior_of(refitted, rows, first)
    refitted.fit(rows, both)
    spread = np.sqrt(X.var(axis=0).mean())
    said = both.statements()
    for label in range(4):
        pairs = {(item, yes) for item, yes in zip(*about(said, label), strict=True)}
        item, yes = np.array(sorted(pairs)).T
        scaled = (X[item] - X.mean(axis=0)) / spread
        expected = logistic_regression(scaled, yes, n_items=N_ITEMS, alpha=ALPHA, prior=prior)
        expected = expected[:-1] / spread
        assert refitted.coef_[label] == pytest.approx(expected, rel=2e-4, abs=2e-4)


def about(said, label):
    of_label = said.label == label
    return said.item[of_label], said.applies[of_label].astype(int)


@pytest.mark.parametrize(
    ("question", "settings"),
    [
        ("asked", {"missed": 0.2, "invented": 0.05}),
        ("ticked", KERNEL),
        ("menu-2", {"cardinality": None}),
        ("menu-3", {"cardinality": 1.5, "propensities": "equal"}),
        ("named", {"cardinality": 1.5, "propensities": [1.0, 2.0, 1.0, 0.5]}),
        ("named", {"label_frequencies": [0.3, 0.4, 0.3, 0.2], "propensities": "equal"}),
    ],
    ids=["mistakes", "kernel", "menu-2", "menu-3", "propensities", "frequencies"],
)
def test_a_refit_is_a_fit_from_nothing(question, settings):
    first, both = answers_in_two_parts(question)
    refitted = fixed(warm_start=True, **settings).fit(X, first).fit(X, both)
    anew = fixed(**settings).fit(X, both)
    assert refitted.score(X, both) == pytest.approx(anew.score(X, both), abs=2e-3)
    # A fit ends at a tolerance of 1e-6 of the loss, so the maps agree to some times its root.
    found, expected = refitted.predict_proba(X), anew.predict_proba(X)
    assert np.sqrt(((found - expected) ** 2).mean()) < 5e-3
    assert refitted.mean_cardinality_ == pytest.approx(anew.mean_cardinality_, abs=5e-3)


@pytest.mark.parametrize("settings", [{}, {"missed": 0.2, "invented": 0.05}, KERNEL])
def test_a_refit_to_some_rows_is_one_to_a_copy_of_them(settings):
    first, both = answers_in_two_parts("asked")
    rows = np.arange(N_ITEMS) % 3 > 0
    one, other = (fixed(warm_start=True, **settings).fit(X[rows], first[rows]) for _ in range(2))
    assert one._refit_to_rows(X, both, rows)
    other.fit(X[rows], both[rows])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X))
    for refused in (Answers.concatenate([both, first]), draw_answers(DATA.Y, question="menu-2")):
        assert not one._refit_to_rows(X, refused, rows)


def test_with_a_rank_a_refit_may_end_elsewhere_but_as_low():
    first, both = answers_in_two_parts("asked")
    before = fixed(warm_start=True, rank=2).fit(X, first)
    at_start = before.score(X, both)
    refitted = before.fit(X, both)
    assert np.linalg.matrix_rank(refitted.coef_, tol=1e-6) == 2
    assert refitted.score(X, both) > at_start
    assert refitted.score(X, both) > fixed(rank=2).fit(X, both).score(X, both) - 0.01


def test_choices_are_kept_until_there_are_a_quarter_more_answers():
    first, both = answers_in_two_parts("asked")
    classifier = fixed(alpha="auto", cv=2, warm_start=True)
    chosen = classifier.fit(X, first).cv_results_
    alpha = classifier.alpha_
    classifier.fit(X, both)
    assert classifier.cv_results_ is chosen
    assert classifier.alpha_ == alpha
    twice = Answers.concatenate([first, first])
    assert classifier.fit(X, twice).cv_results_ is not chosen


def test_a_label_that_nobody_judged_is_left_at_the_start():
    answers = draw_answers(DATA.Y[:, :3], question="asked", random_state=1)
    wider = Answers.from_arrays(
        **{
            name: np.pad(getattr(answers, name).toarray(), ((0, 0), (0, 1)))
            for name in ("absent", "relevant", "offered")
        },
        question="asked",
        item=answers.item,
    )
    classifier = fixed(cardinality=None, warm_start=True)
    for _ in range(2):
        with pytest.warns(match="never chosen as complementary: label 3"):
            classifier.fit(X, wider)
        assert classifier.coef_[3] == pytest.approx(np.zeros(6), abs=1e-9)


def test_alpha_counts_as_much_when_there_are_more_rows():
    answers = draw_answers(DATA.Y, question="asked", random_state=1)
    classifier = fixed(alpha="auto", cv=2, warm_start=True)
    alpha = classifier.fit(X[:250], answers[:250]).alpha_
    assert classifier.fit(X, answers).alpha_ == pytest.approx(alpha * 250 / 300)


def test_a_parameter_that_changed_asks_for_a_fit_from_nothing():
    first, both = answers_in_two_parts("asked")
    classifier = fixed(warm_start=True).fit(X, first)
    found = classifier.set_params(alpha=1.0).fit(X, both).coef_
    assert found == pytest.approx(fixed(alpha=1.0).fit(X, both).coef_, rel=1e-12)


def test_other_columns_and_labels_are_refused_and_the_classifier_stays():
    first, both = answers_in_two_parts("asked")
    classifier = fixed(warm_start=True).fit(X, first)
    before = classifier.predict_proba(X)
    with pytest.raises(InputError, match="X has 5 features, and the fit before had 6"):
        classifier.fit(X[:, :5], both)
    others = draw_answers(DATA.Y[:, :3], question="asked", random_state=1)
    with pytest.raises(InputError, match="y is about other labels than the fit before"):
        classifier.fit(X, others)
    assert (classifier.predict_proba(X) == before).all()


def test_without_warm_start_nothing_is_kept_and_files_hold_no_more(tmp_path):
    first, both = answers_in_two_parts("asked")
    plain, warm = fixed().fit(X, first), fixed(warm_start=True).fit(X, first)
    assert not hasattr(plain, "_last_fit")
    warm.save(tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    assert loaded.warm_start
    # A loaded model fits from nothing, and then starts from that.
    found = loaded.fit(X, both).coef_
    assert found == pytest.approx(fixed().fit(X, both).coef_, rel=1e-12)
