"""Questions to simulated annotators: what is asked, and one draw of the answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from complabel._parameters import (
    check_array,
    check_choice,
    check_integer,
    check_random_state,
    check_real,
)
from complabel.answers import IndicatorLike, check_indicator, check_sets
from complabel.errors import InputError
from complabel.simulate._draws import SCHEMES, Scheme, _first_arrivals, _log_dissimilarity

_KINDS = ("free", "asked", "ticked", "excluded")
_NAMING = ("free", "menu")


@dataclass(frozen=True)
class Streams:
    """Separate random generators, one for each purpose."""

    items: np.random.Generator
    menus: np.random.Generator
    choices: np.random.Generator
    errors: np.random.Generator
    people: np.random.Generator

    @classmethod
    def of(cls, random_state: int | np.random.Generator | None) -> Self:
        """Use the state itself for choices, as ``draw_complementary`` does; spawn the others."""
        choices = check_random_state(random_state)
        try:
            items, menus, errors, people = choices.spawn(1)[0].spawn(4)
        except TypeError as error:
            raise InputError(
                f"random_state cannot be split into separate streams ({error}); give an integer "
                "or numpy.random.default_rng(seed)"
            ) from error
        return cls(items, menus, choices, errors, people)


@dataclass(frozen=True)
class Asking:
    """A question that is asked about every item; masks are (n, K)."""

    kind: str
    menu_size: int  # 0 if there is no menu
    relevant: NDArray[np.uint8]
    log_weights: Any
    n_per_row: int
    exclusion_rates: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        Y: IndicatorLike,
        *,
        question: str,
        scheme: Scheme,
        sharpness: float,
        n_per_row: int,
        propensities: ArrayLike | None,
        exclusion_rates: ArrayLike | None,
    ) -> Self:
        """Check the parameters of ``draw_answers`` that describe the question."""
        kind, menu_size = _read_question(question)
        _check_parts(kind, scheme, n_per_row, exclusion_rates)
        check_real("sharpness", sharpness, at_least=0)
        relevant = check_indicator(Y, name="relevant")
        n_labels = relevant.shape[1]
        if kind == "free":  # every row must have a label that can be named
            relevant = check_sets(relevant, "relevant", 3, allow_empty=scheme == "uniform")
        if menu_size > n_labels:
            raise InputError(
                f"question {question!r} needs {menu_size} labels, but Y has {n_labels}; give a "
                "smaller menu"
            )
        log_weights: Any = 0.0
        if propensities is not None:
            log_weights = _log_propensities(propensities, n_labels)
        if scheme == "biased":
            log_weights = log_weights + sharpness * _log_dissimilarity(relevant)
        rates = 0.0 if exclusion_rates is None else exclusion_rates
        return cls(
            kind,
            menu_size,
            relevant,
            log_weights,
            n_per_row,
            check_rates("exclusion_rates", rates, n_labels),
        )

    @property
    def stored_as(self) -> str:
        """The question as a word of ``QUESTIONS``."""
        return "named" if self.kind in _NAMING else self.kind

    @property
    def asked_for(self) -> int:
        """Number of labels that people are asked to name; 0 if they name none."""
        most = self.menu_size or self.relevant.shape[1]
        return min(self.n_per_row, most) if self.kind in _NAMING else 0

    @property
    def probability(self) -> float:
        """Probability with which a question is drawn; NaN if it is not drawn at random."""
        n_labels = self.relevant.shape[1]
        if self.kind == "menu":
            return 1 / math.comb(n_labels, self.menu_size)
        return 1 / n_labels if self.kind == "asked" else math.nan

    def answer(
        self, error_rates: NDArray[np.float64], streams: Streams
    ) -> dict[str, NDArray[np.uint8]]:
        """Draw one answer about every item, given the error rate of each answer, (n,)."""
        if self.kind in _NAMING:
            return self._name(error_rates, streams)
        if self.kind == "asked":
            return self._judge(error_rates, streams)
        by_label = error_rates[:, np.newaxis]
        if self.kind == "ticked":
            relevant = _mistaken(self.relevant, by_label, streams.errors)
            return {"relevant": relevant, "absent": 1 - relevant}
        hit = streams.choices.random(self.relevant.shape) < self.exclusion_rates
        excluded = (hit & (self.relevant == 0)).astype(np.uint8)
        return {"excluded": _mistaken(excluded, by_label, streams.errors)}

    def _name(
        self, error_rates: NDArray[np.float64], streams: Streams
    ) -> dict[str, NDArray[np.uint8]]:
        """Draw named labels from a random menu, or from all labels."""
        offered = np.ones_like(self.relevant)
        if self.menu_size:
            offered = _random_subsets(streams.menus, offered, self.menu_size)
        eligible = (offered == 1) & (self.relevant == 0)
        named = _first_arrivals(eligible, self.n_per_row, streams.choices, self.log_weights)
        if error_rates.any():
            wrong = streams.errors.random(len(named)) < error_rates
            sizes = self._random_sizes(streams.errors)
            anything = _random_subsets(streams.errors, offered, sizes)
            named = np.where(wrong[:, np.newaxis], anything, named)
        return {"named": named, "offered": offered} if self.menu_size else {"named": named}

    def _random_sizes(self, stream: np.random.Generator) -> NDArray[np.intp]:
        """Draw the size of a random label set, (n,), if all allowed sets are equally likely."""
        most = self.menu_size or self.relevant.shape[1]
        sizes = np.arange(0 if self.menu_size else 1, self.asked_for + 1)
        # log C(most, size) plus a constant, which softmax removes
        log_counts = -special.betaln(most - sizes + 1, sizes + 1)
        bounds = np.cumsum(special.softmax(log_counts))[:-1]
        chosen: NDArray[np.intp] = sizes[np.searchsorted(bounds, stream.random(len(self.relevant)))]
        return chosen

    def _judge(
        self, error_rates: NDArray[np.float64], streams: Streams
    ) -> dict[str, NDArray[np.uint8]]:
        """Ask whether one random label applies, and draw the answers."""
        rows = np.arange(len(self.relevant))
        label = streams.menus.integers(self.relevant.shape[1], size=len(rows))
        asked = np.zeros_like(self.relevant)
        asked[rows, label] = 1
        applies = _mistaken(self.relevant[rows, label], error_rates, streams.errors)[:, np.newaxis]
        return {"offered": asked, "relevant": asked & applies, "absent": asked & (1 - applies)}


def check_rates(name: str, values: Any, n_labels: int | None = None) -> NDArray[np.float64]:
    """Return rates from 0 to 1 as an array: one rate, or one per annotator or label."""
    scalar = np.ndim(values) == 0
    rates = check_array(name, [values] if scalar else values, "entry")
    if n_labels is not None and not scalar and len(rates) != n_labels:
        raise InputError(
            f"{name} has {len(rates)} entries for {n_labels} labels; give one for each"
        )
    wrong = np.flatnonzero((rates < 0) | (rates > 1))
    if len(wrong):
        place = "" if scalar else f" at entry {wrong[0]}"
        raise InputError(f"{name} must be from 0 to 1, got {rates[wrong[0]]}{place}")
    return rates


def _mistaken(
    said: NDArray[np.uint8], rates: NDArray[np.float64], stream: np.random.Generator
) -> NDArray[np.uint8]:
    """Replace each value by a random 0 or 1 with probability ``rates``."""
    if not rates.any():
        return said
    wrong = stream.random(said.shape) < rates
    return np.where(wrong, stream.integers(2, size=said.shape, dtype=np.uint8), said)


def _random_subsets(
    stream: np.random.Generator, of: NDArray[np.uint8], size: int | NDArray[np.intp]
) -> NDArray[np.uint8]:
    """Draw a random subset of each row's labels, (n, K); ``size`` may be an array (n,)."""
    times = np.where(of == 1, stream.random(of.shape), np.inf)
    most = int(np.max(size, initial=0))
    subsets = np.zeros_like(of)
    if most:
        first = np.argpartition(times, range(most), axis=1)[:, :most]  # in the order of arrival
        within = np.arange(most) < np.broadcast_to(size, len(of))[:, np.newaxis]
        np.put_along_axis(subsets, first, within.astype(np.uint8), axis=1)
    return subsets


def _read_question(question: object) -> tuple[str, int]:
    """Return the kind of a question and its menu size; 0 if it has no menu."""
    if isinstance(question, str):
        if question in _KINDS:
            return question, 0
        kind, _, size = question.partition("-")
        if kind == "menu" and size.isdecimal():
            if int(size) == 1:
                raise InputError("question 'menu-1' is a yes/no question; give 'asked' instead")
            if int(size) > 1:
                return kind, int(size)
    raise InputError(
        f"question must be one of {', '.join(_KINDS)}, or menu-M with M of at least 2, such as "
        f"menu-4; got {question!r}"
    )


def _check_parts(
    kind: str, scheme: Scheme, n_per_row: int, exclusion_rates: ArrayLike | None
) -> None:
    """Refuse settings that do not belong to the question, and demand those that it needs."""
    check_choice("scheme", scheme, SCHEMES)
    check_integer("n_per_row", n_per_row, at_least=1)
    if scheme != "uniform" and kind != "free":
        raise InputError(f"scheme {scheme!r} is only for the question 'free', not for {kind!r}")
    if n_per_row > 1 and kind not in _NAMING:
        raise InputError(f"n_per_row must be 1 for the question {kind!r}, which names no labels")
    if kind == "excluded" and exclusion_rates is None:
        raise InputError(
            "the question 'excluded' needs exclusion_rates; give one rate, or one for each label"
        )
    if kind != "excluded" and exclusion_rates is not None:
        raise InputError(f"exclusion_rates are for the question 'excluded', not for {kind!r}")


def _log_propensities(values: ArrayLike, n_labels: int) -> NDArray[np.float64]:
    """Return the logarithms of propensities, (K,)."""
    propensities = check_array("propensities", values, "label")
    if len(propensities) != n_labels:
        raise InputError(
            f"propensities has {len(propensities)} entries for {n_labels} labels; give one for each"
        )
    if propensities.min() <= 0:
        at = int(np.argmin(propensities))
        raise InputError(f"propensities must be above 0, got {propensities[at]} at label {at}")
    logarithms: NDArray[np.float64] = np.log(propensities)
    return logarithms
