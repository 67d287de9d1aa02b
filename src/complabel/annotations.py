"""The former name of ``complabel.answers`` and ``complabel.simulate``."""

from complabel._lazy import renamed

__getattr__ = renamed(__name__, "complabel.answers", "complabel.simulate")
