"""The learner on simulated people: honest scores, what comes next, and a process of its own."""

import json
import random

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score
from tests.refusals import raises

from complabel import load
from complabel._questions import KINDS
from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.files import COLUMNS
from complabel.live import Learner, _learner
from complabel.live._asker import Asker, News
from complabel.live._drawing import RandomQuestions
from complabel.live._learner import LearningError, Refits, ten_more, worth_it
from complabel.methods import read_header
from complabel.trust import FeaturesTell

TOLD = FeaturesTell(0.8, 0.7, 0.01, {})
N_ITEMS, LABELS = 400, ["a", "b", "c", "d"]
DATA = make_synthetic(N_ITEMS, n_features=5, n_labels=4, signal=4.0, random_state=0)
ITEMS = [f"item {number}" for number in range(N_ITEMS)]


def table_of(count, *, kinds=("asked",), seconds=(6.0,), truth=DATA.Y):
    """Return the first answers to questions whose kinds take turns, as columns."""
    rng = np.random.default_rng(0)
    columns = {name: [] for name in COLUMNS}
    order, judged = rng.permutation(N_ITEMS), rng.integers(4, size=N_ITEMS)
    for number in range(count):
        kind, took = kinds[number % len(kinds)], seconds[number % len(kinds)]
        item = order[number]
        for label in [judged[number]] if kind == "asked" else range(4):
            row = {
                "answer_id": f"{number:04}",
                "item": ITEMS[item],
                "label": LABELS[label],
                "answer": "yes" if truth[item, label] else "no",
                "question": kind,
                "probability": 0.25 if kind == "asked" else 1.0,
                "seconds": took,
            }
            for name in COLUMNS:
                columns[name].append(row.get(name))
    return columns


def answered(count, **how):
    """Return these answers and their seconds, as a learner takes them."""
    table = table_of(count, **how)
    answers = Answers.from_table(table, items=ITEMS, label_names=LABELS, contradictions="keep")
    first = [table["answer_id"].index(each) for each in dict.fromkeys(table["answer_id"])]
    return answers, [table["seconds"][at] for at in first]


def news_of(answers, seconds):
    """Return what gives a learner these answers in the place of all that it knows."""
    ids, seconds = np.arange(len(seconds)), np.array(seconds)
    about = answers, ids[: answers.n_answers], ids, seconds
    return lambda mark: News((len(ids), 0, 0), np.arange(mark[0]), *about)


@pytest.fixture(scope="module")
def learned():
    """Return refits after three updates, and what they said each time."""
    refits = Refits(DATA.X)
    return refits, [refits.update(*answered(count)) for count in (50, 80, 110)]


@pytest.fixture(scope="module")
def started():
    """A learner whose process nobody has asked for anything."""
    return Learner(DATA.X, range(N_ITEMS), notes={"recipe": "text by lengths: x"})


@pytest.mark.slow
def test_the_score_is_about_that_on_true_labels_of_other_items(learned):
    refits, states = learned
    last = states[-1]
    assert last["answers"] == 110
    json.dumps(last)  # the page gets it so
    judged = {*map(ITEMS.index, table_of(110)["item"])}
    others = np.array([number for number in range(N_ITEMS) if number not in judged])
    p = refits.model.predict_proba(DATA.X[others])
    on_truth = roc_auc_score(DATA.Y[others].ravel(), p.ravel())
    assert abs(last["score"] - on_truth) < 3 * last["error"]


@pytest.mark.slow
def test_minutes_are_those_of_people_and_a_pause_does_not_count(learned):
    _, states = learned
    assert [point[0] for point in states[-1]["curve"]] == pytest.approx([5, 8, 11])
    answers, seconds = answered(30)
    seconds[10] = 7200.0
    (point,) = Refits(DATA.X).update(answers, seconds)["curve"]
    assert point[0] == pytest.approx((29 * 6 + 60) / 60)


def curve_of(*scores, errors=(0.03, 0.02)):
    """Return a score after half of the minutes and one after all; their difference has an error."""
    before, now = np.array([errors[0], 0.0]), np.array([errors[0], errors[1]])
    return [(scores[0], before), (scores[1], now)]


def test_what_ten_minutes_bring_is_that_of_bayes_on_a_grid_of_shares():
    found = ten_more(np.array([5.0, 10.0]), curve_of(0.6, 0.7))
    # Of .3 that the score lacks, a doubling takes a share away: .12 with a spread of .06 in other
    # sittings. Here it was .1 / .3, with an error of .02 / .3. The next ten minutes are a doubling.
    share = np.linspace(-0.5, 1, 30_001)
    weight = norm.pdf(share, 0.12, 0.06) * norm.pdf(0.1 / 0.3, share, 0.02 / 0.3)
    weight /= weight.sum()
    assert found["gain"] == pytest.approx(0.3 * (weight @ share))
    for name, tail in (("low", 0.1), ("high", 0.9)):
        below = norm.cdf(found[name], 0.3 * share, 0.7 * 0.02)  # the later score has an error, too
        assert weight @ below == pytest.approx(tail, abs=1e-4)


def test_nothing_is_said_of_ten_minutes_that_cannot_be_known():
    assert ten_more(np.array([10.0]), curve_of(0.6, 0.7)[1:]) is None
    assert ten_more(np.array([0.0, 0.0]), curve_of(0.6, 0.7)) is None
    assert ten_more(np.array([8.0, 10.0]), curve_of(0.6, 0.7)) is None
    for error in (0.0, 0.051):
        assert ten_more(np.array([5.0, 10.0]), curve_of(0.6, 0.6, errors=(0.03, error))) is None
    assert worth_it(None)


@pytest.mark.parametrize(("now", "worth"), [(0.82, True), (0.8, False)])
def test_ten_minutes_are_worth_it_while_they_may_bring_one_case_of_a_hundred(now, worth):
    found = ten_more(np.array([5.0, 10.0]), curve_of(0.8, now, errors=(0.01, 0.002)))
    assert found["low"] < found["gain"] < found["high"]
    assert worth_it(found) == worth
    assert ("you may stop" in _learner._advice(now, 0.01, TOLD, found)) != worth


def test_noise_has_no_score_although_a_model_can_learn_it_by_heart():
    noise = np.random.default_rng(1).integers(2, size=DATA.Y.shape)
    state = Refits(DATA.X).update(*answered(60, kinds=("ticked",), truth=noise))
    assert abs(state["score"] - 0.5) < 3 * state["error"]


def test_nothing_is_said_before_there_is_something():
    refits = Refits(DATA.X)
    assert refits.update(*answered(0)) is None
    state = refits.update(*answered(15))
    assert state["score"] is None
    assert state["advice"] == "The model starts when 5 more items have an answer."
    state = refits.update(*answered(30, truth=np.zeros_like(DATA.Y)))
    assert "nobody has said so far that a label applies" in state["advice"]


def test_what_it_computes_is_said_while_it_does():
    learner, said = Learner(DATA.X, range(N_ITEMS)), []

    class Told(News):
        def about(self, things):
            said.append(learner.state())
            return News(*vars(self).values()).about(things)

    def update(n_answers):
        news = news_of(*answered(n_answers))
        learner.update(lambda mark: Told(*vars(news(mark)).values()))

    update(15)
    assert learner.now() is None
    assert "5 more items" in learner.state()["advice"]
    update(30)
    update(33)
    first, second, third = said
    for count, state in ((15, first), (30, second)):
        assert f"learning from {count} answers" in state["advice"]
        assert state["curve"] == []
    assert "learning from 33 answers" in third["now"]
    assert third["score"] is not None
    assert "learning" not in third["advice"]


def test_things_without_features_teach_nothing_and_rows_may_be_in_any_order():
    answers, seconds = answered(30)
    order = np.random.default_rng(1).permutation(N_ITEMS)[:350]
    learner = Learner(DATA.X[order], order)
    learner.update(news_of(answers, seconds))
    alone = Refits(DATA.X[order])
    state = alone.update(answers[order], seconds)
    told = learner.state()
    assert told["answers"] == int(np.isin(answers.item, order).sum()) < 30
    assert (told["score"], told["curve"]) == (state["score"], state["curve"])


def test_news_teach_what_all_answers_would():
    draws, source = random.Random(0), RandomQuestions(ITEMS, 4, lambda: KINDS["ticked"], None, 0.3)
    asker = Asker(source, LABELS, lambda: 0.0)
    by_news, by_all = Refits(DATA.X), Refits(DATA.X)
    for count in (60, 4, 9):  # the choices of the first are kept
        for _ in range(count):
            event = asker.next(person := draws.choice(["ann", "ben", "cy"]))
            question, wrong = asker.questions[event.number], draws.random() < 0.1
            answer = [LABELS[at] for at in np.flatnonzero(DATA.Y[question.item] ^ wrong)]
            asker.answer(event.id, person, draws.choice([*[answer] * 9, "unsure"]), 6.0)
            if draws.random() < 0.15:
                asker.undo(person)
        whole = asker.news(0, N_ITEMS)
        found = by_news.hear(asker.news(by_news.known()[0][0], N_ITEMS))
        expected = by_all.update(whole.answers, whole.seconds)
        assert by_news.known() == (whole.mark, asker.answered)
        assert found["answers"] == expected["answers"] < asker.answered
        np.testing.assert_allclose(found["curve"], expected["curve"])
        p = by_all.model.predict_proba(DATA.X)
        np.testing.assert_allclose(by_news.model.predict_proba(DATA.X), p)


def test_of_two_people_who_contradict_each_other_neither_is_believed():
    answers, seconds = answered(30)
    turned = Answers.from_arrays(
        relevant=answers.absent, absent=answers.relevant, item=answers.item, n_items=N_ITEMS
    )
    both = Answers.concatenate([answers, turned.only(turned.item == answers.item[0])])
    assert Refits(DATA.X).update(both, seconds)["answers"] == 29


def test_a_process_learns_and_saves_and_its_end_is_told(tmp_path, started):
    assert started.state() is None
    started.update(news_of(*answered(30)))
    assert started.state()["answers"] == 30
    started.save(tmp_path / "model.safetensors")
    given = read_header(tmp_path / "model.safetensors")["provenance"]["given"]
    assert given == {"recipe": "text by lengths: x"}
    assert load(tmp_path / "model.safetensors").predict_proba(DATA.X).shape == (N_ITEMS, 4)
    with raises(ValueError, "shape"):  # what fails there is raised here
        started.update(news_of(Answers.from_arrays(absent=[[1, 0]], n_items=N_ITEMS), [6.0]))
    assert started._ask("known") == ((30, 0, 0), 30)
    started.update(news_of(*answered(0)))
    started._process.kill()
    with raises(LearningError):
        started.update(news_of(*answered(30)))
