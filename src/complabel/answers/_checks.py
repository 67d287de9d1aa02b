"""Refuse labels and answers that nothing can be learned from, and warn about doubtful ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from complabel._drawn import AIMED, AS_WRITTEN, RANDOM, RULE, ByMachine, least_chance
from complabel._parameters import Indicator, Ints
from complabel.answers._arrays import AnswerArrays
from complabel.answers._masks import (
    IndicatorLike,
    Mask,
    check_indicator,
    common,
    counts_of,
    keep_rows,
    name_some,
    spell_out,
    union,
    without,
)
from complabel.answers._names import check_label_names
from complabel.errors import AnnotationError, InputError

_MIN_LABELS = 3


class UnchosenLabelWarning(UserWarning):
    """A label was never chosen as complementary, so nothing says where it does not apply.

    Or it was never said to apply, and nothing says where it does.
    """


class UnansweredRowWarning(UserWarning):
    """Rows have no complementary label, so nothing is learned from them."""


class ClassPerRowWarning(UserWarning):
    """Names, or a column, were read as one complementary class per row.

    That reading assumes that exactly one class applies to each row.
    """


class IgnoredAnswersWarning(UserWarning):
    """A method understands only freely named labels, so it ignored or misread other answers."""


class AssumedUniformWarning(UserWarning):
    """A fit assumed that all labels come to mind equally easily; free naming cannot check this.

    To check it, ask "does this label apply?" about random labels, or offer small random menus.
    """


class ReadAsComplementaryWarning(AssumedUniformWarning):
    """``fit`` was given a matrix of 0 and 1, and took 1 for "this label does *not* apply"."""


def check_complementary(
    complementary: IndicatorLike,
    *,
    min_labels: int = _MIN_LABELS,
    allow_unanswered: bool = False,
    name: str = "complementary",
) -> Indicator:
    """Check complementary labels, and return them as a dense 0/1 array, (n, K) uint8.

    Each row must mark a label, and not all; with ``allow_unanswered`` it is enough if one row does.
    Messages call the matrix ``name``.
    """
    checked = check_indicator(complementary, name=name)
    n_samples, n_labels = checked.shape
    if n_labels < min_labels:
        labels, advice = f"{n_labels} labels (columns)", "give one column per label"
        if n_labels == 1:
            labels = "1 label (column)"
        elif n_labels == 2:
            advice = (
                "with two, 'not a' means 'b': fit an ordinary classifier on the label that is left."
                " If 1 says that a label applies, give Answers.from_frame of complabel.answers"
            )
        raise AnnotationError(
            f"{name} has {labels}; learning from complementary labels needs at least {min_labels}: "
            f"{advice}"
        )
    if n_samples == 0:
        raise AnnotationError(f"{name} has no rows; give at least one")
    counts = checked.sum(axis=1, dtype=np.intp)
    empty, full = np.flatnonzero(counts == 0), np.flatnonzero(counts == n_labels)
    if len(empty) == n_samples or (len(empty) and not allow_unanswered):
        advice = "every row needs at least one, drop the empty rows"
        if allow_unanswered:
            advice = "at least one row needs a mark"
        raise AnnotationError(f"{name} marks no label in {name_some(empty, 'row')}; {advice}")
    if len(full):
        raise AnnotationError(
            f"{name} marks all {n_labels} labels in {name_some(full, 'row')}; every row must "
            "leave at least one, drop or correct these rows"
        )
    return checked


def check_known(
    relevant: IndicatorLike,
    complementary: Indicator,
    labels: Sequence[object] | None = None,
    *,
    name: str = "complementary",
) -> Indicator:
    """Check known relevant labels against checked complementary ones; return a dense 0/1 array.

    ``labels`` are names or numbers of the columns. If they are names, the columns of a data frame
    must have the same names. Messages call ``complementary`` ``name``.
    """
    names = list(range(complementary.shape[1]) if labels is None else labels)
    check_label_names(relevant, names, name="relevant", reference=name)
    known = check_indicator(relevant, name="relevant")
    if known.shape != complementary.shape:
        raise AnnotationError(
            f"relevant has shape {known.shape} but {name} {complementary.shape}; both need one row "
            "per sample and one column per label (of classes, in sorted order)"
        )
    both = known & complementary
    if both.any():
        row, label = np.unravel_index(np.argmax(both), both.shape)
        rows = name_some(np.flatnonzero(both.any(axis=1)), "row")
        raise AnnotationError(
            f"row {row} gives label {names[label]!r} as complementary and as relevant (so in "
            f"{rows}); a label either applies or does not, correct one"
        )
    return known


def check_relevant(Y: IndicatorLike) -> Indicator:
    """Check relevant labels, at least one and not all per row, and return a dense 0/1 array."""
    return check_complementary(Y, name="relevant")


def check_answers(answers: AnswerArrays, place: Callable[[int], str]) -> None:
    """Refuse answers that contradict themselves or say nothing; two may contradict each other.

    ``place`` returns what messages call an answer, given its row in the arrays.
    """
    for marks, text in _faulty_marks(answers):
        if marks.nnz:
            rows = np.flatnonzero(counts_of(marks))
            label = marks.indices[0]
            named = label if answers.label_names is None else repr(answers.label_names[label])
            raise AnnotationError(
                f"{place(int(rows[0]))} {text.format(label=f'label {named}')}{_also(rows)}"
            )
    for faulty, text, *arrays in _faulty_rows(answers):
        if faulty.any():
            rows = np.flatnonzero(faulty)
            problem = text.format(*(array[rows[0]] for array in arrays))
            raise AnnotationError(f"{place(int(rows[0]))} {problem}{_also(rows)}")


def _also(rows: Ints) -> str:
    return f" ({len(rows)} answers in all)" if len(rows) > 1 else ""


def _faulty_marks(answers: AnswerArrays) -> Iterator[tuple[Mask, str]]:
    """Yield the faulty marks of each check, and the message for the first of them."""
    named, offered, absent = answers.named, answers.offered, answers.absent
    positive, relevant = answers.positive, answers.relevant
    listed = counts_of(offered) > 0  # rows without entries offer every label
    is_named, is_positive, is_tagged = (
        answers.question == word for word in ("named", "positive", "tagged")
    )
    judged, tagged = answers.judges, answers.tagged
    yield (
        keep_rows(named, ~is_named),
        "names {label}, but its question is not 'named'; give it question 'named', or give the "
        "label as absent",
    )
    yield (
        keep_rows(positive, ~is_positive),
        "names {label} as one that applies, but its question is not 'positive'; give it question"
        " 'positive', or give the label as relevant",
    )
    yield (
        keep_rows(tagged, ~is_tagged),
        "tags {label}, but its question is not 'tagged'; give it question 'tagged', or give the"
        " label as relevant",
    )
    yield (
        keep_rows(relevant, is_tagged),
        "is a list of tags, and gives {label} as relevant; give the label as tagged, or as a"
        " separate answer",
    )
    yield (
        without(keep_rows(union(named, positive), listed), offered),
        "names {label}, which was not offered; add it to offered, or correct what is named",
    )
    yield (
        common(named, relevant),
        "names {label} and gives it as relevant; a label either applies or does not, correct one",
    )
    yield (
        common(union(positive, tagged), union(absent, answers.excluded)),
        "names or tags {label} because it applies, and gives it as absent or excluded; correct one",
    )
    yield (
        common(answers.relevant, union(absent, answers.excluded)),
        "gives {label} as relevant and as absent or excluded; a label either applies or does not,"
        " correct one",
    )
    for struck, word, answer in (
        (keep_rows(absent, is_named), "absent", "no"),
        (keep_rows(relevant, is_positive), "relevant", "yes"),
    ):
        yield (
            union(common(struck, offered), keep_rows(struck, ~listed)),
            f"offers {{label}} and gives it as {word}; leave the label out of offered, or give the"
            f" '{answer}' as a separate answer",
        )
    facts = keep_rows(union(absent, answers.relevant), judged & listed)
    yield (
        without(facts, offered),
        "judges {label}, which was not offered; add it to offered, or correct absent and relevant",
    )
    both = union(absent, answers.relevant)
    short = judged & (counts_of(both) > 0) & (counts_of(both) < answers.n_offered)
    yield (
        without(spell_out(offered, short), both),
        "says nothing about {label}, which was on offer; mark it as absent or relevant, or leave it"
        " out of offered. Of ticked labels, give one mask alone: its marks are what was ticked",
    )
    yield (
        keep_rows(answers.excluded, judged),
        "excludes {label}, but its question is 'asked' or 'ticked'; give the excluded labels as a "
        "separate answer",
    )
    yield (
        without(keep_rows(answers.listed, answers.lists & listed), offered),
        "excludes or tags {label}, which was not offered; add it to offered, or correct the list",
    )


def _faulty_rows(answers: AnswerArrays) -> Iterator[tuple[Any, ...]]:
    """Yield the faulty answers of each check, (A,), the message, and arrays to fill it in."""
    is_named, n_named, n_offered = answers.chooses, counts_of(answers.chosen), answers.n_offered
    n_judged = counts_of(union(answers.absent, answers.relevant))
    asked_for, probability = answers.asked_for, answers.probability
    yield (
        (answers.item < 0) | (answers.item >= answers.n_items),
        f"is about an item that does not exist: with {answers.n_items} items the numbers go from "
        f"0 to {answers.n_items - 1}",
    )
    yield (
        is_named & (n_offered == 1),
        "is a menu of one label, which is a yes/no question; give it question 'asked', with the "
        "label as absent (no) or relevant (yes)",
    )
    yield (
        np.where(is_named, asked_for < 1, asked_for != 0),
        "has asked_for {} with question '{}'; give at least 1 for 'named' and 'positive', and 0 for"
        " all others",
        asked_for,
        answers.question,
    )
    yield (
        is_named & (asked_for > n_offered),
        "was asked for {} labels with {} on offer; correct asked_for or offered",
        asked_for,
        n_offered,
    )
    yield (
        is_named & (n_named > asked_for),
        "names {} labels but was asked for {}; correct asked_for or named",
        n_named,
        asked_for,
    )
    yield (
        is_named & (n_named == 0) & (answers.if_none != "answer"),
        "names nothing, which says that there is no label to name, but {} is '{}'; leave it out, or"
        ' give "answer"',
        np.where(answers.question == "positive", "none_applies", "all_apply"),
        answers.if_none,
    )
    yield (
        answers.judges & (n_judged == 0),
        "judges no label; leave it out, or give what was said as absent or relevant",
    )
    sizes, of_size = np.unique(n_offered, return_inverse=True)
    least = np.array([least_chance(answers.n_labels, size) for size in sizes.tolist()] or [0.0])
    yield (
        ~(np.isnan(probability) | ((probability >= least[of_size]) & (probability <= 1))),
        "has probability {}; give the chance with which a random question was drawn, at least"
        " {:.3g} and at most 1, or NaN if it was not drawn at random",
        probability,
        least[of_size],
    )
    yield from _faulty_draws(answers)
    yield (
        ~(np.isnan(answers.seconds) | ((answers.seconds >= 0) & np.isfinite(answers.seconds))),
        "took {} seconds; give a number from 0, or NaN if it is not known",
        answers.seconds,
    )
    yield (
        ~((answers.weight >= 0) & np.isfinite(answers.weight)),
        "has weight {}; give a number from 0, and 0 to leave the answer out",
        answers.weight,
    )


def _faulty_draws(answers: AnswerArrays) -> Iterator[tuple[Any, ...]]:
    """Yield the same of how questions were drawn."""
    drawn, lacks_chance = answers.drawn, np.isnan(answers.probability)
    by_machine = ~np.isin(drawn, ["", RANDOM, AIMED, RULE])
    draws = [ByMachine.of(text) for text in drawn[by_machine].tolist()]
    unknown, of_form = by_machine.copy(), by_machine.copy()
    unknown[by_machine] = [draw is None for draw in draws]
    of_form[by_machine] = [draw is not None and draw.labels > 0 for draw in draws]
    yield unknown, f"has drawn '{{}}'; {AS_WRITTEN}", drawn
    of_all = (answers.question != "asked") & (answers.n_offered == answers.n_labels)
    yield (
        (drawn == RANDOM) & lacks_chance & ~of_all,
        "was drawn at random, but has no probability; give the chance with which its question was"
        " drawn, or leave drawn blank",
    )
    yield (
        by_machine & ~lacks_chance,
        "was drawn by what a machine says, and has probability {}; such questions have none, so"
        " leave it blank, or leave drawn blank if it is right",
        answers.probability,
    )
    yield (
        by_machine & ~of_form & ((answers.question != "asked") | (answers.n_offered != 1)),
        "was drawn by what a machine says of one label, but its question is '{}' about {} labels;"
        " leave drawn blank",
        answers.question,
        answers.n_offered,
    )
    yield (
        of_form & (answers.question != "ticked"),
        "was drawn as a form, but its question is '{}'; give it question 'ticked', or leave drawn"
        " blank",
        answers.question,
    )


def check_positions(unsure: Any, answers: AnswerArrays, *, people: bool = False) -> list[Ints]:
    """Return the positions of items and labels, and of people, about which somebody was unsure."""
    positions, ends = [np.asarray(each) for each in unsure], [*answers.shape]
    if people:
        ends.append(len(answers.annotator_names))
    fits = len(positions) == len(ends) and len({each.shape for each in positions}) == 1
    for each, least, end in zip(positions, (0, 0, -1), ends, strict=False):
        whole = each.dtype.kind in "iu" or not each.size
        fits = fits and whole and not ((each < least) | (each >= end)).any()
    if not fits:
        lists = "two lists of one length: positions of items and of labels"
        if people:
            lists = (
                "three lists of one length: positions of items, of labels, and of annotator_names"
                " (-1 for others)"
            )
        raise InputError(f"unsure must be {lists}", parameter="unsure")
    return [each.astype(np.intp) for each in positions]
