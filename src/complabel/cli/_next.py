"""The suggested next command, with the given files quoted for a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from complabel.cli._outputs import unused


def command(name: str, *given: object, **options: object) -> str:
    """Return a complabel command as text; options that are None, False or empty are left out.

    If there is already a file of the name for ``--out``, the name gets a number.

    Examples
    --------
    >>> command("predict", "my model.safetensors", "X.npy", items=None, out="p.csv")
    "complabel predict 'my model.safetensors' X.npy --out p.csv"
    """
    words = [*_typed(), name, *map(str, given)]
    for option, value in options.items():
        if value is not None and value is not False and value != "":
            value = unused(Path(str(value))) if option == "out" else value
            called = option.rstrip("_").replace("_", "-")
            words += [f"--{called}"] if value is True else [f"--{called}", str(value)]
    return shlex.join(words)


def _typed() -> list[str]:
    """Return how this program was called, so that the same words work again."""
    program = sys.argv[0]
    if Path(program).parts[-2:] == ("complabel", "__main__.py"):  # python -m complabel
        python = sys.executable
        inside = os.path.relpath(python)
        return [python if inside.startswith(os.pardir) else inside, "-m", "complabel"]
    is_path = Path(program).name == "complabel" and os.sep in program
    return [program if is_path and shutil.which("complabel") is None else "complabel"]
