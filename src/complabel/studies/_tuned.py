"""What a search of settings found."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.methods import make_classifier
from complabel.studies._frequencies import matched_to
from complabel.studies._outcome import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from complabel.studies._draw import Draw

# What the scores of a search are, for methods that model the choice of a complementary label ...
LOG_LIKELIHOOD = "complementary log-likelihood"
# ... for those of them that understand answers to every question ...
ANSWERS = "log-likelihood of the answers"
# ... and for all others; they cannot be compared.
RANKING_ERROR = "minus complementary ranking error"


@dataclass(frozen=True)
class TunedSetting:
    """One setting and how it did.

    Parameters
    ----------
    parameters : mapping of str to object
    scores : ndarray of shape (folds,)
        On held-out complementary labels, greater is better; NaN where the fit failed.
    seconds : float
        Wall time of fits and predictions of all folds.
    average_precision : ndarray of shape (folds,) or None
        On the true labels of the held-out parts, if asked for; no choice depends on it.
    error : str
        The first complaint, empty if there was none.
    """

    parameters: Mapping[str, Any]
    scores: NDArray[np.float64]
    seconds: float
    average_precision: NDArray[np.float64] | None
    error: str

    @property
    def score(self) -> float:
        """Mean over the folds; NaN if one failed."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of that mean, from the sample standard deviation over the folds."""
        return float(self.scores.std(ddof=1) / math.sqrt(len(self.scores)))

    def record(self) -> dict[str, Any]:
        """Return the setting as plain data, with None for what is not a number."""
        record = {
            "parameters": dict(self.parameters),
            "score": self.score,
            "standard_error": self.standard_error,
            "folds": self.scores.tolist(),
            "seconds": self.seconds,
            "error": self.error,
        }
        if self.average_precision is not None:
            record["average_precision"] = self.average_precision.tolist()
        return {**plain(record), "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class TuningResult:
    """A finished search.

    Parameters
    ----------
    dataset, method : str
    draw : Draw
        How labels were asked for and answers drawn.
    seed, folds : int
    criterion : str
        What ``scores`` are: ``"complementary log-likelihood"`` for methods that model which label
        is chosen as complementary, ``"log-likelihood of the answers"`` for those that understand
        answers, else ``"minus complementary ranking error"``.
    settings : tuple of TunedSetting
        In the order of the grid.
    match_frequencies : bool
        Whether the method's scores were matched to label frequencies.
    """

    dataset: str
    method: str
    draw: Draw
    seed: int
    folds: int
    criterion: str
    settings: tuple[TunedSetting, ...]
    match_frequencies: bool = False

    @property
    def labels(self) -> str:
        """The scheme of the draw."""
        return self.draw.scheme

    @property
    def best(self) -> TunedSetting:
        """The setting of the greatest score; of equal ones the first."""
        return self.settings[int(np.nanargmax([setting.score for setting in self.settings]))]

    def code(self) -> str:
        """Return Python that makes the classifier with the chosen setting.

        Returns
        -------
        str
            Imports and an assignment.
        """
        classifier = make_classifier(self.method, **self.best.parameters)
        made = [type(classifier)]
        if self.match_frequencies:
            classifier = matched_to(classifier)
            made.append(type(classifier))
        imports = [f"from {_home(each)} import {each.__name__}\n" for each in made]
        return f"{''.join(imports)}classifier = {classifier!r}"

    def as_json(self) -> str:
        """Return the search as a JSON object.

        Returns
        -------
        str
            ``labels``, ``question`` and so on are the draw's. ``settings`` is a list of objects
            with ``parameters``, ``score``, ``standard_error``, ``folds``, ``seconds``, ``error``
            and, if it was asked for, ``average_precision``; ``best`` is the chosen one's
            ``parameters``.
        """
        record: dict[str, Any] = {"dataset": self.dataset, "method": self.method}
        record |= self.draw.settings()
        plainly = ("match_frequencies", "seed", "folds", "criterion")
        record |= {name: getattr(self, name) for name in plainly}
        record["best"] = dict(self.best.parameters)
        record["settings"] = [setting.record() for setting in self.settings]
        return json.dumps(record, indent=1, allow_nan=False) + "\n"


def _home(made: type) -> str:
    """Return the module that a class is imported from."""
    return "complabel.methods" if made.__module__.startswith("complabel.") else made.__module__
