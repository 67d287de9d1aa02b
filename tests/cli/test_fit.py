"""`complabel fit` as it is typed."""

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from tests.cli.own import COLUMNS, DATA, ITEMS, NAMES, fit_to_asked, write_table

import complabel
from complabel.cli import _fit
from complabel.files import read_answers
from complabel.methods import about_cardinality, held_out_score, make_classifier
from complabel.trust import features_tell

# What ridge cannot use of answers, it says.
pytestmark = [
    pytest.mark.usefixtures("folder"),
    pytest.mark.filterwarnings("default:ComplementaryRidgeClassifier learns from"),
    pytest.mark.filterwarnings("default:never chosen as complementary"),
]
RIDGE = ("--method", "ridge:alpha=1,rank=2", "--out", "m.safetensors")


def test_a_fit_is_that_of_python(run):
    code, out, _ = run(
        "fit", "asked.csv", "--features", "X.csv", "--label-names", "labels.txt", "--folds", 2,
        "--method", "selection-likelihood:kernel=linear,alpha=0.1", "--out", "m.safetensors",
    )  # fmt: skip
    assert code == 0
    classifier, answers = fit_to_asked()
    loaded = complabel.load("m.safetensors")
    assert tuple(loaded.classes_) == NAMES
    assert tuple(loaded.feature_names_in_) == COLUMNS
    assert loaded.callback is None
    np.testing.assert_allclose(loaded._decision(DATA.X), classifier._decision(DATA.X), atol=1e-6)
    score = held_out_score(classifier, DATA.X, answers, n_folds=2, random_state=0)
    told = features_tell(answers, score.probabilities, folds=score.folds)
    assert "\n".join(told.lines()) in out


def test_a_column_of_weights_is_used(run, folder):
    rows = [["item", "label", "answer", "question", "weight"]]
    for at, line in enumerate((folder / "named.csv").read_text("utf-8").splitlines()[1:]):
        rows.append([*next(csv.reader([line])), "" if at % 3 else "2,5" if at else "0"])
    write_table(folder / "weighted.csv", rows[0], rows[1:])
    arguments = ("--features", "X.csv", "--label-names", "labels.txt", *RIDGE, "--folds", 0)
    assert run("fit", "weighted.csv", *arguments)[0] == 0
    answers = read_answers("weighted.csv", items=ITEMS, label_names=NAMES).answers
    assert sorted(set(answers.weight)) == [0, 1, 2.5]
    rows = np.flatnonzero(answers.answered & (answers.item_weight > 0))
    weights = answers.item_weight[rows]
    expected = make_classifier("ridge:alpha=1,rank=2")
    expected.fit(DATA.X[rows], answers.complementary[rows], sample_weight=weights)
    loaded = complabel.load("m.safetensors")
    np.testing.assert_allclose(loaded.coef_, expected.coef_, rtol=1e-9, atol=1e-12)


def test_several_files_are_one_set_of_answers(run):
    arguments = ("--features", "X.npy", "--items", "ids.txt", *RIDGE, "--folds", 0)
    code, out, _ = run("fit", "named.csv", "asked.csv", *arguments)
    assert code == 0
    assert "named.csv: 60 answers, 4 labels\n  answers for 60 of 90 items\n" in out
    assert "asked.csv: 80 answers, 4 labels\n" in out
    assert "held-out" not in out
    assert "wrote m.safetensors: ComplementaryRidgeClassifier, fitted in " in out
    assert out.endswith(
        "next: complabel predict m.safetensors X.npy --items ids.txt --out predictions.csv\n"
    )
    assert tuple(complabel.load("m.safetensors").classes_) == tuple(sorted(NAMES))


def test_what_does_not_help_is_said_with_the_command_that_may(run, folder):
    rng = np.random.default_rng(0)
    rows = [[item, *rng.normal(size=2)] for item in ITEMS]
    write_table(folder / "noise.csv", ["item", "a", "b"], rows)
    _, _, err = run(
        "fit", "named.csv", "--features", "noise.csv", *RIDGE, "--folds", 3,
        "--label-names", "labels.txt",
    )  # fmt: skip
    assert (
        "  complabel ask named.csv --features noise.csv --label-names labels.txt --out"
        " questions.csv\n" in err
    )


CONTRADICTORY = """item,label,answer,question,annotator
000,été,yes,asked,ann
000,été,no,asked,bob
001,été,yes,asked,
"""
MORE = """item,label,answer,question,annotator
000,été,no,asked,cyd
000,item x,no,asked,cyd
002,"sea, open",no,named,cyd
"""


def test_contradictions_are_settled_among_all_files(run, folder):
    """Within the first file the two sides are even; only with the second has one the majority."""
    (folder / "a.csv").write_text(CONTRADICTORY, encoding="utf-8")
    (folder / "b.csv").write_text(MORE, encoding="utf-8")
    arguments = ("--features", "X.csv", "--label-names", "labels.txt", *RIDGE, "--folds", 0)
    code, _, err = run("fit", "a.csv", "b.csv", *arguments)
    assert code == 1
    told = ("a.csv and b.csv", "été", "000", "ann", "bob", "cyd", "--contradictions", "--trusted")
    assert all(word in err for word in told)
    gone = {"drop": 3, "majority": 1, "trust-relevant": 2, "ann": 2}
    for policy, count in gone.items():
        how = ("--trusted" if policy == "ann" else "--contradictions", policy, "--force")
        code, _, err = run("fit", "a.csv", "b.csv", *arguments, *how)
        assert code == 0, err
        assert f"{count} of 6 answers were dropped\n" in err
        assert "  000: été applies, says ann; does not, says bob, cyd\n" in err


@pytest.mark.parametrize(
    ("interval", "ends"),
    [([0, 3], "up to 3 "), ([1.5, 4], "from 1.5 "), ([1, 2], "from 1 up to 2 ")],
)
def test_how_little_is_known_of_the_number_of_labels_is_said(interval, ends):
    found = SimpleNamespace(classes_="abcd", mean_cardinality_=1.25, cardinality_interval_=interval)
    assert f"1.25 on average; with any number {ends}the answers" in about_cardinality(found)


def test_a_fit_shows_what_show_does(run):
    where = ("--features", "X.csv", "--label-names", "labels.txt", "--out", "m.safetensors")
    out = run("fit", "asked.csv", *where, "--folds", 0)[1]
    shown = run("show", "m.safetensors")[1]
    rows = [line for line in out.splitlines() if line.strip().startswith(NAMES)]
    assert len(rows) == len(NAMES)
    assert [line for line in rows if line not in shown] == []


def test_predict_says_it_again(run):
    method = ("--method", "selection-likelihood:kernel=linear,alpha=0.1", "--folds", 0)
    where = ("--features", "X.csv", "--label-names", "labels.txt", "--out", "m.safetensors")
    out = run("fit", "named.csv", *where, *method)[1]
    (known,) = (line[line.index("1.") :] for line in out.splitlines() if "any number" in line)
    assert known in run("predict", "m.safetensors", "X.csv", "--out", "p.csv")[1]


def test_settings_tried_and_steps_are_told():
    told = []
    classifier = make_classifier("selection-likelihood", kernel="linear", random_state=0)
    _fit._tell(classifier, told.append)
    answers = read_answers("asked.csv", items=ITEMS, label_names=NAMES).answers
    with pytest.warns(UserWarning, match="have no answer"):
        classifier.fit(DATA.X, answers)
    assert told[0] == "settings tried: 1"
    assert any(each.startswith("step 1 of ") for each in told)
    _fit._tell(classifier, None)
    assert classifier.callback is None


LARGE = ("--method", "selection-likelihood:kernel=linear,alpha=0.1", "--out", "m.safetensors")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npy", ".npz"])
@pytest.mark.parametrize("method", ["selection-likelihood", "ridge:alpha=1,rank=2"])
def test_rows_without_answers_change_nothing_and_are_not_looked_at(run, folder, ending, method):
    rng = np.random.default_rng(0)
    more = [f"more {at}" for at in range(len(ITEMS))]
    order = rng.permutation(2 * len(ITEMS))
    X = np.concatenate([DATA.X, 99 * rng.random(DATA.X.shape)])[order]
    X[order >= len(ITEMS), 0] = np.nan  # they are not even looked at
    ids = np.array([*ITEMS, *more], dtype=object)[order]
    answered = {line.split(",")[0] for line in (folder / "asked.csv").read_text().splitlines()}
    known = np.isin(ids, [*answered])
    found = []
    for rows in (np.arange(len(ids)), np.flatnonzero(known)):
        path = folder / f"X{len(rows)}{ending}"
        frame = pd.DataFrame(X[rows], columns=COLUMNS).assign(item=ids[rows])
        named = ()
        if ending == ".csv":
            frame.to_csv(path, index=False)
        elif ending == ".parquet":
            frame.to_parquet(path)
        elif ending == ".npz":
            np.savez(path, X=X[rows], items=ids[rows].astype(str))
        else:
            np.save(path, X[rows])
            (folder / "those.txt").write_text("\n".join(ids[rows]))
            named = ("--items", "those.txt")
        code, *_ = run(
            "fit", "asked.csv", "--features", path.name, *named, "--label-names", "labels.txt",
            "--method", method, "--out", f"m{len(rows)}.safetensors", "--folds", 0,
        )  # fmt: skip
        assert code == 0
        found.append(load_file(f"m{len(rows)}.safetensors"))
    assert found[0].keys() == found[1].keys()
    for name, array in found[0].items():
        np.testing.assert_array_equal(array, found[1][name], err_msg=name)


@pytest.fixture
def large(monkeypatch):
    """Call it with bytes: features of more are large, in place of those of more than 1 GiB."""
    return lambda n_bytes: monkeypatch.setattr("complabel.files._features._LARGE", n_bytes)


def test_a_large_file_with_few_answered_rows_is_scored(run, large):
    pd.DataFrame(DATA.X, columns=COLUMNS).assign(item=ITEMS).to_parquet("X.parquet")
    rows = Path("asked.csv").read_text().splitlines()
    Path("few.csv").write_text("\n".join(rows[: len(rows) // 3]))
    size = DATA.X.shape[1] * 8
    large(size * (len(ITEMS) - 1))
    code, _, err = run(
        "fit", "few.csv", "--features", "X.parquet", "--label-names", "labels.txt", *LARGE
    )
    assert code == 0, err
    assert "not scored" not in err


def test_a_large_parquet_file_is_read_in_pieces(run, large):
    whole, _ = fit_to_asked()
    pd.DataFrame(DATA.X, columns=COLUMNS).assign(item=ITEMS).to_parquet("X.parquet")
    large(1)
    code, out, err = run(
        "fit", "asked.csv", "--features", "X.parquet", "--label-names", "labels.txt", *LARGE
    )
    assert code == 0
    assert "held-out" not in out
    assert "a fit in pieces is not scored" in err
    loaded = complabel.load("m.safetensors")
    assert tuple(loaded.feature_names_in_) == COLUMNS
    # In memory, few answers are fitted by Newton's method, which goes on a little further.
    np.testing.assert_allclose(loaded._decision(DATA.X), whole._decision(DATA.X), atol=0.005)


def test_a_cluster_needs_a_parquet_file(run):
    code, _, err = run("fit", "asked.csv", "--features", "X.npy", "--dask", "tcp://x:1", *LARGE)
    assert code == 1
    assert "--dask needs features in a Parquet file" in err
