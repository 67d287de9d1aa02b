"""Each finding where its assumption fails, and none where answers are as they should be."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from tests.asking.test_inspect import draw_labels
from tests.refusals import raises

import complabel.asking
from complabel.answers import Answers
from complabel.asking import SEVERITIES, inspect_answers
from complabel.errors import InputError
from complabel.simulate import draw_answers

ASKING = Path(complabel.asking.__file__).parent
ASK = "complabel ask answers.csv -n 200 --out questions.csv"


def names_of(seen):
    return {each.name for each in seen.findings}


def excluded(Y, seed=0):
    return draw_answers(Y, question="excluded", exclusion_rates=0.3, random_state=seed)


def exclusions(marks, **more):
    return Answers.from_arrays(excluded=marks, question="excluded", **more)


def asked(Y, seed=0, **more):
    return draw_answers(Y, question="asked", random_state=seed, **more)


@pytest.mark.parametrize("seed", range(2))
def test_good_answers_need_nothing(seed):
    seen = inspect_answers(
        asked(draw_labels(1500, seed=seed + 50), seed, error_rate=[0.0, 0.0], answers_per_item=3)
    )
    assert names_of(seen) <= {"repeated-answers"}
    assert seen.next_step is None


def test_named_freely_nothing_can_tell():
    seen = inspect_answers(draw_answers(draw_labels(), random_state=1))
    found = seen.finding("choice-unchecked")
    assert (found.severity, found.command, seen.next_step) == ("warning", ASK, found)
    assert "Choices may be biased, and nothing here can tell" in found.what
    assert "choice-not-uniform" not in names_of(seen)


def test_commands_name_the_files():
    answers = draw_answers(draw_labels(), random_state=1)
    seen = inspect_answers(answers, source="'my {answers}.csv'", features="X{0}.npy")
    assert seen.next_step.command == (
        "complabel ask 'my {answers}.csv' --features X{0}.npy -n 200 --out questions.csv"
    )
    assert {each.command for each in inspect_answers(answers, source="").findings} == {""}


def test_commands_replace_no_file(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    table = {"item": ["a", "a"], "label": ["sea"] * 2, "answer": ["yes", "no"]}
    answers = Answers.from_table(table, contradictions="keep")
    for name in ("questions.csv", "model.safetensors"):
        (tmp_path / name).touch()
    commands = [each.command for each in inspect_answers(answers).findings if each.command]
    outs = {command.rpartition(" --out ")[2] for command in commands if " --out " in command}
    assert outs == {"questions-2.csv", "model-2.safetensors"}


def test_as_many_questions_as_there_are():
    seen = inspect_answers(draw_answers(draw_labels(10), random_state=1))
    assert " -n 40 " in seen.next_step.command
    assert "Ask 40 yes/no questions" in seen.next_step.advice


def test_chosen_questions_do_not_count():
    Y = draw_labels()
    chosen = Answers.from_arrays(relevant=Y, absent=1 - Y, question="asked")
    seen = inspect_answers(chosen)
    assert {"frequencies-unknown", "not-random"} <= names_of(seen)
    assert seen.finding("not-random").what.startswith("300 of 300 answers")
    assert "nothing is left to ask" in seen.finding("frequencies-unknown").advice
    also = inspect_answers(Answers.concatenate([chosen, asked(Y)]))
    assert also.finding("not-random").severity == "note"
    assert also.finding("not-random").what.startswith("300 of 600 answers")
    assert also.knowledge.n_random == 300
    assert "not-random" not in names_of(inspect_answers(asked(Y)))


def test_contradictions_come_first():
    Y = draw_labels()
    answers = Answers.concatenate([asked(Y), asked(Y, 1, error_rate=0.9), draw_answers(Y)])
    seen = inspect_answers(answers)
    assert seen.next_step.name == "contradictions"
    assert seen.next_step.severity == "problem"
    assert "--contradictions majority" in seen.next_step.command
    order = [SEVERITIES.index(each.severity) for each in seen.findings]
    assert order == sorted(order)


@pytest.mark.parametrize("n_items", [14, 15])
def test_what_known_people_contradict_is_kept_if_enough_is_shared(n_items):
    says = np.zeros((n_items, 2), dtype=int)
    people = Answers.concatenate(
        Answers.from_arrays(
            relevant=ticked, absent=1 - ticked, question="ticked", annotator=[name] * n_items
        )
        for name, ticked in (("ann", says), ("bob", np.eye(n_items, 2, dtype=int)))
    )
    step = inspect_answers(people).next_step
    if 2 * n_items < 30:  # pairs that both judged
        assert (step.name, step.severity) == ("contradictions", "problem")
    else:
        assert (step.name, step.severity) == ("people-contradict-seldom", "warning")
        assert step.what.startswith("2 pairs of item and label")
        assert "Several known people judged the same 30 pairs" in step.what
        assert "--contradictions keep" in step.command
        assert "missed=auto" not in step.command
        assert "To 2 pairs of these somebody said yes" in step.advice


def test_rates_of_people_are_advised_where_answers_tell_them():
    says = np.arange(100).reshape(50, 2) % 2
    people = Answers.concatenate(
        Answers.from_arrays(
            relevant=ticked, absent=1 - ticked, question="ticked", annotator=[name] * 50
        )
        for name, ticked in (("ann", says), ("bob", np.roll(says, 1, axis=1) | says))
    )
    step = inspect_answers(people).finding("people-contradict")
    assert "selection-likelihood:missed=auto,invented=auto" in step.command


def test_menus_tell_frequencies_but_not_for_sure():
    seen = inspect_answers(draw_answers(draw_labels(2000), question="menu-2", random_state=1))
    assert seen.knowledge.known
    assert seen.finding("frequencies-from-menus").command == ASK


@pytest.mark.parametrize(
    ("n_items", "n_labels", "share", "menu", "error_rate"),
    [
        (1200, 12, 0.06, "menu-3", 0.25),
        pytest.param(1000, 60, 0.05, "menu-4", 0.3, marks=pytest.mark.slow),
        pytest.param(1000, 30, 0.1, "menu-2", 0.2, marks=pytest.mark.slow),
    ],
)
def test_menus_of_labels_alike_are_not_told_from_mistakes(
    n_items, n_labels, share, menu, error_rate
):
    # As often as all labels of a menu are said to apply, they would where all are more frequent.
    Y = (np.random.default_rng(77).random((n_items, n_labels)) < share).astype(np.uint8)
    named = draw_answers(Y, question=menu, error_rate=error_rate, random_state=1)
    assert (np.diff(named.named.indptr) == 0).sum() > 50
    seen = inspect_answers(named)
    assert not seen.knowledge.known
    assert "choice-unchecked" in names_of(seen)


@pytest.mark.parametrize(("n", "expected"), [(60, True), (4000, False)])
def test_an_audit_that_is_too_small(n, expected):
    seen = inspect_answers(asked(draw_labels(n)))
    assert ("audit-too-small" in names_of(seen)) == expected
    if expected:
        advice = seen.finding("audit-too-small").advice
        assert advice == "180 more random yes/no questions would about halve the error."
        assert " -n 180 " in seen.finding("audit-too-small").command


@pytest.mark.parametrize("seed", range(2))
def test_labels_excluded_alike_are_found_and_others_not(seed):
    plain = excluded(draw_labels(seed=seed + 50), seed)
    assert inspect_answers(plain).identical == inspect_answers(plain).nested == ()
    marks = plain.excluded.toarray()
    marks[:, 3] = marks[:, 1]
    seen = inspect_answers(exclusions(marks))
    assert seen.identical == (("1", "3"),)
    assert "'1' = '3'" in seen.finding("identical-labels").what
    assert set(seen.nested) == {("1", "3"), ("3", "1")}


@pytest.mark.parametrize("seed", range(2))
def test_nested_exclusions_without_those_that_follow(seed):
    marks = excluded(draw_labels(seed=seed + 50), seed).excluded.toarray()
    marks[:, 1] |= marks[:, 2]
    marks[:, 0] |= marks[:, 1]
    seen = inspect_answers(exclusions(marks))
    assert seen.nested == (("0", "1"), ("1", "2"))
    assert "'0' wherever '1' is" in seen.finding("nested-exclusions").what


def test_few_marks_are_alike_by_chance():
    marks = np.zeros((100, 3), dtype=int)
    marks[:1] = 1
    seen = inspect_answers(exclusions(marks))
    assert seen.identical == seen.nested == ()


def test_many_marks_are_multiplied_densely():
    rng = np.random.default_rng(0)
    marks = (rng.random((400, 30)) < 0.6).astype(int)
    marks[:, 4] |= marks[:, 9]
    seen = inspect_answers(exclusions(marks))
    assert seen.nested == (("4", "9"),)


@pytest.mark.parametrize(
    ("names", "listed", "expected"),
    [
        (["sea", "Sea", "sky"], True, "'sea' (30) and 'Sea' (2)"),
        (["close up", "close-up", "sky"], True, "'close up' (30) and 'close-up' (2)"),
        (["mountain", "mountian", "sky"], False, "'mountain' (30) and 'mountian' (2)"),
        (["mountain", "montain", "sky"], False, "'mountain' (30) and 'montain' (2)"),
        (["mountain", "montain", "sky"], True, None),
        (["river", "diver", "c"], False, None),
        (["cat", "car", "sky"], False, None),
        (["c++", "c#", "c"], False, None),
        (["level 1", "level 2", "sky"], False, None),
    ],
)
def test_names_that_may_be_one_label(names, listed, expected):
    marks = np.eye(3, dtype=int)[np.repeat([0, 1, 2], [30, 2, 20])]
    seen = inspect_answers(
        Answers.from_arrays(absent=marks, label_names=names), labels_listed=listed
    )
    found = seen.finding("similar-names")
    assert (found and expected in found.what) if expected else found is None


def judged_by_two(error_rates, n, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, 2)) < 0.4).astype(np.uint8)
    tables = []
    for rate in error_rates:
        says = np.where(rng.random(Y.shape) < rate, rng.integers(2, size=Y.shape), Y)
        tables.append(
            Answers.from_arrays(relevant=says, absent=1 - says, annotator=[f"p{rate}"] * n)
        )
    return names_of(inspect_answers(Answers.concatenate(tables)))


def test_few_judgements_do_not_make_mistakes():
    found = [judged_by_two([0.05, 0.051], 20, seed) for seed in range(8)]
    assert sum("mistakes" in each for each in found) <= 1
    assert "no-agreement" in judged_by_two([1.0, 1.01], 200)
    assert "mistakes" in judged_by_two([0.3, 0.31], 200)
    assert "mistakes" not in judged_by_two([0.07, 0.071], 2000)  # sure, but not many


def test_the_table_has_every_finding_that_a_test_can_yield():
    table = tomllib.loads((ASKING / "findings.toml").read_text(encoding="utf-8"))
    source = (ASKING / "_findings.py").read_text(encoding="utf-8")
    assert set(re.findall(r'yield "([\w-]+)"', source)) == set(table)
    for row in table.values():
        assert row["severity"] in SEVERITIES
        assert row["title"]


def test_labels_nobody_listed():
    named, yes_no = draw_answers(draw_labels(), random_state=1), asked(draw_labels())
    unlisted = inspect_answers(named, labels_listed=False)
    assert unlisted.finding("labels-not-listed").command.endswith("--label-names labels.txt")
    assert "labels-not-listed" not in names_of(inspect_answers(named))
    # A yes/no question is about its own label, whatever others there are.
    assert "labels-not-listed" not in names_of(inspect_answers(yes_no, labels_listed=False))


def people(annotators):
    n = len(annotators)
    return Answers.from_arrays(absent=np.eye(3, dtype=int)[np.arange(n) % 3], annotator=annotators)


def ticked(*where):
    """All labels of 500 items are ticked; each applies to the first items only."""
    Y = (np.arange(500)[:, np.newaxis] < where).astype(np.uint8)
    return draw_answers(Y, question="ticked", random_state=0)


def cases():
    """Each finding with answers that have it, some words of it, and answers without it."""
    Y = draw_labels()
    good = asked(Y)
    audited = Answers.concatenate([excluded(Y), good])
    yield "exclusion-rates-unknown", excluded(Y), "exclude labels", audited
    tags = draw_answers(Y, question="tagged", exposure=0.5, random_state=0)
    yield "exposure-unknown", tags, "list labels that apply", Answers.concatenate([tags, good])
    no = Answers.from_arrays(absent=draw_answers(Y, random_state=1).complementary)
    yield "only-no", no, "judgements are no", good
    picked = np.eye(5)[np.arange(200) % 5]
    crowd = Answers.from_arrays(relevant=picked, question="asked", annotator=["a", "b"] * 100)
    yield "only-yes", crowd, "nobody could disagree", good
    marks = excluded(np.hstack([Y, Y[:, :1] * 0])).excluded.toarray()
    marks[:, 0], marks[3:, 5] = 0, 0
    yield "never-mentioned", exclusions(marks), "1 of 6 labels are in no answer: '0'", good
    yield "few-answers", exclusions(marks), "1 of 6 labels are in fewer than 20 answers: '5'", good
    few = ticked(40, 6, 1)
    yield "few-yes", few, "2 of 3 labels, fewer than 10", ticked(40)
    yield "few-yes", few, "'2' (1), '1' (6)", ticked(40, 10)
    marks = np.ones((4, 3), dtype=int)
    marks[2:, 0] = 0
    yield "all-excluded", exclusions(marks), "2 items", good
    yield "items-without-answers", exclusions(marks, n_items=6), "2 of 6 items", good
    ann, both = people(["ann"] * 4), people(["ann", "bob"] * 2)
    some = people(["ann", None, "ann", "bob"])
    yield "one-annotator", ann, "'ann'", both
    yield "one-annotator", ann, "'ann'", some
    yield "annotators-unknown", people([None] * 4), "No answer says who", both
    yield "annotators-unknown", some, "1 of 4 answers", ann
    yield "nothing-shared", both, "2 annotators", ann
    yield "repeated-answers", Answers.concatenate([both, both]), "4 times", both


def test_a_finding_is_where_its_assumption_fails_and_not_elsewhere():
    for name, having, words, without in cases():
        assert words in inspect_answers(having).finding(name).what
        assert inspect_answers(without).finding(name) is None, (name, words)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_items_alike_with_contradicting_answers(make):
    X = np.array([[1.0, 0.0, 5.0], [0.5, 2.0, 5.0], [1.0, -0.0, 5.0], [0.5, 2.0, 5.0]])
    answers = Answers.from_arrays(
        absent=[[1, 0], [0, 0], [0, 0], [0, 1]], relevant=[[0, 0], [0, 1], [0, 1], [0, 0]]
    )
    seen = inspect_answers(answers, make(X))
    looked = seen.features
    assert (looked.n_features, looked.n_constant, looked.n_same) == (3, 1, 4)
    assert looked.n_contradicting == 2
    assert {"same-features-contradict", "constant-features"} <= names_of(seen)


def test_a_contradiction_about_one_item_is_none_of_its_features():
    answers = Answers.from_arrays(
        absent=[[1, 0], [0, 0]], relevant=[[0, 0], [1, 0]], item=[0, 0], n_items=2
    )
    seen = inspect_answers(answers, np.ones((2, 1)))
    assert seen.features.n_contradicting == 0
    assert "same-features" in names_of(seen)


def test_short_numbers_are_told_apart():
    X = np.arange(20_000, dtype=np.float32).reshape(-1, 2)
    seen = inspect_answers(Answers.from_arrays(absent=[[1, 0]], n_items=10_000), X)
    assert seen.features.n_same == 0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_missing_features_are_refused(make):
    X = np.ones((3, 2))
    X[1, 0] = np.nan
    answers = Answers.from_arrays(absent=[[1, 0]] * 3)
    with raises(InputError, "row 1", "NaN", "1 values"):
        inspect_answers(answers, make(X))


def test_features_of_other_items_are_refused():
    answers = Answers.from_arrays(absent=[[1, 0]] * 3)
    with raises(InputError, "X", "shape (2, 2)", "3"):
        inspect_answers(answers, np.ones((2, 2)))
    with raises(InputError, "X"):
        inspect_answers(answers, [["a"], ["b"], ["c"]])
