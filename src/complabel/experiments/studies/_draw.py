"""How a study gets its labels: what people are asked, how they answer, and what that costs."""

from __future__ import annotations

import math
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from complabel._questions import QuestionKind
from complabel.errors import InputError
from complabel.simulate import draw_answers

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
"""Names that studies and draws may have; a study's name also names a folder."""

Labels: TypeAlias = Literal["uniform", "biased", "own"]
"""How labels are chosen: by a scheme, or by people, who gave the dataset's own ones."""

CHECKED: Final = ConfigDict(extra="forbid", frozen=True)
"""Configuration of each part of a plan: unknown keys are refused, objects never change."""

_ASKED_AS: Final = (
    *("question", "propensity_sd", "error_rate", "missed", "invented"),
    *("answers_per_item", "items_share", "audit"),
)
"""The settings of a draw that say how people are asked, and how they answer."""

# Short names of the settings, for the name of a draw.
_SHORT = {
    "asked_for": "labels",
    "sharpness": "sharpness",
    "propensity_sd": "sd",
    "error_rate": "mistakes",
    "missed": "missed",
    "invented": "invented",
    "answers_per_item": "answers",
    "items_share": "share",
    "audit": "audit",
}
_EXCLUDED = "the dataset's own excluded labels"
# Settings that may be chosen beside some others, with the reason why the rest may not.
_GIVEN = ", which are taken as somebody gave them; leave that out, or take labels uniform"
_ALONE = {
    "labels own": (("items_share", "audit"), _GIVEN),
    "labels released": (("audit",), _GIVEN),
    "the question none": (
        ("question", "audit"),
        ", where people only answer the audit; leave that out",
    ),
}


def _known_question(question: str) -> str:
    """Return the question as plans keep it: what is named freely is "free" there."""
    if question == "none" or QuestionKind.parse(question, others=("free", "none")).name != "named":
        return question
    return "free"


_Share = Annotated[float, Field(ge=0, le=1)]


class Draw(BaseModel):
    """How people are asked for labels and how they answer; by default as in the paper.

    Parameters
    ----------
    name : str
    scheme : {"uniform", "biased", "own"}, default="uniform"
        "uniform" and "biased": see :func:`complabel.simulate.draw_complementary`; "biased" is only
        for the question "free". "own": the dataset's real answers or ruled-out labels; then only
        ``items_share`` and ``audit`` may also be set.
    labels : {"simulated", "released"}, default="simulated"
        "released": the labels that the paper's group released; see
        :func:`complabel.experiments.datasets.load_released`. Then only ``audit`` may also be set.
    asked_for : int, default=1
        Number of complementary labels that one answer names.
    sharpness : float, default=1.0
        Only used with ``scheme="biased"``.
    question : str, default="free"
        "free": name one label that does not apply. "menu-2", "menu-3", ...: the same, but from a
        menu of 2, 3, ... random labels; people may also say that all of them apply. "asked": does
        this random label apply, yes or no? "ticked": tick every label that applies.
        "ticked-2", "ticked-3", ...: the same, on a form with 2, 3, ... random labels. "none": only
        the questions of the ``audit``.
    propensity_sd : float, default=0.0
        How unequally labels come to mind: label k is named with a weight of
        exp(``propensity_sd`` * z_k), z_k standard normal. Without effect for "asked" and "ticked".
    error_rate : float, default=0.0
        Share of answers drawn at random from all answers that the question allows.
    missed, invented : float, default=0.0
        How often people do not see that a label applies, and how often they think that one applies
        which does not. Not together with ``error_rate``.
    answers_per_item : int, default=1
    items_share : float, default=1.0
        Share of the instances that people are asked about.
    audit : int, default=0
        Number of yes/no questions about random pairs of an instance and a label, for the training
        part of each fold, answered by the truth. A smaller audit is part of a larger one.

    See Also
    --------
    complabel.simulate.draw_answers : Draws the answers.
    """

    model_config = CHECKED

    name: Name
    scheme: Labels = "uniform"
    labels: Literal["simulated", "released"] = "simulated"
    asked_for: Annotated[int, Field(ge=1)] = 1
    sharpness: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    question: Annotated[str, AfterValidator(_known_question)] = "free"
    propensity_sd: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    error_rate: _Share = 0.0
    missed: _Share = 0.0
    invented: _Share = 0.0
    answers_per_item: Annotated[int, Field(ge=1)] = 1
    items_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    audit: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.scheme == "own" and self.labels == "released":
            raise ValueError(
                "labels released are uniform or biased, but the scheme is own; take one of these"
            )
        self._refuse_beside("labels own", applies=self.scheme == "own")
        self._refuse_beside("labels released", applies=self.labels == "released")
        self._refuse_beside("the question none", applies=self.question == "none")
        if self.question == "none" and not self.audit:
            raise ValueError(
                "audit is 0, but with the question none people only answer the audit; set audit"
                " to a number of questions, such as 200"
            )
        if 0 < self.menu_size < self.asked_for:
            raise ValueError(
                f"asked_for is {self.asked_for}, more than {self.question} offers; take fewer"
                " labels or a larger menu"
            )
        if self.scheme != "own" and self.question != "none":  # what else cannot be, it refuses
            draw_answers(np.eye(1, self.asked_for + self.menu_size + 2), **self.how_people_answer())
        return self

    @property
    def is_plain(self) -> bool:
        """Whether an indicator can hold all: labels are named freely, one answer per instance."""
        return self.scheme != "own" and not any(map(self._differs, _ASKED_AS))

    @property
    def asks_at_random(self) -> bool:
        """Whether some questions are about random labels, which tell the label frequencies."""
        return bool(self.audit) or self.question != "free"

    @property
    def leaves_items_out(self) -> bool:
        """Whether the draw itself leaves some instances without an answer."""
        return self.items_share < 1 or self.question == "none" or self.scheme == "own"

    @property
    def is_published(self) -> bool:
        """Whether the paper has figures for labels drawn like this."""
        sharp = self.scheme == "biased" and self._differs("sharpness")
        return self.is_plain and not sharp and not self._differs("asked_for")

    @property
    def kind(self) -> QuestionKind | None:
        """The kind of the question; None if people only answer the audit."""
        is_asked = self.question != "none"
        return QuestionKind.parse(self.question, others=("free",)) if is_asked else None

    @property
    def menu_size(self) -> int:
        """Number of labels on a menu; 0 if the question has no menus."""
        return 0 if self.kind is None or self.kind.name == "asked" else self.kind.size

    @property
    def judges(self) -> bool:
        """Whether people say of each label on offer whether it applies."""
        return self.kind is not None and self.kind.judges

    def n_judged(self, n_labels: int) -> int:
        """Return how many labels one answer judges; 0 if people name labels."""
        return self.kind.n_offered(n_labels) if self.kind is not None and self.judges else 0

    @property
    def title(self) -> str:
        """A description of the labels, in plain words."""
        words = [self._said_question()]
        if self.scheme == "biased" and self.sharpness != 1:
            words.append(f"sharpness {self.sharpness:g}")
        if self.propensity_sd:
            words.append(f"labels come to mind unequally (sd {self.propensity_sd:g})")
        if self.error_rate:
            words.append(f"{100 * self.error_rate:.3g} % of the answers at random")
        words += self.one_sided_mistakes
        if self.answers_per_item > 1:
            words.append(f"{self.answers_per_item} answers per item")
        if self.items_share < 1:
            words.append(f"{100 * self.items_share:.3g} % of the items")
        if self.audit and self.question != "none":
            words.append(self._said_audit())
        return ", ".join(words)

    @property
    def one_sided_mistakes(self) -> list[str]:
        """How often people miss and invent labels, in plain words; empty if they never do."""
        rates = {"miss": self.missed, "invent": self.invented}
        said = [f"{does} {100 * rate:.3g} %" for does, rate in rates.items() if rate]
        return [f"people {' and '.join(said)}"] if said else []

    @property
    def short_title(self) -> str:
        """A name made from the settings, such as ``"menu-2-sd-1"``."""
        parts = [self._source_and_scheme if self.question == "free" else self.question]
        if self.question == "none":
            parts.clear()
        for setting, short in _SHORT.items():
            if self._differs(setting):
                parts.append(f"{short}-{getattr(self, setting):g}".replace("+", ""))
        return "-".join(parts)

    def title_with(self, *, answers: bool) -> str:
        """Return the title; ``answers`` says that the dataset's own labels are people's answers."""
        people = "the answers that people gave"
        return self.title.replace(_EXCLUDED, people) if answers else self.title

    def how_people_answer(self) -> dict[str, Any]:
        """Return the settings as :func:`complabel.simulate.draw_answers` takes them."""
        names = ("scheme", "sharpness", "asked_for", *_ASKED_AS)
        own = ("propensity_sd", "audit")  # drawn by the study
        return {name: getattr(self, name) for name in names if name not in own}

    def settings(self) -> dict[str, Any]:
        """Return the settings that records of results show, as plain data."""
        asked = {name: getattr(self, name) for name in _ASKED_AS}
        return {"labels": self._source_and_scheme, **asked}

    def what_counts(self) -> dict[str, Any]:
        """Return the settings that the labels depend on, as plain data."""
        without = {"name"}
        if self.scheme != "biased":
            without.add("sharpness")
        if self.judges:
            without.add("propensity_sd")
        return self.model_dump(exclude=without)

    @property
    def _source_and_scheme(self) -> str:
        return f"released-{self.scheme}" if self.labels == "released" else self.scheme

    def _refuse_beside(self, what: str, *, applies: bool) -> None:
        """Refuse settings that differ from their defaults, but have no meaning beside others."""
        known, why = _ALONE[what]
        names = ("asked_for", "sharpness", *_ASKED_AS)
        beside = [name for name in names if name not in known and self._differs(name)]
        if applies and beside:
            raise ValueError(f"{' and '.join(beside)} cannot be set with {what}{why}")

    def _differs(self, name: str) -> bool:
        return bool(getattr(self, name) != type(self).model_fields[name].default)

    def _said_audit(self) -> str:
        return f"an audit of {self.audit} random yes/no answers in each training part"

    def _said_question(self) -> str:
        if self.question == "none":
            return f"nothing but {self._said_audit()}"
        if self.scheme == "own":
            return _EXCLUDED
        count = self.asked_for
        if self.question == "free":
            per_item = f", {count} per item" if count > 1 else ""
            released = "released " * (self.labels == "released")
            return f"{released}{self.scheme} complementary labels{per_item}"
        assert self.kind is not None
        labels = "one label" if count == 1 else f"{count} labels"
        return self.kind.in_words(self.kind.drawn).format(labels=labels)


_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Seconds(BaseModel):
    """Seconds that annotators need for one question, looking at the item included.

    ``asked``: to say whether one label applies; ``judged``: for each further label that is judged
    on the same form, because people look at the item only once; ``named``: to name a label, of
    all; ``menu``: to name one of a short menu.

    The defaults are medians that others measured. 20 people answered about the same 50 short
    videos in each of several ways: 14.5 s for a yes or no, 22 s to tick all that apply of 28
    occupations, 30 s to write words freely (CrowdTruth, tutorial data of CrowdTruth-core). Naming
    one of four labels of a picture took 24 s (CLImage; Wang et al., arXiv 2305.08295).
    """

    model_config = CHECKED

    asked: _Positive = 14.5
    judged: _NotNegative = 0.28
    named: _Positive = 30.0
    menu: _Positive = 24.0

    @classmethod
    def measured(cls, *, asked: float, ticked: float, labels: int) -> Self:
        """Return the seconds of people who need ``ticked`` for a form of so many labels."""
        if labels < 2 or not 0 < asked <= ticked < math.inf:
            raise InputError(
                f"a yes or no takes {asked:g} s, and ticking {labels} labels {ticked:g} s; give the"
                " seconds of a form with two labels or more, which takes at least as long as a yes"
                " or no"
            )
        return cls(asked=asked, judged=(ticked - asked) / (labels - 1))

    def to_judge(self, n_labels: int) -> float:
        """Return the seconds for a form on which so many labels are judged."""
        return self.asked + self.judged * (n_labels - 1)


def answers_of(draw: Draw, n_items: float) -> float | None:
    """Return the expected number of answers, with the audit; None for the dataset's own labels."""
    if draw.scheme == "own":
        return None
    return n_items * amount_of(draw) * draw.asked_for + draw.audit


def seconds_of(draw: Draw, n_items: float, n_labels: int, seconds: Seconds) -> float | None:
    """Return the seconds that annotators need for a draw and its audit; None for own labels."""
    if draw.scheme == "own":
        return None
    if draw.judges:
        each = seconds.to_judge(draw.n_judged(n_labels))
    else:
        each = (seconds.menu if draw.menu_size else seconds.named) * draw.asked_for
    return n_items * amount_of(draw) * each + draw.audit * seconds.asked


def amount_of(draw: Draw) -> float:
    """Return the expected number of questions about each item, without those of the audit."""
    return 0.0 if draw.question == "none" else draw.items_share * draw.answers_per_item
