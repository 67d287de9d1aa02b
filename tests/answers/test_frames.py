"""Frames of 1, 0 and gaps, the table of answers, and what messages say about gaps."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.answers.records import back, make, records, same
from tests.examples import examples
from tests.refusals import raises

import complabel
from complabel.answers import Answers
from complabel.errors import AnnotationError
from complabel.importers import Options, import_answers
from complabel.losses import answers_log_likelihood
from complabel.metrics import average_precision, evaluate, evaluate_labels
from complabel.trust import evaluate_on_truth

NAN = float("nan")
SOURCE = Path(complabel.__file__).parent
PARTLY = pd.DataFrame(
    {"sea": [1, 0, NAN, NAN], "sky": [NAN, 1, NAN, 0]}, index=["d", "a", "c", "b"]
)


def what_is_said(answers):
    """Item, label and whether it applies, of each statement."""
    said = answers.statements()
    return sorted(zip(said.item.tolist(), said.label.tolist(), said.applies.tolist(), strict=True))


@st.composite
def partial_frames(draw):
    n_items, n_labels = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    row = st.lists(st.sampled_from([1.0, 0.0, NAN]), min_size=n_labels, max_size=n_labels)
    return np.array(draw(st.lists(row, min_size=n_items, max_size=n_items)))


@examples(50)
@given(partial_frames(), st.sampled_from(["asked", "ticked"]))
def test_a_frame_says_its_known_cells_and_no_more(cells, question):
    answers = Answers.from_frame(cells, question=question, probability=0.5, annotator="ann")
    known = np.argwhere(~np.isnan(cells)).tolist()
    assert what_is_said(answers) == [(i, k, cells[i, k] == 1) for i, k in known]
    assert answers.shape == cells.shape
    assert answers.n_answers == (len(known) if question == "asked" else len({i for i, _ in known}))
    assert set(answers.annotator_names) == ({"ann"} if known else set())


FORMS = {
    "floats": lambda frame: frame,
    "nullable": lambda frame: frame.astype("Int8"),
    "booleans": lambda frame: frame.astype("boolean"),
    "objects": lambda frame: frame.astype(object).where(frame.notna(), None),
    "several types": lambda frame: frame.astype({"sea": "boolean"}),
    "polars": lambda frame: pl.DataFrame(frame.to_dict("list"), nan_to_null=True),
    "polars' booleans": lambda frame: pl.from_pandas(frame.astype("boolean")),
    "lists": lambda frame: frame.astype("Int8").to_numpy().tolist(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_frames_of_all_types_say_the_same(form):
    answers = Answers.from_frame(form(PARTLY), annotator=["x", None, "y", "x"])
    assert what_is_said(answers) == what_is_said(Answers.from_frame(PARTLY))
    assert [each["annotator"] for each in back(answers)] == ["x", None, None, "x"]


def test_the_index_names_items_and_whole_columns_follow_it():
    people = pd.Series(["ann", "bob", "cy", "di"], index=list("abcd"))
    answers = Answers.from_frame(PARTLY, annotator=people)
    assert answers.item_names.tolist() == ["d", "a", "c", "b"]
    assert answers.label_names == ("sea", "sky")
    assert [each["annotator"] for each in back(answers)] == ["di", "ann", "ann", "bob"]
    assert Answers.from_frame(PARTLY.reset_index(drop=True)).item_names is None


def test_a_frame_means_what_import_reads_of_the_same_file(tmp_path):
    PARTLY.astype("Int8").to_csv(tmp_path / "codes.csv", index_label="item")
    options = Options(yes=("1",), no=("0",))
    table, _ = import_answers(tmp_path / "codes.csv", format="coded", options=options)
    imported = Answers.from_table(table, items=[*PARTLY.index], label_names=["sea", "sky"])
    assert same(back(Answers.from_frame(PARTLY)), back(imported))
    import torch

    logits = torch.tensor([[0.3, -1.0], [1.2, 0.4], [0.1, 0.1], [-2.0, 0.5]])
    one, form = (
        answers_log_likelihood(logits, Answers.from_frame(PARTLY, question=question))
        for question in ("asked", "ticked")
    )
    torch.testing.assert_close(one, form)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (PARTLY.replace(0, 2), ("2.0", "'a'", "'sea'")),
        (PARTLY.astype(object).replace({1: "yes", 0: "no"}), ("'yes'", "'d'", "--from coded")),
        (PARTLY.astype(object).replace({1: "1", 0: "0"}), ("'1'", "'sea'", "map them")),
        (PARTLY.reset_index(), ("'d'", "'index'", "set_index")),
        (PARTLY.assign(id=range(17, 21)), ("17", "'id'", "set_index")),
        (pl.DataFrame({"id": ["a"], "sea": [1]}), ("'a'", "'id'")),
        (PARTLY.set_axis(list("abca")), ("'a'", "Answers.concatenate")),
        (PARTLY.set_axis(["a", "b", None, "d"]), ("as a gap",)),
        (PARTLY.set_axis(["sea", "sea"], axis=1), ("two columns", "'sea'")),
        (PARTLY["sea"], ("(4,)", "a column for each label")),
        (sparse.csr_array(np.eye(3)), ("not a matrix",)),
        (Answers.from_frame(PARTLY), ("cannot become an array",)),
    ],
)
def test_what_a_frame_must_not_hold_is_named_with_its_place(frame, words):
    with pytest.raises(AnnotationError) as caught:
        Answers.from_frame(frame)
    assert [word for word in words if word not in str(caught.value)] == []


@examples(50)
@given(records(), st.lists(st.sampled_from(["answer", "skip", "pick", "never"]), min_size=8))
def test_a_table_gives_the_same_answers_back(given_records, words):
    n_items, n_labels, found = given_records
    answers = make(n_items, n_labels, found)
    for mask, policy in (("named", "all_apply"), ("positive", "none_applies")):
        may = np.diff(getattr(answers, mask).indptr) > 0
        answers = replace(answers, **{policy: np.where(may, words[: len(may)], "answer")})
    names = [str(label) for label in range(n_labels)]
    again = Answers.from_table(
        answers.to_table(), items=range(n_items), label_names=names, contradictions="keep"
    )
    assert what_is_said(again) == what_is_said(answers)
    struck = {"named": answers.absent, "positive": answers.relevant}
    if not any((answers.question[np.diff(s.indptr) > 0] == q).any() for q, s in struck.items()):
        assert same(back(again), back(answers))
        assert again.all_apply.tolist() == answers.all_apply.tolist()
        assert again.none_applies.tolist() == answers.none_applies.tolist()


def test_true_labels_with_gaps_are_measured_where_they_are_known():
    scores = np.array([[0.5, 0.2, 0.1], [0.3, 0.4, 0.6]])
    truth = np.array([[1, 0, NAN], [0, 1, 1]])
    for measure in (
        lambda: average_precision(truth, scores),
        lambda: evaluate(truth, scores, scores > 0.3),
        lambda: evaluate_labels(truth, scores, scores > 0.3),
    ):
        with raises(AnnotationError, "complabel.trust.evaluate_on_truth"):
            measure()

    class Model:
        classes_ = np.arange(3)

        def predict_with_proba(self, X):
            return (scores > 0.3).astype(int), scores

    known = ~np.isnan(truth)
    found = evaluate_on_truth(Model(), None, truth, known)
    assert found.criteria["average_precision"] == 1
    advised = evaluate(truth, scores, scores > 0.3, known=known)
    assert advised["hamming_loss"] == found.criteria["hamming_loss"] == 0


def test_no_message_proposes_to_fill_a_label():
    """What may be imputed are features; each place that says so is listed here."""
    told = {
        f"{path.relative_to(SOURCE)}": text.count("impute")
        for path in SOURCE.rglob("*.py")
        if "impute" in (text := path.read_text(encoding="utf-8"))
    }
    assert told == {
        "datasets/_dataset.py": 1,  # X
        "experiments/datasets/_arff.py": 2,  # of a feature; a label must not be
        "methods/_features.py": 1,  # X
    }
    for path in SOURCE.rglob("*.py"):
        assert not re.search(r"give 0 (if|for|where) (there|no|nobody)", path.read_text("utf-8"))
