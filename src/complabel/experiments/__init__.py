"""Experiments: benchmark datasets, methods that are only compared with, studies, the paper.

Nothing of complabel's tool needs this package: it finds methods and commands here by their names.
"""

from typing import TYPE_CHECKING

from complabel._lazy import lazily

if TYPE_CHECKING:
    from complabel.experiments.datasets import load_dataset

__all__ = ["load_dataset"]
_PLACES = {"load_dataset": "complabel.experiments.datasets:load_dataset"}
__getattr__, __dir__ = lazily(__name__, _PLACES)
