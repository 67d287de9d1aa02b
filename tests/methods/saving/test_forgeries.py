"""Files with sound digests that say something else: refused, and nothing in them is executed."""

import pickle
import sys
import tracemalloc
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse
from tests.methods.saving.files import (
    array,
    changed,
    one,
    refused,
    setting,
    without,
)
from tests.methods.small import COMPLEMENTARY, PROBLEM, brief

import complabel
from complabel.experiments.losses import GDFLoss
from complabel.experiments.methods import ComplementaryLossClassifier
from complabel.methods import FrequencyMatchedClassifier

nn = torch.nn


def network(n_features, n_labels):
    return nn.Sequential(nn.Linear(n_features, 6, bias=False), nn.ReLU(), nn.Linear(6, n_labels))


KINDS = {
    "kernel": lambda: brief("selection-likelihood"),
    "loss": lambda: ComplementaryLossClassifier(loss=GDFLoss(), epochs=1),
    "network": lambda: brief("gdf", network=network, epochs=1),
    "matched": lambda: FrequencyMatchedClassifier(brief("ridge"), [0.2] * 4, cv=None),
    "sparse": lambda: brief("ml-knn"),
}


@cache
def saved(kind):
    """Return the bytes of a sound file."""
    classifier = KINDS[kind]() if kind in KINDS else brief(kind)
    X = sparse.csr_array(PROBLEM.X) if kind == "sparse" else PROBLEM.X
    path = Path.cwd() / f"{kind}.safetensors"
    classifier.fit(X, COMPLEMENTARY).save(path)
    return path.read_bytes()


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return a function that writes a sound file of some kind."""
    monkeypatch.chdir(tmp_path)

    def write(kind):
        path = tmp_path / "model.safetensors"
        path.write_bytes(saved(kind))
        return path

    return write


def parameter(name, to):
    return setting("parameters", name, to=to)


def layer(**settings):
    return lambda header, arrays: header["state"]["model_"]["layers"][0].update(settings)


def weight(values):
    return array("state.model_.weights.0.weight", lambda _: values)


HUGE = 2**31
LANDMARKS = "state.model_.transformer.landmarks"

# Each is the kind of model that was saved, what is changed, and what the refusal names.
FORGERIES = {
    # What would run
    "a module": ("ridge", setting("method", to="os:system"), "'os:system'"),
    "a module to import": ("ridge", setting("method", to="antigravity:main"), "antigravity"),
    "a module inside": (
        "matched",
        setting("state", "classifier_", "method", to="subprocess:run"),
        "subprocess",
    ),
    "a loss": ("loss", setting("parameters", "loss", "name", to="Module"), "'Module'"),
    "a layer": ("network", layer(layer="Lambda"), "Lambda"),
    "a mark": ("ridge", parameter("cv", {"$run": "x"}), r"\$run"),
    # What would take memory
    "wide layer": ("network", layer(in_features=HUGE, out_features=HUGE), "overflow"),
    "features": ("ridge", setting("state", "n_features_in_", to=HUGE), f"d = {HUGE}"),
    # What would read other memory
    "column": ("sparse", one("state.X_.indices", 5), "indices must be < 5"),
    # What another version would write: parts of another name, shape or type
    "more parts": ("ridge", setting("extra", to=1), "'extra'.*fit"),
    "fewer parts": ("ridge", without("parameters"), "'parameters'.*fit"),
    "fewer parameters": ("kernel", without("parameters", "warm_start"), "'warm_start'.*fit"),
    "more parameters": ("ridge", parameter("x", 1), "'x'.*fit"),
    "less state": ("kernel", without("state", "_annotators", "one_sided"), "'one_sided'.*fit"),
    "more state": ("ridge", setting("state", "predict", to=1), "'predict'.*fit"),
    "lost array": ("ridge", setting("state", "coef_", to={"$array": "y"}), "'y'.*fit"),
    "labels": ("ridge", array("state.classes_", lambda names: names[:2]), "K = 2"),
    "shape": ("ridge", array("state.coef_", np.transpose), r"shape \(5, 4\), not \(K, d\)"),
    "type": ("ridge", array("state.coef_", np.float32), "coef_ holds float32"),
    "landmarks": ("kernel", array(LANDMARKS, lambda x: x[:3]), "columns"),
    "bias": ("network", layer(bias=True), "0.bias"),
    "type of weights": ("network", weight(np.zeros((6, 5))), "'0.weight'"),
}


@pytest.mark.parametrize("case", FORGERIES)
def test_a_forgery_with_a_sound_digest_is_refused_runs_nothing_and_takes_no_memory(case, file):
    kind, change, named = FORGERIES[case]
    path = changed(file(kind), change)
    tracemalloc.start()
    try:
        refused(path, named)
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()
    assert "antigravity" not in sys.modules


def test_no_pickle_is_read(file):
    path = file("ridge")
    path.write_bytes(pickle.dumps(brief("ridge")))
    refused(path, "it is not a safetensors file")


def test_what_a_file_may_be_loaded_with_is_what_it_was_saved_with(file):
    """The files that are forged above are sound before."""
    for kind in {kind for kind, _, _ in FORGERIES.values()}:
        assert complabel.load(file(kind)).predict(PROBLEM.X).shape == PROBLEM.Y.shape
