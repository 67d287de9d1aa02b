"""What CONTRIBUTING says of adding a dataset, done."""

import numpy as np
import pytest

from complabel.datasets import _catalog, describe_datasets, load_dataset
from complabel.datasets._catalog import parse_catalog

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


@pytest.fixture
def catalog(monkeypatch):
    """Put an entry into the catalog as if it stood in catalog.toml."""

    def add(text):
        monkeypatch.setattr(_catalog, "CATALOG", {**_catalog.CATALOG, **parse_catalog(text)})

    return add


def test_one_entry_in_one_file_is_a_dataset(catalog, tmp_path):
    catalog(ENTRY)
    (tmp_path / "birds.arff").write_text(ARFF)
    (tmp_path / "birds.xml").write_text(XML)
    found = load_dataset("birds", data_dir=tmp_path)
    assert (found.name, found.label_names) == ("birds", ("wren", "jay", "owl"))
    np.testing.assert_array_equal(found.Y, [[1, 0, 0], [0, 1, 1]])


def test_a_misspelt_key_is_refused_when_the_catalog_is_read():
    with pytest.raises(TypeError, match="licens"):
        parse_catalog(ENTRY.replace("licence", "licens"))
    with pytest.raises(TypeError, match="file"):
        parse_catalog(ENTRY.replace("labels = { name", "labels = { file"))


def test_an_entry_may_name_a_function_instead_of_files():
    made = parse_catalog(
        '[ten]\ntitle = "T"\ncitation = "C"\nsource = "S"\nlicence = "L"\n'
        'make = "complabel.datasets:make_synthetic"\n'
    )["ten"].generate(random_state=3)
    expected = next(d for d in describe_datasets() if d["name"] == "synthetic")
    assert made.Y.shape == (expected["n_samples"], expected["n_labels"])
