"""Modules of the user's own on the workers of a Dask cluster."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from complabel.errors import InputError
from complabel.methods import get_method
from complabel.studies._code import forget, own_files

if TYPE_CHECKING:
    from distributed import Client

    from complabel.studies._units import Unit


def ship_modules(client: Client, units: Iterable[Unit]) -> None:
    """Send the user's own modules that units need to all workers; refuse what they cannot import.

    A module that is one file is sent, also to workers that join later. A package is not: it must be
    installed on every worker.
    """
    methods = {unit.row.method for unit in units}
    modules = sorted({get_method(name).classifier.__module__ for name in methods})
    foreign = [name for name in modules if name.partition(".")[0] != "complabel"]
    if not foreign:
        return
    files = own_files(*foreign)
    for file in files.values():
        if file.stem != "__init__":
            client.upload_file(str(file), load=False)
    problems = client.run(_renewed, foreign, [*files], os.getpid())
    for worker, problem in problems.items():
        if problem:
            raise InputError(
                f"the Dask worker at {worker} cannot import {problem}. A module that is one file is"
                " sent to the workers; a package must be installed on every worker, or lie where"
                " they find it (PYTHONPATH)"
            )


def _renewed(modules: Sequence[str], tops: Sequence[str], sender: int) -> str:
    """Import modules anew in a worker; return what is wrong, or an empty text."""
    if os.getpid() == sender:  # a cluster inside the process of the study
        return ""
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
        del sys.modules[name]
    forget()
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:  # a module of the user's may raise anything
            return f"{name}: {type(error).__name__}: {error}"
    return ""
