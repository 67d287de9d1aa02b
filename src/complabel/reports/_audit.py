"""How good a machine's labels are, as a page and as sentences; and other machines beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from complabel import __version__
from complabel._parameters import Array
from complabel.frequencies import MachineAudit
from complabel.reports._changes import CHANGED, change_rows, change_sentences
from complabel.reports._templates import get_template, top_of_scale

_MOST_NAMED = 4
Agreement = tuple[Array, Array]


def audit_headline(audit: MachineAudit) -> str:
    """Say in a sentence for how many labels the machine can be used, and what is wrong with others.

    A bad label is named for its wrong yes or for what is missed, whichever is the greater part.
    """
    n_labels, n_good, bad = len(audit.label_names), int(audit.usable.sum()), audit.unusable
    parts = [f"You can use the machine for {n_good:,} of {n_labels:,} labels"]
    if n_open := n_labels - n_good - int(bad.sum()):
        parts.append(f"of {'the other ' * (not bad.any())}{n_open:,} too little is known yet")
    wrong, missed = 1 - np.nan_to_num(audit.precision.values, nan=1), audit.missed.values
    missed = np.nan_to_num(missed)
    words = ("of its yes are wrong", "that apply are missed")
    for share, of, weight, word in (
        (wrong, bad & (wrong >= missed), np.nan_to_num(audit.machine_shares), words[0]),
        (missed, bad & (wrong < missed), audit.frequencies.values, words[1]),
    ):
        if of.any():
            worst = np.flatnonzero(of)[np.argsort(-share[of], kind="stable")]
            mean = (share * weight)[of].sum() / max(weight[of].sum(), 1e-12)
            listed = _listed([audit.label_names[label] for label in worst])
            parts.append(f"for {listed}, {round(10 * mean) or 'fewer than 1'} in 10 {word}")
    return "; ".join(parts)


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - _MOST_NAMED:,} more"] * (len(names) > _MOST_NAMED)
    *first, last = [*names[:_MOST_NAMED], *more]
    return f"{', '.join(first)} and {last}" if first else last


def audit_sentences(
    audit: MachineAudit,
    machine: Array,
    n_unsure: int = 0,
    agreements: Mapping[str, Agreement] = MappingProxyType({}),
    others: Mapping[str, MachineAudit] = MappingProxyType({}),
    since: str = "",
) -> list[str]:
    """Say what is known of all labels together, and what more answers would give.

    ``machine`` is what the machine says of all pairs, (n_items, n_labels).
    """
    value, low, high = audit.cardinality
    width = audit.frequencies.intervals[:, 1] - audit.frequencies.intervals[:, 0]
    widest = int(width.argmax())
    sentences = [
        *change_sentences(audit, since),
        f"Labels per item: {value:.2f}, from {low:.2f} to {high:.2f}; the machine says"
        f" {np.nansum(audit.machine_shares):.2f}",
        f"Of 100 labels that the machine says, {_of_hundred(audit.precision.overall)} apply; of 100"
        f" that apply, it says {_of_hundred(audit.recall.overall)}",
        f"About {audit.n_more[widest]:,} more answers about {audit.label_names[widest]} would halve"
        " the widest interval",
    ]
    if constant := audit.about_nothing():
        sentences.append(constant)
    nothing = np.isnan(machine)
    if nothing.any():
        n_items = int(nothing.all(axis=1).sum())
        sentences.append(
            f"The machine says nothing about {nothing.sum():,} of {nothing.size:,} pairs of an item"
            f" and a label, among them all labels of {n_items:,} items: it refused, failed, was"
            " unsure or was not asked"
        )
    if n_unsure:
        sentences.append(
            f"People were unsure {n_unsure:,} times; how often they are where a label applies, and"
            " where it does not, is estimated"
        )
    for name, each in {"": audit, **others}.items():
        if each.too_sure is not None:
            n_wrong, n_sure, expected = each.too_sure
            sentences.append(
                f"{name or 'The machine'} is too sure: of its scores below .05 and above .95,"
                f" people contradict {n_wrong:,} of {n_sure:,}; by the scores it were"
                f" {expected:.1f}"
            )
    for name, (same, kappa) in agreements.items():
        other = others[name]
        shares = f"of 100 labels that it says, {_of_hundred(other.precision.overall)} apply; of"
        shares += f" 100 that apply, it says {_of_hundred(other.recall.overall)}"
        sentences.append(
            f"{name} says the same about {100 * same[-1]:.1f} % of the pairs (kappa"
            f" {kappa[-1]:.2f}); {shares}"
        )
    return sentences


def verdicts(audit: MachineAudit) -> list[str]:
    """Return a word for each label: use, check or ask more."""
    words = np.where(audit.usable, "use", np.where(audit.unusable, "do not use", "ask more"))
    return [str(word) for word in words]


def _of_hundred(rate: Sequence[float]) -> str:
    value, low, high = (f"{100 * each:.0f}" for each in rate)
    return f"{value} ({low} to {high})"


def agreement(first: Array, second: Array) -> Agreement:
    """Return how often two machines say the same, and Cohen's kappa, (K + 1,); the last: all.

    Only pairs count of which both say something, yes (.5 and more) or no.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    yes = [(machine >= 0.5) & both for machine in (first, second)]
    counts = np.stack([both, *yes, yes[0] & yes[1]]).sum(axis=1)
    n, a, b, ab = np.concatenate([counts, counts.sum(axis=1, keepdims=True)], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        same = (n - a - b + 2 * ab) / n
        by_chance = (a * b + (n - a) * (n - b)) / n**2
        return same, (same - by_chance) / (1 - by_chance)


def render_audit(
    audit: MachineAudit,
    sentences: Sequence[str],
    *,
    agreements: Mapping[str, Agreement] = MappingProxyType({}),
    others: Mapping[str, MachineAudit] = MappingProxyType({}),
    since: str = "",
) -> str:
    """Render an audit of a machine as one HTML page without external files.

    ``agreements`` are those with other machines, by their names; ``others`` are audits of some of
    these. ``since`` names the month before, if there was one.
    """
    order = np.lexsort((-audit.frequencies.values, audit.good))
    highest = float(max(audit.frequencies.intervals.max(), np.nanmax(audit.machine_shares)))
    return get_template("audit.html.j2").render(
        audit=audit,
        headline=audit_headline(audit),
        sentences=sentences,
        verdicts=verdicts(audit),
        order=order.tolist(),
        top=top_of_scale([highest]),
        n_answers=int(audit.n_asked.sum()),
        n_asked=audit.n_asked.sum(axis=0).tolist(),
        agreements=agreements,
        others=others,
        since=since,
        changed=CHANGED,
        changes=[] if audit.changes is None else change_rows(audit),
        complabel=__version__,
    )
