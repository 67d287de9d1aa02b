"""Counts of the answers that tell how often labels apply: random judgements, and named labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse, special

from complabel._drawn import AIMED, RULE, ByMachine
from complabel._parameters import AnyArray, Array, Bools, Ints
from complabel.answers import Answers, about_positives, mirrored
from complabel.errors import AnnotationError

# The logarithms of the first and last time of successive draws, and how near its solution comes.
_TIMES, _CLOSE = (-50.0, 50.0), 1e-9


def judged_at_random(answers: Answers) -> Bools:
    """Tell which answers (A,) judge labels that were drawn, so that they tell of other pairs."""
    return np.asarray(answers.judges & _is_sample(answers))


def named_at_random(answers: Answers) -> Bools:
    """Return a mask (A,) of the answers that name labels of all, or of a menu drawn at random."""
    return np.asarray((answers.question == "named") & _is_sample(answers))


def chosen_at_random(answers: Answers) -> Bools:
    """Return a mask (A,) of the same, and of the answers that name labels that apply."""
    return np.asarray(answers.chooses & _is_sample(answers))


def _is_sample(answers: Answers) -> Bools:
    """Tell which questions (A,) chance drew: with a known chance, or by what a machine says.

    A question about all labels does not select labels, so it needs no chance, unless it was aimed.
    Where earlier answers led to what a machine says, these pairs are no sample of all.
    """
    drawn, has_chance = answers.drawn, ~np.isnan(answers.probability)
    of_all = (answers.question != "asked") & (answers.n_offered == answers.n_labels)
    known = has_chance | by_machine(answers) | (of_all & (drawn != AIMED))
    return np.asarray(known & (drawn != RULE) & ~_led_by_answers(answers))


def by_machine(answers: Answers) -> Bools:
    """Tell which questions (A,) were drawn among the pairs of which a machine says the same."""
    return np.asarray(answers.drawn.astype("<U1") == "m")


def forms_by_machine(answers: Answers) -> Bools:
    """Tell which answers (A,) fill in forms whose items were drawn by what a machine says."""
    return np.asarray(by_machine(answers) & (np.char.find(answers.drawn, " form.") > 0))


def _led_by_answers(answers: Answers) -> Bools:
    """Tell which of these questions (A,) were asked because of earlier answers.

    If every pair was judged, none was chosen.
    """
    led = by_machine(answers)
    if led.any() and ((answers.complementary > 0) | (answers.known_relevant > 0)).all():
        return np.zeros_like(led)
    led[led] = [not draw.planned for draw in draws_of(answers, np.flatnonzero(led))[0]]
    return led


def about_the_others(answers: Answers) -> str:
    """Say how many answers are no sample by what stands in ``drawn``; nothing if there are none."""
    left, led = ~_is_sample(answers), _led_by_answers(answers)
    reasons = {
        "decided by a rule": left & (answers.drawn == RULE),
        "aimed, and have no probability": left & (answers.drawn == AIMED),
        "asked where earlier answers about a machine led": led,
    }
    parts = [f"{which.sum():,} were {why}" for why, which in reasons.items() if which.any()]
    return f"answers that are no random sample: {'; '.join(parts)}" if parts else ""


def refuse_without_sample(answers: Answers) -> AnnotationError:
    """Return the error if no answer is to a random question, with advice only where it is right."""
    why = "so nothing tells which part of all pairs of an item and a label was judged"
    ask = "draw random questions with complabel ask, and keep their columns probability and drawn"
    reasons = about_the_others(answers)
    in_brackets = f" ({reasons})" if reasons else ""
    if positives := about_positives(answers):
        in_brackets += positives
    elif not (answers.drawn != "").any():
        in_brackets = (
            ". If chance decided what was asked about, say so with complabel import"
            " --random-questions"
        )
    return AnnotationError(f"no answer is to a random question, {why}; {ask}{in_brackets}")


def drawn_at_random(answers: Answers) -> Answers:
    """Return the answers that judge or name labels drawn at random, all items kept."""
    return answers.only(judged_at_random(answers) | chosen_at_random(answers))


@dataclass(frozen=True)
class Audit:
    """J random judgements, each of one label of one item; arrays are (J,)."""

    # A weight is one over the probability of the question. For each label, form of question and
    # stratum, weights are scaled so that they add up to Kish's effective number of judgements.

    item: Ints
    label: Ints
    annotator: Ints  # -1: unknown
    applies: Bools
    weight: Array
    n_labels: int

    @classmethod
    def of(
        cls,
        answers: Answers,
        strata: AnyArray | None = None,
        digests: Sequence[str] = (),
        *,
        all_items: bool = False,
    ) -> Self:
        """Collect the judgements.

        In ``strata`` (n, K), of machines with these ``digests``, those are random, too, that were
        drawn by what they say, or of which nothing says how they were drawn. With ``strata`` or
        with ``all_items``, questions were drawn from these items alone.
        """
        inverse, form, drawn = inverse_probability(answers), forms_of(answers), answers.drawn
        within = np.zeros(len(form), dtype=np.bool_)  # random within strata alone
        forms = forms_by_machine(answers)
        if strata is not None:
            within = (drawn == "") & np.isnan(answers.probability)
            for digest in digests:
                within |= np.char.startswith(drawn, f"machine {digest} ") & ~forms
        inverse[within], form[within] = 1.0, form[within] % (2 * answers.n_labels + 2)
        rows = np.flatnonzero(judged_at_random(answers) | (answers.judges & within))
        marks: Any = (2 * answers.relevant + answers.absent)[rows].tocoo()
        answer, label, yes = rows[marks.row], marks.col, marks.data > 1
        item = answers.item[answer]
        group = form[answer] * answers.n_labels + label
        place, numbers = label, np.full(answers.n_labels, answers.n_items)
        if strata is not None:  # chances that are known are not compared with those that are not
            places = strata * answers.n_labels + np.arange(answers.n_labels)
            place, numbers = places[item, label], np.bincount(places.ravel())
            group = (group * (int(strata.max()) + 1) + strata[item, label]) * 2 + within[answer]
        weight, pairs = _scaled(inverse[answer], group), numbers[place]
        pair = item * answers.n_labels + label
        known = numbers if all_items or strata is not None else np.full(len(numbers), np.inf)
        weight = _by_pair(weight, pair, place, known)
        judged = np.bincount(place[np.unique(pair, return_index=True)[1]], minlength=len(numbers))
        drawn_so = (by_machine(answers) & ~within & ~forms)[answer] & (judged < numbers)[place]
        weight[drawn_so] *= _covered(inverse[answer], group, pairs, weight)[drawn_so]
        return cls(
            item=item,
            label=label.astype(np.intp),
            annotator=answers.annotator[answer],
            applies=yes,
            weight=weight,
            n_labels=answers.n_labels,
        )

    def once(self) -> Audit:
        """Return one judgement of each pair; none where people contradict each other about it."""
        pair = self.item * self.n_labels + self.label
        _, first, place = np.unique(pair, return_index=True, return_inverse=True)
        n_yes, n_judged = np.bincount(place, self.applies), np.bincount(place)
        agreed = (n_yes == 0) | (n_yes == n_judged)
        names = ("item", "label", "annotator", "applies")
        once = replace(self, **{name: getattr(self, name)[first[agreed]] for name in names})
        return replace(once, weight=np.bincount(place, self.weight)[agreed])

    def counts(
        self,
        missed: Array | None = None,
        invented: Array | None = None,
        *,
        only: Bools | slice = slice(None),
    ) -> Counts:
        """Return the effective numbers of "yes" and of judgements of each label.

        Rates of mistakes are (1, K) for all people together, or (R + 1, K) by annotator, those of
        unknown ones last. None: nobody errs.
        """
        nobody = np.zeros((1, self.n_labels))
        missed, invented = (nobody if each is None else each for each in (missed, invented))
        n_groups = max(len(missed), len(invented))
        group = self.annotator[only] % n_groups  # -1, for unknown, is the last one
        place = group * self.n_labels + self.label[only]
        yes, judged = (
            np.bincount(place, weights=weight[only], minlength=n_groups * self.n_labels)
            .astype(np.float64)
            .reshape(n_groups, self.n_labels)
            for weight in (self.weight * self.applies, self.weight)
        )
        answered = judged.any(axis=1)
        rates = (np.broadcast_to(rate, yes.shape)[answered] for rate in (missed, invented))
        return Counts(yes[answered], judged[answered], *rates)


@dataclass(frozen=True)
class Counts:
    """Effective numbers of "yes" and of judgements, by G groups of people; arrays are (G, K).

    The people of a group say "no" about a label that applies with the chance ``missed``, and "yes"
    about one that does not with the chance ``invented``: the model of Rogan and Gladen, "Estimating
    prevalence from the results of a screening test", American Journal of Epidemiology 1978.
    """

    yes: Array
    judged: Array
    missed: Array
    invented: Array

    @classmethod
    def of_one_group(
        cls, yes: Array, judged: Array, missed: Array | float = 0.0, invented: Array | float = 0.0
    ) -> Self:
        """Take counts (K,), and rates that are one number or (K,)."""
        rates = (np.broadcast_to(rate, (1, len(yes))) for rate in (missed, invented))
        return cls(yes[np.newaxis], judged[np.newaxis], *rates)

    def merged(self) -> Counts:
        """Return the counts of all groups together, with mean rates."""
        judged = self.judged.sum(axis=0)
        share = self.judged / np.maximum(judged, np.finfo(float).tiny)
        missed, invented = ((share * rate).sum(axis=0) for rate in (self.missed, self.invented))
        return Counts.of_one_group(self.yes.sum(axis=0), judged, missed, invented)

    def chance_of_yes(self, logits: Array) -> Array:
        """Return the chance (G, K, N) that each group says "yes", at logits (K, N)."""
        missed, invented = self.missed[..., np.newaxis], self.invented[..., np.newaxis]
        return np.asarray((1 - missed) * special.expit(logits) + invented * special.expit(-logits))

    def log_likelihood(self, logits: Array) -> Array:
        """Return the log-probability (K, N) of what was said about each label, at (K, N)."""
        total = np.zeros_like(logits)
        some = np.flatnonzero(self.judged.any(axis=0))  # of most labels, people said nothing
        log_p, log_q = special.log_expit(logits[some]), special.log_expit(-logits[some])
        for groups in self._groups():
            yes, judged, missed, invented = (each[some] for each in groups)
            no = judged - yes
            if not missed.any() and not invented.any():
                total[some] += yes * log_p + no * log_q
                continue
            total[some] += yes * np.logaddexp(_log(1 - missed) + log_p, _log(invented) + log_q)
            total[some] += no * np.logaddexp(_log(missed) + log_p, _log(1 - invented) + log_q)
        return total

    def _groups(self) -> Iterator[tuple[Array, ...]]:
        columns = (self.yes, self.judged, self.missed, self.invented)
        for rows in zip(*columns, strict=True):
            yield tuple(row[:, np.newaxis] for row in rows)

    def slope(self, logits: Array) -> Array:
        """Return the derivative (K,) of the log-likelihood by logits (K,)."""
        chance, rise = self._chance_and_rise(logits)
        return np.asarray(((self.yes - self.judged * chance) * rise).sum(axis=0))

    def information(self, logits: Array) -> Array:
        """Return Fisher's information (K,) about logits (K,)."""
        chance, rise = self._chance_and_rise(logits)
        return np.asarray((self.judged * chance * (1 - chance) * rise**2).sum(axis=0))

    def _chance_and_rise(self, logits: Array) -> tuple[Array, Array]:
        """Return chances of "yes" (G, K), and how fast their logits rise with those of labels."""
        chance = self.chance_of_yes(logits[:, np.newaxis])[..., 0]
        slope = (1 - self.missed - self.invented) * special.expit(logits) * special.expit(-logits)
        return chance, slope / np.maximum(chance * (1 - chance), np.finfo(float).tiny)


def _log(rate: Array) -> Array:
    """Return the logarithm, of 0 that of the smallest number."""
    return np.asarray(np.log(np.maximum(rate, np.finfo(float).tiny)))


@dataclass(frozen=True)
class Named:
    """Counts of named labels that do not apply, regardless of the item they are about.

    If people named labels that apply, it holds the mirror image of what they said.
    """

    first: Array  # (K,): how often each label was the single one named of all labels
    answers: Answers | None  # the D distinct other namings: of a menu, or of several labels
    counts: Array  # (D,): how often each of them was given
    never_all: float  # how many of ``first`` are about items to which not all labels can apply
    mirrored: bool = False

    @property
    def says_all_apply(self) -> bool:
        if self.answers is None:
            return False
        menus = self.answers.n_offered < self.answers.n_labels
        return bool((menus & (self.answers.all_apply == "answer")).any())

    @classmethod
    def of(cls, answers: Answers) -> Self | None:
        """Collect the named labels; return None if no label was named."""
        named = cls._of(answers)
        if named is not None or not (answers.question == "positive").any():
            return named
        # Where labels depend on each other, such as one for each item, far fewer items have none
        # than frequencies of independent labels say. So nothing is read from "none of these".
        choices = answers.only(np.diff(answers.positive.indptr) > 0)
        says_none = choices.none_applies == "answer"
        choices = replace(choices, none_applies=np.where(says_none, "never", choices.none_applies))
        named = cls._of(mirrored(choices))
        return None if named is None else replace(named, mirrored=True)

    @classmethod
    def _of(cls, answers: Answers) -> Self | None:
        rows = np.flatnonzero(named_at_random(answers))
        if not len(rows):
            return None
        inverse = inverse_probability(answers)
        inverse[answers.n_offered == answers.n_labels] = 1.0
        weight = _scaled(inverse[rows], answers.n_offered[rows])
        simple = (
            (answers.n_offered == answers.n_labels)
            & (answers.asked_for == 1)
            & (np.diff(answers.named.indptr) == 1)
            & np.isin(answers.all_apply, ("never", "answer"))
        )[rows]
        first = np.asarray(answers.named[rows[simple]].T @ weight[simple], dtype=np.float64)
        never_all = float(weight[simple & (answers.all_apply == "never")[rows]].sum())
        rest, weight = rows[~simple], weight[~simple]
        if not len(rest):
            return cls(first, None, np.empty(0), never_all)
        chosen, place = _distinct(answers, rest)
        about: dict[str, Any] = {
            name: getattr(answers, name)[rest[chosen]]
            for name in ("named", "offered", "asked_for", "all_apply", "question")
        }
        counts = np.asarray(np.bincount(place, weights=weight), dtype=np.float64)
        return cls(first, Answers.from_arrays(**about), counts, never_all)


def inverse_probability(answers: Answers) -> Array:
    """Return one over the chance of each question (A,), up to a factor for each of ``forms_of``.

    It is 1 where no chance is known. A question drawn among the N pairs of which a machine says
    the same stands for N / n of them, if n of them were answered. Where less than one was to be
    drawn, it stands for more: for the labels of which none was.
    """
    chance = np.where(np.isnan(answers.probability), 1.0, answers.probability)
    menus = answers.n_offered > 1  # there may be so many that one over a chance is no number
    top = np.zeros(answers.n_labels + 1)
    np.maximum.at(top, answers.n_offered, chance)
    inverse = np.where(menus, top[answers.n_offered], 1.0) / chance
    forms = forms_by_machine(answers)
    if forms.any():
        inverse[forms] = _of_forms(answers, np.flatnonzero(forms))
    rows = np.flatnonzero(by_machine(answers) & ~forms & ~_led_by_answers(answers))
    if not len(rows):
        return np.asarray(inverse)
    draws, digest = draws_of(answers, rows)
    words, word = np.unique([each.word for each in draws], return_inverse=True)
    label = (answers.relevant + answers.absent)[rows].indices
    key = (digest * len(words) + word) * answers.n_labels + label
    _, stratum, answered = np.unique(key, return_inverse=True, return_counts=True)
    pairs, planned = (np.array([getattr(d, name) for d in draws]) for name in ("pairs", "planned"))
    latest = np.zeros(len(answered))
    np.maximum.at(latest, stratum, planned)
    seen = _chance_to_be_seen(latest, answered, digest[np.unique(stratum, return_index=True)[1]])
    inverse[rows] = pairs / (answered * seen)[stratum]
    return np.asarray(inverse)


def _of_forms(answers: Answers, rows: Ints) -> Array:
    """Return one over the chance of the item of each form (F,) that a machine's labels drew.

    Items were drawn one by one, each time with chances in proportion to their sizes among those
    left. So an item is drawn until some time t with a chance of about 1 - exp(-t size) (Rosen,
    "Asymptotic theory for successive sampling", Annals of Mathematical Statistics 1972). The time
    is such that the items drawn stand for all items. More rounds, or fewer answers than were to be
    given, are just another time.
    """
    draws, digest = draws_of(answers, rows)
    item, size = answers.item[rows], np.array([each.planned for each in draws])
    inverse = np.ones(len(rows))
    for each in np.unique(digest):
        of_it = np.flatnonzero(digest == each)
        _, first = np.unique(item[of_it], return_index=True)
        n_items, sizes = max(draws[at].pairs for at in of_it), size[of_it[first]]
        low, high = _TIMES
        while len(first) < n_items and high - low > _CLOSE:
            middle = (low + high) / 2
            stand = -1 / np.expm1(-np.exp(middle) * sizes)
            low, high = (middle, high) if stand.sum() > n_items else (low, middle)
        inverse[of_it] = -1 / np.expm1(-np.exp(high) * size[of_it])
    return inverse


def _chance_to_be_seen(planned: Array, answered: Ints, digest: Ints) -> Array:
    """Return the chance (S,) that a stratum has any answer, if so many of its pairs were planned.

    Not all that was planned may be answered, as when somebody stops early. None is planned where
    answers led to all of a stratum, which count if every pair is known.
    """
    is_large = planned >= 1
    n, of = (np.bincount(digest, is_large * each) for each in (answered, planned))
    part = np.where(of > 0, np.minimum(n / np.maximum(of, 1), 1.0), 1.0)[digest]
    seen = np.where(is_large, 1 - (1 - part) ** planned, part * planned)
    return np.where(planned > 0, seen, 1.0)


def sums_by(place: AnyArray, values: Array) -> Array:
    """Return the sum of values in each place."""
    return np.bincount(place, weights=values).astype(np.float64)


def stand_for(weight: Array, place: Ints, numbers: AnyArray) -> Array:
    """Return how many things each of M in a sample stands for, (M,): at least for itself.

    Of the things in ``place`` (M,), there are so many as ``numbers`` (P,) say. ``weight`` is one
    over the chance of each at the first draw, up to a factor in each place. Later draws are from
    what is left, so the chance to be in the sample is about min(1, factor / weight) (Ohlsson,
    "Sequential Poisson sampling", Journal of Official Statistics 1998). The factor is such that
    what is found sums to the number. So if all are in the sample, each stands for itself alone.
    """
    counts, order = np.ones(len(weight)), np.lexsort((weight, place))
    ends = np.searchsorted(place[order], np.arange(len(numbers) + 1))
    for number, first, last in zip(numbers, ends, ends[1:], strict=False):
        if last - first < number and last > first:
            rising = weight[order[first:last]]
            # The first ones stand for themselves; the others share what is left.
            factor = (number - np.arange(len(rising))) / np.cumsum(rising[::-1])[::-1]
            times = factor[np.argmax(factor * rising >= 1)]
            counts[order[first:last]] = np.maximum(times * rising, 1.0)
    return counts


def forms_of(answers: Answers) -> Ints:
    """Return a number (A,) for the way in which each question was drawn, and for its form.

    Weights are compared only within one of them.
    """
    form: Ints = 2 * answers.n_offered.astype(np.intp) + (answers.question == "ticked")
    rows = np.flatnonzero(by_machine(answers))
    if len(rows):
        draws, digest = draws_of(answers, rows)
        labels = np.array([min(each.labels, answers.n_labels) for each in draws])
        # A form is of the size that was drawn, also if somebody was unsure about some labels.
        form[rows] = np.where(labels > 0, 2 * labels + 1, form[rows])
        form[rows] += (digest + 1) * (2 * answers.n_labels + 2)
    return form


def draws_of(answers: Answers, rows: Ints) -> tuple[list[ByMachine], Ints]:
    """Return the draws of answers by what machines say, and the number of each one's machine."""
    draws = [each for text in answers.drawn[rows].tolist() if (each := ByMachine.of(text))]
    _, digest = np.unique([each.digest for each in draws], return_inverse=True)
    return draws, digest.astype(np.intp)


def _scaled(inverse: Array, group: Ints) -> Array:
    """Scale the weights of each group to sum to Kish's effective number, (sum w)^2 / sum w^2."""
    _, place = np.unique(group, return_inverse=True)
    total = np.bincount(place, weights=inverse)
    squares = np.bincount(place, weights=inverse**2)
    return np.asarray(inverse * (total / np.maximum(squares, np.finfo(float).tiny))[place])


def _by_pair(weight: Array, pair: Ints, place: Ints, numbers: AnyArray) -> Array:
    """Return weights (J,) that sum in each place to Kish's effective number of its pairs.

    What several people say about one pair counts as one answer. In each place there are so many
    pairs as ``numbers`` say, and any number if it is infinite.
    """
    _, first, at = np.unique(pair, return_index=True, return_inverse=True)
    total = stands = sums_by(at, weight)
    if np.isfinite(numbers).all():
        stands = stand_for(total, place[first], numbers)
    return np.asarray(weight * (_scaled(stands, place[first]) / total)[at])


def _distinct(answers: Answers, rows: Ints) -> tuple[Ints, Ints]:
    """Group equal answers: return the first row of each group, and the group of each row."""
    marks: Any = sparse.hstack([answers.named[rows], answers.offered[rows]]).tocsr()
    # Hash each mask as a sum of random numbers: equal masks have equal sums, others differ.
    numbers = np.random.default_rng(0).integers(2**40, size=marks.shape[1])
    _, word = np.unique(answers.all_apply[rows], return_inverse=True)
    keys: Any = np.stack([marks.astype(np.int64) @ numbers, answers.asked_for[rows], word.ravel()])
    _, first, place = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    return first, place.ravel()


def _covered(inverse: Array, group: Ints, pairs: Ints, weight: Array) -> Array:
    """Return what part of its pairs the answers of each group stand for, beside the mean (J,).

    Where few answers are about a label, some stand for few of its pairs, and others for many.
    """
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    part = (np.bincount(place, weights=inverse) / np.maximum(pairs[first], 1))[place]
    mean = float((weight * part).sum() / max(weight.sum(), np.finfo(float).tiny))
    return np.asarray(part / max(mean, np.finfo(float).tiny))
