"""What every loss promises, tried on every loss that is exported."""

import contextlib
import inspect
import warnings

import numpy as np
import pytest
import torch
from tests.refusals import raises

from complabel import losses
from complabel.answers import Answers
from complabel.errors import InputError
from complabel.experiments import losses as compared
from complabel.experiments.losses import GDFLoss
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
    ("ComplementaryCrossEntropy", {}, PLAIN),
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
# To these, a row of zeros says something: that no label applies, or that none of them was named.
TOLD_BY_ZEROS = ("BinaryCrossEntropy", "CCMNLoss", "COMESHammingLoss")
HALF = (torch.bfloat16, torch.float16)
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
def test_the_gradient_by_hand_equals_autograd_in_any_layout(build, n_rows, n_labels):
    loss, logits, targets = case(build, n_rows=n_rows, n_labels=n_labels)
    given, columns = [logits, *targets], label_major(logits, targets)
    copies = [tensor.clone() for tensor in given]
    found, expected = by_hand(loss, logits, targets), by_autograd(loss, logits, targets)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(loss.logit_gradient(*columns), found, rtol=1e-11, atol=1e-13)
    torch.testing.assert_close(loss(*columns), loss(*given), rtol=1e-12, atol=0)
    with torch.inference_mode():  # where linear models train
        default = LogitLoss.logit_gradient(loss, *(tensor.clone() for tensor in columns))
    torch.testing.assert_close(default, expected, rtol=1e-9, atol=1e-12)
    assert all(map(torch.equal, given, copies))
    assert all(map(torch.equal, columns, copies))


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
    targets = [torch.cat([target, torch.ones_like(target[:1])]) for target in targets[:1]]
    logits = torch.cat([logits, logits[:1]])  # the last row is of all labels
    sign = {"all low": -1.0, "all high": 1.0, "mixed": torch.sign(logits)}[saturation]
    for size in (100.0, 1e20, torch.inf):
        extreme = size * sign * torch.ones_like(logits)
        assert torch.isfinite(loss(extreme, *targets))
        assert torch.isfinite(by_autograd(loss, extreme, targets)).all()
        assert size == torch.inf or torch.isfinite(by_hand(loss, extreme, targets)).all()
    # A label that cannot apply is left alone; the others learn as if its logit were very low.
    logits[:, 0], low = -torch.inf, logits.index_fill(1, torch.tensor(0), -1e20)
    torch.testing.assert_close(loss(logits, *targets), loss(low, *targets))
    found, expected = (by_autograd(loss, each, targets) for each in (logits, low))
    torch.testing.assert_close(found[:, 1:], expected[:, 1:])
    assert not found[:, 0].any()
    assert torch.isnan(loss(torch.full_like(logits, torch.nan), *targets))


@every_loss
@pytest.mark.parametrize("kind", [*HALF, torch.float32, torch.float64], ids=str)
def test_the_precision_is_at_least_single_whatever_stands_around(build, kind):
    """Whatever types buffers and labels have, under autocast, and with another default type."""
    loss, logits, targets = case(build, n_rows=6, n_labels=5)
    logits, wide = logits.to(kind), torch.promote_types(kind, torch.float32)
    expected, slopes = loss(logits.double(), *targets), by_hand(loss, logits.double(), targets)
    near = 1e-11 if wide == torch.float64 else 1e-4
    for half, buffers, marks in zip(HALF, (torch.float64, wide), (torch.int8, bool), strict=True):
        given = {n: t.to(marks) for n, t in zip(loss.label_names, targets, strict=False)}
        leaf = logits.clone().requires_grad_()
        with contextlib.ExitStack() as around:
            around.callback(torch.set_default_dtype, torch.get_default_dtype())
            torch.set_default_dtype(half)
            around.enter_context(torch.autocast("cpu", half))
            value = loss.to(buffers)(leaf, **given)
            of_hand = by_hand(loss, logits.to(wide), [target.to(wide) for target in targets])
        (value * len(leaf)).backward()
        assert (value.dtype, leaf.grad.dtype) == (wide, kind)
        rounded = max(near, 2 * torch.finfo(kind).eps)
        for found, right, off in (
            (value, expected, near),
            (of_hand, slopes, near),
            (leaf.grad, slopes, rounded),
        ):
            torch.testing.assert_close(found.double(), right, rtol=off, atol=off)


@every_loss
def test_a_row_without_a_label_and_a_batch_without_a_row_count_nothing(build):
    loss, logits, targets = case(build, n_rows=9, n_labels=5)
    told = torch.arange(9) % 4 > 0
    targets = [target * told.unsqueeze(1) for target in targets]

    def of(rows):
        return logits[rows].requires_grad_(), [target[rows] for target in targets]

    slopes = by_autograd(loss, logits, targets)
    torch.testing.assert_close(by_hand(loss, logits, targets), slopes, rtol=1e-9, atol=1e-12)
    if build[0] in TOLD_BY_ZEROS:
        assert (slopes[~told] != 0).all()
    else:
        few, marks = of(told)
        torch.testing.assert_close(loss(logits, *targets) * 9, loss(few, *marks) * 6)
        torch.testing.assert_close(slopes[told], by_autograd(loss, few.detach(), marks))
        assert not slopes[~told].any()
    if loss.models_the_choice:
        assert not loss.log_likelihood(logits, targets[0])[~told].any()
    none, marks = of(slice(0))
    value = loss(none, *marks)
    assert torch.autograd.grad(value, none)[0].shape == by_hand(loss, *of(slice(0))).shape == (0, 5)
    assert value.item() == 0


def test_a_row_of_known_labels_alone_counts_by_these():
    logits, known = torch.tensor([[0.4, -1.0, 2.0]]), torch.tensor([[1.0, 0.0, 0.0]])
    p, given = torch.sigmoid(logits), (torch.zeros(1, 3), known)
    likelihood = losses.SelectionLikelihoodLoss(cardinality=2.0, propensities=[1, 2, 3])
    for loss, expected in (
        (losses.MLCLLoss((1 - torch.eye(3)) / 2), (known - p).square().sum()),
        (likelihood, (p.sum() - 2).square() - p[0, 0].log()),
    ):
        torch.testing.assert_close(loss(logits, *given), expected)
        torch.testing.assert_close(by_hand(loss, logits, given), by_autograd(loss, logits, given))


@every_loss
@pytest.mark.parametrize("wrong", [0.5, -1.0, 2.0, torch.nan, torch.inf])
def test_labels_other_than_0_and_1_are_refused_by_what_was_found(build, wrong):
    loss, logits, targets = case(build, n_rows=6, n_labels=5)
    for name, target in zip(loss.label_names, targets, strict=False):
        right, target[3, 2] = float(target[3, 2]), wrong
        with raises(InputError, name, "row 3", "column 2", f"{wrong:g}") as e:
            loss(logits, *targets)
        assert e.value.row == 3
        target[3, 2] = right
    if len(targets) == 2:
        with raises(InputError, "2"):
            loss(logits, targets[0], targets[0])


@every_loss
def test_all_tensors_of_a_loss_move_and_are_used_where_the_logits_are(build):
    loss, logits, targets = case(build, n_rows=6, n_labels=5)
    assert not any(isinstance(value, torch.Tensor) for value in vars(loss).values())
    if build[0] not in ("SelectionLikelihoodLoss", "COMESRankingLoss"):  # these look at the values
        assert loss(*(tensor.to("meta") for tensor in (logits, *targets))).is_meta
    assert all(buffer.is_meta for buffer in loss.to("meta").buffers())


ZEROS, MARKS = torch.zeros(6, 5), torch.ones(6, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ZEROS, torch.ones(6, 3)), "torch.float32"),
        ((ZEROS, torch.ones(5, 6)), ("torch.float32", "complementary.T")),
        ((ZEROS, torch.arange(6) % 5), ("indicator_from_indices", "5")),
        ((ZEROS, torch.zeros(6, 1, dtype=torch.int32)), "indicator_from_indices"),
        ((ZEROS, np.ones((6, 5))), "torch.as_tensor"),
        ((torch.zeros(3), MARKS), "torch.float32"),
        ((ZEROS.long(), MARKS), "torch.int64"),
        ((ZEROS,), ()),
        ((ZEROS, MARKS, MARKS), "2"),
    ],
)
def test_what_is_no_indicator_is_refused_with_what_is_needed(arguments, message):
    with raises(InputError, message):
        GDFLoss()(*arguments)


def test_unknown_labels_and_another_number_of_them_are_refused():
    with raises(TypeError, "'relevant'"):
        GDFLoss()(ZEROS, complementary=MARKS, relevant=ZEROS)
    with raises(InputError, "torch.float32"):
        losses.MLCLLoss((1 - torch.eye(5)) / 4)(ZEROS, MARKS, torch.ones(6, 4))
    with raises(InputError, "shape (2, 4)", "shape (2, 3)"):
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
