"""Whatever drew the questions: if all pairs are judged, each figure is that of the truth."""

import math

import numpy as np
import pytest
from scipy import special

from complabel._questions import KINDS
from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.frequencies import audit_machine, estimate_label_frequencies
from complabel.live._asker import Asker
from complabel.live._drawing import Mixed, RandomQuestions
from complabel.live._until import aimed_questions, with_shares
from complabel.simulate import draw_answers
from complabel.trust import (
    choose_thresholds,
    estimate_metrics,
    how_far,
    reliability,
    suggest_evaluation_questions,
)

N, K = 60, 3
ITEMS, LABELS = range(N), ("0", "1", "2")
LOGITS = np.random.default_rng(0).normal(-0.8, 1.6, (N, K))
P = np.round(special.expit(1.4 * LOGITS), 2)
Y = (np.random.default_rng(1).random((N, K)) < special.expit(LOGITS)).astype(np.uint8)
MACHINE = np.where(np.random.default_rng(2).random((N, K)) < 0.2, 1 - Y, Y).astype(float)
NOTHING = Answers.from_table({"item": [], "label": []}, items=ITEMS, label_names=LABELS)
TRUTH = draw_answers(Y, question="ticked", random_state=0)
FIGURES = ("precision", "recall", "f1", "average_precision")


def filled(table):
    words = ["no", "yes"]
    rows = zip(table["item"], table["label"], strict=True)
    told = table.assign(answer=[words[Y[int(item), int(label)]] for item, label in rows])
    return Answers.from_table(told, items=ITEMS, label_names=LABELS)


def tables(*draws):
    """Ask again and again, the last time about all that is left."""
    said = NOTHING
    for draw in draws:
        said = Answers.concatenate([said, filled(draw(said))])
    return said


def rounds(n, **how):
    return lambda said: suggest_questions(said, n, random_state=0, **how)


def forms(n, kind="ticked"):
    return rounds(n, kind=kind, against=MACHINE)


def to_evaluate(n, figure, seed=0):
    how = {"figure": figure, "random_state": seed}
    return lambda _: suggest_evaluation_questions(NOTHING, P, n, **how)


def sitting(source):
    """Two people answer until nothing is left."""
    asker, people = Asker(source, LABELS, lambda: 0.0), {"ann", "bo"}
    while people:
        for person in sorted(people):
            event = asker.next(person)
            if event is None:
                people.remove(person)
                continue
            of = asker.questions[event.number]
            shown = range(K) if of.labels is None else of.labels
            yes = [LABELS[label] for label in shown if Y[of.item, label]]
            said = ("yes" if yes else "no") if of.kind == "asked" else yes
            asker.answer(event.id, person, said, 1.0)
    return asker.news(0, N).answers


def by_kind(word, overlap=0.0, **more):
    names, kind = [str(item) for item in ITEMS], KINDS[word]
    return sitting(RandomQuestions(names, K, lambda: kind, kind, overlap, **more))


def mixed():
    kinds = Mixed.of(K)
    return sitting(RandomQuestions([str(item) for item in ITEMS], K, kinds, None, 0.3))


DRAWS = {
    "random": lambda: tables(rounds(N * K)),
    "random, twice": lambda: tables(rounds(50), rounds(N * K - 50)),
    "against": lambda: tables(rounds(N * K, against=MACHINE)),
    "against, three times": lambda: tables(*(rounds(60, against=MACHINE) for _ in range(3))),
    "forms against, twice": lambda: tables(forms(25), forms(N - 25)),
    "forms of two, forms, then against": lambda: tables(
        forms(20, "ticked-2"), forms(N - 20), rounds(20, against=MACHINE)
    ),
    "random, against, then forms": lambda: tables(
        rounds(30), rounds(30, against=MACHINE), forms(57)
    ),
    "random, then against": lambda: tables(rounds(60), rounds(N * K - 60, against=MACHINE)),
    "aimed, and random": lambda: tables(to_evaluate(90, "f1"), rounds(N * K - 90)),
    **{f"to evaluate {f}": lambda f=f: tables(to_evaluate(N * K, f)) for f in FIGURES},
    "to evaluate, twice": lambda: tables(to_evaluate(40, "f1"), to_evaluate(N * K, "precision", 1)),
    "a sitting": lambda: by_kind("asked"),
    "a sitting with overlap": lambda: by_kind("asked", 0.3),
    "a sitting by weights": lambda: with_shares(
        by_kind("asked", weights=lambda: np.array([1.0, 0.2, 0.1]))
    ),
    "a sitting of forms": lambda: by_kind("ticked", 0.3),
    "a mixed sitting": mixed,
    **{
        f"a sitting for {f}": lambda f=f: sitting(aimed_questions(P, f, 0.2, 0, ()))
        for f in FIGURES
    },
}


def figures_of(answers):
    """Return every figure that exists, by its name."""
    found = {}
    for new in (False, True):
        metrics = estimate_metrics(answers, P, threshold=[0.5, 0.4, 0.3], new_items=new)
        for at, figures in {"": metrics, **metrics.labels}.items():
            for name in (*FIGURES, "share"):
                figure = getattr(figures, name)
                found[name, at, new] = (figure.value, figure.low, figure.high)
        found |= {(name, new): each for name, each in metrics.curve(9).items()}
    aims = {"precision": 0.6, "recall": 0.6}
    for aim in ({}, *({name: least} for name, least in aims.items()), {"match_frequencies": True}):
        for by_label in (False, True):
            chosen = choose_thresholds(answers, P, by_label=by_label, **aim)
            found["threshold", str(aim), by_label] = chosen.values
    told = reliability(answers, P, n_bins=5)
    found["reliability"] = [*told.share, *told.intervals.ravel(), told.error, *told.interval]
    for name, predictions in {"words": MACHINE, "scores": P}.items():
        often = estimate_label_frequencies(answers, predictions=predictions)
        found["frequencies", name] = [*often.values, *often.intervals.ravel()]
    audit = audit_machine(answers, MACHINE)
    for name in FIGURES[:2]:
        rate = getattr(audit, name)
        found["audit", name] = [*rate.values, *rate.intervals.ravel(), *rate.overall]
    goals = ["frequencies +-.03", *(f"{name} +-.1" for name in FIGURES)]
    for goal in how_far(answers, goals, probabilities=P):
        found[str(goal.goal)] = [end for part in goal.parts for end in (part.low, part.high)]
    return found


EXPECTED = figures_of(TRUTH)


@pytest.mark.parametrize("way", DRAWS)
def test_each_figure_is_that_of_the_truth(way):
    found = figures_of(DRAWS[way]())
    assert found.keys() == EXPECTED.keys()
    for name, values in EXPECTED.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-9, err_msg=str(name))


def test_what_is_known_has_an_interval_without_width():
    """Figures about these items alone, by definition."""
    often = Y.mean(axis=0)
    right = [Y[MACHINE[:, k] > 0, k].mean() for k in range(K)]
    found = [MACHINE[Y[:, k] > 0, k].mean() for k in range(K)]
    for name, values in {"precision": right, "recall": found}.items():
        ends = EXPECTED["audit", name]
        np.testing.assert_allclose(ends[: 3 * K], [*values, *np.repeat(values, 2)], atol=1e-12)
    for name in ("words", "scores"):
        ends = EXPECTED["frequencies", name]
        np.testing.assert_allclose(ends, [*often, *np.repeat(often, 2)], atol=1e-12)
    np.testing.assert_allclose(EXPECTED["frequencies +-.03"], np.repeat(often, 2), atol=1e-12)
    for name, at, new in [key for key in EXPECTED if len(key) == 3 and key[0] in FIGURES]:
        _, low, high = EXPECTED[name, at, new]
        assert math.isclose(low, high, abs_tol=1e-12) != new, (name, at)
