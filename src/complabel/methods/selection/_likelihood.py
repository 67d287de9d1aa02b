"""The likelihood of answers about some items under given logits, with what is known of people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import special
from torch import Tensor

from complabel._parameters import Array, Floats, Ints
from complabel._training import CPU
from complabel.answers import Answers
from complabel.frequencies import LabelFrequencies, shared_exposure
from complabel.losses import AnswersLikelihood, Evaluation
from complabel.methods.selection._known import KnownRates, Setting

# The range in which the constant model's probabilities start, so that the sigmoid is not flat. It
# matters little: ranges from (.3, .7) to (1e-6, 1 - 1e-6) changed the log-likelihood of held-out
# labels by less than .006 (digits, scene, yeast). Starting below .001 lost .005 on scene.
START_RANGE = (0.02, 0.9)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Answers about n items and K labels by R annotators, and known rates."""

    answers: Answers
    known: KnownRates = field(default_factory=KnownRates)
    weights: Array | None = None  # (n,), of items; None: all 1. Answers have theirs.
    mean_weight: float = 1.0  # of all items that are fitted to or held out
    device: torch.device = CPU  # where the likelihood is computed
    _laid_out: dict[Any, AnswersLikelihood] = field(default_factory=dict, init=False, repr=False)
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def of_rows(self, index: Ints) -> Likelihood:
        weights = None if self.weights is None else self.weights[index]
        return replace(self, answers=self.answers[index], weights=weights)

    def with_frequencies(self, frequencies: LabelFrequencies | None) -> Likelihood:
        return replace(self, known=replace(self.known, frequencies=frequencies))

    def at(self, setting: Setting) -> Likelihood:
        """Return the likelihood with the exposure that all labels share under a setting."""
        shares, c = self.known.tag_shares, setting.cardinality
        if shares is None or c is None:
            return self
        if self._made.get("shared") != c:  # only the last one is kept: each has all its facts
            exposure = np.full(len(shares), shared_exposure(shares, c))
            known = replace(self.known, exposure=exposure, exposure_is_assumed=True)
            self._made.update({"shared": c, "at": replace(self, known=known)})
        found: Likelihood = self._made["at"]
        return found

    def once(self, key: object, make: Callable[[], Any]) -> Any:
        """Return what is made from this likelihood for a key, and is made once."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def log_likelihood(
        self,
        logits: Floats,
        log_propensities: Array | None = None,
        error_rates: Array | None = None,
    ) -> Array:
        with torch.inference_mode():
            evaluation = self.evaluate(*self._tensors(logits, log_propensities), error_rates)
        return np.asarray(evaluation.values.cpu().numpy(), dtype=np.float64) / self.mean_weight

    def likelihood_and_gradients(
        self, logits: Floats, log_propensities: Array | None, rates: Array
    ) -> tuple[float, Array, Floats]:
        """Return the log-likelihood, and its gradients by the rates' log-odds and by logits."""
        with torch.inference_mode():
            evaluation = self.evaluate(*self._tensors(logits, log_propensities), rates)
        assert evaluation.through_log_odds is not None
        return (
            float(evaluation.values.sum(dtype=torch.float64)),
            evaluation.through_log_odds.double().cpu().numpy(),
            evaluation.through_logits.cpu().numpy(),
        )

    def slope_at(self, setting: Setting, logits: Tensor) -> Tensor:
        """Return the gradient (n, K) of the log-likelihood by logits, under a setting."""
        rates = self.rates_at(setting)
        return self.evaluate(logits, self.log_propensities_at(setting), rates).through_logits

    def rates_at(self, setting: Setting) -> Array | None:
        return self.known.error_rates_at(setting, self.n_rates)

    def log_propensities_at(self, setting: Setting) -> Tensor | None:
        """Return the known log-propensities (K,); None if they are equal or fitted."""
        known = self.known.propensities_at(setting)
        return None if known is None else torch.from_numpy(np.log(known)).to(self.device)

    @property
    def n_rates(self) -> int:
        return len(self.answers.annotator_names) + 1

    @cached_property
    def judges(self) -> bool:
        """Whether all answers judge labels."""
        return bool(self.answers.judges.all())

    def constant_logits(self, cardinality: float | None) -> Array:
        """Return constant logits (K,) from which a fit starts: those of the frequencies, if known.

        If not, they come from counts. A label is chosen about as often as it is irrelevant, times
        its propensity: 1 - p_j is taken in proportion to choices over propensity, and the p_j add
        up to the cardinality; or p_j itself, if people name what applies. Without one, all p_j are
        equal and add up to 1: choices from menus would say more about propensities, and a label
        that starts as rare may stay so. For a judged label, p_j is about the share of "yes".
        """
        if self.known.frequencies is not None:
            return np.asarray(special.logit(self.known.frequencies_at(cardinality).values))
        answers = self.answers
        expected = 1.0 if cardinality is None else cardinality
        w = 1.0 if self.known.propensities is None else self.known.propensities
        ruled_out, chosen = (
            np.asarray(mask.T @ answers.weight) / w
            for mask in (answers.named + answers.excluded, answers.positive + answers.tagged)
        )
        p = np.full(len(chosen), expected / len(chosen))
        if chosen.any() and cardinality is not None:
            p = expected * chosen / chosen.sum()
        elif ruled_out.any() and cardinality is not None:
            p = 1 - (len(chosen) - expected) * ruled_out / ruled_out.sum()
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

    def _tensors(
        self, logits: Floats, log_propensities: Array | None
    ) -> tuple[Tensor, Tensor | None]:
        at = torch.from_numpy(np.ascontiguousarray(logits)).to(self.device)
        if log_propensities is None:
            return at, None
        return at, torch.from_numpy(log_propensities).to(self.device)

    def laid_out(self, setting: Setting, dtype: torch.dtype) -> Likelihood:
        """Return the same likelihood without the answers, which it has read already."""
        laid_out = replace(self, answers=self.answers.only(np.zeros(self.answers.n_answers, bool)))
        self._lay_out(self.rates_at(setting) is not None, dtype)
        laid_out._laid_out.update(self._laid_out)
        return laid_out

    def by_cell(self, setting: Setting, dtype: torch.dtype) -> tuple[Any, Tensor, Tensor] | None:
        """Return the likelihood of each judged pair by its own logit, and its item and label.

        None if an answer depends on several logits.
        """
        likelihood = self.laid_out(setting, dtype)
        cells = likelihood._laid_out[False, dtype].by_cell()
        if cells is None:
            return None
        likelihood._laid_out[False, dtype], item, label = cells
        return likelihood, item, label

    def _lay_out(self, with_error_rates: bool, dtype: torch.dtype) -> None:
        if (with_error_rates, dtype) not in self._laid_out:
            self._laid_out[with_error_rates, dtype] = AnswersLikelihood(
                self.answers,
                exclusion_rates=self.known.exclusion_rates,
                exposure=self.known.exposure,
                with_error_rates=with_error_rates,
                dtype=dtype,
                device=self.device,
            )

    def evaluate(self, logits: Tensor, log_w: Tensor | None, rates: Array | None) -> Evaluation:
        """Evaluate the likelihood; arguments that are None are replaced by known values."""
        if log_w is None and self.known.propensities is not None:
            log_w = torch.from_numpy(np.log(self.known.propensities)).to(self.device)
        rates = self.known.error_rates if rates is None else rates
        key = (rates is not None, logits.dtype)
        self._lay_out(*key)
        mistakes: dict[str, Tensor] = {}
        if rates is not None:
            of_type = torch.as_tensor(rates, dtype=logits.dtype, device=self.device)
            one_sided = zip(("missed", "invented"), of_type, strict=True)
            mistakes = {"error_rates": of_type} if rates.ndim == 1 else dict(one_sided)
        return self._laid_out[key](
            logits, log_propensities=None if log_w is None else log_w.to(logits.dtype), **mistakes
        )
