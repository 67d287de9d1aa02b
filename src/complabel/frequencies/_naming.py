r"""The probability that a label is named, if labels apply independently with given frequencies.

If one label is named of all labels, the model is this. Label k comes to mind after an exponential
time with rate w_k. The annotator names the first label that does not apply. So label j is named
with probability ::

    w_j q_j * integral over tau of exp(-w_j tau) * product over l != j of (p_l + q_l exp(-w_l tau))

with q = 1 - p. If nobody may answer that all labels apply, there are no items to which all do. The
probability is then divided by 1 - p_1 ... p_K: else few labels that are frequent would seem rarer.
All K integrals use the same nodes, so they and their derivatives need only a few matrix products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import special

from complabel._parameters import Array
from complabel.frequencies._counts import Named

if TYPE_CHECKING:
    from complabel.losses import AnswersLikelihood

# The integral uses tau = exp(y - exp(-y)) / scale. With equal steps in y its error falls
# exponentially; see losses/_selection_kernel.py. Below the least y, and where the integrand is
# less than exp(-30) of its maximum, the rest is negligible.
_LEAST_Y, _STEP, _LOG_OF_NOTHING = -3.6, 0.2, 30.0


# The error rates that are tried, as shares of the greatest: at 1, all answers "all of these apply"
# are given at random. By chance they may be fewer than expected, so shares go beyond 1.
_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.05, 1.2)
_MOST_MISTAKES = 0.9
# The prior of error rates is Beta(1, 9). Its mean is one mistake in ten answers.
_RIGHT = 9.0


class NamingLikelihood:
    """The log-likelihood of the named labels, for parameters (logits, log-propensities), (2K,).

    Answers other than one label, named of all, are mistakes with the chance ``error_rate``. Then
    they are drawn at random from all answers that the question allows.
    """

    def __init__(self, named: Named, error_rate: float = 0.0, log_prior: float = 0.0) -> None:
        self.named = named
        self.error_rate = error_rate
        self.log_prior = log_prior  # of this error rate
        self.n_labels = len(named.first)
        # Of labels that apply, logits have the other sign.
        self._signs = np.ones(2 * self.n_labels)
        self._signs[: self.n_labels] = -1 if named.mirrored else 1
        self._rest: AnswersLikelihood | None = None
        if named.answers is not None:
            from complabel.losses import AnswersLikelihood  # imports torch

            self._rest = AnswersLikelihood(named.answers, with_error_rates=error_rate > 0)

    @classmethod
    def with_mistakes(cls, named: Named) -> list[Self]:
        """Return likelihoods of named labels for error rates from 0 on, with prior weights."""
        return [cls(named, rate, log_prior) for rate, log_prior in _error_rates(named)]

    def value_and_gradient(self, parameters: Array) -> tuple[float, Array]:
        parameters = parameters * self._signs
        value, gradient = 0.0, np.zeros_like(parameters)
        if self.named.first.any():
            integrals = Integrals.at(parameters)
            value += float(self.named.first @ integrals.log_chances)
            gradient += integrals.weighted_gradient(self.named.first)
            log_some_do_not, slope = not_all_apply(parameters)
            value -= self.named.never_all * log_some_do_not
            gradient -= self.named.never_all * slope
        if self._rest is not None:
            values, slopes = self._of_rest(parameters)
            value += float(self.named.counts @ values)
            gradient += self.named.counts @ slopes
        return value, gradient * self._signs

    def information(self, parameters: Array) -> Array:
        """Return Fisher's information (2K, 2K): expected for labels named of all, else observed."""
        parameters = parameters * self._signs
        information = np.zeros((len(parameters), len(parameters)))
        total = self.named.first.sum()
        if total:
            integrals = Integrals.at(parameters)
            chances = np.exp(integrals.log_chances)
            chances /= chances.sum()
            scores, never_all = integrals.gradients(), self.named.never_all
            information += _of_scores(scores, (total - never_all) * chances)
            information += _of_scores(scores - not_all_apply(parameters)[1], never_all * chances)
        if self._rest is not None:
            information += _of_scores(self._of_rest(parameters)[1], self.named.counts)
        return information * np.outer(self._signs, self._signs)

    def _of_rest(self, parameters: Array) -> tuple[Array, Array]:
        """Return log-probabilities (D,) and gradients (D, 2K) of the distinct other answers."""
        import torch

        assert self._rest is not None
        logits, log_w = (
            torch.as_tensor(part).expand(self._rest.shape) for part in np.split(parameters, 2)
        )
        rates: Any = {"error_rates": self.error_rate} if self.error_rate else {}
        evaluation = self._rest(logits, log_propensities=log_w, **rates)
        assert evaluation.through_log_propensities is not None
        slopes = torch.cat([evaluation.through_logits, evaluation.through_log_propensities], dim=1)
        return evaluation.values.numpy(), slopes.numpy()


def _error_rates(named: Named) -> list[tuple[float, float]]:
    """Return error rates of menus, from 0 on, and the logarithms of their prior weights."""
    answers = named.answers
    if answers is None:
        return [(0.0, 0.0)]
    menus, none = answers.n_offered < answers.n_labels, np.diff(answers.named.indptr) == 0
    all_apply = float(named.counts[menus & none].sum())
    if not all_apply:
        return [(0.0, 0.0)]
    asked_for = answers.asked_for[:, np.newaxis]
    size = np.arange(asked_for.max() + 1)
    sets = special.binom(answers.n_offered[:, np.newaxis], size) * (size <= asked_for)
    if_random = float((named.counts / sets.sum(axis=1))[menus].sum())
    rates = np.minimum(all_apply / if_random * np.array(_SHARES), _MOST_MISTAKES)
    ends = np.concatenate([[0.0], (rates[1:] + rates[:-1]) / 2, rates[-1:]])
    weights = np.diff(-((1 - ends) ** _RIGHT))  # of the prior, Beta(1, _RIGHT)
    kept = weights > 0
    return list(zip(rates[kept].tolist(), np.log(weights[kept]).tolist(), strict=True))


def not_all_apply(parameters: Array) -> tuple[float, Array]:
    """Return the log-probability that not all labels apply to an item, and its gradient (2K,)."""
    logits, log_w = np.split(parameters, 2)
    log_all = float(special.log_expit(logits).sum())
    odds_of_all = np.exp(log_all) / -np.expm1(log_all)
    return (
        float(np.log(-np.expm1(log_all))),
        np.concatenate([-odds_of_all * special.expit(-logits), np.zeros_like(log_w)]),
    )


def _of_scores(scores: Array, counts: Array) -> Array:  # (D, 2K) and (D,) to (2K, 2K)
    weighted = scores * np.sqrt(counts)[:, np.newaxis]
    return np.asarray(weighted.T @ weighted)


@dataclass(frozen=True)
class Integrals:
    """The K integrals at given parameters, with N nodes."""

    log_chances: Array  # (K,): log-probability that each label is the one named
    posterior: Array  # (K, N): weights of the nodes, given that a label is named
    by_logit: Array  # (K, N): derivative of the log of a label's factor by its logit
    by_log_w: Array  # (K, N): the same by its log-propensity
    p: Array  # (K,)
    by_own_log_w: Array  # (K,): d log M_k / d log w_k

    @classmethod
    def at(cls, parameters: Array) -> Integrals:
        logits, log_w = np.split(parameters, 2)
        p, q, w = special.expit(logits), special.expit(-logits), np.exp(log_w)
        scale = w.min() + w @ q
        end = np.log((_LOG_OF_NOTHING + 10) * scale / w.min())
        y = np.linspace(_LEAST_Y, end, int(np.ceil((end - _LEAST_Y) / _STEP)) + 1)
        log_tau = y - np.exp(-y) - np.log(scale)
        log_rate = log_tau + np.log1p(np.exp(-y)) + np.log(y[1] - y[0])
        x = w[:, np.newaxis] * np.exp(log_tau)  # (K, N)
        power = np.exp(-x)
        factors = p[:, np.newaxis] + q[:, np.newaxis] * power
        log_factors = np.log(np.maximum(factors, np.finfo(float).tiny))
        log_terms = log_rate + log_factors.sum(axis=0) - log_factors - x
        log_integrals = special.logsumexp(log_terms, axis=1)
        posterior = np.exp(log_terms - log_integrals[:, np.newaxis])
        ratio = q[:, np.newaxis] / np.maximum(factors, np.finfo(float).tiny)
        return cls(
            log_chances=log_w + special.log_expit(-logits) + log_integrals,
            posterior=posterior,
            by_logit=p[:, np.newaxis] * ratio * (1 - power),
            by_log_w=-ratio * x * power,
            p=p,
            by_own_log_w=1 - (posterior * x).sum(axis=1),
        )

    def weighted_gradient(self, counts: Array) -> Array:
        """Return the gradient (2K,) of the sum of counts (K,) times log-chances."""
        # (K, N): the sum over all other labels that were named
        at_nodes = counts @ self.posterior - counts[:, np.newaxis] * self.posterior
        through_logits = (self.by_logit * at_nodes).sum(axis=1) - counts * self.p
        through_log_w = (self.by_log_w * at_nodes).sum(axis=1) + counts * self.by_own_log_w
        return np.concatenate([through_logits, through_log_w])

    def gradients(self) -> Array:  # (K, 2K)
        through_logits = self.posterior @ self.by_logit.T
        np.fill_diagonal(through_logits, -self.p)
        through_log_w = self.posterior @ self.by_log_w.T
        np.fill_diagonal(through_log_w, self.by_own_log_w)
        return np.hstack([through_logits, through_log_w])
