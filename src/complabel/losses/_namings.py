r"""The probabilities of namings given the facts, with their gradients.

If an annotator chooses freely among the labels O on offer, label j is named with probability ::

    (1 - p_j) * integral over t in [0, 1] of the product over k in O, k != j, of (p_k + (1 - p_k) t)

given the facts. The same answer can arise in two other ways: all labels on offer apply, and the
annotator picks any; or the answer is a mistake at random. The probabilities of these ways are
added. Annotators who miss and invent labels choose among those that they perceive, and p_k is the
probability that they perceive label k.

A label that applies is named with the same probability, if p and 1 - p are exchanged. So labels
that somebody names because they apply are laid out as the mirror image of answers that name labels
that do not, and their logits have the other sign.

Namings of equal shape are laid out in one group, so that each group needs only a few array
operations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import sparse, special
from torch import Tensor
from torch.nn import functional

from complabel._parameters import AnyArray, Array, Bools, Ints
from complabel.answers import Answers, mirrored
from complabel.losses._evaluation import (
    Evaluation,
    Mistakes,
    Perceived,
    Point,
    Ragged,
    by_label,
    on_offer,
)
from complabel.losses._selection_kernel import Namings, log_likelihood_and_gradient


def pick_rows(values: Tensor, rows: Tensor) -> Tensor:
    """Pick rows (b, L) of a label-major matrix; the result is label-major, too."""
    return values.t().index_select(1, rows).t()


@dataclass(frozen=True)
class Cells:
    """The places of a group's b rows of L labels among all logits (n, K)."""

    item: Tensor | None  # (b,), ascending; None if the rows are all n items in order
    labels: Tensor | None  # (b, L); None if each row holds all K labels

    def of_items(self, values: Tensor) -> Tensor:
        if self.item is None:
            return values
        if self.labels is None:
            return pick_rows(values, self.item)
        return values[self.item.unsqueeze(1), self.labels]

    def of_labels(self, values: Tensor) -> Tensor:
        """Pick (b, L) or (K,) from values of each label (K,), or of each item and label (n, K)."""
        if values.ndim == 2:
            return self.of_items(values)
        return values if self.labels is None else values[self.labels]

    def add_to_items(self, values: Tensor, added: Tensor) -> None:
        if self.item is None:
            values += added
        elif self.labels is None:
            values.t().index_add_(1, self.item, added.t())
        else:
            place = self.labels * values.shape[0] + self.item.unsqueeze(1)
            by_label(values).index_add_(0, place.flatten(), added.flatten())

    def add_values(self, values: Tensor, added: Tensor) -> None:
        if self.item is None:
            values += added
        else:
            values.index_add_(0, self.item, added)

    def add_to_labels(self, values: Tensor, added: Tensor) -> None:
        """Add values (b, L) to those of each label (K,), or of each item and label (n, K)."""
        if values.ndim == 2:
            self.add_to_items(values, added)
        elif self.labels is None:
            values += added.sum(dim=0)
        else:
            values.index_add_(0, self.labels.flatten(), added.flatten())


@dataclass(frozen=True)
class Group:
    """Namings of one shape: b rows of L labels, which include the labels on offer."""

    n_items: int
    cells: Cells
    namings: Namings  # (b, L)
    offered: Tensor  # (b, L)
    annotator: Tensor  # (b,), -1 where unknown
    log_possible: Tensor  # (b,): log of the number of answers that the question allows
    # If all labels on offer apply, the question is skipped, or any label is picked. (b,), bool;
    # None if True for no row.
    skipped: Tensor | None = None
    picked: Tensor | None = None
    complete: bool = False  # fewer are named than asked for: these are all that do not apply
    mirrored: bool = False  # labels that apply are named: logits have the other sign

    @cached_property
    def _by_item(self) -> Ragged | None:
        """Where the rows of each item are; None if each item has one row, in order."""
        item = self.cells.item
        return None if item is None else Ragged.of(item, self.n_items)

    def of_rows(self, rows: Tensor) -> Group | None:
        place, item = (rows, None) if self._by_item is None else self._by_item.of_rows(rows)
        if not len(place):
            return None
        namings, labels = self.namings, self.cells.labels
        return replace(
            self,
            n_items=len(rows),
            cells=Cells(item, None if labels is None else labels[place]),
            namings=replace(
                namings,
                named=pick_rows(namings.named, place),
                settled=pick_rows(namings.settled, place),
            ),
            offered=pick_rows(self.offered, place),
            annotator=self.annotator[place],
            log_possible=self.log_possible[place],
            skipped=None if self.skipped is None else self.skipped[place],
            picked=None if self.picked is None else self.picked[place],
        )


@dataclass(frozen=True)
class _Chances:
    """Log-probabilities of a group's rows (b,), and their gradients (b, L)."""

    values: Tensor
    through_logits: Tensor
    through_log_w: Tensor | None  # by log-propensities; None if there are none

    def or_else(
        self, log_chance: Tensor, through_logits: Tensor | None = None
    ) -> tuple[_Chances, Tensor]:
        """Add another way to the same answer, with its gradient (b, L); return its share, too."""
        values = torch.logaddexp(self.values, log_chance)
        share = torch.exp(log_chance - values)
        kept = (1 - share).unsqueeze(1)
        slope, of_w = self.through_logits * kept, self.through_log_w
        if through_logits is not None:
            slope = slope + share.unsqueeze(1) * through_logits
        return _Chances(values, slope, None if of_w is None else of_w * kept), share


def add_namings(
    group: Group, point: Point, given_facts: Tensor, evaluation: Evaluation, slope: Tensor
) -> None:
    """Add a group's values to ``evaluation``, and the gradient by ``given_facts`` to ``slope``."""
    seen = _Seen.by(group, point, group.cells.of_items(given_facts))
    chances = _of_choice(group, seen.logits, point.log_propensities)
    if point.mistakes is not None and point.mistakes.are_at_random:
        e = point.error_rates_of(group.annotator)
        at_random = torch.log(e) - group.log_possible
        right = _Chances(
            torch.log1p(-e) + chances.values, chances.through_logits, chances.through_log_w
        )
        chances, mistake = right.or_else(at_random)
        through_rates = point.weighted(mistake - e, group.cells.item)
        evaluation.add_through_error_rates(group.annotator, through_rates)
    item = group.cells.item
    group.cells.add_values(evaluation.values, point.weighted(chances.values, item))
    through = point.weighted(chances.through_logits, item)
    group.cells.add_to_items(slope, seen.back(through, evaluation))
    if evaluation.through_log_propensities is not None and chances.through_log_w is not None:
        through = point.weighted(chances.through_log_w, item)
        group.cells.add_to_labels(evaluation.through_log_propensities, through)


def add_skips(group: Group, point: Point, evaluation: Evaluation) -> None:
    """Divide by the probability, without the facts, that a question is not skipped."""
    # It is skipped if all labels on offer apply, except by mistake.
    if group.skipped is None:
        return
    e = point.error_rates_of(group.annotator)
    seen = _Seen.by(group, point, group.cells.of_items(point.logits))
    log_all, through_all = _log_all_apply(group, seen.logits)
    # (1 - P(all apply)) + e P(all apply), in a form that is precise for P(all apply) near 1.
    answered = torch.where(group.skipped, e * log_all.exp() - torch.expm1(log_all), 1.0)
    odds = torch.where(group.skipped, (1 - e) * log_all.exp() / answered, 0.0)
    item = group.cells.item
    group.cells.add_values(evaluation.values, point.weighted(-answered.log(), item))
    odds = point.weighted(odds, item)
    through = seen.back(odds.unsqueeze(1) * through_all, evaluation)
    group.cells.add_to_items(evaluation.through_logits, through)
    evaluation.add_through_error_rates(group.annotator, -odds * e)


@dataclass(frozen=True)
class _Seen:
    """The logits (b, L) by which a group's annotators choose: of the labels that they perceive.

    If they name labels that apply, these are the logits that a label does *not* apply.
    """

    group: Group
    logits: Tensor
    mistakes: Mistakes | None = None
    perceived: Perceived | None = None  # None if they perceive labels as they are

    @classmethod
    def by(cls, group: Group, point: Point, z: Tensor) -> _Seen:
        if point.mistakes is None or point.mistakes.are_at_random:
            return cls(group, -z if group.mirrored else z)
        perceived = point.mistakes.perceived(z, group.annotator, group.cells.labels)
        logits = -perceived.logits if group.mirrored else perceived.logits
        return cls(group, logits, point.mistakes, perceived)

    def back(self, slope: Tensor, evaluation: Evaluation) -> Tensor:
        """Turn a gradient (b, L) by these logits into that by the true ones; add that by rates."""
        if self.group.mirrored:
            slope = -slope
        if self.perceived is None:
            return slope
        if self.mistakes is not None and evaluation.through_log_odds is not None:
            self.mistakes.add_of_perceived(
                evaluation.through_log_odds,
                self.group.annotator,
                self.group.cells.labels,
                (slope * self.perceived.by_missed, slope * self.perceived.by_invented),
            )
        return slope * self.perceived.by_logits


def _of_choice(group: Group, z: Tensor, log_propensities: Tensor | None) -> _Chances:
    namings = group.namings
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
    log_all = (functional.logsigmoid(z) * group.offered).sum(dim=1)
    return log_all, torch.sigmoid(-z) * group.offered


def lay_out_namings(
    answers: Answers, *, with_error_rates: bool, dtype: torch.dtype, device: torch.device
) -> list[Group]:
    """Collect the namings of some answers in groups."""
    where: Any = {"with_error_rates": with_error_rates, "dtype": dtype, "device": device}
    groups = _groups_of(answers, **where)
    positive = answers.only(answers.question == "positive")
    return groups + [
        replace(each, mirrored=True) for each in _groups_of(mirrored(positive), **where)
    ]


def _groups_of(
    answers: Answers, *, with_error_rates: bool, dtype: torch.dtype, device: torch.device
) -> list[Group]:
    """Collect the namings of labels that do not apply."""
    # Without error rates, all namings of one label each about the same item from the same menu are
    # one row of a group. Complete namings are then facts, and not in a group.
    kept, complete = answers.question == "named", answers.exhausted
    if not with_error_rates:
        # Keep complete namings that are skipped if all labels apply: that there is an answer
        # tells something.
        kept = kept & (~complete | (answers.all_apply == "skip"))
    groups: list[Group] = []
    for kind in (False, True):
        rows = np.flatnonzero(kept & (complete == kind))
        named, first, place = answers.named[rows], np.arange(len(rows)), np.arange(len(rows))
        if not (with_error_rates or kind or (np.diff(answers.item[rows]) > 0).all()):
            named, first, place = _merged(answers, rows)
        # If all labels on offer apply, a merged naming is skipped if one of its annotators would
        # skip the question, and picked only if all of them would pick any label.
        skips, picks = (answers.all_apply[rows] == word for word in ("skip", "pick"))
        skipped = np.bincount(place, weights=skips) > 0
        picked = np.bincount(place, weights=~picks) == 0
        rows = rows[first]
        repeated = named.sum(axis=1) > answers.asked_for[rows]
        widths = _widths(np.diff(answers.offered.indptr)[rows], answers.n_labels)
        for width, again in np.unique(np.stack([widths, repeated]), axis=1).T:
            alike = np.flatnonzero((widths == width) & (repeated == again))
            group = _group(answers, rows[alike], named[alike], int(width), dtype, device)
            groups.append(
                replace(
                    group,
                    namings=replace(group.namings, repeated=bool(again)),
                    skipped=_if_any(skipped[alike], device),
                    picked=_if_any(picked[alike], device),
                    complete=kind,
                )
            )
    return groups


def _merged(answers: Answers, rows: Ints) -> tuple[Any, Ints, Ints]:
    """Merge namings of one label each about the same item from the same menu."""
    # Returns how often labels were named (b, K), first rows (b,), and each row's merged naming.
    # Hash each menu as a sum of random numbers: equal menus have equal sums, others differ.
    weights = np.random.default_rng(0).integers(2**40, size=answers.n_labels)
    menu = np.asarray(answers.offered[rows].astype(np.int64) @ weights)
    alone = answers.asked_for[rows] > 1  # questions for several labels are not merged
    menu = np.where(alone, -1 - np.arange(len(rows)), menu)
    pairs = np.stack([answers.item[rows], menu])
    _, first, place = np.unique(pairs, axis=1, return_index=True, return_inverse=True)
    ones, columns = np.ones(len(rows)), np.arange(len(rows))
    adding = sparse.csr_array((ones, (place.ravel(), columns)), shape=(len(first), len(rows)))
    return sparse.csr_array(adding @ answers.named[rows].astype(np.float64)), first, place.ravel()


def _widths(sizes: Ints, n_labels: int) -> Ints:
    """Return how many labels each row needs in its group: a power of two, or K."""
    widths = 2 ** np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.intp)
    return np.where((sizes == 0) | (2 * widths > n_labels), n_labels, widths)


def _group(
    answers: Answers, rows: Ints, named: Any, width: int, dtype: torch.dtype, device: torch.device
) -> Group:
    """Lay out namings in rows of ``width`` labels; ``named`` (b, K) is sparse."""
    labels = None
    if width == answers.n_labels:
        marks: Any = named.toarray()
        menu: Any = on_offer(answers, rows)
    else:
        listed = answers.offered[rows]
        row, label = listed.nonzero()
        place = np.arange(len(row)) - listed.indptr[row]
        labels = np.zeros((len(rows), width), dtype=np.int64)
        labels[row, place] = label
        marks, menu = np.zeros((2, len(rows), width))
        marks[row, place] = np.asarray(named[row, label]).ravel()
        menu[row, place] = 1

    def tensor(values: Any, kind: torch.dtype = dtype) -> Tensor:
        return torch.as_tensor(values, dtype=kind, device=device)

    def label_major(values: AnyArray) -> Tensor:
        return tensor(np.ascontiguousarray(values.T)).t()

    item = answers.item[rows]
    whole = len(item) == answers.n_items and bool((np.diff(item) == 1).all())
    log_possible = _log_possible(
        menu.sum(axis=1), answers.asked_for[rows], answers.all_apply[rows] == "answer"
    )
    return Group(
        n_items=answers.n_items,
        cells=Cells(
            item=tensor(item, torch.int64) if labels is not None or not whole else None,
            labels=None if labels is None else tensor(labels, torch.int64),
        ),
        namings=Namings(label_major(marks), settled=label_major((marks > 0) | (menu == 0))),
        offered=label_major(menu),
        annotator=tensor(answers.annotator[rows], torch.int64),
        log_possible=tensor(log_possible),
    )


def _if_any(which: Bools, device: torch.device) -> Tensor | None:
    return torch.as_tensor(which, device=device) if which.any() else None


def _log_possible(sizes: Array, asked_for: Ints, none_possible: Bools) -> Array:
    """Return the log of the number of possible answers: all sets of up to m labels on offer."""
    # The empty set counts if "all of these apply" is an answer.
    possible = none_possible.astype(np.float64)
    for s in range(1, int(asked_for.max(initial=0)) + 1):
        possible += np.where(s <= asked_for, special.comb(sizes, s), 0.0)
    return np.asarray(np.log(possible))
