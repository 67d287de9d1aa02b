"""The rows of a study's tables: methods, their settings, and what else they are told."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from complabel.methods import METHODS, check_parameter, get_method, make_classifier
from complabel.studies._draw import CHECKED, Draw

ALL_METHODS = "*"
"""Instead of a method's name: stands for a row for every method."""


def _todays_name(method: str) -> str:
    return method if method == ALL_METHODS else get_method(method).name


MethodName = Annotated[str, AfterValidator(_todays_name)]


class Row(BaseModel):
    """A row of the study's tables: a method with its settings.

    Parameters
    ----------
    method : str
        As for :func:`complabel.methods.get_method`, also your own class as
        ``"package.module:Class"``. ``"*"`` stands for a row for every method of the registry.
    leave_out : list of str, default=[]
        Methods that ``"*"`` does not stand for.
    title : str, default=""
        Its title in tables; may use settings, as in ``"beta = {beta}"``. If empty, the method's
        own title and the values from the grid.
    published : str, default=""
        Its name in the paper's table, written in the same way. If empty, the method's name there.
    settings : dict, default={}
        Parameters of the classifier. They override those of the registry for a dataset.
    none : list of str, default=[]
        Parameters to set to ``None``, which TOML cannot write.
    grid : dict of str to list, default={}
        Values of parameters; there is one row for each combination.
    relevant_per_row : int, default=0
        Number of known relevant labels of each training instance, drawn uniformly.
    relevant_share : float, default=0.0
        Share of all relevant labels of the training instances that are also known.
    label_frequencies : {"", "true"}, default=""
        "true": the parameter ``label_frequencies`` of the method is the share of the fold's
        training instances to which each label applies. Tables mark such a row, because it does
        not compete. Other values belong into ``settings``.
    match_frequencies : bool, default=False
        Match the method's scores to label frequencies, with
        :class:`complabel.methods.FrequencyMatchedClassifier`: to estimates from the answers, or
        to the true ones if ``label_frequencies`` is "true".
    """

    model_config = CHECKED

    method: MethodName
    leave_out: list[MethodName] = []
    title: str = ""
    published: str = ""
    settings: dict[str, Any] = {}
    none: list[str] = []
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    relevant_per_row: Annotated[int, Field(ge=0)] = 0
    relevant_share: Annotated[float, Field(ge=0, le=1)] = 0.0
    label_frequencies: Literal["", "true"] = ""
    match_frequencies: bool = False

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        """Refuse unknown parameters before anything runs."""
        for row in self.expanded():
            for name in row.settings:
                check_parameter(get_method(row.method), name)
            make_classifier(row.method, **row.settings)
            self._refuse_frequencies(row.method, row.settings)
        return self

    def expanded(self) -> Iterator[Row]:
        """Yield the rows of the tables that this row stands for, each without a grid."""
        for method, settings in itertools.product(self.methods(), self.combinations()):
            said = {
                "title": self._title(method, settings),
                "published": _filled("published", self.published, settings),
                "method": method,
                "settings": settings,
            }
            yield self.model_copy(update={**said, "leave_out": [], "none": [], "grid": {}})

    @property
    def learns_from(self) -> str:
        """What the row learns from: ``"complementary"``, ``"relevant"`` or ``"frequencies"``.

        Tables mark rows with the last two, because annotators did not say these things.
        """
        return "frequencies" if self.label_frequencies else get_method(self.method).learns_from

    def has_answers_under(self, draw: Draw) -> bool:
        """Return whether a draw has random questions, or the row matches no estimates from them."""
        estimated = self.match_frequencies and not self.label_frequencies
        return draw.asks_at_random or not estimated

    def methods(self) -> list[str]:
        """Return the methods that the row stands for."""
        if self.method != ALL_METHODS:
            return [self.method]
        return [name for name in METHODS if name not in self.leave_out]

    def combinations(self) -> list[dict[str, Any]]:
        """Return the settings of each combination of the grid."""
        fixed = {**self.settings, **dict.fromkeys(self.none)}
        crossed = itertools.product(*self.grid.values())
        return [{**fixed, **dict(zip(self.grid, values, strict=True))} for values in crossed]

    def _title(self, method: str, settings: dict[str, Any]) -> str:
        if self.title:
            return _filled("title", self.title, settings)
        varied = [f"{name} = {settings[name]}" for name in self.grid]
        if self.match_frequencies:
            varied.append(f"matched{' to true' if self.label_frequencies else ''} frequencies")
        elif self.label_frequencies:
            varied.append("true frequencies")
        return ", ".join([get_method(method).title, *varied])

    def _refuse_frequencies(self, method: str, settings: dict[str, Any]) -> None:
        leave_out = f', or write leave_out = ["{method}"]' if self.method == ALL_METHODS else ""
        if self.match_frequencies:
            if get_method(method).learns_from == "relevant":
                raise ValueError(
                    f"{method} learns from true labels, so nothing is to be matched; leave"
                    f" match_frequencies out{leave_out}"
                )
            return
        if not self.label_frequencies:
            return
        if "label_frequencies" not in inspect.signature(get_method(method).classifier).parameters:
            raise ValueError(
                f"{method} has no parameter label_frequencies; add match_frequencies = true, or"
                f" leave label_frequencies out{leave_out}"
            )
        if "label_frequencies" in settings:
            raise ValueError(
                "label_frequencies is given twice, in the row and in its settings; leave one of the"
                " two out"
            )


def _filled(key: str, text: str, settings: dict[str, Any]) -> str:
    """Return a title in which names in braces are replaced by the values of settings."""
    try:
        return text.format(**settings)
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        names = ", ".join(settings) or "there are none"
        raise ValueError(
            f"{key} is {text!r}, which has a mistake in braces: a name in braces must be a setting"
            f" of the row ({names}), as in 'beta = {{beta}}'; for a brace itself write two: '{{{{'"
            " or '}}'"
        ) from error
