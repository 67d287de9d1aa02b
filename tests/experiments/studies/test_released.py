"""Released labels in plans, keys, runs and reports."""

import zipfile

import numpy as np
import pytest
from tests.experiments.studies.small import run
from tests.refusals import raises

from complabel.errors import DatasetFormatError, DatasetNotFoundError
from complabel.experiments.datasets import load_dataset, load_released
from complabel.experiments.studies import Draw, benchmark_plan, plan_units
from complabel.experiments.studies._labels import draw_labels

N = 60
RELEASED = {"labels": "released"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small "scene" in a data folder, and labels that were released for it."""
    monkeypatch.delenv("COMPLABEL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    Y = (X @ rng.normal(size=(3, 4)) + rng.normal(size=(N, 4)) > 0).astype(int)
    Y[np.arange(N), rng.integers(4, size=N)] = 1
    Y[Y.all(axis=1), 0] = 0
    head = "@relation 'scene: -C 4'\n" + "".join(f"@attribute l{k} {{0,1}}\n" for k in range(4))
    head += "".join(f"@attribute x{d} numeric\n" for d in range(3)) + "@data\n"
    rows = [",".join(map(str, [*labels, *x])) for labels, x in zip(Y, X, strict=True)]
    with zipfile.ZipFile(tmp_path / "Scene_Meka.zip", "w") as archive:
        archive.writestr("Scene.arff", head + "\n".join(rows) + "\n")
    write(tmp_path, Y, seed=0)
    return tmp_path


def write(folder, Y, *, seed):
    """Write a uniform draw, and one that takes the last label that does not apply."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(N)
    (folder / "released").mkdir(exist_ok=True)
    lines = ["row,released_row,uniform,biased"]
    for row in order:
        others = np.flatnonzero(Y[row] == 0)
        lines.append(f"{row},0,{rng.choice(others)},{others[-1]}")
    (folder / "released" / "scene.csv").write_text("\n".join(lines) + "\n")


def plan(methods=("prior",), **draw):
    return benchmark_plan(["scene"], methods, draw=draw, n_folds=3)


def keys(folder, **draw):
    units, _ = plan_units(plan(("prior", "supervised"), **draw), data_dir=folder)
    return {(unit.row.method, unit.fold): unit.key for unit in units}


def test_the_labels_are_those_of_the_file_whatever_the_seed(folder):
    scene = load_dataset("scene", data_dir=folder)
    for scheme in ("uniform", "biased"):
        draw = Draw(name="r", labels="released", scheme=scheme)
        expected = load_released(scene, scheme=scheme, data_dir=folder)
        for seed in (0, 1):
            drawn = draw_labels(scene, draw, seed=seed, data_dir=folder)
            np.testing.assert_array_equal(drawn, expected)
    assert (expected != load_released(scene, data_dir=folder)).any()


def test_methods_learn_from_them(folder):
    summary, results = run(plan(**RELEASED, scheme="biased"), data_dir=folder)
    (record,) = results.records()
    assert (summary.n_failed, record["labels"]) == (0, "released-biased")
    # Label 3 does not apply wherever it can be chosen: a constant order puts it last.
    scene = load_dataset("scene", data_dir=folder)
    released = load_released(scene, scheme="biased", data_dir=folder)
    np.testing.assert_array_equal(released[:, 3], 1 - scene.Y[:, 3])
    (other,) = run(plan(scheme="biased"), data_dir=folder)[1].records()
    assert record["metrics"] != other["metrics"]


def test_keys_hold_the_labels_and_not_their_order(folder):
    ours, uniform = keys(folder), keys(folder, **RELEASED)
    biased = keys(folder, **RELEASED, scheme="biased")
    for (method, fold), key in uniform.items():
        same = method == "supervised"  # learns from none of them
        assert (key == ours[method, fold]) == same
        assert (key == biased[method, fold]) == same
    text = (folder / "released" / "scene.csv").read_text().splitlines(keepends=True)
    (folder / "released" / "scene.csv").write_text("".join([text[0], *text[:0:-1]]))
    assert keys(folder, **RELEASED) == uniform
    write(folder, load_dataset("scene", data_dir=folder).Y, seed=1)
    for (method, fold), key in keys(folder, **RELEASED).items():
        assert (key == uniform[method, fold]) == (method == "supervised")


def test_what_is_wrong_is_said_before_anything_runs(folder):
    path = folder / "released" / "scene.csv"
    text = path.read_text()
    path.write_text(text.replace("\n0,", "\n60,"))
    with raises(DatasetFormatError, "row 60", "60 rows"):
        plan_units(plan(**RELEASED), data_dir=folder)
    path.unlink()
    with raises(DatasetNotFoundError, "scene.csv"):
        plan_units(plan(**RELEASED), data_dir=folder)
    with raises(DatasetNotFoundError, "synthetic.csv"):
        plan_units(benchmark_plan(["synthetic"], ["prior"], draw=RELEASED), data_dir=folder)
