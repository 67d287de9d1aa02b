"""The likelihood of some of the items, laid out once: the same numbers as for all of them."""

import copy
import io

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.losses.answers_cases import cases
from tests.losses.answers_reference import rates_of_lists
from tests.refusals import raises

from complabel.answers import Answers
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.losses import AnswersLikelihood
from complabel.simulate import draw_answers

Y = make_synthetic(120, n_features=3, n_labels=7, random_state=0).Y
LISTED = rates_of_lists({"exclusion_rates": 0.4, "exposure": 0.4}, 7)
QUESTIONS = ("free", "menu-2", "menu-4", "asked", "ticked", "excluded", "tagged")


def likelihood_of(case):
    """The likelihood of a case, and the arguments of its calls."""
    n_labels, settings = case.logits.shape[1], case.settings
    rates = np.asarray(settings["error_rates"], dtype=float)
    listed = rates_of_lists(settings, n_labels)
    found = AnswersLikelihood(case.answers, **listed, with_error_rates=rates.max() > 0)
    given = {}
    if found.with_error_rates:
        known = np.broadcast_to(rates, len(case.answers.annotator_names))
        given["error_rates"] = torch.tensor(np.append(known, rates.mean()))
    if settings.get("propensities") is not None:
        given["log_propensities"] = torch.tensor(np.log(settings["propensities"]))
    return found, given


def some_answers(questions, seed=0):
    """Answers to all these questions about about half of the items each, several by item."""
    rng, parts = np.random.default_rng(seed), []
    for question in questions:
        rates = {"excluded": {"exclusion_rates": 0.4}, "tagged": {"exposure": 0.4}}.get(
            question, {}
        )
        drawn = draw_answers(Y, question=question, random_state=seed, **rates)
        parts.append(drawn.only(rng.random(drawn.n_answers) < 0.5))
    return Answers.concatenate(parts)


@examples(40)
@given(cases(), st.data())
def test_any_rows_of_any_answers(case, data):
    likelihood, given = likelihood_of(case)
    whole = likelihood(torch.tensor(case.logits), **given)
    numbers = st.integers(0, len(case.logits) - 1)
    rows = np.array(data.draw(st.lists(numbers, max_size=6)), dtype=np.int64)
    found = likelihood.batch(rows)(torch.tensor(case.logits[rows]), **given)
    how = {"rtol": 1e-12, "atol": case.tolerance}
    np.testing.assert_allclose(found.values, whole.values[rows], **how)
    np.testing.assert_allclose(found.through_logits, whole.through_logits[rows], **how)


@pytest.mark.parametrize("mistakes", [False, True])
@pytest.mark.parametrize("questions", [*((each,) for each in QUESTIONS), QUESTIONS], ids=str)
def test_batches_add_up_to_all_items(questions, mistakes):
    answers = some_answers(questions)
    known = {**LISTED, "with_error_rates": mistakes}
    logits = torch.randn(Y.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    given = {"log_propensities": torch.linspace(-1, 1, 7, dtype=torch.float64)}
    if mistakes:
        given["error_rates"] = torch.tensor([0.1], dtype=torch.float64)
    likelihood = AnswersLikelihood(answers, **known)
    whole = likelihood(logits, **given)
    parts = torch.split(torch.randperm(len(Y), generator=torch.Generator().manual_seed(1)), 32)
    found = [likelihood.batch(rows)(logits[rows], **given) for rows in parts]
    for name in ("through_log_propensities", "through_log_odds"):
        if getattr(whole, name) is not None:
            total = sum(getattr(each, name) for each in found)
            torch.testing.assert_close(total, getattr(whole, name), rtol=1e-9, atol=1e-9)
    for rows, each in zip(parts, found, strict=True):
        torch.testing.assert_close(each.values, whole.values[rows], rtol=1e-9, atol=1e-9)
        # The same from a part of the answers that is laid out anew.
        again = AnswersLikelihood(answers[rows.numpy()], **known)(logits[rows], **given)
        torch.testing.assert_close(each.values, again.values, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(each.through_logits, again.through_logits, rtol=1e-9, atol=1e-9)


@examples(15)
@given(cases(most_labels=4, most_items=2, scale=3.0, rates=(0.0, 0.2)), st.integers(0, 99))
def test_gradients_of_weighted_items_by_finite_differences(case, seed):
    likelihood, given = likelihood_of(case)
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(case.logits), size=3)
    weights = torch.tensor(rng.uniform(0.1, 2, size=3))
    logits = torch.tensor(case.logits[rows], requires_grad=True)
    log_w = torch.tensor(rng.normal(size=logits.shape[1]), requires_grad=True)

    def weighted(logits, log_w):
        values = likelihood.batch(rows).log_likelihood(
            logits, log_propensities=log_w, error_rates=given.get("error_rates")
        )
        return (weights * values).sum()

    assert torch.autograd.gradcheck(weighted, (logits, log_w), atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_logits_of_any_float_type_under_autocast_and_infinite_ones(dtype):
    logits = torch.linspace(-3, 3, 35).view(5, 7).to(dtype).requires_grad_()
    log_w = torch.linspace(-1, 1, 7, requires_grad=True)
    with torch.inference_mode():  # laid out by somebody who trains elsewhere
        likelihood = AnswersLikelihood(some_answers(("menu-2", "asked"))).batch(range(5))
    exact = likelihood(logits.double(), log_propensities=log_w.double())
    likelihood.float()
    with torch.autocast("cpu", torch.bfloat16):
        found = likelihood.log_likelihood(logits, log_propensities=log_w)
    assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    of_logits, of_w = torch.autograd.grad(found.sum(), (logits, log_w))
    assert of_logits.dtype == dtype
    near = {"rtol": 1e-5, "atol": 1e-6}
    torch.testing.assert_close(found.double(), exact.values, **near)
    torch.testing.assert_close(of_w.double(), exact.through_log_propensities, **near)
    extreme = logits.detach().index_fill(1, torch.tensor(2), -torch.inf).requires_grad_()
    (slope,) = torch.autograd.grad(likelihood.log_likelihood(extreme).sum(), extreme)
    assert torch.isfinite(slope).all()
    assert not slope[:, 2].any()


@pytest.mark.parametrize(
    "rows",
    [[0, 120], [-1], [0.0], [True, False], [[0]], 3],
    ids=["beyond", "negative", "float", "bool", "2-D", "number"],
)
def test_rows_that_are_no_items_are_refused(rows):
    with raises(InputError, "rows"):
        AnswersLikelihood(some_answers(("asked",))).batch(rows)


def test_no_rows_and_logits_of_another_number_of_rows():
    likelihood = AnswersLikelihood(some_answers(QUESTIONS[:-2]))
    assert likelihood.batch([]).log_likelihood(torch.zeros(0, 7)).shape == (0,)
    with raises(InputError, "3 items"):
        likelihood.batch([1, 2, 3]).log_likelihood(torch.zeros(2, 7))


def tensors(part):
    """All tensors that an object holds, also what it has worked out before."""
    if isinstance(part, torch.Tensor):
        yield part
    for each in part if isinstance(part, list | tuple) else getattr(part, "__dict__", {}).values():
        yield from tensors(each)


def test_it_moves_with_the_network_that_it_is_part_of():
    answers = some_answers(QUESTIONS)
    answers = answers.with_weight(np.arange(answers.n_answers) % 2 / 2 + 0.5)
    known = LISTED
    network = torch.nn.Linear(3, 7)
    network.likelihood = AnswersLikelihood(answers, **known)
    logits = torch.randn(4, 7, dtype=torch.float64)
    expected = network.likelihood.batch([2, 0, 2, 9])(logits)  # also works out where answers are
    assert {*network.state_dict()} == {"weight", "bias"}
    assert not [*network.likelihood.buffers()]

    file = io.BytesIO()
    torch.save(network, file)
    file.seek(0)
    for copied in (copy.deepcopy(network), torch.load(file, weights_only=False)):
        found = copied.likelihood.batch([2, 0, 2, 9])(logits)
        torch.testing.assert_close(found.values, expected.values, rtol=0, atol=0)

    network.float()
    found = network.likelihood.batch([2, 0, 2, 9])(logits.float())
    single = AnswersLikelihood(answers, **known, dtype=torch.float32).batch([2, 0, 2, 9])
    torch.testing.assert_close(found.values, single(logits.float()).values, rtol=0, atol=0)

    network.bfloat16().to("meta")
    assert network.weight.dtype == torch.bfloat16
    kinds = {tensor.dtype for tensor in tensors(network.likelihood)}
    assert kinds <= {torch.float32, torch.int64, torch.bool}
    assert {tensor.device.type for tensor in tensors(network.likelihood)} == {"meta"}
