"""Findings about labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from complabel.asking._finding_context import FEW_MARKS, Context, cut, num, some
from complabel.asking._inspection import Finding


def nothing(context: Context) -> Iterator[Finding]:
    """Find answers that say nothing."""
    if not len(context.statements.kind):
        yield Finding(
            "no-answers",
            "problem",
            "No answer says anything of a label.",
            "Ask first.",
            context.ask(),
        )


def hierarchy(context: Context) -> Iterator[Finding]:
    """Find labels that go together."""
    seen = context.seen
    if seen.identical:
        groups = [" = ".join(cut(repr(name) for name in group)) for group in seen.identical]
        yield Finding(
            "identical-labels",
            "warning",
            f"{num(len(groups), 'group')} of labels that all answers treat alike, as chance would"
            f" not: {some(groups)}. A hierarchy or a rule did, or a column was copied.",
            "Nothing in these answers can tell such labels apart. Ask about them one by one, or"
            " make them one label.",
            context.ask(),
        )
    if seen.nested:
        nested = set(seen.nested)
        pairs = [
            f"{a!r} together with {b!r}"
            for a, b in sorted((a, b) for a, b in nested if (b, a) in nested and a < b)
        ]
        pairs += [f"{a!r} wherever {b!r} is" for a, b in seen.nested if (b, a) not in nested]
        yield Finding(
            "nested-exclusions",
            "note",
            f"Some labels are always excluded with another one: {some(pairs)}. A hierarchy, not"
            " chance.",
            "Exclusions of one rule count as one: rates for each label alone are a simplification.",
        )


def labels(context: Context) -> Iterator[Finding]:
    """Find labels about which there is little or nothing."""
    seen = context.seen
    never = [repr(label.label) for label in seen.labels if not label.mentioned]
    few = [repr(label.label) for label in seen.labels if 0 < label.mentioned < FEW_MARKS]
    if never and len(never) < seen.n_labels:
        yield Finding(
            "never-mentioned",
            "warning",
            f"{len(never):,} of {num(seen.n_labels, 'label')} are in no answer: {some(never)}.",
            "Nothing can be learned of them. Ask about them, or leave them out of the list.",
            context.ask(),
        )
    if few:
        yield Finding(
            "few-answers",
            "warning",
            f"{len(few):,} of {num(seen.n_labels, 'label')} are in fewer than {FEW_MARKS} answers:"
            f" {some(few)}.",
            "Expect little of them. Ask more about them, put them together with others, or leave"
            " them out of the list.",
        )
    about_all = ~np.isin(context.answers.question, ("asked",)) & (
        np.diff(context.answers.offered.indptr) == 0
    )
    if not context.labels_listed and about_all.any():
        yield Finding(
            "labels-not-listed",
            "warning",
            f"{num(int(about_all.sum()), 'answer')} are about all labels, and the list of labels"
            f" is only the {seen.n_labels:,} that the answers mention. How many there are enters"
            " the likelihood.",
            "Give all labels, one on each line of a file.",
            context.command("inspect {} --label-names labels.txt"),
        )
