"""Findings about annotators, items and features."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from complabel.asking._finding_context import AUDIT, Context, num, some
from complabel.asking._inspection import Finding

_LOW_ALPHA = 0.667  # below this, Krippendorff allows not even tentative conclusions
_NO_ALPHA = 0.2  # below this, annotators agree hardly more than by chance
_MANY_MISTAKES = 0.1  # share of answers given at random
_FEW_MISTAKES = 0.05  # a rate that may be as low as this is not reported
_ONE_SIDED = 1.645  # standard errors from an estimate to its 95 % bound
_LEAST_SHARED = 30  # agreement on fewer pairs says too little


def agreement(context: Context) -> Iterator[Finding]:
    """Report if annotators disagree."""
    found = context.seen.agreement
    if found is None or found.n_pairs < _LEAST_SHARED:
        return
    alpha = "undefined" if found.alpha is None else f"{found.alpha:.2f}"
    seen = (
        f"On {num(found.n_pairs, 'shared pair')} annotators agree {found.observed:.0%} of the time"
        f" (Krippendorff's alpha {alpha})"
    )
    highest = 1.0
    if found.alpha is not None and found.alpha_error is not None:
        highest = found.alpha + _ONE_SIDED * found.alpha_error
    rate, error = found.error_rate, found.error or 0.0
    none = rate is None or highest < _NO_ALPHA
    many = rate is not None and rate > _MANY_MISTAKES and rate - _ONE_SIDED * error > _FEW_MISTAKES
    if none:
        yield Finding(
            "no-agreement",
            "warning",
            f"{seen}: hardly more than by chance.",
            "Check what the annotators were told. Such answers teach hardly anything.",
        )
    if many and rate is not None:
        worst = [a for a in context.seen.annotators if (a.error_rate or 0) > 2 * rate]
        most = f" Most of all: {some([repr(a.annotator) for a in worst])}." if worst else ""
        yield Finding(
            "mistakes",
            "warning",
            f"{seen}, as if {rate:.0%} of answers (± {error:.0%}) were given at random.{most}",
            "Fit the selection likelihood with its setting error_rate. Check what these annotators"
            " were told.",
        )
    if highest < _LOW_ALPHA and not (none or many):
        yield Finding(
            "low-alpha",
            "note",
            f"{seen}. Alpha is low where nearly all answers are the same, even with few mistakes.",
            "Look at the labels that people disagree about.",
        )


def people(context: Context) -> Iterator[Finding]:
    """Report if mistakes of annotators cannot be estimated, and why."""
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
            "No answer says who gave it, so mistakes of annotators cannot be estimated.",
            "Fill in the column annotator if you know.",
        )
    elif unknown:
        yield Finding(
            "annotators-unknown",
            "note",
            f"{unknown:,} of {num(n_answers, 'answer')} do not say who gave them.",
            "Fill in the column annotator if you know.",
        )
    elif len(seen.annotators) == 1:
        yield Finding(
            "one-annotator",
            "note",
            f"All answers are by {seen.annotators[0].annotator!r}, so mistakes do not show.",
            "Let somebody else answer some of the same questions.",
        )
    if len(seen.annotators) > 1 and seen.agreement is None:
        yield Finding(
            "nothing-shared",
            "note",
            f"There are {num(len(seen.annotators), 'annotator')}, but no two of them judged the"
            " same label of the same item. So it is unknown how often they are wrong.",
            f"Let two people answer the same {context.possible(AUDIT // 2)} yes/no questions.",
            context.ask(AUDIT // 2),
        )


def contradictions(context: Context) -> Iterator[Finding]:
    """Report answers that contradict each other."""
    seen = context.seen
    if not seen.n_contradictions:
        return
    first = seen.contradictions[0]
    yield Finding(
        "contradictions",
        "problem",
        f"{num(seen.n_contradictions, 'pair')} of item and label: some answers say that the label"
        f" applies, others deny it. The first: item {first.item!r}, label {first.label!r}"
        f" ({first.yes} yes, {first.no} no).",
        "Correct the answers, or choose a policy: drop both sides, take the majority, or trust"
        " the answers that say yes.",
        context.command(f"fit {{}} --features {context.features or 'X.csv'}"
                        " --contradictions majority --out model.safetensors"),
    )  # fmt: skip


def items(context: Context) -> Iterator[Finding]:
    """Report items without answers or without candidate labels, and repeated answers."""
    seen, statements = context.seen, context.statements
    counts = np.bincount(statements.denied // max(seen.n_labels, 1), minlength=seen.n_items)
    everything = int(np.count_nonzero(counts == seen.n_labels))
    if everything:
        yield Finding(
            "all-excluded",
            "note",
            f"For {num(everything, 'item')}, no label is left that could apply.",
            "If every item should have a label, look at them: a label may be missing in the list.",
        )
    if seen.n_repeated:
        yield Finding(
            "repeated-answers",
            "note",
            f"Annotators repeated {num(seen.n_repeated, 'time')} what they had said about a label"
            " of an item. Each repetition counts as another answer.",
            "If the file holds copies, remove them.",
        )
    if seen.n_unanswered and len(statements.kind):
        yield Finding(
            "items-without-answers",
            "note",
            f"{seen.n_unanswered:,} of {num(seen.n_items, 'item')} have no answer.",
            "A fit leaves them out. You can ask about them.",
        )


def features(context: Context) -> Iterator[Finding]:
    """Report items with equal features, and constant features."""
    looked = context.seen.features
    if looked is None:
        return
    if looked.n_contradicting:
        yield Finding(
            "same-features-contradict",
            "warning",
            f"{num(looked.n_contradicting, 'item')} share all features with another item, and"
            " their answers contradict each other. No model of these features can tell them apart.",
            "Check whether they are one item with two names; if so, give them one name.",
        )
    elif looked.n_same:
        yield Finding(
            "same-features",
            "note",
            f"{num(looked.n_same, 'item')} share all features with another item.",
            "When you hold out items, keep copies of one item in the same part.",
        )
    if looked.n_constant:
        yield Finding(
            "constant-features",
            "note",
            f"{looked.n_constant:,} of {num(looked.n_features, 'feature')} are the same for all"
            " items.",
            "They do no harm, but they are useless. Check whether something went wrong with them.",
        )
