"""Fitted models in files: safetensors with one header in JSON, and nothing that could run.

The room knows nothing of methods. A class says what its fits leave (``_fitted``) and which of its
parameters are no plain values (``_unusual``), by kinds; the header, the digests, the checks of a
file and the comparison of what was written are made here.
"""

from complabel.persistence._compound import (
    IfAny,
    LeftOut,
    OneOf,
    OrNone,
    Plain,
    Record,
    Texts,
)
from complabel.persistence._kinds import Context, Kind, Kinds, Numbers, Rows, Scalar, Table
from complabel.persistence._model import load_model, read_header, save_model
from complabel.persistence._parts import Fitted, Unfitted
from complabel.persistence._refused import RefusedError

__all__ = [
    "Context",
    "Fitted",
    "IfAny",
    "Kind",
    "Kinds",
    "LeftOut",
    "Numbers",
    "OneOf",
    "OrNone",
    "Plain",
    "Record",
    "RefusedError",
    "Rows",
    "Scalar",
    "Table",
    "Texts",
    "Unfitted",
    "load_model",
    "read_header",
    "save_model",
]
