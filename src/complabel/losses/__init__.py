"""Losses as torch modules: tensors in, a scalar out; one file per family, each equation cited."""

from complabel.losses._base import LogitLoss
from complabel.losses._complementary import (
    ComplementaryCrossEntropy,
    MLCLLoss,
    complementary_bce,
    complementary_mse,
    implied_complementary,
)
from complabel.losses._supervised import BinaryCrossEntropy

__all__ = [
    "BinaryCrossEntropy",
    "ComplementaryCrossEntropy",
    "LogitLoss",
    "MLCLLoss",
    "complementary_bce",
    "complementary_mse",
    "implied_complementary",
]
