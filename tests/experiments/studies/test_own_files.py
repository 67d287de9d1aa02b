"""Files of one's own in plans: how they are written, what is kept under which key."""

import numpy as np
import pytest
from tests.experiments.studies.small import assert_stops_at_once, plan_with, rewrite, run

from complabel.datasets import make_synthetic
from complabel.errors import DatasetFormatError, DatasetNotFoundError, InputError
from complabel.experiments.datasets import dataset_entries
from complabel.experiments.studies import (
    Plan,
    Store,
    benchmark_plan,
    fetch,
    read_plan,
    run_study,
    tune,
)

NAMES = [f"label{i}" for i in range(4)]


def write_arff(path, seed=0, *, option=""):
    """Write a dataset of four labels and then three features, all different from 0/1."""
    data = make_synthetic(60, n_features=3, n_labels=4, random_state=seed)
    header = [f"@relation 'mine{option}'", *(f"@attribute {name} {{0,1}}" for name in NAMES)]
    header += [f"@attribute x{i} numeric" for i in range(3)]
    rows = [
        ",".join([*map(str, y.tolist()), *(f"{v:.6f}" for v in x)])
        for x, y in zip(data.X, data.Y, strict=True)
    ]
    path.write_text("\n".join([*header, "@data", *rows]) + "\n", encoding="utf-8")
    return path


def write_xml(path, names=NAMES):
    labels = "".join(f'<label name="{name}"/>' for name in names)
    path.write_text(f"<labels>{labels}</labels>", encoding="utf-8")
    return path


def test_what_a_command_is_given_becomes_entries_of_a_plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = [
        "b-test.arff", "scene", "a.svm", "b-train.arff", "b.xml", "c.arff", "names.xml", "scene",
    ]  # fmt: skip
    here = [str(tmp_path / name) for name in given]
    assert dataset_entries(given) == [
        {"name": "b", "file": [here[3], here[0], here[4]]},
        "scene",
        {"name": "a", "file": here[2]},
        {"name": "c", "file": [here[5], here[6]]},
    ]


def test_files_of_a_plan_are_meant_from_its_folder(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "elsewhere").mkdir()
    write_arff(tmp_path / "data" / "a-train.arff")
    write_arff(tmp_path / "data" / "a-test.arff", 1)
    names = write_xml(tmp_path / "names.xml")
    own = (
        '{ name = "both", file = ["data/a-train.arff", "data/a-test.arff", "names.xml"] },'
        f' {{ name = "one", file = ["data/a-test.arff", "{names}"] }}'
    )
    plan = read_plan(plan_with(tmp_path, own))
    assert plan.files["one"] == [str(tmp_path / "data" / "a-test.arff"), str(names)]
    assert plan.quick([]).datasets == ["both", "one"]
    monkeypatch.chdir(tmp_path / "elsewhere")
    summary, results = run(plan)
    assert (summary.n_ran, results.plan) == (4, plan)
    kept = fetch("both", plan.file_of("both"))
    assert (kept.name, kept.label_names) == ("both", tuple(NAMES))
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


@pytest.mark.parametrize(
    ("file", "error", "message"),
    [
        ("none.arff", DatasetNotFoundError, r"none\.arff: no such file"),
        ("bare.arff", DatasetFormatError, r"bare\.arff: nothing says which attributes are labels"),
        ("two.npz", InputError, r"two\.npz: this dataset has only the labels label_0, label_1"),
        ("plan.toml", DatasetFormatError, r"plan\.toml: the name of a .* must end in \.npz"),
    ],
)
def test_a_file_that_cannot_be_used_stops_a_study_before_it_starts(tmp_path, file, error, message):
    write_arff(tmp_path / "bare.arff")
    np.savez(tmp_path / "two.npz", X=[[1.0], [0.0]], Y=[[1, 0], [0, 1]])
    own = f'"synthetic", {{ name = "mine", file = "{file}" }}'
    assert_stops_at_once(read_plan(plan_with(tmp_path, own)), error, message)


def test_what_is_kept_depends_on_what_is_in_the_files(tmp_path):
    path, named = write_arff(tmp_path / "mine.arff"), write_xml(tmp_path / "mine.xml")
    plan = benchmark_plan([str(path)], ["prior"], n_folds=2)
    text = path.read_text()
    with Store(":memory:") as store:

        def n_ran():
            return run_study(plan, store, n_jobs=1).n_ran

        assert (n_ran(), n_ran()) == (2, 0)
        rewrite(path, text.replace("@data", "% seen\n@data"))
        assert n_ran() == 0  # the same dataset
        rewrite(path, text + text.splitlines()[-1] + "\n")
        assert n_ran() == 2
        rewrite(named, named.read_text().replace("label0", "first"))
        rewrite(path, text.replace("label0", "first"))
        assert n_ran() == 2


def test_tune_takes_one_dataset_of_several_files(tmp_path):
    parts = [write_arff(tmp_path / f"a-{part}.arff", i) for i, part in enumerate(("train", "test"))]
    write_xml(tmp_path / "a.xml")
    search = {"grid": {"n_neighbors": [3]}, "n_folds": 2}
    found = tune([str(part) for part in parts], "ml-knn", **search)
    assert found.dataset == "a"
    assert np.isfinite(found.best.score)
    assert tune(str(parts[0]), "ml-knn", **search).best.score != found.best.score
    with pytest.raises(InputError, match="a search needs one dataset"):
        tune([str(parts[0]), "synthetic"], "ml-knn", **search)
