"""What every loss promises, tried on every loss that is exported."""

import inspect
import warnings

import numpy as np
import pytest
import torch

from complabel import losses
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.experiments import losses as compared
from complabel.experiments.losses import BinaryCrossEntropy, GDFLoss
from complabel.losses import LogitLoss, selection_log_likelihood


def drawn(n_rows, n_labels, seed=0):
    """Labels (n, K), some of each kind, and what losses are made with."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, min(4, n_labels), size=(n_rows, 1))
    order = rng.random((n_rows, n_labels)).argsort(axis=1)
    complementary = order < sizes
    # Labels outside of these, none in every other row.
    relevant = (order == n_labels - 1) | ((order >= sizes) & (rng.random(order.shape) < 0.3))
    relevant[::2] = False
    # Columns sum to 1, too, so that no implied probability exceeds 1: rows are shifted shares.
    offsets = np.arange(n_labels)[None, :] - np.arange(n_labels)[:, None]
    transition = np.append(0, rng.dirichlet(np.ones(n_labels - 1)))[offsets % n_labels]
    return {
        "complementary": complementary.astype(float),
        "relevant": relevant.astype(float),
        "one": np.eye(n_labels)[rng.integers(n_labels, size=n_rows)],
        "shared": complementary / complementary.sum(axis=1, keepdims=True),
        "rates": rng.uniform(0.2, 1.0, size=n_labels),
        "weights": rng.uniform(0.2, 3.0, size=n_labels),
        "transition": transition,
    }


# A loss, its settings and its labels; words stand for what is drawn. Every loss that is exported
# has at least one line here; a new one adds its own.
PLAIN, KNOWN = ("complementary",), ("complementary", "relevant")
RATES, MATRIX = {"naming_rates": "rates"}, {"transition": "transition"}
CASES = [
    ("BinaryCrossEntropy", {}, ("relevant",)),
    ("CCMNLoss", RATES, PLAIN),
    ("COMESHammingLoss", {**RATES, "corrected": False}, PLAIN),
    ("COMESHammingLoss", RATES, PLAIN),
    ("COMESRankingLoss", RATES, PLAIN),
    ("COMESRankingLoss", {**RATES, "flooding": 0.1}, PLAIN),
    ("CTLLoss", {}, PLAIN),
    ("ComplementaryCrossEntropy", {}, ("shared",)),
    ("ExponentialRankingLoss", {}, PLAIN),
    ("GDFLoss", {}, PLAIN),
    ("LUWLoss", {}, PLAIN),
    ("MLCLLoss", MATRIX, PLAIN),
    ("MLCLLoss", {**MATRIX, "beta": 2.5}, PLAIN),
    ("MLCLLoss", MATRIX, KNOWN),
    ("MLCLLoss", {**MATRIX, "beta": 0.0}, KNOWN),
    ("SelectionLikelihoodLoss", {}, PLAIN),
    ("SelectionLikelihoodLoss", {"cardinality": 1.5}, KNOWN),
    ("SelectionLikelihoodLoss", {"cardinality": 1.5, "propensities": "weights"}, ("one",)),
    ("UnbiasedBCELoss", {}, PLAIN),
]
every_loss = pytest.mark.parametrize(
    "build", [pytest.param(each, id=f"{each[0]}-{at}") for at, each in enumerate(CASES)]
)


def case(build, *, n_rows, n_labels, dtype=torch.float64, seed=0):
    """Return a loss, logits (b, K) and targets (b, K) to try it on."""
    name, settings, labels = build
    of = drawn(n_rows, n_labels, seed)
    given = {key: of[value] if isinstance(value, str) else value for key, value in settings.items()}
    if "transition" in given:
        given["transition"] = torch.tensor(given["transition"], dtype=dtype)
    logits = 2.0 * np.random.default_rng(seed + 1).standard_normal((n_rows, n_labels))
    targets = [torch.tensor(of[label], dtype=dtype) for label in labels]
    made = getattr(losses if name in losses.__all__ else compared, name)
    return made(**given), torch.tensor(logits, dtype=dtype), targets


def by_hand(loss, logits, targets):
    """The loss's own gradient, given labels by name as training gives them."""
    return loss.logit_gradient(logits, **dict(zip(loss.label_names, targets, strict=False)))


def label_major(logits, targets):
    """The same tensors laid out as training does: each label's numbers side by side."""
    return [tensor.t().contiguous().t() for tensor in (logits, *targets)]


def by_autograd(loss, logits, targets):
    """Autograd's gradient of the mean over rows, times their number: of the sum over rows."""
    leaf = logits.clone().requires_grad_()
    loss(leaf, *targets).backward()
    return leaf.grad * len(logits)


def test_every_exported_loss_is_tried_here():
    exported = [getattr(room, name) for room in (losses, compared) for name in room.__all__]
    classes = filter(inspect.isclass, exported)
    known = {each.__name__ for each in classes if issubclass(each, LogitLoss)}
    assert known - {"LogitLoss"} == {name for name, *_ in CASES}


@every_loss
@pytest.mark.parametrize(("n_rows", "n_labels"), [(1, 3), (6, 4)])
def test_autograd_agrees_with_finite_differences(build, n_rows, n_labels):
    loss, logits, targets = case(build, n_rows=n_rows, n_labels=n_labels)
    logits.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: loss(z, *targets), (logits,))


@every_loss
@pytest.mark.parametrize(("n_rows", "n_labels"), [(1, 3), (9, 5), (64, 15), (8, 983)])
def test_the_gradient_by_hand_equals_autograd(build, n_rows, n_labels):
    loss, logits, targets = case(build, n_rows=n_rows, n_labels=n_labels)
    found = by_hand(loss, logits, targets)
    assert found.shape == logits.shape
    torch.testing.assert_close(found, by_autograd(loss, logits, targets), rtol=1e-9, atol=1e-12)


@every_loss
def test_neither_way_changes_what_it_is_given(build):
    loss, logits, targets = case(build, n_rows=9, n_labels=5)
    inputs = [logits, *targets]
    copies = [tensor.clone() for tensor in inputs]
    first = loss.logit_gradient(*inputs)
    torch.testing.assert_close(loss.logit_gradient(*inputs), first, rtol=0, atol=0)
    loss(*inputs)
    for tensor, copy in zip(inputs, copies, strict=True):
        assert torch.equal(tensor, copy)


@every_loss
def test_the_loss_of_a_batch_is_the_mean_over_its_rows(build):
    loss, logits, targets = case(build, n_rows=7, n_labels=5)
    whole = loss(logits, *targets)
    assert whole.shape == ()
    rows = [float(loss(logits[[row]], *(target[[row]] for target in targets))) for row in range(7)]
    if getattr(loss, "corrected", False):  # |mean| of a batch, which rows have each by itself
        assert float(whole) < np.mean(rows)
    else:
        assert float(whole) == pytest.approx(np.mean(rows), rel=1e-12)


@every_loss
@pytest.mark.parametrize("n_labels", [3, 983])
@pytest.mark.parametrize("saturation", ["all low", "all high", "mixed"])
def test_value_and_gradients_stay_finite_where_sigmoids_saturate(build, n_labels, saturation):
    loss, logits, targets = case(build, n_rows=6, n_labels=n_labels, dtype=torch.float32)
    sign = {"all low": -1.0, "all high": 1.0, "mixed": torch.sign(logits)}[saturation]
    extreme = 100.0 * sign * torch.ones_like(logits)
    assert torch.isfinite(loss(extreme, *targets))
    assert torch.isfinite(by_autograd(loss, extreme, targets)).all()
    assert torch.isfinite(by_hand(loss, extreme, targets)).all()


@every_loss
def test_a_loss_moves_with_its_network_to_another_precision(build):
    loss, logits, targets = case(build, n_rows=6, n_labels=5)
    expected = float(loss(logits, *targets))
    single = loss.to(torch.float32)
    found = single(logits.float(), *(target.float() for target in targets))
    assert found.dtype == torch.float32
    assert float(found) == pytest.approx(expected, rel=1e-5)


@every_loss
def test_the_gradient_by_default_is_that_by_hand(build):
    loss, logits, targets = case(build, n_rows=9, n_labels=5)
    expected = by_hand(loss, logits, targets)
    with torch.inference_mode():  # where linear models train
        inputs = [tensor.clone() for tensor in label_major(logits, targets)]
        found = LogitLoss.logit_gradient(loss, *inputs)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)


@every_loss
@pytest.mark.parametrize("n_labels", [4, 300])
def test_the_layout_of_tensors_does_not_matter(build, n_labels):
    loss, logits, targets = case(build, n_rows=9, n_labels=n_labels)
    inputs = label_major(logits, targets)
    torch.testing.assert_close(loss(*inputs), loss(logits, *targets), rtol=1e-12, atol=0)
    found = loss.logit_gradient(*inputs)
    torch.testing.assert_close(found, by_hand(loss, logits, targets), rtol=1e-11, atol=1e-13)


def test_labels_have_the_names_of_the_arguments():
    assert GDFLoss.label_names == ("complementary",)
    assert losses.MLCLLoss.label_names == ("complementary", "relevant")
    assert BinaryCrossEntropy.label_names == ("true_labels",)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.int64, torch.bool], ids=str)
def test_labels_of_any_dtype_by_position_or_by_name(dtype):
    loss, logits, (labels,) = case(("GDFLoss", {}, PLAIN), n_rows=6, n_labels=5)
    expected = float(loss(logits, labels))
    assert float(loss(logits, labels.to(dtype))) == pytest.approx(expected)
    assert float(loss(logits, complementary=labels.to(dtype))) == pytest.approx(expected)


ZEROS, MARKS = torch.zeros(6, 5), torch.ones(6, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ZEROS, torch.ones(6, 3)), "give one row per instance"),
        ((ZEROS, torch.ones(5, 6)), "it looks transposed"),
        ((ZEROS, torch.arange(6) % 5), r"indicator_from_indices\(numbers, 5\)"),
        ((ZEROS, torch.zeros(6, 1, dtype=torch.int32)), "indicator_from_indices"),
        ((ZEROS, np.ones((6, 5))), "must be a tensor"),
        ((torch.zeros(3), MARKS), "logits of a loss must be floats"),
        ((ZEROS.long(), MARKS), "got torch.int64"),
        ((ZEROS,), "got logits but no labels"),
        ((ZEROS, MARKS, MARKS), "GDFLoss takes complementary after the logits, got 2"),
    ],
)
def test_what_is_no_indicator_is_refused_with_what_is_needed(arguments, message):
    with pytest.raises(InputError, match=message):
        GDFLoss()(*arguments)


def test_unknown_labels_and_another_number_of_them_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'relevant'"):
        GDFLoss()(ZEROS, complementary=MARKS, relevant=MARKS)
    with pytest.raises(InputError, match="relevant of a loss must be an indicator"):
        losses.MLCLLoss(torch.eye(5))(ZEROS, MARKS, torch.ones(6, 4))
    with pytest.raises(InputError, match=r"shape \(2, 4\) for logits of shape \(2, 3\)"):
        selection_log_likelihood(torch.zeros(2, 3), torch.ones(2, 4))


IN_FRONT = {
    "none": torch.nn.Identity(),
    "sigmoid": torch.nn.Sigmoid(),
    "softmax": torch.nn.Softmax(dim=1),
}


@pytest.mark.parametrize("end", IN_FRONT)
@pytest.mark.parametrize("name", ["MLCLLoss", "AnswersLikelihood"])
def test_a_network_that_ends_in_a_sigmoid_is_noticed_once(name, end):
    marks = np.eye(5)[np.arange(64) % 5]
    loss = losses.MLCLLoss((1 - torch.eye(5)) / 4)
    likelihood = losses.AnswersLikelihood(Answers.from_arrays(absent=marks, relevant=1 - marks))
    linear, features = torch.nn.Linear(3, 5), torch.randn(64, 3)
    torch.nn.init.zeros_(linear.weight)
    torch.nn.init.zeros_(linear.bias)

    def warned(n_batches):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for rows in torch.arange(64).split(16)[:n_batches]:
                logits = IN_FRONT[end](linear(features[rows]))
                if name == "MLCLLoss":
                    loss(logits, torch.tensor(marks)[rows])
                else:
                    likelihood.batch(rows).log_likelihood(logits)
        return [warning.filename for warning in caught]

    assert not warned(4)  # outputs that are all alike tell nothing
    torch.manual_seed(0)
    linear.reset_parameters()
    with torch.no_grad():
        assert not warned(4)  # nothing is trained
    assert not warned(2)
    assert warned(4) == ([] if end == "none" else [__file__])
    assert not warned(4)
