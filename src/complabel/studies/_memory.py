"""The most memory a process has held, as far as the system tells."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"


def reset_peak_memory() -> None:
    """Start the peak anew; without effect where the system does not offer it."""
    with contextlib.suppress(OSError):
        _CLEAR.write_text(_RESET_PEAK, encoding="ascii")


def peak_memory_mb() -> float:
    """Return the most resident memory since the peak was reset, in 1e6 bytes, or NaN."""
    try:
        for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        pass
    return _peak_of_process_mb()


def _peak_of_process_mb() -> float:
    """Return the peak over the process's life, on systems without /proc."""
    try:
        import resource
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kibibytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
