"""Labels that are merged, beside all sets of labels that somebody's answers allow."""

from collections import Counter
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.answers.records import back, make, records, same
from tests.answers.test_contradictions import affirmed, denied
from tests.examples import examples

from complabel.answers import Answers, merge_labels, table_of
from complabel.errors import AnnotationError


def subsets(of):
    return [*map(set, chain.from_iterable(combinations(of, n) for n in range(len(of) + 1)))]


def told(answers, label):
    """Who says what about a label: each fact once, but for unknown people."""
    said, people = answers.statements(), [*answers.annotator_names, None]
    facts = Counter(
        (int(said.item[at]), people[answers.annotator[said.answer[at]]], bool(said.applies[at]))
        for at in np.flatnonzero(said.label == label)
    )
    return {fact: count if fact[1] is None else 1 for fact, count in facts.items()}


@given(given_records=records(), data=st.data())
@examples(60)
def test_what_is_said_follows_from_all_sets_of_labels_that_answers_allow(given_records, data):
    _, n_labels, found = given_records
    names, some = "abcde"[:n_labels], st.sets(st.integers(0, n_labels - 1), min_size=1)
    parts = data.draw(some)
    new = data.draw(st.sampled_from([names[min(parts)], "new"]))
    answers = replace(make(*given_records), label_names=tuple(names))
    merged = merge_labels(answers, {names[at]: new for at in parts if names[at] != new})
    facts, expected = told(merged, merged.label_names.index(new)), Counter()
    by_voter = {}
    for at, record in enumerate(found):
        by_voter.setdefault((record["item"], record["annotator"] or at), []).append(record)
    for (item, voter), ours in by_voter.items():
        yes = set().union(*(affirmed(record, n_labels) for record in ours))
        no = set().union(*map(denied, ours))
        sets = [each for each in subsets(range(n_labels)) if yes <= each and not no & each]
        applies = {bool(each & parts) for each in sets}
        person = voter if isinstance(voter, str) else None
        if not sets:  # who contradicts themselves may say anything
            facts = {fact: count for fact, count in facts.items() if fact[:2] != (item, person)}
        elif len(applies) == 1:
            expected[item, person, applies.pop()] += 1
    assert facts == expected
    for label in {*range(n_labels)} - parts:  # nothing is invented about the others
        after = told(merged, merged.label_names.index(names[label]))
        assert Counter(after) <= Counter(told(answers, label))


LABELS = ["sea", "ocean", "sky", "sun"]
KINDS = {"asked": 1, "ticked": 2, "all": 4, "named": 3}


def everything_asked(kind):
    """Answers to all questions of a kind about 16 items, one for each set of labels that apply."""
    rows = []
    for item, truth in enumerate(subsets(LABELS)):
        for at, menu in enumerate(combinations(LABELS, KINDS[kind])):
            absent = [label for label in menu if label not in truth]
            about = {
                "answer_id": f"{item} {at}",
                "item": item,
                "question": "ticked" if kind == "all" else kind,
                "offered": [*menu],
                "probability": 1 / len([*combinations(LABELS, KINDS[kind])]),
            }
            said = [(label, "no" if label in absent else "yes") for label in menu]
            if kind == "named":
                said = [(label, "no") for label in absent[:1]] or [(None, "yes")]
            rows += [about | {"label": label, "answer": word} for label, word in said]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return Answers.from_table(columns, label_names=LABELS, items=range(16))


@pytest.mark.parametrize(
    ("kind", "n_yes", "n_no"), [("asked", 0, 0), ("ticked", 12, 4), ("all", 12, 4), ("named", 0, 0)]
)
def test_only_what_is_a_random_sample_keeps_a_probability(kind, n_yes, n_no):
    merged = merge_labels(everything_asked(kind), {"ocean": "sea"})
    written = Answers.from_table(table_of(merged), items=range(16), label_names=merged.label_names)
    assert same(back(written), back(merged))
    assert merged.label_names == ("sea", "sky", "sun")
    known = merged.only(~np.isnan(merged.probability))
    facts = [known.relevant[:, [0]].sum(), known.absent[:, [0]].sum()]
    assert facts == [n_yes, n_no]  # 12 of 16 sets have the sea or the ocean
    # The others: each is judged in all 16 sets as often.
    for label in (1, 2):
        assert known.relevant[:, [label]].sum() == known.absent[:, [label]].sum()
    seconds = merged.only(np.isnan(merged.probability)).seconds
    assert np.isnan(seconds).all()


@pytest.mark.parametrize(
    ("merge", "told"),
    [
        ({"lake": "sea"}, "'lake' is to be merged, but the labels are 'sea', 'ocean'"),
        ({"ocean": "sea", "sea": "sky"}, "'ocean' is to be merged into 'sea', which is merged"),
    ],
)
def test_what_cannot_be_merged_is_refused(merge, told):
    with pytest.raises(AnnotationError, match=told):
        merge_labels(everything_asked("all"), merge)
