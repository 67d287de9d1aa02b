from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup
from scipy import special
from tests.reports.small import HOSTILE, PEOPLE, about_people, an_audit, draw_labels
from tests.spawned import as_typed
from tests.trust.small import Stated

from complabel.answers import Answers
from complabel.asking import inspect_answers
from complabel.cli import main
from complabel.methods import SelectionLikelihoodClassifier, notes_of
from complabel.reports import (
    Chart,
    agreement,
    describe_model,
    likeliest_items,
    render_audit,
    render_evaluation,
    render_inspection,
    render_model,
)
from complabel.simulate import draw_answers
from complabel.trust import evaluate_model


@pytest.fixture(scope="session")
def seen():
    """Everything that a page about answers can show."""
    Y = draw_labels()
    answers = Answers.concatenate(
        [
            draw_answers(Y, random_state=1),
            draw_answers(Y, question="ticked", random_state=2, items_share=0.3),
            draw_answers(
                Y, question="asked", error_rate=[0.3, 0.1], answers_per_item=3, random_state=3
            ),
            draw_answers(Y, question="excluded", exclusion_rates=0.3, random_state=4),
        ]
    )
    named = dict(zip(["0", "1"], PEOPLE, strict=True))
    table = Answers.from_arrays(
        **{name: getattr(answers, name) for name in
           ("named", "absent", "relevant", "excluded", "offered", "question", "item",
            "asked_for", "probability", "all_apply")},
        annotator=[named.get(str(code)) for code in answers.annotator],
        label_names=HOSTILE,
    )  # fmt: skip
    return inspect_answers(table, np.ones((400, 2)), source="<i>.csv")


@pytest.fixture(scope="session")
def estimated():
    """Estimates for labels with odd names, from 200 answers; one label is never predicted."""
    Y = draw_labels()
    named = pd.DataFrame(Y, columns=HOSTILE)
    answers = draw_answers(named, question="asked", items_share=0.5, random_state=5)
    chances = np.where(Y == 1, 0.6, 0.1) + np.random.default_rng(6).normal(0, 0.2, Y.shape)
    chances = chances.clip(0.01, 0.99) * [0.5, 1, 1, 1]
    return replace(
        evaluate_model(Stated.of(answers), special.logit(chances), answers), rule="By <i>."
    )


@pytest.fixture(scope="session")
def pages(seen, estimated, tmp_path_factory):
    """A page of each kind."""
    people, doubtful = about_people()
    demo = tmp_path_factory.mktemp("demo") / "page.html"
    with as_typed("complabel", "demo", "--pictures", 100, "--out", demo), pytest.raises(SystemExit):
        main()
    audited, both = an_audit(HOSTILE), np.random.default_rng(0).random((2, 50, 4)) * [1, 1, 1, 0]
    beside = {"agreements": {"<i>": agreement(*both)}, "others": {"<i>": audited}}
    return {
        "audit": render_audit(audited, ["<b>note & co"], **beside),
        "demo": demo.read_text("utf-8"),
        "model": render_model(a_model()),
        "evaluation": render_evaluation(estimated, notes=["<b>note & co"]),
        "inspection": render_inspection(
            seen, people=people, doubtful=doubtful, found_by="By a <model>."
        ),
    }


def a_model():
    """Everything that a page about a model can show, with odd names."""
    answers = Answers.from_arrays(
        absent=1 - draw_labels(),
        relevant=draw_labels(),
        question="ticked",
        annotator=[PEOPLE[row % 2] for row in range(400)],
        label_names=HOSTILE,
    )
    classifier = SelectionLikelihoodClassifier(
        alpha=1.0, cardinality=None, kernel="linear", scaling="global", missed=0.1, rank=None
    )
    classifier.fit(np.ones((400, 1)), answers)
    classifier.set_thresholds([0.1, 0.2, 0.3, 0.4])
    given = {"answers": ["<i>.csv"], "<i>note": "<b>", **notes_of(answers, classifier)}
    header = {"method": "<i>", "parameters": {}, "provenance": {"numpy": "<i>", "given": given}}
    items = [f"<i>{row}" for row in range(400)]
    named = likeliest_items(classifier.predict_proba(np.ones((400, 1))), items, HOSTILE)
    return describe_model(classifier, header) | {"items": named}


@pytest.fixture
def without_charts(monkeypatch):
    """Choose and describe charts, but do not draw them, which takes most of the time."""
    # Only during one test: ``pages``, which is made once for all, needs its charts.
    monkeypatch.setattr(Chart, "svg", lambda chart, ident: Markup(f"<svg id='{ident}'></svg>"))
