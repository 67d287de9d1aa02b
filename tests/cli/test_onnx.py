"""`complabel onnx` as it is typed."""

import json

import numpy as np
import pytest
from tests.cli.own import COLUMNS, DATA, NAMES

import complabel


def test_a_model_becomes_a_file_that_predicts_the_same(run, folder):
    pd = pytest.importorskip("pandas")
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    code, _, err = run(
        "fit named.csv --label-names labels.txt --features X.csv --method ridge --out m.safetensors"
    )
    assert code == 0, err
    code, out, err = run("onnx m.safetensors --out m.onnx")
    assert code == 0, err
    assert out.startswith("wrote m.onnx: 5 features in, 4 labels out\n")
    session = onnxruntime.InferenceSession(folder / "m.onnx")
    X = DATA.X.astype(np.float32)
    probabilities, _ = session.run(None, {"features": X})
    expected = complabel.load(folder / "m.safetensors").predict_proba(
        pd.DataFrame(X, columns=COLUMNS)
    )
    np.testing.assert_allclose(probabilities, expected, rtol=1e-5)
    told = session.get_modelmeta().custom_metadata_map
    assert json.loads(told["label_names"]) == list(NAMES)
