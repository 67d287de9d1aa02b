"""What is no path, no name or no number is refused in the caller's words."""

import numpy as np
import pytest

from complabel.datasets import (
    describe_datasets,
    download_dataset,
    find_dataset_dir,
    load_dataset,
    read_meka,
    read_mulan,
    read_pml,
    read_svmlight,
)
from complabel.errors import ComplabelError, DatasetNotFoundError, InputError


class BytesPath:
    def __fspath__(self):
        return b"a.arff"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read_mulan(5), r"arff_path is 5 \(of type int\); give one path"),
        (lambda: read_mulan(None), "arff_path is None"),
        (lambda: read_mulan(b"a.arff"), r"arff_path is b'a.arff' \(of type bytes\)"),
        (lambda: read_mulan(BytesPath()), "arff_path is .*BytesPath"),
        (lambda: read_mulan([1, 2]), r"arff_path\[0\] is 1 \(of type int\); give a path as a str"),
        (lambda: read_meka(5), "path is 5"),
        (lambda: read_meka([None]), r"path\[0\] is None"),
        (lambda: read_svmlight(2.5), r"path is 2\.5"),
        (
            lambda: read_svmlight("a.svm", label_names="sea"),
            r"label_names is 'sea' \(of type str\); give a list",
        ),
        (lambda: read_svmlight("a.svm", label_names=[1]), r"label_names is \[1\] .*; give a list"),
        (lambda: read_svmlight("a.svm", label_names=5), "label_names is 5 .*; give a list"),
        (lambda: read_svmlight("a.svm", n_features="5"), "n_features must be an integer.*got '5'"),
        (lambda: read_svmlight("a.svm", n_features=0), "n_features must be an integer of at least"),
        (lambda: read_svmlight("a.svm", n_features=2**31), "n_features is 2147483648; give 2,147"),
        (lambda: read_pml(["a.mat"]), r"path is \['a.mat'\] \(of type list\); give a path"),
        (lambda: read_meka("a.arff", n_labels="5"), "n_labels is '5' .*; give an integer"),
        (lambda: read_meka("a.arff", n_labels=2.0), r"n_labels is 2\.0 .*; give an integer"),
        (lambda: read_meka("a.arff", n_labels=True), "n_labels is True .*; give an integer"),
        (lambda: load_dataset(["scene"]), r"name of a dataset is \['scene'\] \(of type list\)"),
        (lambda: load_dataset(None), "name of a dataset is None"),
        (lambda: load_dataset("scene", data_dir=5), "data_dir is 5"),
        (lambda: find_dataset_dir(5), "name of a dataset is 5"),
        (lambda: find_dataset_dir("scene", ["."]), r"data_dir is \['.'\]"),
        (lambda: describe_datasets(5), "data_dir is 5"),
        (lambda: download_dataset(5, "."), "name of a dataset is 5"),
        (lambda: download_dataset("scene", 5), "directory is 5"),
    ],
)
def test_a_wrong_type_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_an_xml_path_of_a_wrong_type(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text("@relation r\n")
    with pytest.raises(InputError, match=r"xml_path is 5"):
        read_mulan(path, 5)


@pytest.mark.parametrize("reader", [read_mulan, read_meka, read_svmlight, read_pml])
@pytest.mark.parametrize("path", ["", ".", "/", "a\0b", "x" * 5000, "no/such/file"])
def test_what_names_no_file(reader, path):
    with pytest.raises(DatasetNotFoundError, match=r"no such file|is a folder"):
        reader(path)


@pytest.mark.parametrize("reader", [read_mulan, read_meka, read_svmlight])
def test_several_paths_may_come_in_any_iterable(reader, tmp_path):
    path = tmp_path / "gone.arff"
    for several in ((path,), iter([path]), np.array([str(path)])):
        with pytest.raises(ComplabelError, match="gone"):
            reader(several)
