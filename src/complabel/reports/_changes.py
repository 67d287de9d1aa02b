"""What changed in a machine's labels since an earlier month, as sentences and as rows."""

from __future__ import annotations

import numpy as np

from complabel._parameters import Array
from complabel._settings import setting
from complabel.frequencies import MachineAudit

CHANGED = ("frequency", "precision", "recall")
_MOST_NAMED = 3
_WHAT = {
    "": "nothing is known to have changed",
    "machine": "the machine changed",
    "items": "the items changed",
    "both": "the machine changed, and so did the items",
    "either": "the machine changed, or the items did; items that stand in both tables would tell",
}


def change_sentences(audit: MachineAudit, since: str) -> list[str]:
    """Say what changed since the month of a file; nothing if there was none."""
    changes = audit.changes
    if changes is None:
        return []
    parts = [f"Since {since}, {_WHAT[changes.what]}"]
    if changes.what:
        parts += _most_changed(audit)
    sentences = ["; ".join(parts)]
    if changes.n_named > changes.n_shared:
        sentences.append(
            f"{changes.n_named:,} names of items stand in both months; if they are the same items,"
            f" give {setting('same_items')}: these tell whether the machine changed"
        )
    if changes.n_shared:
        *same, of_all = (100 * changes.agreement).tolist()
        sentence = f"Of the {changes.n_shared:,} items in both months, the machine says the same"
        if of_all == of_all:
            least = int(np.nanargmin(same))
            sentence += f" about {of_all:.1f} % of the pairs, of {audit.label_names[least]} about"
            sentences.append(f"{sentence} {same[least]:.1f} %")
    return sentences


def _most_changed(audit: MachineAudit) -> list[str]:
    """Say which figures of labels changed most, beside their intervals."""
    assert audit.changes is not None
    clear_ones = []
    for name in CHANGED:
        value, low, high = audit.changes.differences[name][:-1].T
        clear = np.flatnonzero((low > 0) | (high < 0))
        clear_ones += [(abs(value[at]) / (high[at] - low[at]), name, at) for at in clear.tolist()]
    return [
        f"{audit.label_names[at]}: {name} {_points(audit.changes.differences[name][at])}"
        for _, name, at in sorted(clear_ones, reverse=True)[:_MOST_NAMED]
    ]


def change_rows(audit: MachineAudit) -> list[list[str]]:
    """Return a row for each label: by how many points its figures changed, with intervals."""
    assert audit.changes is not None
    of = [audit.changes.differences[name] for name in CHANGED]
    return [
        [label, *(_points(each[at]) for each in of)] for at, label in enumerate(audit.label_names)
    ]


def _points(difference: Array) -> str:
    if difference[0] != difference[0]:
        return "-"
    value, low, high = (f"{round(100 * each):+d}" for each in difference.tolist())
    return f"{value} ({low} to {high})"
