import json

import numpy as np
import pytest
from scipy import sparse

from complabel.errors import DatasetFormatError, DatasetNotFoundError
from complabel.experiments.datasets import CATALOG, EMBEDDED, describe_datasets, load_dataset


def sparse_arff(relation, n_rows, n_features, n_labels, *, labels_first, seed=0):
    """A small file in the form of the large text datasets, and its labels."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n_rows, n_features)) < 0.2, rng.random((n_rows, n_features)), 0)
    Y = (rng.random((n_rows, n_labels)) < np.linspace(0.05, 0.5, n_labels)).astype(int)
    names = [(f"term{i}", "numeric") for i in range(n_features)]
    labels = [(f"topic{k}", "{0,1}") for k in range(n_labels)]
    columns, values = (labels + names, [Y, X]) if labels_first else (names + labels, [X, Y])
    text = [f"@relation {relation}"] + [f"@attribute {n} {t}" for n, t in columns] + ["@data"]
    text += [
        "{" + ",".join(f"{i} {row[i]:g}" for i in np.flatnonzero(row)) + "}"
        for row in np.hstack(values)
    ]
    return "\n".join(text), Y


@pytest.fixture
def eurlex(tmp_path):
    folder = tmp_path / "eurlex_dc"
    folder.mkdir()
    parts = [sparse_arff("eurlex", 30, 12, 20, labels_first=False, seed=s) for s in (0, 1)]
    for part, (text, _) in zip(("train", "test"), parts, strict=True):
        (folder / f"eurlex-dc-leaves-fold1-{part}.arff").write_text(text)
    labels = "".join(f'<label name="topic{k}"/>' for k in range(20))
    (folder / "eurlex-dc-leaves.xml").write_text(f"<labels>{labels}</labels>")
    return tmp_path, np.vstack([Y for _, Y in parts])


def test_sparse_mulan_in_two_parts(eurlex, caplog):
    data_dir, Y = eurlex
    whole = load_dataset("eurlex_dc", data_dir=data_dir, preprocessed=False)
    assert (whole.name, whole.X.shape) == ("eurlex_dc", (60, 12))
    np.testing.assert_array_equal(whole.Y, Y)
    found = load_dataset("eurlex_dc", data_dir=data_dir)
    assert isinstance(found.X, sparse.csr_array)
    assert found.n_labels == 15
    assert "n_features is 12, published 5000" in caplog.text


def test_directories_are_searched_in_order(tmp_path, monkeypatch, eurlex):
    data_dir, _ = eurlex
    empty = tmp_path / "empty"

    def folder(data_dir=None):
        return describe_datasets(data_dir, names=["eurlex_dc"])[0]["location"]

    assert folder(empty) is None
    monkeypatch.setenv("COMPLABEL_DATA", str(data_dir))
    assert folder(empty) == str(data_dir / "eurlex_dc")
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.delenv("COMPLABEL_DATA")
    (cache / "complabel").mkdir(parents=True)
    (data_dir / "eurlex_dc").rename(cache / "complabel" / "datasets")
    assert folder() == str(cache / "complabel" / "datasets")


def test_a_missing_dataset_lists_every_place_and_what_to_do(tmp_path, monkeypatch, eurlex):
    (eurlex[0] / "eurlex_dc" / "eurlex-dc-leaves.xml").unlink()
    monkeypatch.setenv("COMPLABEL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetNotFoundError) as caught:
        load_dataset("eurlex_dc", data_dir=eurlex[0])
    message = str(caught.value)
    for part in (
        f"{eurlex[0] / 'eurlex_dc'} has some files but lacks eurlex-dc-leaves.xml",
        f"{tmp_path / 'nowhere'} (no such directory)",
        "cache",
        "Eurlex-dc_Meka.zip (meka)",
        "download=True",
        CATALOG["eurlex_dc"].source,
        "$COMPLABEL_DATA",
    ):
        assert part in message


def test_another_checksum_is_refused_unless_told_otherwise(tmp_path):
    (tmp_path / "yeast.arff").write_text(
        "@relation r\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n"
        "@attribute c {0,1}\n@data\n1,1,0,0\n2,0,1,1\n"
    )
    labels = "".join(f'<label name="{name}"/>' for name in "abc")
    (tmp_path / "yeast.xml").write_text(f"<labels>{labels}</labels>")
    with pytest.raises(DatasetFormatError, match=r"yeast\.arff: SHA-256 is .*, expected 55c07a3b"):
        load_dataset("yeast", data_dir=tmp_path)
    assert load_dataset("yeast", data_dir=tmp_path, verify=False).n_samples == 2
    yeast = next(d for d in describe_datasets(tmp_path) if d["name"] == "yeast")
    assert yeast["available"]
    assert yeast["n_samples"] is None
    assert "verify=False" in yeast["problem"]


def test_descriptions_cover_everything_and_are_plain_data(eurlex):
    found = describe_datasets(eurlex[0])
    assert [d["name"] for d in found] == [*CATALOG, *EMBEDDED]
    assert json.loads(json.dumps(found)) == found
    assert all(d.keys() == found[0].keys() for d in found)
    by_name = {d["name"]: d for d in found}
    assert by_name["eurlex_dc"]["n_labels"] == 15
    assert by_name["eurlex_dc"]["expected_n_samples"] == 8636
    assert not by_name["scene"]["available"]
    assert by_name["scene"]["n_samples"] is None
    assert by_name["digits"]["n_features"] == 256
