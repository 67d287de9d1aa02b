"""How a study gets its labels: what people are asked, and how their answers are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from complabel.studies._draw_question import JUDGED, known_question, menu_size

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""Names that studies and draws may have; a study's name also names a folder."""

Name = Annotated[str, Field(pattern=f"^{NAME_PATTERN}$")]

Labels: TypeAlias = Literal["uniform", "biased", "own"]
"""How labels are chosen: by a scheme, or by people, who gave the dataset's own ones."""

Source: TypeAlias = Literal["simulated", "released"]
"""Where the labels of a scheme come from: drawn here, or by the paper's group."""

_ASKED_AS: Final = (
    *("question", "propensity_sd", "mistakes", "answers_per_item", "items_share"),
    "audit",
)
"""The settings of a draw that say how people are asked, and how they answer."""

# Short names of the settings, for the name of a draw.
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
# Settings that are also allowed with the scheme "own".
_BESIDE_OWN = ("items_share", "audit")
_BESIDE_RELEASED = ("audit",)


CHECKED: Final = ConfigDict(extra="forbid", frozen=True)
"""Configuration of each part of a plan: unknown keys are refused, objects never change."""


class Draw(BaseModel):
    """How people are asked for labels and how they answer; by default as in the paper.

    Parameters
    ----------
    name : str
    scheme : {"uniform", "biased", "own"}, default="uniform"
        "uniform" and "biased": see :func:`complabel.answers.draw_complementary`; "biased"
        is only for the question "free". "own": the dataset's real answers or ruled-out labels
        (``MultiLabelDataset.answers`` or ``excluded``); then only ``items_share`` and ``audit``
        may also be set. ``labels`` is another name of this key, except for "released".
    labels : {"simulated", "released"}, default="simulated"
        "released": the labels that the paper's group drew by the scheme, uniform or biased, and
        released; see :func:`complabel.datasets.load_released`. Then only ``audit`` may also be
        set.
    labels_per_row : int, default=1
        Number of complementary labels that one answer names.
    sharpness : float, default=1.0
        Only used with ``scheme="biased"``.
    question : str, default="free"
        "free": name one label that does not apply. "menu-2", "menu-3", ...: the same, but from
        a menu of 2, 3, ... random labels; people may also say that all of them apply. "asked":
        does this random label apply, yes or no? "ticked": tick every label that does not apply.
        "none": only the questions of the ``audit``.
    propensity_sd : float, default=0.0
        How unequally labels come to mind: label k is named with a weight of
        exp(``propensity_sd`` * z_k), where z_k is standard normal. Without effect for "asked"
        and "ticked", where people judge every label that they see.
    mistakes : float, default=0.0
        Share of answers that are drawn at random from all answers that the question allows.
    answers_per_item : int, default=1
        Number of independent answers about each instance.
    items_share : float, default=1.0
        Share of the instances that people are asked about.
    audit : int, default=0
        Number of yes/no questions about random pairs of an instance and a label, for the
        training part of each fold. They are answered without mistakes, in addition to the other
        answers. A smaller audit is part of a larger one.

    See Also
    --------
    complabel.answers.draw_answers : Draws the answers.
    """

    model_config = CHECKED

    name: Name
    scheme: Labels = "uniform"
    labels: Source = "simulated"
    labels_per_row: Annotated[int, Field(ge=1)] = 1
    sharpness: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    question: Annotated[str, AfterValidator(known_question)] = "free"
    propensity_sd: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    mistakes: Annotated[float, Field(ge=0, le=1)] = 0.0
    answers_per_item: Annotated[int, Field(ge=1)] = 1
    items_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    audit: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="before")
    @classmethod
    def _take_labels_for_scheme(cls, data: Any) -> Any:
        """Accept ``labels`` as another name of ``scheme``, if its value is a scheme."""
        if not (isinstance(data, Mapping) and "labels" in data):
            return data
        if data["labels"] in get_args(Source):
            return data
        if data["labels"] not in get_args(Labels):
            raise ValueError(f"labels are uniform, biased, own or released, not {data['labels']!r}")
        if "scheme" in data:
            raise ValueError(
                "scheme and labels are both given, but labels is another name of scheme unless it"
                " is released; leave one out"
            )
        return {("scheme" if key == "labels" else key): value for key, value in data.items()}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Refuse settings that contradict each other."""
        self._refuse_beside_given()
        if self.scheme == "biased" and self.question != "free":
            raise ValueError(
                f"labels biased need the question free, but the question is {self.question}; take"
                " labels uniform, or leave the question out"
            )
        if self.question == "none":
            if beside := self._set_beside("question", "audit"):
                raise ValueError(
                    f"{' and '.join(beside)} cannot be set with the question none, where people"
                    " only answer the audit; leave that out"
                )
            if not self.audit:
                raise ValueError(
                    "audit is 0, but with the question none people only answer the audit; set audit"
                    " to a number of questions, such as 200"
                )
        if self.question in JUDGED and self.labels_per_row != 1:
            raise ValueError(
                f"labels_per_row is {self.labels_per_row}, but people name no labels with the"
                f" question {self.question}; leave labels_per_row out, or set answers_per_item"
            )
        if 0 < self.menu_size < self.labels_per_row:
            raise ValueError(
                f"labels_per_row is {self.labels_per_row}, more than {self.question} offers;"
                " take fewer labels or a larger menu"
            )
        return self

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write newer keys only if they differ from the default.

        So old studies keep their names, and old results keep their keys.
        """
        written: dict[str, Any] = write(self)
        later = ("labels", *_ASKED_AS)
        return {k: v for k, v in written.items() if k not in later or self._differs(k)}

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
        return self.is_plain and not sharp and not self._differs("labels_per_row")

    @property
    def menu_size(self) -> int:
        """Number of labels on a menu; 0 if the question has no menus."""
        return menu_size(self.question)

    @property
    def title(self) -> str:
        """A description of the labels, in plain words."""
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
        return (
            self.title.replace(_EXCLUDED, "the answers that people gave") if answers else self.title
        )

    def settings(self) -> dict[str, Any]:
        """Return the settings that records of results show, as plain data."""
        asked = {name: getattr(self, name) for name in _ASKED_AS}
        return {"labels": self._source_and_scheme, **asked}

    def what_counts(self) -> dict[str, Any]:
        """Return the settings that the labels depend on, as plain data."""
        settings = self.model_dump(exclude={"name"})
        if self.scheme != "biased":
            del settings["sharpness"]
        if self.question in JUDGED:
            settings.pop("propensity_sd", None)
        return settings

    @property
    def _source_and_scheme(self) -> str:
        """The labels in one word, such as ``"biased"`` or ``"released-biased"``."""
        return f"released-{self.scheme}" if self.labels == "released" else self.scheme

    def _refuse_beside_given(self) -> None:
        """Refuse settings that cannot change labels which somebody gave."""
        given = "own" if self.scheme == "own" else self.labels
        if self.scheme == "own" and self.labels == "released":
            raise ValueError(
                "labels released are uniform or biased, but the scheme is own; take one of these"
            )
        known = _BESIDE_OWN if self.scheme == "own" else _BESIDE_RELEASED
        if given != "simulated" and (beside := self._set_beside(*known)):
            raise ValueError(
                f"{' and '.join(beside)} cannot be set with labels {given}, which are taken as"
                " somebody gave them; leave that out, or take labels uniform"
            )

    def _differs(self, name: str) -> bool:
        """Return whether a setting differs from its default."""
        return bool(getattr(self, name) != type(self).model_fields[name].default)

    def _set_beside(self, *known: str) -> list[str]:
        """Return the settings that differ from their defaults, without the ``known`` ones."""
        names = ("labels_per_row", "sharpness", *_ASKED_AS)
        return [name for name in names if name not in known and self._differs(name)]

    def _audited(self) -> str:
        """Describe the audit."""
        return f"an audit of {self.audit} random yes/no answers in each training part"

    def _asked_for(self) -> str:
        """Describe the question."""
        if self.question == "none":
            return f"nothing but {self._audited()}"
        if self.scheme == "own":
            return _EXCLUDED
        if self.question in JUDGED:
            return {
                "asked": "a yes/no question about a random label",
                "ticked": "all labels judged",
            }[self.question]
        count = self.labels_per_row
        if self.question == "free":
            per_item = f", {count} per item" if count > 1 else ""
            released = "released " * (self.labels == "released")
            return f"{released}{self.scheme} complementary labels{per_item}"
        labels = "one label" if count == 1 else f"{count} labels"
        return f"{labels} named from a random menu of {self.menu_size}"
