"""Classifiers by the names of their methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from complabel import paper
from complabel.methods._registry import get_method

if TYPE_CHECKING:
    from complabel.methods._base import ComplementaryClassifier


def make_classifier(name: str, *, dataset: str = "", **parameters: Any) -> ComplementaryClassifier:
    """Make a classifier with the settings that the paper used on a dataset.

    Parameters
    ----------
    name : str
        As for :func:`get_method`.
    dataset : str, default=""
        Name of the dataset. For datasets that the paper does not use, the defaults are taken.
    **parameters
        Parameters that override these settings.

    Returns
    -------
    ComplementaryClassifier
        The classifier, not fitted.

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
    of_paper = paper.settings(method.base, dataset)
    made = method.classifier(**{**of_paper, **method.settings, **parameters})
    return cast("ComplementaryClassifier", made)
