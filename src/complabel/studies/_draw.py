"""How a study gets its labels: what people are asked, and how their answers are drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""What studies and draws may be called: a study's name becomes that of a folder."""

Name = Annotated[str, Field(pattern=f"^{NAME_PATTERN}$")]

Labels: TypeAlias = Literal["uniform", "biased", "own"]
"""Where labels come from: simulated by a scheme, or the dataset's own ones."""

_ASKED_AS: Final = (
    *("question", "propensity_sd", "mistakes", "answers_per_item", "items_share"),
    "audit",
)
"""The settings of a draw that say how people are asked, and how they answer."""

_MENU = re.compile(r"menu-([1-9][0-9]*)")
_OTHER_QUESTIONS = ("free", "asked", "ticked", "none")
# Questions about labels that were chosen for people: what comes to their minds plays no part.
_JUDGED = ("asked", "ticked")
# What the settings are called in the name of a draw.
_SHORT = {
    "labels_per_row": "labels",
    "sharpness": "sharpness",
    "propensity_sd": "sd",
    "mistakes": "mistakes",
    "answers_per_item": "answers",
    "items_share": "share",
    "audit": "audit",
}
_EXCLUDED = "the dataset's own excluded labels"
# What may be chosen beside labels that nobody is asked for here.
_BESIDE_OWN = ("items_share", "audit")


CHECKED: Final = ConfigDict(extra="forbid", frozen=True)
"""For each part of a plan: no unknown keys, never changed."""


def _known(question: str) -> str:
    """Refuse a question that nobody can be asked."""
    if question not in _OTHER_QUESTIONS and _menu_size(question) < 2:
        raise ValueError(
            f"there is no question {question!r}; known are free, menu-2, menu-3, menu-4 and so on"
            " (a menu of so many random labels), asked, ticked and none"
        )
    return question


def _menu_size(question: str) -> int:
    """Return how many labels are on the menus of a question, 0 if it has none."""
    found = _MENU.fullmatch(question)
    return int(found[1]) if found else 0


class Draw(BaseModel):
    """How labels are asked for and answers are drawn; the defaults are the paper's protocol.

    Parameters
    ----------
    name : str
    scheme : {"uniform", "biased", "own"}, default="uniform"
        "uniform" and "biased": see :func:`complabel.annotations.draw_complementary`; "biased" is
        for the question "free". "own": what people really answered, or which labels they ruled out,
        where the dataset has that (``MultiLabelDataset.answers`` or ``excluded``); then only
        ``items_share`` and ``audit`` may be set besides. May also be written ``labels``.
    labels_per_row : int, default=1
        Labels that one answer names: complementary labels of each instance.
    sharpness : float, default=1.0
        Only used with ``scheme="biased"``.
    question : str, default="free"
        "free": name a label, of all, that does not apply. "menu-2", "menu-3", ...: name one of so
        many random labels, or say that all of them apply. "asked": does this random label apply,
        yes or no? "ticked": tick every label that does not apply. "none": nothing, so that there
        is an ``audit`` alone.
    propensity_sd : float, default=0.0
        How unequally labels come to mind: label k is named with a weight of
        exp(``propensity_sd`` * z_k), z_k standard normal. Plays no part where every label on
        offer is judged, with "asked" and "ticked".
    mistakes : float, default=0.0
        Share of answers that are drawn at random from all that the question allows.
    answers_per_item : int, default=1
        Independent answers about each instance.
    items_share : float, default=1.0
        Share of the instances that somebody was asked about.
    audit : int, default=0
        Yes/no questions about random pairs of an instance and a label, so many for the training
        part of each fold, answered without a mistake. They come beside the other answers. Of two
        audits the smaller one is part of the larger one.

    See Also
    --------
    complabel.annotations.draw_answers : Draws the answers.
    """

    model_config = CHECKED

    name: Name
    scheme: Labels = "uniform"
    labels_per_row: Annotated[int, Field(ge=1)] = 1
    sharpness: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    question: Annotated[str, AfterValidator(_known)] = "free"
    propensity_sd: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    mistakes: Annotated[float, Field(ge=0, le=1)] = 0.0
    answers_per_item: Annotated[int, Field(ge=1)] = 1
    items_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    audit: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="before")
    @classmethod
    def _take_labels_for_scheme(cls, data: Any) -> Any:
        """Read ``labels``, which is another name of ``scheme``."""
        if not (isinstance(data, Mapping) and "labels" in data):
            return data
        if "scheme" in data:
            raise ValueError("labels is another name of scheme; leave one of the two out")
        return {("scheme" if key == "labels" else key): value for key, value in data.items()}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Refuse settings that have no meaning beside one another."""
        if self.scheme == "own" and (beside := self._set_beside(*_BESIDE_OWN)):
            raise ValueError(
                "labels own are taken as somebody gave them, and"
                f" {' and '.join(beside)} cannot be chosen for them; leave that out, or take"
                " labels uniform"
            )
        if self.scheme == "biased" and self.question != "free":
            raise ValueError(
                f"labels biased are for free naming, and the question is {self.question}; take"
                " labels uniform, or leave the question out"
            )
        if self.question == "none":
            if beside := self._set_beside("question", "audit"):
                raise ValueError(
                    f"with the question none there is an audit alone, and {' and '.join(beside)}"
                    " cannot be chosen for it; leave that out"
                )
            if not self.audit:
                raise ValueError(
                    "with the question none there is an audit alone, and audit is 0; take some"
                    " answers, such as 200"
                )
        if self.question in _JUDGED and self.labels_per_row != 1:
            raise ValueError(
                f"labels_per_row is {self.labels_per_row}, but with the question {self.question}"
                " nobody names labels; leave labels_per_row out, or take answers_per_item"
            )
        if 0 < self.menu_size < self.labels_per_row:
            raise ValueError(
                f"labels_per_row is {self.labels_per_row}, more than a {self.question} offers;"
                " take fewer labels or a larger menu"
            )
        return self

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write keys that the first stores did not have only where they say something.

        So the names of studies and the keys of results stay what they were.
        """
        written: dict[str, Any] = write(self)
        return {k: v for k, v in written.items() if k not in _ASKED_AS or self._differs(k)}

    @property
    def is_plain(self) -> bool:
        """Whether labels are named freely, one answer for each instance: an indicator holds all."""
        return self.scheme != "own" and not any(map(self._differs, _ASKED_AS))

    @property
    def asks_at_random(self) -> bool:
        """Whether some questions are about random labels, and may tell how often these apply."""
        return bool(self.audit) or self.question != "free"

    @property
    def leaves_items_out(self) -> bool:
        """Whether instances may have no answer for a reason that is known before."""
        return self.items_share < 1 or self.question == "none" or self.scheme == "own"

    @property
    def is_published(self) -> bool:
        """Whether the paper has figures for such labels."""
        sharp = self.scheme == "biased" and self._differs("sharpness")
        return self.is_plain and not sharp and not self._differs("labels_per_row")

    @property
    def menu_size(self) -> int:
        """How many labels are on a menu, 0 where there are no menus."""
        return _menu_size(self.question)

    @property
    def title(self) -> str:
        """What the labels are, in plain words."""
        words = [self._asked_for()]
        if self.scheme == "biased" and self.sharpness != 1:
            words.append(f"sharpness {self.sharpness:g}")
        if self.propensity_sd:
            words.append(f"labels come to mind unequally (sd {self.propensity_sd:g})")
        if self.mistakes:
            words.append(f"{100 * self.mistakes:.3g} % of the answers at random")
        if self.answers_per_item > 1:
            words.append(f"{self.answers_per_item} answers per item")
        if self.items_share < 1:
            words.append(f"{100 * self.items_share:.3g} % of the items")
        if self.audit and self.question != "none":
            words.append(self._audited())
        return ", ".join(words)

    @property
    def short_title(self) -> str:
        """What to call the draw where nobody gave it a name, such as ``"menu-2-sd-1"``."""
        parts = [self.scheme if self.question == "free" else self.question]
        if self.question == "none":
            parts.clear()
        for setting, short in _SHORT.items():
            if self._differs(setting):
                parts.append(f"{short}-{getattr(self, setting):g}".replace("+", ""))
        return "-".join(parts)

    def title_with(self, *, answers: bool) -> str:
        """Return the title; with ``answers``, people told more than what is excluded."""
        return (
            self.title.replace(_EXCLUDED, "the answers that people gave") if answers else self.title
        )

    def settings(self) -> dict[str, Any]:
        """Return what a record of results says of the draw, as plain data."""
        return {"labels": self.scheme, **{name: getattr(self, name) for name in _ASKED_AS}}

    def what_counts(self) -> dict[str, Any]:
        """Return what the labels depend on, as plain data: equal for draws of equal labels."""
        settings = self.model_dump(exclude={"name"})
        if self.scheme != "biased":
            del settings["sharpness"]
        if self.question in _JUDGED:
            settings.pop("propensity_sd", None)
        return settings

    def _differs(self, name: str) -> bool:
        """Tell whether a setting is not the default."""
        return bool(getattr(self, name) != type(self).model_fields[name].default)

    def _set_beside(self, *known: str) -> list[str]:
        """Return the settings that are not the defaults, but for some."""
        names = ("labels_per_row", "sharpness", *_ASKED_AS)
        return [name for name in names if name not in known and self._differs(name)]

    def _audited(self) -> str:
        """Say what the audit is."""
        return f"an audit of {self.audit} random yes/no answers in each training part"

    def _asked_for(self) -> str:
        """Say what was asked."""
        if self.question == "none":
            return f"nothing but {self._audited()}"
        if self.scheme == "own":
            return _EXCLUDED
        if self.question in _JUDGED:
            return {
                "asked": "a yes/no question about a random label",
                "ticked": "all labels judged",
            }[self.question]
        count = self.labels_per_row
        if self.question == "free":
            per_item = f", {count} per item" if count > 1 else ""
            return f"{self.scheme} complementary labels{per_item}"
        labels = "one label" if count == 1 else f"{count} labels"
        return f"{labels} named from a random menu of {self.menu_size}"
