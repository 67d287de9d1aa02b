"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
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
