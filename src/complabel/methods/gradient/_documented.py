"""What the parameters of several classifiers mean, said once and shown in each docstring."""

from __future__ import annotations

import inspect
import textwrap
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

_ATTRIBUTES = """\
model_ : LinearMap or torch.nn.Module
    Maps features to log-odds of f.
coef_ : ndarray of shape (K, n_features)
    Weights of the linear map. Only without ``network``.
intercept_ : ndarray of shape (K,)
    Biases of the linear map. Only without ``network``.
classes_ : ndarray of shape (K,)
n_features_in_ : int"""

_SECTIONS = """\
Parameters
----------
{parameters}

Attributes
----------
{attributes}"""

_EXAMPLE = """\
>>> import numpy as np
>>> X = np.eye(3).repeat(50, axis=0)
>>> complementary = np.eye(3, dtype=int).repeat(50, axis=0)
>>> classifier = {name}(learning_rate=0.1, random_state=0).fit(X, complementary)
>>> classifier.predict(np.eye(3))
array([[0, 1, 1],
       [1, 0, 1],
       [1, 1, 0]])"""


def documented(cls: Class) -> Class:
    """Fill in the shared parts of a class's docstring.

    ``{parameters}`` stands for the constructor's parameters that the docstring does not describe
    itself, ``{attributes}`` for what every classifier of this family has after ``fit``,
    ``{sections}`` for the sections of both, and ``{example}`` for three separate classes that are
    learned from what they are not.
    """
    if cls.__doc__ is None:  # python -OO
        return cls
    text = inspect.cleandoc(cls.__doc__).replace("{sections}", _SECTIONS)
    entries = [
        _entry(name, parameter.default)
        for name, parameter in inspect.signature(cls).parameters.items()
        if f"\n{name} : " not in text
    ]
    text = text.replace("{parameters}", "\n".join(entries)).replace("{attributes}", _ATTRIBUTES)
    cls.__doc__ = text.replace("{example}", _EXAMPLE.replace("{name}", cls.__name__))
    return cls


def _entry(name: str, default: Any) -> str:
    """Return the lines of one parameter."""
    kind, text = _PARAMETERS[name]
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    lines = textwrap.wrap(text, width=92, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([f"{name} : {kind}, default={shown}", *lines])
