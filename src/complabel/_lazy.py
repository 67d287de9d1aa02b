"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import resolve_name


def lazily(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__``; ``places`` are ``"module:name"``.

    Type checkers need the same imports under ``TYPE_CHECKING``.
    """
    names = vars(sys.modules[package])

    def get(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return names.setdefault(name, resolve_name(places[name]))

    return get, lambda: sorted({*names, *places})


def renamed(former: str, *rooms: str) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a module whose names are in other modules now."""

    def get(name: str) -> object:
        for room in rooms:
            if name in import_module(room).__all__:
                warnings.warn(
                    f"{former}.{name} is {room}.{name} now; the former name goes with the next"
                    " version",
                    FutureWarning,
                    stacklevel=2,
                )
                return getattr(import_module(room), name)
        raise AttributeError(f"module {former!r} has no attribute {name!r}")

    return get
