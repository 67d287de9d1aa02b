"""All findings: assumptions that fail or cannot be checked, and what to do about them.

``findings.toml`` is the table of them: name, severity, text and advice. The tests here yield the
names of what they find, and the words that the texts leave open besides ``seen`` and ``known``.
"""

from __future__ import annotations

import math
import re
import string
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from complabel._drawn import AIMED, RANDOM
from complabel._writing import unused
from complabel.asking._choice import EXPECTED, KNOWN, LEVEL
from complabel.asking._inspection import (
    DEPENDS,
    SEVERITIES,
    Agreement,
    ChoiceTest,
    Finding,
    Inspection,
)
from complabel.asking._statistics import (
    AnswerStatements,
    Shared,
    break_even,
    form_of,
    similar_names,
)

# Questions that repair most of the damage of a biased choice: docs/evidence/frequencies.md.
_AUDIT = 200
# With fewer answers than this, hardly anything is learned about a label.
_FEW_MARKS = 20
# With fewer answers that say so than this, hardly anything is learned about where it applies.
_FEW_YES = 10
_MOST_LISTED = 5  # names in a message before the rest is only counted
# Estimated standard deviations of log-propensities that equal chances hardly ever give: with
# random judgements, and from menus alone. Menus alone need more, because correlated labels can
# look like unequal propensities there.
_UNEQUAL, _UNEQUAL_ALONE = 0.25, 0.52
# A label that is named at least this many times as readily where another one applies, or as seldom.
_DEPENDS = 1.25
_LARGE_ERROR = 0.1  # relative standard error of the mean number of labels
_MANY_JUDGED = 100  # if 5 of 100 judgements are yes, fewer may all be no by chance
_FEW_QUESTIONS = 4  # per label; fewer say little about each label's frequency
_LOW_ALPHA = 0.667  # below this, Krippendorff allows not even tentative conclusions
_NO_ALPHA = 0.2  # below this, annotators agree hardly more than by chance
# Share of answers given at random. What contradictions from fewer cost a fit is hardly told from
# chance.
_MANY_MISTAKES = 0.1
# With less pairs to which one of two people said yes, a fit did not find the rates of people where
# labels are rare (docs/evidence/mistakes.md).
_ENOUGH_WITH_YES = 40
_FEW_MISTAKES = 0.05  # a rate that may be as low as this is not reported
_DIFFERS = 0.25  # a share of "yes" that is more or less by this part of it, or answers at random
_ONE_SIDED = 1.645  # standard errors from an estimate to its 95 % bound
_LONG = 6.0  # times as long as one yes or no, which ticking hardly ever takes
_CLEARLY = 1.25  # a ratio of times this much above or below the break-even is on one side of it

Findings: TypeAlias = Iterator[tuple[str, dict[str, Any]]]
"""Names of findings, and the words that their texts need. The entries "severity", "what",
"advice", "ask" and "kind" take the place of those in the table."""
_INSTEAD = ("severity", "what", "advice", "ask", "kind")


@dataclass(frozen=True)
class Context:
    seen: Inspection
    statements: AnswerStatements
    labels_listed: bool
    source: str  # in suggested commands; empty: there are none
    features: str

    def possible(self, n: int = _AUDIT) -> int:
        """Return n, or the number of item-label pairs that are not known if it is smaller."""
        statements = self.statements
        known = len(statements.affirmed) + len(statements.denied) - 2 * len(statements.contradicted)
        return min(n, self.seen.n_items * self.seen.n_labels - known)

    def command(self, row: dict[str, Any]) -> str:
        if not self.source:
            return ""
        features = f" --features {self.features}" if self.features else ""
        if n := self.possible(row.get("ask", 0)):
            kind = ""
            if row.get("kind", "asked") != "asked":
                n, kind = min(n, self.seen.n_items), f" --question {row['kind']}"
            out = unused(Path("questions.csv"))
            return f"complabel ask {self.source}{features}{kind} -n {n} --out {out}"
        out = unused(Path("model.safetensors"))
        places = {"source": self.source, "X": self.features or "X.csv", "out": out}
        return "complabel " + row["command"].format_map(places) if "command" in row else ""


def all_findings(context: Context) -> tuple[Finding, ...]:
    """Return all findings, the most severe first, then in the order of the table."""
    table = tomllib.loads(resources.files(__package__).joinpath("findings.toml").read_text("utf-8"))
    words_of = {name: words for test in _TESTS for name, words in test(context)}
    findings = []
    for name, row in table.items():
        if name in words_of:
            words = {"seen": context.seen, "known": context.seen.knowledge} | words_of[name]
            row |= {key: words[key] for key in _INSTEAD if key in words}
            what, advice = (_Writer().vformat(row[text], (), words) for text in ("what", "advice"))
            command = context.command(row)
            findings.append(Finding(name, row["severity"], what, advice, command, row["title"]))
    return tuple(sorted(findings, key=lambda each: SEVERITIES.index(each.severity)))


class _Writer(string.Formatter):
    """Writes ``{n:label}`` as "1 label" or "2,000 labels", and of a list only the first names."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if isinstance(value, list):
            return _some(value)
        if re.fullmatch("[a-z ]{3,}", format_spec):
            return f"{value:,} {format_spec}" + "s" * (value != 1)
        return super().format_field(value, format_spec)


def _some(names: Sequence[str], between: str = ", ") -> str:
    """Write the first names, and how many more there are."""
    more = len(names) - _MOST_LISTED
    return between.join([*names[:_MOST_LISTED], *([f"and {more:,} more"] if more > 0 else [])])


def _counts(context: Context) -> Findings:
    """Contradictions and repetitions; items without answers, or without a label that is left."""
    seen, statements = context.seen, context.statements
    if not len(statements):
        yield "no-answers", {}
    elif seen.n_unanswered:
        yield "items-without-answers", {}
    if seen.n_contradictions and seen.people_compared:
        assert seen.agreement is not None
        rate, highest = _disagreement(seen.agreement)
        many = rate is None or rate > _MANY_MISTAKES or highest < _LOW_ALPHA
        words: dict[str, Any] = {
            "first": seen.contradictions[0],
            "severity": "warning" if many else "note",
        }
        words["much"] = (
            "" if rate is None else f" This is as if {rate / 2:.1%} of answers were wrong."
        )
        shared = Shared.of(context.statements)
        n = len(np.unique(shared.pair[shared.yes]))
        words |= {"with_yes": n}
        if n >= _ENOUGH_WITH_YES:
            yield "people-contradict", words
        else:
            yield "people-contradict-seldom", words
    elif seen.n_contradictions:
        yield "contradictions", {"first": seen.contradictions[0]}
    if seen.n_repeated:
        yield "repeated-answers", {}
    n_denied = np.bincount(statements.denied // max(seen.n_labels, 1), minlength=seen.n_items)
    if n := int(np.count_nonzero(n_denied == seen.n_labels)):
        yield "all-excluded", {"n": n}


def _frequencies(context: Context) -> Findings:
    seen, known = context.seen, context.seen.knowledge
    if known.known or not len(context.statements):
        return
    n = context.possible()
    ask = (
        f"Ask {n} yes/no questions about random labels of random items, add the answers to these,"
        " and inspect again."
    )
    if not n:
        ask = (
            "Every label of every item is known, so nothing is left to ask. If nobody chose which"
            " labels to judge, say so: set the column question to ticked."
        )
    elif seen.n_labels * _FEW_QUESTIONS > _AUDIT:
        ask += (
            f" With {seen.n_labels:,} labels they tell how many labels apply to an item, but little"
            " about how often each label applies."
        )
    bounds = (
        f" If all answers are right, from {known.at_least:,.2f} to {known.at_most:,.2f} labels"
        " apply to an item."
    )
    words = {"bounds": bounds, "advice": ask}
    few_help = words | {"advice": ask + " Even 50 help a lot." * (n > 50)}
    if "excluded" in seen.questions:
        yield "exclusion-rates-unknown", few_help
    if "tagged" in seen.questions:
        yield "exposure-unknown", words
    if {"named", "positive"} & set(seen.questions):
        often = "apply rarely" if "named" in seen.questions else "apply often"
        yield "choice-unchecked", words | {"often": often}
    if not {"excluded", "named", "positive", "tagged"} & set(seen.questions):
        yield "frequencies-unknown", words


def _judgements(context: Context) -> Findings:
    """All judgements say the same, as if people had picked labels; or they were not at random."""
    seen, known = context.seen, context.seen.knowledge
    judged = sum(label.judged for label in seen.labels)
    if seen.only_says == "yes" and judged >= _MANY_JUDGED and "asked" in seen.questions:
        yield "only-yes", {"judged": judged}
    if not known.n_not_random:
        return
    no = judged >= _MANY_JUDGED and not any(label.yes for label in seen.labels)
    if no and "asked" in seen.questions:
        yield "only-no", {"judged": judged}
    severity = "note" if known.known else "warning"
    why = "have no probability: they were volunteered, or somebody or a machine chose the question"
    advice = (
        "If chance alone decided which label of which item each question was about, say so with"
        " complabel import --random-questions. If the chances differ, write them into the column"
        " probability. If somebody chose, leave it empty."
    )
    if (context.statements.answers.drawn != "").any():
        why = "are no random sample, as the column drawn says, or somebody chose the question"
        advice = "To know more, ask random questions with complabel ask."
    words = {"severity": severity, "all": known.n_random + known.n_not_random}
    yield "not-random", words | {"why": why, "advice": advice}


def _choice(context: Context) -> Findings:
    seen = context.seen
    tests = {test.name: test for test in seen.tests}
    spread, alone = seen.knowledge.spread or 0.0, seen.knowledge.n_random == 0
    known, expected = tests.get(KNOWN), tests.get(EXPECTED)
    if known is not None and expected is not None and 2 * known.n_answers >= expected.n_answers:
        expected = None  # the other test needs no assumption about label correlation
    failed = [
        test
        for test, effect in ((known, known and known.effect), (expected, spread))
        if test is not None and test.p_value < LEVEL and (effect or 0.0) >= _UNEQUAL
    ]
    if failed or (alone and spread >= _UNEQUAL_ALONE):
        evidence = [_tested(test) for test in failed]
        if spread >= _UNEQUAL:
            evidence.append(f"the standard deviation of log-propensities is about {spread:g}")
        words = {"how": "; ".join(evidence), "extremes": _extremes(seen), "ask": alone * _AUDIT}
        if not seen.knowledge.known:
            words["advice"] = (
                f"Ask {context.possible()} yes/no questions about random labels. Once it is known"
                " how often labels apply, the choice can be corrected."
            )
        yield "choice-not-uniform", words
    depends = tests.get(DEPENDS)
    if depends is not None and (depends.effect or 0.0) >= math.log(_DEPENDS):
        labels = list(depends.labels)
        yield "choice-depends", {"pairs": len(labels), "labels": labels, "test": depends}


def _tested(test: ChoiceTest) -> str:
    p = "p < 0.0001" if test.p_value < 1e-4 else f"p = {test.p_value:.2g}"
    return f"{test.name}, chi-square {test.statistic:.0f} on {test.dof}, {p}"


def _extremes(seen: Inspection) -> str:
    known = sorted((label.propensity, label.label) for label in seen.labels if label.propensity)
    if len(known) < 2:
        return ""
    (least, rarely), (most, often) = known[0], known[-1]
    return f" {often!r} is named {most / least:.1f} times as readily as {rarely!r}."


def _disagreement(agreement: Agreement) -> tuple[float | None, float]:
    """Return the share of answers at random that explains it, and the highest likely alpha."""
    if agreement.alpha is None or agreement.alpha_error is None:
        return agreement.error_rate, 1.0
    return agreement.error_rate, agreement.alpha + _ONE_SIDED * agreement.alpha_error


def _agreement(context: Context) -> Findings:
    agreement = context.seen.agreement
    if agreement is None or not context.seen.people_compared:
        return
    alpha = "undefined" if agreement.alpha is None else f"{agreement.alpha:.2f}"
    highest = _disagreement(agreement)[1]
    rate, error = agreement.error_rate or 0.0, agreement.error or 0.0
    none = agreement.error_rate is None or highest < _NO_ALPHA
    many = rate > _MANY_MISTAKES and rate - _ONE_SIDED * error > _FEW_MISTAKES
    worst = [repr(a.annotator) for a in context.seen.annotators if (a.error_rate or 0) > 2 * rate]
    most = f" Most of all: {_some(worst)}." if worst else ""
    words = {"agreement": agreement, "alpha": alpha}
    if none:
        yield "no-agreement", words
    if many:
        yield "mistakes", words | {"rate": rate, "error": error, "most": most}
    if highest < _LOW_ALPHA and not (none or many):
        yield "low-alpha", words


def _yes_shares(context: Context) -> Findings:
    """Somebody says yes more or less often than the others do about the same labels."""
    shares = context.seen.yes_shares
    if not shares:
        return
    some = [
        f"{one.annotator!r} says yes to {one.said:.0%}, where the answers of the others about the"
        f" same labels give {one.expected:.0%} ({one.judged:,} judgements)"
        for one in shares
    ]
    matters = any(
        abs(one.said - one.expected) > _DIFFERS * one.expected or one.at_random > _DIFFERS
        for one in shares
    )
    words = {"people": some, "n": context.possible(100)}
    yield "yes-shares-differ", words | {"severity": "warning" if matters else "note"}


def _features(context: Context) -> Findings:
    looked = context.seen.features
    if looked is not None and looked.n_contradicting:
        yield "same-features-contradict", {}
    elif looked is not None and looked.n_same:
        yield "same-features", {}
    if looked is not None and looked.n_constant:
        yield "constant-features", {}


def _audit_size(context: Context) -> Findings:
    """Random judgements are too few, or there are only menus."""
    known = context.seen.knowledge
    if known.cardinality is None or known.error is None:
        return
    if not known.n_random:
        yield "frequencies-from-menus", {"n": context.possible()}
        return
    relative = known.error / known.cardinality
    if relative > _LARGE_ERROR:
        more = context.possible(3 * known.n_random)
        effect = "about halve" if more == 3 * known.n_random else "reduce"
        severity = "warning" if relative > 2 * _LARGE_ERROR else "note"
        words = {"relative": relative, "more": more, "effect": effect, "ask": more}
        yield "audit-too-small", words | {"severity": severity}


def _alike(context: Context) -> Findings:
    """Labels have the same marks, are excluded together, or have nearly the same name."""
    groups = [_some([*map(repr, group)], " = ") for group in context.seen.identical]
    if groups:
        yield "identical-labels", {"n": len(groups), "groups": groups}
    nested = context.seen.nested
    both = {(a, b) for a, b in nested if (b, a) in nested}
    pairs = [f"{a!r} together with {b!r}" for a, b in sorted(both) if a < b]
    pairs += [f"{a!r} wherever {b!r} is" for a, b in nested if (a, b) not in both]
    if pairs:
        yield "nested-exclusions", {"pairs": pairs}
    counts = {label.label: label.mentioned for label in context.seen.labels}
    similar = similar_names(counts, misspelt=not context.labels_listed)
    pairs = [f"{a!r} ({counts[a]:,}) and {b!r} ({counts[b]:,})" for a, b in similar]
    if pairs:
        yield "similar-names", {"n": len(pairs), "pairs": pairs}


def _labels(context: Context) -> Findings:
    """Few or no answers mention some labels, hardly any say yes, or nobody listed the labels."""
    seen = context.seen
    never = [repr(label.label) for label in seen.labels if not label.mentioned]
    if never and len(never) < seen.n_labels:
        yield "never-mentioned", {"n": len(never), "labels": never}
    rare = sorted(  # nearly all that is known of them are judgements, and few of these are "yes"
        (
            label
            for label in seen.labels
            if label.judged
            and label.named + label.excluded < _FEW_MARKS
            and label.relevant < _FEW_YES
        ),
        key=lambda label: label.relevant,
    )
    if rare:
        least, most = rare[0].relevant, rare[-1].relevant
        some = [f"{label.label!r} ({label.relevant})" for label in rare]
        words = {"n": len(rare), "labels": some, "few": _FEW_YES}
        yield "few-yes", words | {"least": least if least == most else f"{least} to {most}"}
    few = [
        f"{label.label!r} ({label.mentioned})"
        for label in seen.labels
        if 0 < label.mentioned < _FEW_MARKS and label not in rare
    ]
    if few:
        yield "few-answers", {"n": len(few), "labels": few, "few": _FEW_MARKS}
    answers = context.statements.answers
    about_all = (answers.question != "asked") & (np.diff(answers.offered.indptr) == 0)
    if not context.labels_listed and about_all.any():
        yield "labels-not-listed", {"answers": int(about_all.sum())}


def _people(context: Context) -> Findings:
    seen, answers = context.seen, context.statements.answers
    person = answers.annotator[answers.question != "excluded"]  # rules have no names
    unknown = int(np.count_nonzero(person < 0))
    if not len(person):
        return
    if unknown:
        nobody = "No answer says who gave it, so mistakes of annotators cannot be estimated."
        words = {"unknown": unknown, "answers": len(person)}
        yield "annotators-unknown", words | ({"what": nobody} if unknown == len(person) else {})
    elif len(seen.annotators) == 1:
        yield "one-annotator", {"who": seen.annotators[0].annotator}
    if len(seen.annotators) > 1 and seen.agreement is None:
        yield "nothing-shared", {"people": len(seen.annotators), "n": context.possible(_AUDIT // 2)}


def _times(context: Context) -> Findings:
    """Which question is worth its time, or how to find out."""
    times, of_each = context.seen.times, _asked_of_each(context)
    size = form_of(context.seen.n_labels)
    if break_even(size) >= _LONG and 0 < of_each < size / 2:
        known, worth = times and times.asked, break_even(size)
        words = {"n": context.seen.n_answers, "of_each": of_each, "these": f"{size:,} labels"}
        words |= {"kind": "ticked" if size == context.seen.n_labels else f"ticked-{size}"}
        limit = f", so less than {known * worth:.3g} seconds" if known else ""
        yield "let-people-tick", words | {"worth": worth, "limit": limit}
        return
    if times is None:
        return
    some = times.labels < context.seen.n_labels
    these = f"{'a menu of' if some else 'all'} {times.labels:,} labels"
    words = {"times": times, "these": these}
    words["kind"] = f"ticked-{times.labels}" if some else "ticked"
    if times.ratio is not None:
        if times.ratio * _CLEARLY < times.break_even:
            yield "tick-labels", words
        elif times.ratio > _CLEARLY * times.break_even:
            yield "ask-yes-or-no", words | {"kind": "asked"}
        else:
            yield "ask-either", words
        return
    write = "of 20 items, and write down the seconds."
    if times.asked is not None:
        enough = times.asked * times.break_even
        words["known"] = f"One yes or no takes {times.asked:.3g} seconds."
        words["limit"] = f": {enough:.3g} seconds for {these}"
        words["advice"] = f"Let one person tick {these} {write}"
        yield "time-trial", words
    elif times.ticked is not None:
        enough = times.ticked / times.break_even
        words["known"] = f"Ticking {these} takes {times.ticked:.3g} seconds."
        words["limit"] = f", which is so if one yes or no takes more than {enough:.2g} seconds"
        words["advice"] = f"Ask one person yes or no about random labels {write}"
        yield "time-trial", words | {"kind": "asked"}


def _asked_of_each(context: Context) -> float:
    """Return how many labels an item was asked about if all answers are yes or no; else 0.

    Where a machine or a rule chose the labels, others are beside the point.
    """
    answers = context.statements.answers
    chosen = [text for text in {*answers.drawn.tolist()} if text not in ("", RANDOM, AIMED)]
    if chosen or not (answers.kind == "asked").all() or answers.n_answers < _FEW_MARKS:
        return 0.0
    return float(answers.n_answers / len(np.unique(answers.item)))


_TESTS = (
    _counts,
    _frequencies,
    _judgements,
    _choice,
    _agreement,
    _yes_shares,
    _features,
    _audit_size,
    _alike,
    _labels,
    _people,
    _times,
)
