"""Answers as plain sets, one dictionary each, and what they come to, for tests to compare with."""

import numpy as np
from hypothesis import strategies as st

from complabel.answers import QUESTIONS, Answers

MASKS = ("named", "absent", "relevant", "excluded", "positive", "tagged", "offered")


@st.composite
def records(draw, *, min_labels=2):
    """Some answers about some items, (n_items, n_labels, list of dictionaries)."""
    n_items, n_labels = draw(st.integers(1, 5)), draw(st.integers(min_labels, 5))
    everything = frozenset(range(n_labels))

    def subset(of, min_size=0):
        if not of:
            return frozenset()
        return frozenset(draw(st.sets(st.sampled_from(sorted(of)), min_size=min_size)))

    found = []
    for _ in range(draw(st.integers(0, 8))):
        question = draw(st.sampled_from(QUESTIONS))
        said = dict.fromkeys(MASKS, frozenset())
        chooses = question in ("named", "positive")
        offered = subset(everything, 2 if chooses else 1)
        asked_for = 0
        if chooses:
            asked_for = draw(st.integers(1, len(offered)))
            chosen = said[question] = frozenset(sorted(subset(offered))[:asked_for])
            same, other = ("absent", "relevant")[:: 1 if question == "named" else -1]
            said[same] = subset(everything - offered)
            said[other] = subset(everything - chosen - said[same])
        elif question in ("excluded", "tagged"):
            said[question] = subset(offered)
            other = "relevant" if question == "excluded" else "absent"
            said[other] = subset(everything - said[question])
        else:
            said["absent"] = subset(offered)
            said["relevant"] = offered - said["absent"]
        said["offered"] = frozenset() if offered == everything else offered
        found.append(
            said
            | {
                "question": question,
                "item": draw(st.integers(0, n_items - 1)),
                "asked_for": asked_for,
                "annotator": draw(st.sampled_from(["ann", "bob", "cy", None])),
                "probability": draw(st.sampled_from([0.25, 1.0, np.nan])),
                "seconds": draw(st.sampled_from([0.0, 2.5, np.nan])),
                "weight": draw(st.sampled_from([1.0, 0.0, 2.5])),
            }
        )
    return n_items, n_labels, found


def indicator(sets, n_labels):
    """The indicator matrix of sets of labels."""
    matrix = np.zeros((len(sets), n_labels), dtype=int)
    for row, labels in enumerate(sets):
        matrix[row, sorted(labels)] = 1
    return matrix


def make(n_items, n_labels, found, form=np.asarray):
    """Answers of records, whose masks are given in some form."""
    columns = {
        name: [record[name] for record in found]
        for name in ("question", "item", "asked_for", "probability", "seconds", "weight")
    }
    return Answers.from_arrays(
        **{name: form(indicator([r[name] for r in found], n_labels)) for name in MASKS},
        question=np.array(columns["question"], dtype=str),
        item=np.array(columns["item"], dtype=int),
        asked_for=np.array(columns["asked_for"], dtype=int),
        probability=np.array(columns["probability"], dtype=float),
        seconds=np.array(columns["seconds"], dtype=float),
        weight=np.array(columns["weight"], dtype=float),
        annotator=np.array([record["annotator"] for record in found], dtype=object),
        n_items=n_items,
    )


def back(answers):
    """The records of answers, sorted by items."""
    dense = {name: getattr(answers, name).toarray() for name in MASKS}
    return [
        {name: frozenset(np.flatnonzero(dense[name][at]).tolist()) for name in MASKS}
        | {
            "question": str(answers.question[at]),
            "item": int(answers.item[at]),
            "asked_for": int(answers.asked_for[at]),
            "annotator": None
            if answers.annotator[at] == -1
            else answers.annotator_names[answers.annotator[at]],
            "probability": answers.probability[at],
            "seconds": answers.seconds[at],
            "weight": answers.weight[at],
        }
        for at in range(answers.n_answers)
    ]


def same(left, right):
    """Whether two lists of records are the same; NaN is as NaN."""
    return list(map(repr, map(_plain, left))) == list(map(repr, map(_plain, right)))


def _plain(record):
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in sorted(record.items())
    } | {name: float(record[name]) for name in ("probability", "seconds", "weight")}


def left(record, n_labels, question):
    """The labels that an answer to the question offers and does not name, if these are all."""
    fewer = record["question"] == question and len(record[question]) < record["asked_for"]
    on_offer = record["offered"] or frozenset(range(n_labels))
    return on_offer - record[question] if fewer else frozenset()


def affirmed(record, n_labels):
    """The labels that an answer says to apply."""
    return (
        record["relevant"] | record["positive"] | record["tagged"] | left(record, n_labels, "named")
    )


def denied(record, n_labels):
    """The labels that an answer says not to apply."""
    said = record["named"] | record["absent"] | record["excluded"]
    return said | left(record, n_labels, "positive")


def what_is_said(n_items, n_labels, found, of_record):
    """By item, the labels that answers affirm or deny."""
    sets = [set() for _ in range(n_items)]
    for record in found:
        sets[record["item"]] |= of_record(record, n_labels)
    return indicator(sets, n_labels)
