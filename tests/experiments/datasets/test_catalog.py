"""The catalog, and the real benchmarks against the sizes the paper prints in Table 1."""

import re
from urllib.parse import urlsplit

import numpy as np
import pytest
from scipy import sparse

from complabel.errors import DatasetNotFoundError
from complabel.experiments.datasets import (
    CATALOG,
    EMBEDDED,
    CatalogEntry,
    describe_datasets,
    load_dataset,
)
from complabel.experiments.datasets._catalog import catalog_entry, parse_catalog

# Table 1 of the paper; its 120 features for corel16k are a misprint for 500.
TABLE_1 = {
    "scene": (2407, 294, 6, 1.07),
    "yeast": (2417, 103, 14, 4.23),
    "eurlex_dc": (8636, 5000, 15, 1.02),
    "eurlex_sm": (13270, 5000, 15, 1.74),
    "corel5k": (4194, 499, 15, 1.70),
    "corel16k": (11103, 500, 15, 1.77),
    "bookmark": (38912, 2150, 15, 1.25),
    "delicious": (14784, 500, 15, 4.32),
}


def test_the_datasets_of_the_paper_come_first_with_their_published_sizes():
    assert list(CATALOG)[:8] == list(TABLE_1)
    assert {"emotions", "enron", "bibtex", "tmc2007"} <= set(CATALOG)
    for name, sizes in TABLE_1.items():
        expected = CATALOG[name].expected
        found = (expected.n_samples, expected.n_features, expected.n_labels)
        assert (*found, expected.label_cardinality) == sizes


@pytest.mark.parametrize("entry", CATALOG.values(), ids=CATALOG.keys())
def test_every_entry_is_complete(entry):
    assert isinstance(entry, CatalogEntry)
    assert all([entry.title, entry.citation, entry.licence, entry.source, entry.layouts])
    for layout in entry.layouts:
        assert layout.format in {"mulan", "meka", "svmlight", "pml"}
        assert (layout.labels is not None) == (layout.format == "mulan")
        for file in layout.all_files:
            assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
            for mirror in file.mirrors:
                assert urlsplit(mirror).scheme in {"http", "https"}
                assert mirror.endswith("/" + file.name)


def test_unknown_names_suggest_a_near_one_and_list_all():
    with pytest.raises(DatasetNotFoundError, match=r"'corel-5k'; did you mean 'corel5k'\?") as e:
        catalog_entry("corel-5k")
    assert all(name in str(e.value) for name in (*CATALOG, *EMBEDDED))
    with pytest.raises(DatasetNotFoundError, match="is generated and has no files"):
        catalog_entry("digits")


ENTRY = """
[birds]
title = "Birds: sounds from a forest"
citation = "Briggs et al., MLSP 2013"
source = "https://mulan.sourceforge.net/datasets-mlc.html"
licence = "None stated by those who distribute it."
expected = { n_samples = 2, n_features = 1, n_labels = 3 }

[[birds.layouts]]
format = "mulan"
files = [{ name = "birds.arff" }]
labels = { name = "birds.xml" }
"""
ARFF = (
    "@relation birds\n@attribute wren {0,1}\n@attribute jay {0,1}\n@attribute owl {0,1}\n"
    "@attribute pitch numeric\n@data\n1,0,0,0.5\n0,1,1,2\n"
)
XML = '<labels><label name="wren"/><label name="jay"/><label name="owl"/></labels>'


def test_one_entry_in_one_file_is_a_dataset(catalog, tmp_path):
    catalog(parse_catalog(ENTRY))
    (tmp_path / "birds.arff").write_text(ARFF)
    (tmp_path / "birds.xml").write_text(XML)
    found = load_dataset("birds", data_dir=tmp_path)
    assert (found.name, found.label_names) == ("birds", ("wren", "jay", "owl"))
    np.testing.assert_array_equal(found.Y, [[1, 0, 0], [0, 1, 1]])


@pytest.mark.parametrize("name", EMBEDDED)
def test_what_is_embedded_has_the_size_that_the_catalog_says(name):
    (described,) = describe_datasets(names=[name])
    data = load_dataset(name)
    for size in ("n_samples", "n_features", "n_labels", "label_cardinality"):
        assert (
            described[size] == described[f"expected_{size}"] == pytest.approx(getattr(data, size))
        )


# Cardinality of the files to four decimals; the paper prints 4.23 and 4.32 for yeast and delicious,
# which are cut off rather than rounded (4.24 and 4.33).
SIZES = {
    "scene": ((2407, 294, 6), 1.0740),
    "yeast": ((2417, 103, 14), 4.2371),
    "corel5k": ((4194, 499, 15), 1.7008),
    "corel16k": ((11103, 500, 15), 1.7655),
    "delicious": ((14784, 500, 15), 4.3277),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "corel16k")) for name in SIZES]
)
def test_sizes_after_preprocessing(data_dir, name):
    found = load_dataset(name, data_dir=data_dir)
    sizes, cardinality = SIZES[name]
    assert (found.n_samples, found.n_features, found.n_labels) == sizes
    assert found.label_cardinality == pytest.approx(cardinality, abs=5e-5)
    assert found.label_cardinality == pytest.approx(
        CATALOG[name].expected.label_cardinality, abs=0.01
    )
    n_relevant = found.Y.sum(axis=1)
    assert n_relevant.min() >= 1
    assert n_relevant.max() < found.n_labels
    assert isinstance(found.X, sparse.csr_array) == (name in {"corel5k", "delicious"})


@pytest.mark.parametrize(
    ("name", "sizes"), [("corel5k", (5000, 499, 374)), ("delicious", (16105, 500, 983))]
)
def test_sizes_before_preprocessing(data_dir, name, sizes):
    found = load_dataset(name, data_dir=data_dir, preprocessed=False)
    assert (found.n_samples, found.n_features, found.n_labels) == sizes


def test_scene_is_training_then_test_part(data_dir):
    found = load_dataset("scene", data_dir=data_dir)
    lines = (data_dir / "scene" / "scene-test.arff").read_text().strip().splitlines()
    last = np.array(lines[-1].split(","), dtype=float)
    np.testing.assert_array_equal(np.r_[found.X[-1], found.Y[-1]], last)
    first = (data_dir / "scene" / "scene-train.arff").read_text().split("@data\n")[1]
    np.testing.assert_array_equal(
        np.r_[found.X[0], found.Y[0]], np.array(first.split("\n")[0].split(","), dtype=float)
    )


def test_descriptions_measure_what_is_there(data_dir):
    for d in describe_datasets(data_dir, names=["scene", "yeast"]):
        assert (d["n_samples"], d["n_features"], d["n_labels"]) == SIZES[d["name"]][0]
        assert (d["available"], d["problem"]) == (True, None)
