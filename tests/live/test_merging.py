"""Labels that are merged while people work."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.refusals import raises

from complabel._questions import QuestionKind
from complabel.answers import Answers, merge_labels
from complabel.errors import AnnotationError, InputError, StoreError
from complabel.live import Annotation, read_things
from complabel.live._asker import RefusedError
from complabel.live._drawing import Period, RandomQuestions
from complabel.live._until import Until
from complabel.trust import Goal

LABELS, NOW, MERGE = ["sea", "ocean", "sky", "city"], ["sky", "moon", "sea", "city"], "ocean"
ITEMS = [f"item {at}" for at in range(12)]
TRUTH = np.random.default_rng(0).random((len(ITEMS), len(LABELS))) < 0.4


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens an annotation of twelve texts, and ends the one before."""
    table = tmp_path / "items.csv"
    table.write_text("item,body\n" + "".join(f"{item},text\n" for item in ITEMS))
    made = []

    def call(labels=LABELS, **options):
        while made:
            before = made.pop()
            before.end()
            before.store.close()
        things, out = read_things(table, text="body"), tmp_path / "answers.csv"
        made.append(Annotation.open(things, labels, out=out, **options))
        return made[0]

    yield call
    for annotation in made:
        annotation.store.close()


def answer(annotation, n, person="ann"):
    """Answer n questions as it is; a merged label applies if one of its parts does."""
    truth = {name: TRUTH[:, at] for at, name in enumerate(LABELS)} | {"moon": TRUTH[:, 3]}
    if "ocean" not in annotation.labels:
        truth["sea"] = truth["sea"] | truth["ocean"]
    asked = []
    for _ in range(n):
        event = annotation.asker.next(person)
        if event is None:
            break
        question = annotation.asker.questions[event.number]
        offered = annotation.asker.labels_of(question)
        applies = [name for name in offered if truth[name][question.item]]
        said = applies
        if question.kind == "asked":
            said = "yes" if applies else "no"
        elif question.kind in ("menu", "named"):
            said = [name for name in offered if name not in applies][:1] or offered[:1]
        annotation.asker.answer(event.id, person, said, 2.0)
        asked.append((question.item, offered))
    annotation.store.append(annotation.things.names, annotation.asker.new)
    annotation.asker.new.clear()
    return asked


def told(annotation):
    return Answers.from_table(
        annotation.table(), items=ITEMS, label_names=annotation.asker.labels, contradictions="keep"
    )


def rows_of(annotation):
    table = annotation.table()
    names = ("answer_id", "item", "label", "answer", "offered", "probability", "drawn", "time")
    return list(zip(*(table[name] for name in names), strict=True))


@pytest.mark.parametrize("question", ["asked", "ticked", "ticked-2", "menu-3", "named"])
def test_what_follows_from_answers_about_merged_labels_goes_on(opened, question, tmp_path):
    first = opened(question=question)
    answer(first, 9)
    answer(first, 4, "bob")
    token, before, n_before = first.token, rows_of(first), first.asker.answered
    wanted = merge_labels(told(first), {MERGE: "sea"})
    again = opened(NOW, question=question, merge={MERGE: "sea"})
    assert (again.token, again.store.added) == (token, ["moon"])
    assert again.asker.answered == n_before
    found = told(again)
    assert {*found.label_names} == {*NOW}
    assert found.n_answers == wanted.n_answers
    then = ("sea", "sky", "city")  # a new label was not on offer then
    columns = [found.label_names.index(name) for name in then]

    def listed(answers):
        """Return what answers say of the labels of then, in an order of its own."""
        at = [answers.label_names.index(name) for name in then]
        names = np.array(then)
        return Counter(
            (
                int(answers.item[row]), str(answers.question[row]), str(answers.all_apply[row]),
                int(answers.asked_for[row]), answers.drawn[row],
                # Labels of yes/no questions have shares once they were asked about unequally often.
                str(answers.question[row] == "asked" or answers.probability[row]),
                answers.annotator_names[answers.annotator[row]],
                *(tuple(sorted(names[getattr(answers, mask)[[row]][:, at].indices].tolist()))
                  for mask in ("named", "relevant", "absent")),
            )
            for row in range(answers.n_answers)
        )  # fmt: skip

    assert listed(found) == listed(wanted)
    assert columns
    every = "[]" if question == "asked" else json.dumps(LABELS)
    touched = [row for row in before if {"sea", MERGE} & {row[2], *json.loads(row[4] or every)}]
    kept, now = Counter(before) - Counter(touched), rows_of(again)
    if question == "asked":
        cut = slice(0, 5)
        kept, now = Counter(row[cut] for row in kept), [row[cut] for row in now]
    assert kept <= Counter(now)  # what is about other labels is as it was
    assert bool(kept) == (question in ("asked", "ticked-2"))
    # Answers of all days reach goals and models, as the table says them.
    masks = ("named", "relevant", "absent", "probability")
    heard, table = again.news().answers, told(again)
    for name in masks[:3]:
        sums = [np.asarray(getattr(each, name).sum(axis=0)) for each in (heard, table)]
        np.testing.assert_array_equal(*sums)
    # The same command goes on; nothing is merged twice.
    asked = answer(again, 5)
    third = opened(NOW, question=question, merge={MERGE: "sea"})
    assert told(third).n_answers == found.n_answers + len(asked)
    assert not [*tmp_path.glob("*.sqlite*kept*"), *tmp_path.glob("*kept*.sqlite")]
    assert third.asker.undo("ann")


def test_what_was_measured_about_other_labels_stays_and_nothing_is_asked_twice(opened):
    answer(opened(), 30)
    until = [Until([Goal("frequencies", 0.1, True)], 4) for _ in range(2)]
    first = opened(until=until[0])
    until[0].look(first.news, first.asker.answered, last=True)
    again = opened(NOW, merge={MERGE: "sea"}, until=until[1])
    until[1].look(again.news, again.asker.answered, last=True)
    known = [{part.label: part for part in each.standings[0].parts} for each in until]
    for label in ("sky", "city"):
        assert known[0][label].value == pytest.approx(known[1][label].value, abs=0.02)
        assert known[0][label].high == pytest.approx(known[1][label].high, abs=0.05)
    asked = answer(again, 1000)
    pairs = Counter((item, label) for item, (label,) in asked)
    assert {*pairs.values()} == {1}
    known = {(row[1], row[2]) for row in rows_of(first)}
    left = {(at, name) for at, item in enumerate(ITEMS) for name in NOW
            if name in ("sea", "moon") or (item, name) not in known}  # fmt: skip
    assert {*pairs} == left


def test_a_renamed_label_keeps_all_that_was_said_and_drawn(opened):
    first = opened(question="ticked-2")
    answer(first, 17)
    before, left = rows_of(first), first.asker.left()
    now = ["sea", "deep", "sky", "city"]
    for labels, rename in ((now, {MERGE: "deep"}), (now, {MERGE: "deep"}), (now, None)):
        again = opened(labels, question="ticked-2", rename=rename)
        found = [tuple(str(each).replace("deep", MERGE) for each in row) for row in rows_of(again)]
        assert found == [tuple(map(str, row)) for row in before]
        assert again.asker.left() == left
        assert again.asker.labels == now
    assert again.asker.undo("ann")
    with raises(InputError, "--merge", "sky=city"):
        opened(["sea", "deep", "city"], question="ticked-2", rename={"sky": "city"})
    with raises(AnnotationError, "'lake'"):
        opened(now, question="ticked-2", rename={"lake": "x"})


def test_a_new_name_is_no_edit_of_the_table_and_own_columns_stay(opened, tmp_path, caplog):
    answer(opened(question="ticked-2"), 9)
    opened(question="ticked-2")  # the one before has ended, and written its table
    path = tmp_path / "answers.csv"
    header, *rows = path.read_text().splitlines()
    own = [f"{row},note {at}" for at, row in enumerate(rows)]
    path.write_text("\n".join([f"{header},mine", *own]))
    again = opened(["sea", "deep", "sky", "city"], question="ticked-2", rename={MERGE: "deep"})
    again.end()
    assert not caplog.records
    assert [row.rsplit(",", 1)[1].strip('"') for row in path.read_text().splitlines()[1:]] == [
        f"note {at}" for at in range(len(rows))
    ]
    merged = opened(["sea", "sky", "city"], question="ticked-2", merge={"deep": "sea"})
    merged.end()
    assert "merged" in caplog.text
    assert "edited" not in caplog.text
    assert (tmp_path / "answers.kept-1.csv").exists()


def test_whoever_ticked_all_labels_is_not_asked_about_the_merged_one(opened):
    answer(opened(question="ticked"), 7)
    again = opened(["sea", "sky", "city"], question="ticked", merge={MERGE: "sea"})
    assert again.asker.left() == len(ITEMS) - 7
    asked = answer(again, 99)
    assert len(asked) == len(ITEMS) - 7
    applies = TRUTH.copy()
    applies[:, 0] |= applies[:, 1]
    found = told(again)
    order = [LABELS.index(name) for name in found.label_names]
    assert (found.known_relevant == applies[:, order]).all()
    assert (found.complementary == ~applies[:, order]).all()
    assert {*found.probability.tolist()} == {1.0}


def test_a_merge_that_cannot_be_is_refused_and_nothing_changes(opened, tmp_path):
    with raises(StoreError, "answers.csv.sqlite", "--merge"):
        opened(NOW, merge={MERGE: "sea"})
    (tmp_path / "answers.csv.sqlite").unlink()
    answer(opened(), 5)
    path = tmp_path / "answers.csv.sqlite"
    with raises(InputError, "ocean"):
        opened(LABELS, merge={MERGE: "sea"})
    before = path.read_bytes()
    with raises(AnnotationError, "lake"):
        opened(NOW, merge={"lake": "sea"})
    with raises(StoreError, "--merge"):
        opened(NOW)
    with raises(StoreError, "city"):  # which is not merged
        opened(NOW[:3], merge={MERGE: "sea"})
    with raises(StoreError, "lake"):
        opened(NOW, merge={MERGE: "lake"})
    with raises(StoreError, "other"):
        opened(NOW, merge={MERGE: "sea"}, question="ticked")
    listing = tmp_path / "ask.csv"
    listing.write_text(f"item,label\n{ITEMS[0]},sky\n")
    with raises(InputError, "--merge"):
        opened(NOW, questions=listing, merge={MERGE: "sea"})
    assert path.read_bytes() == before


def test_a_file_of_questions_goes_on_when_an_item_has_another_name(opened, tmp_path):
    listing, table = tmp_path / "ask.csv", tmp_path / "items.csv"
    listing.write_text("item,label\n" + "".join(f"{item},sky\n" for item in ITEMS[:3]))
    answer(opened(questions=listing), 1)
    # The third item has another name now, and a new one has the name of before.
    table.write_text(table.read_text().replace(ITEMS[2], "x"))
    answer(opened(questions=listing, rename_items={ITEMS[2]: "x"}), 1)
    table.write_text(f"{table.read_text()}{ITEMS[2]},text\n")
    again = opened(questions=listing)
    answer(again, 1)
    assert again.table()["item"] == [*ITEMS[:2], "x"]


def test_a_page_of_before_gets_nothing_of_now_in_its_place(opened):
    first = opened(question="ticked")
    held = [first.asker.next("ann", skip) for skip in range(4)]
    first.store.append(ITEMS, first.asker.new)
    first.asker.new.clear()
    again = opened(["sea", "sky", "city"], question="ticked", merge={MERGE: "sea"})
    ids = {each.id for each in held}
    for event in held:
        with pytest.raises(RefusedError) as refused:
            again.asker.answer(event.id, "ann", ["sky"], 1.0)
        assert refused.value.status == 409
    assert again.asker.left() == len(ITEMS)  # they are asked anew
    assert not ids & {again.asker.next("ann", skip).id for skip in range(4)}


def test_a_label_may_be_merged_again(opened):
    answer(opened(question="ticked"), 6)
    answer(opened(NOW, question="ticked", merge={MERGE: "sea"}), 2)
    answer(opened([*NOW, MERGE], question="ticked"), 2)
    again = opened(NOW, question="ticked", merge={MERGE: "sea"})
    assert MERGE not in again.asker.labels
    assert again.asker.answered == 10
    both = opened(["water", "moon"], question="ticked",
                  merge=dict.fromkeys(("sea", "sky", "city"), "water"))  # fmt: skip
    assert {*told(both).label_names} == {"water", "moon"}
    assert told(both).known_relevant[:, 0].sum() > 0


@pytest.mark.parametrize("kind", ["asked", "ticked-2"])
def test_chances_are_those_with_which_labels_are_drawn_after_a_merge(kind):
    one, chances, drawn = QuestionKind.parse(kind, 4), {}, Counter()
    for seed in range(2000):
        then = Period(0, (0, 1, 2, 3), seed)
        first = RandomQuestions(["a"], 4, lambda: one, one, periods=[then])
        asked = first.draw()
        now = [then, Period(1, (2, 3, 4, 5), seed)]
        second = RandomQuestions(["a"], 4, lambda: one, one, periods=now, parts={4: (0, 1)})
        second.restore(asked)
        made = second.draw()
        assert not {*made.labels} & {*asked.labels}
        drawn[made.labels] += 1
        n_left = 4 - len({*asked.labels} & {2, 3})
        chances.setdefault(made.labels, set()).add((n_left, made.probability))
    for labels, found in chances.items():
        told = np.mean([chance for _, chance in found])
        assert abs(drawn[labels] / 2000 - told) < 0.15
    # A new label can be drawn with any first question; its chance is the mean over these.
    assert all(0 < chance <= 1 for found in chances.values() for _, chance in found)


@pytest.mark.parametrize("seed", range(5))
def test_a_question_that_nobody_answered_does_not_stand_for_one_that_somebody_did(seed):
    one = QuestionKind.parse("asked", 4)
    before = RandomQuestions(["x"], 4, lambda: one, one, seed=seed)
    first, second = before.draw(), before.draw()
    (gone,), (known,) = first.labels, second.labels
    other, left = sorted({0, 1, 2, 3} - {gone, known})
    after = RandomQuestions(["x"], 3, lambda: one, one)
    after.periods = [Period(0, (0, 1, 2, 3), seed), Period(2, (known, left, 4), seed)]
    after.parts = {4: (gone, other)}
    after.restore(first, counts=False)
    after.restore(second)
    assert {after.draw().labels for _ in range(2)} == {(left,), (4,)}
    assert after.draw() is None


def test_a_page_of_before_does_not_answer_when_names_changed_places(opened):
    def shown(annotation):
        return TestClient(annotation.app()).get("/api/next?person=ann").json()

    def answer(annotation, page):
        body = {"person": "ann", "answer": ["sea"], **page}
        return TestClient(annotation.app()).post("/api/answer", json=body).status_code

    page = shown(opened(question="ticked"))
    opened(["x", *LABELS[1:]], question="ticked", rename={"sea": "x"})
    opened(["x", "sea", "sky", "city"], question="ticked", rename={"ocean": "sea"})
    again = opened(question="ticked", rename={"x": "ocean"})
    assert sorted(page["offered"]) == sorted(again.labels)
    assert answer(again, page) == 409
    assert answer(again, shown(again)) == 200


def test_answers_about_labels_that_were_added_count_as_much_as_others(opened):
    answer(opened(LABELS), 10)
    again = opened([*LABELS, "moon"])
    answer(again, 20)
    table = again.table()
    shares = Counter(table["label"])
    assert table["probability"] == [shares[label] / 30 for label in table["label"]]
    assert 0 < shares["moon"] < 10
