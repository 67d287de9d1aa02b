"""Linear maps trained by mini-batch gradient descent without autograd, several side by side.

A step of one map on few labels is mostly the fixed cost of some twenty small tensor operations.
Maps of the same size share them: B maps are stacked as (B, K, d + 1). The numbers of a map are the
same bit for bit, however many are beside it, for two reasons:

- Each matrix of a stack starts at a multiple of 64 bytes. Where it starts decides the order of the
  sums in a product.
- The rows of each batch are padded to a multiple of 32. The processor computes 32 numbers at once,
  and torch computes what is left in another way.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.utils import gen_batches
from torch import Tensor

from complabel._parameters import AnyArray, Ints
from complabel._training._descent import EpochCallback, Rate, Schedule, optimizer_of_tensor
from complabel._training._device import denormals_as_zero
from complabel._training._map import Features, LinearMap
from complabel.losses import LogitLoss, likeness_of, no_autocast, stacked

# Numbers that start together at a multiple of 64 bytes, and that the processor computes at once.
_ALIGNED, _PADDED = 16, 32
# Rows of dense features are gathered for this many steps of one map at a time: with fewer, the
# gathering would take a large part of each step.
_GATHERED_STEPS = 8
# Maps are trained together as long as a step of all has at most so many features in all its rows.
# With more, they would leave the fast memory of the processor, and the fixed cost matters little.
_MOST_FEATURES = 2**19


@dataclass(frozen=True, kw_only=True)
class LinearTraining:
    """What a linear map is trained from: features (n, d), and labels (n, K) that the loss takes."""

    # The generator, on the CPU, draws the initial weights and the order of each epoch. Without
    # ``initial_bias`` biases are random.

    X: Features
    loss: LogitLoss
    labels: Mapping[str, AnyArray]
    schedule: Schedule
    generator: torch.Generator
    device: torch.device
    on_epoch: EpochCallback | None = None
    initial_bias: float | None = None

    @property
    def n_labels(self) -> int:
        return int(next(iter(self.labels.values())).shape[1])

    @property
    def likeness(self) -> Hashable:
        """What must be equal for trainings side by side: all that shapes a step."""
        schedule = dataclasses.replace(self.schedule, learning_rate=1.0, milestones=())
        return (
            *(self.device, sparse.issparse(self.X), self.X.shape[1], self.n_labels),
            *(tuple(self.labels), likeness_of(self.loss)),
            *(dataclasses.astuple(schedule), tuple(self.schedule.milestones)),
            *(each.width for each in _steps(self.X.shape[0], self.schedule.batch_size)),
        )


def train_side_by_side(trainings: Sequence[LinearTraining]) -> list[LinearMap]:
    """Fit a linear map for each training, in float32; those that are alike are trained together."""
    alike: dict[Hashable, list[int]] = {}
    for number, each in enumerate(trainings):
        alike.setdefault(each.likeness, []).append(number)
    maps: dict[int, LinearMap] = {}
    for numbers in alike.values():
        first = trainings[numbers[0]]
        features = first.X.shape[1] * min(first.schedule.batch_size, first.X.shape[0])
        for piece in gen_batches(len(numbers), max(1, _MOST_FEATURES // features)):
            together = [trainings[number] for number in numbers[piece]]
            maps.update(zip(numbers[piece], _train(together), strict=True))
    return [maps[number] for number in range(len(trainings))]


def train_linear(
    X: Features, loss: LogitLoss, labels: Mapping[str, AnyArray], **settings: Any
) -> LinearMap:
    """Fit one linear map to labels; the settings are those of a ``LinearTraining``."""
    # Up to rounding, the result equals that of ``torch.nn.Linear``, ``torch.optim`` and
    # ``MultiStepLR`` in a shuffled loop over the same batches.
    return train_side_by_side([LinearTraining(X=X, loss=loss, labels=labels, **settings)])[0]


@dataclass(frozen=True)
class _Steps:
    """Steps of one epoch with batches of the same size."""

    start: int  # of the first batch, in the order of the epoch
    count: int
    size: int  # b
    is_rest: bool  # the last batch: its size may differ between maps side by side

    @property
    def width(self) -> int:
        return _rounded(self.size, _PADDED)


def _steps(n_rows: int, batch_size: int) -> list[_Steps]:
    full, rest = divmod(n_rows, batch_size)
    steps = [_Steps(0, full, batch_size, False), _Steps(full * batch_size, 1, rest, True)]
    return [each for each in steps if each.count and each.size]


def _rounded(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


class DenseRows:
    """Rows of dense matrices on any device, with a constant column; weights are (B, K, width)."""

    # The other classes have the same methods; the type of a batch differs.

    def __init__(self, Xs: Sequence[Any], n_labels: int, device: torch.device) -> None:
        self.device, n_features = device, Xs[0].shape[1]
        # Columns of zeros behind the constant one let each matrix of weights start as it should.
        self.width = _rounded(n_features + 1, _ALIGNED // math.gcd(_ALIGNED, n_labels))
        self._read(Xs, n_features)

    def _read(self, Xs: Sequence[Any], n_features: int) -> None:
        rows = np.zeros((sum(map(len, Xs)), self.width), dtype=np.float32)
        rows[:, n_features] = 1
        np.concatenate(Xs, out=rows[:, :n_features], casting="same_kind")
        self._rows = torch.from_numpy(rows).to(self.device)

    def arrange(self, weights: Tensor) -> Tensor:
        """Bring weights (B, K, width) into the layout that is multiplied fastest, or back."""
        return weights

    def batches(self, rows: Tensor) -> Iterator[Any]:
        """Yield the batches of several steps for their rows (steps, B, b) in all matrices."""
        gathered = self._rows.index_select(0, rows.flatten())
        yield from gathered.view(*rows.shape, -1).unbind()  # (B, b, width)

    def logits(self, batch: Any, weights: Tensor) -> Tensor:
        return torch.bmm(weights, batch.mT)  # (B, K, b)

    def weight_gradient(
        self, batch: Any, slope: Tensor, weights: Tensor, *, decay: float, scale: float, out: Tensor
    ) -> None:
        """Write ``scale`` times the gradient by the weights plus the weight decay to ``out``."""
        # (B, K, b) @ (B, b, width)
        torch.baddbmm(weights, slope, batch, beta=decay, alpha=scale, out=out)


class DensifiedRows(DenseRows):
    """Rows of CSR matrices for a device other than the CPU, made dense a batch at a time."""

    def _read(self, Xs: Sequence[Any], _: int) -> None:
        self._csr = _with_constant(sparse.vstack(Xs, format="csr"))

    def batches(self, rows: Tensor) -> Iterator[Any]:
        for batch in rows.cpu():
            dense = np.zeros((batch.numel(), self.width), dtype=np.float32)
            dense[:, : self._csr.shape[1]] = self._csr[batch.flatten().numpy()].toarray()
            yield torch.from_numpy(dense).to(self.device).view(*batch.shape, self.width)


class SparseRows(DenseRows):
    """Rows of CSR matrices on the CPU, multiplied by SciPy; weights are (B, d + 1, K)."""

    def _read(self, Xs: Sequence[Any], n_features: int) -> None:
        self.width = n_features + 1
        # Side by side, the matrices are the blocks of one: a product with it is one of each.
        blocks = [_with_constant(X) for X in Xs]
        self._csr = sparse.block_diag(blocks, format="csr") if len(Xs) > 1 else blocks[0]

    def arrange(self, weights: Tensor) -> Tensor:
        return weights.mT.contiguous()

    def batches(self, rows: Tensor) -> Iterator[Any]:
        gathered = self._csr[rows.flatten().numpy()]
        for start in range(0, gathered.shape[0], rows[0].numel()):
            yield gathered[start : start + rows[0].numel()]

    def logits(self, batch: Any, weights: Tensor) -> Tensor:
        product = torch.from_numpy(batch @ weights.flatten(0, 1).numpy())  # (B b, K)
        return product.view(len(weights), -1, weights.shape[2]).mT.contiguous()

    def weight_gradient(
        self, batch: Any, slope: Tensor, weights: Tensor, *, decay: float, scale: float, out: Tensor
    ) -> None:
        scaled = slope.mT.mul(scale).flatten(0, 1).contiguous()  # (B b, K)
        product = torch.from_numpy(batch.T @ scaled.numpy()).view_as(weights)
        torch.add(product, weights, alpha=decay, out=out)


def _with_constant(X: Any) -> Any:
    ones = sparse.csr_array(np.ones((X.shape[0], 1), dtype=np.float32))
    return sparse.hstack([X.astype(np.float32, copy=False), ones], format="csr")


def _row_source(Xs: Sequence[Features], n_labels: int, device: torch.device) -> DenseRows:
    kind = DenseRows
    if sparse.issparse(Xs[0]):
        kind = SparseRows if device.type == "cpu" else DensifiedRows
    return kind(Xs, n_labels, device)


def _distinct(trainings: Sequence[LinearTraining]) -> tuple[list[Ints], list[Ints]]:
    """Find the rows of each map that no map before has, and where its rows are among all found.

    Folds share most rows, and seeds share all: once in memory, they are gathered much faster.
    """
    sizes = [each.X.shape[0] for each in trainings]
    ends = np.cumsum(sizes)
    everything = [np.arange(n) for n in sizes], np.split(np.arange(ends[-1]), ends[:-1])
    if len(trainings) == 1 or sparse.issparse(trainings[0].X):
        return everything
    tables: list[list[Any]] = [[each.X, *each.labels.values()] for each in trainings]
    rng = np.random.default_rng(0)
    factors = [rng.standard_normal(table.shape[1]) for table in tables[0]]
    keys = [sum(t @ f for t, f in zip(of, factors, strict=True)) for of in tables]
    _, first, number = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
    order = np.argsort(first)
    places = np.split(np.argsort(order)[number], ends[:-1])
    kept = np.split(first[order], np.searchsorted(first[order], ends[:-1]))
    kept = [rows - (end - n) for rows, end, n in zip(kept, ends, sizes, strict=True)]
    for at in range(len(factors)):  # rows of the same key are the same but for a rare chance
        found = np.concatenate([of[at][rows] for of, rows in zip(tables, kept, strict=True)])
        if not all(np.array_equal(found[p], of[at]) for of, p in zip(tables, places, strict=True)):
            return everything
    return kept, places


def _train(trainings: Sequence[LinearTraining]) -> list[LinearMap]:
    first = trainings[0]
    device, names = first.device, list(first.labels)
    gradient_of = _LogitGradient([each.loss.to(device) for each in trainings])
    # In inference mode tensors skip version counting, which takes a third of a small step's time.
    # A loss may use autograd, so it is moved before.
    with torch.inference_mode(), denormals_as_zero(), no_autocast(device):
        kept, places = _distinct(trainings)
        of_kept = list(zip(trainings, kept, strict=True))
        rows = _row_source([each.X[own] for each, own in of_kept], first.n_labels, device)
        # (K, n) of all maps: on the CPU, both products of a step are fastest with this layout.
        by_label = [
            torch.from_numpy(
                np.concatenate([each.labels[name][own].T for each, own in of_kept], 1).astype(
                    np.float32
                )
            ).to(device)
            for name in names
        ]
        weights = rows.arrange(_initial_weights(trainings, rows.width).to(device))
        gradient, decay = torch.empty_like(weights), first.schedule.weight_decay
        optimizer = optimizer_of_tensor(weights, first.schedule)
        plans = (_steps(each.X.shape[0], each.schedule.batch_size) for each in trainings)
        parts = [_EqualBatches(steps, places, device) for steps in zip(*plans, strict=True)]
        at_once = max(1, _GATHERED_STEPS // len(trainings))
        for epoch in range(1, first.schedule.epochs + 1):
            optimizer.learning_rate = _rates_in(epoch, trainings, device)
            orders = [
                torch.randperm(each.X.shape[0], generator=each.generator, device="cpu")
                for each in trainings
            ]
            watch = _Watch(trainings)
            for part in parts:
                for several in torch.split(part.rows(orders), at_once):  # (steps, B, width)
                    shuffled = (_shuffled(matrix, several) for matrix in by_label)
                    for batch, *labels in zip(rows.batches(several), *shuffled, strict=True):
                        named = dict(zip(names, labels, strict=True))  # (B, K, width) each
                        logits = rows.logits(batch, weights)  # (B, K, width)
                        watch.see(logits, named, part.sizes)
                        slopes = part.scaled(gradient_of(logits, named, part.sizes))
                        rows.weight_gradient(
                            batch, slopes, weights, decay=decay, scale=part.scale, out=gradient
                        )
                        optimizer.step(gradient)
            watch.report(epoch)
        maps = rows.arrange(weights).cpu().numpy().astype(np.float64)  # (B, K, width)
    d = first.X.shape[1]
    return [LinearMap(coef=each[:, :d].copy(), intercept=each[:, d].copy()) for each in maps]


def _initial_weights(trainings: Sequence[LinearTraining], width: int) -> Tensor:
    """Draw weights and biases as torch.nn.Linear does, uniform in +-1/sqrt(d): (B, K, width)."""
    # Type and device are explicit, so the caller's defaults of torch do not matter.
    where: Any = {"dtype": torch.float32, "device": "cpu"}
    weights = torch.zeros((len(trainings), trainings[0].n_labels, width), **where)
    for of_map, each in zip(weights, trainings, strict=True):
        d = each.X.shape[1]
        drawn = torch.empty((each.n_labels, d + 1), **where)
        of_map[:, : d + 1] = drawn.uniform_(-(d**-0.5), d**-0.5, generator=each.generator)
        if each.initial_bias is not None:
            of_map[:, d] = each.initial_bias
    return weights


def _rates_in(epoch: int, trainings: Sequence[LinearTraining], device: torch.device) -> Rate:
    rates = [each.schedule.learning_rate_in(epoch) for each in trainings]
    if len(set(rates)) == 1:
        return rates[0]
    return torch.tensor(rates, dtype=torch.float64, device=device).view(-1, 1, 1)


class _EqualBatches:
    """The part of an epoch in which all batches of a map have the same size b."""

    def __init__(
        self, steps: Sequence[_Steps], places: Sequence[Ints], device: torch.device
    ) -> None:
        self._steps = steps
        self.sizes = [each.size for each in steps]
        self._places = [torch.from_numpy(of_map) for of_map in places]
        # Padding is a row of each map; its gradient is multiplied by 0.
        padding = torch.stack([of_map[0] for of_map in self._places]).view(-1, 1, 1)
        self._rows = padding.repeat(1, steps[0].count, steps[0].width)
        self._device = device
        self.scale, self._factors = 1 / self.sizes[0], None
        # The last batches of maps side by side may differ in size. What is computed for one map
        # must not depend on the others, so this does not ask whether they do.
        if steps[0].is_rest or self.sizes[0] != steps[0].width:
            factors = torch.zeros(
                (len(steps), 1, steps[0].width), dtype=torch.float32, device="cpu"
            )
            for of_map, size in zip(factors, self.sizes, strict=True):
                of_map[:, :size] = 1 / size
            self.scale, self._factors = 1.0, factors.to(device)

    def rows(self, orders: Sequence[Tensor]) -> Tensor:
        """Return the rows (count, B, width) of all steps among all rows, for orders (n,)."""
        for of_map, steps, order, places in zip(
            self._rows, self._steps, orders, self._places, strict=True
        ):
            chosen = order[steps.start : steps.start + steps.count * steps.size]
            of_map[:, : steps.size] = places.index_select(0, chosen).view(-1, steps.size)
        return self._rows.transpose(0, 1).contiguous().to(self._device)

    def scaled(self, through_logits: Tensor) -> Tensor:
        factors = self._factors
        return (through_logits if factors is None else through_logits * factors).contiguous()


def _shuffled(matrix: Tensor, rows: Tensor) -> tuple[Tensor, ...]:
    """Return the labels (B, K, width) of each step from a matrix (K, n)."""
    shuffled = matrix.index_select(1, rows.flatten()).view(-1, *rows.shape)
    return shuffled.permute(1, 2, 0, 3).unbind()


class _LogitGradient:
    """The gradient of each map's loss by its logits, of all at once if the loss allows it."""

    def __init__(self, losses: Sequence[LogitLoss]) -> None:
        self._losses = losses
        self._of_all = stacked(losses)

    def __call__(
        self, logits: Tensor, labels: Mapping[str, Tensor], sizes: Sequence[int]
    ) -> Tensor:
        """Return the gradient (B, K, width) of losses summed over instances."""
        if self._of_all is not None:
            of_all = {name: tensor.mT for name, tensor in labels.items()}
            return self._of_all.logit_gradient(logits.mT, **of_all).mT
        gradient = torch.zeros_like(logits)
        for number, (loss, size) in enumerate(zip(self._losses, sizes, strict=True)):
            seen, marks = _of_map(number, size, logits, labels)
            gradient[number, :, :size] = loss.logit_gradient(seen, **marks).t()
        return gradient


class _Watch:
    """The mean loss of an epoch, for maps that report it."""

    def __init__(self, trainings: Sequence[LinearTraining]) -> None:
        watched = [number for number, each in enumerate(trainings) if each.on_epoch is not None]
        self._trainings = trainings
        self._totals = dict.fromkeys(watched, 0.0)

    def see(self, logits: Tensor, labels: Mapping[str, Tensor], sizes: Sequence[int]) -> None:
        for number in self._totals:
            seen, marks = _of_map(number, sizes[number], logits, labels)
            self._totals[number] += float(self._trainings[number].loss(seen, **marks)) * len(seen)

    def report(self, epoch: int) -> None:
        for number, total in self._totals.items():
            each = self._trainings[number]
            if each.on_epoch is not None:
                each.on_epoch(epoch, each.schedule.epochs, total / each.X.shape[0])


def _of_map(
    number: int, size: int, logits: Tensor, labels: Mapping[str, Tensor]
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the logits and the labels, both (b, K), of one map."""
    marks = {name: tensor[number, :, :size].t() for name, tensor in labels.items()}
    return logits[number, :, :size].t(), marks
