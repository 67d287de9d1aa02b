"""What inner code raises: a short reason, to which the public functions add the file."""

from __future__ import annotations


class RefusedError(ValueError):
    """Something cannot be saved, or is not what a file should hold."""
