import json
import random
import struct

import numpy as np
import pytest
import safetensors.numpy
from tests.methods.saving.files import KEY, canonical, refused, sealed, take_apart
from tests.methods.small import COMPLEMENTARY, PROBLEM, brief
from tests.refusals import raises

import complabel
from complabel.errors import ModelFileError, OutputError
from complabel.methods import PriorClassifier, read_header


@pytest.fixture
def prior(path):
    PriorClassifier().fit(PROBLEM.X, COMPLEMENTARY).save(path)
    return path


# The format, written by hand.
BY_HAND = {
    "format": "complabel model",
    "version": 1,
    "method": "ridge",
    "parameters": {"alpha": 0.5, "rank": None, "cv": 5, "threshold": "minmax", "random_state": 3},
    "state": {
        "classes_": {"$texts": ["sea", "sky", "sun"]},
        "n_features_in_": 2,
        "feature_names_in_": {"$objects": ["blue", "bright"]},
        "_single": False,
        "_from_answers": False,
        "alpha_": 0.5,
        "rank_": 3,
        "irrelevant_rate_": 0.75,
        "coef_": {"$array": "state.coef_"},
        "intercept_": {"$array": "state.intercept_"},
    },
    "provenance": {"complabel": "0.1.0", "given": {}},
}
ARRAYS = {
    "state.coef_": np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -1.0]]),
    "state.intercept_": np.array([0.0, 0.5, -1.0]),
}


def test_a_file_that_was_written_by_hand(path):
    path.write_bytes(sealed(BY_HAND, ARRAYS))
    model = complabel.load(path)
    assert type(model).__name__ == "ComplementaryRidgeClassifier"
    assert model.get_params() == BY_HAND["parameters"]
    assert model.classes_.tolist() == ["sea", "sky", "sun"]
    assert model.feature_names_in_.tolist() == ["blue", "bright"]
    # Scores are x1, 2 x2 + 1/2 and x1 - x2 - 1.
    assert np.array_equal(model._decision(np.array([[3.0, 4.0]])), [[3.0, 8.5, -2.0]])


def test_the_bytes_are_those_of_the_format(prior):
    content = prior.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    outer = json.loads(content[8 : 8 + length])
    assert list(outer["__metadata__"]) == [KEY]  # of several keys, the order would be any
    text = outer["__metadata__"][KEY]
    assert text == canonical(json.loads(text))
    assert sealed(*take_apart(prior)) == content


def test_every_truncation_is_refused(prior):
    content = prior.read_bytes()
    for end in range(0, len(content), 13):
        prior.write_bytes(content[:end])
        refused(prior, "another copy|damaged")


def test_a_flipped_bit_anywhere_is_refused(prior):
    content, rng = prior.read_bytes(), random.Random(0)
    for at in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[at] ^= 1 << rng.randrange(8)
        prior.write_bytes(damaged)
        refused(prior, "another copy|damaged|not written by complabel")


@pytest.mark.parametrize("content", [b"", b"{}", b"\0" * 100, b"PK\x03\x04", b"[" * 100_000])
def test_what_is_no_safetensors_file(path, content):
    path.write_bytes(content)
    refused(path, "it is not a safetensors file")


def test_files_that_are_not_there_or_of_something_else(path, tmp_path):
    refused(path, "there is no such file")
    refused(tmp_path, "there is no such file")
    safetensors.numpy.save_file({"weights": np.zeros(3)}, path)
    refused(path, "not written by complabel")
    safetensors.numpy.save_file({}, path, metadata={KEY: "[" * 100_000})
    refused(path, "not JSON")
    safetensors.numpy.save_file({}, path, metadata={KEY: "9" * 5_000})
    refused(path, "not JSON")
    with raises(ModelFileError, "model.safetensors"):
        read_header(path)


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_a_file_of_another_version_of_the_format_is_refused(path, version):
    path.write_bytes(sealed(BY_HAND | {"version": version, "new": []}, ARRAYS))
    refused(path, f"version {version!r} .*complabel fit")


def test_what_was_there_stays_when_writing_fails(prior, small_files):
    before, classifier = prior.read_bytes(), brief("ridge").fit(PROBLEM.X, COMPLEMENTARY)
    with small_files(100), raises(OutputError, prior.name):
        classifier.save(prior)
    assert prior.read_bytes() == before
    assert [*prior.parent.iterdir()] == [prior]


def test_what_is_written_is_read_before_it_takes_its_place(prior, monkeypatch):
    before, save = prior.read_bytes(), safetensors.numpy.save

    def damages(arrays, metadata):
        content = bytearray(save(arrays, metadata=metadata))
        content[-1] ^= 1
        return bytes(content)

    monkeypatch.setattr(safetensors.numpy, "save", damages)
    with raises(ModelFileError):
        brief("ridge").fit(PROBLEM.X, COMPLEMENTARY).save(prior)
    assert prior.read_bytes() == before
    assert [*prior.parent.iterdir()] == [prior]


def test_others_may_read_the_file_as_they_may_read_any(prior):
    other = prior.with_name("other")
    other.touch()
    assert prior.stat().st_mode == other.stat().st_mode


def test_a_folder_that_is_not_there(tmp_path):
    classifier = PriorClassifier().fit(PROBLEM.X, COMPLEMENTARY)
    with raises(OutputError, "model.safetensors"):
        classifier.save(tmp_path / "none" / "model.safetensors")
