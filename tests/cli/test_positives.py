"""Labels named or tagged because they apply: each command uses them rightly, or refuses."""

import re

import numpy as np
import pytest
from tests.cli.own import DATA, ITEMS, N_ANSWERED, NAMES, read_table, write_table
from tests.refusals import check_names

from complabel.simulate import draw_answers

X = ("--features", "X.csv", "--label-names", "labels.txt")
EXPOSURE = {"positive": {}, "tagged": {"exposure": 0.7}}


@pytest.fixture(params=EXPOSURE)
def question(request):
    return request.param


@pytest.fixture
def named(question):
    drawn = draw_answers(
        DATA.Y[:N_ANSWERED], question=question, random_state=0, **EXPOSURE[question]
    )
    return getattr(drawn, question).toarray() > 0


@pytest.fixture(autouse=True)
def folder(folder, question, named):
    """Write tags.csv, with a row for each label that was named, and machine.csv, what is true."""
    machine = [[item, *row] for item, row in zip(ITEMS, DATA.Y.tolist(), strict=True)]
    write_table(folder / "machine.csv", ["item", *NAMES], machine)
    rows = []
    for item, row in zip(ITEMS, named, strict=False):
        said = [(NAMES[k], "yes") for k in np.flatnonzero(row)] or [("", "no")]
        rows += [[item, item, *each, question] for each in said]
    write_table(folder / "tags.csv", ["answer_id", "item", "label", "answer", "question"], rows)
    return folder


def fitted(run, *answers, out="model.safetensors"):
    code, _, err = run("fit", *answers, *X, "--folds", 0, "--out", out)
    assert code == 0, err
    return out


def test_a_fit_says_that_what_was_named_applies(run, folder, named):
    code, out, _ = run("predict", fitted(run, "tags.csv"), "X.csv", "--out", "p.csv")
    assert code == 0, out
    p = np.array([[float(row[name]) for name in NAMES] for row in read_table(folder / "p.csv")])
    p = p[:N_ANSWERED]
    assert p[named].mean() > p[~named].mean() + 0.1


REFUSED = {
    "a method of labels that do not apply": (
        *("fit", "tags.csv", *X, "--method", "ridge", "--out", "m.safetensors"),
    ),
    "consensus": (
        "consensus",
        "tags.csv",
        "--label-names",
        "labels.txt",
        "--out",
        "c.csv",
        "--force",
    ),
    "evaluate": ("evaluate", "model.safetensors", "X.csv", "--answers", "tags.csv"),
    "cross-fit": (
        *("evaluate", "model.safetensors", "X.csv", "--answers", "tags.csv"),
        *("--cross-fit", 2),
    ),
    "decide": (
        *("decide", "model.safetensors", "X.csv", "--answers", "tags.csv"),
        *("--out", "d.safetensors"),
    ),
    "audit": ("audit", "machine.csv", "tags.csv"),
    "audit of a machine": ("audit", "tags.csv", "asked.csv"),
    "tune": ("tune", "tags.csv", *X, "--method", "ridge", "--grid", "alpha=1", "--folds", 2),
    "benchmark": ("benchmark", "tags.csv", *X, "--method", "prior", "--folds", 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_other_answers_says_that_these_are_positive(run, name, question):
    if "model.safetensors" in REFUSED[name]:
        fitted(run, "asked.csv")
    code, _, err = run(*REFUSED[name])
    assert code == 1
    check_names(err, question)
    assert "--random-questions" not in err


SHARES = r"\d+(?:\.\d+)?(?:%| %)|\d*\.\d{2,}"
BETWEEN = {
    "evaluate": ("random judgements", " answers about", SHARES),
    "decide": ("label", "next", SHARES),
    "audit": ("You can use", "next", SHARES),
    "inspect": ("95 %", "no end", r"\d+\.\d%"),
}
BESIDE = {
    "consensus": ("consensus", "--label-names", "labels.txt", "--out", "c.csv", "--force"),
    "evaluate": ("evaluate", "model.safetensors", "X.csv"),
    "decide": ("decide", "model.safetensors", "X.csv", "--out", "d.safetensors", "--force"),
    "audit": ("audit", "machine.csv"),
    "inspect": ("inspect", "--label-names", "labels.txt"),
}


@pytest.mark.filterwarnings("ignore:.*judged twice")
@pytest.mark.parametrize("name", BESIDE)
def test_they_are_no_sample_beside_answers_to_random_questions(run, folder, name):
    """Shares, frequencies and thresholds are those of the random questions alone."""
    fitted(run, "named.csv")
    found = []
    for files in (["asked.csv"], ["asked.csv", "tags.csv"]):
        told = [
            ("--answers", file) if name in ("evaluate", "decide") else (file,) for file in files
        ]
        code, out, err = run(*BESIDE[name], *sum(told, ()))
        assert code == 0, err
        if name == "consensus":
            found.append({*re.findall(r"\d\.\d+", (folder / "c.csv").read_text())})
        else:  # of the answers themselves it says other numbers before and after
            begin, end, shares = BETWEEN[name]
            assert begin in out
            found.append(sorted(re.findall(shares, out.partition(begin)[2].partition(end)[0])))
    assert found[0]
    assert found[0] == found[1]
