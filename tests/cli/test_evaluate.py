"""`complabel evaluate` as it is typed."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from tests.cli.own import DATA, ITEMS, N_ANSWERED, NAMES, fit_to_asked, write_table

from complabel.cli import _console, _evaluate
from complabel.files import read_answers
from complabel.methods import cross_fit_probabilities, load, make_classifier
from complabel.metrics import complementary_ranking_error, evaluate, evaluate_labels
from complabel.trust import estimate_metrics

MODEL = "m.safetensors"
FIGURES = ("precision", "recall", "f1", "average_precision", "share")


pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def model(folder):
    """Fit to answers, so that labels have names."""
    classifier, _ = fit_to_asked()
    classifier.save(MODEL)
    return classifier


def test_criteria_on_truth_are_those_of_python(run, folder, model):
    arguments = ("X.npy", "--items", "ids.txt", "--truth", "truth.csv", "--json", "found.json")
    code, out, err = run("evaluate", MODEL, *arguments)
    assert (code, err) == (0, "")
    Y, X = DATA.Y[N_ANSWERED:], DATA.X[N_ANSWERED:]
    values = evaluate(Y, model.predict_proba(X), model.predict(X), skip_trivial_rows=True)
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert found["n_items"] == 30
    assert found["criteria"] == pytest.approx(values)
    assert list(found["labels"]) == list(NAMES)
    for name, label in zip(NAMES, Y.T, strict=True):
        assert found["labels"][name]["applies"] == pytest.approx(label.mean())
        assert name in out
    figures = [x.split()[-1] for x in out.splitlines() if "Average precision, by item" in x]
    assert figures == [f"{values['average_precision']:.4f}"]
    assert "by label" in " ".join(out.split())  # the other average precision
    assert out.endswith(
        "wrote found.json\n"
        "next: complabel predict m.safetensors X.npy --items ids.txt --out predictions.csv\n"
    )


def write_known(folder, known):
    """Write true labels with blanks; all cells of the last label are blank."""
    rows = zip(ITEMS[N_ANSWERED:], DATA.Y[N_ANSWERED:], known, strict=True)
    cells = [[item, *np.where(told, labels.astype(str), "")] for item, labels, told in rows]
    write_table(folder / "part.csv", ["item", *NAMES], cells)
    return "evaluate", MODEL, "X.csv", "--truth", "part.csv", "--json", "found.json"


def test_blank_cells_are_left_out_and_labels_without_a_contrast_are_named(run, folder, model):
    Y, X = DATA.Y[N_ANSWERED:], DATA.X[N_ANSWERED:]
    known = np.random.default_rng(0).random(Y.shape) < 0.6
    known[:, 0] &= Y[:, 0] == 1
    known[:, 1] &= Y[:, 1] == 0
    known[:, 3] = False
    code, out, err = run(*write_known(folder, known))
    assert code == 0
    given = Y, model.predict_proba(X), model.predict(X)
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert found["criteria"] == pytest.approx(evaluate(*given, known=known))
    assert [*found["labels"].values()] == evaluate_labels(*given, known=known)
    ranked = [row for row, told in enumerate(known) if len({*Y[row][told]}) == 2]
    assert (found["n_known"], found["n_ranked"]) == (known.sum(), len(ranked))
    (line,) = (each for each in out.splitlines() if "Ranking loss" in each)
    assert line.split()[-2:] == [str(len(ranked)), str(known[ranked].sum())]
    (pooled,) = evaluate_labels(*(each[known][:, None] for each in given))
    assert found["pooled"] == {"known": known.sum(), **pooled}
    precision = [each["precision"] for each in found["labels"].values()]
    expected = np.mean([each for each in precision if each is not None])
    assert found["mean_of_labels"]["precision"] == pytest.approx(expected)
    probabilities = given[1]
    all_pairs = np.average(probabilities.mean(axis=0), weights=known.sum(axis=0))
    mean = f"{probabilities[known].mean():.3f}; that of all pairs with the same labels is "
    assert f"Of the known pairs {Y[known].mean():.3f} apply" in out
    assert f"their mean probability is {mean}{all_pairs:.3f}" in out
    assert f"precision is 1 whatever the model does: {NAMES[0]}\n" in err
    assert f"only pairs that do not apply are known, so nothing tells the recall: {NAMES[1]}" in err
    assert f"nothing is known: {NAMES[3]}\n" in err


def test_where_only_what_applies_is_known_nothing_is_ranked(run, folder, model):
    Y = DATA.Y[N_ANSWERED:]
    code, out, err = run(*write_known(folder, Y == 1))
    assert (code, "Ranking loss" in out) == (0, False)
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert found["criteria"].keys() == {"hamming_loss", "hamming_loss_minmax"}
    assert (found["n_known"], found["pooled"]["precision"]) == (Y.sum(), 1.0)
    recall = (model.predict(DATA.X)[N_ANSWERED:] & Y).sum() / Y.sum()
    assert found["pooled"]["recall"] == pytest.approx(recall)
    assert f"precision is 1 whatever the model does: {', '.join(NAMES)}" in err


def test_scores_on_answers_are_those_of_python(run, folder, model):
    arguments = ("X.csv", "--answers", "named.csv", "--json", "found.json")
    code, out, err = run("evaluate", MODEL, *arguments)
    assert code == 0
    assert "these figures come from answers, not from true labels" in err
    assert "precision and recall need answers to random questions" in err
    assert "Precision" not in out
    answers = read_answers("named.csv", items=ITEMS[:N_ANSWERED], label_names=NAMES).answers
    X = DATA.X[:N_ANSWERED]
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    error = complementary_ranking_error(answers, model.decision_function(X))
    assert found["ranking_error"] == pytest.approx(error)
    assert found["log_likelihood"] == pytest.approx(model.score(X, answers))
    assert (found["n_items"], found["n_answers"]) == (60, 60)
    assert f"complementary ranking error {error:.4f} " in out
    for name, words in {"ranking_error": "order", "log_likelihood": "guess"}.items():
        assert f"the same {words} for all items {found['constant'][name]:.4f}" in out


def test_labels_are_shown_once_with_intervals_and_the_least_known_first(run, folder, model):
    code, out, _ = run("evaluate", MODEL, "X.csv", "--answers", "asked.csv")
    assert code == 0
    expected = estimate_metrics(read_asked(), model.predict_proba(DATA.X)).labels
    lines = [line for line in out.splitlines() if line.strip().startswith(NAMES)]
    lengths = []
    for line in lines:
        (name,) = (name for name in NAMES if line.strip().startswith(name))
        recall, average = expected[name].recall, expected[name].average_precision
        assert f"{recall.value:.2f} ({recall.low:.2f} to {recall.high:.2f})" in line
        lengths.append(average.high - average.low)
    assert len(lines) == len(NAMES)
    assert lengths == sorted(lengths, reverse=True)


def read_asked():
    return read_answers("asked.csv", items=ITEMS, label_names=NAMES).answers


def plain(figures):
    """The figures of one set of pairs as the command writes them."""
    return {name: pytest.approx(asdict(getattr(figures, name)), nan_ok=True) for name in FIGURES}


def test_random_answers_give_precision_and_recall_with_intervals(run, folder, model):
    mistakes = ("--missed", 0.1, "--invented", 0.02)
    options = ("--answers", "asked.csv", *mistakes, "--json", "f.json")
    code, out, err = run("evaluate", MODEL, "X.csv", *options)
    assert code == 0
    answers, P = read_asked(), model.predict_proba(DATA.X)
    expected = estimate_metrics(answers, P, missed=0.1, invented=0.02)
    found = json.loads((folder / "f.json").read_text(encoding="utf-8"))
    assert found["figures"] == plain(expected)
    assert found["figures_by_label"]["été"] == plain(expected.labels["été"])
    assert found["n_judgements"] == answers.n_answers == 80
    (line,) = (each for each in out.splitlines() if each.split()[:1] == ["F1"])
    f1 = expected.f1
    assert line.split()[1:5] == [f"{f1.value:.3f}", f"{f1.low:.3f}", "to", f"{f1.high:.3f}"]
    assert out.index("80 random judgements") < out.index("complementary ranking error")
    assert "add --cross-fit 5" in err


def test_cross_fitting_measures_fits_without_each_item_s_answers(run, folder, model):
    options = ("--answers", "asked.csv", "--cross-fit", 2, "--json", "f.json")
    code, out, err = run("evaluate", MODEL, "X.csv", *options)
    assert (code, "ranking error" in out) == (0, False)
    assert "2 fits with the model's settings" in err
    answers = read_asked()
    P = cross_fit_probabilities(load(MODEL), DATA.X, answers, n_folds=2)
    found = json.loads((folder / "f.json").read_text(encoding="utf-8"))
    assert found["figures"] == plain(estimate_metrics(answers, P))
    assert found["cross_fit"] == 2


def test_it_warns_of_answers_that_the_model_learned_from(run, folder, model):
    model.save(MODEL, provenance={"answers": ["named.csv", "asked.csv"]})
    _, _, err = run("evaluate", MODEL, "X.csv", "--answers", "asked.csv")
    assert "the model was fitted to asked.csv, as its file says" in err
    _, _, err = run("evaluate", MODEL, "X.csv", "--answers", "asked.csv", "--cross-fit", 2)
    assert "as its file says" not in err


def test_it_warns_if_the_model_predicts_the_most_probable_class(run, folder):
    make_classifier("ridge").fit(DATA.X, np.arange(len(ITEMS)) % 3).save(MODEL)
    rows = [[ITEMS[at], "0", "yes", "asked", 0.3] for at in range(5)]
    write_table(folder / "a.csv", ["item", "label", "answer", "question", "probability"], rows)
    code, _, err = run("evaluate", MODEL, "X.csv", "--answers", "a.csv", "--json", "f.json")
    assert code == 0, err
    assert "predicts by another rule: the most probable class alone" in err
    # All answers are yes.
    assert "there are no other figures: the ranking error needs an item with a label that" in err
    assert "figures" in json.loads((folder / "f.json").read_text(encoding="utf-8"))


def test_the_page_says_what_the_terminal_says(run, folder, model):
    options = ("--answers", "asked.csv", "--missed", 0.1, "--html", "page.html")
    code, out, _ = run("evaluate", MODEL, "X.csv", *options)
    assert (code, "wrote page.html" in out) == (0, True)
    page = (folder / "page.html").read_text(encoding="utf-8")
    expected = estimate_metrics(read_asked(), model.predict_proba(DATA.X), missed=0.1).recall
    assert f"{100 * expected.value:.1f} %" in page
    for said in ("above 0.5", "must not have learned from", "to miss 10 % of", "été"):
        assert said in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--truth", "truth.csv"), "--html is about answers to random questions"),
        (("--answers", "named.csv"), "--html: precision and recall need answers to random"),
    ],
)
def test_a_page_needs_random_answers(run, folder, model, options, said):
    code, _, err = run("evaluate", MODEL, "X.csv", *options, "--html", "page.html")
    assert code != 0
    assert said in " ".join(err.split())
    assert not (folder / "page.html").exists()


def test_options_about_answers_need_answers(run, folder, model):
    arguments = ("X.csv", "--truth", "truth.csv", "--cross-fit", 2)
    code, _, err = run("evaluate", MODEL, *arguments)
    assert code != 0
    assert "give --answers instead of --truth" in " ".join(err.split())


def test_of_many_labels_the_worst_are_shown(capsys):
    _console.output.cache_clear()
    figures = {"applies": 0.1, "predicted": 0.1, "precision": None, "recall": 0.5, "f1": 0.5}
    labels = {
        f"label-{at}.": {**figures, "average_precision": at / 100 if at < 90 else None}
        for at in np.random.default_rng(0).permutation(100).tolist()
    }
    _evaluate._show_labels(labels)
    _console.output.cache_clear()
    out = capsys.readouterr().out
    shown = [f"label-{at}." for at in range(20)]
    assert [line.split()[0] for line in out.splitlines() if "label-" in line] == shown
    assert "80 more are not shown; --json FILE writes all of them" in out
