"""Findings about labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from complabel.asking._finding_context import FEW_MARKS, FEW_YES, Context, cut, num, some
from complabel.asking._inspection import Finding, LabelSummary
from complabel.asking._similar_names import similar_names


def nothing(context: Context) -> Iterator[Finding]:
    """Report if no answer says anything about a label."""
    if not len(context.statements.kind):
        yield Finding(
            "no-answers",
            "problem",
            "No answer says anything about a label.",
            "Ask people questions first, then inspect the answers again.",
            context.ask(),
        )


def hierarchy(context: Context) -> Iterator[Finding]:
    """Report labels that always get the same marks, or are always excluded together."""
    seen = context.seen
    if seen.identical:
        groups = [" = ".join(cut(repr(name) for name in group)) for group in seen.identical]
        yield Finding(
            "identical-labels",
            "warning",
            f"{num(len(groups), 'group')} of labels with the same marks in all answers:"
            f" {some(groups)}. Chance does not explain this; a hierarchy, a rule or a copied column"
            " would.",
            "These answers cannot tell such labels apart. Ask about them one by one, or make them"
            " one label.",
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
            f"Some labels are always excluded with another one: {some(pairs)}. This is not chance,"
            " but a hierarchy or a rule.",
            "Probably one rule excludes several labels at once. The methods use a separate rate"
            " for each label, which is a simplification.",
        )


def names(context: Context) -> Iterator[Finding]:
    """Report names of labels that differ only in case, spaces or one letter."""
    seen = context.seen
    counts = {label.label: label.mentioned for label in seen.labels}
    pairs = similar_names(counts, misspelt=not context.labels_listed)
    if pairs:
        yield Finding(
            "similar-names",
            "warning",
            f"{num(len(pairs), 'pair')} of labels with nearly the same name: "
            + some([f"{a!r} ({counts[a]:,}) and {b!r} ({counts[b]:,})" for a, b in pairs])
            + " (in brackets: in how many answers). Each name counts as a label of its own.",
            "If they are one label, use one name in all answers.",
        )


def labels(context: Context) -> Iterator[Finding]:
    """Report labels that few or no answers mention, and a list of labels that nobody gave."""
    seen = context.seen
    never = [repr(label.label) for label in seen.labels if not label.mentioned]
    few = [label for label in seen.labels if 0 < label.mentioned < FEW_MARKS]
    rare = sorted(
        (label for label in seen.labels if _lacks_yes(label)), key=lambda label: label.relevant
    )
    if never and len(never) < seen.n_labels:
        yield Finding(
            "never-mentioned",
            "warning",
            f"{len(never):,} of {num(seen.n_labels, 'label')} are in no answer: {some(never)}.",
            "Nothing can be learned about them. Ask about them, or leave them out of the list.",
            context.ask(),
        )
    if rare:
        least, most = rare[0].relevant, rare[-1].relevant
        yield Finding(
            "few-yes",
            "warning",
            f"For {len(rare):,} of {num(seen.n_labels, 'label')}, fewer than {FEW_YES} answers say"
            f" that the label applies ({least if least == most else f'{least} to {most}'}):"
            f" {some([f'{label.label!r} ({label.relevant})' for label in rare])}.",
            "Hardly anything can be learned about where these labels apply. Ask more questions"
            " about these labels, merge them with other labels, or leave them out of the list.",
        )
    few = [label for label in few if label not in rare]
    if few:
        yield Finding(
            "few-answers",
            "warning",
            f"{len(few):,} of {num(seen.n_labels, 'label')} are in fewer than {FEW_MARKS} answers:"
            f" {some([f'{label.label!r} ({label.mentioned})' for label in few])}.",
            "Not much can be learned about these labels. Ask more questions about these labels,"
            " merge them with other labels, or leave them out of the list.",
        )
    about_all = ~np.isin(context.answers.question, ("asked",)) & (
        np.diff(context.answers.offered.indptr) == 0
    )
    if not context.labels_listed and about_all.any():
        yield Finding(
            "labels-not-listed",
            "warning",
            f"{num(int(about_all.sum()), 'answer')} are about all labels, but only the"
            f" {seen.n_labels:,} that the answers mention are known. The likelihood depends on the"
            " number of labels.",
            "Give all labels in a file, one on each line.",
            context.command("inspect {} --label-names labels.txt"),
        )


def _lacks_yes(label: LabelSummary) -> bool:
    """Return whether nearly all that is known of a label are judgements, and few of them "yes"."""
    return bool(
        label.judged and label.named + label.excluded < FEW_MARKS and label.relevant < FEW_YES
    )
