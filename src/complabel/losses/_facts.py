r"""Facts: answers about single labels, and their probability.

Facts multiply the probabilities of a label's two cases::

    A = p P(facts | applies),    B = (1 - p) P(facts | does not apply)

The probability of the facts (their evidence) is A + B. Given the facts, the label applies with
probability A / (A + B). So facts shift the logit of p.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from complabel.errors import InputError
from complabel.losses._answer_marks import is_complete, marks_of, name_of, on_offer
from complabel.losses._contradictions import refuse_contradictions
from complabel.losses._evaluation import by_label
from complabel.losses._ragged import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.answers import Answers
    from complabel.losses._evaluation import Evaluation, Point

# Log-odds of a label that a fact settles. They are finite, because 0 * inf would give nan.
_SETTLED = 1e30

# Log-probabilities of a certain fact, if the label applies and if it does not.
_APPLIES = (0.0, -np.inf)
_DOES_NOT = (-np.inf, 0.0)


@dataclass(frozen=True)
class Facts:
    """Facts about F pairs of an item and a label, and J judgements that may be mistakes.

    ``log_if_applies`` and ``log_if_not`` (F,) are the log-probabilities of the facts that are
    certain or have a known rate. Judgements are kept apart from them, because their probability
    depends on the annotator's error rate. If every fact settles its label for certain, ``sign``
    says how, and less has to be computed.
    """

    n_items: int
    item: Tensor  # (F,), ascending
    label: Tensor  # (F,)
    log_if_applies: Tensor  # (F,)
    log_if_not: Tensor  # (F,)
    sign: Tensor | None  # (F,): 1 if the label applies, -1 if not; None if a fact is uncertain
    judged: Tensor  # (J,), ascending: the pair that each judgement is about
    yes: Tensor  # (J,), bool
    annotator: Tensor  # (J,), -1 where unknown

    @cached_property
    def position(self) -> Tensor:
        """The places (F,) of the pairs in a label-major matrix."""
        return self.label * self.n_items + self.item

    @cached_property
    def _by_item(self) -> Ragged:
        return Ragged.of(self.item, self.n_items)

    @cached_property
    def _by_pair(self) -> Ragged:
        return Ragged.of(self.judged, len(self.item))

    def of_rows(self, rows: Tensor) -> Facts | None:
        """Return the facts about some items (b,), which become items 0 to b - 1."""
        pair, item = self._by_item.of_rows(rows)
        if not len(pair):
            return None
        judged, yes, annotator = self.judged, self.yes, self.annotator
        if len(judged):
            judgement, judged = self._by_pair.of_rows(pair)
            yes, annotator = yes[judgement], annotator[judgement]
        # If the facts are settled, ``sign`` says all.
        settled = self.sign is not None
        return replace(
            self,
            n_items=len(rows),
            item=item,
            label=self.label.index_select(0, pair),
            log_if_applies=self.log_if_applies if settled else self.log_if_applies[pair],
            log_if_not=self.log_if_not if settled else self.log_if_not[pair],
            sign=None if self.sign is None else self.sign.index_select(0, pair),
            judged=judged,
            yes=yes,
            annotator=annotator,
        )

    def add_evidence(self, point: Point, found: Evaluation) -> None:
        """Add the log-evidence of all facts to ``found``."""
        z = by_label(point.logits).index_select(0, self.position)
        slope_at = by_label(found.through_logits)
        if self.sign is not None:
            evidence = functional.logsigmoid(z * self.sign)
            found.values.index_add_(0, self.item, evidence)
            slope_at.index_add_(0, self.position, evidence.expm1_().mul_(self.sign), alpha=-1)
            return
        e = point.rates_of(self.annotator)
        log_a, log_b = self._log_cases(e)
        log_a = log_a + functional.logsigmoid(z)
        log_b = log_b + functional.logsigmoid(-z)
        evidence = torch.logaddexp(log_a, log_b)
        applies = torch.exp(log_a - evidence)
        found.values.index_add_(0, self.item, evidence)
        slope_at.index_add_(0, self.position, applies - torch.sigmoid(z))
        if len(self.judged):
            chance = applies[self.judged]
            right = torch.where(self.yes, chance, 1 - chance)
            of_right, of_wrong = _slopes_of_judgements(e)
            found.add_through_log_odds(self.annotator, right * of_right + (1 - right) * of_wrong)

    def shifted(self, point: Point) -> Tensor:
        """Return the logits (n, K) given the facts."""
        if self.sign is not None:
            shift = self.sign * _SETTLED
        else:
            log_a, log_b = self._log_cases(point.rates_of(self.annotator))
            shift = (log_a - log_b).clamp(-_SETTLED, _SETTLED)
        given_facts = point.logits.clone()
        by_label(given_facts)[self.position] += shift
        return given_facts

    def add_through_shift(self, point: Point, slope: Tensor, found: Evaluation) -> None:
        """Add the gradient of the namings by the error rates.

        The more mistakes an annotator makes, the less their judgements shift the logits.
        ``slope`` (n, K) is the gradient of the namings by the shifted logits.
        """
        if len(self.judged):
            of_right, of_wrong = _slopes_of_judgements(point.rates_of(self.annotator))
            of_shift = (of_right - of_wrong) * torch.where(self.yes, 1.0, -1.0)
            of_label = by_label(slope)[self.position[self.judged]]
            found.add_through_log_odds(self.annotator, of_shift * of_label)

    def _log_cases(self, e: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-probabilities (F,) of all facts if the label applies, and if not."""
        if not len(self.judged):
            return self.log_if_applies, self.log_if_not
        right, wrong = torch.log1p(-e / 2), torch.log(e / 2)
        if_applies = torch.where(self.yes, right, wrong)
        if_not = torch.where(self.yes, wrong, right)
        return (
            self.log_if_applies.index_add(0, self.judged, if_applies),
            self.log_if_not.index_add(0, self.judged, if_not),
        )


def _slopes_of_judgements(e: Tensor) -> tuple[Tensor, Tensor]:
    """Differentiate the log-probabilities of a right and a wrong judgement by the log-odds of e."""
    # These are log(1 - e / 2) and log(e / 2). The derivative of e by its log-odds is e (1 - e).
    return -e * (1 - e) / (2 - e), 1 - e


def lay_out_facts(
    answers: Answers,
    *,
    exclusion_rates: NDArray[np.float64] | None,
    mistakes: bool,
    dtype: torch.dtype,
    device: torch.device,
) -> Facts | None:
    """Collect the facts of some answers; return None if there are only namings.

    Without mistakes, judgements and complete namings are certain facts.
    """
    n_labels = answers.n_labels
    certain = _certain_facts(answers, mistakes=mistakes) + _exclusions(answers, exclusion_rates)
    judged = _judgements(answers) if mistakes else []
    parts: list[tuple[Any, ...]] = [*certain, *judged]
    keys = np.concatenate([answers.item[part[0]] * n_labels + part[1] for part in parts])
    if len(keys) == 0:
        return None
    position, fact = np.unique(keys, return_inverse=True)
    log_chances = np.zeros((2, len(position)))
    first = sum(len(answer) for answer, *_ in certain)
    for case, row in enumerate(log_chances):
        said = [np.broadcast_to(part[2 + case], len(part[0])) for part in certain]
        np.add.at(row, fact[:first], np.concatenate(said))
    refuse_contradictions(answers, position, log_chances, mistakes=mistakes)

    def floats(values: NDArray[np.float64]) -> Tensor:
        return torch.as_tensor(values, dtype=dtype, device=device)

    def integers(values: Any) -> Tensor:
        return torch.as_tensor(np.asarray(values, dtype=np.int64), device=device)

    answer = np.concatenate([np.empty(0, dtype=np.intp), *(part[0] for part in judged)])
    yes = np.repeat([said for *_, said in judged], [len(part[0]) for part in judged])
    of_pair = np.argsort(fact[first:], kind="stable")
    item, label = np.divmod(position, n_labels)
    return Facts(
        n_items=answers.n_items,
        item=integers(item),
        label=integers(label),
        log_if_applies=floats(log_chances[0]),
        log_if_not=floats(log_chances[1]),
        sign=None if len(answer) else _signs(log_chances, floats),
        judged=integers(fact[first:][of_pair]),
        yes=torch.as_tensor(yes[of_pair], dtype=torch.bool, device=device),
        annotator=integers(answers.annotator[answer[of_pair]]),
    )


def _signs(
    log_chances: NDArray[np.float64], floats: Callable[[NDArray[np.float64]], Tensor]
) -> Tensor | None:
    """Return 1 for labels that certainly apply and -1 for those that do not, or None."""
    certain = (log_chances == 0) & np.isneginf(log_chances[::-1])
    return floats(certain[0] * 2.0 - 1) if certain.any(axis=0).all() else None


def _judgements(answers: Answers) -> list[tuple[NDArray[np.intp], NDArray[np.intp], bool]]:
    """Return the answers and labels (f,) judged not to apply (False), and to apply (True)."""
    judging = np.isin(answers.question, ("asked", "ticked"))
    found = []
    for mask in ("absent", "relevant"):
        answer, label = marks_of(answers, mask)
        chosen = judging[answer]
        found.append((answer[chosen], label[chosen], mask == "relevant"))
    return found


def _certain_facts(answers: Answers, *, mistakes: bool) -> list[tuple[Any, ...]]:
    """Return certain facts: answers and labels (f,), and log-probabilities in both cases."""
    judging = np.isin(answers.question, ("asked", "ticked"))
    facts: list[tuple[Any, ...]] = []
    for mask, case in (("absent", _DOES_NOT), ("relevant", _APPLIES)):
        answer, label = marks_of(answers, mask)
        sure = ~(judging[answer] & mistakes)
        facts.append((answer[sure], label[sure], *case))
    if not mistakes:
        rows = np.flatnonzero(is_complete(answers) & (answers.all_apply != "skip"))
        named = answers.named[rows].toarray()
        for marks, case in ((named, _DOES_NOT), (on_offer(answers, rows) - named, _APPLIES)):
            row, label = np.nonzero(marks)
            facts.append((rows[row], label, *case))
    return facts


def _exclusions(
    answers: Answers, exclusion_rates: NDArray[np.float64] | None
) -> list[tuple[Any, ...]]:
    """Return the facts of exclusions, in the form of :func:`_certain_facts`.

    A label that was excluded does not apply. A label that a rule looked at and did not exclude is
    a fact, too: it is less likely if the label does not apply.
    """
    rows = np.flatnonzero(answers.question == "excluded")
    if not len(rows):
        return []
    if exclusion_rates is None:
        raise InputError(
            "the answers hold labels that a rule or a report excluded; give exclusion_rates: how"
            " often a label that does not apply is excluded"
        )
    excluded = answers.excluded[rows].toarray()
    row, label = np.nonzero(excluded)
    for which in np.flatnonzero(exclusion_rates[label] == 0)[:1]:
        raise InputError(
            f"label {name_of(answers, label[which])} of item {answers.item[rows[row[which]]]} was"
            f" excluded, but exclusion_rates[{label[which]}] is 0; give a rate above 0"
        )
    with np.errstate(divide="ignore"):
        of_excluded = (rows[row], label, -np.inf, np.log(exclusion_rates)[label])
        row, label = np.nonzero(on_offer(answers, rows) - excluded)
        return [of_excluded, (rows[row], label, 0.0, np.log1p(-exclusion_rates)[label])]
