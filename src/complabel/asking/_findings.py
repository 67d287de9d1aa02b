"""All findings: assumptions that fail or cannot be checked, and what to do about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from complabel.asking import _findings_asked as asked
from complabel.asking import _findings_labels as of_labels
from complabel.asking import _findings_said as said
from complabel.asking._finding_context import Context
from complabel.asking._inspection import SEVERITIES, Finding

# Findings of the same severity are shown, and should be dealt with, in this order.
_CHECKS: tuple[Callable[[Context], Iterator[Finding]], ...] = (
    of_labels.nothing,
    said.contradictions,
    asked.only_no,
    asked.frequencies,
    asked.choice,
    said.agreement,
    said.features,
    asked.audit_size,
    of_labels.hierarchy,
    asked.not_random,
    of_labels.names,
    of_labels.labels,
    said.people,
    said.items,
)


def all_findings(context: Context) -> tuple[Finding, ...]:
    """Return all findings, the most severe first, then in the order of ``_CHECKS``."""
    found = [finding for check in _CHECKS for finding in check(context)]
    return tuple(sorted(found, key=lambda each: SEVERITIES.index(each.severity)))
