"""How messages call a parameter: as it is written in Python, or as an option that is typed."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType

_options: ContextVar[Mapping[str, str]] = ContextVar("options", default=MappingProxyType({}))


def setting(name: str, value: object = None) -> str:
    """Return a parameter as the caller writes it, with a value if one is proposed.

    Examples
    --------
    >>> setting("label_names"), setting("unselected", "no")
    ('label_names', "unselected='no'")
    >>> with settings_as_options({"unselected": "--unselected"}):
    ...     setting("unselected", "no")
    '--unselected no'
    """
    option = _options.get().get(name)
    if option is None:
        return name if value is None else f"{name}={value!r}"
    if isinstance(value, Mapping):
        value = ",".join(f"{key}={each}" for key, each in value.items())
    return option if value is None else f"{option} {shlex.quote(str(value))}"


@contextlib.contextmanager
def settings_as_options(options: Mapping[str, str]) -> Iterator[None]:
    """Call parameters by options, until the block ends; others are called as they are outside."""
    token = _options.set({**_options.get(), **options})
    try:
        yield
    finally:
        _options.reset(token)
