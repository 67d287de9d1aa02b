"""Findings about what was asked, and how often labels apply."""

from __future__ import annotations

from collections.abc import Iterator

from complabel.asking import _choice
from complabel.asking._finding_context import AUDIT, FEW_MARKS, Context, num, some
from complabel.asking._inspection import ChoiceTest, Finding, Inspection, Severity

# Spreads of propensities that equal chances hardly ever give: with random judgements, and
# without, where labels that occur together look alike.
_UNEQUAL, _UNEQUAL_ALONE = 0.2, 0.5
_LARGE_ERROR = 0.1
_FEW_QUESTIONS = 4  # about a label


def frequencies(context: Context) -> Iterator[Finding]:
    """Find what cannot be known of how often labels apply."""
    seen, known = context.seen, context.seen.knowledge
    ask = (
        f"Ask {context.possible()} yes/no questions about random labels of random items, give the"
        " answers along with these, and look again."
    )
    if not context.possible():
        ask = (
            "Every label of every item is known, so that nothing is left to ask. If nobody chose"
            " what to look at, say so: the question is ticked, or has a probability."
        )
    elif seen.n_labels * _FEW_QUESTIONS > AUDIT:
        ask += (
            f" With {seen.n_labels:,} labels they tell how many apply to an item, and little of how"
            " often each does."
        )
    if known.known or not len(context.statements.kind):
        return
    bounds = (
        f" If all answers are right, from {known.at_least:,.2f} to {known.at_most:,.2f} labels"
        " apply to an item."
    )
    if "excluded" in seen.questions:
        yield Finding(
            "exclusion-rates-unknown",
            "warning",
            f"{num(seen.questions['excluded'], 'answer')} exclude labels, and nothing here says"
            " how often a label that does not apply is excluded. Exclusions alone cannot tell."
            f"{bounds}",
            f"{ask} Even 50 help much." if context.possible() > 50 else ask,
            context.ask(),
        )
    if context.names_labels:
        yield Finding(
            "choice-unchecked",
            "warning",
            "Choices may be biased, and nothing here can tell: a label that is named often may"
            f" come to mind easily, or apply rarely.{bounds}",
            ask,
            context.ask(),
        )
    if not context.names_labels and "excluded" not in seen.questions:
        yield Finding(
            "frequencies-unknown",
            "warning",
            f"Nothing here says how often labels apply: no question was drawn at random.{bounds}",
            ask,
            context.ask(),
        )


def not_random(context: Context) -> Iterator[Finding]:
    """Find judgements that nobody drew at random."""
    known = context.seen.knowledge
    if known.n_not_random:
        severity: Severity = "note" if known.known else "warning"
        yield Finding(
            "not-random",
            severity,
            f"{known.n_not_random:,} of {known.n_random + known.n_not_random:,} answers that"
            " judge labels have no probability: they were volunteered, or somebody or a machine"
            " chose the question. They do not count in how often labels apply.",
            "If their questions were drawn at random, give the chance of each in the column"
            " probability (all alike: the same number). If not, leave it empty.",
        )


def only_no(context: Context) -> Iterator[Finding]:
    """Find judgements that look like a choice."""
    seen = context.seen
    judged = sum(label.judged for label in seen.labels)
    chosen = "asked" in seen.questions and seen.knowledge.n_not_random
    if chosen and judged >= FEW_MARKS and not any(label.yes for label in seen.labels):
        yield Finding(
            "only-no",
            "warning",
            f"All {judged:,} judgements are no. If people picked labels that do not apply, the"
            " question was not yes or no.",
            "If they picked, set the column question to named; if a rule ruled labels out, to"
            " excluded. What was asked decides what an answer says.",
        )


def choice(context: Context) -> Iterator[Finding]:
    """Find a choice among labels that is not uniform."""
    seen = context.seen
    tests = {test.name: test for test in seen.tests}
    spread, alone = seen.knowledge.spread or 0.0, seen.knowledge.n_random == 0
    known, expected = tests.get(_choice.KNOWN), tests.get(_choice.EXPECTED)
    found = [test for test in (known,) if test is not None and test.p_value < _choice.LEVEL]
    if expected is not None and expected.p_value < _choice.LEVEL and spread >= _UNEQUAL:
        found.append(expected)
    by_menus = alone and spread >= _UNEQUAL_ALONE
    if found or by_menus:
        how = [_tested(test) for test in found]
        if spread >= _UNEQUAL:
            how.append(f"the standard deviation of log-propensities is about {spread:g}")
        yield Finding(
            "choice-not-uniform",
            "warning",
            f"Labels are not named with equal chances: {'; '.join(how)}.{_extremes(seen)}",
            "Fit with the selection likelihood, which finds propensities from the random answers,"
            " or match another method's scores to the frequencies. Ask yes/no questions from now"
            " on: they do not know the problem."
            if seen.knowledge.known
            else f"Ask {context.possible()} yes/no questions about random labels: with how often"
            " labels apply, the choice can be corrected.",
            context.ask() if alone else "",
        )
    depends = tests.get(_choice.DEPENDS)
    if depends is not None and depends.p_value < _choice.LEVEL:
        yield Finding(
            "choice-depends",
            "warning",
            "Which label is named depends on which others apply, beyond what each label is named"
            f" for itself ({num(len(depends.labels), 'pair')} of {depends.dof} tested, p ="
            f" {depends.p_value:.2g} after Holm's correction): {some(depends.labels)}.",
            "No method here knows such a choice. Ask yes/no questions, or small menus drawn at"
            " random, where people choose less.",
            context.ask(),
        )


def audit_size(context: Context) -> Iterator[Finding]:
    """Find random judgements that are too few."""
    known = context.seen.knowledge
    if known.cardinality is None or known.error is None:
        return
    if not known.n_random:
        yield Finding(
            "frequencies-from-menus",
            "warning",
            "How often labels apply is known from menus alone, by how often all labels of one"
            " apply. That is rare, so that a few mistakes change much: if one answer in ten is"
            " given at random, labels seem to apply several times as often.",
            f"Ask {context.possible()} yes/no questions about random labels of random items, and"
            " give the answers along with these.",
            context.ask(),
        )
        return
    relative = known.error / known.cardinality
    if relative <= _LARGE_ERROR:
        return
    more = context.possible(3 * known.n_random)
    yield Finding(
        "audit-too-small",
        "warning" if relative > 2 * _LARGE_ERROR else "note",
        f"How many labels apply to an item is known to ±{relative:.0%} only:"
        f" {known.cardinality:.2f} ± {known.error:.2f} (one standard error).",
        f"{more:,} more random yes/no questions would "
        f"{'about halve' if more == 3 * known.n_random else 'lessen'} the error.",
        context.ask(more),
    )


def _tested(test: ChoiceTest) -> str:
    """Say what came of a test."""
    p = "p < 0.0001" if test.p_value < 1e-4 else f"p = {test.p_value:.2g}"
    return f"{test.name}, chi-square {test.statistic:.0f} on {test.dof}, {p}"


def _extremes(seen: Inspection) -> str:
    """Name labels that come to mind most and least readily."""
    known = [(label.propensity, label.label) for label in seen.labels if label.propensity]
    if len(known) < 2:
        return ""
    ordered = sorted(known)
    (least, rarely), (most, often) = ordered[0], ordered[-1]
    return f" {often!r} is named {most / least:.1f} times as readily as {rarely!r}."
