"""The methods that the paper compares, with their names and settings there."""

from __future__ import annotations

from typing import Any

# The authors of MLCL chose these from 1e-1, 1e-2 and 1e-3 for each dataset. We never tune them.
_LEARNING_RATES = {
    "yeast": 1e-1,
    "scene": 1e-2,
    "corel5k": 1e-2,
    "corel16k": 1e-2,
    "eurlex_dc": 1e-3,
    "eurlex_sm": 1e-3,
    "bookmark": 1e-3,
    "delicious": 1e-3,
}
# The methods that are trained with the dataset's learning rate.
_TRAINED = {"mlcl", "l-uw", "gdf", "unbiased-bce", "ctl", "comrank", "supervised-bce"}

_PRINTED = {
    "mlcl": "MLCL",
    "ml-knn": "ML-KNN",
    "lift": "LIFT",
    "fpml": "fPML",
    "pml-lc": "PML-lc",
    "pml-lrs": "PML-LRS",
    "l-uw": "L-UW",
}
# The printed Hamming loss of these methods uses label sets cut at the middle of a row's range.
_CUT_BY_ROW = {"mlcl"}
_RANKING = ("ranking_loss", "one_error", "coverage", "average_precision")


def settings(method: str, dataset: str) -> dict[str, Any]:
    """Return the settings that the paper states for a method on a dataset.

    Parameters
    ----------
    method : str
        Name of the method in the registry.
    dataset : str

    Returns
    -------
    dict of str to object
        Parameters of the classifier; empty if the paper states none.

    Examples
    --------
    >>> settings("mlcl", "yeast")
    {'learning_rate': 0.1}
    """
    if method in _TRAINED and dataset in _LEARNING_RATES:
        return {"learning_rate": _LEARNING_RATES[dataset]}
    return {}


def printed_name(method: str) -> str:
    """Return the name of a method in the paper's Tables 2 and 3.

    Parameters
    ----------
    method : str
        Name of the method in the registry.

    Returns
    -------
    str
        The name; empty if the tables do not have the method.

    Examples
    --------
    >>> printed_name("ml-knn")
    'ML-KNN'
    """
    return _PRINTED.get(method, "")


def printed_criteria(method: str) -> dict[str, str]:
    """Return which of our criteria is compared with which criterion of the paper.

    Parameters
    ----------
    method : str
        Name of the method in the registry.

    Returns
    -------
    dict of str to str
        Maps our name to the paper's. Only the Hamming loss may have another name there.

    Examples
    --------
    >>> printed_criteria("mlcl")["hamming_loss_minmax"]
    'hamming_loss'
    """
    hamming = "hamming_loss_minmax" if method in _CUT_BY_ROW else "hamming_loss"
    return {hamming: "hamming_loss", **{name: name for name in _RANKING}}
