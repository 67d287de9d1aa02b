"""From a recipe back to its encoder, and what other features might gain."""

import numpy as np
import pytest
from scipy import sparse
from tests.features.pictures import write_pictures

from complabel.errors import InputError
from complabel.features import (
    advice,
    encoder_for,
    encoder_of,
    model_of,
    picture_features,
    text_features,
)


@pytest.mark.parametrize("kind", ["text", "pictures"])
def test_a_recipe_leads_back_to_its_encoder(kind):
    recipe = encoder_for(kind).recipe
    assert encoder_of(recipe).recipe == recipe
    assert model_of(recipe) == (kind, encoder_for(kind).model)


def test_a_recipe_may_stand_for_a_model(tmp_path):
    recipe, texts = encoder_for("text", "words").recipe, ["no ink", "paper jam"]
    found = text_features(texts, model=recipe)
    assert abs(found - text_features(texts, model="words")).max() == 0
    paths, recipe = write_pictures(tmp_path, 2), encoder_for("pictures", "pixels").recipe
    expected = picture_features(paths, model="pixels")
    np.testing.assert_array_equal(picture_features(paths, model=recipe), expected)
    with pytest.raises(InputError, match="is none for pictures"):
        picture_features(paths, model=encoder_for("text", "words").recipe)


def test_a_recipe_that_makes_something_else_now_is_refused():
    recipe = encoder_for("text", "words").recipe.replace("(1)", "(0)")
    with pytest.raises(InputError, match="but words now makes them as 'text by words"):
        encoder_of(recipe)


@pytest.mark.parametrize("text", ["", "text", "text by words", "sounds by words: x"])
def test_other_texts_are_no_recipes(text):
    with pytest.raises(InputError, match="is no recipe"):
        model_of(text)


def test_words_that_occur_in_one_item_only_tell_nothing():
    recipe = encoder_for("text", "words").recipe
    X = sparse.csr_array(np.array([[1, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1]], dtype=np.float32))
    # Without the last item: of five words of two items, only the first two are in another item.
    text = advice(X, np.array([True, True, False]), recipe)
    assert "of the words of an item, 40% occur in another item with answers" in text
    assert "--model wordllama" in text
    assert advice(X, np.array([True, True, True]), recipe) == ""
    assert advice(X, np.array([False, False, False]), recipe) == ""


def test_only_first_tries_get_advice():
    X, answered = text_features(["a word", "other things"], model="words"), np.array([True, True])
    assert "a pretrained network" in advice(X, answered, encoder_for("pictures").recipe)
    assert advice(X, answered, "text by wordllama: mean") == ""
    assert advice(X, answered, None) == ""
