"""The command to type next, with the files that were given, as a shell reads them."""

from __future__ import annotations

import shlex


def command(name: str, *given: object, **options: object) -> str:
    """Write a command of complabel; options that are None, False or empty are left out.

    Examples
    --------
    >>> command("predict", "my model.safetensors", "X.npy", items=None, out="p.csv")
    "complabel predict 'my model.safetensors' X.npy --out p.csv"
    """
    words = ["complabel", name, *map(str, given)]
    for option, value in options.items():
        if value is not None and value is not False and value != "":
            called = option.rstrip("_").replace("_", "-")
            words += [f"--{called}"] if value is True else [f"--{called}", str(value)]
    return shlex.join(words)
