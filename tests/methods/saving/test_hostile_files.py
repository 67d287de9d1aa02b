import json
import sys

import numpy as np
import pytest
from scipy import sparse
from tests.methods.small import COMPLEMENTARY, PROBLEM, brief
from tests.methods.saving.files import array, changed, one, refused, setting, without

from complabel.methods import FrequencyMatchedClassifier


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(path):
    """Save a method by its name, fitted briefly."""

    def save(name, X=PROBLEM.X, **settings):
        brief(name, **settings).fit(X, COMPLEMENTARY).save(path)
        return path

    return save


DEEP = json.loads("[" * 200 + "]" * 200)
PARTS = "state", "model_", "of"
HOSTILE = {
    "a module": (
        "ridge",
        setting("method", to="os:system"),
        "which this version of complabel does not have",
    ),
    "no name": (
        "ridge",
        setting("method", to=["ridge"]),
        "which this version of complabel does not have",
    ),
    "another method": ("ridge", setting("method", to="prior"), "unknown in|missing from"),
    "deep": ("ridge", setting("parameters", "alpha", to=DEEP), "nested too deeply"),
    "more parts": ("ridge", setting("extra", to=1), "'extra' is unknown in the header"),
    "fewer parts": ("ridge", without("provenance"), "'provenance' is missing from the header"),
    "more parameters": ("ridge", setting("parameters", "x", to=1), "'x' is unknown in"),
    "fewer parameters": ("ridge", without("parameters", "cv"), "'cv' is missing from"),
    "NaN": ("ridge", setting("parameters", "alpha", to={"$float": "nan"}), "alpha must be"),
    "wrong parameter": ("ridge", setting("parameters", "cv", to=-3), "cv must be an integer"),
    "large parameter": (
        "ridge",
        lambda header, arrays: (
            setting("parameters", "cv", to={"$array": "x"})(header, arrays),
            arrays.update(x=np.zeros(10_000)),
        ),
        "too large for a parameter",
    ),
    "odd mark": ("ridge", setting("parameters", "cv", to={"$run": "x"}), "'\\$run'"),
    "two marks": ("ridge", setting("parameters", "cv", to={"$tuple": [], "a": 1}), "other keys"),
    "missing state": ("ridge", without("state", "alpha_"), "'alpha_' is missing from"),
    "more state": ("ridge", setting("state", "predict", to=1), "'predict' is unknown in"),
    "no state": ("ridge", setting("state", to=[]), "not a record"),
    "lost array": ("ridge", setting("state", "coef_", to={"$array": "y"}), "array 'y' is missing"),
    "used twice": (
        "prior",
        setting("state", "choice_rate_", to={"$array": "state._smoothed_rate"}),
        "is used twice",
    ),
    "extra array": ("prior", lambda header, arrays: arrays.update(x=np.zeros(3)), "is not used"),
    "no array": ("ridge", setting("state", "coef_", to=[[1.0]]), "coef_ is not an array"),
    "labels": ("ridge", setting("labels", "names", to={"$texts": ["a", "b"]}), "shape .*K = 2"),
    "same labels": (
        "ridge",
        setting("labels", "names", to={"$texts": ["a", "b", "a", "c"]}),
        "with different names",
    ),
    "no labels": ("ridge", setting("labels", "names", to=3), "not a list of names"),
    "features": ("ridge", setting("features", "number", to=6), "d = 6"),
    "no features": (
        "ridge",
        setting("features", "number", to=0),
        "the number of features has the wrong value 0",
    ),
    "feature names": ("ridge", setting("features", "names", to=["a"]), "1 features are named"),
    "shape": ("ridge", array("state.coef_", np.transpose), "shape \\(5, 4\\), not \\(K, d\\)"),
    "type": ("ridge", array("state.coef_", np.float32), "holds float32, not float64"),
    "integers": ("ridge", array("state.coef_", np.int64), "holds int64"),
    "not finite": ("ridge", one("state.coef_", np.nan), "coef_ holds the wrong value nan"),
    "infinite": (
        "ridge",
        one("state.intercept_", -np.inf),
        "intercept_ holds the wrong value -inf",
    ),
    "other scores": ("ridge", one("state.coef_", 9.0), "gives scores that differ"),
    "negative rate": (
        "prior",
        one("state.choice_rate_", -0.5),
        "choice_rate_ holds the wrong value -0.5",
    ),
    "neighbours": ("ml-knn", setting("parameters", "n_neighbors", to=9), "attributes have another"),
    "candidates": ("ml-knn", one("state.candidates_", 7), "candidates_ holds the wrong value 7"),
    "far rows": ("ml-knn", one("state.X_", 1e200), "too large for finite distances"),
    "column": ("sparse", one("state.X_.indices", 5), "out of range or order"),
    "negative column": ("sparse", one("state.X_.indices", -1), "do not fit together"),
    "columns": ("sparse", one("state.X_.indices", 4), "out of range or order"),
    "row ends": ("sparse", one("state.X_.indptr", 10**6, at=1), "do not fit together"),
    "last row": ("sparse", one("state.X_.indptr", 10**6, at=-1), "do not fit together"),
    "short": ("sparse", array("state.X_.data", lambda data: data[:-1]), "is not a valid csr"),
    "rows": (
        "sparse",
        setting("state", "X_", "$csr", "shape", to=[10**12, 5]),
        "is not a valid csr",
    ),
    "sparse columns": ("sparse", setting("state", "X_", "$csr", "shape", to=[90, 4]), "d = 5"),
    "centre": ("lift", one("state.center_label_", 4), "center_label_ holds the wrong value 4"),
    "centre below": (
        "lift",
        one("state.center_label_", -1),
        "center_label_ holds the wrong value -1",
    ),
    "solver": (
        "lift",
        setting("state", "solver_", to="exec"),
        "solver_ has the wrong value 'exec'",
    ),
    "kind": ("mlcl", setting("state", "model_", "kind", to="eval"), "unknown kind 'eval'"),
    "device": ("mlcl", setting("parameters", "device", to="cuda:x"), "which is no device"),
    "callback": ("mlcl", setting("parameters", "callback", to="print"), "but must be null"),
    "network": ("mlcl", setting("parameters", "network", to="os.system"), "no list"),
    "schedule": ("mlcl", setting("parameters", "epochs", to={"a": 1}), "epochs"),
    "kernel": (
        "kernel",
        one("state.model_.of.transformer.of.factor", 0.0),
        "factor has no inverse",
    ),
    "landmarks": (
        "kernel",
        array("state.model_.of.transformer.of.landmarks", lambda rows: rows[:3]),
        "columns = 3",
    ),
    "annotators": (
        "kernel",
        setting("state", "_annotators", "names", to=["a"]),
        "0 rates for 1 annotators",
    ),
    "gamma": (
        "kernel",
        setting(*PARTS, "transformer", "of", "gamma", to=-1.0),
        "gamma has the wrong value -1.0",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_with_sound_digests_are_refused(case, saved):
    name, change, said = HOSTILE[case]
    path = {
        "sparse": lambda: saved("ml-knn", sparse.csr_array(PROBLEM.X)),
        "kernel": lambda: saved("selection-likelihood"),
    }.get(name, lambda: saved(name))()
    refused(changed(path, change), said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            setting("state", "classifier_", "labels", "names", to={"$texts": ["a", "b"]}),
            "other lab",
        ),
        (setting("state", "classifier_", "method", to="subprocess:run"), "does not have"),
        (setting("parameters", "classifier", "method", to="ml-knn"), "missing from|unknown"),
        (setting("parameters", "classifier", to=None), "not a record"),
        (setting("state", "scale_", to={"$float": "inf"}), "scale_ has the wrong value inf"),
    ],
    ids=["labels", "method", "unfitted", "none", "scale"],
)
def test_hostile_models_inside_a_model(path, change, said):
    matched = FrequencyMatchedClassifier(brief("ridge"), [0.2] * 4, cv=None)
    matched.fit(PROBLEM.X, COMPLEMENTARY).save(path)
    refused(changed(path, change), said)


def test_no_module_is_imported_that_a_file_names(saved):
    path = changed(saved("ridge"), setting("method", to="antigravity:main"))
    refused(path, "does not have")
    assert "antigravity" not in sys.modules


def test_arrays_of_a_wrong_size_are_refused_before_they_are_read(saved, monkeypatch):
    path = changed(saved("ridge"), array("state.coef_", lambda coef: np.zeros((4, 100_000))))
    read = []
    stored = sys.modules["complabel.persistence._file"].StoredArray
    original = stored.read
    monkeypatch.setattr(stored, "read", lambda self: read.append(self.name) or original(self))
    refused(path, "coef_ has the shape")
    assert "state.coef_" not in read
