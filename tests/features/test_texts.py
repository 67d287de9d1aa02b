"""Features of texts, by independent means."""

import math
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from tests.refusals import raises

from complabel.errors import InputError
from complabel.features import encoder_for, text_features

TEXTS = ["The printer is out of paper.", "Paper! No paper.", "", "drücker ausverkauft 7"]


def test_hashed_words_have_the_length_1_and_know_no_order_or_case():
    X = text_features(TEXTS, model="words")
    assert sparse.issparse(X)
    assert X.dtype == np.float32
    lengths = sparse.linalg.norm(X, axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 0, 1], rtol=1e-6)
    assert X.shape[0] == 4
    same = text_features(["paper no PAPER"], model="words")
    np.testing.assert_allclose(same.toarray(), X[[1]].toarray(), rtol=1e-6)


def test_inner_products_are_those_of_counted_words():
    # "paper" is in both: 1 / sqrt(6) times 2 / sqrt(2^2 + 1), unless two words collide.
    X = text_features(TEXTS[:2], model="words")
    assert float((X[[0]] @ X[[1]].T).toarray()[0, 0]) == pytest.approx(2 / math.sqrt(6 * 5))


def test_a_text_gets_the_same_row_whatever_the_others_are():
    for model in ("words", "wordllama", "wordllama+words"):
        if model != "words":
            pytest.importorskip("wordllama")
        whole = text_features(TEXTS, model=model)
        parts = text_features(TEXTS, model=model, n_rows=1)
        dense = [each.toarray() if sparse.issparse(each) else each for each in (whole, parts)]
        np.testing.assert_allclose(*dense, rtol=1e-5, atol=1e-7)


def test_wordllama_is_what_its_package_makes_without_the_network(tmp_path):
    wordllama = pytest.importorskip("wordllama")
    home = Path(wordllama.__file__).parent
    theirs = wordllama.WordLlama.load(cache_dir=home, disable_download=True)
    expected = theirs.embed([TEXTS[0], TEXTS[1], TEXTS[3]], norm=True)
    found = text_features(TEXTS, model="wordllama")
    assert found.shape == (4, 256)
    np.testing.assert_allclose(found[[0, 1, 3]], expected, rtol=1e-4, atol=1e-6)
    assert not found[2].any()


@pytest.mark.parametrize("package", ["model2vec", "sentence_transformers"])
def test_models_of_other_packages_are_asked_for_their_vectors(monkeypatch, package):
    class Model:
        embedding = np.arange(6.0).reshape(2, 3)

        def __init__(self, name):
            assert name == "folder/model"

        from_pretrained = classmethod(lambda cls, name: cls(name))

        def state_dict(self):
            tensor = types.SimpleNamespace(numpy=lambda: self.embedding)
            tensor.cpu = tensor.float = lambda: tensor
            return {"weights": tensor}

        def encode(self, texts, **_):
            return np.array([[3.0, 4.0, len(text)] for text in texts])

    module = types.ModuleType(package)
    module.StaticModel = module.SentenceTransformer = Model
    monkeypatch.setitem(sys.modules, package, module)
    model = f"{package.replace('_', '-')}/folder/model"
    found = text_features(["", "twelve chars"], model=model)
    np.testing.assert_allclose(found, [[0.6, 0.8, 0], [3 / 13, 4 / 13, 12 / 13]], rtol=1e-6)
    before = encoder_for("text", model).recipe
    Model.embedding = Model.embedding + 1
    assert encoder_for("text", model).recipe != before


@pytest.mark.parametrize("model", ["wordllama", "model2vec/a", "sentence-transformers/a"])
def test_a_package_that_is_missing_is_named(without, model):
    package = model.partition("/")[0]
    without(package.replace("-", "_"))
    with raises(InputError, f"pip install {package}"):
        text_features(["a"], model=model)


def test_words_may_stand_beside_another_model():
    pytest.importorskip("wordllama")
    both = text_features(TEXTS, model="wordllama+words")
    vectors = text_features(TEXTS, model="wordllama")
    assert sparse.issparse(both)
    np.testing.assert_allclose(both.toarray()[:, :256], vectors / math.sqrt(2), rtol=1e-6)
    lengths = sparse.linalg.norm(both, axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 0, 1], rtol=1e-6)
    with raises(InputError, "'words+words'"):
        text_features(TEXTS, model="words+words")


def test_wrong_arguments_are_refused():
    with raises(InputError, "texts[1]", "None"):
        text_features(["a", None])
    with raises(InputError, "texts"):
        text_features("a")
    with raises(InputError, "'word'"):
        text_features(["a"], model="word")


def test_no_texts_make_no_rows():
    assert text_features([], model="words").shape[0] == 0
