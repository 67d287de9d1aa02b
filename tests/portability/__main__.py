"""The test suite under other kernels, threads, Pythons and dependencies, one factor at a time.

``make portability`` runs all of them, ``make portability FACTORS="blas-haswell python-3.13"`` some.
What this machine lacks is skipped and named. Logs go to the folder ``.portability``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
LOGS = CHECKOUT / ".portability"
KERNEL = """
import numpy, scipy.linalg, threadpoolctl
libraries = threadpoolctl.threadpool_info()
print(*{found["architecture"] for found in libraries if found["internal_api"] == "openblas"})
"""
CAPABILITY = "import torch; print(torch.backends.cpu.get_cpu_capability())"


@dataclass(frozen=True)
class Factor:
    """One thing that differs from `make test`.

    Parameters
    ----------
    variables : dict of str to str
        Set in the environment of the tests.
    probe, expected : str
        Code that prints what is in force, and what it must print; nothing is asked if empty.
    python : str
        Version of Python, if the factor is one.
    constraints : str
        File with the versions of dependencies, if the factor is one.
    """

    variables: dict[str, str] = field(default_factory=dict)
    probe: str = ""
    expected: str = ""
    python: str = ""
    constraints: str = "constraints.txt"


def _blas(kernel: str, reported: str = "") -> Factor:
    """Return the factor of a kernel of OpenBLAS, which NumPy and SciPy use."""
    return Factor({"OPENBLAS_CORETYPE": kernel}, KERNEL, reported or kernel)


def _torch(capability: str) -> Factor:
    """Return the factor of a kernel of torch."""
    return Factor({"ATEN_CPU_CAPABILITY": capability}, CAPABILITY, capability.upper())


FACTORS = {
    "blas-skylakex": _blas("SkylakeX"),
    "blas-haswell": _blas("Haswell"),
    "blas-prescott": _blas("Prescott", reported="Katmai"),  # on x86-64 one kernel has both names
    "torch-default": _torch("default"),
    "torch-avx2": _torch("avx2"),
    "torch-avx512": _torch("avx512"),
    "threads-2": Factor({"OMP_NUM_THREADS": "2"}),
    "python-3.11": Factor(python="3.11"),
    "python-3.12": Factor(python="3.12"),
    "python-3.13": Factor(python="3.13"),
    "oldest": Factor(python="3.11", constraints="constraints-oldest.txt"),
}


def run(name: str) -> str:
    """Run the suite under a factor; return what became of it in a line."""
    factor = FACTORS[name]
    python = _interpreter_for(name, factor)
    if python is None:
        return f"skipped: there is no Python {factor.python} on this machine"
    if not python:
        return f"FAILED: the environment cannot be made, see {name}-install.log"
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **factor.variables}
    if factor.probe:
        probe = [python, "-c", factor.probe]
        found = _output(probe, variables)
        if not found:
            return "FAILED: what is in force cannot be told"
        if found.upper() != factor.expected.upper():
            return f"skipped: this processor gives {found}, not {factor.expected}"
    command = [python, "-m", "pytest", "-q", "--numprocesses", "2", "-m", "not slow"]
    started = time.monotonic()
    log = LOGS / f"{name}.log"
    with log.open("w", encoding="utf-8") as out:
        code = subprocess.run(
            command, cwd=CHECKOUT, env=variables, stdout=out, stderr=subprocess.STDOUT, check=False
        ).returncode
    minutes = (time.monotonic() - started) / 60
    lines = log.read_text(encoding="utf-8").strip().splitlines()
    counts = re.sub(r" in .*", "", lines[-1].strip("= ")) if lines else "no output"
    return f"{'passed' if code == 0 else 'FAILED'}: {counts}, {minutes:.1f} min"


def _interpreter_for(name: str, factor: Factor) -> str | None:
    """Return what to test with; None where there is no such Python, "" where setting up failed."""
    if not factor.python or (
        factor.constraints == Factor.constraints
        and factor.python == "{}.{}".format(*sys.version_info)
    ):
        return sys.executable
    interpreter = _interpreter(factor.python)
    if interpreter is None:
        return None
    folder = f".venv-{name}"
    command = ["make", f"{folder}/.test", f"VENV={folder}", f"PYTHON={interpreter}"]
    command.append(f"CONSTRAINTS={factor.constraints}")
    log = LOGS / f"{name}-install.log"
    with log.open("w", encoding="utf-8") as out:
        made = subprocess.run(
            command, cwd=CHECKOUT, stdout=out, stderr=subprocess.STDOUT, check=False
        )
    return "" if made.returncode else str(CHECKOUT / folder / "bin" / "python")


def _interpreter(version: str) -> str | None:
    """Return a Python of some version, from the path or from pyenv."""
    candidates = [shutil.which(f"python{version}")]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates += [str(found) for found in sorted(versions.glob(f"{version}*/bin/python"))]
    asks = ["-c", "import sys; print('{}.{}'.format(*sys.version_info))"]
    for candidate in filter(None, candidates):
        if _output([candidate, *asks], dict(os.environ)) == version:
            return candidate
    return None


def _output(command: list[str], variables: dict[str, str]) -> str:
    """Return the last line that a command prints, or nothing if it fails."""
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    return lines[-1] if lines and done.returncode == 0 else ""


def main() -> int:
    """Run the factors; fail if one failed or nothing was run."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.portability")
    parser.add_argument("factors", nargs="*", metavar="FACTOR", help=", ".join(FACTORS))
    chosen = parser.parse_args().factors or list(FACTORS)
    unknown = [name for name in chosen if name not in FACTORS]
    if unknown:
        parser.error(f"there is no factor {unknown[0]!r}; known are {', '.join(FACTORS)}")
    LOGS.mkdir(exist_ok=True)
    results = []
    for name in chosen:
        print(f"{name:14}", end=" ", flush=True)
        results.append(run(name))
        print(results[-1], flush=True)
    failed = [name for name, result in zip(chosen, results, strict=True) if "FAILED" in result]
    if failed:
        print(f"see {LOGS.relative_to(CHECKOUT)}/: {', '.join(failed)}")
    return 1 if failed or all(result.startswith("skipped") for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
