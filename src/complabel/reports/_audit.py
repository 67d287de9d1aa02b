"""How good a machine's labels are, as a page and as a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from complabel import __version__
from complabel.frequencies import MachineAudit
from complabel.reports._templates import get_template, top_of_scale

_MOST_NAMED = 4


def audit_headline(audit: MachineAudit) -> str:
    """Say in a sentence for how many labels the machine can be used, and which are bad."""
    n_labels, n_good = len(audit.label_names), int(audit.usable.sum())
    first = f"You can use its labels for {n_good:,} of {n_labels:,} labels"
    bad = np.flatnonzero(audit.unusable)
    if not len(bad):
        n_open = n_labels - n_good
        return f"{first}; of the other {n_open:,} too little is known yet" if n_open else first
    wrong = np.where(np.isnan(audit.precision.values), 0, 1 - audit.precision.values)[bad]
    worst = bad[np.argsort(-wrong, kind="stable")]
    named = [audit.label_names[label] for label in worst[:_MOST_NAMED]]
    if len(bad) > _MOST_NAMED:
        named.append(f"{len(bad) - _MOST_NAMED:,} more")
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return f"{first}; for {listed} it is too often wrong"


def audit_sentences(audit: MachineAudit, machine_cardinality: float) -> list[str]:
    """Say what is known of all labels together, and what more answers would give."""
    value, low, high = audit.cardinality
    sentences = [
        f"Labels per item: {value:.2f}, from {low:.2f} to {high:.2f}; the machine says"
        f" {machine_cardinality:.2f}"
    ]
    precision, recall = audit.precision.overall, audit.recall.overall
    sentences.append(
        f"Of 100 labels that the machine says, {_of_hundred(precision)} apply; of 100 that apply,"
        f" it says {_of_hundred(recall)}"
    )
    width = audit.frequencies.intervals[:, 1] - audit.frequencies.intervals[:, 0]
    widest = int(width.argmax())
    sentences.append(
        f"The least known frequency is that of {audit.label_names[widest]}: about"
        f" {audit.n_more[widest]:,} more answers about this label would halve its interval"
    )
    return sentences


def verdicts(audit: MachineAudit) -> list[str]:
    """Return a word for each label: use, check or ask more."""
    words = np.where(audit.usable, "use", np.where(audit.unusable, "do not use", "not known yet"))
    return [str(word) for word in words]


def _of_hundred(rate: Sequence[float]) -> str:
    value, low, high = (f"{100 * each:.0f}" for each in rate)
    return f"{value} ({low} to {high})"


def render_audit(audit: MachineAudit, *, notes: Sequence[str] = ()) -> str:
    """Render an audit of a machine as one HTML page without external files."""
    order = np.lexsort((-audit.frequencies.values, audit.good))
    highest = float(max(audit.frequencies.intervals.max(), np.nanmax(audit.machine_shares)))
    return get_template("audit.html.j2").render(
        audit=audit,
        headline=audit_headline(audit),
        sentences=audit_sentences(audit, float(np.nansum(audit.machine_shares))),
        verdicts=verdicts(audit),
        order=order.tolist(),
        top=top_of_scale([highest]),
        n_answers=int(audit.n_asked.sum()),
        n_asked=audit.n_asked.sum(axis=0).tolist(),
        notes=notes,
        complabel=__version__,
    )
