"""Rows of numbers from texts: hashed words, or the vectors of a pretrained model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from complabel._parameters import check_integer
from complabel._settings import setting
from complabel.errors import InputError
from complabel.features._encoder import (
    Encoder,
    failed,
    fingerprint,
    home_of,
    missing,
    scaled,
    unknown,
)
from complabel.features._lite0 import NetworkWarning
from complabel.features._onnx import file_of
from complabel.features._sentences import MINILM, content_of, minilm, path_of, sentence_encoder

TEXT_MODELS = (
    *("words", "wordllama", "minilm", "FOLDER", "FILE.onnx", "model2vec/NAME"),
    *("sentence-transformers/NAME", "NAME+words"),
)
_LONGEST = 1_000_000  # characters of a text that are read
# More columns tell a little more, but a fit takes time in proportion to them.
_BITS, _BITS_BESIDE = 14, 12


def text_encoder(model: str | None = None, folders: Sequence[Path] = ()) -> Encoder:
    """Return the encoder of texts of that name, one of ``TEXT_MODELS``, or of a recipe.

    The file of a recipe's network may lie in one of the ``folders``. A recipe, which a stranger may
    have written, names no folder: it must not lead to another machine.
    """
    if model is None:
        return _best()
    if model.startswith("text by "):
        recipe = model

        def file(name: str) -> Path | None:
            return file_of(recipe, name, folders, content_of)

        return Encoder.by(recipe, lambda name: _named(name, file))
    return _named(model, path_of)


def _named(model: str, file: Callable[[str], Path | None]) -> Encoder:
    """Return the encoder of a name; ``file`` says which path it is, if it is none of ours."""
    alone = model.removesuffix("+words")
    package, _, name = alone.partition("/")
    by_name = {"words": _words, "wordllama": _wordllama, "minilm": minilm}
    if alone in by_name:
        encoder = by_name[alone]()
    elif package == "model2vec" and name:
        encoder = _model2vec(alone, name)
    elif package == "sentence-transformers" and name:
        encoder = _sentence_transformers(alone, name)
    elif path := file(alone):
        encoder = sentence_encoder(path)
    else:
        raise unknown(model, "text", TEXT_MODELS)
    return encoder if model == alone else _with_words(encoder)


def _best() -> Encoder:
    """Return the best encoder that is there; warn where it is a poor one."""
    if home_of(MINILM):
        return minilm()
    if home_of("wordllama"):
        return _wordllama()
    warnings.warn(
        "wordllama is not installed, so features are 'words': counts, for which words that mean the"
        " same have nothing in common. Where few items have answers, they tell far less: with 100"
        " items, an average precision of .41 where wordllama has .55. Run pip install"
        ' "complabel[texts]";'
        f" {setting('model', 'words')} takes them without this remark",
        NetworkWarning,
        stacklevel=3,
    )
    return _words()


def beyond_default(encoder: Encoder) -> str:
    """Return what tells more than the default that was taken, in words; empty if nothing does."""
    if encoder.model != "wordllama":
        return ""
    return (
        "wordllama is the best that is installed. Where few items have answers, a sentence encoder"
        " tells more: with 100 items, an average precision of .70 in place of .55. --encoder FOLDER"
        " takes one with model.onnx and tokenizer.json, such as all-MiniLM-L6-v2"
    )


def text_features(texts: Sequence[str], *, model: str | None = None, n_rows: int = 10_000) -> Any:
    """Return a row of numbers for each text.

    Parameters
    ----------
    texts : sequence of str, of length n
        Also an array or a column of a data frame. Only the first million characters of a text
        count.
    model : str or None, default=None
        - "words": counts of words, hashed into 2^14 columns; sparse, no download.
        - "wordllama": the mean of 256 numbers for each part of a word, from the package wordllama,
          which holds them; no download.
        - "minilm": the sentence encoder all-MiniLM-L6-v2, 384 numbers, from our package
          complabel-minilm, which knows the meaning of words from those around them.
        - a folder with model.onnx and tokenizer.json, or a file that ends in .onnx with the latter
          beside it: a sentence encoder of your own. The first 256 tokens of a text count.
        - "model2vec/NAME", "sentence-transformers/NAME": a model of these packages, by the name of
          a folder, or by a name from which the package downloads it.
        - one of these with "+words", such as "wordllama+words": beside 2^12 columns of words.
        - a recipe, as a model's file keeps it ("text by words: ..."): what made these features.

        By default the first that is installed of "minilm" and "wordllama"; else "words" and a
        warning.
    n_rows : int, default=10_000
        Texts that are read at a time.

    Returns
    -------
    csr_array or ndarray of shape (n, d), float32
        Rows have the length 1, or 0 if a text has no words. A text always gets the same row,
        whatever the other texts are.

    Raises
    ------
    InputError
        If a text is no str, or the model is unknown, cannot be loaded, or does not make features
        by the recipe any more.

    Warns
    -----
    NetworkWarning
        If the default is "words".

    Examples
    --------
    >>> X = text_features(["The printer is out of paper.", "No paper!", ""], model="words")
    >>> X.shape, X.count_nonzero(axis=1).tolist()
    ((3, 16384), [6, 2, 0])
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from complabel.methods import PriorClassifier
    >>> pipeline = make_pipeline(FunctionTransformer(text_features), PriorClassifier())
    """
    check_integer("n_rows", n_rows, at_least=1)
    if isinstance(texts, str):
        raise InputError("texts is one str; give a sequence of them")
    checked: list[Any] = list(texts)
    for at, each in enumerate(checked):
        if not isinstance(each, str):
            raise InputError(f"texts[{at}] is {each!r:.60}; give a str, such as an empty one")
    encoder = text_encoder(model)
    starts = range(0, max(len(checked), 1), n_rows)
    blocks = [encoder.encode(checked[start : start + n_rows]) for start in starts]
    return sparse.vstack(blocks, format="csr") if encoder.is_sparse else np.concatenate(blocks)


def _encoder(model: str, details: str, encode: Callable[[list[str]], Any], **more: Any) -> Encoder:
    def cut(texts: list[str]) -> Any:
        return encode([text[:_LONGEST] for text in texts])

    return Encoder("text", model, details, cut, **more)


def _words(bits: int = _BITS) -> Encoder:
    from sklearn.feature_extraction.text import HashingVectorizer  # takes a second

    hashed = HashingVectorizer(n_features=2**bits, dtype=np.float32)

    def encode(texts: list[str]) -> Any:
        if not texts:
            return sparse.csr_array((0, 2**bits), dtype=np.float32)
        return sparse.csr_array(hashed.transform(texts), dtype=np.float32)

    details = f"hashed words, 2^{bits} columns, rows scaled (1)"
    return _encoder("words", details, encode, rows=5_000, is_sparse=True)


def _with_words(other: Encoder) -> Encoder:
    if other.is_sparse:
        raise unknown(f"{other.model}+words", "text", TEXT_MODELS)
    words = _words(_BITS_BESIDE)

    def encode(texts: list[str]) -> Any:
        both = [sparse.csr_array(each.encode(texts)) for each in (other, words)]
        joined = sparse.hstack(both, format="csr", dtype=np.float32)
        joined.data *= np.float32(0.5**0.5)  # so that rows have the length 1 again
        return joined

    details = f"{other.details}, beside {words.details}"
    more = {"rows": other.rows, "is_sparse": True, "file": other.file}
    return _encoder(f"{other.model}+words", details, encode, **more)


def _wordllama() -> Encoder:
    """Read the files in the package, since its own loader looks for one of them in the network.

    The mean is a product with the counts of tokens. So no text is filled up to the longest one of
    its batch, for which the package needs gigabytes if one text is long.
    """
    from safetensors.numpy import load_file

    try:
        from tokenizers import Tokenizer

        home = home_of("wordllama")
        if home is None:
            raise ModuleNotFoundError("it is not installed")
    except ModuleNotFoundError as cause:
        raise missing("wordllama", "wordllama", cause) from cause
    try:
        # Importing the package would change the settings of logging.
        tokens = Tokenizer.from_file(str(home / "tokenizers/l2_supercat_tokenizer_config.json"))
        (vectors,) = load_file(home / "weights/l2_supercat_256.safetensors").values()
    except Exception as cause:  # the library of tokens raises nothing narrower
        raise failed("wordllama", cause) from cause
    vectors = vectors.astype(np.float32)
    tokens.no_padding()
    tokens.no_truncation()

    def encode(texts: list[str]) -> Any:
        ids = [each.ids for each in tokens.encode_batch_fast(texts, add_special_tokens=False)]
        starts = np.cumsum([0, *map(len, ids)])
        columns = np.fromiter((token for each in ids for token in each), np.int64, starts[-1])
        ones = np.ones(len(columns), dtype=np.float32)
        counts = sparse.csr_array((ones, columns, starts), shape=(len(texts), len(vectors)))
        return scaled(counts @ vectors)

    details = f"mean of {vectors.shape[1]} numbers per token, rows scaled (1),"
    return _encoder("wordllama", f"{details} weights {fingerprint([vectors])}", encode, rows=2_000)


def _model2vec(model: str, name: str) -> Encoder:
    try:
        from model2vec import StaticModel
    except ModuleNotFoundError as cause:
        raise missing(model, "model2vec", cause) from cause
    try:
        network: Any = StaticModel.from_pretrained(name)
    except Exception as cause:  # of the network, of files, of their content
        raise failed(model, cause) from cause
    details = f"rows scaled (1), weights {fingerprint([network.embedding])}"
    return _encoder(model, details, lambda texts: scaled(network.encode(texts)), rows=2_000)


def _sentence_transformers(model: str, name: str) -> Encoder:
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as cause:
        raise missing(model, "sentence-transformers", cause) from cause
    try:
        network: Any = SentenceTransformer(name)
    except Exception as cause:  # of the network, of files, of their content
        raise failed(model, cause) from cause
    weights = (each.cpu().float().numpy() for each in network.state_dict().values())
    details = f"rows scaled (1), weights {fingerprint(weights)}"

    def encode(texts: list[str]) -> Any:
        return scaled(network.encode(texts, convert_to_numpy=True, show_progress_bar=False))

    return _encoder(model, details, encode, rows=256)
