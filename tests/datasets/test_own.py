"""ARFF, MATLAB and several files as one dataset of one's own: what is read, what is refused."""

import re
import zipfile

import numpy as np
import pytest
from scipy import io, sparse

from complabel.datasets import describe_file, files_of_dataset, load_file, save_file
from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError

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
    assert files_of_dataset(path) == (str(path), str(beside))
    assert describe_file(path)["format"] == "ARFF and XML (Mulan)"


@pytest.mark.parametrize(
    ("option", "labels"), [("-C 1", ("size",)), ("-C -2", ("sky", "city")), ("-C -3", NAMES)]
)
def test_without_an_xml_file_the_relation_tells_the_labels(tmp_path, option, labels):
    rows = TRAIN.replace("0.5", "0").replace("-1", "1")
    path = arff(tmp_path / "mine.arff", rows, relation=f"'pictures: {option}'")
    assert load_file(path).label_names == labels
    assert describe_file(path)["format"] == "ARFF (MEKA)"
    assert files_of_dataset(path) == (str(path),)


def test_an_xml_file_counts_more_than_the_relation(tmp_path):
    path = arff(tmp_path / "mine.arff", TRAIN, relation="'pictures: -C -2'")
    xml(tmp_path / "mine.xml")
    assert load_file(path).label_names == NAMES


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


def test_svmlight_may_have_parts(tmp_path):
    paths = [tmp_path / "mine-train.svm", tmp_path / "mine-test.svm"]
    for path, text in zip(paths, ("0,2 1:0.5\n", "1 1:2\n"), strict=True):
        path.write_text(text)
    found = load_file(paths)
    assert (found.name, found.label_names) == ("mine", ("0", "1", "2"))
    np.testing.assert_array_equal(found.Y, [[1, 0, 1], [0, 1, 0]])


BROKEN = {
    "no labels": (
        "mine.arff",
        "nothing says which attributes are labels; put mine.xml in its folder",
    ),
    "a number": ("number.arff", r"number\.arff, line 7: found 'two' for attribute 'size'"),
    "no such label": ("other.arff", r"0 attributes named 'rain', a label of .*other\.xml"),
    "not well-formed": ("damaged.arff", r"damaged\.xml, line 2: found no well-formed XML"),
    "too many labels": ("many.arff", r"many\.arff: 9 labels, expected between 1 and 3"),
}


@pytest.mark.parametrize(("name", "message"), BROKEN.values(), ids=BROKEN)
def test_what_does_not_parse_is_said_with_its_file_and_line(tmp_path, name, message):
    arff(tmp_path / "mine.arff", TRAIN)
    arff(tmp_path / "number.arff", "two,1,0,0\n", relation="'x: -C -3'")
    arff(tmp_path / "other.arff", TRAIN)
    xml(tmp_path / "other.xml", "rain")
    arff(tmp_path / "damaged.arff", TRAIN)
    (tmp_path / "damaged.xml").write_text("<labels>\n<label name='sea'>", encoding="utf-8")
    arff(tmp_path / "many.arff", TRAIN, relation="'x: -C 9'")
    for read in (load_file, describe_file):
        with pytest.raises(DatasetFormatError, match=message) as refusal:
            read(tmp_path / name)
        assert "\n" not in str(refusal.value)
        assert str(tmp_path) in str(refusal.value)


def test_files_that_cannot_be_one_dataset(tmp_path):
    a = arff(tmp_path / "a.arff", TRAIN)
    names, npz = xml(tmp_path / "names.xml"), tmp_path / "c.npz"
    save_file(load_file([a, names], "mine"), npz)
    for paths, message in (
        ([a, npz], "only several ARFF files or several svmlight files"),
        ([npz, npz], "only several ARFF files"),
        ([npz, names], r"names\.xml: an XML file names the labels of ARFF files"),
        ([a, names, names], "a dataset has only one"),
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
            files_of_dataset(path)
    with pytest.raises(InputError, match=r"path\[1\] is 5"):
        load_file([a, 5])


def test_names_that_have_nothing_in_common_are_called_by_the_first(tmp_path):
    parts = [arff(tmp_path / name, TRAIN) for name in ("a.arff", "b.arff")]
    assert load_file([*parts, xml(tmp_path / "names.xml")]).name == "a"


def test_other_rows_of_attributes_are_no_parts_of_one_dataset(tmp_path):
    a = arff(tmp_path / "a.arff", TRAIN, relation="'x: -C -3'")
    b = arff(tmp_path / "b.arff", TRAIN)
    b.write_text(b.read_text().replace("size", "weight"))
    with pytest.raises(DatasetFormatError, match=r"b\.arff: its attributes differ from those of"):
        load_file([a, b])


MATRICES = {
    "rows": {"X": X, "Y": Y},
    "rows, excluded": {"X": X, "Y": Y, "excluded": 1 - np.array(Y)},
    "columns": {"data": X, "target": np.transpose(Y)},
    "minus one": {"data": X, "target": 2 * np.transpose(Y) - 1},
    "candidates": {"data": X, "target": np.transpose(Y), "partial_labels": np.transpose(Y)},
    "sparse": {"X": sparse.csc_array(X), "Y": sparse.csc_array(Y).astype(float)},
    "others": {"X": X, "Y": Y, "data": X, "names": "sea", "fold": [[1, 2, 3]]},
}


@pytest.mark.parametrize("matrices", MATRICES.values(), ids=MATRICES)
def test_the_layouts_of_matlab_files(tmp_path, matrices):
    path = tmp_path / "mine.mat"
    io.savemat(path, matrices)
    found = load_file(path)
    np.testing.assert_array_equal(found.X.toarray() if sparse.issparse(found.X) else found.X, X)
    np.testing.assert_array_equal(found.Y, Y)
    assert found.label_names == ("label_0", "label_1", "label_2")
    if {"excluded", "partial_labels"} & matrices.keys():
        np.testing.assert_array_equal(found.excluded, 1 - np.array(Y))
    else:
        assert found.excluded is None


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        (
            {"X": X, "target": np.transpose(Y)},
            "X, target; expected data, target, or X, Y",
        ),
        ({**MATRICES["rows"], **MATRICES["columns"]}, "expected data, target, or X, Y"),
        ({"data": X, "target": np.array(Y)[:, :2]}, r"target has shape \(3, 2\); data has 3 rows"),
        ({"X": X, "Y": Y[:2]}, r"Y has shape \(2, 3\)"),
        ({"X": X, "Y": np.multiply(Y, -1)}, "Y .*-1"),
        ({"X": X, "Y": Y, "excluded": Y[:2]}, "excluded has shape"),
        ({"X": [[np.nan], [1], [2]], "Y": Y}, "X holds nan at row 0"),
    ],
)
def test_matrices_that_do_not_fit_are_named(tmp_path, matrices, message):
    path = tmp_path / "mine.mat"
    io.savemat(path, matrices)
    with pytest.raises(DatasetFormatError, match=rf"{re.escape(str(path))}: .*{message}"):
        load_file(path)
