"""What a model and people say together: labels of answered items, wrong answers, people's rates."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import average_precision_score
from tests.methods.selection.answered import NAMES, X, Y, fixed, logistic_problem
from tests.refusals import raises

from complabel.answers import Answers
from complabel.errors import AnnotationError, InputError
from complabel.methods import NetworkLikelihoodClassifier
from complabel.simulate import draw_answers

MANY, TRUE = logistic_problem(2500, seed=4)
RNG = np.random.default_rng(0)
# Rates as complabel takes people to differ: log-odds that are normally distributed.
MISSED, INVENTED = expit(RNG.normal([[-0.8], [-3.0]], 0.8, size=(2, 30)))
SAID = draw_answers(
    TRUE, question="ticked", answers_per_item=3, missed=MISSED, invented=INVENTED, random_state=1
)


@pytest.fixture(scope="module")
def model():
    return fixed(alpha=0.0003, missed=MISSED, invented=INVENTED).fit(MANY, SAID)


def numbers(names):
    return np.array([int(name) for name in names])


def test_a_consensus_is_better_than_the_model_and_than_the_people(model):
    yes, no = np.zeros((2, *TRUE.shape))
    said = SAID.statements()
    np.add.at(yes, (said.item, said.label), said.applies)
    np.add.at(no, (said.item, said.label), ~said.applies)
    consensus = model.predict_consensus(MANY, SAID)
    precision = [
        average_precision_score(TRUE, found, average="macro")
        for found in (consensus, model.predict_proba(MANY), yes / (yes + no))
    ]
    assert precision[0] > max(precision[1:]) + 0.02
    assert ((consensus > 0.5) == TRUE).mean() > ((yes > no) == TRUE).mean() + 0.03
    for low in np.arange(0, 1, 0.2):  # of labels with a probability of about p, p apply
        those = (consensus >= low) & (consensus < low + 0.2)
        assert TRUE[those].mean() == pytest.approx(consensus[those].mean(), abs=0.06)


def test_items_without_an_answer_get_what_the_features_say(model):
    rows = np.arange(20)
    few = SAID[rows].only(SAID[rows].item < 10)
    found = model.predict_consensus(MANY[rows], few)
    np.testing.assert_allclose(found[10:], model.predict_proba(MANY[10:20]), rtol=1e-12)
    assert np.abs(found[:10] - model.predict_proba(MANY[:10])).max() > 0.1


@pytest.mark.parametrize("mistakes", [{"missed": 0.3, "invented": 0.04}, {"error_rate": 0.1}])
def test_others_are_what_is_left_without_the_answer(mistakes):
    people = {"annotator": NAMES * 5}
    kinds = [
        draw_answers(Y[:5], question=question, answers_per_item=3, random_state=0)
        for question in ("asked", "menu-2")
    ]
    asked, named = (
        Answers.from_arrays(
            relevant=each.relevant, absent=each.absent, named=each.named, offered=each.offered,
            question=each.question, item=each.item, asked_for=each.asked_for, **people,
        )
        for each in kinds
    )  # fmt: skip
    answers = Answers.concatenate([asked, named.only(np.arange(15) % 3 == 0)])
    classifier = fixed(alpha=0.003, propensities="equal", **mistakes).fit(
        X, draw_answers(Y, question="asked", random_state=0)
    )
    found = classifier.doubtful_answers(X[:5], answers)
    assert (np.diff(found["wrong"]) <= 0).all()
    said = answers.statements()
    all_of = classifier.predict_consensus(X[:5], answers)
    wrong = np.where(said.applies, 1 - all_of[said.item, said.label], all_of[said.item, said.label])
    order = np.argsort(-wrong, kind="stable")
    np.testing.assert_allclose(found["wrong"], wrong[order], rtol=1e-9)
    for row, number in enumerate(order):
        item, label, answer = said.item[number], said.label[number], said.answer[number]
        assert (found["item"][row], found["label"][row]) == (item, label)
        assert found["said"][row] == said.applies[number]
        assert found["annotator"][row] == answers.annotator_names[answers.annotator[answer]]
        if answers.question[answer] == "named":
            assert np.isnan(found["others"][row])
        else:
            rest = answers.only(np.arange(answers.n_answers) != answer)
            left = classifier.predict_consensus(X[:5], rest)[item, label]
            assert found["others"][row] == pytest.approx(left, rel=1e-7)


@pytest.mark.parametrize("knows", [True, False])
def test_planted_mistakes_are_found(knows):
    right = draw_answers(TRUE, question="ticked", answers_per_item=2, random_state=1)
    said = right.statements()
    flipped = np.random.default_rng(0).random(len(said)) < 0.03
    marks = np.zeros((2, right.n_answers, 4), dtype=np.uint8)
    marks[(said.applies ^ flipped).astype(int), said.answer, said.label] = 1
    wrong = Answers.from_arrays(
        absent=marks[0], relevant=marks[1], question="ticked", item=right.item
    )
    rates = {"missed": 0.03, "invented": 0.03} if knows else {}
    learned = wrong if knows else right  # a model without mistakes cannot learn contradictions
    found = fixed(alpha=0.0003, **rates).fit(MANY, learned).doubtful_answers(MANY, wrong)
    is_wrong = found["said"] != TRUE[found["item"], found["label"]]
    top = flipped.sum()
    assert is_wrong[:top].mean() > 0.7
    if knows:
        assert found["wrong"].sum() == pytest.approx(top, rel=0.1)


def test_intervals_hold_the_rates_of_people():
    # Half of the items teach the model common rates, the other half tells who errs how often.
    half = len(MANY) // 2
    taught = fixed(alpha=0.0003, missed=0.33, invented=0.06).fit(MANY[:half], SAID[:half])
    table = taught.annotators_table(MANY[half:], SAID[half:])
    people, held = numbers(table["annotator"]), []
    assert table["judged"].sum() == 3 * 4 * (len(MANY) - half)
    for name, true in (("missed", MISSED[people]), ("invented", INVENTED[people])):
        low, high = table[f"{name}_low"], table[f"{name}_high"]
        held += [(low <= true) & (true <= high)]
        assert ((low < table[name]) & (table[name] < high)).all()
        assert np.abs(table[name] - true).mean() < 0.05
        assert (high - low).mean() < 0.3
    assert np.mean(held) >= 0.85


def test_rates_that_the_model_knows_are_those_of_the_table(model):
    table = model.annotators_table(MANY, SAID)
    people = numbers(table["annotator"])
    np.testing.assert_allclose(table["missed"], MISSED[people])
    np.testing.assert_allclose(table["invented"], INVENTED[people])
    few = model.annotators_table(MANY[:200], SAID[:200])
    assert (few["missed_high"] - few["missed_low"]).mean() > 2 * (
        table["missed_high"] - table["missed_low"]
    ).mean()


def test_people_and_rules_without_names(model):
    rules = Answers.from_arrays(
        excluded=[[1, 0, 0, 0], [0, 1, 0, 0]], question="excluded", annotator=["rule", "rule"]
    )
    asked = Answers.from_arrays(
        relevant=[[1, 0, 0, 0], [0, 1, 0, 0]],
        offered=[[1, 0, 0, 0], [0, 1, 0, 0]],
        question="asked",
        annotator=["7", None],
    )
    answers = Answers.concatenate([rules, asked])
    found = model.doubtful_answers(MANY[:2], answers)
    assert sorted(map(str, found["annotator"])) == ["7", "None"]
    table = model.annotators_table(MANY[:2], answers)
    assert table["annotator"].tolist() == ["7", None]
    assert table["missed"][0] == pytest.approx(MISSED[7])


def test_a_network_has_the_same_methods():
    few, true, said = MANY[:600], TRUE[:600], SAID[:600]
    network = NetworkLikelihoodClassifier(missed=0.3, invented=0.05, epochs=10, random_state=0)
    consensus = network.fit(few, said).predict_consensus(few, said)
    plain = network.predict_proba(few)
    assert average_precision_score(true, consensus) > average_precision_score(true, plain) + 0.05
    assert len(network.doubtful_answers(few, said)["wrong"]) == 4 * said.n_answers
    assert len(network.annotators_table(few, said)["missed"]) == 30


def test_what_is_refused(model):
    with raises(InputError, "answers"):
        model.predict_consensus(MANY, TRUE)
    with raises(InputError, "rows"):
        model.predict_consensus(MANY[:7], SAID)
    others = Answers.from_arrays(relevant=np.eye(3), question="asked", offered=np.eye(3))
    with raises(AnnotationError, "3 labels"):
        model.predict_consensus(MANY[:3], others)
    single = fixed(error_rate=0.1).fit(X, np.arange(300) % 3)
    with raises(InputError):
        single.doubtful_answers(X[:3], others)
