"""What a fit knows about annotators, and exclusions as namings for fits without their rates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel._parameters import Array, Bools
from complabel.answers import Answers

if TYPE_CHECKING:  # they import torch, which showing a model does not need
    from complabel.methods.selection._known import Setting
    from complabel.methods.selection._likelihood import Likelihood


@dataclass(frozen=True, eq=False)
class Annotators:
    """Given or fitted properties of R annotators and K labels, as attributes of the classifier."""

    names: tuple[str, ...]
    propensities: Array | None
    error_rates: Array | None  # (R,), of the named annotators; None if no mistakes
    error_rate: float  # of all others
    exclusion_rates: Array | None
    # Of missed and invented labels (2, R + 1, 1 or K), those of all others last.
    one_sided: Array | None = None
    exposure: Array | None = None
    exposure_is_assumed: bool = False  # the same of all labels; then it is not shown

    def shown(self) -> dict[str, Array | float | None]:
        """Return the attributes of the classifier that say what is known about people."""
        shown: dict[str, Array | float | None] = {
            "propensities_": self.propensities,
            "error_rate_": self.error_rate,
            "error_rates_": self.error_rates,
            "exclusion_rates_": self.exclusion_rates,
            "exposure_": None if self.exposure_is_assumed else self.exposure,
        }
        if self.one_sided is not None:
            for name, rates in zip(("missed", "invented"), self.one_sided, strict=True):
                of_people = rates.mean(axis=1)
                shown[f"{name}_"] = of_people[:-1] if len(of_people) > 1 else of_people
                if rates.shape[1] > 1:
                    shown[f"{name}_by_label_"] = rates[-1]
        return shown

    @classmethod
    def of(
        cls, likelihood: Likelihood, setting: Setting, log_propensities: Array | None
    ) -> Annotators:
        weights = likelihood.known.propensities_at(setting)
        if log_propensities is not None:
            weights = np.exp(log_propensities - log_propensities.mean())
        rates = likelihood.rates_at(setting)
        mean, of_names, one_sided = 0.0, None, None
        if rates is not None and rates.ndim > 1:
            one_sided = rates
        elif rates is not None:
            # The mean over answers, not over annotators: a new annotator is assumed to be like
            # those who answered most. Code -1 (unknown) takes the last rate.
            mean = float(rates[likelihood.answers.annotator].mean())
            of_names = np.array(rates[:-1])
        names, known = likelihood.answers.annotator_names, likelihood.known
        excluded, tagged = known.exclusion_rates, known.exposure
        return cls(
            names, weights, of_names, mean, excluded, one_sided, tagged, known.exposure_is_assumed
        )

    def likelihood(self, answers: Answers, unknown_exposure: float | None = None) -> Likelihood:
        """Return new answers with the properties of their annotators, matched by name.

        Where the exposure is not known, tags are left out, or have the ``unknown_exposure``.
        """
        from complabel.methods.selection._known import KnownRates
        from complabel.methods.selection._likelihood import Likelihood

        weights = answers.item_weight if answers.weighted else None
        exposure = self.exposure
        if exposure is None and unknown_exposure is not None:
            exposure = np.full(answers.n_labels, unknown_exposure)
        elif exposure is None:
            answers = answers.only(answers.question != "tagged")
        if self.exclusion_rates is None:
            answers = named_where_excluded(answers)
        rates = None
        if self.error_rates is not None:
            by_name = dict(zip(self.names, self.error_rates, strict=True))
            of_these = [by_name.get(name, self.error_rate) for name in answers.annotator_names]
            rates = np.array([*of_these, self.error_rate])
        if self.one_sided is not None:
            place = {name: number for number, name in enumerate(self.names)}
            of_those = [place.get(name, -1) for name in answers.annotator_names]
            rates = self.one_sided[:, [*of_those, -1]]
        known = KnownRates(
            self.propensities,
            rates,
            self.exclusion_rates,
            exposure,
            exposure_is_assumed=self.exposure_is_assumed,
        )
        return Likelihood(answers, known, weights)


def named_where_excluded(answers: Answers) -> Answers:
    """Return answers in which excluded labels are treated as named from those looked at."""
    # What exclusions also mark, or exclude from a menu of one, becomes a judgement.
    rules = answers.question == "excluded"
    if not rules.any():
        return answers
    marked = np.diff(answers.excluded.indptr)
    named = rules & (marked > 0) & (answers.n_offered > 1)
    kept = ~rules | named
    names = np.array([*answers.annotator_names, None], dtype=object)
    about: dict[str, Any] = {"n_items": answers.n_items, "label_names": answers.label_names}
    made = Answers.from_arrays(
        named=(answers.named + _only(named, answers.excluded))[kept],
        positive=answers.positive[kept],
        tagged=answers.tagged[kept],
        absent=_only(~rules, answers.absent)[kept],
        relevant=_only(~rules, answers.relevant)[kept],
        offered=answers.offered[kept],
        question=np.where(rules, "named", answers.question)[kept],
        item=answers.item[kept],
        annotator=names[answers.annotator[kept]],
        asked_for=np.where(rules, marked, answers.asked_for)[kept],
        probability=answers.probability[kept],
        drawn=np.where(rules, "", answers.drawn)[kept],  # they are read as if people named them
        weight=answers.weight[kept],
        all_apply=np.where(rules, "never", answers.all_apply)[kept],
        none_applies=answers.none_applies[kept],
        **about,
    )
    absent = _only(rules, answers.absent).maximum(_only(rules & ~named, answers.excluded))
    relevant = _only(rules, answers.relevant)
    facts = np.flatnonzero(np.diff((absent + relevant).indptr))
    if not len(facts):
        return replace(made, item_names=answers.item_names)
    judged = Answers.from_arrays(
        absent=absent[facts],
        relevant=relevant[facts],
        question="asked",
        item=answers.item[facts],
        annotator=names[answers.annotator[facts]],
        weight=answers.weight[facts],
        **about,
    )
    return replace(Answers.concatenate([made, judged]), item_names=answers.item_names)


def _only(rows: Bools, mask: Any) -> Any:
    only = mask.copy()
    only.data *= np.repeat(rows, np.diff(mask.indptr))
    only.eliminate_zeros()
    return only
