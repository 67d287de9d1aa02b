"""The suggested next command, with the given files quoted for a shell."""

from __future__ import annotations

import shlex
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
    words = ["complabel", name, *map(str, given)]
    for option, value in options.items():
        if value is not None and value is not False and value != "":
            value = unused(Path(str(value))) if option == "out" else value
            called = option.rstrip("_").replace("_", "-")
            words += [f"--{called}"] if value is True else [f"--{called}", str(value)]
    return shlex.join(words)
