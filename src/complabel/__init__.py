"""Multi-label classifiers learned from complementary labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from complabel.methods import ComplementaryClassifier

__all__ = ["__version__", "load"]
__version__ = "0.1.0"


def load(path: str | os.PathLike[str]) -> ComplementaryClassifier:
    """Load a classifier that ``classifier.save(path)`` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ComplementaryClassifier
        It predicts as the saved one did, to the last bit on the same machine.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged, of a newer complabel or no model, or if what it predicts
        here for 16 rows that it holds differs from what it predicted there by more than rounding.
        The message says what to do.

    Notes
    -----
    Nothing that a file holds is run: classes are those of the package, by the names that the
    registry has for them, and what they are given is checked first. It is as safe to load a
    stranger's file as to read a table, but what it predicts is what the stranger wants.

    ``callback`` is None in a loaded classifier, ``device`` is ``"auto"`` where the device is not
    there, and ``network`` makes layers like those that were trained.
    """
    from complabel.methods import load as load_classifier  # torch comes only with the first use

    return load_classifier(path)
