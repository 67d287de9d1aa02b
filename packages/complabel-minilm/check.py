"""Compare the installed package with the original: tokens, and rows as complabel makes them.

    python check.py FOLDER TEXTS... [--texts 100000] [--rows 1000]

FOLDER is that of the original model, with ``vocab.txt``. TEXTS are files; pieces of 5 to 60 words
of them are the texts. Every tenth gets characters of other scripts, accents, controls and emoji at
random places. The reference for tokens is BertTokenizer in plain Python, that for rows BertModel,
both of transformers. Needs complabel, complabel-minilm, torch and "transformers<5".
"""

from __future__ import annotations

import argparse
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

ODD = "éÅß\u0301\u200b\u00ad\ufeff\t\x07\ufffd漢字かなहिन्दीи😀👩\u200d🚀“”—…№½ﬁİıſ\ud7a3"
LONGEST = 256


def read(paths: list[Path], n: int) -> list[str]:
    """Return pieces of files, every tenth with odd characters."""
    rng = np.random.default_rng(0)
    found: list[str] = []
    files = [path.read_text("utf-8", errors="replace").split() for path in paths]
    starts = [0] * len(files)
    while len(found) < n and any(map(int.__lt__, starts, map(len, files))):
        for at, words in enumerate(files):
            size = int(rng.integers(5, 61))
            piece = " ".join(words[starts[at] : starts[at] + size])
            starts[at] += size
            if piece and len(found) % 10 == 0:
                letters = list(piece)
                for _ in range(10):
                    letters.insert(rng.integers(len(letters) + 1), ODD[rng.integers(len(ODD))])
                piece = "".join(letters)
            found += [piece] if piece else []
    return found[:n]


def compare_tokens(folder: Path, texts: list[str]) -> None:
    """Print how many texts get the tokens of the reference."""
    from tokenizers import Tokenizer
    from transformers import BertTokenizer

    home = Path(find_spec("complabel_minilm").origin).parent
    ours = Tokenizer.from_file(str(home / "tokenizer.json"))
    ours.no_padding()
    ours.enable_truncation(LONGEST)
    theirs = BertTokenizer(str(folder / "vocab.txt"), do_lower_case=True)
    differ = []
    for text, found in zip(texts, ours.encode_batch_fast(texts), strict=True):
        if found.ids != theirs(text, truncation=True, max_length=LONGEST)["input_ids"]:
            differ.append(text)
    said = f"tokens (tokenizers {version('tokenizers')})"
    print(f"{said}: {len(texts):,} texts, {len(differ)} differ", flush=True)
    for text in differ[:5]:
        print(f"  {text[:200]!r}")


def compare_rows(folder: Path, texts: list[str]) -> None:
    """Print the cosine between rows and those of the original, and how fast ours are."""
    import torch
    from transformers import AutoTokenizer, BertModel

    from complabel.features import text_features

    began = time.process_time()
    rows = text_features(texts, model="minilm")
    seconds = time.process_time() - began
    network = BertModel.from_pretrained(folder).eval()
    tokens = AutoTokenizer.from_pretrained(folder)
    expected = np.empty_like(rows)
    with torch.inference_mode():
        for at, text in enumerate(texts):
            given = tokens(text, truncation=True, max_length=LONGEST, return_tensors="pt")
            expected[at] = network(**given).last_hidden_state[0].mean(dim=0).numpy()
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    cosines = (rows * expected).sum(axis=1)
    near = (rows @ rows.T - expected @ expected.T)[np.triu_indices(len(rows), 1)]
    print(
        f"rows: {len(texts):,} texts, cosine to the original at least {cosines.min():.4f}, on"
        f" average {cosines.mean():.4f}; inner products of two texts are off by"
        f" {np.sqrt((near**2).mean()):.4f}, root mean square"
    )
    print(f"{len(texts) / seconds:.0f} texts a second of processor time, loading included")


def main() -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1_000)
    given = parser.parse_args()
    texts = read(given.files, given.texts)
    compare_tokens(given.folder, texts)
    compare_rows(given.folder, texts[:: max(1, len(texts) // given.rows)][: given.rows])


if __name__ == "__main__":
    main()
