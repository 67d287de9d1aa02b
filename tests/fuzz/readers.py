"""Damaged dataset files: :mod:`tests.fuzz.driver` says how to run it, and what is a find."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.fuzz import driver, mutants


def prepare() -> None:
    import sklearn.datasets  # noqa: F401


def use(kind: mutants.Kind, folder: Path) -> str:
    kind.read(folder)
    return "read"


TARGET = driver.Target(__doc__, mutants.make_mutant, use, prepare, showable=False)

if __name__ == "__main__":
    sys.exit(driver.main(TARGET, None))
