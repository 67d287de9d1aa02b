"""From the bytes of a text file to its lines."""

from collections.abc import Iterator

# Bounds the memory that lines take before they are looked at: most may be blank.
_CHUNK = 1 << 20


def decode(raw: bytes, declared: str | None = None) -> str:
    """Decode a text file, and give it Unix line ends.

    UTF-8 is tried first, then the encoding that its companion declares, where that has ASCII's
    letters. Older benchmark files name labels in Latin-1, which decodes any byte.
    """
    text = _try_decode(raw, "utf-8-sig")
    if text is None and declared is not None and _extends_ascii(declared):
        text = _try_decode(raw, declared)
    if text is None:
        text = raw.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def numbered_lines(text: str, start: int, stop: int, number: int) -> Iterator[tuple[int, str]]:
    """Give number and stripped text of the lines of text[start:stop], without blank ones.

    ``number`` is the first line's.
    """
    while start < stop:
        end = text.find("\n", min(start + _CHUNK, stop), stop) + 1 or stop
        chunk = text[start:end]
        if not chunk.isspace():
            for offset, line in enumerate(chunk.split("\n")):
                if stripped := line.strip():
                    yield number + offset, stripped
        number += chunk.count("\n")
        start = end


def _try_decode(raw: bytes, encoding: str) -> str | None:
    """Decode, or give None where the bytes are not of that encoding."""
    try:
        return raw.decode(encoding)
    except (LookupError, ValueError):
        return None


def _extends_ascii(encoding: str) -> bool:
    """Tell whether an encoding writes ASCII's signs as ASCII does, as ARFF files need it."""
    return _try_decode(b"@data\n", encoding) == "@data\n"
