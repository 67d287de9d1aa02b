"""Rows of numbers from a sentence encoder: a network in an ONNX file, and its tokenizer beside it.

One text at a time goes through the network, on one thread. So no text is filled up to the length of
another, and its row is the same bit for bit whatever the others are, also by a network that rounds
activations by the largest of a batch. Several threads take different texts.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from complabel.errors import InputError
from complabel.features._encoder import Encoder, digest, failed, home_of, missing, scaled
from complabel.features._onnx import open_network

_PACKAGE = "complabel-minilm"
MINILM = _PACKAGE.replace("-", "_")
_NETWORK, _TOKENIZER = "model.onnx", "tokenizer.json"
_DIGESTS = {  # SHA-256 of the files that packages/complabel-minilm makes
    _NETWORK: "d3bae2091bdb3c2be9739164a394033cde9806baace3dfe131fd31b189d4c17c",
    _TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_LONGEST = 256  # tokens of a text; the others are cut off
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_THREADS = min(4, os.cpu_count() or 1)


def minilm() -> Encoder:
    """Return the encoder of our package of weights, whose files are known by their SHA-256."""
    folder = home_of(MINILM)
    if folder is None:
        raise InputError(
            f"minilm needs the package {_PACKAGE}, which is not installed; build it as"
            f" packages/{_PACKAGE}/README.md says, or give the folder of a sentence encoder with"
            f" {_NETWORK} and {_TOKENIZER}: --encoder FOLDER",
            parameter="model",
        )
    for name, known in _DIGESTS.items():
        path = folder / name
        if not path.is_file() or digest(path.read_bytes()) != known:
            raise InputError(
                f"{path} is not the file that this version of complabel knows, by its"
                f" SHA-256; install the {_PACKAGE} that belongs to it, or give the folder itself if"
                f" you trust it: --encoder {folder}",
                parameter="model",
            )
    return sentence_encoder(folder, name="minilm")


def path_of(model: str) -> Path | None:
    """Return the path that a name is, of a folder or of a file that ends in .onnx; else None."""
    path = Path(model)
    return path if model.lower().endswith(".onnx") or path.is_dir() else None


def sentence_encoder(path: Path, *, name: str = "") -> Encoder:
    """Return the encoder in a folder or a file, called by the name of the file or as given."""
    network = _network_in(path) if path.is_dir() else path
    session, content = open_network(network, "texts", n_threads=1)
    tokens, tokenizer_bytes = _tokenizer(_tokenizer_of(network))
    takes = [each.name for each in session.get_inputs()]
    if _INPUTS[0] not in takes or not {*takes} <= {*_INPUTS}:
        raise InputError(
            f"{network}: takes {', '.join(takes)}; give an encoder of texts, which takes input_ids,"
            " and no more than attention_mask and token_type_ids beside"
        )
    output, pooling = session.get_outputs()[0].name, _pooling_of(network)

    def run(ids: list[int]) -> Any:
        batch = np.array([ids], dtype=np.int64)
        values = dict(zip(_INPUTS, (batch, np.ones_like(batch), np.zeros_like(batch)), strict=True))
        return np.asarray(session.run([output], {each: values[each] for each in takes})[0])

    def row(ids: list[int]) -> Any:
        states = run(ids)[0]
        if states.ndim == 1:  # the network has made a row of its tokens
            return states
        return states[0] if pooling == "first" else states.mean(axis=0)

    try:
        ids = tokens.encode("a text").ids
        shape = run(ids).shape
    except Exception as cause:  # the library's own kinds of error have no common base
        raise failed(str(network), cause) from cause
    width = shape[-1:]
    if shape not in ((1, *width), (1, len(ids), *width)):
        raise InputError(
            f"{network}: its first output, {output}, is of shape {shape}, no row for a text or for"
            " each token; give an encoder of texts"
        )
    n_added = tokens.num_special_tokens_to_add(is_pair=False)

    def encode(texts: list[str]) -> NDArray[np.float32]:
        means = np.zeros((len(texts), *width), dtype=np.float32)
        ids = [each.ids for each in tokens.encode_batch_fast(texts)]
        rows = [at for at, each in enumerate(ids) if len(each) > n_added]
        with ThreadPoolExecutor(_THREADS) as threads:
            for at, each in zip(rows, threads.map(lambda at: row(ids[at]), rows), strict=True):
                means[at] = each
        return scaled(means)

    weights = digest(content + tokenizer_bytes)[:12]
    details = f"{pooling} of at most {_LONGEST} tokens, rows scaled (1), weights {weights}"
    file = "" if name else str(network)
    return Encoder("text", name or network.name, details, encode, rows=256, file=file)


def content_of(network: Path) -> bytes:
    """Return what a row depends on: the network and its tokenizer."""
    return network.read_bytes() + _tokenizer_of(network).read_bytes()


def _network_in(folder: Path) -> Path:
    for path in (folder / _NETWORK, folder / "onnx" / _NETWORK):
        if path.is_file():
            return path
    raise InputError(
        f"{folder} has neither {_NETWORK} nor onnx/{_NETWORK}; give the file of the network, or"
        f" sentence-transformers/{folder} if that package reads the folder",
        parameter="model",
    )


def _home_of(network: Path) -> Path:
    """Return the folder of the model, in which some keep networks in a folder of their own."""
    return network.parent.parent if network.parent.name == "onnx" else network.parent


def _tokenizer_of(network: Path) -> Path:
    for folder in (network.parent, _home_of(network)):
        if (folder / _TOKENIZER).is_file():
            return folder / _TOKENIZER
    raise InputError(
        f"{network} has no {_TOKENIZER} beside it, which turns texts into what the network takes;"
        " put the tokenizer of the same model there",
        parameter="model",
    )


def _tokenizer(path: Path) -> tuple[Any, bytes]:
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as cause:
        raise missing(str(path), '"complabel[texts]"', cause) from cause
    content = path.read_bytes()
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as cause:  # the library of tokens raises nothing narrower
        raise failed(str(path), cause) from cause
    tokenizer.no_padding()
    tokenizer.enable_truncation(_LONGEST)
    return tokenizer, content


def _pooling_of(network: Path) -> str:
    """Return how a model makes one row of the rows of its tokens, which some models say."""
    path = _home_of(network) / "1_Pooling" / "config.json"
    if not path.is_file():
        return "mean"
    try:
        config = json.loads(path.read_bytes())
        ways = [name for name, on in config.items() if name.startswith("pooling_mode") and on]
    except (AttributeError, ValueError) as cause:
        raise failed(str(path), cause) from cause
    if ways in (["pooling_mode_mean_tokens"], ["pooling_mode_cls_token"]):
        return "mean" if "mean" in ways[0] else "first"
    raise InputError(
        f"{path}: a row is made by {' and '.join(ways) or 'no known way'}; give a model that takes"
        " the mean of its tokens, or the first one"
    )
