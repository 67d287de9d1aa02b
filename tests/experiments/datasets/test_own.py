"""Files of one's own: what is one dataset, and arguments of wrong types."""

import zipfile

import numpy as np
import pytest

from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError
from complabel.experiments.cli._datasets import describe_file
from complabel.experiments.datasets import (
    describe_datasets,
    download_dataset,
    find_own_files,
    load_dataset,
    load_file,
    save_file,
)

ATTRIBUTES = """\
@attribute size numeric
@attribute sea {0,1}
@attribute sky {0,1}
@attribute city {0,1}
@data
"""
# Features, and then the three labels; written by hand.
TRAIN, TEST = "0.5,1,0,0\n-1,0,1,1\n", "2,1,1,1\n"
X, Y = [[0.5], [-1], [2]], [[1, 0, 0], [0, 1, 1], [1, 1, 1]]
XML = "<labels>{}</labels>"
NAMES = ("sea", "sky", "city")


def arff(path, *rows, relation="pictures"):
    path.write_text(f"@relation {relation}\n{ATTRIBUTES}{''.join(rows)}", encoding="utf-8")
    return path


def xml(path, *names):
    text = XML.format("".join(f'<label name="{name}"/>' for name in names or NAMES))
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["mine.arff", "mine.ARFF", "mine-big.arff", "my mine.v2.arff"])
def test_an_xml_file_beside_names_the_labels(tmp_path, name):
    path = arff(tmp_path / name, TRAIN, TEST)
    beside = xml(tmp_path / ("my mine.v2.xml" if "v2" in name else "mine.xml"))
    found = load_file(path)
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.Y, Y)
    assert (found.name, found.label_names) == (name[:-5], NAMES)
    assert find_own_files(path).all_files == (path, beside)
    assert describe_file(path)["format"] == "ARFF and XML (Mulan)"


@pytest.mark.parametrize("ending", [".zip", ".arff.zip"])
def test_an_arff_file_may_be_alone_in_a_zip(tmp_path, ending):
    inside = arff(tmp_path / "inside.arff", TRAIN)
    path = tmp_path / f"mine{ending}"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inside, "inside.arff")
    xml(tmp_path / "mine.xml")
    found = load_file(path)
    assert (found.name, found.n_samples, found.label_names) == ("mine", 2, NAMES)


def test_parts_are_one_dataset_in_the_order_given(tmp_path):
    train = arff(tmp_path / "my-mine-train.arff", TRAIN)
    test = arff(tmp_path / "my-mine-test.arff", TEST)
    beside = xml(tmp_path / "my-mine.xml")
    for parts, order in (([train, test], [0, 1, 2]), ((test, train), [2, 0, 1])):
        found = load_file(parts)
        assert found.name == "my-mine"
        np.testing.assert_array_equal(found.Y, np.array(Y)[order])
    assert load_file(train).n_samples == 2  # what is not named is not read
    described = describe_file([train, test])
    assert described["files"] == [str(train), str(test), str(beside)]
    assert (described["n_samples"], described["n_some_labels"]) == (3, 2)
    assert described["label_cardinality"] == pytest.approx(2)
    assert load_file([arff(tmp_path / "a.arff", TRAIN), xml(tmp_path / "b.xml")]).name == "a"


def test_an_xml_file_may_have_any_name_and_place(tmp_path):
    (tmp_path / "names").mkdir()
    path, named = arff(tmp_path / "mine.arff", TRAIN), xml(tmp_path / "names" / "few.xml", *NAMES)
    xml(tmp_path / "mine.xml", "no label of it")
    assert load_file([path, named]).label_names == NAMES
    assert load_file([named, path]).label_names == NAMES


def test_files_that_cannot_be_one_dataset(tmp_path):
    a = arff(tmp_path / "a.arff", TRAIN)
    names, npz = xml(tmp_path / "names.xml"), tmp_path / "c.npz"
    save_file(load_file([a, names], "mine"), npz)
    for paths, message in (
        ([a, npz], "not one dataset"),
        ([npz, npz], "not one dataset"),
        ([npz, names], r"names\.xml: these are not one dataset"),
        ([a, names, names], "at most one XML file"),
        ([names], "give the ARFF file, too"),
    ):
        with pytest.raises(DatasetFormatError, match=message):
            load_file(paths)
    for path, message in (
        (tmp_path, r"a folder; give a file in it"),
        ([a, tmp_path / "none.xml"], r"none\.xml: no such file"),
        (tmp_path / ("x" * 5000 + ".arff"), "no such file"),
        ([], "path is empty"),
    ):
        with pytest.raises(DatasetNotFoundError, match=message):
            find_own_files(path)
    with pytest.raises(InputError, match=r"path\[1\] is 5"):
        load_file([a, 5])


def test_other_rows_of_attributes_are_no_parts_of_one_dataset(tmp_path):
    a = arff(tmp_path / "a.arff", TRAIN, relation="'x: -C -3'")
    b = arff(tmp_path / "b.arff", TRAIN)
    b.write_text(b.read_text().replace("size", "weight"))
    with pytest.raises(DatasetFormatError, match=r"b\.arff: its attributes differ from those of"):
        load_file([a, b])


@pytest.mark.parametrize(
    "call",
    [
        lambda: load_file(5),
        lambda: load_file(b"a.arff"),
        lambda: load_file("a.npz", 5),
        lambda: load_dataset(["scene"]),
        lambda: load_dataset("scene", data_dir=5),
        lambda: describe_datasets(5),
        lambda: download_dataset(5, "."),
        lambda: download_dataset("scene", 5),
    ],
)
def test_a_wrong_type_is_refused(call):
    with pytest.raises(InputError, match=r"is 5|b'a|'scene'"):
        call()


@pytest.mark.parametrize("path", ["", ".", "/", "a\0b", "x" * 5000, "no/such/file"])
def test_what_names_no_file(path):
    with pytest.raises(DatasetNotFoundError, match=r"no such file|is a folder"):
        load_file(path)
