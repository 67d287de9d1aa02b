"""Findings about the questions, and about how often labels apply."""

from __future__ import annotations

import math
from collections.abc import Iterator

from complabel.asking import _choice
from complabel.asking._finding_context import AUDIT, Context, num, some
from complabel.asking._inspection import DEPENDS, ChoiceTest, Finding, Inspection, Severity

# Estimated standard deviations of log-propensities that equal chances hardly ever give: with
# random judgements, and from menus alone. Menus alone need more, because correlated labels can
# look like unequal propensities there.
_UNEQUAL, _UNEQUAL_ALONE = 0.25, 0.52
# A label that is named at least this many times as readily where another one applies, or as seldom.
_DEPENDS = 1.25
_LARGE_ERROR = 0.1  # relative standard error of the mean number of labels
_MANY_JUDGED = 100  # if 5 of 100 judgements are yes, fewer may all be no by chance
_FEW_QUESTIONS = 4  # per label; fewer say little about each label's frequency


def frequencies(context: Context) -> Iterator[Finding]:
    """Report if the answers do not tell how often labels apply."""
    seen, known = context.seen, context.seen.knowledge
    ask = (
        f"Ask {context.possible()} yes/no questions about random labels of random items, add the"
        " answers to these, and inspect again."
    )
    if not context.possible():
        ask = (
            "Every label of every item is known, so nothing is left to ask. If nobody chose which"
            " labels to judge, say so: set the column question to ticked, or fill in probability."
        )
    elif seen.n_labels * _FEW_QUESTIONS > AUDIT:
        ask += (
            f" With {seen.n_labels:,} labels they tell how many labels apply to an item, but little"
            " about how often each label applies."
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
            f"{ask} Even 50 help a lot." if context.possible() > 50 else ask,
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
    """Report judgements whose questions were not drawn at random."""
    known = context.seen.knowledge
    if known.n_not_random:
        severity: Severity = "note" if known.known else "warning"
        yield Finding(
            "not-random",
            severity,
            f"{known.n_not_random:,} of {known.n_random + known.n_not_random:,} answers that"
            " judge labels have no probability: they were volunteered, or somebody or a machine"
            " chose the question. They are not used to estimate how often labels apply.",
            "If their questions were drawn at random, fill in the chance of each in the column"
            " probability (the same number if all were equally likely). If not, leave it empty.",
        )


def only_no(context: Context) -> Iterator[Finding]:
    """Report judgements that are all "no", as if people had picked labels that do not apply."""
    seen = context.seen
    judged = sum(label.judged for label in seen.labels)
    chosen = "asked" in seen.questions and seen.knowledge.n_not_random
    if chosen and judged >= _MANY_JUDGED and not any(label.yes for label in seen.labels):
        yield Finding(
            "only-no",
            "warning",
            f"All {judged:,} judgements are no. If people picked labels that do not apply, the"
            " question was not yes or no.",
            "If they picked, set the column question to named; if a rule ruled labels out, to"
            " excluded. What was asked decides what an answer says.",
        )


def choice(context: Context) -> Iterator[Finding]:
    """Report that labels are not named with equal chances, or that the choice depends on others."""
    seen = context.seen
    tests = {test.name: test for test in seen.tests}
    spread, alone = seen.knowledge.spread or 0.0, seen.knowledge.n_random == 0
    known, expected = tests.get(_choice.KNOWN), tests.get(_choice.EXPECTED)
    if known is not None and expected is not None and 2 * known.n_answers >= expected.n_answers:
        expected = None  # the other test needs no assumption about label correlation
    found = [
        test
        for test, effect in ((known, known and known.effect), (expected, spread))
        if test is not None and test.p_value < _choice.LEVEL and (effect or 0.0) >= _UNEQUAL
    ]
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
            " on: they do not have this problem."
            if seen.knowledge.known
            else f"Ask {context.possible()} yes/no questions about random labels. Once it is known"
            " how often labels apply, the choice can be corrected.",
            context.ask() if alone else "",
        )
    depends = tests.get(DEPENDS)
    if depends is not None and (depends.effect or 0.0) >= math.log(_DEPENDS):
        yield Finding(
            "choice-depends",
            "warning",
            "Which label is named depends on which other labels apply, and not only on the label"
            f" itself ({num(len(depends.labels), 'pair')} of {depends.dof} tested, p ="
            f" {depends.p_value:.2g} after Holm's correction): {some(depends.labels)}.",
            "No method here models such a choice. Ask yes/no questions, or offer small menus drawn"
            " at random, where people choose less.",
            context.ask(),
        )


def audit_size(context: Context) -> Iterator[Finding]:
    """Report if the random judgements are too few."""
    known = context.seen.knowledge
    if known.cardinality is None or known.error is None:
        return
    if not known.n_random:
        yield Finding(
            "frequencies-from-menus",
            "warning",
            "How often labels apply is known only from menus: from how often all labels of a menu"
            " apply. This is rare, so a few mistakes change the estimate a lot. If one answer in"
            " ten is given at random, labels seem to apply several times as often.",
            f"Ask {context.possible()} yes/no questions about random labels of random items, and"
            " add the answers to these.",
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
        f"How many labels apply to an item is known only to ±{relative:.0%}:"
        f" {known.cardinality:.2f} ± {known.error:.2f} (one standard error).",
        f"{more:,} more random yes/no questions would "
        f"{'about halve' if more == 3 * known.n_random else 'reduce'} the error.",
        context.ask(more),
    )


def _tested(test: ChoiceTest) -> str:
    """Write the result of a test."""
    p = "p < 0.0001" if test.p_value < 1e-4 else f"p = {test.p_value:.2g}"
    return f"{test.name}, chi-square {test.statistic:.0f} on {test.dof}, {p}"


def _extremes(seen: Inspection) -> str:
    """Write which labels come to mind most and least readily."""
    known = [(label.propensity, label.label) for label in seen.labels if label.propensity]
    if len(known) < 2:
        return ""
    ordered = sorted(known)
    (least, rarely), (most, often) = ordered[0], ordered[-1]
    return f" {often!r} is named {most / least:.1f} times as readily as {rarely!r}."
