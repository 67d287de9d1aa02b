"""Many days of one sitting: labels and items come, go and get other names between them."""

from __future__ import annotations

import contextlib
import random
import zlib
from collections import Counter

import numpy as np
import pytest
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import InputError, StoreError
from complabel.live import Annotation, read_things
from complabel.live._asker import RefusedError
from complabel.live._until import Until
from complabel.trust import Goal, how_far


class Sitting:
    """People who answer as it is, and what follows from that; days begin with other labels."""

    def __init__(self, folder, question, seed):
        self.folder, self.question, self.chance = folder, question, random.Random(seed)
        self.labels = {name: name for name in "abcde"}  # of now: what each one is
        self.parts = {}  # merged ones: of what
        self.items = {f"i{at}": f"i{at}" for at in range(9)}
        self.n = 0
        self.said = Counter()  # person, item and label: what they are, not how they are called
        self.annotation = None
        self.begin()

    def truth(self, item, label):
        if label in self.parts:
            return any(self.truth(item, part) for part in self.parts[label])
        return zlib.crc32(f"{item} {label}".encode()) % 3 == 0

    def begin(self, **changes):
        self.end()
        table = self.folder / "items.csv"
        table.write_text("item,body\n" + "".join(f"{name},text\n" for name in self.items))
        self.annotation = Annotation.open(
            read_things(table, text="body"),
            self.chance.sample([*self.labels], len(self.labels)),
            out=self.folder / "answers.csv",
            question=self.question,
            **changes,
        )

    def end(self):
        if self.annotation is not None:
            self.annotation.end()
            self.annotation.store.close()

    def answer(self, n):
        asker = self.annotation.asker
        for _ in range(n):
            person = self.chance.choice(["ann", "bo"])
            asker.next(person, self.chance.randrange(3))
            event = asker.next(person)
            if event is None:
                continue
            if self.chance.random() < 0.2 and asker.answered_by(person):
                with contextlib.suppress(RefusedError):
                    _, again = asker.undo(person)
                    self._count(person, again.number, -1)
                continue
            question = asker.questions[event.number]
            item = self.items[self.annotation.things.names[question.item]]
            offered = asker.labels_of(question)
            yes = [name for name in offered if self.truth(item, self.labels[name])]
            said = ("yes" if yes else "no") if question.kind == "asked" else yes
            asker.answer(event.id, person, said, 1.0)
            self._count(person, event.number, 1)
        self.annotation.store.append(self.annotation.things.names, asker.new)
        asker.new.clear()

    def _count(self, person, number, by):
        question = self.annotation.asker.questions[number]
        item = self.items[self.annotation.things.names[question.item]]
        for name in self.annotation.asker.labels_of(question):
            self.said[person, item, self.labels[name]] += by

    def change(self):
        """Begin a day on which one or two things have changed."""
        changes, chance = {}, self.chance
        for what in chance.sample(["add", "merge", "rename", "drop", "new", "item", "seed"], 2):
            self.n += 1
            name = f"{what}{self.n}"
            if what == "add":
                self.labels[name] = name
            elif what == "merge" and len(self.labels) > 3 and "merge" not in changes:
                old = chance.sample(
                    sorted(set(self.labels) - set(changes.get("rename", {}).values())), 2
                )
                into = chance.choice([old[0], name])
                self.parts[name] = [self.labels.pop(each) for each in old]
                self.labels[into] = name
                changes["merge"] = {each: into for each in old if each != into}
            elif what == "rename" and "merge" not in changes:
                known = [each for each in self.labels if not each.startswith("add")]
                old = chance.choice(known)
                self.labels[name] = self.labels.pop(old)
                changes["rename"] = {old: name}
            elif what == "drop" and len(self.items) > 5:
                del self.items[chance.choice(sorted(self.items))]
            elif what == "new":
                self.items[name] = name
            elif what == "item":
                old = chance.choice(
                    [each for each in sorted(self.items) if not each.startswith("new")]
                )
                self.items[name] = self.items.pop(old)
                changes["rename_items"] = {old: name}
            elif what == "seed":
                changes["seed"] = self.n
        self.begin(**changes)

    def follows(self, person, item, label):
        """Return what one person said about a label, or about its parts."""
        found = {self.truth(item, label)} if self.said[person, item, label] else set()
        told = [self.follows(person, item, part) for part in self.parts.get(label, ())]
        found |= {True} if any(True in each for each in told) else set()
        return found | ({False} if told and all(False in each for each in told) else set())

    def wanted(self):
        return {
            (person, name, label, word)
            for person in ("ann", "bo")
            for name, item in self.items.items()
            for label, is_now in self.labels.items()
            for word in self.follows(person, item, is_now)
        }


@pytest.fixture
def begun(tmp_path):
    made = []

    def begin(question, seed):
        made.append(Sitting(tmp_path, question, seed))
        return made[0]

    yield begin
    for each in made:
        each.end()


@pytest.mark.parametrize("question", ["asked", "ticked", "ticked-2", "mixed"])
@pytest.mark.parametrize("seed", range(2))
def test_after_any_days_the_table_says_what_people_said_about_labels_of_now(begun, question, seed):
    sitting = begun(question, seed)
    for _ in range(7):
        sitting.answer(12)
        sitting.change()
        annotation = sitting.annotation
        table = annotation.table()
        rows = zip(table["annotator"], table["item"], table["label"], table["answer"], strict=True)
        found = {
            (person, item, label, word == "yes") for person, item, label, word in rows
            if item in sitting.items
        }  # fmt: skip
        assert found == sitting.wanted()
        # Models and goals hear the same, about items that are there.
        here = [at for at, item in enumerate(table["item"]) if item in sitting.items]
        told = Answers.from_table(
            {name: [values[at] for at in here] for name, values in table.items()},
            items=annotation.things.names, label_names=annotation.asker.labels,
            contradictions="keep",
        )  # fmt: skip
        heard = annotation.news().answers
        for name in ("relevant", "absent"):
            sums = [np.asarray(getattr(each, name).sum(axis=0)) for each in (heard, told)]
            np.testing.assert_array_equal(*sums)
        until = Until([Goal("frequencies", 0.1, True)], len(annotation.asker.labels))
        until.has_equal_pairs = annotation.asker.source.is_weighted
        until.omit(annotation.things.broken, len(annotation.things))
        until.look(annotation.news, annotation.asker.answered, last=True)
        again = told[np.delete(np.arange(len(annotation.things)), annotation.things.broken)]
        if told.n_answers:
            (wanted,) = how_far(again, until.goals, probabilities=None)
            (part,) = until.standings
            assert part.n_judgements == wanted.n_judgements
            for one, other in zip(part.parts, wanted.parts, strict=True):
                assert one.label == other.label
                numbers = [(each.value, each.low, each.high, *each.left) for each in (one, other)]
                np.testing.assert_allclose(*numbers, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("question", ["asked", "ticked-2"])
def test_no_pair_of_an_item_and_a_label_is_asked_about_twice(begun, question):
    sitting = begun(question, 9)
    for _ in range(6):
        sitting.answer(7)
        sitting.change()
    sitting.answer(2000)
    asked = Counter()
    for question_ in sitting.annotation.asker.questions.values():
        asker = sitting.annotation.asker
        if question_.number in asker.closed:
            continue
        labels = asker.numbers if question_.labels is None else question_.labels
        asked.update((question_.item, label) for label in labels)
    names = sitting.annotation.things
    n_here = len(names) - len(names.broken)
    assert asker.left() == 0
    pairs = [pair for pair in asked if pair[0] not in names.broken]
    assert len(pairs) <= n_here * len(asker.labels)
    if question == "asked":
        assert {*asked.values()} == {1}
        assert len(pairs) == n_here * len(asker.labels)


def test_items_that_are_gone_keep_their_answers_and_come_back(begun):
    sitting = begun("ticked", 3)
    sitting.answer(9)
    before = sitting.annotation.table()
    gone = sitting.items.pop("i3")
    sitting.begin()
    assert sitting.annotation.table() == before
    assert sitting.annotation.things.gone == ("i3",)
    assert "--rename-item" in " ".join(sitting.annotation.things.problems())
    sitting.items["i3"] = gone
    sitting.begin()
    assert not sitting.annotation.things.gone
    assert sitting.annotation.asker.closed == set()
    with raises(StoreError, "'x'"):
        sitting.begin(rename_items={"x": "i3"})
    with raises(InputError, "still"):
        sitting.begin(rename_items={"i3": "i4"})
    two = {"i3": "new", "i4": "new"}  # two items never become one
    sitting.items = {"new": "i3", **{name: name for name in sitting.items if name not in two}}
    with raises(InputError, "--rename-item", "i3=new"):
        sitting.begin(rename_items=two)
    sitting.items = {"other": "other"}
    with raises(StoreError, "answers.csv.sqlite", "'i0'"):
        sitting.begin()
