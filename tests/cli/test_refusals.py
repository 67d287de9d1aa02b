"""What cannot be is said, with its exit code and the option, file or name that is wrong."""

import shlex

import numpy as np
import pytest
from tests.cli.own import DATA, NAMES, write_arff, write_files, write_table

from complabel.methods import make_classifier
from complabel.simulate import draw_complementary

PLAN = """
name = "own"
title = "Files of our own"
datasets = ["synthetic", { name = "mine", file = "gone.arff" }]
rows = [{ method = "prior" }]
"""
ASK = "ask --out q.csv -n 10 --label-names labels.txt"
FIT = "fit --out m.safetensors --method ridge"
PREDICT = "predict --rows 10 --out p.csv"
EVALUATE = "evaluate model.safetensors"
ONE = "benchmark synthetic --method prior"
X = "--features X.csv"
REFUSED = [
    ("nonsense", 2, "nonsense"),
    ("benchmark", 2, "--features"),
    ("benchmark synthetic --scheme odd", 2, "'--scheme': 'odd'"),
    ("benchmark synthetic --labels-from odd", 2, "'--labels-from': 'odd'"),
    ("benchmark synthetic --method mlc", 1, "'mlcl'"),
    ("benchmark synthetic --method nomodule:X", 1, "'nomodule:X'"),
    ("benchmark sceen", 1, "'scene'"),
    ("benchmark bookmark --data-dir nowhere", 1, "'bookmark'"),
    ("benchmark nowhere.npz", 1, "nowhere.npz"),
    ("benchmark .", 1, "folder"),
    ("benchmark pics.xml", 1, "pics.xml"),
    ("benchmark bare.arff", 1, "bare.arff"),
    ("benchmark scene.arff", 1, "scene.arff"),
    (f"benchmark {X}", 1, "--truth"),
    (f"benchmark none.csv {X}", 1, "none.csv"),
    (f"benchmark truth.csv {X}", 1, "column 'label'"),
    (f"benchmark named.csv {X} --scheme uniform", 1, "true labels"),
    (f"{ONE} --folds 1001", 1, "1001"),
    (f"{ONE} --question menu-1", 1, "--question menu-1"),
    (f"{ONE} --question menu-9", 1, "menu-9"),
    (f"{ONE} --scheme own", 1, "synthetic"),
    (f"{ONE} --labels-from released", 1, "synthetic"),
    (f"{ONE} --question ticked-9", 1, "ticked-9"),
    ("study report --seconds 14", 1, "--seconds"),
    ("study report --seconds asked=x,ticked=2,labels=3", 1, "asked=x"),
    ("study report --seconds asked=1,ticked=2,labels=3,menu=4", 1, "--seconds"),
    ("study report --seconds asked=9,ticked=8,labels=3", 1, "8 s"),
    (f"{ONE} --question none", 1, "audit is 0"),
    (f"{ONE} --audit 9999", 1, "audit of 9999"),
    (f"{ONE} --match-frequencies", 1, "audit = 200"),
    (f"{ONE} --scheme biased --question asked", 1, "--scheme uniform"),
    (f"{ONE} --question asked --error-rate .1 --missed .1", 1, "--error-rate"),
    ("tune synthetic --match-frequencies", 1, "audit = 200"),
    ("tune synthetic --question none --audit 50", 1, "audit-50"),
    ("tune synthetic --scheme own --error-rate 0.1", 1, "error_rate"),
    ("tune synthetic --method prior", 1, "prior"),
    ("tune synthetic --grid bta=1", 1, "'beta'"),
    ("tune synthetic --grid beta", 1, "--grid beta"),
    ("tune synthetic --grid beta=1,,2", 1, "--grid"),
    ("tune synthetic --grid beta=1 --grid beta=2", 1, "beta"),
    ("tune synthetic --folds 1001", 1, "1001"),
    ("tune meka.arff mine.arff", 1, "one dataset"),
    ("tune synthetic --truth truth.csv", 1, "--truth"),
    (f"tune asked.csv {X} --reveal --method ml-knn", 1, "true labels"),
    ("datasets bare.arff", 1, "bare.arff"),
    ("datasets sceen", 1, "'scene'"),
    ("study run own.toml", 1, "gone.arff"),
    ("study run nowhere.toml", 1, "nowhere.toml"),
    ("study run tabel2", 1, "'table2'"),
    ("study run quux", 1, "quux"),
    ("study run table2 --store no/where.sqlite", 1, "--store no/where.sqlite"),
    ("study status --store gone.sqlite", 1, "gone.sqlite"),
    ("study report --store own.toml", 1, "own.toml"),
    ("study export all.xlsx", 1, "all.xlsx"),
    ("reproduce table7", 1, "table2"),
    (f"{ASK} none.csv", 1, "none.csv"),
    (f"{ASK} {X} --label-names none.txt", 1, "none.txt"),
    (f"{ASK} --items truth.csv --names-only -n 5000", 1, "--number 5000"),
    (f"{ASK} --items asked.csv", 1, "asked.csv"),
    (f"{ASK} named.csv --only-yes", 1, "--against"),
    (f"ask --out q.csv {X} --to-evaluate model.safetensors --all-items", 1, "--all-items"),
    (f"{FIT} named.csv {X} --only-yes", 1, "--machine"),
    (ASK, 1, "--features or --items"),
    (f"{ASK} named.csv --show few.csv", 1, "few.csv"),
    (f"{ASK} named.csv --show bodies.csv", 1, "column 'item'"),
    (f"{ASK} named.csv --show truth.csv", 1, "truth.csv"),
    (f"{ASK} named.csv --for prodigy", 1, "--show"),
    (f"{ASK} named.csv --for replies", 1, "--show"),
    (f"{ASK} named.csv -n 5000", 1, "--number 5000"),
    (f"{ASK} photos.csv {X}", 1, "column 'item'"),
    (f"{FIT} none.csv {X}", 1, "none.csv"),
    (f"{FIT} named.csv --features none.csv", 1, "none.csv"),
    (f"{FIT} named.csv --features X.npy", 1, "named.csv"),
    (f"{FIT} named.csv {X} --out m.pkl", 1, "--out m.pkl"),
    (f"{FIT} named.csv {X} --method rigde", 1, "'ridge'"),
    (f"{FIT} named.csv {X} --method supervised", 1, "supervised"),
    (f"{FIT} named.csv {X} --folds 1", 2, "'--folds'"),
    (f"{FIT} named.csv {X} --contradictions x", 2, "'--contradictions': 'x'"),
    (f"{FIT} none.csv {X} --read-as free", 2, "'--read-as': 'free'"),
    (f"{FIT} named.csv {X} --label-names ids.txt", 1, "named.csv"),
    (f"{PREDICT} none.safetensors X.csv", 1, "none.safetensors"),
    (f"{PREDICT} X.csv X.csv", 1, "X.csv"),
    (f"{PREDICT} model.safetensors none.csv", 1, "none.csv"),
    (f"{PREDICT} model.safetensors truth.csv", 1, "5 columns"),
    (f"{PREDICT} model.safetensors narrow.npy", 1, "3 columns"),
    (f"{PREDICT} model.safetensors nan.npy", 1, "nan.npy, row 80: column 1"),
    (f"{PREDICT} model.safetensors X.csv --top 9", 1, "4 labels"),
    (f"{PREDICT} model.safetensors X.csv --top 1 --threshold .5", 1, "--top and --threshold"),
    (f"{PREDICT} model.safetensors X.csv --out p.txt", 1, "--out p.txt"),
    (f"{EVALUATE} X.csv", 1, "--truth or --answers"),
    (f"{EVALUATE} X.csv --truth truth.csv --answers named.csv", 1, "--truth or --answers"),
    (f"{EVALUATE} X.csv --truth none.csv", 1, "none.csv"),
    (f"{EVALUATE} X.npy --truth other.csv", 1, "other.csv"),
    (f"{EVALUATE} X.csv --truth X.csv", 1, "X.csv"),
    (f"{EVALUATE} X.csv --answers truth.csv", 1, "truth.csv: there is no column 'label'"),
    ("inspect synthetic", 1, "synthetic"),
    ("inspect named.csv mine.arff", 1, "--features and --label-names"),
    ("inspect named.csv --items ids.txt", 1, "--items"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a file of each kind, and with some in which something is wrong."""
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    write_arff(folder / "bare.arff")
    write_arff(folder / "mine.arff", option=": -C 4")
    write_arff(folder / "meka.arff", option=": -C 4")
    (folder / "pics.xml").write_text('<labels><label name="a"/></labels>')
    (folder / "own.toml").write_text(PLAN, encoding="utf-8")
    (folder / "photos.csv").write_text("photo,label\n", encoding="utf-8")
    write_table(folder / "few.csv", ["item", "text"], [["nobody", "?"]])
    write_table(folder / "bodies.csv", ["id", "body"], [["nobody", "?"]])
    write_table(folder / "other.csv", ["item", *NAMES], [["x", 0, 1, 0, 1]])
    np.save(folder / "narrow.npy", DATA.X[:, :3])
    np.save(folder / "nan.npy", np.where(np.arange(DATA.X.size).reshape(DATA.X.shape) == 401,
                                         np.nan, DATA.X))  # fmt: skip
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(DATA.X, columns=[f"f{number}" for number in range(5)])
    y = pd.DataFrame(draw_complementary(DATA.Y, random_state=0), columns=list(NAMES))
    make_classifier("ridge", random_state=0).fit(X, y).save(folder / "model.safetensors")
    return folder


@pytest.mark.parametrize(("line", "code", "named"), REFUSED, ids=[line for line, *_ in REFUSED])
def test_what_cannot_be_is_said_and_none_written(
    run, files, monkeypatch, tmp_path, line, code, named
):
    monkeypatch.chdir(files)
    monkeypatch.setenv("COMPLABEL_DATA", str(tmp_path))
    before = sorted(files.iterdir())
    words = shlex.split(line)
    makes_store = words[0] in ("benchmark", "tune") or words[:2] == ["study", "run"]
    store = ["--store", tmp_path / "s.sqlite"] if makes_store and "--store" not in words else []
    found, out, err = run(*words, *store)
    assert found == code
    errors = [text for text in err.splitlines() if text.startswith("error: ")]
    assert len(errors) == 1
    assert named in " ".join(err.partition("error: ")[2].split())
    assert "Traceback" not in err + out
    assert sorted(files.iterdir()) == before
