"""Studies on files and tables of one's own: entries of plans, keys, and truth of some rows."""

import itertools

import numpy as np
import pandas as pd
import pytest
from tests.cli.own import write_arff
from tests.experiments.studies.small import assert_stops_at_once, fit_fold, plan_with, rewrite, run

from complabel import metrics
from complabel.datasets import make_synthetic
from complabel.errors import InputError
from complabel.experiments.datasets import dataset_entries
from complabel.experiments.studies import (
    Draw,
    Plan,
    Row,
    Store,
    benchmark_plan,
    fetch,
    read_plan,
    run_fold,
    run_study,
    split_folds,
    tune,
)
from complabel.experiments.studies._labels import draw_labels
from complabel.methods import make_classifier
from complabel.simulate import draw_answers

NAMES = [f"label{i}" for i in range(4)]


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
    assert plan.files["one"].file == (str(tmp_path / "data" / "a-test.arff"), str(names))
    assert plan.quick([]).datasets == ["both", "one"]
    monkeypatch.chdir(tmp_path / "elsewhere")
    summary, results = run(plan)
    assert (summary.n_ran, results.plan) == (4, plan)
    kept = fetch("both", plan.files["both"])
    assert (kept.name, kept.label_names) == ("both", tuple(NAMES))
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


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


N, KNOWN = 60, 40
RIDGE = Row(method="ridge")

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::complabel.answers.{name}")
    for name in ("IgnoredAnswersWarning", "UnansweredRowWarning")
]


@pytest.fixture
def tables(tmp_path):
    """Write features, yes/no answers about most items, and true labels of some; where they are."""
    data = make_synthetic(N, n_features=3, n_labels=4, random_state=0)
    names, items = list(data.label_names), [f"item{i}" for i in range(N)]
    pd.DataFrame(data.X, columns=list("abc")).assign(item=items).to_csv(
        tmp_path / "X.csv", index=False
    )
    said = draw_answers(
        data.Y, question="asked", answers_per_item=5, items_share=0.8, random_state=1
    )
    labels = said.offered.indices  # one for each answer
    rows = {
        "item": [items[i] for i in said.item],
        "label": [names[k] for k in labels],
        "answer": np.where(np.diff(said.relevant.indptr) > 0, "yes", "no"),
    }
    pd.DataFrame(rows).to_csv(tmp_path / "answers.csv", index=False)
    truth = pd.DataFrame(data.Y, columns=names).assign(item=items)
    truth[:KNOWN].to_csv(tmp_path / "truth.csv", index=False)
    files = {"features": "X.csv", "answers": "answers.csv", "truth": "truth.csv"}
    return {key: str(tmp_path / name) for key, name in files.items()}


def without(tables, *keys):
    return {key: path for key, path in tables.items() if key not in keys}


def dataset_of(tables):
    plan = benchmark_plan([tables], ["prior"])
    (name,) = plan.datasets
    return fetch(name, plan.files[name])


def test_tables_of_a_plan_are_meant_from_its_folder(tables, tmp_path, monkeypatch):
    own = 'features = "X.csv", answers = "answers.csv", truth = "truth.csv"'
    mine = f"{{ name = 'mine', {own}, contradictions = 'drop' }}"
    path = plan_with(tmp_path, f"'synthetic', {mine}")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    plan = read_plan(path).model_copy(
        update={"draws": [Draw(name="o", scheme="own")], "datasets": ["mine"]}
    )
    summary, results = run(plan)
    assert (summary.n_ran, summary.n_failed, results.plan) == (2, 0, plan)
    assert plan.files["mine"].answers == (tables["answers"],)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert "answers that people gave" in plan.title_of(plan.draws[0])


def test_own_labels_are_the_answers_and_a_share_is_one_of_answered_items(tables):
    data = dataset_of(tables)
    assert draw_labels(data, Draw(name="o", scheme="own"), seed=0) is data.answers
    some = draw_labels(data, Draw(name="o", scheme="own", items_share=0.5), seed=0)
    n_answered = np.count_nonzero(data.answers.answered)
    assert np.count_nonzero(some.answered) == round(n_answered / 2)
    assert not (some.answered & ~data.answers.answered).any()
    first = int(some.item[0])
    assert np.array_equal(some[[first]].complementary, data.answers[[first]].complementary)


@pytest.mark.parametrize("fold", range(3))
def test_criteria_are_of_test_rows_with_known_truth(tables, fold):
    data = dataset_of(tables)
    known = {"fold": fold, "folds": 3, "seed": 0}
    fitted = fit_fold(data, data.answers, RIDGE, **known)
    measured = run_fold(data, data.answers, RIDGE, score=True, **known).metrics
    place = [i for i, row in enumerate(fitted.test) if row < KNOWN]  # truth is of the first rows
    rows = fitted.test[place]
    assert 0 < len(rows) < len(fitted.test)
    scores, predicted = fitted.probabilities[place], fitted.predicted[place]
    expected = metrics.evaluate(data.Y[rows], scores, predicted, skip_trivial_rows=True)
    assert {name: measured[name] for name in expected} == expected
    held_out = metrics.complementary_ranking_error(
        data.answers[fitted.test], fitted.classifier.decision_function(data.X[fitted.test])
    )
    assert measured["held_out_ranking"] == pytest.approx(-held_out)


def test_a_reference_learns_from_rows_with_known_truth_alone(tables):
    data = dataset_of(tables)
    row = RIDGE.model_copy(update={"method": "supervised-bce", "settings": {"epochs": 1}})
    fitted = fit_fold(data, data.answers, row, fold=0, folds=3, seed=0)
    train, _ = split_folds(data, n_folds=3, seed=0)[0]
    assert fitted.train.tolist() == [row for row in train if row < KNOWN]


def test_without_truth_methods_are_compared_by_held_out_answers(tables):
    plan = benchmark_plan([without(tables, "truth")], ["prior", "ridge"], n_folds=2)
    assert (plan.draws[0].scheme, plan.criteria, plan.score) == ("own", False, True)
    records = run(plan)[1].records()
    assert [record["row"] for record in records] == ["Prior", "Ridge"]
    assert all({*record["metrics"]} == {"score", "held_out_ranking"} for record in records)


def test_settings_are_chosen_by_held_out_answers_alone(tables):
    search = {"grid": {"n_neighbors": [3, 20]}, "n_folds": 3}
    found = tune(without(tables, "truth"), "ml-knn", **search)
    data = dataset_of(tables)
    splits = split_folds(data, n_folds=3, seed=0)
    expected = [
        make_classifier("ml-knn", n_neighbors=each)
        .fit(data.X[train], data.answers[train])
        .score(data.X[test], data.answers[test])
        for each, (train, test) in itertools.product([3, 20], splits)
    ]
    assert np.concatenate([each.scores for each in found.settings]) == pytest.approx(expected)
    with_truth = tune(tables, "ml-knn", reveal=True, **search)
    assert with_truth.best.parameters == found.best.parameters
    assert with_truth.best.average_precision.shape == (3,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"draws": [Draw(name="u")]}, "drawn labels need the true labels of all rows"),
        ({'draws': [Draw(name='o', scheme='own', audit=5)]}, 'an audit needs the true labels of'),
        ({"rows": [{"method": "prior", "relevant_share": 0.1}]}, "is told relevant labels"),
        ({"rows": [{"method": "prior", "relevant_per_row": 1}]}, "is told relevant labels"),
        (
            {"rows": [{"method": "ridge", "match_frequencies": True, "label_frequencies": "true"}],
             "draws": [Draw(name="o", scheme="own", audit=5)]},
            "is told how often labels truly apply",
        ),
        ({"folds": 60}, "40 of its 60 rows, but of no row in one of the 60 folds"),
        ({"truth": False}, "mine has true labels of 0 of its 60 rows"),
        (
            {"truth": False, "criteria": False, "score": True, "rows": [{"method": "supervised"}]},
            "0 of its 60 rows, but supervised learns from true labels",
        ),
    ],
    ids=["draw", "audit", "share", "per-row", "frequencies", "folds", "criteria", "reference"],
)  # fmt: skip
def test_what_needs_more_truth_than_there_is_stops_before_anything_runs(tables, change, message):
    files = tables if change.pop("truth", True) else without(tables, "truth")
    plan = Plan.model_validate({
        "name": "p", "title": "P", "datasets": [{"name": "mine", **files}], "folds": 2,
        "draws": [Draw(name="o", scheme="own")], "rows": [{"method": "prior"}], **change,
    })  # fmt: skip
    assert_stops_at_once(plan, InputError, message)
