"""Texts that the docstrings of several classes share."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

# Type and text of each parameter; the default is read from the constructor.
_PARAMETERS = {
    "network": (
        "callable or None",
        "A function: ``network(n_features, n_labels)`` returns a ``torch.nn.Module`` with K"
        " outputs. X may then have more axes, such as (n, 1, 28, 28) for pictures; the first"
        " argument is the shape of an item, here (1, 28, 28). None trains a linear map, as the"
        " papers do.",
    ),
    "optimizer": ('{"sgd", "adam"}', "The optimizer: SGD with momentum, or Adam."),
    "learning_rate": (
        "float",
        "Step size of the optimizer. The papers choose it per dataset from 0.1, 0.01 and 0.001;"
        " :func:`complabel.methods.make_classifier` uses their choice.",
    ),
    "weight_decay": (
        "float",
        "This multiple of weights and biases is added to their gradient, as in"
        " ``torch.optim.Adam``.",
    ),
    "momentum": ("float", 'Only used with ``optimizer="sgd"``.'),
    "milestones": (
        "sequence of int",
        "The learning rate is multiplied by 0.1 after each of these numbers of epochs.",
    ),
    "batch_size": ("int", "Number of instances per step."),
    "epochs": ("int", "Number of passes over the data."),
    "fit_intercept": (
        "bool",
        "Whether to append a constant feature, penalized like the others. Without it, features of"
        " mean zero cannot represent base rates.",
    ),
    "max_iter": ("int", "The maximum number of rounds."),
    "tol": ("float", "Stop when a round lowers the objective by no more than this share of it."),
    "threshold": (
        '{"probability", "minmax"}',
        "What ``predict`` compares with the cut: f, or f scaled to [0, 1] within each row. The cut"
        " is 0.5, unless the class has a parameter ``cut``.",
    ),
    "cut": ("float", "``predict`` returns a label if its value is above the cut; in (0, 1)."),
    "device": (
        "str",
        'The device to train on: ``"auto"`` is CUDA if available, else the CPU; or a device name'
        " of torch.",
    ),
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

# Three classes, learned from complementary classes; ``settings`` are the constructor's arguments.
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
    """Return a decorator that fills shared texts into a class's docstring.

    Each ``{key}`` in the docstring is replaced by the text of that keyword argument. A text may
    hold the keys of texts after it. Two keys need no argument: ``{parameters}`` describes the
    constructor's parameters that the docstring does not describe, and ``{name}`` is the name of
    the class.
    """

    def fill(cls: Class) -> Class:
        if cls.__doc__ is None:  # python -OO removes docstrings
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
    """Return the lines that describe one parameter."""
    kind, text = _PARAMETERS[name]
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    lines = textwrap.wrap(text, width=92, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([f"{name} : {kind}, default={shown}", *lines])
