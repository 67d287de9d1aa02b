"""The end of a sitting: which labels are asked about, what is left, and that it ends."""

import csv
import io
import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special
from starlette.testclient import TestClient
from tests.refusals import raises

from complabel._drawn import ByMachine
from complabel._questions import KINDS
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.errors import InputError, StoreError
from complabel.files import read_answers
from complabel.frequencies import audit_machine
from complabel.importers import write_questions
from complabel.live import Annotation, Until, read_things
from complabel.live._asker import Asker
from complabel.live._drawing import Question, RandomQuestions
from complabel.live._learner import Refits
from complabel.live._until import aimed_left, aimed_questions, minutes_left, shares_of
from complabel.simulate import draw_answers
from complabel.trust import Goal, Part, Standing, how_far

LABELS = ["sea", "sky", "city", "night"]
NAMES = [str(number) for number in range(900)]


@pytest.fixture
def things(tmp_path):
    (tmp_path / "items.csv").write_text("body\n" + "text\n" * len(NAMES))
    return read_things(tmp_path / "items.csv", text="body")


def applies(item, label):
    """Whether a label applies to an item: never the first, to every second the last."""
    return (int(item) * 7 % 12) < [0, 1, 3, 6][LABELS.index(label)]


def sit(annotation, most=10_000, look=True):
    """Answer until nothing more is asked, without a server; return how many answers there were."""
    asker = annotation.asker
    for n in range(most):
        event = asker.next("ann", only_held=look and annotation.until.is_reached)
        if event is None:
            annotation.end()
            return n
        question = asker.questions[event.number]
        said = "yes" if applies(question.item, asker.labels[question.labels[0]]) else "no"
        asker.answer(event.id, "ann", said, 2.0)
        if look and asker.answered >= annotation.until.next_look:
            annotation.until.look(annotation.news, asker.answered)
    annotation.end()
    return most


def progress(annotation):
    return TestClient(annotation.app()).get("/api/progress").json()["until"]


def test_a_sitting_ends_when_each_label_is_known(things, tmp_path):
    until = Until([Goal.parse("frequencies +-.08")], 4)
    annotation = Annotation.open(things, LABELS, out=tmp_path / "answers.csv", until=until)
    n = sit(annotation)
    assert TestClient(annotation.app()).get("/api/next?person=bob").status_code == 204
    told = progress(annotation)
    assert told["reached"]
    (goal,) = told["goals"]
    assert (goal["known"], goal["of"], goal["answers_left"]) == (4, 4, [0, 0, 0])
    assert goal["sentence"].startswith("How often labels apply: all 4 labels")

    table = TestClient(annotation.app()).get("/answers.csv").text
    rows = list(csv.DictReader(io.StringIO(table)))
    counts = [sum(row["label"] == name for row in rows) for name in LABELS]
    assert sum(counts) == n
    # A label that never applies is known long before one that applies to every second item.
    assert counts[0] < 0.6 * counts[3]
    for row in rows:  # whenever it was asked, a pair of the label had this chance
        assert float(row["probability"]) == pytest.approx(counts[LABELS.index(row["label"])] / n)
    assert len({(row["item"], row["label"]) for row in rows}) == n

    annotation.store.close()
    answers = read_answers(tmp_path / "answers.csv", label_names=LABELS, items=NAMES).answers
    (standing,) = how_far(answers, ["frequencies +-.08"])
    assert standing.is_reached  # a reader of the table finds the same
    again = Annotation.open(things, LABELS, out=tmp_path / "answers.csv")  # goes on without a goal
    assert sit(again, 50, look=False) == 50
    rows = list(csv.DictReader(io.StringIO(TestClient(again.app()).get("/answers.csv").text)))
    assert len({(row["item"], row["label"]) for row in rows}) == n + 50
    again.store.close()


def test_a_sitting_is_aimed_at_a_figure(things, tmp_path):
    p = np.array([[0.9 if applies(item, label) else 0.02 for label in LABELS] for item in NAMES])
    p[::5] = 0.6  # some of these are wrong
    goal = Goal.parse("precision +-.06")
    until = Until([goal], 4, probabilities=p)
    annotation = Annotation.open(things, LABELS, out=tmp_path / "answers.csv", until=until)
    n = sit(annotation)
    predicted = np.array([p[int(q.item), q.labels[0]] for q in annotation.asker.questions.values()])
    assert (predicted >= 0.5).mean() > 0.8
    (told,) = progress(annotation)["goals"]
    Y = np.array([[applies(item, label) for label in LABELS] for item in NAMES])
    assert told["low"] <= Y[p >= 0.5].mean() <= told["high"]
    annotation.store.close()
    answers = read_answers(tmp_path / "answers.csv", label_names=LABELS, items=NAMES).answers
    (standing,) = how_far(answers, [goal], probabilities=p)
    assert (standing.n_judgements, standing.parts[0].low) == (n, pytest.approx(told["low"]))


def test_the_table_of_a_sitting_says_chances_as_they_are_by_now(tmp_path):
    """At the end, every pair was asked about: all were as likely."""
    (tmp_path / "few.csv").write_text("body\n" + "text\n" * 30)
    few = read_things(tmp_path / "few.csv", text="body")
    p = np.random.default_rng(0).random((30, 4)) ** 2
    until = Until([Goal.parse("f1 +-.01")], 4, probabilities=p)
    annotation = Annotation.open(few, LABELS, out=tmp_path / "answers.csv", until=until)
    sit(annotation, 20, look=False)
    early = annotation.table()["probability"]
    sit(annotation, look=False)
    late = annotation.table()["probability"]
    assert len(set(early)) > 15
    np.testing.assert_allclose(late, np.full(120, 1 / 4), rtol=1e-12)
    annotation.store.close()


def test_labels_are_drawn_in_proportion_to_their_weights():
    kind = KINDS["asked"]
    weights = np.array([1.0, 1.0, 0.25, 0.25])
    drawn = RandomQuestions(NAMES, 4, lambda: kind, kind, weights=lambda: weights)
    first = [drawn.draw() for _ in NAMES]
    counts = np.bincount([question.labels[0] for question in first], minlength=4)
    np.testing.assert_allclose(counts / 900, weights / 2.5, atol=0.06)
    assert {question.probability for question in first} == {0.4, 0.1}
    rest = [drawn.draw() for _ in range(2700)]
    assert len({(question.item, question.labels) for question in [*first, *rest]}) == 3600
    assert drawn.draw() is None
    np.testing.assert_array_equal(weights, [1, 1, 0.25, 0.25])


def test_what_was_drawn_by_weight_is_not_drawn_twice_without_weights():
    kind = KINDS["asked"]
    drawn = RandomQuestions(NAMES[:50], 4, lambda: kind, kind)
    drawn.is_weighted = True  # as the file of answers says
    for number in range(50):
        drawn.restore(Question(number, number, "asked", (3,), 0.7, None))
    rest = [drawn.draw() for _ in range(150)]
    assert {question.labels[0] for question in rest} == {0, 1, 2}
    assert len({(question.item, question.labels) for question in rest}) == 150


def test_shares_of_labels():
    np.testing.assert_array_equal(shares_of(np.array([2, 0, 2, 2])), [0.75, 0.25, 0.75, 0.75])
    assert shares_of(np.array([])).shape == (0,)


def test_minutes_left_allow_for_both_that_are_unknown():
    steady = np.full(100, 6.0)
    low, middle, high = minutes_left((50, 100, 200), steady)
    assert middle == pytest.approx(10)
    assert 4.9 < low <= 5  # a little more is unknown than both of these
    assert 20 <= high < 20.5
    unsteady = np.tile([2.0, 10.0], 50)
    wider = minutes_left((50, 100, 200), unsteady)
    assert wider[0] < low < middle < high < wider[2]
    assert wider[1] == pytest.approx(middle)
    assert minutes_left((50, 100, 200), np.append(steady, 1e6))[1] == pytest.approx(10, rel=0.1)
    assert all(map(math.isnan, minutes_left((50, 100, 200), steady[:1])))
    assert all(map(math.isnan, minutes_left((50, 100, math.inf), steady)))
    assert minutes_left((0, 0, 0), steady) == (0, 0, 0)


def test_questions_left_where_labels_that_are_known_are_asked_about_less():
    # A walk, question by question, with a look after each 50th part more, and at least 5.
    rng, need = np.random.default_rng(0), np.array([60, 0, 25, 140])
    ends = []
    for _ in range(400):
        n, look, left, weights = 200, 200, need.copy(), np.ones(4)
        while (left > 0).any():
            if n >= look:
                known = left <= 0
                weights = np.where(known, min((~known).sum() / known.sum() / 9, 1), 1)
                look = n + max(5, n // 50)
            left[rng.choice(4, p=weights / weights.sum())] -= 1
            n += 1
        ends.append(look - 200)
    drawn = np.array([need, need, [60, 0, np.inf, 140]], dtype=float)
    one, same, never = aimed_left(drawn, 200)
    assert one == same == pytest.approx(np.mean(ends), rel=0.03)
    assert never == np.inf


def test_a_sitting_that_cannot_reach_its_goal_says_so_before_the_first_question(things, tmp_path):
    p = np.tile([0.9, 0.3, 0.5, 0.2], (900, 1))
    goals = [Goal.parse(text) for text in ("f1 +-.01", "precision +-.1", "frequencies +-.02")]
    until = Until(goals, 4, probabilities=p, missed=0.2, invented=0.1)
    annotation = Annotation.open(things, LABELS, out=tmp_path / "answers.csv", until=until)
    f1, frequencies = progress(annotation)["goals"]
    for told, goal in (f1, "f1 +-.01"), (frequencies, "frequencies +-.02"):
        assert told["goal"] == goal
        assert until.obstacles[Goal.parse(goal)] == told["obstacle"]
        assert f"{goal} cannot be reached" in told["obstacle"]
    sit(annotation, 60)
    told = progress(annotation)
    json.dumps(told, allow_nan=False)
    assert [goal["goal"] for goal in told["goals"]] == [str(goal) for goal in goals]
    assert told["goals"][2]["answers_left"] == [None] * 3
    assert "cannot be reached" in told["goals"][2]["obstacle"]
    annotation.store.close()


def test_nothing_is_known_before_the_first_look(things, tmp_path):
    until = Until([Goal.parse("f1 +-.1"), Goal.parse("frequencies +-.1")], 4)
    annotation = Annotation.open(things, LABELS, out=tmp_path / "answers.csv", until=until)
    assert progress(annotation) == {"reached": False, "goals": []}
    sit(annotation, 30)
    told = progress(annotation)
    json.dumps(told, allow_nan=False)
    assert [goal["goal"] for goal in told["goals"]] == ["frequencies +-.1"]  # no model learns
    assert not told["reached"]
    annotation.store.close()


def test_a_look_that_is_not_due_does_not_count_at_the_end_either(monkeypatch):
    kind, goal = KINDS["asked"], Goal.parse("f1 +-.05")
    asker = Asker(RandomQuestions(NAMES, 4, lambda: kind, kind), LABELS, lambda: 0.0)
    whether = iter([False, True, True, True])

    def found(*_, **__):
        reached = next(whether)
        part = Part(None, 0.5, 0.4, 0.6, reached, (1000.0 * (not reached),) * 3)
        return [Standing(goal, [part], 100, part.left)]

    monkeypatch.setattr("complabel.live._until.how_far", found)
    until = Until([goal], 4, probabilities=np.zeros((900, 4)))
    for n, last in ((20, False), (100, False), (519, True)):
        until.look(lambda mark: asker.news(mark[0], len(NAMES)), n, last=last)
        assert {until.standings[0].is_reached, until.is_reached} == {False}
    until.look(lambda mark: asker.news(mark[0], len(NAMES)), 520)  # half of what was left
    assert until.is_reached


def test_questions_in_another_order_are_another_sitting(things, tmp_path):
    p = np.random.default_rng(0).random((900, 4))
    open_ = {"things": things, "labels": LABELS, "out": tmp_path / "answers.csv"}
    first = Annotation.open(**open_, until=Until([Goal.parse("f1 +-.1")], 4, probabilities=p))
    assert sit(first, 5) == 5
    first.store.close()
    with pytest.raises(StoreError):
        Annotation.open(**open_, until=Until([Goal.parse("f1 +-.1")], 4, probabilities=1 - p))


@pytest.mark.parametrize(
    ("ten_minutes", "reached", "told"),
    [
        (None, False, "not known yet"),
        ({"gain": 0.02, "low": 0.01, "high": 0.03}, False, "+0.010 to +0.030"),
        ({"gain": 0.002, "low": -0.004, "high": 0.008}, True, "-0.004 to +0.008"),
    ],
)
def test_a_model_ends_when_more_answers_are_not_worth_their_time(ten_minutes, reached, told):
    learner = SimpleNamespace(state=lambda: {"ten_minutes": ten_minutes, "answers": 90})
    until = Until([Goal.parse("model")], 4, learner=learner)
    kind = KINDS["asked"]
    asker = Asker(RandomQuestions(NAMES, 4, lambda: kind, kind), LABELS, lambda: 0.0)
    until.look(lambda mark: asker.news(mark[0], len(NAMES)), 90)
    (goal,) = until.state([])["goals"]
    assert (until.is_reached, goal["reached"]) == (reached, reached)
    assert told in goal["sentence"]


def test_a_model_that_learns_meanwhile_is_measured_on_items_that_it_has_not_seen():
    Y = np.array([[applies(item, label) for label in LABELS] for item in NAMES], dtype=np.uint8)
    rng = np.random.default_rng(0)
    X = Y @ rng.normal(size=(4, 6)) + rng.normal(size=(900, 6)) / 2
    answers = draw_answers(Y, question="asked", random_state=0)
    until = Until([Goal.parse("precision +-.2"), Goal.parse("frequencies +-.1")], 4)
    refits = Refits(X)
    until.learn_from(refits)
    (standing,) = refits.update(answers, np.ones(900))["standings"]
    assert str(standing.goal) == "precision +-.2"
    p = special.expit(refits._logits(refits._points[-1], np.arange(900), 4))
    (part,) = standing.parts
    assert part.low <= Y[p >= 0.5].mean() <= part.high
    kind = KINDS["asked"]
    asker = Asker(RandomQuestions(NAMES, 4, lambda: kind, kind), LABELS, lambda: 0.0)
    until = Until([standing.goal], 4)
    far = replace(standing, parts=[replace(part, is_reached=False)])
    for n, each, ends in ((100, far, False), (101, standing, False), (120, standing, True)):
        until.learner = SimpleNamespace(standings=[each])  # between looks that are due, it goes on
        until.look(lambda mark: asker.news(mark[0], len(NAMES)), n)
        assert until.is_reached is ends


def test_labels_in_another_order_have_their_own_predictions(things, tmp_path):
    p = np.tile([0.9, 0.1, 0.1, 0.1], (900, 1))
    out = tmp_path / "answers.csv"
    Annotation.open(things, LABELS[::-1], out=out, question="asked").store.close()
    goals = [Goal.parse("precision +-.1"), Goal.parse("frequencies +-.1")]
    aimed = Until(goals[:1], 4, probabilities=p[:, ::-1])
    first = Annotation.open(things, LABELS[::-1], out=tmp_path / "b.csv", until=aimed)
    sit(first, 50)
    first.store.close()
    for path, of in ((out, goals), (tmp_path / "b.csv", goals[:1])):
        until = Until(of, 4, probabilities=p)
        annotation = Annotation.open(things, LABELS, out=path, until=until)
        sit(annotation, 400)
        (told, *_) = progress(annotation)["goals"]
        assert told["high"] < 0.1  # "sea", of which the predictions say yes, never applies
        questions = annotation.asker.questions.values()
        assert len({(each.item, each.labels) for each in questions}) == len(questions)
        annotation.store.close()


def test_a_sitting_keeps_how_questions_were_drawn_and_so_does_a_new_start(things, tmp_path):
    path = tmp_path / "q.csv"
    nothing = Answers.from_table({"item": [], "label": []}, items=NAMES, label_names=LABELS)
    machine = np.array([[applies(item, label) for label in LABELS] for item in NAMES], dtype=float)
    table = suggest_questions(nothing, 40, against=machine, random_state=0)
    write_questions(table, path)
    open_ = {"out": tmp_path / "answers.csv", "questions": path}
    for n, told in (15, 15), (25, 40):
        annotation = Annotation.open(things, LABELS, **open_)
        assert sit(annotation, n, look=False) == n
        annotation.store.close()
        found = read_answers(open_["out"], items=NAMES, label_names=LABELS).answers
        draws = [ByMachine.of(text) for text in found.drawn.tolist()]
        assert [draw.word for draw in draws] == np.where(
            found.relevant.sum(axis=1), "yes", "no"
        ).tolist()
        assert len(draws) == told
        audit = audit_machine(found, machine)
        assert audit.n_asked.sum() == told
    assert "machine" not in TestClient(annotation.app()).get("/api/next?person=bob").text
    weighted = Annotation.open(
        things, LABELS, out=tmp_path / "w.csv", until=Until([Goal.parse("frequencies +-.08")], 4)
    )
    sit(weighted, 30)
    assert {*read_answers(tmp_path / "w.csv", label_names=LABELS).answers.drawn} == {"aimed"}
    plain = Annotation.open(things, LABELS, out=tmp_path / "p.csv", question="asked")
    sit(plain, 30, look=False)
    assert {*read_answers(tmp_path / "p.csv", label_names=LABELS).answers.drawn} == {"random"}


def test_questions_of_a_file_keep_their_chances(things, tmp_path):
    rng = np.random.default_rng(0)
    chance = np.where([applies(item, "night") for item in NAMES], 0.9, 0.2)
    asked = np.flatnonzero(rng.random(900) < chance)
    rows = "".join(f"{at},night,,asked,{chance[at]}\n" for at in asked)
    (tmp_path / "q.csv").write_text(f"item,label,answer,question,probability\n{rows}")
    until = Until([Goal.parse("frequencies +-.1")], 4)
    open_ = {"out": tmp_path / "answers.csv", "questions": tmp_path / "q.csv", "until": until}
    annotation = Annotation.open(things, LABELS, **open_)
    sit(annotation)
    until.look(annotation.news, len(asked), last=True)
    assert until.standings[0].parts[3].value == pytest.approx(0.5, abs=0.1)
    annotation.store.close()
    rows = "".join(f"{at},night,,asked,\n" for at in asked)
    (tmp_path / "q.csv").write_text(f"item,label,answer,question,probability\n{rows}")
    with raises(InputError, "--until", "q.csv"):
        Annotation.open(things, LABELS, **{**open_, "out": tmp_path / "b.csv"})


def test_a_label_is_open_as_long_as_one_goal_is():
    kind = KINDS["asked"]
    asker = Asker(RandomQuestions(NAMES, 4, lambda: kind, kind), LABELS, lambda: 0.0)
    for _ in range(120):
        event = asker.next("ann")
        asked = asker.questions[event.number]
        said = "yes" if applies(asked.item, LABELS[asked.labels[0]]) else "no"
        asker.answer(event.id, "ann", said, 1.0)
    until = Until([Goal.parse(f"frequencies +-{within}") for within in (0.25, 0.12, 0.4)], 4)
    until.look(lambda mark: asker.news(mark[0], len(NAMES)), 120)
    known = [[part.is_reached for part in standing.parts] for standing in until.standings]
    assert all(known[0])
    assert {*known[1]} == {True, False}
    np.testing.assert_array_equal(until.weights() < 1, known[1])


def test_items_that_cannot_be_shown_are_not_asked_about():
    p = np.random.default_rng(1).random((30, 3))
    source = aimed_questions(p, "recall", 0.5, 0, [4, 9])
    drawn = list(iter(source.draw, None))
    assert source.total == len(drawn) == 28 * 3
    assert not {4, 9} & {question.item for question in drawn}
    assert {question.copies for question in drawn} == {1, 2}
    mended = aimed_questions(p, "recall", 0.5, 0, [])  # goes on at the same places
    assert [mended.questions[question.number] for question in drawn] == drawn
