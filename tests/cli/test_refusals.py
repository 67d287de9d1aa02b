"""What cannot be is said in one sentence, with its exit code; nothing is written."""

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
    ("benchmark", 2, "no dataset is given; give one, or --features"),
    ("benchmark synthetic --scheme odd", 2, "'odd' is none of uniform, biased, own"),
    ("benchmark synthetic --labels odd", 2, "'odd' is none of"),
    ("benchmark synthetic --method mlc", 1, "no method 'mlc'. Did you mean 'mlcl'?"),
    ("benchmark synthetic --method nomodule:X", 1, "'nomodule:X' cannot be imported"),
    ("benchmark sceen", 1, "unknown dataset 'sceen'; did you mean 'scene'?"),
    ("benchmark bookmark --data-dir nowhere", 1, "dataset 'bookmark' was not found"),
    ("benchmark nowhere.npz", 1, "nowhere.npz: no such file; check the path"),
    ("benchmark .", 1, "a folder; give a file in it"),
    ("benchmark pics.xml", 1, "names the labels of an ARFF file; give the ARFF file, too"),
    ("benchmark bare.arff", 1, "bare.arff: nothing says which attributes are labels"),
    ("benchmark scene.arff", 1, "scene.arff would be called 'scene'"),
    (f"benchmark {X}", 1, "--features is given without labels"),
    (f"benchmark none.csv {X}", 1, "none.csv: no such file"),
    (f"benchmark truth.csv {X}", 1, "there is no column 'label'"),
    (f"benchmark named.csv {X} --scheme uniform", 1, "drawn labels need the true labels of all"),
    (f"{ONE} --folds 1001", 1, "folds must be between 2 and 1000"),
    (f"{ONE} --question menu-1", 1, "question is 'menu-1'"),
    (f"{ONE} --question menu-9", 1, "too few for a menu-9"),
    (f"{ONE} --scheme own", 1, "synthetic has no labels own"),
    (f"{ONE} --labels released", 1, "no released labels of synthetic"),
    (f"{ONE} --question ticked-9", 1, "too few for a ticked-9"),
    ("study report --seconds 14", 1, "give the seconds of a yes or no, those for ticking"),
    ("study report --seconds asked=x,ticked=2,labels=3", 1, "as in asked=14.5,ticked=22"),
    ("study report --seconds asked=1,ticked=2,labels=3,menu=4", 1, "--seconds is 'asked=1"),
    ("study report --seconds asked=9,ticked=8,labels=3", 1, "takes at least as long as a yes"),
    (f"{ONE} --question none", 1, "audit is 0, but with the question none"),
    (f"{ONE} --audit 9999", 1, "too few for an audit of 9999"),
    (f"{ONE} --match-frequencies", 1, "add an audit, such as audit = 200"),
    (f"{ONE} --scheme biased --question asked", 1, "take labels uniform, or leave the question"),
    ("tune synthetic --match-frequencies", 1, "add an audit, such as audit = 200"),
    ("tune synthetic --question none --audit 50", 1, "which a score needs"),
    ("tune synthetic --scheme own --error-rate 0.1", 1, "error_rate cannot be set"),
    ("tune synthetic --method prior", 1, "prior has no grid"),
    ("tune synthetic --grid bta=1", 1, "mlcl has no parameter 'bta'; did you mean 'beta'?"),
    ("tune synthetic --grid beta", 1, "--grid beta: this is no list of values; write NAME=VALUE"),
    ("tune synthetic --grid beta=1,,2", 1, "write NAME=VALUE"),
    ("tune synthetic --grid beta=1 --grid beta=2", 1, "beta is given twice"),
    ("tune synthetic --folds 1001", 1, "folds must be between 2 and 1000"),
    ("tune meka.arff mine.arff", 1, "a search needs one dataset"),
    ("tune synthetic --truth truth.csv", 1, "--truth is given without --features"),
    (f"tune asked.csv {X} --reveal --method ml-knn", 1, "X has no true labels, which the criteria"),
    ("datasets bare.arff", 1, "nothing says which attributes are labels"),
    ("datasets sceen", 1, "did you mean 'scene'"),
    ("study run own.toml", 1, "gone.arff: no such file; check the path"),
    ("study run nowhere.toml", 1, "nowhere.toml cannot be read"),
    ("study run tabel2", 1, "did you mean 'table2'? Give the path of a TOML file"),
    ("study run quux", 1, "Give the path of a TOML file"),
    ("study run table2 --store no/where.sqlite", 1, "there is no folder no"),
    ("study status --store gone.sqlite", 1, "run a study first"),
    ("study report --store own.toml", 1, "cannot be read"),
    ("study export all.xlsx", 1, "end it in .csv or .json"),
    ("reproduce table7", 1, "choose one of table2"),
    (f"{ASK} none.csv", 1, "none.csv: no such file"),
    (f"{ASK} {X} --label-names none.txt", 1, "none.txt: no such file"),
    (f"{ASK} --items truth.csv -n 5000", 1, "more than the 120 pairs of item and label"),
    (f"{ASK} --items asked.csv", 1, "items occur more than once"),
    (ASK, 1, "also give --features or --items"),
    (f"{ASK} named.csv --show few.csv", 1, "few.csv: has no row for item"),
    (f"{ASK} named.csv --show bodies.csv", 1, "no column 'item', only 'id', 'body'; tables of"),
    (f"{ASK} named.csv --show truth.csv", 1, "there is no column text, image, url, only 'item'"),
    (f"{ASK} named.csv --for prodigy", 1, "--for prodigy needs what people see of each item"),
    (f"{ASK} named.csv --for replies", 1, "--for replies needs what the model sees of each"),
    (f"{ASK} named.csv -n 5000", 1, "more than the 240 pairs of item and label"),
    (f"{ASK} photos.csv {X}", 1, "there is no column 'item'"),
    (f"{FIT} none.csv {X}", 1, "none.csv: no such file"),
    (f"{FIT} named.csv --features none.csv", 1, "none.csv: no such file"),
    (f"{FIT} named.csv --features X.npy", 1, "none of its 60 items has features"),
    (f"{FIT} named.csv {X} --out m.pkl", 1, "end it in .safetensors"),
    (f"{FIT} named.csv {X} --method rigde", 1, "Did you mean 'ridge'"),
    (f"{FIT} named.csv {X} --method supervised", 1, "true labels"),
    (f"{FIT} named.csv {X} --folds 1", 2, "give 2 or more, or 0"),
    (f"{FIT} named.csv {X} --contradictions x", 2, "none of error, drop"),
    (f"{FIT} none.csv {X} --question free", 2, "'free' is none of"),
    (f"{FIT} named.csv {X} --label-names ids.txt", 1, "named.csv: "),
    (f"{PREDICT} none.safetensors X.csv", 1, "none.safetensors cannot be loaded"),
    (f"{PREDICT} X.csv X.csv", 1, "X.csv cannot be loaded"),
    (f"{PREDICT} model.safetensors none.csv", 1, "none.csv: no such file"),
    (f"{PREDICT} model.safetensors truth.csv", 1, "lack 5 columns that the model was fitted to"),
    (f"{PREDICT} model.safetensors narrow.npy", 1, "have 3 columns, but the model was fitted to 5"),
    (f"{PREDICT} model.safetensors nan.npy", 1, "nan.npy, row 80: column 1 is missing or NaN"),
    (f"{PREDICT} model.safetensors X.csv --top 9", 1, "top is 9, but there are 4 labels"),
    (f"{PREDICT} model.safetensors X.csv --top 1 --threshold .5", 1, "choose one of them"),
    (f"{PREDICT} model.safetensors X.csv --out p.txt", 1, "end it in .csv, .csv.gz, .parquet or"),
    (f"{EVALUATE} X.csv", 1, "give either --truth or --answers"),
    (f"{EVALUATE} X.csv --truth truth.csv --answers named.csv", 1, "either --truth or --answers"),
    (f"{EVALUATE} X.csv --truth none.csv", 1, "none.csv: no such file"),
    (f"{EVALUATE} X.npy --truth other.csv", 1, "none of its 1 item has features. They are called"),
    (f"{EVALUATE} X.csv --truth X.csv", 1, "X.csv"),
    (f"{EVALUATE} X.csv --answers truth.csv", 1, "truth.csv: there is no column 'label'"),
    ("inspect synthetic", 1, "synthetic has no labels that people ruled out"),
    ("inspect named.csv mine.arff", 1, "or one dataset without --features and --label-names"),
    ("inspect named.csv --items ids.txt", 1, "--items is given without --features"),
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


@pytest.mark.parametrize(("line", "code", "message"), REFUSED, ids=[line for line, *_ in REFUSED])
def test_what_cannot_be_is_said_and_nothing_is_written(
    run, files, monkeypatch, tmp_path, line, code, message
):
    monkeypatch.chdir(files)
    monkeypatch.setenv("COMPLABEL_DATA", str(tmp_path))
    before = sorted(files.iterdir())
    words = shlex.split(line)
    makes_store = words[0] in ("benchmark", "tune") or words[:2] == ["study", "run"]
    store = ["--store", tmp_path / "s.sqlite"] if makes_store and "--store" not in words else []
    found, out, err = run(*words, *store)
    assert found == code
    assert message in " ".join(err.split())
    assert "Traceback" not in err + out
    if code == 1:
        said = [text for text in err.splitlines() if text.strip()]
        assert [text.startswith("error: ") for text in said].count(True) == 1
    assert sorted(files.iterdir()) == before


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ('give question="named" (--question named): x', "give --question named: x"),
        ("or the items with --items (items), a file", "or the items with --items, a file"),
        ("--from NAME (format=NAME in Python): y", "--from NAME: y"),
        ("pass contradictions='drop', or n_jobs=2", "pass --contradictions drop, or --jobs 2"),
        ("label_names has 3 names; a.items=2", "label_names has 3 names; a.items=2"),
    ],
)
def test_parameters_in_messages_become_options(said, typed):
    from complabel.cli._app import _as_typed

    assert _as_typed(said) == typed
