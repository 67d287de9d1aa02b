"""Random answers of every kind, for property tests: small, possible, with all that can be told."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from tests.losses.answers_reference import rate_of

from complabel.answers import QUESTIONS, Answers

MASKS = ("offered", "named", "absent", "relevant", "excluded", "positive", "tagged")
KINDS = QUESTIONS


@dataclass(frozen=True)
class Case:
    """Logits (n, K), answers about the n items, and the settings of the likelihood."""

    logits: np.ndarray
    answers: Answers
    settings: dict

    @property
    def tolerance(self):
        """What is promised, relative to the likelihood: one rule is exact here, one is not."""
        item, question = self.answers.item, self.answers.question
        namings = (np.bincount(item[question == q], minlength=1) for q in ("named", "positive"))
        weighed = self.settings.get("propensities") is not None
        singular = weighed or max(each.max() for each in namings) > 1
        return 1e-8 if singular else 1e-12


@st.composite
def cases(draw, *, questions=KINDS, **given):
    """Draw a `Case`; `given` fixes what a part of the tests needs: see the defaults below."""
    of = {"most_labels": 8, "most_items": 3, "most_answers": 4, "rates": (0.0, 0.0, 0.15, 0.6)}
    of |= {"propensities": True, "most_named": 3, "scale": 6.0} | given
    n_labels = draw(st.integers(2, of["most_labels"]))
    n_items = draw(st.integers(1, of["most_items"]))
    people = st.lists(st.integers(-1, 1), max_size=of["most_answers"])  # -1 is unknown
    annotators = [draw(people) for _ in range(n_items)]
    n_known = max((code + 1 for of_item in annotators for code in of_item), default=0)
    rates = draw(st.sampled_from(of["rates"]))
    if n_known and draw(st.booleans()):
        rates = draw(st.lists(st.sampled_from(of["rates"]), min_size=n_known, max_size=n_known))
    rows, kinds = [], st.sampled_from(questions)
    for item, of_item in enumerate(annotators):
        truth = draw(masks(n_labels))
        menus = draw(st.lists(masks(n_labels, least=2), min_size=1, max_size=2))
        for annotator in of_item:
            row = {"item": item, "annotator": annotator, "question": draw(kinds)}
            tell = _TELL[row["question"]]
            chooses = tell in (_name, _name_positive)
            of_some = st.sampled_from(menus) if chooses else masks(n_labels, least=1)
            row["offered"] = draw(of_some)
            rows.append(row | tell(draw, truth, row["offered"], rate_of(annotator, rates), of))
    settings = {"error_rates": rates}
    for question, name in (("excluded", "exclusion_rates"), ("tagged", "exposure")):
        if question in questions:
            shares = st.lists(st.floats(0.05, 0.95), min_size=n_labels, max_size=n_labels)
            settings[name] = draw(st.floats(0.05, 0.95) | shares)
    if of["propensities"] and draw(st.booleans()):
        settings["propensities"] = np.exp(draw(some_logits(1, n_labels, 2.3))[0])
    answers = container(rows, n_items, n_labels, whole_as_none=draw(st.booleans()))
    return Case(draw(some_logits(n_items, n_labels, of["scale"])), answers, settings)


def some_logits(n_items, n_labels, scale=6.0):
    """Draw logits (n, K): small numbers that shrink, or any."""
    of_row = st.lists(st.floats(-scale, scale), min_size=n_labels, max_size=n_labels)
    simple = st.lists(of_row, min_size=n_items, max_size=n_items).map(np.array)
    shape = (n_items, n_labels)
    seeds = st.integers(0, 2**32 - 1)
    return simple | seeds.map(lambda n: np.random.default_rng(n).uniform(-scale, scale, shape))


@st.composite
def masks(draw, n_labels, *, least=0):
    """Draw a set of labels (K,), as booleans, with at least some of them."""
    # One number in place of many booleans takes a quarter of the time to draw.
    mask = draw(st.integers(0, 2**n_labels - 1)) >> np.arange(n_labels) & 1 == 1
    if mask.sum() < least:
        mask[draw(st.permutations(range(n_labels)))[:least]] = True
    return mask


def container(rows, n_items, n_labels, *, whole_as_none=False, **given):
    """Put answers into the container; a menu of all labels may be told by a row without entries."""
    columns = {
        name: np.array([row.get(name, np.zeros(n_labels)) for row in rows]).reshape(-1, n_labels)
        for name in MASKS
    }
    if whole_as_none:
        columns["offered"] = columns["offered"] * ~columns["offered"].all(axis=1, keepdims=True)
    columns = {name: mask.astype(np.uint8) for name, mask in columns.items()}
    columns["question"] = np.array([row["question"] for row in rows], dtype=str)
    columns["item"] = np.array([row["item"] for row in rows], dtype=np.intp)
    columns["annotator"] = np.array([row.get("annotator", 0) for row in rows], dtype=np.intp)
    columns["asked_for"] = np.array([row.get("asked_for", 0) for row in rows], dtype=np.intp)
    for name in ("all_apply", "none_applies"):
        columns[name] = np.array([row.get(name, "answer") for row in rows], dtype=str)
    return Answers.from_arrays(**columns, n_items=n_items, **given)


def _judge(draw, truth, offered, rate, of):
    """Judge all labels on offer, with any mistakes where the annotator makes some."""
    wrong = draw(masks(len(truth))) if rate > 0 else np.zeros(len(truth), dtype=bool)
    return {"absent": offered & (truth == wrong), "relevant": offered & (truth != wrong)}


def _exclude(draw, truth, offered, rate, of):
    """Rule out some of the labels on offer that do not apply."""
    return {"excluded": offered & ~truth & draw(masks(len(truth)))}


def _name(draw, truth, offered, rate, of):
    """Name labels, by mistake any; and tell facts besides."""
    free, m = offered & ~truth, draw(st.integers(1, min(of["most_named"], offered.sum())))
    treatments = ["answer", "skip", "never"] + ["pick"] * (m == 1)
    all_apply = draw(st.sampled_from(treatments))
    if rate > 0 and draw(st.booleans()):
        sizes = st.integers(0 if all_apply == "answer" else 1, m)
        size, among = draw(sizes), offered
    elif free.any():
        size, among = min(m, free.sum()), free
    else:
        all_apply = "pick" if all_apply == "pick" else "answer"
        size, among = int(all_apply == "pick"), offered
    named = np.zeros(len(truth), dtype=bool)
    named[draw(st.permutations(np.flatnonzero(among).tolist()))[:size]] = True
    told = {"named": named, "asked_for": m, "all_apply": all_apply}
    if draw(st.booleans()):
        told["relevant"] = truth & ~named & draw(masks(len(truth)))
        told["absent"] = ~truth & ~offered & draw(masks(len(truth)))
    return told


def _name_positive(draw, truth, offered, rate, of):
    """Name labels that apply: what would be named if all that does not apply did."""
    told = _name(draw, ~truth, offered, rate, of)
    return {_MIRRORED.get(name, name): each for name, each in told.items()}


def _tag(draw, truth, offered, rate, of):
    """Tag some of the labels on offer that apply; some others are denied."""
    tags = _exclude(draw, ~truth, offered, rate, of)["excluded"]
    return {"tagged": tags, "absent": ~truth & draw(masks(len(truth)))}


_MIRRORED = {"named": "positive", "absent": "relevant", "relevant": "absent"}
_MIRRORED |= {"all_apply": "none_applies"}


_TELL = {
    "named": _name,
    "asked": _judge,
    "ticked": _judge,
    "excluded": _exclude,
    "positive": _name_positive,
    "tagged": _tag,
}
