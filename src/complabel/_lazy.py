"""Names that are imported when they are first used: of a package, and entries of tables."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from pkgutil import resolve_name
from typing import TypeVar, cast

Entry = TypeVar("Entry")


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


def places_in(package: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the ``places`` of ``names``: those in each module of a package, in one text."""
    return {
        name: f"{package}.{module}:{name}"
        for module, listed in names.items()
        for name in listed.split()
    }


class Tables(Mapping[str, Entry]):
    """A table of one's own, then tables elsewhere, as one mapping.

    A table elsewhere is named by a text, ``"module:name"``. It is imported when an entry is asked
    for that one's own table does not have, or when all entries are listed.
    """

    def __init__(self, own: Mapping[str, Entry], *elsewhere: str) -> None:
        self._own, self._elsewhere = own, elsewhere

    def __getitem__(self, name: str) -> Entry:
        if name in self._own:
            return self._own[name]
        for table in map(resolve_name, self._elsewhere):
            if name in table:
                return cast("Entry", table[name])
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        elsewhere = itertools.chain.from_iterable(map(resolve_name, self._elsewhere))
        return itertools.chain(self._own, elsewhere)  # elsewhere only after one's own

    def __len__(self) -> int:
        return len(self._own) + sum(len(resolve_name(place)) for place in self._elsewhere)
