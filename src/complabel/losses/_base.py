"""What a loss must offer, checks of what a caller gives it, gradients by hand, losses stacked."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.autograd.function import once_differentiable

from complabel._parameters import Array, Bools
from complabel.answers import Answers
from complabel.errors import InputError

_ALIGNED = 16  # matrices of a product start together at a multiple of 64 bytes: 16 numbers
# Greater logits count as this one, lesser ones as its opposite. Facts shift logits by 1e30.
_MOST_LOGIT = 1e20


class FirstOutputs:
    """A look at the first outputs of a network, which warns if they are no logits."""

    # Logits soon leave [0, 1] as the network learns. Before, they seldom lie on both sides of .5,
    # as probabilities do (docs/evidence/networks.md says how seldom).
    _FEWEST_BATCHES, _FEWEST_VALUES, _MOST_BATCHES = 3, 30, 100

    def __init__(self) -> None:
        self._batches, self._values, self._left = 0, 0, self._MOST_BATCHES
        self._least, self._most = 1.0, 0.0

    def look(self, logits: Tensor) -> None:
        """Look at outputs (b, K), if a network is trained by them and nothing is decided yet."""
        if not self._left or not logits.requires_grad or torch.compiler.is_compiling():
            return
        self._left -= 1
        outputs = logits.detach()
        try:
            least, most = map(float, outputs.aminmax()) if outputs.numel() else (0.0, 0.0)
        except RuntimeError:  # inside torch.vmap nobody may look
            return
        if least == most:  # a last layer that starts at 0
            return
        if not 0 <= least <= most <= 1:
            self._left = 0
            return
        self._batches, self._values = self._batches + 1, self._values + outputs.numel()
        self._least, self._most = min(self._least, least), max(self._most, most)
        softmax = bool(((outputs.float().sum(dim=1) - 1).abs() < 0.01).all())
        enough = self._batches >= self._FEWEST_BATCHES and self._values >= self._FEWEST_VALUES
        if enough and (softmax or self._least < 0.5 < self._most):
            self._left = 0
            warnings.warn(
                "the first outputs of the network all lie between 0 and 1, as after a sigmoid or"
                " softmax, but the loss takes logits, the values before it; leave that layer out:"
                " with it, no label can have a probability below .5 or above .73",
                stacklevel=3,
            )


class LogitLoss(torch.nn.Module, ABC):
    """Base class of losses of a network's K outputs, averaged over instances.

    A loss needs only ``forward``. A call of the loss checks the arguments before: labels must be 0
    or 1. It computes in at least single precision, also under autocast. Logits beyond 1e20, also
    infinite ones, count as 1e20, and no gradient passes through them. A batch without rows has the
    loss 0. A call warns once if the first outputs of a network lie between 0 and 1, as after a
    sigmoid.

    Attributes
    ----------
    label_names : tuple of str
        Names of the arguments that ``forward`` takes after the logits: usually ``complementary``,
        and perhaps ``relevant``. Methods pass labels by these names.
    models_the_choice : bool
        Whether the loss models which labels are chosen as complementary. If so, its
        ``log_likelihood`` is the ``score`` of a classifier trained with it.

    See Also
    --------
    complabel.experiments.methods.ComplementaryLossClassifier : Trains with any such loss.

    Examples
    --------
    >>> class Hinge(LogitLoss):
    ...     def forward(self, logits, complementary):
    ...         return (complementary * torch.relu(1 + logits)).sum(dim=1).mean()
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> float(Hinge()(torch.zeros(1, 3), complementary))
    1.0
    """

    label_names: ClassVar[tuple[str, ...]] = ()
    models_the_choice: ClassVar[bool] = False
    _first_outputs: FirstOutputs | None = None

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls.label_names = tuple(inspect.signature(cls.forward).parameters)[2:]

    def __call__(self, logits: Tensor, *labels: Tensor | None, **named: Tensor | None) -> Any:
        """Check the arguments, and compute the loss by ``forward``."""
        precise, checked = check_labels(logits, **self._by_name(labels, named))
        self._first_outputs = self._first_outputs or FirstOutputs()
        self._first_outputs.look(logits)
        if not len(precise):
            return precise.sum()
        with no_autocast(precise.device):
            return super().__call__(precise, **checked)

    def _likeness(self) -> Hashable:
        """Return what must be equal for losses that are stacked.

        Losses are stacked if their class says so: if its own body has this method. Then
        ``logit_gradient`` looks at each instance alone, and takes stacked tensors, too. A subclass
        may compute what it likes, so it must say so again.
        """
        return type(self)

    def _stack(self, _losses: Sequence[Any]) -> LogitLoss:
        """Return a loss for the stacked logits of losses of the same likeness."""
        return self

    @abstractmethod
    def forward(self, logits: Tensor, *labels: Any, **named: Any) -> Tensor:
        """Compute the mean loss of the instances; one that nobody said anything about counts 0.

        Parameters
        ----------
        logits : tensor of shape (b, K)
            Network outputs before any sigmoid or softmax.
        complementary : tensor of shape (b, K)
            Indicator of the complementary labels, in the logits' dtype: a call of the loss
            converts it. A loss may take other labels instead, or more of them.
        relevant : tensor of shape (b, K) or None, default=None
            Indicator of known relevant labels, if the loss uses them.

        Returns
        -------
        tensor of shape ()
        """

    def logit_gradient(self, logits: Tensor, *labels: Any, **named: Any) -> Tensor:
        """Return the gradient, by the logits, of the loss summed over instances.

        Linear models are trained with it. It uses autograd; a formula in its place is faster.

        Parameters
        ----------
        logits, complementary, relevant : tensors of shape (b, K)
            As for ``forward``, of one dtype. Training passes transposed views of (K, b) tensors.

        Returns
        -------
        tensor of shape (b, K)
        """
        # Linear models train in inference mode. Autograd can record only copies made outside it.
        with torch.inference_mode(False), torch.enable_grad(), no_autocast(logits.device):
            leaf = logits.clone().requires_grad_()
            by_name = self._by_name(labels, named).items()
            copies = {name: tensor.clone() for name, tensor in by_name if tensor is not None}
            mean = self.forward(leaf, **copies)
            (gradient,) = torch.autograd.grad(mean * len(leaf), leaf)
        return gradient

    def log_likelihood(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return the log-likelihood (b,) of each instance's complementary labels, in nats.

        Parameters
        ----------
        logits, complementary : tensors of shape (b, K)
            Both of one dtype.

        Raises
        ------
        NotImplementedError
            If the loss does not model the choice (``models_the_choice`` is False).
        """
        raise NotImplementedError(f"{type(self).__name__} does not model the choice")

    def _by_name(self, labels: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        if len(labels) > len(self.label_names):
            raise InputError(
                f"{type(self).__name__} takes {' and '.join(self.label_names)} after the logits,"
                f" got {len(labels)} arguments"
            )
        return {**dict(zip(self.label_names, labels, strict=False)), **named}


def no_autocast(device: torch.device) -> contextlib.AbstractContextManager[object]:
    """Return a block that computes in the precision of its tensors, whatever the caller allows."""
    try:
        return torch.autocast(device.type, enabled=False)
    except RuntimeError:  # this kind of device has no autocast
        return contextlib.nullcontext()


def usable(logits: Tensor) -> Tensor:
    """Return logits in at least single precision; infinite ones are finite, without a gradient."""
    precise = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return precise.clamp(-_MOST_LOGIT, _MOST_LOGIT)


def labelled_rows(labels: Tensor) -> Tensor:
    """Tell by 1 and 0, (..., b, 1), which rows of labels (..., b, K) have a label."""
    return labels.amax(dim=-1, keepdim=True)  # in a tenth of the time of any()


def check_labels(logits: Tensor, /, **labels: Tensor | None) -> tuple[Tensor, dict[str, Tensor]]:
    """Return usable logits, and the labels that are not None, in their dtype."""
    marks = {name: tensor for name, tensor in labels.items() if tensor is not None}
    for name, tensor in [("logits", logits), *marks.items()]:
        if not isinstance(tensor, Tensor):
            raise InputError(
                f"{name} of a loss must be a tensor, got {type(tensor).__name__}; torch.as_tensor"
                " makes one of an array"
            )
    if logits.ndim != 2 or not logits.is_floating_point():
        raise InputError(
            f"logits of a loss must be floats of shape (b, K), one column per label, got"
            f" {logits.dtype} of shape {tuple(logits.shape)}"
        )
    if not marks:
        raise InputError(
            "a loss got logits but no labels; give an indicator of shape (b, K) after the logits"
        )
    for name, tensor in marks.items():
        if tensor.shape != logits.shape or tensor.is_complex():
            raise InputError(_wrong_labels(name, tensor, tuple(logits.shape)))
        _refuse_other_marks(name, tensor)
    precise = usable(logits)
    checked = {name: tensor.to(precise.dtype) for name, tensor in marks.items()}
    if checked.keys() >= {"complementary", "relevant"}:
        _refuse_other_marks(
            "complementary + relevant", checked["complementary"] + checked["relevant"]
        )
    return precise, checked


def _refuse_other_marks(name: str, marks: Tensor) -> None:
    fine = (marks == 0) | (marks == 1)
    try:
        if torch.compiler.is_compiling() or fine.all():
            return
    except RuntimeError:  # inside torch.vmap nobody may look
        return
    row, label = (~fine).nonzero()[0].tolist()
    raise InputError(
        f"{name} of a loss must be 0 or 1, got {float(marks[row, label]):g} in row {row}, column"
        f" {label}. In complementary and in relevant labels, 0 also means that nobody said so;"
        " AnswersLikelihood takes answers of yes, of no and of neither",
        row=row,
    )


def _wrong_labels(name: str, tensor: Tensor, expected: tuple[int, ...]) -> str:
    found = f"got {tensor.dtype} of shape {tuple(tensor.shape)} for logits of shape {expected}"
    needed = f"{name} of a loss must be an indicator of the logits' shape (b, K)"
    if not tensor.is_floating_point() and (tensor.ndim == 1 or tensor.shape[1:] == (1,)):
        return (
            f"{needed}, {found}. If these are class numbers,"
            f" complabel.answers.indicator_from_indices(numbers, {expected[1]}) makes an"
            " indicator of them"
        )
    if tuple(tensor.shape) == expected[::-1]:
        return f"{needed}, {found}: it looks transposed; give {name}.T"
    return f"{needed}, {found}: give one row per instance and one column per label"


def check_propensities(propensities: ArrayLike, n_labels: int | None = None) -> Array:
    """Return propensities (K,) after a check that they are positive; ``n_labels`` is K if known."""
    weights = np.asarray(propensities, dtype=np.float64)
    if weights.ndim != 1 or (n_labels is not None and len(weights) != n_labels):
        expected = "" if n_labels is None else f" of {n_labels}"
        raise InputError(
            f"propensities have shape {weights.shape}; give a sequence{expected}, one per label"
        )
    fine = np.isfinite(weights) & (weights > 0)
    return _where("propensities", weights, fine, "finite numbers above 0")


def check_rates(name: str, rates: ArrayLike, n: int, each: str) -> Array:
    """Return rates (n,) in [0, 1] from one number or n; ``each`` ("label") is what has a rate."""
    values = np.asarray(rates, dtype=np.float64)
    if values.ndim == 1 and n == 0:
        raise InputError(
            f"{name} has shape {values.shape}, but no {each} is named; give one number for all"
        )
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n):
        raise InputError(
            f"{name} has shape {values.shape}; give one number, or one for each {each}, {n} in all"
        )
    checked = _where(name, values, (values >= 0) & (values <= 1), "rates between 0 and 1")
    return np.broadcast_to(checked, (n,)).copy()


def check_mistakes(name: str, rates: ArrayLike, answers: Answers) -> Array:
    """Return rates (R + 1, 1 or K) of missed or invented labels; the last row is the mean."""
    n_annotators, n_labels = len(answers.annotator_names), answers.n_labels
    values = np.asarray(rates, dtype=np.float64)
    if values.ndim < 2:
        by_annotator = check_rates(name, values, n_annotators, "annotator")[:, np.newaxis]
        unknown = by_annotator.mean(axis=0) if n_annotators else values.reshape(1)
        return np.vstack([by_annotator, unknown])
    if values.shape != (n_annotators, n_labels) or not n_annotators:
        raise InputError(
            f"{name} has shape {values.shape}; give one number, one for each of {n_annotators}"
            f" annotators, or a table with a row for each and {n_labels} columns, one per label"
        )
    checked = _where(name, values, (values >= 0) & (values <= 1), "rates between 0 and 1")
    return np.vstack([checked, checked.mean(axis=0)])


def _where(name: str, values: Array, fine: Bools, advice: str) -> Array:
    """Return the values if all are fine; else refuse the first that is not."""
    if not fine.all():
        wrong = int(np.argmin(fine))
        at = ", ".join(str(index) for index in np.unravel_index(wrong, values.shape))
        place = f"[{at}]" if values.ndim else ""
        raise InputError(f"{name}{place} is {values.ravel()[wrong]:g}; give {advice}")
    return values


def differentiable(evaluate: Callable[..., tuple[Tensor, ...]], *inputs: Tensor) -> Tensor:
    """Return values (n,) connected to autograd; value i depends on row i of the inputs only."""
    # ``evaluate`` returns the values and their gradient (n, K) by each input in one call.
    values: Tensor = _ByHand.apply(evaluate, *inputs)  # type: ignore[no-untyped-call]
    return values


class _ByHand(torch.autograd.Function):
    """A function with one value per row; its gradients are computed with the value."""

    @staticmethod
    def forward(ctx: Any, evaluate: Callable[..., tuple[Tensor, ...]], *inputs: Tensor) -> Tensor:
        values, *gradients = evaluate(*inputs)
        ctx.save_for_backward(*gradients)
        return values

    @staticmethod
    @once_differentiable  # second derivatives are refused
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        of_result = grad_outputs[0].unsqueeze(1)
        return None, *(gradient * of_result for gradient in ctx.saved_tensors)


def likeness_of(loss: LogitLoss) -> Hashable:
    """Return what must be equal for losses that are stacked; None if the loss cannot be stacked."""
    return loss._likeness() if "_likeness" in vars(type(loss)) else None


def stacked(losses: Sequence[Any]) -> LogitLoss | None:
    """Return a loss for stacked logits, whose gradient is that of each; None if there is none.

    All losses must have the same likeness.
    """
    first: LogitLoss = losses[0]
    if likeness_of(first) is None:
        return None
    with torch.inference_mode(False):
        return first._stack(losses)


def aligned(matrices: Sequence[Tensor]) -> Tensor:
    """Stack matrices (K, K) so that each starts at a multiple of 64 bytes."""
    size = matrices[0].numel()
    room = matrices[0].new_zeros((len(matrices), -(-size // _ALIGNED) * _ALIGNED))
    stack = room[:, :size].view(-1, *matrices[0].shape)
    return stack.copy_(torch.stack(list(matrices)))
