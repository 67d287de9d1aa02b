"""Answers drawn at random, written as each tool would, read again: the same labels are known."""

import tempfile
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from tests.importers.reading import masks, read, write
from tests.importers.samples import annotation, choices, task

LABELS = ("sea", "a sky, blue", 'the "city"', "forest / pine", "\u5929\u7a7a")


@st.composite
def forms(draw):
    """What some people chose about some items: (item, person, absent, present), without gaps."""
    found = []
    for item in range(draw(st.integers(1, 4))):
        for person in range(draw(st.integers(1, 3))):
            marks = draw(st.lists(st.sampled_from("-np"), min_size=5, max_size=5))
            if set(marks) != {"-"}:
                absent, present = (
                    [LABELS[at] for at in range(5) if marks[at] == mark] for mark in "np"
                )
                found.append((item, person, absent, present))
    hypothesis.assume(any(absent for _, _, absent, _ in found))
    hypothesis.assume(any(present for _, _, _, present in found))
    return found


def as_masks(found):
    """What the answers must come to, by hand: one for each form, in order."""
    rows = {"named": [], "absent": [], "relevant": []}
    for _, _, absent, present in found:
        rows["named"].append([int(label in absent) for label in LABELS])
        rows["absent"].append([0] * 5)
        rows["relevant"].append([int(label in present) for label in LABELS])
    return rows


def label_studio(found):
    return [
        task(
            100 + number,
            {"item": str(item)},
            annotation(
                number,
                *([choices("no", *absent)] if absent else []),
                *([choices("yes", *present)] if present else []),
                completed_by=person,
            ),
        )
        for number, (item, person, absent, present) in enumerate(found)
    ]


def json_min(found):
    def short(labels):
        return labels[0] if len(labels) == 1 else {"choices": labels}

    return [
        {
            "id": number,
            "item": str(item),
            "annotator": person,
            "annotation_id": number,
            "lead_time": 1.5,
            **({"no": short(absent)} if absent else {}),
            **({"yes": short(present)} if present else {}),
        }
        for number, (item, person, absent, present) in enumerate(found)
    ]


def argilla(found):
    def responses(question, labels, person):
        if not labels:
            return {f"{question}.responses": None}
        return {
            f"{question}.responses": [labels],
            f"{question}.responses.users": [str(person)],
            f"{question}.responses.status": ["submitted"],
        }

    return [
        {"id": str(item), **responses("no", absent, person), **responses("yes", present, person)}
        for item, person, absent, present in found
    ]


def check(table, found):
    answers, got = masks(table, LABELS)
    wanted = as_masks(found)
    assert {name: got[name] for name in wanted} == wanted
    assert answers.item_names[answers.item].tolist() == [str(item) for item, *_ in found]
    people = np.array(answers.annotator_names)[answers.annotator].tolist()
    assert people == [str(person) for _, person, _, _ in found]
    assert answers.asked_for.tolist() == [len(absent) for _, _, absent, _ in found]


def imported(name, content):
    with tempfile.TemporaryDirectory() as top:
        path = write(Path(top), "a.json", content)
        return read(name, path, absent=("no",), present=("yes",), label_names=LABELS)[0]


@pytest.mark.parametrize(
    ("name", "export"),
    [("label-studio", label_studio), ("label-studio", json_min), ("argilla", argilla)],
    ids=["label-studio", "json-min", "argilla"],
)
@hypothesis.given(found=forms())
def test_what_people_chose_comes_back(name, export, found):
    check(imported(name, export(found)), found)


@hypothesis.given(
    found=st.lists(
        st.tuples(
            st.sampled_from(["accept", "reject"]),
            st.sampled_from(["single", "multiple"]),
            st.sets(st.integers(0, 4), min_size=1),
        ),
        min_size=1,
        max_size=6,
    ),
    unselected=st.sampled_from(["unknown", "no"]),
)
def test_prodigy(found, unselected):
    options = [{"id": label, "text": label.upper()} for label in LABELS]
    tasks = [
        {
            "item": str(number),
            "options": options,
            "accept": [LABELS[at] for at in sorted(selected)],
            "answer": answer,
            "config": {"choice_style": style},
        }
        for number, (answer, style, selected) in enumerate(found)
    ]
    with tempfile.TemporaryDirectory() as top:
        path = write(Path(top), "a.jsonl", tasks)
        table, _ = read("prodigy", path, unselected=unselected, question="named")
    _, got = masks(table, LABELS)
    for number, (answer, _, selected) in enumerate(found):
        chosen = [int(at in selected) for at in range(5)]
        others = [1 - each for each in chosen]
        none = [0] * 5
        assert got["relevant"][number] == (chosen if answer == "accept" else none)
        assert got["named"][number] == (chosen if answer == "reject" else none)
        assert got["absent"][number] == (
            others if answer == "accept" and unselected == "no" else none
        )
