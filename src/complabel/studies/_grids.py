"""The settings that a search tries: what is given, or what suits the method."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from complabel.errors import InputError
from complabel.methods import get_method, make_classifier

Grid = Mapping[str, Sequence[Any]]
"""The values to try of each parameter."""

_OF_GRADIENT: Grid = {"learning_rate": (1e-3, 1e-2, 1e-1), "weight_decay": (1e-3, 1e-4)}
# Of equally good settings the first is taken, so stronger regularization comes first.
DEFAULT_GRIDS: Mapping[str, Grid] = MappingProxyType(
    {
        "mlcl": {**_OF_GRADIENT, "beta": (1.0, 0.5)},
        "l-uw": _OF_GRADIENT,
        "gdf": _OF_GRADIENT,
        "unbiased-bce": _OF_GRADIENT,
        "ctl": _OF_GRADIENT,
        "comrank": _OF_GRADIENT,
        "ml-knn": {"n_neighbors": (40, 20, 10, 5)},
        "lift": {"ratio": (0.05, 0.1, 0.2)},
        "lift-libsvm": {"ratio": (0.05, 0.1, 0.2)},
        "fpml": {"rank": (2, None), "lambda3": (100.0, 10.0, 1.0), "lambda1": (1.0, 0.1)},
        "fpml-rank-1": {"lambda3": (100.0, 10.0, 1.0), "lambda1": (10.0, 1.0, 0.1)},
        "pml-lc": {"C2": (1e-3, 1e-2, 0.1, 1.0, 10.0)},
        "pml-fp": {"C2": (1e-3, 1e-2, 0.1, 1.0, 10.0)},
        "pml-lrs": {"gamma": (100.0, 50.0, 10.0, 1.0), "eta": (1.0, 0.1)},
        "pml-lrs-no-intercept": {"gamma": (100.0, 50.0, 10.0, 1.0), "eta": (1.0, 0.1)},
    }
)
"""What is searched for each method if nothing is said."""


def expand_grid(method: str, grid: Grid | None = None) -> list[dict[str, Any]]:
    """List the settings of a grid, checked against the method's parameters.

    Parameters
    ----------
    method : str
        A key of :data:`complabel.methods.METHODS`.
    grid : mapping of str to sequence, optional
        The values of each parameter; by default :data:`DEFAULT_GRIDS` of the method.

    Returns
    -------
    list of dict
        The last parameter varies fastest.

    Raises
    ------
    InputError
        If the method is not known, learns from true labels, has no default grid, or lacks a
        parameter of the grid.

    Examples
    --------
    >>> expand_grid("mlcl", {"beta": [1.0, 0.5], "epochs": [20]})
    [{'beta': 1.0, 'epochs': 20}, {'beta': 0.5, 'epochs': 20}]
    """
    if get_method(method).learns_from == "relevant":
        raise InputError(f"{method} learns from true labels; a search without them is not for it")
    known = make_classifier(method).get_params(deep=False)
    if grid is None:
        if method not in DEFAULT_GRIDS:
            raise InputError(
                f"{method} chooses what matters by itself; to search all the same, give a grid"
                f" over some of its parameters: {', '.join(known) or 'it has none'}"
            )
        grid = DEFAULT_GRIDS[method]
    for name, values in grid.items():
        if name not in known:
            nearest = get_close_matches(name, known, n=1)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            raise InputError(
                f"{method} has no parameter {name!r}.{hint} It has: {', '.join(known)}"
            )
        if not values:
            raise InputError(f"the grid has no value for {name}; give at least one")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
