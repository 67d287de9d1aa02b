"""Objectives of logits, as ``minimize_linear`` takes them, and as NumPy does."""

import numpy as np
import torch
from scipy import special

from complabel._training import LinearMap


def cross_entropy(targets, *others):
    """Independent logistic losses, summed over outputs and averaged over the rows of each map."""

    def losses(logits, targets):
        values = torch.nn.functional.softplus(logits) - targets * logits
        return values.sum(dim=1), torch.sigmoid(logits) - targets

    return _means(losses, targets, *others)


def squares(targets, *others):
    """Squared errors, summed over outputs and averaged over the rows of each map."""

    def losses(logits, targets):
        error = logits - targets
        return error.square().sum(dim=1), 2 * error

    return _means(losses, targets, *others)


def cross_entropy_at(logits, targets):
    """The mean loss of one map in NumPy, and its gradient."""
    value = np.logaddexp(0, logits).sum() - (targets * logits).sum()
    return float(value) / len(logits), (special.expit(logits) - targets) / len(logits)


def zero(n_outputs, n_features):
    """The map that is 0 everywhere."""
    return LinearMap(coef=np.zeros((n_outputs, n_features)), intercept=np.zeros(n_outputs))


def _means(losses, *targets):
    """Average losses over the rows of each map, of which these are the targets."""
    sizes = [len(each) for each in targets]
    together = torch.from_numpy(np.concatenate(targets))
    shares = torch.repeat_interleave(1 / torch.tensor(sizes).double(), torch.tensor(sizes))

    def objective(logits, others):
        values, slopes = losses(logits, together.to(logits.dtype))
        means = [part.mean(dtype=torch.float64) for part in torch.split(values, sizes)]
        return torch.stack(means), slopes * shares.to(logits.dtype).unsqueeze(1), others

    return objective
