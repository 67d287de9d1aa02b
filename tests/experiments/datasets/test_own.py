"""Files of one's own: what is one dataset, damaged archives, arguments of wrong types."""

import io
import re
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError
from complabel.experiments.cli._datasets import describe_file
from complabel.experiments.datasets import (
    describe_datasets,
    download_dataset,
    find_own_files,
    load_dataset,
    load_file,
    read_meka,
    read_mulan,
    read_svmlight,
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


@pytest.mark.parametrize(
    ("option", "labels"), [("-C 1", ("size",)), ("-C -2", ("sky", "city")), ("-C -3", NAMES)]
)
def test_without_an_xml_file_the_relation_tells_the_labels(tmp_path, option, labels):
    rows = TRAIN.replace("0.5", "0").replace("-1", "1")
    path = arff(tmp_path / "mine.arff", rows, relation=f"'pictures: {option}'")
    assert load_file(path).label_names == labels
    assert describe_file(path)["format"] == "ARFF (MEKA)"
    assert find_own_files(path).all_files == (path,)


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
    "no labels": ("mine.arff", "nothing says which attributes are labels .*; put mine.xml in its"),
    "not well-formed": ("damaged.arff", r"damaged\.xml, line 2: found no well-formed XML"),
}


@pytest.mark.parametrize(("name", "message"), BROKEN.values(), ids=BROKEN)
def test_what_does_not_parse_is_said_with_its_file_and_line(tmp_path, name, message):
    arff(tmp_path / "mine.arff", TRAIN)
    arff(tmp_path / "damaged.arff", TRAIN)
    (tmp_path / "damaged.xml").write_text("<labels>\n<label name='sea'>", encoding="utf-8")
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
            find_own_files(path)
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
    scipy_io.savemat(path, matrices)
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
        ({"X": X, "target": np.transpose(Y)}, "X, target; expected data, target, or X, Y"),
        ({**MATRICES["rows"], **MATRICES["columns"]}, "expected data, target, or X, Y"),
        ({"X": X, "Y": Y[:2]}, r"Y has shape \(2, 3\)"),
        ({"X": X, "Y": np.multiply(Y, -1)}, "Y .*-1"),
    ],
)
def test_matrices_that_do_not_fit_are_named(tmp_path, matrices, message):
    path = tmp_path / "mine.mat"
    scipy_io.savemat(path, matrices)
    with pytest.raises(DatasetFormatError, match=rf"{re.escape(str(path))}: .*{message}"):
        load_file(path)


PLAIN = "@relation 'r: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute x numeric\n@data\n"
ROWS = "".join(f"{i % 2},1,{i * i % 97}\n" for i in range(400))


def zipped(path, compression=zipfile.ZIP_DEFLATED, **members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, text in (members or {"a.arff": PLAIN + ROWS}).items():
            archive.writestr(name, text)
    path.write_bytes(content.getvalue())
    return path


def patched(path, start, new):
    raw = bytearray(path.read_bytes())
    raw[start : start + len(new)] = new
    path.write_bytes(raw)


def encrypt(path):
    """Set the flag of encryption in both headers of the only member."""
    for place in (6, path.read_bytes().index(b"PK\x01\x02") + 8):
        patched(path, place, b"\x01")


def strange_method(path):
    for place in (8, path.read_bytes().index(b"PK\x01\x02") + 10):
        patched(path, place, b"\x63")


def no_deflate(path):
    patched(path, 36, b"\xff" * 8)


def wrong_checksum(path):
    patched(path, len(PLAIN) + 60, b"9")


def cut_directory(path):
    patched(path, path.read_bytes().index(b"PK\x01\x02"), b"XX")


@pytest.mark.parametrize(
    ("damage", "compression", "message"),
    [
        (encrypt, zipfile.ZIP_DEFLATED, "encrypted"),
        (strange_method, zipfile.ZIP_DEFLATED, "compression method"),
        (no_deflate, zipfile.ZIP_DEFLATED, "decompressing"),
        (wrong_checksum, zipfile.ZIP_STORED, "CRC"),
        (cut_directory, zipfile.ZIP_DEFLATED, "central directory"),
    ],
)
def test_a_zip_that_does_not_unpack_is_named(tmp_path, damage, compression, message):
    path = zipped(tmp_path / "bad.zip", compression)
    assert read_meka(path).n_samples == 400
    damage(path)
    with pytest.raises(DatasetFormatError, match=rf"bad\.zip.*{message}.*get the file again"):
        read_meka(path)


def test_what_macos_adds_to_a_zip_is_passed_over(tmp_path):
    resource = b"\x00\x05\x16\x07".decode("latin-1")
    members = {"d/a.arff": PLAIN + ROWS, "__MACOSX/d/._a.arff": resource, "d/._a.arff": resource}
    path = zipped(tmp_path / "mac.zip", **members)
    assert read_meka(path).n_samples == 400
    with pytest.raises(DatasetNotFoundError, match=r"0 ARFF files \[\]"):
        read_meka(zipped(tmp_path / "only.zip", **{"__MACOSX/._a.arff": resource}))


def test_the_limit_reaches_the_files_of_the_catalog(tmp_path, limited):
    zipped(tmp_path / "Yeast_Meka.zip")
    assert load_dataset("yeast", data_dir=tmp_path, preprocessed=False).n_samples == 400
    limited(100)
    with pytest.raises(DatasetFormatError, match=r"Yeast_Meka\.zip!a\.arff: .*more than 100"):
        load_dataset("yeast", data_dir=tmp_path)


def peak_of(read):
    """The most memory that a call takes."""
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_blank_lines_take_no_memory_of_their_own(tmp_path):
    size = 6_000_000
    path = zipped(tmp_path / "blank.zip", **{"b.arff": PLAIN + "1,0,2\n" + "\n" * size})
    # The bytes, their copy on leaving the buffer, and the text; a list of lines takes 8 more.
    assert peak_of(lambda: read_meka(path)) < 4 * size


def as_npz(file, **arrays):
    np.savez_compressed(file, **arrays)


def as_mat(file, **matrices):
    scipy_io.savemat(file, matrices, do_compression=True)


def csr(name, *shape):
    """The parts of an empty sparse matrix."""
    whole = sparse.csr_array(shape)
    return {f"{name}_{part}": getattr(whole, part) for part in ("data", "indices", "indptr")} | {
        f"{name}_shape": shape
    }


WIDE = np.ones((3, 3 * 10**5), dtype=np.uint8)
BOMBS = {
    "zeros in an archive": (as_npz, {"X": np.zeros((3, 500_000)), "Y": Y}),
    "two, each below the limit": (as_npz, {"X": np.zeros((3, 90_000)), "Y": np.ones((3, 10**6))}),
    "a shape that asks for names": (as_npz, {**csr("X", 3, 2**40), "Y": Y}),
    "a shape that asks for labels": (as_npz, {"X": X, **csr("Y", 3, 2**40)}),
    "zeros beside matrices": (as_mat, {"X": X, "Y": Y, "other": np.zeros(10**7)}),
    "bytes that grow to float64": (as_mat, {"X": WIDE, "Y": Y}),
    "many labels": (as_mat, {"data": X, "target": sparse.csc_array((10**9, 3))}),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_does_not_fill_the_memory(tmp_path, name, limited):
    limited(4_000_000)
    save, arrays = BOMBS[name]
    path = tmp_path / f"bomb.{save.__name__[3:]}"
    save(path, **arrays)
    assert path.stat().st_size < 100_000

    def refused():
        with pytest.raises(DatasetFormatError, match=r"bomb\.(npz|mat).*more than"):
            load_file(path)

    assert peak_of(refused) < 4 * 4_000_000


class BytesPath:
    def __fspath__(self):
        return b"a.arff"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read_mulan(5), r"arff_path is 5 \(of type int\); give one path"),
        (lambda: read_mulan(b"a.arff"), r"arff_path is b'a.arff' \(of type bytes\)"),
        (lambda: read_mulan(BytesPath()), "arff_path is .*BytesPath"),
        (lambda: read_mulan([1, 2]), r"arff_path\[0\] is 1 \(of type int\); give a path as a str"),
        (lambda: read_meka(5), "path is 5"),
        (lambda: read_svmlight("a.svm", n_features="5"), "n_features must be an integer.*got '5'"),
        (lambda: read_svmlight("a.svm", n_features=0), "n_features must be an integer of at least"),
        (lambda: read_svmlight("a.svm", n_features=2**31), "n_features is 2147483648; give 2,147"),
        (lambda: read_meka("a.arff", n_labels="5"), "n_labels is '5' .*; give an integer"),
        (lambda: read_meka("a.arff", n_labels=True), "n_labels is True .*; give an integer"),
        (lambda: load_dataset(["scene"]), r"name of a dataset is \['scene'\] \(of type list\)"),
        (lambda: load_dataset("scene", data_dir=5), "data_dir is 5"),
        (lambda: describe_datasets(5), "data_dir is 5"),
        (lambda: download_dataset(5, "."), "name of a dataset is 5"),
        (lambda: download_dataset("scene", 5), "directory is 5"),
    ],
)
def test_a_wrong_type_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("reader", [read_mulan, read_meka, read_svmlight, load_file])
@pytest.mark.parametrize("path", ["", ".", "/", "a\0b", "x" * 5000, "no/such/file"])
def test_what_names_no_file(reader, path):
    with pytest.raises(DatasetNotFoundError, match=r"no such file|is a folder"):
        reader(path)
