"""The former name of ``complabel.files``."""

from complabel._lazy import renamed

__getattr__ = renamed(__name__, "complabel.files")
