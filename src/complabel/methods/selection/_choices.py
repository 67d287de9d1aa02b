"""The answers about some items, their likelihood as the objective of a fit, and its setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import special
from torch import Tensor

from complabel._parameters import Array, Floats, Ints
from complabel._training import CPU, LogitObjective
from complabel.answers import Answers
from complabel.frequencies import LabelFrequencies
from complabel.losses import AnswersLikelihood, Evaluation
from complabel.methods.selection._features import FeatureMap

# The range in which the constant model's probabilities start, so that the sigmoid is not flat. It
# matters little: ranges from (.3, .7) to (1e-6, 1 - 1e-6) changed the log-likelihood of held-out
# labels by less than .006 (digits, scene, yeast). Starting below .001 lost .005 on scene.
START_RANGE = (0.02, 0.9)
# Weights of known and of estimated frequencies in the objective. The second hardly matters: from
# .05 to 5, average precision changed by at most .005 (scene and yeast, with unequal propensities).
# Only the sum of estimated frequencies is uncertain, and it is searched.
_KNOWN, _ESTIMATED = 5.0, 0.5
# The variance of the prior of biases is searched between these multiples of the variance of their
# errors. A stronger prior would slow the optimizer down.
_LEAST_PRIOR, _MOST_PRIOR, _N_PRIORS = 0.1, 1e4, 51
# Combinations of biases with less than this share of the largest information are not determined;
# rounding in single precision leaves some 1e-5.
_LEAST_SHARE = 1e-4
# Added to pi (1 - pi) in the penalty, so that rare labels do not get a huge weight.
_LEAST_VARIANCE = 0.01


@dataclass(frozen=True, eq=False)
class OneSided:
    """How often labels are missed and invented: (2, R + 1, L), unknown annotators last."""

    # L is 1, or K if the rates differ by label. Compared by identity, as part of a setting.
    rates: Array


@dataclass(frozen=True)
class Setting:
    """The values that are chosen together; most are parameters of the classifier."""

    features: FeatureMap
    alpha: float
    cardinality: float | None
    rank: int | None = None
    spread: float | None = None  # of the prior of fitted log-propensities; None if not fitted
    # One rate of all annotators, or those of each and, last, of unknown ones; None if no mistakes.
    error_rates: float | tuple[float, ...] | OneSided | None = None
    # What is kept of the distance of logits from those of label frequencies.
    kept: float = 1.0

    @property
    def parameters(self) -> dict[str, Any]:
        chosen = self.features.parameters | {"alpha": self.alpha, "cardinality": self.cardinality}
        further: dict[str, Any] = {"rank": self.rank, "propensity_spread": self.spread}
        if isinstance(self.error_rates, OneSided):
            missed, invented = self.error_rates.rates
            further |= {"missed": missed.mean(), "invented": invented.mean()}
        elif self.error_rates:
            further["error_rate"] = np.mean(self.error_rates)
        further["kept"] = self.kept if self.kept < 1 else None
        return chosen | {name: value for name, value in further.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Choices:
    """Answers, with what is known about their annotators and labels."""

    # Propensities that come with the label frequencies change with the cardinality.

    answers: Answers  # about n items and K labels, by R annotators
    propensities: Array | None = None  # (K,)
    # Error rates (R + 1,), that of unknown annotators last; or those of OneSided (2, R + 1, L).
    error_rates: Array | None = None
    exclusion_rates: Array | None = None  # (K,)
    frequencies: LabelFrequencies | None = None
    weights: Array | None = None  # (n,), of items; None: all 1. Answers have theirs.
    mean_weight: float = 1.0  # of all items that are fitted to or held out
    device: torch.device = CPU  # where the likelihood is computed
    _laid_out: dict[Any, AnswersLikelihood] = field(default_factory=dict, init=False, repr=False)
    _variances: dict[Any, Tensor] = field(default_factory=dict, init=False, repr=False)

    def of_rows(self, index: Ints) -> Choices:
        weights = None if self.weights is None else self.weights[index]
        return replace(self, answers=self.answers[index], weights=weights)

    def log_likelihood(
        self,
        logits: Floats,
        log_propensities: Array | None = None,
        error_rates: Array | None = None,
    ) -> Array:
        with torch.inference_mode():
            found = self._evaluate(*self._tensors(logits, log_propensities), error_rates)
        return np.asarray(found.values.cpu().numpy(), dtype=np.float64) / self.mean_weight

    def objective(
        self, setting: Setting, sizes: Sequence[int], near: Floats | None = None
    ) -> LogitObjective:
        """Return the objective for ``minimize_linear`` of B maps with ``sizes`` (B,) items each.

        It is minus the mean log-likelihood, plus the mean of (sum_k p_k - c)^2 for a cardinality c,
        plus a multiple of sum_k (mean p_k - pi_k)^2 / (pi_k (1 - pi_k) + .01) for frequencies pi,
        plus the priors of biases and of propensities divided by the number of items. Items count
        by their weights; their number is the sum of weights. ``near`` are logits (N, K) near those
        of the minimum, if any are known.
        """
        share, of_rows = self._shares(sizes), self.objective_of_rows(setting)
        variances = self.variances_of_biases(setting, sizes, near)
        terms = self.terms_of_means(setting, share.sizes, variances)

        def means_and_gradients(logits: Tensor, others: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            log_w = None if setting.spread is None else share.to_items(others)
            losses, gradient, through_log_w = of_rows(logits, log_w)
            values, through_others = share.means(losses), others
            if terms.variances is not None:
                value, slope = terms.of_logits(share.means(self.weighted(logits)))
                values += value
                gradient += share.weighted_to_items(slope.to(gradient.dtype))
            if terms.frequencies is not None:
                p = torch.sigmoid(logits)
                value, slope = terms.of_probabilities(share.means(self.weighted(p)))
                values += value
                gradient.addcmul_(p.mul_(1 - p), share.weighted_to_items(slope.to(p.dtype)))
            if through_log_w is not None:
                value, through_others = terms.of_log_propensities(others, share.sums(through_log_w))
                values += value
            return values, share.divide(gradient), through_others.to(others.dtype)

        return means_and_gradients

    def objective_of_rows(
        self, setting: Setting
    ) -> Callable[[Tensor, Tensor | None], tuple[Tensor, Tensor, Tensor | None]]:
        """Return the part of the objective that is a sum over items, as a function of logits.

        It takes logits (N, K), and log-propensities if they are fitted. It returns the losses (N,)
        and their gradient by the logits. If propensities are fitted, it also returns the gradient
        of the log-likelihood by their logarithms.
        """
        c, rates = setting.cardinality, self.rates(setting)
        known_log_w = self.log_propensities(setting)

        def losses_and_gradients(
            logits: Tensor, log_w: Tensor | None
        ) -> tuple[Tensor, Tensor, Tensor | None]:
            fitted = log_w is not None
            found = self._evaluate(logits, log_w if fitted else known_log_w, rates)
            losses, gradient = found.values.neg_(), found.through_logits.neg_()
            if c is not None:
                p = torch.sigmoid(logits)
                excess = p.sum(dim=1) - c
                losses += self.weighted(excess**2)
                excess = self.weighted(excess)
                gradient.addcmul_(p * (1 - p), excess.unsqueeze(1), value=2)
            return losses, gradient, found.through_log_propensities if fitted else None

        return losses_and_gradients

    def terms_of_means(
        self, setting: Setting, sizes: Tensor, variances: Tensor | None
    ) -> TermsOfMeans:
        """Return the other part, of B maps with ``sizes`` (B,) items."""
        if self.frequencies is None:
            return TermsOfMeans(setting.spread, sizes, variances)
        pi = torch.from_numpy(self.frequencies_at(setting.cardinality).values).to(sizes.device)
        weight = _ESTIMATED if self.frequencies.cardinality_error else _KNOWN
        weights = weight / (pi * (1 - pi) + _LEAST_VARIANCE)
        return TermsOfMeans(setting.spread, sizes, variances, pi, weights)

    def variances_of_biases(
        self, setting: Setting, sizes: Sequence[int], near: Floats | None = None
    ) -> Tensor | None:
        """Return the variances (B,) of normal priors of the biases of B maps around their mean.

        Few answers say little about how often each label applies: without a prior, errors of the
        biases order the labels. Let labels be alike, with scores g and information matrix H of the
        biases: then g / n has the variance H / n, and H / n + v H^2 if biases have the variance v.
        The likeliest v is taken, and widened for logits ``near`` (N, K). None, without a prior, if
        frequencies are known, or if fitted propensities, mistakes or rates of exclusion also decide
        how often a label is chosen. Source: Efron and Morris, "Stein's estimation rule and its
        competitors: an empirical Bayes approach", JASA 1973.
        """
        level = self.level_if_alike(setting)
        if level is None:
            return None
        key = setting.cardinality, tuple(sizes)
        if key not in self._variances:
            parts = self._shares(sizes).parts(self.slope_if_alike(setting, level))
            likeliest = [likeliest_variance(*mean_and_information(*part)) for part in parts]
            self._variances[key] = torch.tensor(likeliest, dtype=torch.float32, device=self.device)
        found = self._variances[key]
        if near is None:
            return found
        ends, weights = np.cumsum(sizes)[:-1], np.ones(len(near))
        if self.weights is not None:
            weights = self.weights
        of_maps = zip(np.split(near, ends), np.split(weights, ends), strict=True)
        return found * found.new_tensor([widening(*each) for each in of_maps])

    def level_if_alike(self, setting: Setting) -> float | None:
        """Return the logit that labels have if they are alike; None if biases have no prior."""
        others = self.frequencies, setting.spread, self.error_rates, self.exclusion_rates
        if any(each is not None for each in (*others, setting.error_rates)):
            return None
        p = special.expit(self.constant_logits(setting.cardinality))
        return float(special.logit(p.mean()))

    def slope_if_alike(
        self, setting: Setting, level: float, dtype: torch.dtype = torch.float32
    ) -> Tensor:
        """Return the scores (n, K) of biases where labels are alike."""
        alike = torch.full(self.answers.shape, level, dtype=dtype, device=self.device)
        with torch.inference_mode():
            slope = self._evaluate(alike, self.log_propensities(setting), None).through_logits
            slope -= slope.mean(dim=1, keepdim=True)  # only differences have a prior
        return slope

    @cached_property
    def judge(self) -> bool:
        """Whether all answers judge labels."""
        return bool(self.answers.judges.all())

    def curvature(self, setting: Setting, logits: Floats) -> Array:
        """Return an approximate mean Hessian (K, K) of an item's loss, at given logits (n, K)."""
        # Products of gradients have the same expectation as the Hessian, if the model is right.
        at, _ = self._tensors(logits, None)
        with torch.inference_mode():
            log_w = self.log_propensities(setting)
            slope = self._evaluate(at, log_w, self.rates(setting)).through_logits
            ((slope, weights),) = self._shares([len(slope)]).parts(slope)
            found = _information(slope, weights)
            if setting.cardinality is not None:
                p = torch.sigmoid(at)
                variance = p.mul_(1 - p)
                if weights is not None:
                    variance *= weights.unsqueeze(1)
                found += 2 * _information(variance, weights)
        return np.asarray(found)

    def likelihood_and_gradients(
        self, logits: Floats, log_propensities: Array | None, rates: Array
    ) -> tuple[float, Array, Floats]:
        """Return the log-likelihood, and its gradients by the rates' log-odds and by logits."""
        with torch.inference_mode():
            found = self._evaluate(*self._tensors(logits, log_propensities), rates)
        assert found.through_log_odds is not None
        return (
            float(found.values.sum(dtype=torch.float64)),
            found.through_log_odds.double().cpu().numpy(),
            found.through_logits.cpu().numpy(),
        )

    def start_of_others(self, setting: Setting, n_maps: int, found: Array | None = None) -> Array:
        """Return the log-propensities (B, E) to start from; E is 0 if they are not fitted."""
        shape = (n_maps, self.answers.n_labels if setting.spread is not None else 0)
        return np.zeros(shape) if found is None or found.shape != shape else found

    def frequencies_at(self, cardinality: float | None) -> LabelFrequencies:
        assert self.frequencies is not None
        if cardinality is None:
            return self.frequencies
        return self.frequencies.given_cardinality(cardinality)

    def log_propensities(self, setting: Setting) -> Tensor | None:
        """Return the known log-propensities (K,); None if they are equal or fitted."""
        known = self.known_propensities(setting)
        return None if known is None else torch.from_numpy(np.log(known)).to(self.device)

    def known_propensities(self, setting: Setting) -> Array | None:
        """Return the known propensities (K,), adjusted to the setting's cardinality, or None."""
        if self.propensities is not None or self.frequencies is None or setting.spread is not None:
            return self.propensities
        return self.frequencies_at(setting.cardinality).propensities

    def rates(self, setting: Setting) -> Array | None:
        if setting.error_rates is None:
            return None
        if isinstance(setting.error_rates, OneSided):
            return setting.error_rates.rates
        return np.array(np.broadcast_to(setting.error_rates, self.n_rates), dtype=np.float64)

    @property
    def n_rates(self) -> int:
        return len(self.answers.annotator_names) + 1

    def constant_logits(self, cardinality: float | None) -> Array:
        """Return constant logits (K,) from which a fit starts: those of the frequencies, if known.

        If not, they come from counts. A label is chosen about as often as it is irrelevant, times
        its propensity: 1 - p_j is taken in proportion to choices over propensity, and the p_j add
        up to the cardinality. Without one, all p_j are equal and add up to 1: choices from menus
        would say more about propensities, and a label that starts as rare may stay so. For a judged
        label, p_j is about the share of "yes".
        """
        if self.frequencies is not None:
            return np.asarray(special.logit(self.frequencies_at(cardinality).values))
        answers = self.answers
        expected = 1.0 if cardinality is None else cardinality
        chosen = np.asarray((answers.named + answers.excluded).T @ answers.weight)
        if self.propensities is not None:
            chosen /= self.propensities
        p = np.full(len(chosen), expected / len(chosen))
        if chosen.any() and cardinality is not None:
            p = 1 - (len(chosen) - expected) * chosen / chosen.sum()
        judged = answers.judges
        yes, no = (
            np.asarray(mask[judged].T @ answers.weight[judged])
            for mask in (answers.relevant, answers.absent)
        )
        p = np.where(yes + no > 0, (yes + p) / (yes + no + 1), p)
        return np.asarray(special.logit(np.clip(p, *START_RANGE)))

    def weighted(self, values: Tensor) -> Tensor:
        """Multiply values (n,) or (n, E) by the weights of items."""
        if self.item_weights is None:
            return values
        weights = self.item_weights.to(values.dtype)
        return values * (weights if values.ndim == 1 else weights.unsqueeze(1))

    @cached_property
    def item_weights(self) -> Tensor | None:
        """The weights (n,) on the device."""
        return None if self.weights is None else torch.from_numpy(self.weights).to(self.device)

    def _shares(self, counts: Sequence[int]) -> _Shares:
        return _Shares(counts, self.item_weights, self.device)

    def _tensors(
        self, logits: Floats, log_propensities: Array | None
    ) -> tuple[Tensor, Tensor | None]:
        at = torch.from_numpy(np.ascontiguousarray(logits)).to(self.device)
        if log_propensities is None:
            return at, None
        return at, torch.from_numpy(log_propensities).to(self.device)

    def laid_out(self, setting: Setting, dtype: torch.dtype) -> Choices:
        """Return the likelihood of the same answers without the answers themselves."""
        kept = replace(self, answers=self.answers.only(np.zeros(self.answers.n_answers, bool)))
        self._lay_out(self.error_rates is not None or setting.error_rates is not None, dtype)
        kept._laid_out.update(self._laid_out)
        return kept

    def by_cell(self, setting: Setting, dtype: torch.dtype) -> tuple[Any, Tensor, Tensor] | None:
        """Return ``objective_of_rows`` of each judged pair by its own logit, its item and label.

        None if the loss also depends on other logits, but for the prior of biases.
        """
        known = (setting.cardinality, setting.spread, setting.error_rates, self.error_rates)
        if any(each is not None for each in (*known, self.frequencies)):
            return None
        kept = self.laid_out(setting, dtype)
        found = kept._laid_out[False, dtype].by_cell()
        if found is None:
            return None
        kept._laid_out[False, dtype], item, label = found
        return kept.objective_of_rows(setting), item, label

    def _lay_out(self, with_error_rates: bool, dtype: torch.dtype) -> None:
        if (with_error_rates, dtype) not in self._laid_out:
            self._laid_out[with_error_rates, dtype] = AnswersLikelihood(
                self.answers,
                exclusion_rates=self.exclusion_rates,
                with_error_rates=with_error_rates,
                dtype=dtype,
                device=self.device,
            )

    def _evaluate(self, logits: Tensor, log_w: Tensor | None, rates: Array | None) -> Evaluation:
        """Evaluate the likelihood; arguments that are None are replaced by known values."""
        if log_w is None and self.propensities is not None:
            log_w = torch.from_numpy(np.log(self.propensities)).to(self.device)
        rates = self.error_rates if rates is None else rates
        key = (rates is not None, logits.dtype)
        self._lay_out(*key)
        given: dict[str, Tensor] = {}
        if rates is not None:
            of_type = torch.as_tensor(rates, dtype=logits.dtype, device=self.device)
            one_sided = zip(("missed", "invented"), of_type, strict=True)
            given = {"error_rates": of_type} if rates.ndim == 1 else dict(one_sided)
        return self._laid_out[key](
            logits, log_propensities=None if log_w is None else log_w.to(logits.dtype), **given
        )


def _information(slope: Tensor, weights: Tensor | None) -> Array:
    """Return the weighted mean of g g^T (K, K), from gradients (n, K) that are weight times g."""
    if weights is None:
        return np.asarray((slope.t() @ slope).double().cpu().numpy() / len(slope))
    found = slope.t() @ (slope / weights.to(slope.dtype).unsqueeze(1))
    return np.asarray(found.double().cpu().numpy() / float(weights.sum()))


@dataclass(frozen=True)
class TermsOfMeans:
    """The terms of an objective of B maps that depend on means over items, with their slopes."""

    spread: float | None  # of the prior of log-propensities
    sizes: Tensor  # (B,), numbers of items
    variances: Tensor | None = None  # (B,), of the prior of biases
    frequencies: Tensor | None = None  # (K,)
    weights: Tensor | None = None  # (K,)

    def of_logits(self, means: Tensor) -> tuple[Tensor, Tensor]:
        """Return the prior of biases (B,), and its slope (B, K) by the means of logits."""
        # The mean of a label's logits is its bias, if the features are centred.
        assert self.variances is not None
        biases = means - means.mean(dim=1, keepdim=True)
        prior = biases / (self.variances * self.sizes).unsqueeze(1)
        return (prior * biases).sum(dim=1) / 2, prior

    def of_probabilities(self, means: Tensor) -> tuple[Tensor, Tensor]:
        """Return the penalty of frequencies (B,), and its slope (B, K) by mean probabilities."""
        assert self.frequencies is not None
        assert self.weights is not None
        excess = means - self.frequencies
        return (self.weights * excess**2).sum(dim=1), 2 * self.weights * excess

    def of_log_propensities(self, log_w: Tensor, told: Tensor) -> tuple[Tensor, Tensor]:
        """Return the prior (B,) of log-propensities (B, K), and the slope of all by them.

        ``told`` (B, K) is the gradient of the log-likelihood.
        """
        # The prior is normal. The likelihood depends only on differences of log-propensities; the
        # prior keeps their mean at 0.
        assert self.spread is not None
        prior = log_w / self.spread**2
        value = (prior * log_w).sum(dim=1) / (2 * self.sizes)
        return value, (prior - told) / self.sizes.unsqueeze(1)


def mean_and_information(slope: Tensor, weights: Tensor | None) -> tuple[float, Array, Array]:
    """Return the number of items, and the mean (K,) and the information (K, K) of gradients.

    The gradients (n, K) are weight times g, and the number of items is the sum of weights.
    """
    n = len(slope) if weights is None else float(weights.sum())
    mean = slope.mean(dim=0, dtype=torch.float64).cpu().numpy() * (len(slope) / n)
    return n, mean, _information(slope, weights)


def widening(logits: Floats, weights: Array | None = None) -> float:
    """Return how many times greater biases' variance is than that of logits of frequencies.

    The more the logits (n, K) differ between items, with ``weights`` (n,), the nearer to 0 is the
    logit of a label's mean probability, beside its bias. Source: MacKay, "The evidence framework
    applied to classification networks", Neural Computation 1992.
    """
    centred = logits - np.average(logits, axis=0, weights=weights)
    return 1 + math.pi / 8 * float(np.average(centred**2, axis=0, weights=weights).mean())


def likeliest_variance(n: float, mean: Array, information: Array) -> float:
    """Return the v for which the mean of n gradients, with H / n + v H^2, is likeliest."""
    sizes, vectors = np.linalg.eigh(information)
    told = sizes > _LEAST_SHARE * sizes.max()
    if not told.any():
        return math.inf
    sizes = sizes[told]
    score = mean @ vectors[:, told]
    tried = np.geomspace(_LEAST_PRIOR, _MOST_PRIOR, _N_PRIORS) / (n * sizes.mean())
    variance = sizes / n + tried[:, np.newaxis] * sizes**2
    return float(tried[np.argmin((np.log(variance) + score**2 / variance).sum(axis=1))])


class _Shares:
    """The division of N items, stacked map by map, among B maps."""

    def __init__(self, counts: Sequence[int], weights: Tensor | None, device: torch.device) -> None:
        self._counts, self._weights = [*counts], weights
        # (B,), sums of weights
        self.sizes = torch.tensor(counts, dtype=torch.float64, device=device)
        self._mean_weights = torch.ones_like(self.sizes)
        if weights is not None:
            self._mean_weights = self.means(weights)
            self.sizes *= self._mean_weights
        self._divisors = self.sizes.tolist()

    def weighted_to_items(self, values: Tensor) -> Tensor:
        """Do as ``to_items``, and multiply by the weights of items."""
        found = self.to_items(values)
        return found if self._weights is None else self._weights.to(found.dtype)[:, None] * found

    def parts(self, values: Tensor) -> list[tuple[Tensor, Tensor | None]]:
        """Return the values (n, E) of each map's items, and their weights (n,)."""
        parts = torch.split(values, self._counts)
        if self._weights is None:
            return [(part, None) for part in parts]
        return [*zip(parts, torch.split(self._weights, self._counts), strict=True)]

    def to_items(self, values: Tensor) -> Tensor:
        """Repeat the values of each map (B, E) for its items: (N, E), or (E,) for one map."""
        if len(self._counts) == 1:
            return values[0]
        counts = torch.tensor(self._counts, device=values.device)
        return values.repeat_interleave(counts, dim=0, output_size=sum(self._counts))

    def sums(self, values: Tensor) -> Tensor:
        """Sum the values of each map's items: (B, E) from (N, E), or from a single sum (E,)."""
        if values.ndim == 1:
            return values.unsqueeze(0)
        return torch.stack([part.sum(dim=0) for part in torch.split(values, self._counts)])

    def means(self, values: Tensor) -> Tensor:
        """Return sums over each map's items divided by its size, (B,) or (B, K), in float64."""
        parts = torch.split(values, self._counts)
        found = torch.stack([part.mean(dim=0, dtype=torch.float64) for part in parts])
        return (found.t() / self._mean_weights).t()

    def divide(self, gradient: Tensor) -> Tensor:
        """Divide the rows (N, K) of each map by its size, in place."""
        for part, n in zip(torch.split(gradient, self._counts), self._divisors, strict=True):
            part /= n
        return gradient
