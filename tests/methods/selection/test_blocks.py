"""Fits to rows in blocks find what a fit to all rows at once finds."""

import os
import signal

import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from tests.methods.selection.answered import ANSWERS, FIXED, fixed
from tests.methods.selection.answered import X as ALL_ROWS
from tests.methods.selection.answered import Y as ALL_LABELS
from tests.refusals import raises
from tests.training.test_blocks import Pieces

from complabel.answers import Answers
from complabel.errors import InputError
from complabel.experiments.methods import SupervisedClassifier
from complabel.methods import SelectionLikelihoodClassifier, make_classifier
from complabel.simulate import draw_answers

pytestmark = [
    pytest.mark.usefixtures("full_batches"),  # in memory, too
    pytest.mark.filterwarnings("ignore::complabel.answers.AssumedUniformWarning"),
    pytest.mark.filterwarnings("ignore::complabel.answers.UnansweredRowWarning"),
]

# Few rows and blocks, because each call costs more than its work.
N = 120
X, Y = ALL_ROWS[:N], ALL_LABELS[:N]
ANSWERS = {name: answers[:N] for name, answers in ANSWERS.items()}
# Random judgements of some items estimate frequencies and propensities of free namings.
JUDGED = draw_answers(Y, question="asked", random_state=3)
FEW = Answers.concatenate([ANSWERS["free"], JUDGED.only(np.arange(JUDGED.n_answers) < 60)])
CASES = {
    "free": (ANSWERS["free"], {"cardinality": 1.5}),
    "asked": (ANSWERS["asked"], {}),
    "all at once": (ANSWERS["all at once"], {"exclusion_rates": 0.4, "error_rate": 0.1}),
    "frequencies": (FEW, {"cardinality": "auto"}),
    "propensities": (ANSWERS["all at once"], {"exclusion_rates": 0.4, "propensities": "auto"}),
    "rank": (ANSWERS["menu-2"], {"rank": 2}),
    "mistakes": (ANSWERS["asked"], {"missed": 0.2, "invented": 0.05}),
    "rows": (ANSWERS["ticked"], {"scaling": "rows"}),
    "rbf": (ANSWERS["menu-2"], {"kernel": "rbf", "scaling": "auto", "n_components": 20}),
}


def near(found, expected, tolerance, *, same_steps=True):
    """Compare what the model says, relative to how much its scores differ."""
    scores = expected.decision_function(X)
    close = np.abs(found.decision_function(X) - scores).max()
    assert close <= tolerance * np.abs(scores).max()
    assert found.mean_cardinality_ == pytest.approx(expected.mean_cardinality_, rel=tolerance)
    assert not same_steps or found.n_iter_ == expected.n_iter_


@pytest.mark.parametrize("name", CASES)
def test_blocks_give_what_one_block_gives(name):
    answers, settings = CASES[name]
    one = fixed(**settings).fit(Pieces(X, 1000), answers)
    near(fixed(**settings).fit(Pieces(X, 50), answers), one, 1e-9)
    # The prior of biases of namings is computed in single precision in memory.
    near(fixed(**settings).fit(X, answers), one, 1e-3 if name == "free" else 1e-6)


@pytest.mark.parametrize("size", [90, 11])
def test_blocks_of_single_precision_are_added_in_double(size):
    single = X.astype(np.float32)
    one = fixed(alpha=0.03).fit(Pieces(single, 1000), ANSWERS["asked"])
    found = fixed(alpha=0.03).fit(Pieces(single, size), ANSWERS["asked"])
    np.testing.assert_allclose(found.coef_, one.coef_, rtol=0, atol=1e-6 * np.abs(one.coef_).max())


def test_the_search_chooses_the_same():
    settings = {"kernel": "linear", "random_state": 0, "cv": 2}
    expected = SelectionLikelihoodClassifier(**settings).fit(X, ANSWERS["asked"])
    found = SelectionLikelihoodClassifier(**settings).fit(Pieces(X, 50), ANSWERS["asked"])
    assert (found.alpha_, found.scaling_) == (expected.alpha_, expected.scaling_)
    assert len(found.cv_results_["mean_test_score"]) == len(expected.cv_results_["mean_test_score"])
    near(found, expected, 1e-6)


def test_the_search_on_a_part_of_the_rows_chooses_the_same(monkeypatch):
    monkeypatch.setattr("complabel.methods.selection._search._MOST_ROWS", 60)
    settings = {"kernel": "linear", "scaling": "global", "rank": None, "random_state": 0, "cv": 2}
    expected = SelectionLikelihoodClassifier(**settings).fit(X, ANSWERS["asked"])
    found = SelectionLikelihoodClassifier(**settings).fit(Pieces(X, 50), ANSWERS["asked"])
    assert found.alpha_ == expected.alpha_
    # The curvature that scales the steps is that of the part, so fits end a little apart.
    scores = expected.decision_function(X)
    assert found.decision_function(X) == pytest.approx(scores, abs=0.01 * np.abs(scores).max())


def test_sparse_blocks_stay_sparse():
    thin = sparse.csr_array(np.where(X > 0.5, X, 0))
    array = da.from_array(thin.toarray(), chunks=(70, 3)).map_blocks(sparse.csr_array)
    near(fixed().fit(array, ANSWERS["asked"]), fixed().fit(thin, ANSWERS["asked"]), 1e-6)


@pytest.mark.parametrize("name", ["free", pytest.param("frequencies", marks=pytest.mark.slow)])
def test_rows_count_by_their_weights(name):
    answers, settings = CASES[name]
    weights = np.random.default_rng(0).integers(4, size=N).astype(float)  # some are 0
    one = fixed(**settings).fit(Pieces(X, 1000), answers, sample_weight=weights)
    near(fixed(**settings).fit(Pieces(X, 50), answers, sample_weight=weights), one, 1e-9)
    # Only the scale of steps depends on the unweighted spread, so fits end a little apart.
    whole = fixed(**settings).fit(X, answers, sample_weight=weights)
    near(whole, one, 0.01, same_steps=False)


def test_rows_without_an_answer_are_left_out():
    some = ANSWERS["asked"].only(ANSWERS["asked"].item % 3 > 0)
    near(fixed().fit(Pieces(X, 50), some), fixed().fit(X, some), 1e-6)


@pytest.mark.parametrize("first", [0, 45])
@pytest.mark.parametrize("name", CASES)
def test_blocks_without_an_answered_row_are_left_out(name, first):
    (answers, settings), rows = CASES[name], slice(first, first + 30)
    some = answers.only((answers.item >= first) & (answers.item < first + 30))
    found = fixed(**settings).fit(Pieces(X, 20), some)
    near(found, fixed(**settings).fit(X[rows], answers[rows]), 1e-3, same_steps=False)


def test_the_supervised_referencereads_pieces():
    settings = {"alpha": 0.01, "scaling": "global", "kernel": "linear", "rank": None}
    expected = SupervisedClassifier(**settings).fit(X, Y)
    near(SupervisedClassifier(**settings).fit(da.from_array(X, chunks=(50, 3)), Y), expected, 1e-6)


def test_a_warm_start_fits_anew():
    blocks = Pieces(X, 50)
    once = fixed().fit(blocks, ANSWERS["asked"])
    twice = fixed(warm_start=True).fit(blocks, ANSWERS["menu-2"]).fit(blocks, ANSWERS["asked"])
    near(twice, once, 1e-12)


def test_values_that_overflow_are_refused():
    with raises(InputError, "X", "up to 1e+200"):
        fixed().fit(Pieces(np.where(X > 2, 1e200, X), 50), ANSWERS["asked"])


def test_other_fits_and_predictions_say_what_they_need():
    array = da.from_array(X, chunks=(50, 3))
    with raises(InputError, "ComplementaryRidgeClassifier", "numpy.asarray"):
        make_classifier("ridge").fit(array, ANSWERS["free"])
    classifier = fixed().fit(array, ANSWERS["asked"])
    with raises(InputError, "X.map_blocks"):
        classifier.predict_proba(array)
    # As the message says.
    found = array.map_blocks(
        classifier.predict_proba, dtype=float, chunks=(array.chunks[0], (4,))
    ).compute()
    np.testing.assert_allclose(found, classifier.predict_proba(X), rtol=1e-12)


@pytest.fixture(scope="module")
def cluster():
    """A scheduler here and two workers in processes of their own."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as started,
        Client(started) as client,
    ):
        yield client


@pytest.mark.slow
def test_workers_of_a_cluster_give_what_one_process_gives(cluster):
    answers, settings = CASES["frequencies"]
    found = fixed(**settings).fit(da.from_array(X, chunks=(40, 3)), answers)
    near(found, fixed(**settings).fit(X, answers), 1e-6)


@pytest.mark.slow
def test_a_killed_worker_costs_a_step_and_not_the_fit(cluster):
    killed = []

    def kill(stage, number, most, loss):
        if stage == "classifier" and number == 1:
            killed.append(next(iter(cluster.run(os.getpid).values())))
            os.kill(killed[-1], signal.SIGKILL)

    found = fixed(callback=kill).fit(da.from_array(X, chunks=(40, 3)), ANSWERS["menu-2"])
    assert killed
    near(found, SelectionLikelihoodClassifier(**FIXED).fit(X, ANSWERS["menu-2"]), 1e-6)
