"""What machines say, read from files as Python and the commands read it."""

import numpy as np
import pytest

from complabel.errors import InputError
from complabel.frequencies import audit_machine, read_machines

ITEMS, LABELS = ["a", "b", "c"], ["sea", "sky"]
ANSWERS = "item,label,answer\na,sea,yes\nb,sea,no\nc,sky,yes\n"


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_each_form_of_file_says_what_it_says(write):
    nan, known = np.nan, {"items": ITEMS, "label_names": LABELS}
    sure = "item,label,answer,confidence\na,sea,yes,.9\nb,sea,no,.8\nc,sky,yes,.7\n"
    listed = "item,label\na,sea\nc,sky\n"
    forms = {
        "answers.csv": (ANSWERS, [[1, nan], [0, nan], [nan, 1]]),
        "sure.csv": (sure, [[0.9, nan], [0.2, nan], [nan, 0.7]]),
        "listed.csv": (listed, [[1, 0], [0, 0], [0, 1]]),
        "chances.csv": ("item,sky,sea\nb,.1,.2\na,.3,.9\n", [[0.9, 0.3], [0.2, 0.1], [nan, nan]]),
    }
    for name, (text, expected) in forms.items():
        found = read_machines(write(name, text), only_yes=name == "listed.csv", **known)
        np.testing.assert_allclose(found.said_by_any, expected, err_msg=name)
        assert (found.item_names, found.label_names) == (ITEMS, LABELS)
    with pytest.raises(InputError, match="only_yes"):
        read_machines(write("listed.csv", listed), **known)
    with pytest.raises(InputError, match="items"):
        read_machines(write("listed.csv", listed), only_yes=True)


def test_machines_of_several_files_and_of_one(write):
    """The first that says something of a pair speaks; annotators of one file are machines apart."""
    others = "item,label,answer,annotator\na,sea,no,x\na,sky,yes,x\na,sky,no,y\na,sea,no,y\n"
    paths = [write("one.csv", ANSWERS), write("two.csv", others)]
    found = read_machines(paths, items=ITEMS, label_names=LABELS, apart=True)
    assert [*found.said] == [str(paths[0]), "x", "y"]
    np.testing.assert_array_equal(found.said_by_any, [[1, 1], [0, np.nan], [np.nan, 1]])
    assert any("2 annotators" in line for line in found.lines())


def test_people_of_other_items_and_swapped_files_are_refused(write):
    machine = read_machines(write("machine.csv", ANSWERS), label_names=LABELS)
    people = write("people.csv", "item,label,answer\na,sea,no\n")
    people = machine.read_people(people, question="asked").answers
    assert audit_machine(people, machine.said_by_any).n_asked.sum() == 1
    rows = "".join(f"{item},{label},yes\n" for item in ITEMS for label in LABELS)
    odd = {"many.csv": rows, "march.csv": "m,sea,no\n", "silent.csv": "b,sky,no\n"}
    for name, text in odd.items():
        path = write(name, f"item,label,answer\n{text}")
        with pytest.raises(InputError) as refusal:
            machine.read_people(path, question="asked")
        assert all(word in str(refusal.value) for word in (name, "machine.csv"))
