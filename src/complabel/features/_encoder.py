"""What turns texts or pictures into rows of numbers, and the recipe that says how."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from complabel._parameters import AnyArray
from complabel._settings import setting
from complabel.errors import InputError

Kind = Literal["text", "pictures"]


@dataclass(frozen=True, eq=False)
class Encoder:
    """A map that learns nothing: an item always gets the same row, whatever the others are.

    ``encode`` turns a list of b texts, or of b pictures that ``prepare`` has turned into arrays,
    into a matrix (b, d), float32. It is given at most ``rows`` items at a time.
    """

    kind: Kind
    model: str
    details: str
    encode: Callable[[list[Any]], Any]
    prepare: Callable[[Any], AnyArray] | None = None
    rows: int = 64
    is_sparse: bool = False
    file: str = ""  # with a network, as it was given

    @property
    def recipe(self) -> str:
        """How rows are made, in words; two encoders with the same recipe make the same rows."""
        return f"{self.kind} by {self.model}: {self.details}"

    @property
    def named(self) -> str:
        """What ``complabel features --encoder`` calls it."""
        return str(Path(self.file).with_name(self.model)) if self.file else self.model

    @staticmethod
    def by(recipe: str, make: Callable[[str], Encoder]) -> Encoder:
        """Return the encoder of a recipe, made by its name; refuse one that has changed since."""
        _, model = model_of(recipe)
        encoder = make(model)
        if encoder.recipe != recipe:
            raise InputError(
                f"the features were made as {recipe!r}, but {model} now makes them as"
                f" {encoder.recipe!r}; install what made them, or make features and model again"
            )
        return encoder


def model_of(recipe: str) -> tuple[Kind, str]:
    """Return the kind of items and the name of the model in a recipe."""
    kind, _, rest = recipe.partition(" by ")
    model, separator, _ = rest.partition(": ")
    if kind not in ("text", "pictures") or not separator:
        raise InputError(f"{recipe[:200]!r} is no recipe of complabel features")
    return cast(Kind, kind), model


def scaled(rows: Any, at_least: float = 0) -> NDArray[np.float32]:
    """Return rows (n, d) with the length 1, or less if they are shorter than ``at_least``.

    A row of zeros stays.
    """
    array = np.asarray(rows, dtype=np.float32)
    lengths = np.sqrt(np.einsum("nd,nd->n", array, array, dtype=np.float64))
    lengths = np.where(lengths > 0, np.maximum(lengths, at_least), 1)
    return (array / lengths[:, np.newaxis]).astype(np.float32)


def fingerprint(arrays: Iterable[Any]) -> str:
    """Return 12 digits that tell these numbers from others, such as the weights of a model."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


def digest(content: bytes) -> str:
    """Return the SHA-256 of the content of a file."""
    return hashlib.sha256(content).hexdigest()


def home_of(package: str) -> Path | None:
    """Return the folder of a package, which is not imported; None if it is not installed."""
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def missing(model: str, package: str, cause: ImportError) -> InputError:
    """Return the error about a package that a model needs."""
    return InputError(f"{model} needs {package} ({cause}); run pip install {package}")


def failed(model: str, cause: Exception) -> InputError:
    """Return the error about a model that cannot be loaded."""
    reason = (str(cause).splitlines() or [type(cause).__name__])[0][:200]
    return InputError(
        f"{model} cannot be loaded: {reason}; check the name, and the network if its weights must"
        " be downloaded"
    )


def unknown(model: str, kind: Kind, known: Sequence[str]) -> InputError:
    """Return the error about a name that is no model."""
    return InputError(
        f"{setting('model', model)} is none for {kind}; give one of {', '.join(known)}",
        parameter="model",
    )
