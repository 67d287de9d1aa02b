"""Contradictions between answers, resolved by each policy, beside plain sets in Python."""

import pickle
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.answers.records import MASKS, affirmed, back, denied, left, make, records, same
from tests.examples import examples
from tests.refusals import raises

from complabel.answers import (
    CONTRADICTION_POLICIES,
    STATEMENT_KINDS,
    Answers,
    contradictions_table,
    resolve_contradictions,
    sure_statements,
)
from complabel.errors import AnnotationError, InputError

TRUSTED = ("ann", "bob")
RESOLVING = [policy for policy in CONTRADICTION_POLICIES if policy != "error"]
each_policy = pytest.mark.parametrize("policy", RESOLVING)


def on_offer(record, n_labels):
    return record["offered"] or frozenset(range(n_labels))


def struck_by_policy(found, n_labels, policy):
    """By answer, the labels that are struck out: an independent reading of the rules."""
    yes, no = defaultdict(list), defaultdict(list)
    for at, record in enumerate(found):
        for label in affirmed(record, n_labels):
            yes[record["item"], label].append(at)
        for label in denied(record, n_labels):
            no[record["item"], label].append(at)
    struck = defaultdict(set)
    for pair in yes.keys() & no.keys():
        voters = [
            {at if found[at]["annotator"] is None else found[at]["annotator"] for at in side[pair]}
            for side in (yes, no)
        ]
        trusts = [any(found[at]["annotator"] in TRUSTED for at in side[pair]) for side in (yes, no)]
        losing = {
            "trusted": [yes] * (trusts == [False, True]) + [no] * (trusts == [True, False]),
            "drop": [yes, no],
            "trust-relevant": [no],
            "majority": [yes] * (len(voters[0]) <= len(voters[1]))
            + [no] * (len(voters[1]) <= len(voters[0])),
        }[policy]
        for side in losing:
            for at in side[pair]:
                struck[at].add(pair[1])
    return struck


def resolved_by_hand(found, n_labels, policy):
    struck = struck_by_policy(found, n_labels, policy)
    kept = []
    for at, record in enumerate(found):
        out = struck[at]
        if not out:
            kept.append(record)
            continue
        rest = {name: record[name] - out for name in MASKS}
        if (question := record["question"]) in ("named", "positive"):
            complete = len(record[question]) < record["asked_for"]
            if out & record[question] or (complete and out & on_offer(record, n_labels)):
                continue
            kept.append(record | rest | {"offered": record["offered"]})
            continue
        rest["offered"] = on_offer(record, n_labels) - out
        marks = rest["absent"] | rest["relevant"] | rest["excluded"] | rest["tagged"]
        if marks and rest["offered"]:
            kept.append(record | rest)
    return kept


@given(given_records=records())
@examples(25)
def test_statements_are_all_that_answers_say(given_records):
    n_items, n_labels, found = given_records
    said = make(n_items, n_labels, found).statements()
    ordered = sorted(found, key=lambda record: record["item"])
    implied = {"implied": ("named", "relevant"), "implied_no": ("positive", "absent")}

    def labels(record, kind):
        if kind not in implied:
            return record[kind]
        question, told = implied[kind]
        return left(record, n_labels, question) - record[told]

    expected = {
        (at, record["item"], label, kind, kind in ("relevant", "positive", "tagged", "implied"))
        for at, record in enumerate(ordered)
        for kind in STATEMENT_KINDS
        for label in labels(record, kind)
    }
    kinds = np.array(STATEMENT_KINDS)[said.kind]
    columns = (said.answer, said.item, said.label, kinds, said.applies)
    listed = list(zip(*(column.tolist() for column in columns), strict=True))
    assert len(listed) == len(said) == len(expected)
    assert set(listed) == expected
    assert listed == sorted(listed, key=lambda row: (STATEMENT_KINDS.index(row[3]), *row))


def test_what_is_sure_where_people_pick_a_label_anyway_or_make_mistakes():
    answers = Answers.from_arrays(
        named=[[1, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]],
        absent=[[0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
        relevant=[[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
        offered=[[1, 1, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 0]],
        item=[0, 0, 0, 1, 1],
        asked_for=[1, 0, 1, 1, 2],
        all_apply=["pick", "answer", "pick", "pick", "pick"],
    )
    said = answers.statements()

    def told(**how):
        sure = said.only(sure_statements(answers, said, **how))
        return [(int(at), STATEMENT_KINDS[n]) for at, n in zip(sure.answer, sure.kind, strict=True)]

    # Answers 2 and 3 may pick what applies, but for answer 1 (a no) and answer 4 (b is named of two
    # that were asked for, so it does not apply); on the menu of answer 0 nothing is known.
    assert told() == [
        (2, "named"), (3, "named"), (4, "named"), (1, "absent"), (0, "relevant"), (1, "relevant"),
        (4, "implied"),
    ]  # fmt: skip
    assert told(with_error_rates=True) == [(0, "relevant")]
    pairs = said.contradicted
    assert np.column_stack(np.divmod(pairs, 3)).tolist() == [[0, 0], [0, 2], [1, 0]]


@given(given_records=records(), data=st.data())
@examples(50)
def test_parts_of_answers_state_what_they_state_by_themselves(given_records, data):
    answers = make(*given_records)
    known = answers.contradictions()  # collects the statements
    for part in (answers, answers[data.draw(st.lists(st.integers(0, answers.n_items - 1)))]):
        marks = data.draw(st.lists(st.booleans(), min_size=len(part.item), max_size=len(part.item)))
        part = part.only(np.array(marks, dtype=bool))
        alone = pickle.loads(pickle.dumps(part))  # another process collects them anew
        assert "_statements" not in vars(alone)
        for name in ("answer", "item", "label", "kind", "applies"):
            handed_on, collected = (getattr(each.statements(), name) for each in (part, alone))
            np.testing.assert_array_equal(handed_on, collected)
        assert part.contradictions().tolist() == alone.contradictions().tolist()
    assert known.tolist() == answers.contradictions().tolist()


@each_policy
@given(given_records=records())
@examples(25)
def test_each_policy_strikes_what_it_says(given_records, policy):
    n_items, n_labels, found = given_records
    answers = make(n_items, n_labels, found)
    resolved = resolve_contradictions(answers, policy)
    ordered = sorted(found, key=lambda record: record["item"])
    assert same(back(resolved), resolved_by_hand(ordered, n_labels, policy))
    assert resolved.shape == answers.shape
    assert resolved.annotator_names == answers.annotator_names
    assert not len(resolved.contradictions())
    assert len(answers.contradictions()) or resolved is answers


@each_policy
@given(given_records=records())
@examples(25)
def test_what_is_left_passes_the_checks_of_new_answers(given_records, policy):
    resolved = resolve_contradictions(make(*given_records), policy)
    again = Answers.from_arrays(
        **{name: getattr(resolved, name) for name in MASKS},
        question=resolved.question,
        item=resolved.item,
        annotator=resolved.annotator,
        asked_for=resolved.asked_for,
        probability=resolved.probability,
        n_items=resolved.n_items,
    )
    for name in MASKS:
        assert (getattr(again, name) != getattr(resolved, name)).nnz == 0


@given(given_records=records())
@examples(50)
def test_whom_we_trust_is_right_before_the_policy_decides(given_records):
    n_items, n_labels, found = given_records
    answers = make(n_items, n_labels, found)
    trusted = [name for name in TRUSTED if name in answers.annotator_names]
    kept = resolve_contradictions(answers, "keep", trusted=trusted)
    ordered = sorted(found, key=lambda record: record["item"])
    assert same(back(kept), resolved_by_hand(ordered, n_labels, "trusted"))
    resolved = resolve_contradictions(answers, "majority", trusted=trusted)
    assert same(back(resolved), back(resolve_contradictions(kept, "majority")))


def test_whom_we_trust_must_have_answered():
    with raises(InputError, "trusted", "'anne'", "'ann'", "'bob'"):
        resolve_contradictions(example(), trusted=["ann", "anne"])
    resolved = resolve_contradictions(example(), trusted=["ann"])  # bob and somebody say no
    assert resolved.known_relevant.tolist() == [[0, 1], [1, 0]]


def example():
    """Three people about one photograph, one about another; two disagree about the sea."""
    return Answers.from_table(
        {
            "item": ["b.jpg", "b.jpg", "b.jpg", "a.jpg", "b.jpg"],
            "label": ["sea", "sea", "sea", "sky", "sky"],
            "answer": ["yes", "no", "no", "yes", "no"],
            "annotator": ["ann", "bob", None, "ann", "ann"],
            "probability": [0.5, 0.5, None, 1, 0.5],
        },
        contradictions="keep",
    )


def test_the_error_names_item_label_and_people():
    with pytest.raises(AnnotationError) as refusal:
        resolve_contradictions(example())
    assert "'sea' of item 'b.jpg' (applies: 'ann'; does not apply: 'bob')" in str(refusal.value)
    assert "contradictions" in str(refusal.value)


@examples(25)
@given(given_records=records())
def test_the_table_has_the_contradictions_and_their_people(given_records):
    n_items, n_labels, found = given_records
    answers = make(n_items, n_labels, found)
    table = contradictions_table(answers)
    pairs = list(zip(table["item"], table["label"], strict=True))
    assert pairs == list(map(tuple, answers.contradictions().tolist()))
    for at, (item, label) in enumerate(pairs):
        for side, names in (("applies", "applies_by"), ("denied", "denied_by")):
            by = [
                record["annotator"]
                for record in found
                if record["item"] == item
                and label
                in (affirmed(record, n_labels) if side == "applies" else denied(record, n_labels))
            ]
            assert table[f"n_{side}"][at] == len(by)
            assert list(table[names][at]) == sorted({each for each in by if each is not None})


def test_many_labels_and_items_stay_sparse():
    n_items, n_labels = 3_000_000, 2_000  # 6 GB if dense
    marks = [sparse.csr_array(([1], ([row], [7])), shape=(2, n_labels)) for row in (0, 1)]
    answers = Answers.from_arrays(
        absent=marks[0], relevant=marks[1], item=[n_items - 1] * 2, n_items=n_items
    )
    assert contradictions_table(answers)["item"] == [n_items - 1]
    assert resolve_contradictions(answers, "drop").n_answers == 0


def test_who_picks_a_label_even_if_all_apply_does_not_contradict_a_yes():
    about = {"offered": [[1, 1, 0], [1, 0, 0]], "item": [0, 0], "question": ["named", "asked"]}
    marks = {"named": [[1, 0, 0], [0, 0, 0]], "relevant": [[0, 0, 0], [1, 0, 0]]}
    about["asked_for"] = [1, 0]
    picked = Answers.from_arrays(**marks, **about, all_apply=["pick", "answer"])
    assert resolve_contradictions(picked, "error") is picked
    assert contradictions_table(picked)["item"] == []
    named = Answers.from_arrays(**marks, **about)
    assert contradictions_table(named)["item"] == [0]
