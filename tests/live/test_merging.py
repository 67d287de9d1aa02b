"""Labels that are merged while people work."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest

from complabel.answers import Answers, merge_labels
from complabel.errors import AnnotationError, InputError, StoreError
from complabel.live import Annotation, read_things
from complabel.live._store import AnswerStore
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


def listed(answers):
    """Return what answers say, without chances, in an order of its own."""
    names = np.array(answers.label_names)
    masks = ("named", "offered", "relevant", "absent")
    return Counter(
        (
            int(answers.item[at]), str(answers.question[at]), str(answers.all_apply[at]),
            int(answers.asked_for[at]), answers.annotator_names[answers.annotator[at]],
            *(tuple(names[getattr(answers, mask)[[at]].indices].tolist()) for mask in masks),
        )
        for at in range(answers.n_answers)
    )  # fmt: skip


@pytest.mark.parametrize("question", ["asked", "ticked", "ticked-2", "menu-3", "named"])
def test_what_follows_from_answers_about_merged_labels_goes_on(opened, question, tmp_path):
    first = opened(question=question)
    answer(first, 9)
    answer(first, 4, "bob")
    token = first.token
    wanted = merge_labels(told(first), {MERGE: "sea"})
    again = opened(NOW, question=question, merge={MERGE: "sea"})
    assert (again.token, again.store.added) == (token, [])
    found = told(again)
    assert found.label_names == ("sea", "sky", "city", "moon")
    assert np.isnan(found.probability).all()
    assert found.n_answers == again.asker.answered == wanted.n_answers
    then = ("sea", "sky", "city")  # a new label was not on offer then
    for row, n in listed(wanted).items():
        *before, offered, relevant, absent = row
        offered = offered or (row[1] in ("ticked", "named")) * then
        offered = (relevant + absent) if row[1] == "asked" else offered
        assert listed(found)[(*before, offered, relevant, absent)] == n
    assert (tmp_path / "answers.kept-1.csv.sqlite").exists()
    # The same command goes on; nothing is merged twice.
    asked = answer(again, 5)
    third = opened(NOW, question=question, merge={MERGE: "sea"})
    assert told(third).n_answers == found.n_answers + len(asked)
    assert not (tmp_path / "answers.kept-2.csv.sqlite").exists()
    assert third.asker.undo("ann")


def test_after_a_merge_all_pairs_are_asked_about_and_these_answers_measure(opened):
    answer(opened(), 17)
    until = Until([Goal("frequencies", 0.1, True)], len(NOW))
    again = opened(NOW, merge={MERGE: "sea"}, until=until)
    before = again.asker.answered
    asked = answer(again, 1000)
    pairs = {(item, label) for item, (label,) in asked}
    assert len(asked) == len(pairs) == len(ITEMS) * len(NOW)
    until.look(again.news, again.asker.answered, last=True)
    (standing,) = until.standings
    assert standing.n_judgements == len(asked) == again.asker.answered - before
    table = again.table()
    measures = [at for at, p in enumerate(table["probability"]) if p is not None]
    assert len(measures) == len(asked)
    assert {table["probability"][at] for at in measures} == {1 / len(NOW)}


def test_a_merge_that_cannot_be_is_refused_and_nothing_changes(opened, tmp_path):
    with pytest.raises(StoreError, match="not there"):
        opened(NOW, merge={MERGE: "sea"})
    answer(opened(), 5)
    path = tmp_path / "answers.csv.sqlite"
    with pytest.raises(InputError, match="ocean"):
        opened(LABELS, merge={MERGE: "sea"})
    before = path.read_bytes()
    with pytest.raises(AnnotationError, match="lake"):
        opened(NOW, merge={"lake": "sea"})
    with pytest.raises(StoreError, match=r"ocean.*--merge"):
        opened(NOW)
    with pytest.raises(StoreError, match="city"):  # which is not merged
        opened(NOW[:3], merge={MERGE: "sea"})
    with pytest.raises(StoreError, match="lake"):
        opened(NOW, merge={MERGE: "lake"})
    for other in ({"seed": 5}, {"question": "ticked"}):
        with pytest.raises(StoreError, match="other"):
            opened(NOW, merge={MERGE: "sea"}, **other)
    listing = tmp_path / "ask.csv"
    listing.write_text(f"item,label\n{ITEMS[0]},sky\n")
    with pytest.raises(InputError, match="--merge"):
        opened(NOW, questions=listing, merge={MERGE: "sea"})
    assert path.read_bytes() == before
    assert not [*tmp_path.glob("*kept*")]


def test_no_other_server_begins_while_labels_are_merged(opened, monkeypatch):
    path, link = opened().store.path, os.link

    def linking(*files):
        with pytest.raises(StoreError, match="another server"):
            AnswerStore(path, {})
        link(*files)

    monkeypatch.setattr("os.link", linking)
    assert opened(NOW, merge={MERGE: "sea"}).store.labels


def test_items_are_drawn_anew_after_a_merge(opened):
    """Of a merged label more is known where it applies; these items must not come last."""
    before = [item for item, _ in answer(opened(question="ticked"), 6)]
    again = opened(NOW, question="ticked", merge={MERGE: "sea"})
    assert again.asker.left() == len(ITEMS)
    after = [item for item, _ in answer(again, 6)]
    assert 0 < len({*before} & {*after}) < 6
    people = again.asker.by_person()
    assert people == {"ann": 12}


def test_the_latest_answer_is_taken_back_and_a_label_may_be_merged_again(opened):
    answered = answer(opened(question="ticked"), 6)
    again = opened(NOW, question="ticked", merge={MERGE: "sea"})
    _, event = again.asker.undo("ann")
    assert again.asker.questions[event.number].item == answered[-1][0]
    opened([*NOW, MERGE], question="ticked")
    again = opened(NOW, question="ticked", merge={MERGE: "sea"})
    assert MERGE not in again.asker.labels


def test_answers_about_labels_that_were_added_count_as_much_as_others(opened):
    answer(opened(LABELS), 10)
    again = opened([*LABELS, "moon"])
    answer(again, 20)
    table = again.table()
    shares = Counter(table["label"])
    assert table["probability"] == [shares[label] / 30 for label in table["label"]]
    assert 0 < shares["moon"] < 10
