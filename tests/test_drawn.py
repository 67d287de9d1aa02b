"""How a question was drawn: its words, the seal, and that it survives what is done with answers."""

import pickle

import numpy as np
import pandas as pd
import pytest
from tests.refusals import raises

from complabel._drawn import ByMachine, opened, sealed
from complabel.answers import Answers, merge_labels, resolve_contradictions, table_of
from complabel.errors import AnnotationError
from complabel.files import AnswerWriter, read_answers

DRAWS = [str(ByMachine("0a1b2c3d", *each)) for each in (("yes", 8.33, 218), ("no.10", 0.0, 7))]
FORM = str(ByMachine.of_form("0a1b2c3d", 20, 0.83, 4952))
LABELS = ["sea", "sky", "city"]


@pytest.mark.parametrize("text", [*DRAWS, "random", "aimed", "rule", ""])
def test_what_was_sealed_is_opened_with_the_names_of_the_pair(text):
    hidden = sealed(text, "Käfer, 1", "sea")
    assert opened(hidden, "Käfer, 1", "sea") == text == opened(f" {text} ", "", "")
    if text.startswith("machine"):
        assert ByMachine.of(hidden) is None
        for item, label, odd in ("b", "sea", hidden), ("Käfer, 1", "sky", hidden), ("b", "sea", ""):
            changed = odd or hidden[:-1] + ("0" if hidden[-1] != "0" else "1")
            with raises(ValueError):
                opened(changed, item, label)


def test_a_seal_says_nothing_by_its_length_nor_by_what_is_equal():
    kinds = [("yes", 1.0, 9), ("no", 123.4, 98765), ("nothing", 0.0012, 10), ("no.10", 5e3, 10**6)]
    hidden = [sealed(str(ByMachine("0a1b2c3d", *each)), "a", "sea") for each in kinds]
    hidden += [sealed(DRAWS[0], item, "sea") for item in "abc"]
    hidden += [sealed(FORM.replace(".83", size), "a", "sea") for size in (".9", "12.25")]
    assert len({*map(len, hidden)}) == 1
    assert len({*hidden}) == len(hidden)


def test_all_rows_of_a_form_have_one_seal_which_its_item_opens():
    assert len({sealed(FORM, "a", label) for label in (*LABELS, "", None)}) == 1
    assert {opened(sealed(FORM, "a", ""), "a", label) for label in (*LABELS, None)} == {FORM}
    with raises(ValueError):
        opened(sealed(FORM, "a", ""), "b", "")
    assert ByMachine.of(FORM.replace("0.83", "0")) is None


def answers():
    """One answer of each way, and one that contradicts the first."""
    return Answers.from_table(
        {
            "item": ["a", "b", "c", "d", "e", "a"],
            "label": ["sea", "sky", "city", "sea", "sky", "sea"],
            "answer": ["yes", "no", "no", "no", "yes", "no"],
            "question": ["asked"] * 3 + ["excluded", "asked", "asked"],
            "probability": [None, 0.25, None, None, None, None],
            "drawn": [sealed(DRAWS[0], "a", "sea"), "Random", "aimed", "rule", DRAWS[1], None],
        },
        label_names=LABELS,
        contradictions="keep",
    )


WANTED = {"a": {DRAWS[0], ""}, "b": {"random"}, "c": {"aimed"}, "d": {"rule"}, "e": {DRAWS[1]}}


def drawn_of(found):
    names = np.asarray(found.item_names)[found.item].tolist()
    return {name: {*found.drawn[[each == name for each in names]].tolist()} for name in names}


def through_a_file(ending):
    def pass_through(given, folder):
        path = folder / f"a{ending}"
        with AnswerWriter(path) as writer:
            writer.write(table_of(given))
        return read_answers(path, label_names=LABELS, contradictions="keep").answers

    return pass_through


DOORS = {
    "csv": through_a_file(".csv"),
    "parquet": through_a_file(".parquet"),
    "frame": lambda given, _: Answers.from_table(
        pd.DataFrame(table_of(given)), label_names=LABELS, contradictions="keep"
    ),
    "pickle": lambda given, _: pickle.loads(pickle.dumps(given)),
    "parts": lambda given, _: Answers.concatenate(
        [given.only(given.item % 2 == part) for part in (0, 1)]
    ),
    "slice": lambda given, _: given[np.arange(4, -1, -1)],
    "weight": lambda given, _: given.with_weight(2.0),
    "rename": lambda given, _: merge_labels(given, {"sea": "water"}),
}


@pytest.mark.parametrize("door", DOORS)
def test_it_survives(door, tmp_path):
    assert drawn_of(answers()) == WANTED
    assert drawn_of(DOORS[door](answers(), tmp_path)) == WANTED


def test_what_is_left_after_a_contradiction_or_a_merge_keeps_it():
    left = resolve_contradictions(answers(), "trust-relevant")
    assert drawn_of(left)["a"] == {DRAWS[0]}
    merged = drawn_of(merge_labels(answers(), {"sea": "sky"}))
    assert merged["c"] == {"aimed"}
    assert merged["a"] == {""}  # what follows from a part is no random sample


@pytest.mark.parametrize(
    ("drawn", "probability", "told"),
    [
        ("sometimes", None, "sometimes"),
        ("machine 0a1b2c3d maybe 1/2", None, "maybe"),
        ("machine 0a1b2c3d yes 3/2", None, "3/2"),
        ("random", None, "probability"),
        (DRAWS[0], 0.5, "probability"),
        (sealed(DRAWS[0], "other", "sea"), None, "row 1"),
    ],
)
def test_what_cannot_be_is_refused_with_its_row(drawn, probability, told):
    rows = {"item": ["a", "b"], "label": ["sea", "sea"], "answer": ["yes", "no"]}
    rows |= {"question": ["asked"] * 2, "drawn": ["", drawn], "probability": [None, probability]}
    with raises(AnnotationError, told) as refusal:
        Answers.from_table(rows)
    assert "row 1" in str(refusal.value)


def test_a_machine_draws_questions_about_one_label():
    with raises(AnnotationError, "'asked'"):
        Answers.from_arrays(relevant=[[1, 0]], absent=[[0, 1]], drawn=DRAWS[0])
    with raises(AnnotationError, "'ticked'"):
        Answers.from_arrays(relevant=[[1, 0]], absent=[[0, 0]], question="asked", drawn=FORM)
