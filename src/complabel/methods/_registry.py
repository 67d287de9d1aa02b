"""Methods by the names that the command line, studies and reports use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from complabel.errors import InputError
from complabel.methods.bars.prior import PriorClassifier
from complabel.methods.bars.ridge import ComplementaryRidgeClassifier
from complabel.methods.candidates.fpml import FPMLClassifier
from complabel.methods.candidates.lift import LIFTClassifier
from complabel.methods.candidates.mlknn import MLKNNClassifier
from complabel.methods.candidates.pml_fp import PMLFPClassifier
from complabel.methods.candidates.pml_lc import PMLLCClassifier
from complabel.methods.candidates.pml_lrs import PMLLRSClassifier
from complabel.methods.gradient.comrank import ComRankClassifier
from complabel.methods.gradient.ctl import CTLClassifier
from complabel.methods.gradient.gdf import GDFClassifier
from complabel.methods.gradient.luw import LUWClassifier
from complabel.methods.gradient.mlcl import MLCLClassifier
from complabel.methods.gradient.supervised import SupervisedClassifier
from complabel.methods.gradient.unbiased_bce import UnbiasedBCEClassifier
from complabel.methods.selection._classifier import SelectionLikelihoodClassifier

if TYPE_CHECKING:
    from complabel.methods._base import ComplementaryClassifier

# Chosen per dataset by the authors of MLCL from 1e-1, 1e-2, 1e-3; fixed here, never tuned.
PAPER_LEARNING_RATES = {
    "yeast": 1e-1,
    "scene": 1e-2,
    "corel5k": 1e-2,
    "corel16k": 1e-2,
    "eurlex_dc": 1e-3,
    "eurlex_sm": 1e-3,
    "bookmark": 1e-3,
    "delicious": 1e-3,
}


@dataclass(frozen=True)
class Method:
    """One method as tables know it.

    Parameters
    ----------
    name : str
        The name on the command line.
    title : str
        The name in tables.
    classifier : callable
        Makes the classifier from keyword arguments.
    published_as : str or None
        Its column in the paper's Tables 2 and 3, if it has one.
    settings : callable
        From a dataset's name to the settings that the paper used there.
    published_rule : {"hamming_loss", "hamming_loss_minmax"}, default="hamming_loss"
        Which of our Hamming losses the published one is to be held against.
    """

    name: str
    title: str
    classifier: Callable[..., ComplementaryClassifier]
    published_as: str | None = None
    settings: Callable[[str], dict[str, Any]] = field(default=lambda _: {})
    published_rule: str = "hamming_loss"

    @property
    def published_columns(self) -> dict[str, str]:
        """Our criteria mapped to the published ones they are held against."""
        ranking = ("ranking_loss", "one_error", "coverage", "average_precision")
        return {self.published_rule: "hamming_loss", **{name: name for name in ranking}}

    @property
    def learns_from(self) -> str:
        """``"complementary"``, or ``"relevant"`` for a reference."""
        return self.classifier.learns_from  # type: ignore[attr-defined,no-any-return]


def _paper_learning_rate(dataset: str) -> dict[str, Any]:
    """Return the paper's learning rate where it names one; the default elsewhere."""
    rate = PAPER_LEARNING_RATES.get(dataset)
    return {} if rate is None else {"learning_rate": rate}


def _always(**settings: Any) -> Callable[[str], dict[str, Any]]:
    """Return settings that do not depend on the dataset."""
    return lambda _: settings


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method(
                "mlcl",
                "MLCL",
                MLCLClassifier,
                published_as="MLCL",
                settings=_paper_learning_rate,
                published_rule="hamming_loss_minmax",
            ),
            Method("selection-likelihood", "Selection likelihood", SelectionLikelihoodClassifier),
            Method(
                "selection-likelihood-linear",
                "Selection likelihood (linear)",
                SelectionLikelihoodClassifier,
                settings=_always(kernel="linear"),
            ),
            Method("ridge", "Ridge", ComplementaryRidgeClassifier),
            Method("prior", "Prior", PriorClassifier),
            Method("ml-knn", "ML-KNN", MLKNNClassifier, published_as="ML-KNN"),
            # One solver on every dataset, so that the rows of a table can be compared.
            Method(
                "lift",
                "LIFT (squared hinge)",
                LIFTClassifier,
                published_as="LIFT",
                settings=_always(solver="squared_hinge"),
            ),
            Method(
                "lift-libsvm",
                "LIFT (LIBSVM)",
                LIFTClassifier,
                published_as="LIFT",
                settings=_always(solver="libsvm"),
            ),
            Method("fpml", "fPML", FPMLClassifier, published_as="fPML"),
            Method(
                "fpml-rank-1",
                "fPML (rank 1)",
                FPMLClassifier,
                published_as="fPML",
                settings=_always(rank=1),
            ),
            Method("pml-lc", "PML-lc", PMLLCClassifier, published_as="PML-lc"),
            Method("pml-fp", "PML-fp", PMLFPClassifier),
            Method("pml-lrs", "PML-LRS", PMLLRSClassifier, published_as="PML-LRS"),
            Method(
                "pml-lrs-no-intercept",
                "PML-LRS (no intercept)",
                PMLLRSClassifier,
                published_as="PML-LRS",
                settings=_always(fit_intercept=False),
            ),
            Method(
                "l-uw",
                "L-UW",
                LUWClassifier,
                published_as="L-UW",
                settings=_paper_learning_rate,
            ),
            Method("gdf", "GDF", GDFClassifier, settings=_paper_learning_rate),
            Method(
                "unbiased-bce",
                "Unbiased BCE",
                UnbiasedBCEClassifier,
                settings=_paper_learning_rate,
            ),
            Method("ctl", "CTL", CTLClassifier, settings=_paper_learning_rate),
            Method("comrank", "ComRank", ComRankClassifier, settings=_paper_learning_rate),
            Method(
                "supervised",
                "Supervised",
                SupervisedClassifier,
                settings=_paper_learning_rate,
            ),
        )
    }
)
"""All methods by name, in the order tables list them."""


def get_method(name: str) -> Method:
    """Look a method up.

    Parameters
    ----------
    name : str
        A key of :data:`METHODS`.

    Returns
    -------
    Method

    Raises
    ------
    InputError
        If there is none; the message suggests the nearest name.
    """
    if name in METHODS:
        return METHODS[name]
    nearest = get_close_matches(name, METHODS, n=1)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    raise InputError(f"there is no method {name!r}.{hint} Known are: {', '.join(METHODS)}")


def make_classifier(name: str, *, dataset: str = "", **parameters: Any) -> ComplementaryClassifier:
    """Make a classifier with the settings the paper used on a dataset.

    Parameters
    ----------
    name : str
        A key of :data:`METHODS`.
    dataset : str, default=""
        Name of the dataset; one that the paper does not use gets the defaults.
    **parameters
        Override settings.

    Returns
    -------
    ComplementaryClassifier
        Not fitted.

    Raises
    ------
    InputError
        If there is no such method.

    Examples
    --------
    >>> make_classifier("mlcl", dataset="yeast").learning_rate
    0.1
    """
    method = get_method(name)
    return method.classifier(**{**method.settings(dataset), **parameters})
