"""How long a few answers about wide features take, beside fits without the rotation of rows.

Prints processor seconds of one thread. People answer one yes/no about a random label of each item,
and each item is answered about twice for ``consensus``:

- fit: a fit with all choices, as ``complabel fit`` makes it.
- consensus: ``find_consensus`` with features, five fits among it.
- first, later: the first fit of ``annotate``, and the one after 50 more answers.

"Before" keeps the columns as they are, in the same run: fewer rows than columns were not rotated
to as many columns as rows until November 2026. Hashed words are drawn from topics, 16,384 columns;
dense ones are normal. Those of ``wordllama`` (``pip install wordllama``) are of texts with words of
its vocabulary, drawn as hashed words are. The labels are 15.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse, special

from complabel._training import one_thread
from complabel.answers import Answers
from complabel.methods import SelectionLikelihoodClassifier
from complabel.methods.selection import _features
from complabel.metrics import average_precision
from complabel.people import find_consensus
from complabel.simulate import draw_answers

_LABELS, _TEST, _MORE = 15, 1500, 50


def hashed_words(n: int, rng: np.random.Generator, columns: int = 16_384) -> tuple[Any, Any]:
    """Texts of 60 words; of each label that applies, some words are likelier."""
    p = special.expit(rng.normal(-2.5, 0.7, _LABELS))
    Y = (rng.random((n, _LABELS)) < p).astype(np.uint8)
    words = rng.zipf(1.3, size=(n, 60)) % columns
    topics = rng.integers(columns, size=(_LABELS, 40))
    for label in range(_LABELS):
        at = np.flatnonzero(Y[:, label])
        place = rng.integers(60, size=(len(at), 6))
        words[at[:, np.newaxis], place] = topics[label, rng.integers(40, size=place.shape)]
    rows = np.repeat(np.arange(n), 60)
    X = sparse.csr_matrix((np.ones(n * 60), (rows, words.ravel())), shape=(n, columns))
    return X, Y


def embedded(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Features by wordllama of such texts."""
    import wordllama

    from complabel.features import text_features

    file = next(Path(wordllama.__file__).parent.rglob("*tokenizer_config.json"))
    pieces = json.loads(file.read_text("utf-8"))["model"]["vocab"]
    starts = [piece[1:] for piece in pieces if piece[0] == "\u2581" and len(piece) > 3]
    words = sorted(word for word in starts if word.isascii() and word.isalpha())
    X, Y = hashed_words(n, rng, len(words))
    rows = zip(X.indptr, X.indptr[1:], strict=False)
    texts = [
        " ".join(np.repeat([words[at] for at in X.indices[a:b]], X.data[a:b].astype(int)))
        for a, b in rows
    ]
    return np.asarray(text_features(texts, model="wordllama")), Y


def dense(columns: int) -> Callable[[int, np.random.Generator], tuple[Any, Any]]:
    """Return features like embeddings, or a few columns."""

    def drawn(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        X = rng.normal(size=(n, columns)) * np.arange(1, columns + 1) ** -0.25
        weights = rng.normal(size=(columns, _LABELS)) * 3 / np.linalg.norm(X, axis=1).mean()
        return X, (rng.random((n, _LABELS)) < special.expit(X @ weights - 2)).astype(np.uint8)

    return drawn


CASES = {
    "hashed words": hashed_words,
    "768 columns": dense(768),
    "20 columns": dense(20),
    "wordllama": embedded,
}


def timed(do: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds, and what was found."""
    start = time.process_time()
    found = do()
    return time.process_time() - start, found


def measure(X: Any, Y: Any, n: int, with_consensus: bool) -> tuple[list[float], float]:
    """Return seconds of each task, and the average precision on other items."""
    answers = draw_answers(Y[:n], question="asked", random_state=1)
    again = draw_answers(Y[:n], question="asked", random_state=2)
    first = draw_answers(Y[: n + _MORE], question="asked", random_state=1)
    fit, model = timed(lambda: SelectionLikelihoodClassifier(random_state=0).fit(X[:n], answers))
    consensus = np.nan
    if with_consensus:
        both = Answers.concatenate([answers, again])
        consensus, _ = timed(lambda: find_consensus(X[:n], both, random_state=0))
    warm = SelectionLikelihoodClassifier(warm_start=True, random_state=0)
    of_first, _ = timed(lambda: warm.fit(X[:n], answers))
    later, _ = timed(lambda: warm.fit(X[: n + _MORE], first))
    seconds = [fit, consensus, of_first, later]
    return seconds, float(average_precision(Y[-_TEST:], model.predict_proba(X[-_TEST:])))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--answers", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--cases", nargs="+", choices=[*CASES], default=[*CASES][:3])
    parser.add_argument("--consensus", action="store_true", help="also time find_consensus")
    options = parser.parse_args()
    print("| features | answers | | fit | consensus | first | later | average precision |")
    print("|---|--:|---|--:|--:|--:|--:|--:|")
    now = _features._MOST_ROTATED
    for case in options.cases:
        for n in options.answers:
            X, Y = CASES[case](n + _MORE + _TEST, np.random.default_rng(0))
            for name, most in (("before", 0), ("now", now)):
                _features._MOST_ROTATED = most
                with one_thread(), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    seconds, precision = measure(X, Y, n, options.consensus)
                told = " | ".join("-" if np.isnan(each) else f"{each:.1f}" for each in seconds)
                print(f"| {case} | {n:,} | {name} | {told} | {precision:.3f} |", flush=True)


if __name__ == "__main__":
    main()
