"""The kinds of some answers, and what they say of how readily labels come to mind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from complabel._parameters import Array
from complabel.answers import Answers
from complabel.errors import InputError, manual_page
from complabel.frequencies import chosen_at_random, judged_at_random
from complabel.losses import check_propensities
from complabel.methods._door import warn_assumed


@dataclass(frozen=True)
class AnswerKinds:
    """The numbers of answers of each kind; they decide what the answers determine."""

    free: int  # namings with all labels on offer
    judged: int  # judgements of random labels
    menus: int  # namings from random menus that offer "all of these apply", or "none"
    pairs: int  # menus of two labels
    excluded: int
    tagged: int
    determining_tags: int  # those of which the exposure is known
    positives: int  # namings of labels that apply, which also count above
    negatives: int  # namings of labels that do not
    all: int

    @property
    def determining(self) -> int:
        """The number of answers that determine the cardinality."""
        # The number of labels that a rule leaves bounds how many apply. If the cardinality were
        # searched, held-out exclusions would prefer values at the end of the grid.
        return self.judged + self.pairs + self.excluded + self.determining_tags

    @property
    def tell_numbers(self) -> bool:
        """Whether they tell how the numbers of labels of items differ, as what applies does."""
        return self.positives > 0 or self.tagged > 0

    @property
    def of_both(self) -> bool:
        """Whether some name labels that apply, and others labels that do not."""
        return self.positives > 0 and self.negatives > 0

    @property
    def determine_propensities(self) -> bool:
        """Whether the answers show how readily labels come to mind."""
        return self.menus > 0 or (self.judged > 0 and self.free > 0)

    @classmethod
    def of(cls, answers: Answers) -> AnswerKinds:
        """Count answers."""
        everything = answers.n_offered == answers.n_labels
        naming = answers.chooses
        menus = ~everything & (answers.if_none == "answer") & chosen_at_random(answers)
        return cls(
            free=int((naming & everything).sum()),
            judged=int(judged_at_random(answers).sum()),
            menus=int(menus.sum()),
            pairs=int((menus & (answers.n_offered == 2)).sum()),
            excluded=int((answers.question == "excluded").sum()),
            tagged=(tagged := int((answers.question == "tagged").sum())),
            determining_tags=tagged,
            positives=int((answers.question == "positive").sum()),
            negatives=int((answers.question == "named").sum()),
            all=answers.n_answers,
        )


def given_propensities(propensities: Any, n_labels: int) -> Array | None:
    """Return the propensities (K,) that the caller gave; None if there are none."""
    if propensities is not None and not isinstance(propensities, str):
        return check_propensities(propensities, n_labels)
    if propensities not in (None, "auto", "equal"):
        raise InputError(
            f"propensities is {propensities!r}; give None, 'auto', 'equal' or one number per label"
        )
    return None


def refuse_shared_propensities(kinds: AnswerKinds, propensities: Any) -> None:
    """Refuse propensities of answers that name both what applies and what does not."""
    is_open = propensities is None or (isinstance(propensities, str) and propensities == "equal")
    if kinds.of_both and not is_open:
        raise InputError(
            "propensities are of labels that people name because they apply, or because they do"
            " not, and the answers have both; leave propensities out, or fit to one kind of these"
            " answers",
            parameter="propensities",
        )


def refuse_undetermined_propensities(kinds: AnswerKinds) -> None:
    if not kinds.determine_propensities:
        raise InputError(
            "propensities='auto', but the answers do not determine propensities: labels that are"
            " named freely may be easy to think of, or apply seldom. Add answers from random menus"
            " that offer 'all of these apply', or yes/no answers about random labels (with their"
            " probability); or give propensities, or leave them out to treat all labels as equal"
        )


def warn_of_free_namings(kinds: AnswerKinds) -> None:
    which = "applies" if kinds.positives else "does not apply"
    warn_assumed(
        f"labels were named freely, and the fit assumes that every label that {which} is"
        " equally likely to be named. These answers cannot show whether this is true. If it is"
        " not, predictions are much worse. For some items, ask yes/no questions about random"
        f" labels, or offer small random menus (see {manual_page('questions')})"
    )
