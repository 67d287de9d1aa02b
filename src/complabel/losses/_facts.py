r"""Facts: answers about single labels, and their probability.

Facts multiply the probabilities of a label's two cases::

    A = p P(facts | applies),    B = (1 - p) P(facts | does not apply)

The probability of the facts (their evidence) is A + B. Given the facts, the label applies with
probability A / (A + B). So facts shift the logit of p.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from complabel._parameters import AnyArray, Array
from complabel._questions import LISTING, RATES_OF_LISTS
from complabel.answers import BY_CHOICE, STATEMENT_KINDS, Answers, Statements, sure_statements
from complabel.errors import AnnotationError, InputError
from complabel.losses._evaluation import Evaluation, Judged, Point, Ragged, by_label, on_offer

# Log-odds of a label that a fact settles. They are finite, because 0 * inf would give nan.
_SETTLED = 1e30


@dataclass(frozen=True)
class Facts:
    """Facts about F pairs of an item and a label, and J judgements that may be mistakes."""

    # Judgements are apart, because their probability depends on the annotator's rates.

    n_items: int
    item: Tensor  # (F,), ascending
    label: Tensor  # (F,)
    log_if_applies: Tensor  # (F,), of facts that are certain or have a known rate
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

    def add_evidence(self, point: Point, evaluation: Evaluation) -> None:
        z = by_label(point.logits).index_select(0, self.position)
        slope_at = by_label(evaluation.through_logits)
        if self.sign is not None:
            evidence = functional.logsigmoid(z * self.sign)
            evaluation.values.index_add_(0, self.item, point.weighted(evidence, self.item))
            slope = point.weighted(evidence.expm1_().mul_(self.sign), self.item)
            slope_at.index_add_(0, self.position, slope, alpha=-1)
            return
        judged = self._judged_at(point)
        log_a, log_b = self._log_cases(judged)
        log_a = log_a + functional.logsigmoid(z)
        log_b = log_b + functional.logsigmoid(-z)
        evidence = torch.logaddexp(log_a, log_b)
        applies = torch.exp(log_a - evidence)
        evaluation.values.index_add_(0, self.item, point.weighted(evidence, self.item))
        slope = point.weighted(applies - torch.sigmoid(z), self.item)
        slope_at.index_add_(0, self.position, slope)
        if judged is not None and evaluation.through_log_odds is not None:
            chance, item = applies[self.judged], self.item[self.judged]
            both = point.weighted(chance, item), point.weighted(1 - chance, item)
            judged.add_slopes(evaluation.through_log_odds, *both)

    def shifted(self, point: Point) -> Tensor:
        if self.sign is not None:
            shift = self.sign * _SETTLED
        else:
            log_a, log_b = self._log_cases(self._judged_at(point))
            shift = (log_a - log_b).clamp(-_SETTLED, _SETTLED)
        given_facts = point.logits.clone()
        by_label(given_facts)[self.position] += shift
        return given_facts

    def add_through_shift(self, point: Point, slope: Tensor, evaluation: Evaluation) -> None:
        """Add the namings' gradient by rates; ``slope`` (n, K) is that by shifted logits."""
        # Mistakes make judgements shift the logits less.
        judged = self._judged_at(point)
        if judged is not None and evaluation.through_log_odds is not None:
            of_label = by_label(slope)[self.position[self.judged]]
            judged.add_slopes(evaluation.through_log_odds, of_label, -of_label)

    def _judged_at(self, point: Point) -> Judged | None:
        """Return the chances of judgements; None if there are none that may be mistakes."""
        if not len(self.judged) or point.mistakes is None:
            return None
        return point.mistakes.of_judgements(self.annotator, self.label[self.judged], self.yes)

    def _log_cases(self, judged: Judged | None) -> tuple[Tensor, Tensor]:
        if judged is None:
            return self.log_if_applies, self.log_if_not
        return (
            self.log_if_applies.index_add(0, self.judged, judged.log_if_applies),
            self.log_if_not.index_add(0, self.judged, judged.log_if_not),
        )


def lay_out_facts(
    answers: Answers,
    *,
    exclusion_rates: Array | None,
    exposure: Array | None,
    with_error_rates: bool,
    dtype: torch.dtype,
    device: torch.device,
) -> Facts | None:
    """Collect the facts of some answers; return None if there are only namings."""
    # Without error rates, judgements and complete namings are certain facts.
    statements = answers.statements()
    judging = with_error_rates & answers.judges
    complete = answers.exhausted & (answers.if_none != "skip") & (not with_error_rates)
    # The names of a complete naming are facts. All other names are choices, which are no facts.
    by_choice = np.isin(statements.kind, BY_CHOICE)
    certain = statements.only(
        np.where(by_choice, complete[statements.answer], ~judging[statements.answer])
    )
    judged = statements.only(~by_choice & judging[statements.answer])
    rates = {"excluded": exclusion_rates, "tagged": exposure}
    known, *logs = _both_cases(answers, certain, rates)
    pairs = np.concatenate([known, judged.pair])
    if len(pairs) == 0:
        return None
    position, fact = np.unique(pairs, return_inverse=True)
    of_known, of_judged = np.split(fact, [len(known)])
    log_chances = np.zeros((2, len(position)))
    for row, values in zip(log_chances, logs, strict=True):
        np.add.at(row, of_known, values)
    impossible = [position[np.isneginf(each)] for each in log_chances]
    _refuse_contradictions(answers, statements, impossible, with_error_rates=with_error_rates)

    def floats(values: Array) -> Tensor:
        return torch.as_tensor(values, dtype=dtype, device=device)

    def integers(values: Any) -> Tensor:
        return torch.as_tensor(np.asarray(values, dtype=np.int64), device=device)

    in_order = np.argsort(of_judged, kind="stable")
    item, label = np.divmod(position, answers.n_labels)
    settled = (log_chances == 0) & np.isneginf(log_chances[::-1])
    all_settled = not len(judged) and settled.any(axis=0).all()
    return Facts(
        n_items=answers.n_items,
        item=integers(item),
        label=integers(label),
        log_if_applies=floats(log_chances[0]),
        log_if_not=floats(log_chances[1]),
        sign=floats(settled[0] * 2.0 - 1) if all_settled else None,
        judged=integers(of_judged[in_order]),
        yes=torch.as_tensor(judged.applies[in_order], dtype=torch.bool, device=device),
        annotator=integers(answers.annotator[judged.answer[in_order]]),
    )


def _both_cases(
    answers: Answers, certain: Statements, rates: Mapping[str, Array | None]
) -> tuple[NDArray[np.int64], Array, Array]:
    """Return pairs of item and label, and log-probabilities of facts about them in both cases."""
    # A label that a list spares is a fact, too: it is less likely if the label may be listed.
    if_applies = np.where(certain.applies, 0.0, -np.inf)
    if_not = np.where(certain.applies, -np.inf, 0.0)
    pairs, logs = [certain.pair], [[if_applies], [if_not]]
    for word, said in LISTING.items():
        rows = np.flatnonzero(answers.question == word)
        if not len(rows):
            continue
        side, other = (logs[0], logs[1]) if said == "yes" else (logs[1], logs[0])
        listed = np.flatnonzero(certain.kind == STATEMENT_KINDS.index(word))
        chances = _checked(answers, certain.only(listed), rates[word], word)
        spares = on_offer(answers, rows) - getattr(answers, word)[rows].toarray()
        row, label = np.nonzero(spares)
        pairs.append(answers.item[rows[row]].astype(np.int64) * answers.n_labels + label)
        with np.errstate(divide="ignore"):
            side[0][listed] = np.log(chances)[certain.label[listed]]
            side.append(np.log1p(-chances)[label])
        other.append(np.zeros(len(label)))
    return np.concatenate(pairs), np.concatenate(logs[0]), np.concatenate(logs[1])


def _checked(answers: Answers, listed: Statements, rates: Array | None, word: str) -> Array:
    name = RATES_OF_LISTS[word]
    of_these = "applies" if LISTING[word] == "yes" else "does not apply"
    if rates is None:
        raise InputError(
            f"the answers hold labels that were {word}; give {name}: how often a label"
            f" that {of_these} is {word}",
            parameter=name,
        )
    for wrong in np.flatnonzero(rates[listed.label] == 0)[:1]:
        label = listed.label[wrong]
        raise InputError(
            f"label {_name_of(answers.label_names, label)} of item"
            f" {_name_of(answers.item_names, listed.item[wrong])} was {word}, but"
            f" {name}[{label}] is 0; give a rate above 0"
        )
    return rates


def _refuse_contradictions(
    answers: Answers,
    statements: Statements,
    impossible: Sequence[NDArray[np.int64]],
    *,
    with_error_rates: bool,
) -> None:
    """Refuse answers after which a label can neither apply nor not apply."""
    # ``impossible`` are pairs that cannot apply, and those that must: also by lists with a rate of
    # 1 that spared them.
    sure = statements.only(sure_statements(answers, statements, with_error_rates=with_error_rates))
    never, must = impossible
    denied = [
        pairs[np.isin(pairs, sure.pair[sure.applies == applies])]
        for pairs, applies in ((never, True), (must, False))
    ]
    wrong = np.unique(np.concatenate([sure.contradicted, *denied, np.intersect1d(never, must)]))
    if len(wrong) == 0:
        return
    item, label = divmod(int(wrong[0]), answers.n_labels)
    advice = ", or allow for mistakes: with an error rate above 0, or missed=auto,invented=auto"
    advice *= not with_error_rates
    raise AnnotationError(
        f"the answers about item {_name_of(answers.item_names, item)} contradict each other: some"
        f" say that label {_name_of(answers.label_names, label)} applies, others that it does not"
        f" (one of {len(wrong)} such places); correct the answers{advice}"
    )


def _name_of(names: Sequence[Any] | AnyArray | None, number: int) -> str:
    name = number if names is None else names[number]
    return repr(name) if isinstance(name, str) else str(name)
