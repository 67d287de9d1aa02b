"""Who says yes more or less often than the others, without a pair that two people judged."""

import numpy as np
import pytest
from scipy import stats
from tests.asking.test_inspect import draw_labels

from complabel.answers import Answers
from complabel.asking import inspect_answers
from complabel.asking._statistics import AnswerStatements, _Compared, shares_that_differ
from complabel.reports import inspection_lines


def strangers(says, n_people=4, n=300, seed=0):
    """Answers to random questions about items of their own; ``says`` changes the first person's."""
    rng = np.random.default_rng(seed)
    Y = draw_labels(n * n_people, seed=seed)
    label = rng.integers(Y.shape[1], size=len(Y))
    yes = Y[np.arange(len(Y)), label]
    yes[:n] = says(yes[:n], rng)
    person = [f"p{at // n}" for at in range(len(Y))]
    return answers_of(label, yes, person)


def answers_of(label, yes, person, n_labels=5, **more):
    marks = np.eye(n_labels, dtype=np.uint8)[label]
    judgements = {"relevant": marks * yes[:, None], "absent": marks * (1 - yes[:, None])}
    return Answers.from_arrays(
        **judgements, annotator=person, **{"probability": 1 / n_labels} | more
    )


def names(answers):
    return [each.annotator for each in shares_that_differ(AnswerStatements.by(answers))]


@pytest.mark.parametrize(
    "says",
    [
        lambda yes, _: np.ones_like(yes),
        lambda yes, _: np.zeros_like(yes),
        lambda yes, rng: rng.integers(2, size=len(yes)),
    ],
    ids=["always yes", "always no", "at random"],
)
@pytest.mark.parametrize("seed", range(3))
def test_somebody_who_does_not_look_is_found_without_overlap_and_nobody_else(says, seed):
    assert names(strangers(says, seed=seed)) == ["p0"]


def test_people_who_answer_alike_are_seldom_told_apart():
    found = [names(strangers(lambda yes, _: yes, seed=seed)) for seed in range(40)]
    assert sum(map(bool, found)) <= 3


@pytest.mark.parametrize("labels_go_together", [True, False])
def test_labels_that_go_together_are_no_difference(labels_go_together):
    """Two people tick all labels of items; all labels of an item apply, or none does."""
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        yes = rng.random((200, 1 if labels_go_together else 6)) < 0.3
        yes = np.broadcast_to(yes, (200, 6)).astype(np.uint8)
        person = np.repeat(["ann", "bob"], 100)
        told = {"relevant": yes, "absent": 1 - yes, "question": "ticked"}
        found += bool(names(Answers.from_arrays(**told, annotator=person)))
    assert found <= 5


def test_questions_that_were_not_random_or_drawn_with_other_chances_are_no_difference():
    rng = np.random.default_rng(0)
    Y = draw_labels(4000)
    label = rng.integers(5, size=4000)
    yes, person = Y[np.arange(4000), label], np.where(np.arange(4000) < 2000, "ann", "bob")
    chosen = (person == "ann") | (rng.random(4000) < np.where(yes, 0.8, 0.1))  # bob likes "yes"
    chance = np.where(person == "ann", 0.2, np.where(yes, 0.8, 0.1) * 0.2)
    about = label[chosen], yes[chosen], person[chosen]
    assert names(answers_of(*about)), "as if all questions were as likely"
    given = {"probability": chance[chosen]}
    assert names(answers_of(*about, **given)) == []
    hidden = np.where(person == "bob", np.nan, 0.2)[chosen]
    assert names(answers_of(*about, probability=hidden)) == []


def test_the_score_of_one_label_is_that_of_a_two_by_two_table():
    rng = np.random.default_rng(1)
    n = 4000
    person, yes = rng.integers(2, size=n), rng.random(n)
    yes = yes < 0.3 + 0.02 * person
    statements = AnswerStatements.by(
        answers_of(np.zeros(n, dtype=int), yes.astype(np.uint8), person.astype(str))
    )
    compared = _Compared.of(
        statements, person[statements.answer], np.ones(n), np.ones(n, dtype=bool)
    )
    counts = np.array([[np.sum((person == a) & (yes == y)) for y in (0, 1)] for a in (0, 1)])
    expected = stats.chi2_contingency(counts, correction=False).pvalue
    assert compared.p_value(0) / 2 == pytest.approx(expected, rel=0.05)
    share = counts[:, 1] / counts.sum(axis=1)
    assert compared.share_of(0)[:2] == pytest.approx(share)


def test_a_machine_that_invents_labels_is_shown_beside_the_person_it_is_pooled_with():
    """1,500 answers of a machine and 200 of a person, all to random questions."""
    rng = np.random.default_rng(3)
    Y = draw_labels(1700, seed=3)
    label = rng.integers(5, size=1700)
    yes = Y[np.arange(1700), label] | (rng.random(1700) < 0.1)
    yes[1500:] = Y[np.arange(1500, 1700), label[1500:]]
    seen = inspect_answers(answers_of(label, yes, np.where(np.arange(1700) < 1500, "gpt", "ann")))
    if seen.yes_shares:  # 200 answers seldom tell
        assert seen.knowledge.apart
    yes[:1500] |= rng.random(1500) < 0.2
    seen = inspect_answers(answers_of(label, yes, np.where(np.arange(1700) < 1500, "gpt", "ann")))
    found = seen.finding("yes-shares-differ")
    assert found.severity == "warning"
    assert "(1,500 judgements)" in found.what or "(200 judgements)" in found.what
    apart = {who: value for who, value, _ in seen.knowledge.apart}
    lines = " ".join(inspection_lines(seen))
    for who, value in apart.items():
        assert f"{value:.2f} ± " in lines
        assert f" by {who}" in lines
    (alone,) = [value for who, value in apart.items() if who != "the others"]
    assert len(apart) == 2
    assert abs(alone - apart["the others"]) > 0.4
    assert min(apart.values()) < seen.knowledge.cardinality < max(apart.values())


@pytest.mark.parametrize(("rate", "severity"), [(0.01, "note"), (0.03, "note"), (0.12, "warning")])
def test_contradictions_are_a_warning_only_if_they_would_change_a_model(rate, severity):
    rng = np.random.default_rng(0)
    Y = draw_labels(600)
    label = rng.integers(5, size=600)
    both = [Y[np.arange(600), label] ^ (rng.random(600) < rate) for _ in range(2)]
    people = [answers_of(label, yes, [name] * 600) for name, yes in zip("ab", both, strict=True)]
    found = inspect_answers(Answers.concatenate(people)).finding("people-contradict")
    assert found.severity == severity
    share = (both[0] != both[1]).mean()
    assert f"agree {1 - share:.1%} of the time" in found.what
    # Two people with the error rate e disagree about 2 e (1 - e).
    told = float(found.what.split("as if ")[1].partition("%")[0]) / 100
    assert told == pytest.approx((1 - np.sqrt(1 - 2 * share)) / 2, abs=6e-4)
