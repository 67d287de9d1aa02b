"""L-BFGS for several functions at once: deterministic, and without a learning rate.

All functions are evaluated together, so many small problems cost hardly more than one. A function
that has converged stays where it is until all have converged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Evaluate = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Maps vectors (B, P) to the values of B functions (B,), in float64, and to gradients (B, P)."""

# Pairs of a step and a change of the gradient that are kept; 3 to 20 are usual.
_HISTORY = 10
# A step must gain at least this share of what the slope predicts (sufficient decrease); Nocedal
# and Wright, Numerical Optimization, chapter 3.
_ENOUGH = 1e-4
# Each try at least halves the step: after 30 it is below 1e-9 of the first.
_MOST_HALVINGS = 30


@dataclass(frozen=True)
class Minimum:
    """The result of L-BFGS: vectors (B, P), their values (B,), and whether each converged (B,)."""

    vectors: Tensor
    values: Tensor
    n_iter: int
    converged: Tensor


def minimize(
    evaluate: Evaluate,
    start: Tensor,
    *,
    tolerance: float,
    max_iter: int,
    after_iteration: Callable[[int, Tensor], None] = lambda *_: None,  # its number, and values (B,)
) -> Minimum:
    """Minimize B functions of P numbers each, from start vectors (B, P).

    The first step is minus the gradient, so the caller should scale the variables to make its
    length about right. A function has converged if no step gains anything, or two iterations in a
    row gain less than ``tolerance`` times its value, or times 1 if the value is smaller. Source:
    Byrd, Nocedal and Schnabel, "Representations of quasi-Newton matrices and their use in limited
    memory methods", Mathematical Programming 1994, equation 3.1.
    """
    x = start.clone()
    values, gradient = evaluate(x)
    history = _History(x)
    done = torch.zeros_like(values, dtype=torch.bool)
    slow, number = done, 0
    for number in range(1, max_iter + 1):
        direction = history.direction(gradient)
        slope = _dot(gradient, direction)
        # Rounding can make a direction lead upwards: then take minus the gradient.
        astray = ~(slope < 0)
        if bool(astray.any()):
            direction = torch.where(astray.unsqueeze(1), -gradient, direction)
            slope = torch.where(astray, -_dot(gradient, gradient), slope)
        point = _line_search(evaluate, x, values, direction, slope, done)
        gained = values - point.values
        moved = (point.moved & ~done).unsqueeze(1)
        step = torch.where(moved, point.vectors - x, 0.0)
        change = torch.where(moved, point.gradient - gradient, 0.0)
        history.add(step, change)
        x, values, gradient = point.vectors, point.values, point.gradient
        scale = values.abs().clamp(min=1.0)
        little = gained <= tolerance * scale
        done = done | ~point.moved | (little & slow)
        slow = little
        after_iteration(number, values)
        if bool(done.all()):
            break
    return Minimum(x, values, number, done)


@dataclass(frozen=True)
class _Point:
    vectors: Tensor
    values: Tensor
    gradient: Tensor
    moved: Tensor  # (B,): whether there is a better point


def _line_search(
    evaluate: Evaluate, x: Tensor, values: Tensor, direction: Tensor, slope: Tensor, done: Tensor
) -> _Point:
    length = torch.where(done, 0.0, 1.0).to(values.dtype)
    noise = torch.finfo(x.dtype).eps * values.abs().clamp(min=1.0)
    for _ in range(_MOST_HALVINGS):
        there = x + length.to(x.dtype).unsqueeze(1) * direction
        values_there, gradient = evaluate(there)
        gain = values - values_there
        enough = done | (gain >= -_ENOUGH * length * slope - noise)
        if bool(enough.all()):
            return _Point(there, values_there, gradient, (length > 0) & (gain > 0))
        # The minimum of the parabola through both values and the slope at the start.
        best = -slope * length / (2 * (-gain / length.clamp(min=1e-300) - slope))
        best = torch.where(torch.isfinite(values_there), best, 0.1 * length)
        shorter = torch.minimum(torch.maximum(best, 0.1 * length), 0.5 * length)
        length = torch.where(enough, length, shorter)
    length = torch.where(enough, length, 0.0)
    there = x + length.to(x.dtype).unsqueeze(1) * direction
    values_there, gradient = evaluate(there)
    return _Point(there, values_there, gradient, length > 0)


class _History:
    """The latest steps and changes of the gradient, and the direction that follows from them."""

    def __init__(self, x: Tensor) -> None:
        # Steps, and below them changes of the gradient: so that one product reads both.
        self._pairs = x.new_zeros((len(x), 2 * _HISTORY, x.shape[1]))
        self._products = x.new_zeros((len(x), 2 * _HISTORY, _HISTORY), dtype=torch.float64)
        self._scale = x.new_ones(len(x), dtype=torch.float64)
        self._number = 0

    def add(self, step: Tensor, change: Tensor) -> None:
        """Remember a step (B, P) and the change of the gradient (B, P) along it."""
        along, squared = _dot(step, change), _dot(change, change)
        kept = along > 1e-10 * squared
        slot, mask = self._number % _HISTORY, kept.unsqueeze(1)
        self._pairs[:, slot] = torch.where(mask, step, 0.0)
        self._pairs[:, _HISTORY + slot] = torch.where(mask, change, 0.0)
        self._scale = torch.where(kept, along / squared, self._scale)
        self._number += 1
        latest = self._pairs[:, _HISTORY + slot].unsqueeze(2)
        self._products[:, :, slot] = torch.bmm(self._pairs, latest).double().squeeze(2)
        # The products of changes with changes are symmetric. Those of steps with earlier changes
        # are not used.
        self._products[:, _HISTORY + slot] = self._products[:, _HISTORY:, slot]

    def direction(self, gradient: Tensor) -> Tensor:
        if not self._number:
            return -gradient
        # Order the pairs by age, the oldest first. Of steps times changes, only the upper triangle
        # is used.
        first = max(0, self._number - _HISTORY)
        order = torch.arange(first, self._number, device=gradient.device) % _HISTORY
        scale = self._scale.view(-1, 1, 1)
        along = torch.bmm(self._pairs, gradient.unsqueeze(2)).double()
        by_step, by_change = along[:, order], along[:, _HISTORY + order]  # (B, m, 1)
        products = self._products[:, :, order]
        upper = torch.triu(products[:, order])
        diagonal = torch.diagonal(upper, dim1=1, dim2=2)
        # Pairs that were left out are rows of 0; a 1 on the diagonal makes them harmless.
        upper = upper + torch.diag_embed((diagonal == 0).double())
        first_part = torch.linalg.solve_triangular(upper, by_step, upper=True)
        inner = diagonal.unsqueeze(2) * first_part + scale * (
            products[:, _HISTORY + order] @ first_part - by_change
        )
        weights = torch.linalg.solve_triangular(upper.transpose(1, 2), inner, upper=False)
        of_pairs = torch.zeros_like(along)
        of_pairs[:, order], of_pairs[:, _HISTORY + order] = weights, -scale * first_part
        of_pairs = of_pairs.transpose(1, 2).to(gradient.dtype)
        scaled = scale[:, :, 0].to(gradient.dtype) * gradient
        return -(scaled + torch.bmm(of_pairs, self._pairs).squeeze(1))


def _dot(a: Tensor, b: Tensor) -> Tensor:
    products: Tensor = torch.linalg.vecdot(a, b).double()
    return products
