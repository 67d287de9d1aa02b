"""Text that the docstrings of several classes share, said once and shown in each."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

# Type and text; the default is read from the constructor.
_PARAMETERS = {
    "network": (
        "callable or None",
        "``network(n_features, n_labels)`` returns a ``torch.nn.Module`` with K outputs. None"
        " trains a linear map, as the papers do.",
    ),
    "optimizer": ('{"sgd", "adam"}', ""),
    "learning_rate": (
        "float",
        "The papers choose it per dataset from 0.1, 0.01 and 0.001;"
        " :func:`complabel.methods.make_classifier` gives their choice.",
    ),
    "weight_decay": (
        "float",
        "Coupled, as in ``torch.optim.Adam``: added to the gradient of weights and biases.",
    ),
    "momentum": ("float", 'Only used with ``optimizer="sgd"``.'),
    "milestones": (
        "sequence of int",
        "The learning rate is multiplied by 0.1 after each of these numbers of epochs.",
    ),
    "batch_size": ("int", "Instances per step."),
    "epochs": ("int", "Passes over the data."),
    "fit_intercept": (
        "bool",
        "Append a constant feature, penalized like the others. Without it, features of mean zero"
        " cannot represent base rates.",
    ),
    "max_iter": ("int", "Most rounds."),
    "tol": ("float", "Stop when a round lowers the objective by no more than this share of it."),
    "threshold": (
        '{"probability", "minmax"}',
        "What ``predict`` compares with the cut: f, or f scaled to [0, 1] within each row. The cut"
        " is 0.5 where it is no parameter.",
    ),
    "cut": ("float", "A label is predicted above it; in (0, 1)."),
    "device": ("str", '``"auto"`` takes CUDA where there is some; else a name that torch knows.'),
    "random_state": (
        "int, numpy.random.Generator or None",
        "Seed of the initial weights and of the order of the instances.",
    ),
    "callback": (
        "callable or None",
        "Called after every epoch with (what is trained, epoch, epochs, mean loss), for example"
        ' ``("classifier", 1, 200, 0.7)``.',
    ),
}

# Three classes, learned from what they are not; ``settings`` are those of the constructor.
EXAMPLE = """Examples
--------
>>> import numpy as np
>>> X = np.eye(3).repeat(40, axis=0)
>>> complementary = np.eye(3, dtype=int)[[1, 2, 0]].repeat(40, axis=0)
>>> classifier = {name}({settings}).fit(X, complementary)
>>> classifier.predict(np.eye(3))
array([[1, 0, 1],
       [1, 1, 0],
       [0, 1, 1]])"""


def documented(**texts: str) -> Callable[[Class], Class]:
    """Fill in the shared parts of a class's docstring, each in place of its name in braces.

    Without a text, ``{parameters}`` stands for the constructor's parameters that the docstring
    does not describe itself, and ``{name}`` for the name of the class. A text may hold the names
    of those after it.
    """

    def fill(cls: Class) -> Class:
        if cls.__doc__ is None:  # python -OO
            return cls
        doc = inspect.cleandoc(cls.__doc__)
        for name, text in texts.items():
            doc = doc.replace(f"{{{name}}}", inspect.cleandoc(text))
        if "{parameters}" in doc:
            doc = doc.replace("{parameters}", _undescribed(cls, doc))
        cls.__doc__ = doc.replace("{name}", cls.__name__)
        return cls

    return fill


def _undescribed(cls: type, doc: str) -> str:
    """Describe the constructor's parameters that the docstring leaves out."""
    return "\n".join(
        _entry(name, parameter.default)
        for name, parameter in inspect.signature(cls).parameters.items()
        if f"\n{name} : " not in doc
    )


def _entry(name: str, default: Any) -> str:
    """Return the lines of one parameter."""
    kind, text = _PARAMETERS[name]
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    lines = textwrap.wrap(text, width=92, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([f"{name} : {kind}, default={shown}", *lines])
