"""Assumptions that fail or cannot be checked, each by name, with what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from complabel.asking import _choice
from complabel.asking._inspection import SEVERITIES, ChoiceTest, Finding, Inspection, Severity

if TYPE_CHECKING:
    from complabel.annotations import Answers
    from complabel.asking._statements import Statements

# An audit of so many questions brings most of it back: docs/frequencies.md.
_AUDIT = 200
_FEW_MARKS = 20
# Spreads of propensities that equal chances hardly ever give: with random judgements, and
# without, where labels that occur together look alike.
_UNEQUAL, _UNEQUAL_ALONE = 0.2, 0.5
_LARGE_ERROR = 0.1
_LOW_ALPHA = 0.667  # Krippendorff: below it not even tentative conclusions
_MANY_MISTAKES = 0.1
_LEAST_SHARED = 30
_MOST_LISTED = 5
_FEW_QUESTIONS = 4  # about a label


@dataclass(frozen=True)
class Context:
    """What findings are made of."""

    seen: Inspection
    answers: Answers
    statements: Statements
    labels_listed: bool
    source: str
    features: str

    def ask(self, n: int = _AUDIT) -> str:
        """Return the command that writes random questions."""
        said, K = self.statements, self.answers.n_labels
        known = len(said.affirmed) + len(said.denied) - 2 * len(said.contradicted)
        n = min(n, self.answers.n_items * K - known)
        features = f" --features {self.features}" if self.features else ""
        return "" if n < 1 else self.command(f"ask {{}}{features} -n {n} --out questions.csv")

    def command(self, text: str) -> str:
        """Return a command about the answers; empty if they have no name."""
        return "complabel " + text.format(self.source) if self.source else ""

    @property
    def names_labels(self) -> bool:
        """Whether labels are named at all."""
        return "named" in self.seen.questions


def all_findings(context: Context) -> tuple[Finding, ...]:
    """Return all findings, the gravest first, and otherwise in the order of ``_CHECKS``."""
    found = [finding for check in _CHECKS for finding in check(context)]
    return tuple(sorted(found, key=lambda each: SEVERITIES.index(each.severity)))


def _contradictions(context: Context) -> Iterator[Finding]:
    seen = context.seen
    if not seen.n_contradictions:
        return
    first = seen.contradictions[0]
    yield Finding(
        "contradictions",
        "problem",
        f"{_n(seen.n_contradictions, 'pair')} of item and label: some answers say that the label"
        f" applies, others deny it. The first: item {first.item!r}, label {first.label!r}"
        f" ({first.yes} yes, {first.no} no).",
        "Correct the answers, or say what is to become of them: drop both, take the majority, or"
        " trust those that say yes.",
        context.command(f"fit {{}} --features {context.features or 'X.csv'}"
                        " --contradictions majority --out model.safetensors"),
    )  # fmt: skip


def _nothing(context: Context) -> Iterator[Finding]:
    if not len(context.statements.kind):
        yield Finding(
            "no-answers",
            "problem",
            "No answer says anything of a label.",
            "Ask first.",
            context.ask(),
        )


def _features(context: Context) -> Iterator[Finding]:
    looked = context.seen.features
    if looked is None:
        return
    if looked.n_contradicting:
        yield Finding(
            "same-features-contradict",
            "warning",
            f"{_n(looked.n_contradicting, 'item')} share all features with another item, and their"
            " answers contradict each other. No model of these features can tell them apart.",
            "Look whether they are one item under two names; if so, give them one name.",
        )
    elif looked.n_same:
        yield Finding(
            "same-features",
            "note",
            f"{_n(looked.n_same, 'item')} share all features with another item.",
            "Keep copies of one item in one part when you hold some out.",
        )
    if looked.n_constant:
        yield Finding(
            "constant-features",
            "note",
            f"{looked.n_constant:,} of {_n(looked.n_features, 'feature')} are the same for all"
            " items.",
            "They do no harm, and tell nothing. Look whether something went wrong with them.",
        )


def _frequencies(context: Context) -> Iterator[Finding]:
    seen, known = context.seen, context.seen.knowledge
    ask = (
        f"Ask {_AUDIT} yes/no questions about random labels of random items, give the answers"
        " along with these, and look again."
    )
    if seen.n_labels * _FEW_QUESTIONS > _AUDIT:
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
            f"{_n(seen.questions['excluded'], 'answer')} exclude labels, and nothing here says how"
            " often a label that does not apply is excluded. Exclusions alone cannot tell."
            f"{bounds}",
            f"{ask} Even 50 help much.",
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


def _not_random(context: Context) -> Iterator[Finding]:
    known = context.seen.knowledge
    if known.n_not_random:
        severity: Severity = "note" if known.known else "warning"
        yield Finding(
            "not-random",
            severity,
            f"{known.n_not_random:,} of {_n(known.n_random + known.n_not_random, 'answer')} that"
            " judge labels have no probability: they were volunteered, or somebody or a machine"
            " chose the question. They do not count in how often labels apply.",
            "If their questions were drawn at random, give the chance of each in the column"
            " probability (all alike: the same number). If not, leave it empty.",
        )


def _only_no(context: Context) -> Iterator[Finding]:
    seen = context.seen
    judged = sum(label.judged for label in seen.labels)
    chosen = "asked" in seen.questions and seen.knowledge.n_not_random
    if chosen and judged >= _FEW_MARKS and not any(label.yes for label in seen.labels):
        yield Finding(
            "only-no",
            "warning",
            f"All {judged:,} judgements are no. If people picked labels that do not apply, the"
            " question was not yes or no.",
            "If they picked, set the column question to named; if a rule ruled labels out, to"
            " excluded. What was asked decides what an answer says.",
        )


def _choice_tests(context: Context) -> Iterator[Finding]:
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
            else f"Ask {_AUDIT} yes/no questions about random labels: with how often labels apply,"
            " the choice can be corrected.",
            context.ask() if alone else "",
        )
    depends = tests.get(_choice.DEPENDS)
    if depends is not None and depends.p_value < _choice.LEVEL:
        yield Finding(
            "choice-depends",
            "warning",
            "Which label is named depends on which others apply, beyond what each label is named"
            f" for itself ({_n(len(depends.labels), 'pair')} of {depends.dof} tested, p ="
            f" {depends.p_value:.2g} after Holm's correction): {_some(depends.labels)}.",
            "No method here knows such a choice. Ask yes/no questions, or small menus drawn at"
            " random, where people choose less.",
            context.ask(),
        )


def _audit_size(context: Context) -> Iterator[Finding]:
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
            f"Ask {_AUDIT} yes/no questions about random labels of random items, and give the"
            " answers along with these.",
            context.ask(),
        )
        return
    relative = known.error / known.cardinality
    if relative <= _LARGE_ERROR:
        return
    more = 3 * known.n_random
    yield Finding(
        "audit-too-small",
        "warning" if relative > 2 * _LARGE_ERROR else "note",
        f"How many labels apply to an item is known to ±{relative:.0%} only:"
        f" {known.cardinality:.2f} ± {known.error:.2f} (one standard error).",
        f"{more:,} more random yes/no questions would about halve the error.",
        context.ask(more),
    )


def _agreement(context: Context) -> Iterator[Finding]:
    found = context.seen.agreement
    if found is None or found.n_pairs < _LEAST_SHARED:
        return
    alpha = "undefined" if found.alpha is None else f"{found.alpha:.2f}"
    seen = (
        f"On {_n(found.n_pairs, 'shared pair')} annotators agree {found.observed:.0%} of the time"
        f" (Krippendorff's alpha {alpha})"
    )
    if found.error_rate is None:
        yield Finding(
            "no-agreement",
            "warning",
            f"{seen}: no more than by chance.",
            "Look at what people were told. Nothing can be learned from such answers.",
        )
    elif found.error_rate > _MANY_MISTAKES and found.error is not None:
        worst = [a for a in context.seen.annotators if (a.error_rate or 0) > 2 * found.error_rate]
        most = f" Most often: {_some([repr(a.annotator) for a in worst])}." if worst else ""
        yield Finding(
            "mistakes",
            "warning",
            f"{seen}, as if {found.error_rate:.0%} of answers (± {found.error:.0%}) were given at"
            f" random.{most}",
            "Fit with mistakes: the selection likelihood has error rates. Look at what these"
            " annotators were told.",
        )
    elif found.alpha is not None and found.alpha < _LOW_ALPHA:
        yield Finding(
            "low-alpha",
            "note",
            f"{seen}. Alpha is low where nearly all answers are the same, even with few mistakes.",
            "Look at the labels that people disagree about.",
        )


def _people(context: Context) -> Iterator[Finding]:
    seen = context.seen
    by_people = context.answers.question != "excluded"  # rules have no names
    unknown = int(np.count_nonzero(by_people & (context.answers.annotator < 0)))
    n_answers = int(np.count_nonzero(by_people))
    if not n_answers:
        return
    if unknown == n_answers:
        yield Finding(
            "annotators-unknown",
            "note",
            "No answer says who gave it. Mistakes cannot be told from disagreement.",
            "Fill in the column annotator if you know.",
        )
    elif unknown:
        yield Finding(
            "annotators-unknown",
            "note",
            f"{unknown:,} of {_n(n_answers, 'answer')} do not say who gave them.",
            "Fill in the column annotator if you know.",
        )
    elif len(seen.annotators) == 1:
        yield Finding(
            "one-annotator",
            "note",
            f"All answers are by {seen.annotators[0].annotator!r}. Nothing here shows mistakes.",
            "Have somebody else answer some of the same questions.",
        )
    if len(seen.annotators) > 1 and seen.agreement is None:
        yield Finding(
            "nothing-shared",
            "note",
            f"{_n(len(seen.annotators), 'annotator')}, and no pair of item and label that two of"
            " them judged: how often they are wrong cannot be known.",
            f"Have two people answer the same {_AUDIT // 2} yes/no questions.",
            context.ask(_AUDIT // 2),
        )


def _hierarchy(context: Context) -> Iterator[Finding]:
    seen = context.seen
    if seen.identical:
        groups = [" = ".join(_cut(repr(name) for name in group)) for group in seen.identical]
        yield Finding(
            "identical-labels",
            "warning",
            f"{_n(len(groups), 'group')} of labels that all answers treat alike, as chance would"
            f" not: {_some(groups)}. A hierarchy or a rule did, or a column was copied.",
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
            f"Some labels are always excluded with another one: {_some(pairs)}. A hierarchy, not"
            " chance.",
            "Exclusions of one rule count as one: rates for each label alone are a simplification.",
        )


def _labels(context: Context) -> Iterator[Finding]:
    seen = context.seen
    never = [repr(label.label) for label in seen.labels if not label.mentioned]
    few = [repr(label.label) for label in seen.labels if 0 < label.mentioned < _FEW_MARKS]
    if never and len(never) < seen.n_labels:
        yield Finding(
            "never-mentioned",
            "warning",
            f"{len(never):,} of {_n(seen.n_labels, 'label')} are in no answer: {_some(never)}.",
            "Nothing can be learned of them. Ask about them, or leave them out of the list.",
            context.ask(),
        )
    if few:
        yield Finding(
            "few-answers",
            "warning",
            f"{len(few):,} of {_n(seen.n_labels, 'label')} are in fewer than {_FEW_MARKS} answers:"
            f" {_some(few)}.",
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
            f"{_n(int(about_all.sum()), 'answer')} are about all labels, and the list of labels is"
            f" only the {seen.n_labels:,} that the answers mention. How many there are enters the"
            " likelihood.",
            "Give all labels, one on each line of a file.",
            context.command("inspect {} --label-names labels.txt"),
        )


def _items(context: Context) -> Iterator[Finding]:
    seen, statements = context.seen, context.statements
    counts = np.bincount(statements.denied // max(seen.n_labels, 1), minlength=seen.n_items)
    everything = int(np.count_nonzero(counts == seen.n_labels))
    if everything:
        yield Finding(
            "all-excluded",
            "note",
            f"Of {_n(everything, 'item')} no label is left that could apply.",
            "If every item should have a label, look at them: the list of labels may have a gap.",
        )
    if seen.n_repeated:
        yield Finding(
            "repeated-answers",
            "note",
            f"{_n(seen.n_repeated, 'time')} an annotator says the same of a label of an item once"
            " more. Each counts as another answer.",
            "If the file holds copies, take them out.",
        )
    if seen.n_unanswered and len(statements.kind):
        yield Finding(
            "items-without-answers",
            "note",
            f"{seen.n_unanswered:,} of {_n(seen.n_items, 'item')} have no answer.",
            "A fit leaves them out. They can be asked about.",
        )


# In the order in which findings of one severity are to be acted upon.
_CHECKS: tuple[Callable[[Context], Iterator[Finding]], ...] = (
    _nothing,
    _contradictions,
    _only_no,
    _frequencies,
    _choice_tests,
    _agreement,
    _features,
    _audit_size,
    _hierarchy,
    _not_random,
    _labels,
    _people,
    _items,
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


def _n(count: int, noun: str) -> str:
    """Write a number of things."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _some(names: Sequence[str]) -> str:
    """List the first names."""
    return ", ".join(_cut(names))


def _cut(names: Sequence[str] | Iterator[str]) -> list[str]:
    """Return the first names, and how many more there are."""
    listed = list(names)
    more = len(listed) - _MOST_LISTED
    return [*listed[:_MOST_LISTED], f"and {more:,} more"] if more > 0 else listed
