"""Labels that are merged, beside all sets of labels that somebody's answers allow."""

from collections import Counter
from dataclasses import replace
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.answers.records import affirmed, back, denied, make, records, same
from tests.examples import examples
from tests.refusals import raises

from complabel.answers import Answers, merge_labels, table_of
from complabel.errors import AnnotationError


def subsets(of):
    return [*map(set, chain.from_iterable(combinations(of, n) for n in range(len(of) + 1)))]


def told(answers, label):
    """Who says what about a label: each fact once, but for unknown people."""
    said, people = answers.statements(), [*answers.annotator_names, None]
    said = said.only(said.label == label)
    who = [people[answers.annotator[answer]] for answer in said.answer]
    facts = Counter(zip(said.item.tolist(), who, said.applies.tolist(), strict=True))
    return Counter({fact: count if fact[1] is None else 1 for fact, count in facts.items()})


@given(given_records=records(), data=st.data())
@examples(60)
def test_what_is_said_follows_from_all_sets_of_labels_that_answers_allow(given_records, data):
    _, n_labels, found = given_records
    names, every = "abcde"[:n_labels], range(n_labels)
    parts = data.draw(st.sets(st.sampled_from(every), min_size=1))
    new = data.draw(st.sampled_from([names[min(parts)], "new"]))
    answers = replace(make(*given_records), label_names=tuple(names))
    merged = merge_labels(answers, {names[at]: new for at in parts if names[at] != new})
    facts, expected, by_voter = told(merged, merged.label_names.index(new)), Counter(), {}
    for at, record in enumerate(found):
        by_voter.setdefault((record["item"], record["annotator"] or at), []).append(record)
    for (item, voter), ours in by_voter.items():
        yes = set().union(*(affirmed(record, n_labels) for record in ours))
        no = set().union(*(denied(record, n_labels) for record in ours))
        sets = [each for each in subsets(every) if yes <= each and not no & each]
        applies = {bool(each & parts) for each in sets}
        fact = item, voter if isinstance(voter, str) else None
        if len(applies) == 1:
            expected[*fact, applies.pop()] += 1
        elif not sets:  # who contradicts themselves may say anything
            facts = Counter({each: n for each, n in facts.items() if each[:2] != fact})
    assert facts == expected
    for label in {*every} - parts:  # nothing is invented about the others
        assert told(merged, merged.label_names.index(names[label])) <= told(answers, label)


LABELS = ["sea", "ocean", "sky", "sun"]


def everything_asked(question, size):
    """Answers to all questions of a kind about 16 items, one for each set of labels that apply."""
    rows, menus = [], [*combinations(LABELS, size)]
    for (item, truth), (at, menu) in product(enumerate(subsets(LABELS)), enumerate(menus)):
        said = [(label, "yes" if label in truth else "no") for label in menu]
        if question == "named":
            said = [each for each in said if each[1] == "no"][:1] or [(None, "yes")]
        about = f"{item} {at}", item, question, [*menu], 1 / len(menus)
        rows += [(*about, *each) for each in said]
    names = ("answer_id", "item", "question", "offered", "probability", "label", "answer")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return Answers.from_table(table, label_names=LABELS, items=range(16))


@pytest.mark.parametrize(
    ("question", "size", "n_yes", "n_no"),
    [("asked", 1, 0, 0), ("ticked", 2, 12, 4), ("ticked", 4, 12, 4), ("named", 3, 0, 0)],
)
def test_only_what_is_a_random_sample_keeps_a_probability(question, size, n_yes, n_no):
    merged = merge_labels(everything_asked(question, size), {"ocean": "sea"})
    assert merged.label_names == ("sea", "sky", "sun")
    written = Answers.from_table(table_of(merged), items=range(16), label_names=merged.label_names)
    assert same(back(written), back(merged))
    known = merged.only(~np.isnan(merged.probability))
    counts = [[mask[:, [at]].sum() for mask in (known.relevant, known.absent)] for at in range(3)]
    assert counts[0] == [n_yes, n_no]  # 12 of 16 sets have the sea or the ocean
    assert all(n_yes == n_no for n_yes, n_no in counts[1:])  # the others are in half of the sets


@pytest.mark.parametrize("merge", [{"lake": "sea"}, {"ocean": "sea", "sea": "sky"}])
def test_what_cannot_be_merged_is_refused(merge):
    with raises(AnnotationError, "'sea'"):
        merge_labels(everything_asked("ticked", 4), merge)
