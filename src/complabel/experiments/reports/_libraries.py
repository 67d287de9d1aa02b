"""The libraries that reports stand on; nothing else of complabel needs all of them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from complabel.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame  # type: ignore[import-untyped]
    from pandas import Series as Series

_NEEDED = ("pandas", "jinja2", "matplotlib", "scikit_posthocs")


def refuse_without_libraries() -> None:
    """Refuse to begin without what a report needs: a study may take hours."""
    for name in _NEEDED:
        _imported(name)


def pandas() -> Any:
    """Return the module pandas."""
    return _imported("pandas")


def posthocs() -> Any:
    """Return the module scikit_posthocs."""
    return _imported("scikit_posthocs")


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"the report of a study needs {name.replace('_', '-')}, which is not installed: run pip"
            ' install "complabel[study]"'
        ) from error
