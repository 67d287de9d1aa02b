import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import optimize, special
from tests.refusals import raises, warns

from complabel.answers import Answers, IgnoredAnswersWarning
from complabel.asking import inspect_answers
from complabel.datasets import make_synthetic
from complabel.errors import AnnotationError, InputError
from complabel.methods import ComplementaryRidgeClassifier, SelectionLikelihoodClassifier
from complabel.metrics import average_precision
from complabel.people import find_consensus
from complabel.people._consensus import as_log_odds
from complabel.people._states import Judgements, _Model, choose_states, fit_states
from complabel.reports import inspection_lines
from complabel.simulate import draw_answers

LINEAR = SelectionLikelihoodClassifier(
    kernel="linear", alpha=0.1, cardinality=None, error_rate=0.05, random_state=0
)


def several_people(n_items=400, n_people=12, each=3, seed=0):
    """Features, true labels and ticks of people who miss labels, some many of them."""
    data = make_synthetic(n_items, n_features=8, n_labels=5, signal=3.0, random_state=seed)
    answers = draw_answers(
        data.Y,
        question="ticked",
        answers_per_item=each,
        missed=np.linspace(0, 0.6, n_people),
        invented=np.full(n_people, 0.03),
        random_state=seed,
    )
    return data, answers


@pytest.fixture(scope="module")
def drawn():
    data, answers = several_people()
    return data, answers, find_consensus(data.X, answers, classifier=LINEAR, random_state=0)


def votes(answers):
    yes = np.zeros(answers.shape)
    np.add.at(yes, answers.item, answers.relevant.toarray())
    return yes / np.bincount(answers.item, minlength=answers.n_items)[:, np.newaxis]


@pytest.mark.slow
def test_consensus_beats_the_majority_and_the_features_alone(drawn):
    data, answers, found = drawn
    by_votes = votes(answers)
    some = data.Y.any(axis=1)
    ours = average_precision(data.Y[some], found.share[some])
    alone = LINEAR.fit(data.X, answers).predict_proba(data.X)
    assert ours > average_precision(data.Y[some], by_votes[some]) + 0.02
    assert ours > average_precision(data.Y[some], alone[some]) + 0.01
    wrong = np.mean(found.relevant != data.Y)
    assert wrong < np.mean((by_votes > 0.5) != data.Y)
    assert np.mean((found.applies > 0.5) != data.Y) <= wrong


def test_people_are_told_apart(drawn):
    _, _, found = drawn
    missed = found.people["missed"]
    truth = np.linspace(0, 0.6, 12)
    assert np.corrcoef(missed, truth)[0, 1] > 0.9
    assert np.abs(missed - truth).mean() < 0.06
    assert np.abs(found.people["invented"] - 0.03).max() < 0.05
    low, high = found.people["missed_low"], found.people["missed_high"]
    assert (low < missed).all()
    assert (missed < high).all()
    assert np.mean((low <= truth) & (truth <= high)) > 0.6
    assert found.people["judged"].sum() == 400 * 3 * 5
    assert found.n_states == 2


@pytest.mark.slow
def test_planted_mistakes_are_the_most_doubtful():
    data = make_synthetic(300, n_features=8, n_labels=5, signal=3.0, random_state=1)
    rng = np.random.default_rng(1)
    said = np.concatenate([data.Y, data.Y])
    flipped = rng.random(said.shape) < 0.03
    said = np.where(flipped, 1 - said, said)
    answers = Answers.from_arrays(
        absent=1 - said,
        relevant=said,
        question="ticked",
        item=np.tile(np.arange(300), 2),
        annotator=np.repeat(["ann", "bob"], 300),
    )
    found = find_consensus(data.X, answers, classifier=LINEAR, random_state=0)
    top = {name: column[: flipped.sum()] for name, column in found.doubtful.items()}
    truth = data.Y[top["item"], top["label"]]
    assert np.mean(truth != top["said"]) > 0.5
    assert (np.diff(found.doubtful["wrong"]) <= 0).all()
    assert len(found.doubtful["item"]) == said.size
    assert found.doubtful["wrong"].sum() == pytest.approx(flipped.sum(), rel=0.5)


@pytest.mark.parametrize("n_states", [2, 16])
def test_states_given_answers_follow_bayes_rule(n_states):
    _, answers = several_people(n_items=60)
    judgements = Judgements.of(answers)
    z = np.random.default_rng(0).normal(size=answers.shape)
    states = fit_states(judgements, z, n_states)
    prior = states.model.of_features(states.values, states.model._z.new_tensor(z)).exp().numpy()
    np.testing.assert_allclose(prior.sum(axis=2), 1, rtol=1e-9)
    for pair in (0, 17, 123):
        chance = prior[judgements.item[pair], judgements.label[pair]].copy()
        mine = np.flatnonzero(judgements.pair == pair)
        assert len(mine) == 3
        for at in mine:
            chance *= np.exp(states.of_judgement[at])
        np.testing.assert_allclose(
            np.exp(states.given_answers[pair]), chance / chance.sum(), rtol=1e-9
        )
        others = chance / np.exp(states.of_judgement[mine[0]])
        np.testing.assert_allclose(
            np.exp(states.without_each(judgements)[mine[0]]), others / others.sum(), rtol=1e-9
        )
        expected = chance.sum() / others.sum()  # of a judgement, given the others
        assert np.exp(states.of_each(judgements)[mine[0]]) == pytest.approx(expected, rel=1e-9)


def unsure_ones(answers, n=30, seed=0):
    """Positions of items, labels and people, some of them unknown."""
    rng = np.random.default_rng(seed)
    sizes = (0, answers.n_items), (0, answers.n_labels), (-1, len(answers.annotator_names))
    return tuple(rng.integers(low, high, size=n) for low, high in sizes)


@pytest.mark.parametrize("n_states", [2, 16])
@pytest.mark.parametrize("some_unsure", [False, True])
def test_the_gradient_is_that_of_the_loss(n_states, some_unsure):
    _, answers = several_people(n_items=20)
    z = np.random.default_rng(0).normal(size=answers.shape)
    unsure = unsure_ones(answers) if some_unsure else None
    model = _Model(Judgements.of(answers, unsure), z, n_states)
    at = model.start() + np.random.default_rng(1).normal(scale=0.3, size=len(model.start()))
    gradient = model.loss_and_gradient(at)[1]
    expected = optimize.approx_fprime(at, lambda x: model.loss_and_gradient(x)[0], 1e-6)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-3)


def judged_pairs(chances, times, seed=0):
    """Judgements of all pairs (n, K) by other people each time, with their chances of a yes."""
    item, label = np.divmod(np.arange(chances.size), chances.shape[1])
    rng = np.random.default_rng(seed)
    pair = np.tile(np.arange(chances.size), times)
    yes = rng.random(len(pair)) < chances.ravel()[pair]
    person = rng.integers(20, size=len(pair))
    return Judgements(item, label, pair, yes, person, n_labels=chances.shape[1], n_people=20)


def likely_pairs(seed=0):
    """Log-odds (500, 4) that tell which pairs apply, and what is true."""
    rng = np.random.default_rng(seed)
    z = rng.normal(-2, 3, size=(500, 4))
    return z, rng.random(z.shape) < special.expit(z)


def test_the_scale_is_for_people_who_differ():
    z, truth = likely_pairs()
    rng = np.random.default_rng(1)
    erring = np.where(truth, 0.6, 0.03)
    differing = special.expit(1.5 * z + 2 * rng.normal(size=z.shape))
    for chances, times, expected in ((erring, 3, 2), (erring, 1, 2), (differing, 3, 16)):
        assert choose_states(judged_pairs(chances, times), z, rng) == expected


def test_a_label_that_most_people_miss_applies_all_the_same():
    z, truth = likely_pairs()
    judgements = judged_pairs(np.where(truth, 0.4, 0.01), times=3)
    share, unsure, applies = fit_states(judgements, z, 2).of_all(judgements, z)
    assert unsure.max() < 1e-12
    assert np.mean((applies > 0.5) == truth) > 0.92
    assert np.mean(share > 0.5) < 0.02
    assert share[truth].mean() == pytest.approx(0.4, abs=0.05)


def test_answers_alone_are_enough():
    data, answers = several_people(each=5)
    found = find_consensus(None, answers)
    assert np.mean(found.relevant != data.Y) < np.mean((votes(answers) > 0.5) != data.Y)


@pytest.mark.slow
def test_pairs_that_nobody_judged_follow_the_features():
    data, _ = several_people()
    asked = draw_answers(data.Y, question="asked", answers_per_item=2, random_state=0)
    with warns(UserWarning, "5 pairs", "30"):
        few = find_consensus(data.X[:40], asked[:40], classifier=LINEAR, random_state=0)
    assert np.isfinite(few.share).all()
    some = data.Y.any(axis=1)
    found = find_consensus(data.X, asked, classifier=LINEAR, random_state=0)
    assert average_precision(data.Y[some], found.share[some]) > 0.75


def test_unknown_people_and_other_classifiers_will_do():
    data, answers = several_people()
    nobody = Answers.from_arrays(
        absent=answers.absent, relevant=answers.relevant, question="ticked", item=answers.item
    )
    ridge = ComplementaryRidgeClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IgnoredAnswersWarning)
        found = find_consensus(data.X, nobody, classifier=ridge, random_state=0)
    assert np.mean(found.relevant != data.Y) < 0.15
    assert len(found.people["missed"]) == 0


def test_what_cannot_be_done_is_refused():
    named = Answers.from_complementary(np.eye(4, dtype=int))
    with raises(AnnotationError):
        find_consensus(None, named)
    data, answers = several_people(n_items=40)
    with raises(InputError, "cv=50"):
        find_consensus(data.X, answers, cv=50)
    with raises(InputError, "X", "10 rows", "40 items"):
        find_consensus(data.X[:10], answers)


def test_log_odds_are_finite():
    np.testing.assert_allclose(as_log_odds(np.array([0.25])), special.logit([0.25]))
    assert np.isfinite(as_log_odds(np.array([0.0, 1.0]))).all()


def people_of_pairs(judges, missed, invented, seed):
    """Answers about one of five labels of each item, (n, R) marks who judges; and the rates."""
    rng = np.random.default_rng(seed)
    label = rng.integers(5, size=len(judges))
    truth = rng.random(len(judges)) < np.linspace(0.1, 0.4, 5)[label]
    item, person = np.nonzero(judges)
    rates = np.where(truth[item], missed[person], invented[person])
    yes = (truth[item] ^ (rng.random(len(item)) < rates))[:, np.newaxis]
    marks = np.eye(5, dtype=np.uint8)[label[item]]
    said = {"relevant": marks * yes, "absent": marks * ~yes, "item": item, "n_items": len(judges)}
    return Answers.from_arrays(**said, annotator=[f"p{at}" for at in person])


@pytest.mark.slow
@pytest.mark.parametrize("n_people", [2, 4])
def test_intervals_hold_the_rates_of_people_whoever_is_right(n_people):
    """Of two people nobody knows who errs; of four, the answers tell it."""
    missed, invented = np.array([0.25, 0.05, 0.1, 0.15]), np.array([0.03, 0.01, 0.02, 0.05])
    judges = np.ones((400, n_people), dtype=bool)
    judges[150:, 1] = n_people > 2
    held = []
    for seed in (*range(5), 8):  # of the last, the scale explains chance better than two states
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = find_consensus(None, people_of_pairs(judges, missed, invented, seed))
        people = found.people
        assert found.n_states == 2
        assert (people["told_apart"] == (n_people > 2)).all()
        for name, true in (("missed", missed), ("invented", invented)):
            low, high = people[f"{name}_low"], people[f"{name}_high"]
            held += [*((low <= true[:n_people]) & (true[:n_people] <= high))]
            assert ((low <= people[name]) & (people[name] <= high)).all()
            assert ((low == 0) == (n_people == 2)).all()
    assert np.mean(held) > 0.85


@pytest.mark.parametrize(
    ("couples", "told"),
    [
        (["ab"], ""),
        (["ab", "bc"], ""),
        (["ab", "bc", "ca"], "abc"),
        (["ab", "bc", "cd", "da"], ""),
        (["ab", "bc", "cd", "da", "ac"], "abcd"),
        (["ab", "bc", "ca", "de", "f"], "abc"),
        (["abc", "cd"], "abcd"),
    ],
)
def test_rates_are_told_apart_in_odd_circles_of_people_who_judged_the_same(couples, told):
    names = sorted({name for couple in couples for name in couple})
    pair = [at for at, couple in enumerate(couples) for _ in couple]
    person = np.array([names.index(name) for couple in couples for name in couple])
    at, yes = np.arange(len(couples)), np.ones(len(person), dtype=bool)
    found = Judgements(at, 0 * at, np.array(pair), yes, person, n_labels=1, n_people=len(names))
    assert [x for x, is_known in zip(names, found.are_identifiable(), strict=True) if is_known] == [
        *told
    ]


def test_the_curvature_is_that_of_the_gradient(monkeypatch):
    _, answers = several_people(n_items=20)
    z = np.random.default_rng(0).normal(size=answers.shape)
    model = _Model(Judgements.of(answers), z, 2)
    at = model.start() + np.random.default_rng(1).normal(scale=0.3, size=len(model.start()))
    whole = model.curvature(torch.from_numpy(at))
    steps = 1e-5 * np.eye(len(at))
    expected = [
        (model.loss_and_gradient(at + step)[1] - model.loss_and_gradient(at - step)[1]) / 2e-5
        for step in steps
    ]
    np.testing.assert_allclose(whole, expected, rtol=1e-4, atol=1e-5)
    # Of many people, all but the last count as independent of each other.
    monkeypatch.setattr("complabel.people._states._MOST_CURVED", 10)
    monkeypatch.setattr("complabel.people._states._MANY", 10)
    of_many = model.curvature(torch.from_numpy(at))
    people = np.delete(np.arange(len(at) - 24, len(at)), [11, 23])
    others = np.setdiff1d(np.arange(len(at)), people)
    np.testing.assert_allclose(of_many[others], whole[others], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(of_many, of_many.T, rtol=1e-10)
    apart = of_many[np.ix_(people, people)]
    assert (np.diag(apart) >= 1).all()
    assert (apart == np.diag(np.diag(apart))).all()


def three_answers(odds, width):
    """The chances of no, unsure and yes."""
    no, yes = special.expit(-odds - width / 2), special.expit(odds - width / 2)
    return np.stack([no, 1 - no - yes, yes], axis=-1)


@pytest.mark.parametrize("n_states", [2, 16])
def test_being_unsure_is_weighed_as_its_chances_say(n_states):
    """All that ann and bob may answer about one pair is enumerated, by another formula."""
    z, rng = np.array([[0.7]]), np.random.default_rng(0)
    said = [(a, b) for a in (0.0, 0.5, 1.0) for b in (0.0, 0.5, 1.0)]
    pair, two = np.array([0]), np.array([0, 1])
    at, chances = None, []
    for both in said:
        judgements = Judgements(pair, pair, 0 * two, np.array(both), two, 1, 2, True)
        if both == (0.0, 0.5):
            model = _Model(judgements, z, n_states)
            at = torch.from_numpy(rng.normal(scale=0.4, size=len(model.start())))
    parts = {name: part.numpy() for name, part in model._parts(at).items()}
    low = np.exp(parts["slope"].sum()) * 0.7 - parts["threshold"].sum()
    if n_states == 2:
        prior = np.array([special.expit(-low), special.expit(low)])
        rates = (parts["state"] + parts["of_label"][:, 0])[np.newaxis]
        odds, width = rates + parts["of_person"].T, np.exp(parts["unsure"] + parts["of_unsure"].T)
    else:
        points = np.linspace(-6, 6, 16)
        prior = special.softmax(-((points - low) ** 2) / 8)
        slope = np.exp(parts["state"] + parts["of_label"][0, 0] + parts["of_person"][0] / 2)
        odds = slope[:, np.newaxis] * points + parts["of_person"][1][:, np.newaxis]
        width = np.exp(parts["unsure"] + parts["of_unsure"][0])[:, np.newaxis]
    by_person = three_answers(odds, width)  # (2, S, 3)
    for both in said:
        if 0.5 not in both:
            continue
        judgements = Judgements(pair, pair, 0 * two, np.array(both), two, 1, 2, True)
        states = _Model(judgements, z, n_states).states(at)
        told = prior * np.prod(
            [by_person[person, :, int(2 * word)] for person, word in enumerate(both)], axis=0
        )
        np.testing.assert_allclose(np.exp(states.given_answers[0]), told / told.sum(), rtol=1e-9)
        chances.append(told.sum())
    assert 0 < sum(chances) < 1  # those with only yes and no are the rest


def people_who_are_unsure(n_items=1500, seed=0):
    """Three of ten people answer about each pair; rates (10, 2, 3) of no, unsure and yes."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_items) < 0.3).astype(int)
    miss, doubt = np.linspace(0.3, 0.1, 10), np.linspace(0.1, 0.6, 10)
    rates = np.stack(
        [
            np.stack([0.93 - doubt / 6, doubt / 6, np.full(10, 0.07)], axis=-1),
            np.stack([miss, doubt, 1 - miss - doubt], axis=-1),
        ],
        axis=1,
    )
    person = np.argsort(rng.random((n_items, 10)), axis=1)[:, :3].ravel()
    item = np.repeat(np.arange(n_items), 3)
    chances = rates[person, truth[item]].cumsum(axis=-1)
    word = (rng.random(len(item))[:, np.newaxis] > chances).sum(axis=-1)
    sure = word != 1
    answers = Answers.from_arrays(
        relevant=(word[sure] == 2)[:, np.newaxis],
        absent=(word[sure] == 0)[:, np.newaxis],
        question="asked",
        item=item[sure],
        n_items=n_items,
        annotator=[f"p{at}" for at in person[sure]],
    )
    unsure = item[~sure], np.zeros((~sure).sum(), dtype=int), person[~sure]
    return truth, rates, answers, unsure


def test_being_unsure_tells_something_and_each_person_has_rates_of_it():
    truth, rates, answers, unsure = people_who_are_unsure()
    found = find_consensus(None, answers, unsure=unsure)
    without = find_consensus(None, answers)
    assert found.n_states == 2
    log_losses = [
        -np.log(np.where(truth, each.applies[:, 0], 1 - each.applies[:, 0])).mean()
        for each in (found, without)
    ]
    assert log_losses[0] < log_losses[1] - 0.02
    for name, at in (("unsure_not", 0), ("unsure_applies", 1)):
        assert np.abs(found.people[name] - rates[:, at, 1]).mean() < 0.04
        assert np.corrcoef(found.people[name], rates[:, at, 1])[0, 1] > 0.7
        assert name not in without.people
    missed = rates[:, 1, 0] / (rates[:, 1, 0] + rates[:, 1, 2])  # of those who are sure
    assert np.abs(found.people["missed"] - missed).mean() < 0.08
    assert found.people["judged"].sum() == len(found.doubtful["said"]) == answers.n_answers
    by_truth = [found.unsure[truth == value].mean() for value in (0, 1)]
    np.testing.assert_allclose(by_truth, rates[:, :, 1].mean(axis=0), atol=0.1)
    assert without.unsure.max() < 1e-12


def test_being_unsure_belongs_to_items_by_name_if_rows_are_in_another_order():
    data, answers = several_people(n_items=60)
    named = replace(answers, item_names=np.array([f"i{at:02}" for at in range(60)], dtype=object))
    item, label, person = unsure_ones(answers)
    order = np.random.default_rng(1).permutation(60)
    frame = pd.DataFrame(data.X[order], index=named.item_names[order])
    by_name = find_consensus(
        frame, named, unsure=(item, label, person), classifier=LINEAR, random_state=0
    )
    rows = np.argsort(order)[item]  # of the frame
    by_row = find_consensus(
        frame, named[order], unsure=(rows, label, person), classifier=LINEAR, random_state=0
    )
    for name in ("share", "unsure", "applies"):
        np.testing.assert_allclose(getattr(by_name, name), getattr(by_row, name), atol=1e-9)
    assert by_name.unsure.max() > 0.01


@pytest.mark.parametrize(
    ("unsure", "message"),
    [
        (([0], [0]), "unsure"),
        (([0, 1], [0], [0]), "unsure"),
        (([400], [0], [0]), "unsure"),
        (([0], [-1], [0]), "unsure"),
        (([0], [0], [12]), "unsure"),
    ],
)
def test_positions_that_do_not_fit_are_refused(unsure, message):
    _, answers = several_people()
    with raises(InputError, message):
        find_consensus(None, answers, unsure=unsure)


def crowd(yes, question="asked"):
    """Three people each pick one of four labels of each of 40 items, and mostly the same."""
    item, person = np.repeat(np.arange(40), 3), np.tile(["ann", "bob", "cy"], 40)
    picked = np.eye(4, dtype=int)[(item + (np.arange(120) % 7 == 0)) % 4]
    mark = {True: "relevant", False: "absent", None: "named"}[yes]
    return Answers.from_arrays(**{mark: picked}, question=question, item=item, annotator=person)


@pytest.mark.parametrize(
    ("answers", "named"),
    [
        (crowd(True), "--read-as ticked"),
        (crowd(False), "--read-as ticked"),
        (crowd(None, "named"), ()),
    ],
    ids=["yes", "no", "named"],
)
def test_people_who_could_not_disagree_are_not_compared(answers, named):
    with raises(AnnotationError, named):
        find_consensus(None, answers)
    inspection = inspect_answers(answers)
    assert not any("agree in" in line for line in inspection_lines(inspection))
    assert {each.agreement for each in inspection.annotators} == {None}


@pytest.mark.parametrize("yes", [True, False])
def test_the_advice_for_people_who_could_not_disagree(yes):
    """Read as ticked, what somebody did not pick is the opposite."""
    found = find_consensus(None, crowd(yes, "ticked"))
    assert found.relevant.sum() == (40 if yes else 120)
    at = found.relevant.argmax(axis=1) if yes else found.relevant.argmin(axis=1)
    np.testing.assert_array_equal(at, np.arange(40) % 4)


def test_a_label_about_which_nobody_says_no_is_told():
    others = Answers.from_arrays(absent=[[1, 0, 0, 0]] * 40, question="asked", item=np.arange(40))
    with warns(UserWarning, "1", "2"):
        find_consensus(None, Answers.concatenate([crowd(True), others]))
