r"""How likely namings are, given facts: the chances of a group's rows, with gradients.

Given the facts, a naming of label j out of the labels O on offer has the probability

    (1 - p_j) * integral over t in [0, 1] of the product over k in O, k != j, of (p_k + (1 - p_k) t)

if it is a free choice. The same answer may come about in other ways: any label is picked where all
on offer apply, or the answer is a mistake. Each way adds its probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from complabel.losses._selection_kernel import log_likelihood_and_gradient

if TYPE_CHECKING:
    from complabel.losses._evaluation import Evaluation, Point
    from complabel.losses._naming_groups import Group


@dataclass(frozen=True)
class _Chances:
    """Log-probabilities of a group's rows (b,), and their gradients (b, L)."""

    values: Tensor
    through_logits: Tensor
    through_log_w: Tensor | None  # by log-propensities, where there are some

    def or_else(
        self, log_chance: Tensor, through_logits: Tensor | None = None
    ) -> tuple[_Chances, Tensor]:
        """Add the probability of another way, with the gradient (b, L) of its logarithm.

        Also returns the share (b,) that the other way has in the sum.
        """
        values = torch.logaddexp(self.values, log_chance)
        share = torch.exp(log_chance - values)
        kept = (1 - share).unsqueeze(1)
        slope, of_w = self.through_logits * kept, self.through_log_w
        if through_logits is not None:
            slope = slope + share.unsqueeze(1) * through_logits
        return _Chances(values, slope, None if of_w is None else of_w * kept), share


def add_namings(
    group: Group, point: Point, given_facts: Tensor, found: Evaluation, slope: Tensor
) -> None:
    """Add the log-likelihood of a group's namings.

    Their gradient by the logits (n, K) ``given_facts`` goes to ``slope``.
    """
    chances = _of_choice(group, given_facts, point.log_propensities)
    if point.error_rates is not None:
        e = point.rates_of(group.annotator)
        at_random = torch.log(e) - group.log_possible
        right = _Chances(
            torch.log1p(-e) + chances.values, chances.through_logits, chances.through_log_w
        )
        chances, mistake = right.or_else(at_random)
        found.add_through_log_odds(group.annotator, mistake - e)
    group.cells.add_values(found.values, chances.values)
    group.cells.add_to_items(slope, chances.through_logits)
    if found.through_log_propensities is not None and chances.through_log_w is not None:
        group.cells.add_to_labels(found.through_log_propensities, chances.through_log_w)


def add_skips(group: Group, point: Point, found: Evaluation) -> None:
    """Condition namings on that there are answers: without any knowledge of facts.

    Nobody answers where all labels on offer apply, unless by mistake.
    """
    if group.skipped is None:
        return
    e = point.rates_of(group.annotator)
    log_all, through_all = _log_all_apply(group, group.cells.of_items(point.logits))
    # (1 - P(all apply)) + e P(all apply), precise where nearly all apply.
    answered = torch.where(group.skipped, e * log_all.exp() - torch.expm1(log_all), 1.0)
    odds = torch.where(group.skipped, (1 - e) * log_all.exp() / answered, 0.0)
    group.cells.add_values(found.values, -answered.log())
    group.cells.add_to_items(found.through_logits, odds.unsqueeze(1) * through_all)
    found.add_through_log_odds(group.annotator, -odds * e)


def _of_choice(group: Group, logits: Tensor, log_propensities: Tensor | None) -> _Chances:
    """Return the chances that rows are named without a mistake."""
    z, namings = group.cells.of_items(logits), group.namings
    if group.complete:
        left = group.offered - namings.named
        each = functional.logsigmoid(-z) * namings.named + functional.logsigmoid(z) * left
        return _Chances(each.sum(dim=1), left - torch.sigmoid(z) * group.offered, None)
    log_w = None if log_propensities is None else group.cells.of_labels(log_propensities)
    chances = _Chances(*log_likelihood_and_gradient(z, namings, log_w))
    if group.picked is None:
        return chances
    log_all, through_all = _log_all_apply(group, z)
    one_each = namings.named.sum(dim=1) * group.offered.sum(dim=1).log()
    log_picked = torch.where(group.picked, log_all - one_each, -torch.inf)
    return chances.or_else(log_picked, through_all)[0]


def _log_all_apply(group: Group, z: Tensor) -> tuple[Tensor, Tensor]:
    """Return the log-chance (b,) that all labels on offer apply, and its gradient (b, L)."""
    log_all = (functional.logsigmoid(z) * group.offered).sum(dim=1)
    return log_all, torch.sigmoid(-z) * group.offered
