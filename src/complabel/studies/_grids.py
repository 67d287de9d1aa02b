"""The settings that a search tries: what is given, or what suits the method."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from complabel.errors import InputError
from complabel.methods import Grid, check_parameter, get_method, make_classifier


def expand_grid(method: str, grid: Grid | None = None) -> list[dict[str, Any]]:
    """List the settings of a grid, checked against the method's parameters.

    Parameters
    ----------
    method : str
        As for :func:`complabel.methods.get_method`.
    grid : mapping of str to sequence, optional
        The values of each parameter; by default the grid of the method.

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
    found = get_method(method)
    if found.learns_from == "relevant":
        raise InputError(f"{method} learns from true labels; a search without them is not for it")
    if grid is None:
        if not found.grid:
            known = make_classifier(method).get_params(deep=False)
            raise InputError(
                f"{method} chooses what matters by itself; to search all the same, give a grid"
                f" over some of its parameters: {', '.join(known) or 'it has none'}"
            )
        grid = found.grid
    for name, values in grid.items():
        check_parameter(found, name)
        if len(values) == 0:
            raise InputError(f"the grid has no value for {name}; give at least one")
    # A store keeps plain numbers, where a grid may come from np.logspace.
    lists = ([v.item() if isinstance(v, np.generic) else v for v in grid[name]] for name in grid)
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*lists)]
