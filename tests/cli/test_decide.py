"""`complabel decide` as it is typed."""

import json

import numpy as np
import pytest
from tests.cli.own import DATA, ITEMS, NAMES, fit_to_asked, read_table, write_table

import complabel
from complabel.files import read_answers
from complabel.methods import cross_fit_probabilities, read_header
from complabel.trust import choose_thresholds

MODEL = "m.safetensors"
pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def model(folder):
    """Save a model with few answers, and judgements of most pairs in questions.csv."""
    classifier, _ = fit_to_asked()
    classifier.save(MODEL, provenance={"answers": ["asked.csv"]})
    pairs = np.random.default_rng(0).permutation(len(ITEMS) * 4)[:320]
    rows = [
        [ITEMS[item], NAMES[label], "yes" if DATA.Y[item, label] else "no", "asked", 0.25]
        for item, label in (divmod(pair, 4) for pair in pairs.tolist())
    ]
    header = ["item", "label", "answer", "question", "probability"]
    write_table(folder / "questions.csv", header, rows)
    return classifier


def decide(run, *more):
    return run(
        "decide", MODEL, "X.csv", "--answers", "questions.csv", "--out", "d.safetensors", *more
    )


def chosen(model, **given):
    said = read_answers("questions.csv", items=ITEMS, label_names=NAMES).answers
    return choose_thresholds(said, model.predict_proba(DATA.X), **given)


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ((), {}),
        (("--by-label",), {"by_label": True}),
        (("--match-frequencies",), {"match_frequencies": True}),
        (("--recall", 0.8), {"recall": 0.8}),
        (("--precision", 0.6, "--confidence", 0.8), {"precision": 0.6, "confidence": 0.8}),
    ],
    ids=["F1", "by label", "frequencies", "recall", "precision"],
)
def test_the_model_that_is_written_has_the_thresholds_of_python(run, folder, model, options, given):
    code, out, err = decide(run, *options)
    assert code == 0, err
    expected = chosen(model, **given)
    found = complabel.load("d.safetensors")
    np.testing.assert_array_equal(found.thresholds_, expected.values)
    np.testing.assert_array_equal(found.predict_proba(DATA.X), model.predict_proba(DATA.X))
    noted = read_header("d.safetensors")["provenance"]["given"]
    assert noted == {"answers": ["asked.csv"], "thresholds": f"for {expected.aim}"}
    f1 = expected.estimates.f1
    assert f"F1        {f1.value:.3f}, from {f1.low:.3f} to {f1.high:.3f}" in out
    assert ("promised: " in out) == bool({"precision", "recall"} & given.keys())
    assert f"thresholds for {expected.aim}" in out
    assert "the model must not have learned from these answers" in err
    assert out.endswith(
        "wrote d.safetensors\n"
        "next: complabel predict d.safetensors X.csv --labels --out labels.csv\n"
    )


def test_labels_are_shown_with_what_is_promised(run, model):
    code, out, err = decide(run, "--recall", 0.85, "--by-label")
    assert code == 0
    found = chosen(model, recall=0.85, by_label=True)
    for at, name in enumerate(NAMES):
        (line,) = (line for line in out.splitlines() if name in line)
        *_, cut, judged, promised = line.split()
        assert (cut, judged) == (f"{found.values[at]:.4f}", str(found.n_judgements[at]))
        together = "yes" if found.alone[at] else "together"
        assert promised == (together if found.promised[at] else "no")
    assert all(line in err for line in found.remarks)


def test_no_model_is_written_where_nothing_can_be_promised(run, folder, model):
    code, out, err = decide(run, "--precision", 0.99)
    assert code == 1
    assert "all labels together: a precision of 0.99 cannot be promised from 320" in err
    assert err.endswith("no model was written\n")
    assert "wrote" not in out
    assert not (folder / "d.safetensors").exists()


def test_answers_that_the_model_learned_from_are_used_by_cross_fitting(run, folder, model):
    code, out, err = decide(run, "--cross-fit", 3)
    assert code == 0
    said = read_answers("questions.csv", items=ITEMS, label_names=NAMES).answers
    probabilities = cross_fit_probabilities(model, DATA.X, said, n_folds=3)
    expected = choose_thresholds(said, probabilities).values
    np.testing.assert_allclose(complabel.load("d.safetensors").thresholds_, expected)
    assert f"{expected[0]:.4f} for all 4 labels" in out
    assert "must not have learned" not in err


def test_it_warns_of_answers_that_the_model_learned_from(run, model):
    given = ("decide", MODEL, "X.csv", "--out", "d.safetensors", "--force", "--recall", 0.5)
    code, _, err = run(*given, "--answers", "asked.csv")
    assert code == 0, err
    assert "was fitted to asked.csv, as its file says. So more is promised than holds" in err
    assert "which complabel cannot know" in run(*given, "--answers", "questions.csv")[2]
    assert "--cross-fit" not in run(*given, "--answers", "asked.csv", "--cross-fit", 2)[2]


def test_figures_that_no_answer_tells_are_not_known(run, folder, model):
    row = read_table(folder / "questions.csv")[0] | {"answer": "no"}
    write_table(folder / "questions.csv", [*row], [[*row.values()]])
    code, out, _ = decide(run)
    assert (code, "nan" in out) == (0, False)
    assert "F1        not known" in out


def test_features_that_tell_nothing_are_told(run, folder, model):
    rng = np.random.default_rng(1)
    write_table(folder / "noise.csv", ["item", "a"], [[item, rng.normal()] for item in ITEMS])
    method = "selection-likelihood:kernel=linear,alpha=10"
    fit = ("fit", "questions.csv", "--features", "noise.csv", "--method", method)
    told = "the features tell nothing of"
    code, _, err = run(*fit, "--label-names", "labels.txt", "--out", "n.safetensors")
    assert (code, told in err, "complabel ask questions.csv" in err) == (0, True, True)
    about = ("n.safetensors", "noise.csv", "--answers", "questions.csv")
    code, _, err = run("decide", *about, "--out", "d.safetensors")
    assert (code, f"warning: {told}" in err) == (0, True)
    assert "100% of the items get the same labels (" in err
    assert f"warning: {told}" in run("evaluate", *about, "--cross-fit", 2)[2]
    inspect = ("inspect", "questions.csv", "--features", "noise.csv", "--label-names", "labels.txt")
    code, out, _ = run(*inspect, "--html", "page.html", "--json", "found.json")
    assert (code, told in out) == (0, True)
    assert told in (folder / "page.html").read_text("utf-8")
    found = json.loads((folder / "found.json").read_text("utf-8"))["features_tell"]
    assert {*found["labels"]} == {*NAMES}


def test_two_aims_are_refused(run, model):
    code, _, err = decide(run, "--precision", 0.9, "--recall", 0.9)
    assert (code, "are different aims" in err) == (1, True)
