import json
import pickle
import sys

import numpy as np
import pytest
from scipy import sparse
from tests.methods.saving.files import array, changed, one, refused, setting, without
from tests.methods.small import COMPLEMENTARY, PROBLEM, brief

from complabel.experiments.losses import GDFLoss
from complabel.experiments.methods import ComplementaryLossClassifier
from complabel.methods import FrequencyMatchedClassifier

MODEL, KERNEL = ("state", "model_"), ("state", "model_", "transformer")
LABELS = "state", "classes_"


def parameter(name, to):
    return setting("parameters", name, to=to)


def state(*keys, to):
    return setting("state", *keys, to=to)


def with_array(place, size):
    """Make a change that puts a new array in a place."""

    def change(header, arrays):
        setting(*place, to={"$array": "x"})(header, arrays)
        arrays["x"] = np.zeros(size)

    return change


# Each is the method that was saved, what is changed, and what the refusal names.
HOSTILE = {
    "a module": ("ridge", setting("method", to="os:system"), "'os:system'"),
    "no name": ("ridge", setting("method", to=["ridge"]), "the method"),
    "another method": ("ridge", setting("method", to="prior"), "the parameters"),
    "more parts": ("ridge", setting("extra", to=1), "'extra'"),
    "fewer parts": ("ridge", without("parameters"), "'parameters'"),
    "deep": ("ridge", parameter("alpha", json.loads("[" * 200 + "]" * 200)), "alpha"),
    "very deep": ("ridge", lambda header, arrays: header.update(x=nested(900)), "header|unknown"),
    "more parameters": ("ridge", parameter("x", 1), "'x'"),
    "NaN": ("ridge", parameter("alpha", {"$float": "nan"}), "alpha"),
    "wrong parameter": ("ridge", parameter("cv", -3), "cv"),
    "large parameter": ("ridge", with_array(("parameters", "cv"), 10_000), "cv"),
    "no float": ("ridge", parameter("alpha", {"$float": "1e400"}), "1e400"),
    "odd mark": ("ridge", parameter("cv", {"$run": "x"}), r"'\$run'"),
    "two marks": ("ridge", parameter("cv", {"$tuple": [], "a": 1}), r"'\$tuple'"),
    "generator": ("ridge", parameter("random_state", {"$generator": {}}), "damaged"),
    "missing state": ("ridge", without("state", "alpha_"), "'alpha_'"),
    "more state": ("ridge", state("predict", to=1), "'predict'"),
    "no state": ("ridge", lambda header, arrays: (arrays.clear(), header.update(state=[])), "reco"),
    "lost array": ("ridge", state("coef_", to={"$array": "y"}), "array 'y' is missing"),
    "used twice": ("prior", state("choice_rate_", to={"$array": "state._smoothed_rate"}), "twice"),
    "extra array": ("prior", lambda header, arrays: arrays.update(x=np.zeros(3)), "'x'"),
    "no array": (
        "ridge",
        lambda header, arrays: header["state"].update(coef_=arrays.pop("state.coef_").tolist()),
        "coef_ is not an array",
    ),
    "labels": ("ridge", array("state.classes_", lambda names: names[:2]), "K = 2"),
    "same labels": ("ridge", state("classes_", to={"$texts": ["a", "b", "a", "c"]}), "classes_"),
    "no labels": ("ridge", state("classes_", to=3), "classes_"),
    "single": ("ridge", state("_single", to=1), "_single"),
    "features": ("ridge", state("n_features_in_", to=6), "n_features_in_"),
    "no features": ("ridge", state("n_features_in_", to=0), "n_features_in_"),
    "feature names": ("ridge", state("feature_names_in_", to={"$texts": ["a"]}), "d = 1"),
    "odd names": (
        "ridge",
        state("feature_names_in_", to={"$objects": [{"a": 1}] * 5}),
        "no list of plain values",
    ),
    "shape": ("ridge", array("state.coef_", np.transpose), r"shape \(5, 4\), not \(K, d\)"),
    "huge": (
        "ridge",
        array("state.coef_", lambda _: np.zeros((3, 100_000))),
        "coef_ has the shape",
    ),
    "type": ("ridge", array("state.coef_", np.float32), "coef_ holds float32"),
    "integers": ("ridge", array("state.coef_", np.int64), "coef_ holds int64"),
    "not finite": ("ridge", one("state.coef_", np.nan), "coef_"),
    "infinite": ("ridge", one("state.intercept_", -np.inf), "intercept_"),
    "negative rate": ("prior", one("state.choice_rate_", -0.5), "choice_rate_"),
    "neighbours": ("ml-knn", parameter("n_neighbors", 9), "n_neighbors"),
    "candidates": ("ml-knn", one("state.candidates_", 7), "candidates_"),
    "far rows": ("ml-knn", one("state.X_", 1e200), "X_"),
    "column": ("sparse", one("state.X_.indices", 5), "indices must be < 5"),
    "negative column": ("sparse", one("state.X_.indices", -1), "indices must be >= 0"),
    "row ends": ("sparse", one("state.X_.indptr", 10**6, at=1), "non-decreasing"),
    "last row": ("sparse", one("state.X_.indptr", 10**6, at=-1), "[Ii]ndex pointer"),
    "short": ("sparse", array("state.X_.data", lambda data: data[:-1]), "same size"),
    "rows": ("sparse", state("X_", "$csr", "shape", to=[10**12, 5]), "index pointer size"),
    "sparse columns": ("sparse", state("X_", "$csr", "shape", to=[90, 6]), "d = 6"),
    "centre": ("lift", one("state.center_label_", 4), "center_label_"),
    "centre below": ("lift", one("state.center_label_", -1), "center_label_"),
    "solver": ("lift", state("solver_", to="exec"), "solver_"),
    "kind": ("mlcl", setting(*MODEL, "kind", to="eval"), "'kind'"),
    "callback": ("mlcl", parameter("callback", "print"), "callback"),
    "network": ("mlcl", parameter("network", "os.system"), "network"),
    "schedule": ("mlcl", parameter("epochs", {"a": 1}), "epochs"),
    "transformer": ("kernel", setting(*KERNEL, "gamma", to=-1.0), "transformer"),
    "factor": ("kernel", one("state.model_.transformer.factor", 0.0), "factor has no inverse"),
    "landmarks": (
        "kernel",
        array("state.model_.transformer.landmarks", lambda rows: rows[:3]),
        "columns = 3|transformer",
    ),
    "annotators": ("kernel", setting("state", "_annotators", "names", to=["a"]), "names"),
    "loss": ("loss", setting("parameters", "loss", "name", to="Module"), "'Module'"),
    "setting of a loss": ("loss", setting("parameters", "loss", "settings", to={"x": 1}), "GDF"),
}


def nested(levels):
    found = []
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_with_a_sound_digest_are_refused(case, path):
    name, change, said = HOSTILE[case]
    classifier, X = brief("selection-likelihood" if name == "kernel" else "ml-knn"), PROBLEM.X
    if name == "sparse":
        X = sparse.csr_array(X)
    elif name == "loss":
        classifier = ComplementaryLossClassifier(loss=GDFLoss(), epochs=1)
    elif name != "kernel":
        classifier = brief(name)
    classifier.fit(X, COMPLEMENTARY).save(path)
    refused(changed(path, change), said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (state("classifier_", *LABELS, to={"$texts": ["a", "b"]}), "classes_"),
        (state("classifier_", "method", to="subprocess:run"), "does not have"),
        (setting("parameters", "classifier", "method", to="ml-knn"), "the parameters"),
        (parameter("classifier", None), "classifier|record"),
        (state("scale_", to={"$float": "inf"}), "scale_"),
    ],
    ids=["labels", "method", "unfitted", "none", "scale"],
)
def test_hostile_models_inside_a_model(path, change, said):
    matched = FrequencyMatchedClassifier(brief("ridge"), [0.2] * 4, cv=None)
    matched.fit(PROBLEM.X, COMPLEMENTARY).save(path)

    def without_its_labels(header, arrays):
        change(header, arrays)
        if said == "classes_":
            del arrays["state.classifier_.state.classes_"]

    refused(changed(path, without_its_labels), said)


def test_no_module_is_imported_that_a_file_names_and_no_pickle_is_read(path):
    classifier = brief("ridge").fit(PROBLEM.X, COMPLEMENTARY)
    classifier.save(path)
    refused(changed(path, setting("method", to="antigravity:main")), "does not have")
    assert "antigravity" not in sys.modules
    path.write_bytes(pickle.dumps(classifier))
    refused(path, "it is not a safetensors file")
