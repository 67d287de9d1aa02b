"""An error is told by its class and by what it names: the place, the value found, the option.

A sentence may be said better without a test that fails; what it names may not get lost.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pytest

Names = str | int | tuple[str, ...]


@contextlib.contextmanager
def raises(error: type[Exception], *names: Names) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect this error; its message holds each name as a word of its own.

    Examples
    --------
    >>> with raises(ValueError, "row 3", "'sea'"):
    ...     raise ValueError("row 3 names 'sea' twice")
    """
    wanted = _flat(names)
    with pytest.raises(error) as caught:
        yield caught
    check_names(str(caught.value), *wanted)


def check_names(message: str, *names: Names) -> None:
    """Check that a message holds each name as a word of its own."""
    missing = [name for name in _flat(names) if not _stands(name).search(message)]
    assert not missing, f"{', '.join(missing)} is not named in: {message}"


def warns(warning: type[Warning], *names: Names) -> pytest.WarningsRecorder:
    """Expect a warning whose message holds each name as a word of its own."""
    each = (f"(?=.*{_stands(name).pattern})" for name in _flat(names))
    return pytest.warns(warning, match=f"(?s)^{''.join(each)}")


def _flat(names: tuple[Names, ...]) -> list[str]:
    flat = [str(each) for name in names for each in (name if isinstance(name, tuple) else (name,))]
    for name in flat:
        assert 1 <= len(name.split()) <= 4, f"{name!r} is no name, but a sentence"
    return flat


def _stands(name: str) -> re.Pattern[str]:
    """Find the name, but not within a longer word or number."""
    before = r"(?<!\w)(?<!\d[.,])" if name[0].isalnum() or name[0] == "_" else ""
    after = r"(?!\w|[.,]\d)" if name[-1].isalnum() or name[-1] == "_" else ""
    return re.compile(before + re.escape(name) + after)
