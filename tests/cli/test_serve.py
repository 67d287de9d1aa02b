from functools import partial

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from complabel.methods import ComplementaryRidgeClassifier

X = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 2)), columns=["red", "blue"])
EXCLUDED = pd.DataFrame(np.eye(3, dtype=int)[np.arange(9) % 3], columns=["sea", "sky", "sun"])


@pytest.fixture
def serve(folder, run, served):
    """Run the command with a client in place of the server; return code, output, answers."""
    classifier = ComplementaryRidgeClassifier().fit(X, EXCLUDED)
    classifier.save("model.safetensors")
    names = pd.Series([f"{row}.jpg" for row in range(9)], name="item")
    pd.concat([X["blue"], names, X["red"]], axis=1).to_csv("X.csv", index=False)

    def call(options, *requests):
        answers = []

        def instead(app, *, host, port, started):
            started(f"http://{host}:{port}")
            with TestClient(app, base_url="http://localhost") as client:
                answers.extend(
                    each() if callable(each) else client.request(*each[:2], **each[2])
                    for each in requests
                )

        served(instead)
        code, out, err = run(f"serve model.safetensors {options}")
        return code, out + err, answers

    call.classifier = classifier
    return call


def test_columns_of_items_are_matched_by_name(serve):
    asked = ("POST", "/predict", {"json": {"items": ["4.jpg", "1.jpg"]}})
    code, told, (answer,) = serve("--features X.csv", asked)
    assert code == 0
    assert "9 items of X.csv are known by name" in told
    assert "http://127.0.0.1:9090: 2 features, 3 labels" in told
    expected = serve.classifier.predict_proba(X.iloc[[4, 1]])
    np.testing.assert_allclose(answer.json()["probabilities"], expected, atol=1e-6)


def test_a_new_token_is_printed_and_needed(serve):
    code, told, (answer,) = serve("--token new", ("GET", "/health", {}))
    assert (code, answer.status_code) == (0, 403)
    token = told.split("token: ")[1].split()[0]
    assert f"-H 'X-Token: {token}'" in told
    _, _, (answer,) = serve(f"--token {token}", ("GET", f"/health?token={token}", {}))
    assert answer.status_code == 200


def test_limits_are_those_of_the_options(serve):
    rows = {"json": {"rows": [[0, 0]] * 3}}
    _, _, (answer,) = serve("--most-rows 2", ("POST", "/predict", rows))
    assert "--most-rows" in answer.json()["error"]
    big = {"content": b" " * (2**20 + 1)}
    _, _, (answer,) = serve("--most-megabytes 1", ("POST", "/predict", big))
    assert answer.status_code == 413


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "our-server", "''"])
def test_others_are_let_in_only_with_a_token_or_if_it_is_said(serve, host):
    code, told, _ = serve(f"--host {host}")
    assert (code, "--token new" in told, "--open" in told) == (1, True, True)
    for more in ("--token secret99", "--open"):
        code, told, _ = serve(f"--host {host} {more}")
        assert (code, "not encrypted" in told) == (0, True)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "::ffff:127.0.0.1"])
def test_this_machine_alone_needs_no_token(serve, host):
    assert serve(f"--host {host}")[0] == 0


@pytest.mark.parametrize("more", ["--token ''", "--token short", "--token 'with a blank'"])
def test_a_token_that_could_be_guessed_is_refused(serve, more):
    code, told, _ = serve(more)
    assert (code, "at least 8" in told) == (1, True)
    assert serve("--open --token secret99")[0] == 1


def test_features_of_another_width_are_refused(serve):
    np.save("other.npy", np.ones((9, 5)))
    code, told, _ = serve("--features other.npy")
    assert code == 1
    assert "5 columns" in told


def test_an_array_that_is_written_anew_in_its_place_is_no_longer_read(serve):
    np.save("X.npy", X.to_numpy())
    anew = partial(np.load("X.npy", mmap_mode="r+").fill, 0)
    asked = ("POST", "/predict", {"json": {"items": ["4", "1"]}})
    _, _, (first, _, second) = serve("--features X.npy", asked, anew, asked)
    expected = serve.classifier.predict_proba(X.iloc[[4, 1]])
    for answer in (first, second):
        np.testing.assert_allclose(answer.json()["probabilities"], expected, atol=1e-6)
