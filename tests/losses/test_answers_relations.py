"""What must hold between likelihoods of answers, whatever their values are."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.losses.answers_cases import MASKS, cases, container, masks, some_logits

from complabel.answers import Answers
from complabel.losses import answers_log_likelihood, selection_log_likelihood


def value(logits, answers, **of):
    return answers_log_likelihood(torch.tensor(np.asarray(logits)), answers, **of).numpy()


def value_and_gradient(logits, answers, **of):
    leaf = torch.tensor(np.asarray(logits), requires_grad=True)
    values = answers_log_likelihood(leaf, answers, **of)
    (gradient,) = torch.autograd.grad(values.sum(), leaf)
    return values.detach().numpy(), gradient.numpy()


def close(values, expected, tolerance=1e-12):
    np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance)


def single(offered, named, **given):
    """One naming about one item, from masks."""
    named = np.asarray(named)
    row = {"item": 0, "question": "named", "offered": np.asarray(offered), "named": named}
    row |= {"asked_for": max(1, int(named.sum()))} | given
    return container([row], 1, len(named))


# Today's value


@st.composite
def free_namings(draw, most_named):
    """Draw logits (n, K), labels named and labels known to apply, for free naming."""
    n, n_labels = draw(st.integers(1, 4)), draw(st.integers(2, 9))
    named = np.zeros((n, n_labels), dtype=np.uint8)
    for row in named:
        m = draw(st.integers(1, min(most_named, n_labels - 1)))
        row[draw(st.permutations(range(n_labels)))[:m]] = 1
    told = np.array([draw(masks(n_labels)) for _ in range(n)]) & (named == 0)
    return draw(some_logits(n, n_labels, 12.0)), named, told.astype(np.uint8)


@given(free_namings(most_named=4))
def test_a_menu_of_everything_is_free_naming(drawn):
    logits, named, told = drawn
    expected = selection_log_likelihood(
        torch.tensor(logits), torch.tensor(named), relevant=torch.tensor(told)
    )
    close(value(logits, Answers.from_complementary(named, relevant=told)), expected, 1e-9)
    shown = {"offered": np.ones_like(named), "all_apply": "never"}
    close(value(logits, Answers.from_arrays(named=named, relevant=told, **shown)), expected, 1e-9)


@given(free_namings(most_named=1), st.integers(0, 99))
def test_free_naming_by_propensities(drawn, seed):
    logits, named, told = drawn
    weights = np.exp(np.random.default_rng(seed).normal(size=named.shape[1]))
    expected = selection_log_likelihood(
        torch.tensor(logits),
        torch.tensor(named),
        relevant=torch.tensor(told),
        propensities=weights,
    )
    answers = Answers.from_complementary(named, relevant=told)
    close(value(logits, answers, propensities=weights), expected, 1e-8)


# By hand


@pytest.mark.parametrize("propensities", [None, [1.0, 50.0, 4.0]], ids=["equal", "weighed"])
def test_a_menu_of_two_by_hand(propensities):
    logits = np.array([[0.3, -1.0, 2.0]])
    p = 1 / (1 + np.exp(-logits[0]))
    share = 1 / 2 if propensities is None else 4 / 5
    named = p[0] * (1 - p[2]) + share * (1 - p[0]) * (1 - p[2])
    all_apply = p[0] * p[2]
    expected = {
        "answer": named,
        "never": named,
        "pick": named + all_apply / 2,
        "skip": named / (1 - all_apply),
    }
    for treatment, chance in expected.items():
        answers = single([1, 0, 1], [0, 0, 1], all_apply=treatment)
        found = value(logits, answers, propensities=propensities)
        close(found, np.log([chance]), 1e-12 if propensities is None else 1e-8)
    found = value(logits, single([1, 0, 1], [0, 0, 0]), propensities=propensities)
    close(found, np.log([all_apply]))


@given(some_logits(1, 4), st.permutations(range(4)))
def test_a_menu_with_nothing_else_to_name_is_a_question_of_yes_or_no(logits, order):
    label, other = (np.arange(4) == k for k in order[:2])
    menu = label | other
    for named, judged in ((label, "absent"), (label & other, "relevant")):
        asked = {"item": 0, "question": "asked", "offered": label, judged: label}
        known = {"item": 0, "question": "asked", "offered": other, "relevant": other}
        expected = value_and_gradient(logits, container([asked, known], 1, 4))
        found = value_and_gradient(logits, single(menu, named, relevant=other))
        close(found[0], expected[0])
        close(found[1], expected[1])


# What says nothing


@given(cases(most_labels=6, most_items=2), st.floats(-20, 20))
def test_a_label_never_offered_changes_nothing(case, logit):
    answers, n_labels = case.answers, case.logits.shape[1]
    wider, of = {}, dict(case.settings)
    for name in MASKS:
        mask = getattr(answers, name).toarray()
        if name == "offered":
            mask = mask | ~mask.any(axis=1, keepdims=True)
        wider[name] = np.pad(mask, ((0, 0), (0, 1))).astype(np.uint8)
    for name in ("item", "question", "annotator", "asked_for", "all_apply"):
        wider[name] = getattr(answers, name)
    for name in ("propensities", "exclusion_rates"):
        if np.ndim(of.get(name, 0.0)):
            of[name] = np.append(of[name], 0.9)
    more = np.column_stack([case.logits, np.full(len(case.logits), logit)])
    found, slopes = value_and_gradient(more, Answers.from_arrays(**wider, n_items=len(more)), **of)
    expected, expected_slopes = value_and_gradient(case.logits, answers, **case.settings)
    close(found, expected, case.tolerance)
    close(slopes[:, :n_labels], expected_slopes, case.tolerance)
    close(slopes[:, n_labels], 0.0, 1e-13)


@given(
    some_logits(1, 5),
    masks(5, least=2),
    st.integers(1, 3),
    st.sampled_from(["answer", "never", "skip", "pick"]),
)
def test_an_answer_at_random_says_nothing(logits, menu, m, all_apply):
    m = 1 if all_apply == "pick" else min(m, menu.sum())
    named = menu & (np.cumsum(menu) <= m)
    sizes = range(0 if all_apply == "answer" else 1, m + 1)
    n = sum(math.comb(int(menu.sum()), size) for size in sizes)
    answers = single(menu, named, asked_for=m, all_apply=all_apply)
    found, gradient = value_and_gradient(logits, answers, error_rates=1.0)
    close(found, [-np.log(n)])
    close(gradient, 0.0, 1e-13)


@given(some_logits(1, 5), masks(5, least=1), masks(5))
def test_judgements_at_random_say_nothing(logits, offered, marks):
    row = {"item": 0, "question": "ticked", "offered": offered}
    row |= {"absent": offered & marks, "relevant": offered & ~marks}
    found, gradient = value_and_gradient(logits, container([row], 1, 5), error_rates=1.0)
    close(found, [-offered.sum() * np.log(2)])
    close(gradient, 0.0, 1e-13)


@given(cases(propensities=False), st.floats(0.01, 100))
def test_equal_propensities_are_none(case, weight):
    weights = np.full(case.logits.shape[1], weight)
    weighed = value_and_gradient(case.logits, case.answers, propensities=weights, **case.settings)
    plain = value_and_gradient(case.logits, case.answers, **case.settings)
    close(weighed[0], plain[0], 1e-8)
    close(weighed[1], plain[1], 1e-8)


@given(cases(questions=("ticked",)))
def test_ticking_is_being_asked_label_by_label(case):
    answers, n_labels = case.answers, case.logits.shape[1]
    rows = []
    for said in ("absent", "relevant"):
        for a, k in zip(*getattr(answers, said).nonzero(), strict=True):
            mask = np.arange(n_labels) == k
            row = {"item": answers.item[a], "annotator": answers.annotator[a]}
            rows.append(row | {"question": "asked", "offered": mask, said: mask})
    asked = container(rows, len(case.logits), n_labels)
    close(value(case.logits, asked, **case.settings), value(case.logits, answers, **case.settings))


# Orders


def rebuilt(answers, places=None, labels=None, items=None):
    """The same answers in another order, with labels and items renumbered."""
    places = np.arange(answers.n_answers) if places is None else places
    arrays = {name: getattr(answers, name).toarray()[places] for name in MASKS}
    if labels is not None:
        arrays = {name: mask[:, labels] for name, mask in arrays.items()}
    for name in ("question", "annotator", "asked_for", "all_apply"):
        arrays[name] = getattr(answers, name)[places]
    item = answers.item if items is None else np.argsort(items)[answers.item]
    return Answers.from_arrays(**arrays, item=item[places], n_items=answers.n_items)


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_labels_does_not_matter(case, random):
    labels = np.array(random.sample(range(case.logits.shape[1]), case.logits.shape[1]))
    of = dict(case.settings)
    for name in ("propensities", "exclusion_rates"):
        if np.ndim(of.get(name, 0.0)):
            of[name] = np.asarray(of[name])[labels]
    found, slopes = value_and_gradient(
        case.logits[:, labels], rebuilt(case.answers, labels=labels), **of
    )
    expected, expected_slopes = value_and_gradient(case.logits, case.answers, **case.settings)
    close(found, expected)
    close(slopes, expected_slopes[:, labels])


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_answers_and_items_does_not_matter(case, random):
    places = random.sample(range(case.answers.n_answers), case.answers.n_answers)
    items = np.array(random.sample(range(len(case.logits)), len(case.logits)))
    expected = value(case.logits, case.answers, **case.settings)
    shuffled = rebuilt(case.answers, np.array(places, dtype=np.intp))
    close(value(case.logits, shuffled, **case.settings), expected)
    moved = rebuilt(case.answers, np.array(places, dtype=np.intp), items=items)
    close(value(case.logits[items], moved, **case.settings), expected[items])
    close(value(case.logits[items], case.answers[items], **case.settings), expected[items])


@given(cases())
def test_items_do_not_know_of_each_other(case):
    whole = value(case.logits, case.answers, **case.settings)
    for item in range(len(case.logits)):
        alone = value(case.logits[[item]], case.answers[[item]], **case.settings)
        close(alone, whole[[item]])
