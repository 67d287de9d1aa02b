"""Sentence encoders in files: rows by hand, the same in any company; and what is refused."""

import json

import numpy as np
import pytest
from tests.refusals import raises, warns

from complabel.errors import InputError
from complabel.features import NetworkWarning, encoder_for, encoder_of, text_features
from complabel.features import _sentences as sentences

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "paper", "no", "printer", "ink"]
TABLE = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)
TABLE[-1] *= 50  # beside this word, 8 bits for a whole batch tell little of the others
INT64, FLOAT = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT


def write_model(folder, *, inputs=("input_ids", "attention_mask"), coarse=False, ends=""):
    """Write a network that looks tokens up in TABLE, and a tokenizer that wants all filled up.

    Where ``coarse``, activations are rounded to 8 bits, by the largest of all texts that are given
    together. It may end in a mean over tokens, or in one over all.
    """
    node, seen = onnx.helper.make_node, "x"
    nodes = [node("Gather", ["table", inputs[0]], ["x"])]
    if coarse:
        nodes.append(node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]))
        nodes.append(node("DequantizeLinear", ["q", "scale", "zero"], ["rounded"]))
        seen = "rounded"
    axes = {"row": [1], "number": [0, 1, 2]}.get(ends, [3])
    rank = [node("Unsqueeze", [seen, "last"], ["four"])] if not ends else []
    nodes += [*rank, node("ReduceMean", ["four" if rank else seen], ["y"], axes=axes, keepdims=0)]
    weights = [onnx.numpy_helper.from_array(TABLE, "table")]
    weights.append(onnx.numpy_helper.from_array(np.array([3]), "last"))
    graph = onnx.helper.make_graph(
        nodes,
        "tiny",
        [onnx.helper.make_tensor_value_info(name, INT64, ["b", "t"]) for name in inputs],
        [onnx.helper.make_tensor_value_info("y", FLOAT, None)],
        weights,
    )
    opset = [onnx.helper.make_opsetid("", 13)]
    folder.mkdir(exist_ok=True)
    made = onnx.helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.save(made, folder / "model.onnx")
    write_tokenizer(folder)
    return folder


def write_tokenizer(folder, words=WORDS):
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(words)}, "[UNK]")
    )
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.enable_padding(length=128)
    made.enable_truncation(128)
    made.save(str(folder / "tokenizer.json"))


@pytest.mark.parametrize("way", ["mean", "first", "row", "in onnx/"])
def test_a_row_is_the_mean_of_tokens_or_what_the_model_says(tmp_path, way):
    inputs = ("input_ids", "token_type_ids") if way == "first" else ("input_ids",)
    folder = write_model(tmp_path / "tiny", inputs=inputs, ends=way if way == "row" else "")
    if way == "first":
        (folder / "1_Pooling").mkdir()
        said = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False, "dimension": 5}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(said))
    if way == "in onnx/":
        (folder / "onnx").mkdir()
        (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    long = "paper " * 200 + "ink " * 200  # 254 words of it, between the two tokens of every text
    found = text_features(["No paper, no ink", "", long], model=str(folder))
    ids = [[2, 5, 4, 1, 5, 7, 3], [], [2, *[4] * 200, *[7] * 54, 3]]
    rows = [TABLE[2] if way == "first" else TABLE[each].mean(axis=0) for each in (ids[0], ids[2])]
    np.testing.assert_allclose(
        found[[0, 2]], [row / np.linalg.norm(row) for row in rows], rtol=1e-5
    )
    assert not found[1].any()
    assert found.dtype == np.float32


def test_a_text_gets_the_same_bits_whatever_the_others_are(tmp_path):
    """Also from a network whose 8 bits have one scale for all texts that it is given together."""
    model = str(write_model(tmp_path / "tiny", coarse=True))
    texts = ["paper", "no paper no printer", "ink ink ink", "a", "no ink no paper " * 40, ""]
    whole = text_features(texts, model=model)
    for at, text in enumerate(texts):
        assert np.array_equal(text_features([text], model=model)[0], whole[at])
    assert np.array_equal(text_features(texts[::-1], model=model)[::-1], whole)
    beside = text_features(texts, model=f"{model}+words").toarray()[:, :5]
    np.testing.assert_allclose(beside, whole / 2**0.5, rtol=1e-6)


def test_a_recipe_tells_networks_and_tokenizers_apart_and_finds_them_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tiny = write_model(tmp_path / "tiny")
    encoder = encoder_for("text", "tiny+words")
    assert encoder.file == "tiny/model.onnx"
    assert encoder_of(encoder.recipe, network=encoder.file).recipe == encoder.recipe
    models = tiny.rename(tmp_path / "models")
    (tmp_path / "model.onnx").write_bytes(b"another network, which has no tokenizer")
    assert encoder_of(encoder.recipe, models / "m.safetensors").recipe == encoder.recipe
    write_tokenizer(models, WORDS[::-1])
    for where in (models / "m.safetensors", None):
        with raises(InputError, "model.onnx"):
            encoder_of(encoder.recipe, where)
    write_tokenizer(models)
    write_model(models, coarse=True)
    with raises(InputError, "model.onnx"):
        encoder_of(encoder.recipe, models / "m.safetensors")
    with raises(InputError, "words", "minilm"):  # a recipe names no folder
        encoder_of(f"text by {models}: {encoder.recipe.partition(': ')[2]}")


def spoiled(folder, name):
    """Spoil a model, and return the name to give."""
    if name == "no tokenizer":
        (folder / "tokenizer.json").unlink()
    elif name == "damaged tokenizer":
        (folder / "tokenizer.json").write_text("{}")
    elif name == "no network":
        (folder / "model.onnx").unlink()
    elif name == "pictures":
        write_model(folder, inputs=("pixels",))
    elif name == "no rows":
        write_model(folder, ends="number")
    elif name == "max":
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_max_tokens": true}')
    elif name == "elsewhere":
        path = folder / "model.onnx"
        how = {"save_as_external_data": True, "size_threshold": 0, "location": "w.bin"}
        onnx.save(onnx.load(path), path, **how)
    return str(folder / "absent.onnx" if name == "absent" else folder)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no tokenizer", ("model.onnx", "tokenizer.json")),
        ("damaged tokenizer", "tokenizer.json"),
        ("no network", "model.onnx"),
        ("pictures", "model.onnx"),
        ("no rows", "model.onnx"),
        ("max", ("config.json", "pooling_mode_max_tokens")),
        ("elsewhere", ("model.onnx", "'w.bin'")),
        ("absent", ("absent.onnx", "No such file")),
    ],
)
def test_what_is_no_encoder_of_texts_is_refused(tmp_path, name, said):
    model = spoiled(write_model(tmp_path / "tiny"), name)
    with raises(InputError, said):
        text_features(["a"], model=model)


@pytest.mark.parametrize("package", ["tokenizers", "onnxruntime"])
def test_a_package_that_is_missing_is_named(tmp_path, without, package):
    model = str(write_model(tmp_path / "tiny"))
    without(package)
    with raises(InputError, 'pip install "complabel[texts]"'):
        text_features(["a"], model=model)


def test_the_default_is_the_best_that_is_installed(tmp_path, monkeypatch, without):
    pytest.importorskip("wordllama")
    folder = write_model(tmp_path / "complabel_minilm")
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with raises(InputError, "model.onnx"):
        encoder_for("text")
    digests = {name: sentences.digest((folder / name).read_bytes()) for name in sentences._DIGESTS}
    monkeypatch.setattr(sentences, "_DIGESTS", digests)
    encoder = encoder_for("text")
    assert (encoder.model, encoder.file) == ("minilm", "")
    assert encoder_of(encoder.recipe).recipe == encoder.recipe
    without("complabel_minilm")
    assert encoder_for("text").model == "wordllama"
    without("complabel_minilm", "wordllama")
    with warns(NetworkWarning, '"complabel[texts]"', "model='words'"):
        assert encoder_for("text").model == "words"
    with raises(InputError, "minilm", "complabel-minilm"):
        encoder_for("text", "minilm")
