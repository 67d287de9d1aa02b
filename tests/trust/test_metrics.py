"""Figures from random answers: beside scikit-learn, counted by hand, enumerated, simulated."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score
from tests.examples import examples
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import AnnotationError, InputError
from complabel.simulate import draw_answers
from complabel.trust import estimate_metrics
from complabel.trust._metrics import _FIGURES, _Ratio, _where_nothing_is_left
from complabel.trust._pairs import ScoredPairs


def items(n_items, n_labels, seed=0):
    """Return rough probabilities, with ties, and labels that they exaggerate."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1, 2, size=(n_items, n_labels))
    Y = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.uint8)
    return np.round(1 / (1 + np.exp(-1.5 * logits)), 2), Y


def by_scikit_learn(Y, probabilities, threshold):
    y, predicted = Y.ravel(), (probabilities >= threshold).ravel()
    return {
        "precision": precision_score(y, predicted, zero_division=0),
        "recall": recall_score(y, predicted),
        "f1": f1_score(y, predicted),
        "average_precision": average_precision_score(y, probabilities.ravel()),
        "share": y.mean(),
    }


@pytest.mark.parametrize("threshold", [0.5, [0.2, 0.5, 0.7]], ids=["one", "by-label"])
def test_all_pairs_judged_give_the_figures_of_scikit_learn(threshold):
    probabilities, Y = items(80, 3)
    answers = draw_answers(Y, question="ticked", random_state=0)
    found = estimate_metrics(answers, probabilities, threshold=threshold, new_items=False)
    for name, value in by_scikit_learn(Y, probabilities, threshold).items():
        figure = getattr(found, name)
        ends = [figure.value, figure.low, figure.high]
        np.testing.assert_allclose(ends, value, rtol=1e-12)
    cut = np.broadcast_to(threshold, 3)[1]
    for name, value in by_scikit_learn(Y[:, [1]], probabilities[:, [1]], cut).items():
        assert getattr(found.labels["1"], name).value == pytest.approx(value, rel=1e-12)


def judgements(said, probability, item=None, n_items=None, **more):
    """Return yes/no answers about the only label."""
    yes = np.array(said, dtype=np.uint8)[:, np.newaxis]
    return Answers.from_arrays(
        relevant=yes, absent=1 - yes, item=item, probability=probability, n_items=n_items, **more
    )


def test_where_scores_are_equal_precision_is_the_weighted_share():
    answers = judgements([1, 0, 1, 0], [0.5, 0.1, 0.25, 0.5], item=range(4), n_items=40)
    found = estimate_metrics(answers, np.full((40, 1), 0.7))
    assert found.precision.value == pytest.approx((2 + 4) / (2 + 10 + 4 + 2))
    assert found.recall.value == 1
    assert (found.n_judgements, found.n_items, found.precision.n_judgements) == (4, 4, 4)


def test_judged_pairs_count_for_those_on_their_side_of_the_threshold():
    """Three of four judged pairs are predicted, but only a tenth of all pairs are."""
    probabilities = np.repeat([[0.9], [0.1]], [10, 90], axis=0)
    answers = judgements([1, 1, 0, 0], 1.0, item=[0, 1, 2, 50], n_items=100)
    found = estimate_metrics(answers, probabilities)
    assert found.precision.value == pytest.approx(2 / 3)
    assert found.share.value == pytest.approx(0.1 * 2 / 3)
    assert (found.recall.n_judgements, found.precision.n_judgements) == (4, 3)


@pytest.mark.parametrize("by", ["number", "annotator"])
def test_mistakes_are_taken_out(by):
    """Of 10 labels that apply 2 are missed, of 10 that do not one is invented."""
    said = np.repeat([1, 0, 1, 0], [8, 2, 1, 9])
    annotator, rates = None, {"missed": 0.2, "invented": 0.1}
    if by == "annotator":  # the second one never errs
        said = np.concatenate([said, [1] * 5, [0] * 5])
        annotator = np.repeat(["a", "b"], [20, 10])
        rates = {"missed": [0.2, 0.0], "invented": [0.1, 0.0]}
    answers = judgements(said, 1.0, annotator=annotator)
    found = estimate_metrics(answers, np.full((len(said), 1), 0.6), **rates, new_items=False)
    assert found.precision.value == pytest.approx(0.5)
    # The interval has a length though all pairs were judged: nobody knows who erred.
    assert found.precision.low < 0.45 < 0.55 < found.precision.high


SCORES = np.array([0.9, 0.8, 0.8, 0.7, 0.4, 0.3, 0.3, 0.1])
LABELS = np.array([1.0, 0, 1, 1, 0, 1, 0, 0])
BOTH = pytest.mark.parametrize("chance", [SCORES, 1 - SCORES], ids=["good", "misleading"])


def tiny(judged, chance, predicted):
    """Return eight pairs, of which some are judged, with given chances."""
    place = np.flatnonzero(judged)
    return ScoredPairs(
        score=SCORES,
        predicted=predicted,
        item=np.arange(8),
        chance=chance,
        place=place,
        inverse=np.ones(len(place)),
        judgement=LABELS[place],
        noise=np.zeros(len(place)),
        n_judgements=np.ones(len(place), dtype=np.intp),
    )


def value_of(name, pairs, applies):
    ratio = _FIGURES[name](pairs, applies)
    return ratio.above / ratio.below


@BOTH
def test_over_all_samples_the_mean_precision_is_the_true_one(chance):
    found = []
    for first, second in itertools.product(itertools.combinations(range(4), 2), repeat=2):
        judged = np.isin(np.arange(8), [*first, *(4 + np.array(second))])
        pairs = tiny(judged, chance, SCORES > 0.5)
        found.append([value_of(name, pairs, pairs.applies) for name in ("precision", "share")])
    np.testing.assert_allclose(np.mean(found, axis=0), [0.75, 0.5], rtol=1e-12)


@BOTH
def test_over_all_samples_the_mean_sum_of_precisions_is_the_true_one(chance):
    """Average precision is a ratio; what is divided is right on average, with ties, too."""
    share, mean = 0.3, 0.0
    for judged in itertools.product([False, True], repeat=8):
        pairs = tiny(np.array(judged), chance, np.zeros(8, dtype=bool))
        pairs.__dict__["weight"] = np.full(sum(judged), 1 / share)
        probability = share ** sum(judged) * (1 - share) ** (8 - sum(judged))
        mean += probability * _FIGURES["average_precision"](pairs, pairs.applies).above
    assert mean == pytest.approx(LABELS.sum() * average_precision_score(LABELS, SCORES), rel=1e-12)


@pytest.mark.parametrize("name", _FIGURES)
def test_slopes_are_derivatives(name):
    chances = np.random.default_rng(3).random(8)
    pairs = tiny(np.ones(8, dtype=bool), chances, SCORES > 0.35)
    ratio = _FIGURES[name](pairs, chances)
    value, nothing = ratio.above / ratio.below, np.zeros(8)
    slope = nothing + (ratio.each_above - value * ratio.each_below) / ratio.below
    presence = nothing + (ratio.pair_above - value * ratio.pair_below) / ratio.below
    for at in range(8):
        step = 1e-6 * (np.arange(8) == at)
        up, down = (value_of(name, pairs, chances + each) for each in (step, -step))
        assert slope[at] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-9)
    # Twice as many pairs of each kind have the same figures. But in average precision each pair
    # counts at its own place, too.
    rank = (SCORES[:, np.newaxis] <= SCORES).sum(axis=1)
    own = (chances / rank).sum() / chances.sum() if name == "average_precision" else 0
    assert presence.sum() + slope @ chances == pytest.approx(-own, abs=1e-12)


def test_a_ratio_is_where_its_sides_differ_by_no_more_than_their_error():
    variance, figures = np.array([4.0, -1.0, 25.0]), np.linspace(0, 1, 100_001)
    error = 1.96 * np.sqrt(np.polyval(variance, figures))
    for below in (100.0, 40.0):
        inside = figures[np.abs(30 - below * figures) <= error]
        ends = _where_nothing_is_left(_Ratio(30.0, below, *[0] * 4), variance, 1.96)
        np.testing.assert_allclose(ends, [inside.min(), inside.max()], atol=2e-5)
    for below in (3.9, 0.0, -50.0):  # it may be 0: its own error is 2, and 1.96 of these 3.92
        assert _where_nothing_is_left(_Ratio(1.0, below, *[0] * 4), variance, 1.96) == (0, 1)


def asked(Y, rng):
    return draw_answers(Y, question="asked", items_share=0.6, random_state=rng)


def ticked(Y, rng):
    return draw_answers(Y, question="ticked", items_share=0.2, random_state=rng)


def unequal(Y, rng):
    """Draw pairs with chances that differ by label and item."""
    chance = np.array([0.3, *[0.08] * (Y.shape[1] - 1)]) * (1 + np.arange(len(Y)) % 3)[:, None]
    item, label = np.nonzero(rng.random(Y.shape) < chance)
    marks, yes = np.eye(Y.shape[1], dtype=np.uint8)[label], Y[item, label][:, np.newaxis]
    return Answers.from_arrays(
        relevant=marks * yes,
        absent=marks * (1 - yes),
        item=item,
        n_items=len(Y),
        probability=chance[item, label],
    )


def erring(Y, rng):
    return draw_answers(Y, question="asked", missed=0.2, invented=0.05, random_state=rng)


@pytest.mark.slow
@pytest.mark.parametrize("new_items", [False, True], ids=["these", "all"])
@pytest.mark.parametrize("draw", [asked, ticked, unequal, erring])
def test_intervals_hold_the_truth(draw, new_items):
    probabilities, Y = items(400, 4)
    rates = {"missed": 0.2, "invented": 0.05} if draw is erring else {}
    truth = by_scikit_learn(Y, probabilities, 0.5)
    held = []
    for seed in range(40):
        rng = np.random.default_rng([seed, 1])
        rows = rng.integers(400, size=400) if new_items else slice(None)
        answers = draw(Y[rows], rng)
        found = estimate_metrics(answers, probabilities[rows], new_items=new_items, **rates)
        ends = {name: getattr(found, name) for name in truth}
        held.append([ends[name].low <= truth[name] <= ends[name].high for name in truth])
    # The figures of one draw go together; so fewer than 95 % of 40 may be held by chance.
    assert np.mean(held) >= 0.88
    assert np.min(np.mean(held, axis=0)) >= 0.82


def test_so_many_more_questions_halve_the_interval():
    probabilities, Y = items(3000, 3)
    ratios = []
    for seed in range(5):
        answers = draw_answers(Y, question="asked", random_state=seed)
        lengths, n = [], 200
        for _ in range(2):
            first = answers.only(np.arange(answers.n_answers) < n)
            found = estimate_metrics(first, probabilities, new_items=False).f1
            lengths.append(found.high - found.low)
            n += found.more_questions
        ratios.append(lengths[1] / lengths[0])
    assert np.mean(ratios) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize(("n_items", "new_items", "n"), [(100, False, 86), (1000, True, 240)])
def test_the_variance_of_a_share_tells_how_many_questions_halve_it(n_items, new_items, n):
    """Of n of N pairs it is as 1 / n - 1 / N; of endless pairs as 1 / n, where all are alike."""
    answers = judgements([1, 0] * 30, 0.5, item=range(60), n_items=n_items)
    found = estimate_metrics(answers, np.full((n_items, 1), 0.7), new_items=new_items).share
    assert 60 + found.more_questions == pytest.approx(n, abs=1)


def test_where_too_few_pairs_are_left_more_items_are_needed():
    probabilities, Y = items(60, 3)
    answers = draw_answers(Y, question="ticked", items_share=0.5, random_state=0)
    assert estimate_metrics(answers, probabilities).f1.more_questions is None


def test_the_curve_has_the_figures_of_each_threshold():
    probabilities, Y = items(200, 3)
    curve = estimate_metrics(asked(Y, 0), probabilities).curve(10)
    assert 5 < len(curve["threshold"]) <= 10  # some scores are equal
    assert (np.diff(curve["threshold"]) > 0).all()
    assert all(np.isfinite(values).all() for values in curve.values())
    same = estimate_metrics(asked(Y, 0), probabilities, threshold=curve["threshold"][4])
    for name in ("precision", "recall"):
        figure = getattr(same, name)
        values = [curve[name + end][4] for end in ("", "_low", "_high")]
        np.testing.assert_allclose(values, [figure.value, figure.low, figure.high], rtol=1e-12)
    with raises(InputError, "n_points", "at least 1", "0"):
        same.curve(0)


@examples(60)
@given(st.integers(0, 2**32 - 1))
def test_no_interval_is_surer_than_what_is_known(seed):
    """Of a few pairs, beside all that may be true of those that nobody judged."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    p, y = rng.choice([0.05, 0.3, 0.6, 0.9], (n, 1)), rng.integers(0, 2, n)
    known = rng.permutation(n)[: max(1, n - int(rng.integers(6)))]
    found = estimate_metrics(judgements(y[known], 1.0, known, n), p, new_items=False)
    groups = [np.flatnonzero((p[:, 0] >= 0.5) == side) for side in (False, True)]
    left = np.setdiff1d(np.arange(n), known)
    judged = [np.isin(group, known).sum() for group in groups]
    anything = all(k < 3 or k == len(of) for k, of in zip(judged, groups, strict=True))
    for rest in itertools.product([0, 1], repeat=len(left)):
        y[left] = rest
        if not y.any():
            continue
        for name, true in by_scikit_learn(y[:, np.newaxis], p, 0.5).items():
            figure = getattr(found, name)
            if name == "precision" and not len(groups[1]):
                continue
            if figure.low == figure.high:
                assert figure.value == pytest.approx(true), name
            if anything:
                assert figure.low - 1e-9 <= true <= figure.high + 1e-9, name


def test_what_nobody_judged_is_unknown():
    probabilities = np.array([[0.9], [0.2], [0.3], [0.1]])
    found = estimate_metrics(judgements([0, 1, 0], 0.5, item=[1, 2, 3]), probabilities)
    for figure in (found.precision, found.recall, found.f1):
        assert math.isnan(figure.value)
        assert (figure.low, figure.high, figure.more_questions) == (0, 1, None)
    for figure in (found.share, found.average_precision):
        assert 0 < figure.low < figure.value < figure.high <= 1


def test_a_label_that_nobody_judged_is_unknown():
    table = {"item": [0, 1], "label": ["a"] * 2, "answer": ["yes", "no"], "probability": [0.5, 0.5]}
    answers = Answers.from_table(table, items=range(20), label_names=["a", "b"], question="asked")
    probabilities = np.column_stack([np.linspace(0.1, 0.9, 20)] * 2)
    found = estimate_metrics(answers, probabilities).labels["b"]  # and numpy warns of nothing
    assert all(math.isnan(getattr(found, name).value) for name in _FIGURES)


def test_precision_is_no_surer_than_its_heaviest_judgements():
    chance = np.repeat([0.1, 0.01], [60, 4])  # the last four stand for 400 of 1,000 pairs
    said, p = judgements(np.ones(64), chance, n_items=1000), np.full((1000, 1), 0.7)
    low = estimate_metrics(said, p, new_items=False).precision.low
    assert low == pytest.approx(stats.beta.ppf(0.025, 1000 / 100 + 0.5, 0.5), rel=0.02)


def test_without_a_predicted_label_recall_is_none():
    found = estimate_metrics(judgements([1, 0, 0], 0.5), [[0.4], [0.2], [0.1]])
    assert math.isnan(found.precision.value)
    assert found.recall.value == found.f1.value == 0


def test_names_of_labels_are_those_of_the_answers():
    probabilities, Y = items(50, 2)
    answers = replace(draw_answers(Y, question="ticked", random_state=0), label_names=("b", "a"))
    assert [*estimate_metrics(answers, probabilities).labels] == ["b", "a"]


def test_answers_must_be_to_random_questions():
    with raises(AnnotationError, "--random-questions"):
        estimate_metrics(judgements([1, 0], np.nan), [[0.5], [0.5]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"probabilities": [[0.5]]}, "probabilities"),
        ({"probabilities": [[0.5], [1.5]]}, ("0", "1")),
        ({"threshold": [0.5, 0.5]}, ("threshold", "2 numbers")),
        ({"confidence": 1.0}, "confidence"),
        ({"missed": 0.6, "invented": 0.5}, "up to 1.1"),
    ],
)
def test_wrong_arguments_are_refused(changes, message):
    given = {"probabilities": [[0.5], [0.7]], **changes}
    with raises(InputError, message):
        estimate_metrics(judgements([1, 0], 0.5), **given)


@pytest.mark.slow
def test_intervals_of_a_rare_label_hold_the_truth():
    """A label of one item in fifty, with 80 questions each time; the probabilities are off."""
    rng = np.random.default_rng(0)
    logits = 1.5 * rng.normal(size=2000) - 5.5
    y = rng.random(2000) < special.expit(logits)
    p = special.expit(logits + 1 + 0.7 * rng.normal(size=2000))[:, np.newaxis]
    truth, held, known = average_precision_score(y, p[:, 0]), [], []
    for _ in range(150):
        item = rng.choice(2000, 80, replace=False)
        yes = y[item, np.newaxis].astype(np.uint8)
        said = {"relevant": yes, "absent": 1 - yes, "item": item, "n_items": 2000}
        found = estimate_metrics(Answers.from_arrays(**said, probability=1), p, new_items=False)
        figure = found.labels["0"].average_precision
        held.append(figure.low <= truth <= figure.high)
        known.append((yes.sum(), figure.high - figure.low))
    assert np.mean(held) > 0.92
    n_yes, length = np.array(known).T
    assert length[n_yes == 0].min() > 0.95, "nobody said yes"
    assert length[n_yes > 3].mean() < length[n_yes == 1].mean()


@pytest.mark.parametrize(("probability", "value"), [(0.1, 0.0), (0.9, 1.0)])
def test_a_figure_of_other_items_is_exact_for_no_model(probability, value):
    """Where all or none of the labels that apply are predicted, others may differ."""
    Y = np.arange(60)[:, None] % 10 == 0
    answers = draw_answers(Y, question="ticked", random_state=0)
    found = [
        estimate_metrics(answers, np.full((60, 1), probability), new_items=new).recall
        for new in (False, True)
    ]
    assert [each.value for each in found] == [value, value]
    assert (found[0].low, found[0].high) == (value, value)
    width = special.betaincinv(0.5, 6.5, 0.975)  # of none among 6, by Jeffreys' prior
    ends = [0, width] if value == 0 else [1 - width, 1]
    np.testing.assert_allclose([found[1].low, found[1].high], ends)
