r"""The exact likelihood of an annotator's choice of labels that do not apply.

Labels are independent given x, with p_k = sigmoid(z_k). The annotator draws a set S of m labels
from the N irrelevant ones without replacement; all sets are equally likely. We use ::

    1 / C(N, m) = m * integral over t in [0, 1] of t^(N - m) (1 - t)^(m - 1) dt

Therefore the choice has the probability ::

    q_S = prod_{j in S} (1 - p_j) * m * integral (1 - t)^(m - 1) prod_{k not in S} a_k(t) dt,
    a_k(t) = p_k + (1 - p_k) t.

For the labels R that are known to be relevant, the a_k are replaced by a factor
prod_{k in R} p_k in front of the integral. With propensities w, label j is chosen with a
probability of w_j divided by the sum of w over the irrelevant labels, and ::

    q_j = w_j (1 - p_j) * integral t^(w_j - 1) prod_{k != j} (p_k + (1 - p_k) t^(w_k)) dt.

All factors are positive, so every sum over nodes keeps its relative accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn import functional

from complabel._parameters import Array, check_real
from complabel.losses._base import (
    LogitLoss,
    check_labels,
    check_propensities,
    differentiable,
    labelled_rows,
)
from complabel.losses._selection_kernel import Namings, log_likelihood_and_gradient


def selection_log_likelihood(
    logits: Tensor,
    complementary: Tensor,
    *,
    relevant: Tensor | None = None,
    propensities: Sequence[float] | Array | None = None,
) -> Tensor:
    """Compute the log-probability that the annotator names exactly these labels.

    Parameters
    ----------
    logits : tensor of shape (n, K)
        The logits z: a label applies with probability p = sigmoid(z).
    complementary : tensor of shape (n, K)
        Indicator of the labels named. A row without one says nothing.
    relevant : tensor of shape (n, K) or None, default=None
        Indicator of labels known to apply; rows may be empty.
    propensities : sequence of K floats or None, default=None
        How readily each label comes to mind, relative to the others. None: all alike.

    Returns
    -------
    tensor of shape (n,)
        log q_S in nats, or 0 if none is named, plus the sum of log p_k over labels known to be
        relevant; in at least single precision. Only first derivatives are available.

    Raises
    ------
    InputError
        If an indicator has another shape than the logits or holds other numbers than 0 and 1, or
        propensities are not one positive number per label.

    See Also
    --------
    answers_log_likelihood : The same for any mix of answers.

    Notes
    -----
    Up to 24 labels, ceil(K / 2) nodes of Gauss-Legendre quadrature are exact and take O(n K^2 / 2)
    time. For more labels, the relative error of q is below 1e-8 in float64, with 12 to 56 nodes.
    With propensities, a sum over label sets is exact up to 6 labels. Beyond, 40 nodes or more have
    an error below 1e-8, and take about ten times as long. Memory is O(n K).

    Examples
    --------
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> chance = selection_log_likelihood(torch.zeros(1, 3), complementary).exp()
    >>> round(float(chance), 4)  # a third of 1 - P(all labels apply)
    0.2917
    """
    precise, labels = check_labels(logits, complementary=complementary, relevant=relevant)
    weights = None if propensities is None else check_propensities(propensities, logits.shape[1])

    def evaluate(logits: Tensor) -> tuple[Tensor, Tensor]:
        return _values_and_gradient(
            logits, labels["complementary"], labels.get("relevant"), weights
        )

    return differentiable(evaluate, precise)


def _values_and_gradient(
    logits: Tensor, complementary: Tensor, relevant: Tensor | None, propensities: Array | None
) -> tuple[Tensor, Tensor]:
    """Return log q_S of each row (b,), and the gradient (b, K), for tensors of shape (b, K)."""
    log_w = None
    if propensities is not None:
        log_w = torch.as_tensor(np.log(propensities), dtype=logits.dtype, device=logits.device)
    settled = complementary if relevant is None else torch.maximum(complementary, relevant)
    namings = Namings(complementary, settled)
    values, gradient, _ = log_likelihood_and_gradient(logits, namings, log_w)
    nothing = ~complementary.any(dim=1)
    values.masked_fill_(nothing, 0)
    gradient.masked_fill_(nothing.unsqueeze(1), 0)
    if relevant is not None:
        gradient.addcmul_(1 - torch.sigmoid(logits), relevant)
        values += (functional.logsigmoid(logits) * relevant).sum(dim=1)
    return values, gradient


class SelectionLikelihoodLoss(LogitLoss):
    """Minus the log-likelihood of the annotator's choice, plus a penalty on the cardinality.

    It is the mean over instances of ::

        - log q_S(x)  +  (sum_k p_k(x) - c)^2

    Complementary labels say little about how *many* labels are relevant. The penalty settles this.

    Parameters
    ----------
    cardinality : float or None, default=None
        c, the expected number of relevant labels per instance. None leaves the penalty out.
    propensities : sequence of K floats or None, default=None
        As for :func:`selection_log_likelihood`.

    See Also
    --------
    selection_log_likelihood : The first term.
    complabel.methods.SelectionLikelihoodClassifier : Maximizes the likelihood of any answers.

    Examples
    --------
    >>> loss = SelectionLikelihoodLoss(cardinality=1.5)
    >>> complementary = torch.tensor([[1.0, 0.0, 0.0]])
    >>> round(float(loss(torch.zeros(1, 3), complementary)), 4)  # log 24 - log 7
    1.2321
    """

    models_the_choice = True

    def __init__(
        self, *, cardinality: float | None = None, propensities: ArrayLike | None = None
    ) -> None:
        super().__init__()
        if cardinality is not None:
            check_real("cardinality", cardinality, above=0)
        self.cardinality = cardinality
        self.propensities = None if propensities is None else check_propensities(propensities)

    def forward(
        self, logits: Tensor, complementary: Tensor, relevant: Tensor | None = None
    ) -> Tensor:
        """Compute the loss; all tensors have shape (b, K)."""
        log_likelihood = selection_log_likelihood(
            logits, complementary, relevant=relevant, propensities=self.propensities
        )
        if self.cardinality is None:
            return -log_likelihood.mean()
        excess = torch.sigmoid(logits).sum(dim=1) - self.cardinality
        excess = excess * self._told(complementary, relevant)
        return (excess.square() - log_likelihood).mean()

    def logit_gradient(
        self, logits: Tensor, complementary: Tensor, relevant: Tensor | None = None
    ) -> Tensor:
        """Return the gradient of the loss summed over instances; all tensors are (b, K)."""
        _, gradient = _values_and_gradient(logits, complementary, relevant, self.propensities)
        gradient.neg_()
        if self.cardinality is not None:
            p = torch.sigmoid(logits)
            excess = p.sum(dim=1).sub_(self.cardinality).mul_(self._told(complementary, relevant))
            gradient.addcmul_(p.mul_(1 - p), excess.unsqueeze(1), value=2)
        return gradient

    def _told(self, complementary: Tensor, relevant: Tensor | None) -> Tensor:
        labels = complementary if relevant is None else torch.maximum(complementary, relevant)
        return labelled_rows(labels).squeeze(1)

    def log_likelihood(self, logits: Tensor, complementary: Tensor) -> Tensor:
        """Return log q_S of each instance, shape (b,), from tensors of shape (b, K)."""
        return selection_log_likelihood(logits, complementary, propensities=self.propensities)
