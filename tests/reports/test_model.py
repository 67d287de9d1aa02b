"""What a model file knows: notes of a fit, facts, and the page."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from tests.reports.small import HOSTILE, PEOPLE, Page

import complabel
from complabel.answers import Answers
from complabel.frequencies import estimate_label_frequencies
from complabel.methods import (
    FrequencyMatchedClassifier,
    PriorClassifier,
    SelectionLikelihoodClassifier,
    notes_of,
    read_header,
)
from complabel.reports import (
    describe_model,
    held_out_in_words,
    likeliest_items,
    model_facts,
    render_model,
)

X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X @ [[1, -1, 0.5, 0], [0, 1, 0.5, 1]] > 0.4).astype(int)
ANSWERS = Answers.from_arrays(
    absent=1 - Y,
    relevant=Y,
    question="ticked",
    annotator=[PEOPLE[row % 2] for row in range(60)],
    label_names=HOSTILE,
)


def fitted(**settings):
    given = {"alpha": 0.1, "kernel": "linear", "scaling": "global", "rank": None, **settings}
    return SelectionLikelihoodClassifier(cardinality=None, **given).fit(X, ANSWERS)


def described(classifier, path, **notes):
    classifier.save(path, provenance=notes)
    return describe_model(complabel.load(path), read_header(path))


def test_notes_count_answers_and_estimate_what_the_classifier_does_not():
    notes = notes_of(ANSWERS, fitted())
    assert notes["n_items"] == 60
    assert notes["n_annotators"] == 2
    assert notes["questions"] == {"ticked": 60}
    assert notes["labels"]["relevant"] == Y.sum(axis=0).tolist()
    assert notes["labels"]["absent"] == (1 - Y).sum(axis=0).tolist()
    expected = estimate_label_frequencies(ANSWERS)
    assert notes["frequencies"] == pytest.approx(expected.values)
    np.testing.assert_allclose(notes["intervals"], expected.intervals)
    assert json.loads(json.dumps(notes)) == notes
    with_its_own = SimpleNamespace(label_frequencies_=expected.values)
    assert "frequencies" not in notes_of(ANSWERS, with_its_own)


def test_frequencies_in_the_notes_are_corrected_by_the_rates_of_people():
    few, many = (
        np.mean(notes_of(ANSWERS, fitted(missed=missed, invented=0.01))["frequencies"])
        for missed in (0.01, 0.4)
    )
    assert many > 1.3 * few


def test_labels_come_the_least_known_first(tmp_path):
    classifier = fitted(missed=[0.1, 0.2], invented=[0.03, 0.04])
    found = described(classifier, tmp_path / "m", **notes_of(ANSWERS, classifier))
    rows = found["labels"]
    lengths = [(row["high"] - row["low"]) / row["frequency"] for row in rows]
    assert lengths == sorted(lengths, reverse=True)
    by_name = {row["label"]: row for row in rows}
    assert [by_name[name]["relevant"] for name in HOSTILE] == Y.sum(axis=0).tolist()
    people = {row["annotator"]: row for row in found["people"]}
    assert people[ANSWERS.annotator_names[0]]["missed"] == pytest.approx(0.1)
    assert people[ANSWERS.annotator_names[1]]["invented"] == pytest.approx(0.04)
    assert found["versions"]["complabel"] == complabel.__version__
    assert found["chosen"]["alpha_"] == 0.1
    json.dumps(found)


def test_frequencies_and_choices_of_an_inner_classifier_are_shown(tmp_path):
    matched = FrequencyMatchedClassifier(fitted(), label_frequencies=[0.1, 0.2, 0.3, 0.4])
    matched.fit(X, ANSWERS)
    found = described(matched, tmp_path / "m")
    shown = {row["label"]: row for row in found["labels"]}
    for name, value in zip(HOSTILE, matched.label_frequencies_, strict=True):
        assert shown[name]["frequency"] == pytest.approx(value)
    assert found["chosen"]["kernel_"] == "linear"


HELD_OUT = {"criterion": "ranking", "score": -0.25, "constant": -0.5}


def test_facts_say_what_was_learned_from_what(tmp_path):
    found = described(
        fitted(), tmp_path / "m", answers=["a.csv"], features="X.csv", date="2026-11-23",
        seconds=3.25, held_out={**HELD_OUT, "n_folds": 1}, note="for <Ann>",
        **notes_of(ANSWERS, fitted()),
    )  # fmt: skip
    facts = model_facts(found)
    assert facts["learned from"] == "60 answers (60 ticked) about 60 items, by 2 people"
    assert facts["files"] == "a.csv, X.csv"
    assert facts["fitted"] == "2026-11-23, in 3.2 seconds"
    told = facts["held-out answers"]
    assert told.endswith("in 25 of 100 cases, by one order for all items in 50 (1 fold)")
    likely = {"criterion": "log-likelihood", "score": np.log(0.3), "constant": np.log(0.2)}
    assert " 1.50 times as likely as" in held_out_in_words({**likely, "n_folds": 3})
    assert facts["predicts"] == "each label whose probability is above 0.5"
    assert facts["note"] == "for <Ann>"
    assert "SelectionLikelihoodClassifier(alpha=0.1" in facts["model"]


@pytest.mark.parametrize(
    "notes",
    [
        {},
        {"labels": 3, "questions": [1], "n_items": "x", "held_out": "good", "seconds": "long"},
        {"labels": {"named": "abcd"}, "frequencies": [1, 2], "intervals": {"a": 1}},
        {"frequencies": [0.1] * 4, "intervals": [[0.0, 1.0]] * 3, "held_out": {"criterion": "x"}},
        {"held_out": {"criterion": "ranking", "score": [1]}, "questions": {"named": "many"}},
        {"features_tell": {"score": "high", "labels": [1]}},
    ],
)
def test_odd_notes_of_strangers_are_left_out(tmp_path, notes):
    found = described(fitted(), tmp_path / "m", **notes)
    assert len(found["labels"]) == 4
    assert "low" not in found["labels"][0]
    Page(render_model(found))


def test_thresholds_are_shown(tmp_path):
    values = dict(zip(HOSTILE, (0.1, 0.2, 0.3, 0.4), strict=True))
    found = described(fitted().set_thresholds(values), tmp_path / "m")
    assert {row["label"]: row["threshold"] for row in found["labels"]} == values
    assert found["predicts"] == "each label whose probability is at least its own threshold"
    assert "30.0 %" in Page(render_model(found)).text


def test_a_class_per_row_has_no_threshold(tmp_path):
    single = PriorClassifier().fit(X[:6], [0, 1, 2] * 2)
    found = described(single, tmp_path / "m")
    assert found["predicts"] == "the most probable class"


def test_the_likeliest_items_of_each_label():
    probabilities = np.array([[0.1, 0.9], [0.8, 0.2], [0.5, 0.4]])
    found = likeliest_items(probabilities, ["x", "y", "z"], ["a", "b"])
    assert found["a"]["likeliest"] == [("y", 0.8), ("z", 0.5), ("x", 0.1)]
    assert found["b"]["unlikeliest"] == [("y", 0.2), ("z", 0.4), ("x", 0.9)]
    many = likeliest_items(np.linspace(0, 1, 50)[:, np.newaxis], range(50), ["a"])
    assert [name for name, _ in many["a"]["likeliest"]] == ["49", "48", "47", "46", "45"]
    assert [name for name, _ in many["a"]["unlikeliest"]] == ["0", "1", "2", "3", "4"]


def test_of_many_labels_and_people_the_first_are_drawn(tmp_path):
    n = 70
    answers = Answers.from_arrays(
        absent=np.eye(n, dtype=int), question="asked", annotator=[f"p{at}" for at in range(n)]
    )
    classifier = SelectionLikelihoodClassifier(
        alpha=1.0, cardinality=None, kernel="linear", scaling="global", rank=None, missed=0.1
    )
    classifier.fit(np.ones((n, 1)), answers)
    found = described(classifier, tmp_path / "m", **notes_of(answers, classifier))
    text = Page(render_model(found)).text
    assert "Only 60 labels are shown, of 70." in text
    assert len(found["labels"]) == n
