"""From a recipe back to what it makes, and what another recipe might gain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from complabel.errors import InputError
from complabel.features._encoder import Encoder, Kind, model_of
from complabel.features._pictures import picture_encoder
from complabel.features._texts import text_encoder

_FEW = 0.8  # below this share of known words, a remark is made


def encoder_for(kind: Kind, model: str | None = None) -> Encoder:
    """Return the encoder of that name; by default the one that needs no other package."""
    if kind == "text":
        return text_encoder(model)
    return picture_encoder() if model is None else picture_encoder(model)


def encoder_of(recipe: str) -> Encoder:
    """Return the encoder that makes features by a recipe; refuse one that has changed since."""
    kind, model = model_of(recipe)
    encoder = encoder_for(kind, model)
    if encoder.recipe != recipe:
        raise InputError(
            f"the features were made as {recipe!r}, but {model} now makes them as"
            f" {encoder.recipe!r}; install what made them, or make features and model again"
        )
    return encoder


def advice(X: Any, answered: NDArray[np.bool_], recipe: str | None) -> str:
    """Return what other features might gain, in words; empty if there is nothing to say.

    ``X`` (n, d) are features by a recipe, ``answered`` (n,) the items that a model learns from.
    Hashed words tell nothing before they occur in another item with answers.
    """
    kind, model = model_of(recipe) if recipe else ("", "")
    if kind == "pictures" and model == "pixels":
        return (
            "these features are small grey pixels, a first try; of photographs, a pretrained"
            " network usually tells much more: complabel features FOLDER --model timm/NAME"
        )
    if kind == "text" and model == "words" and answered.any():
        rows = sparse.csr_array(X)[np.flatnonzero(answered)]
        items = np.bincount(rows.indices, minlength=rows.shape[1])
        share = float((items[rows.indices] > 1).mean()) if rows.nnz else 0.0
        if share < _FEW:
            return (
                f"of the words of an item, {share:.0%} occur in another item with answers; the"
                " model learns nothing about the others. A pretrained model knows words that are"
                " alike: complabel features TABLE --text COLUMN --model wordllama"
            )
    return ""
