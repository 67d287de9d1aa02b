"""Questions that tell about a model: who is drawn with which chance, and what that is worth."""

import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.metrics import average_precision_score, precision_score
from tests.refusals import raises

from complabel.answers import Answers
from complabel.asking import suggest_questions
from complabel.errors import InputError
from complabel.simulate import draw_answers
from complabel.trust import estimate_metrics, suggest_evaluation_questions

FIGURES = ("precision", "recall", "f1", "average_precision")
LABELS = ("0", "1", "2")


def nothing_known(n_items):
    return Answers.from_table({"item": [], "label": []}, items=range(n_items), label_names=LABELS)


def population(n_items, seed=0):
    """Return chances, and labels that apply with these chances, both (n_items, 3)."""
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-rng.normal(-1.5, 2, (n_items, 3))))
    return p, (rng.random(p.shape) < p).astype(np.uint8)


def pairs_of(table):
    return table["item"].astype(int).to_numpy(), table["label"].astype(int).to_numpy()


def of_all_pairs(n_items, p, **given):
    """Return the probability of each pair; all are drawn if so many questions are asked."""
    found, nothing = np.full(p.shape, np.nan), nothing_known(n_items)
    for seed in range(200):
        table = suggest_evaluation_questions(nothing, p, n_items, random_state=seed, **given)
        found[pairs_of(table)] = table["probability"]
        if not np.isnan(found).any():
            return found
    raise AssertionError("some pairs were never drawn")


@pytest.mark.parametrize("figure", FIGURES)
def test_chances_sum_to_the_number_of_items(figure):
    p, _ = population(40)
    chances = of_all_pairs(40, p, figure=figure)
    assert chances.sum() == pytest.approx(40)
    assert chances.max() <= 1
    assert chances.min() >= 0.2 / 3  # a fifth is equal for all
    smaller = suggest_evaluation_questions(nothing_known(40), p, 7, figure=figure, random_state=0)
    assert smaller["probability"].to_numpy() == pytest.approx(chances[pairs_of(smaller)])


@pytest.mark.parametrize(("n", "figure"), [(3, "f1"), (14, "average_precision")])
def test_pairs_are_drawn_as_often_as_it_says_and_totals_are_right_on_average(n, figure):
    p, Y = population(6, seed=2)
    n_draws, nothing = 300, nothing_known(6)
    counts, totals, chance = np.zeros(p.shape), [], np.full(p.shape, np.nan)
    samples = set()
    for seed in range(n_draws):
        table = suggest_evaluation_questions(nothing, p, n, figure=figure, random_state=seed)
        pairs = pairs_of(table)
        counts[pairs] += 1
        samples.add(frozenset(zip(*pairs, strict=True)))
        chance[pairs] = table["probability"] * n / 6
        totals.append((Y[pairs] / chance[pairs]).sum())
    assert counts.max() <= n_draws  # no pair twice in one table
    assert len(samples) > 20  # not a few samples again and again
    noise = np.sqrt(chance * (1 - chance) * n_draws)
    assert (np.abs(counts - n_draws * chance) <= 4.5 * noise + 1e-6).all()
    error = np.mean(totals) - Y.sum()
    assert abs(error) <= 4 * np.std(totals) / np.sqrt(n_draws) + 1e-9


def soft_figure(name, y, p, threshold):
    """Return a figure of labels that apply in part."""
    predicted = p > threshold
    if name == "average_precision":
        both = np.concatenate([np.ones(len(y)), np.zeros(len(y))])
        return average_precision_score(
            both, np.tile(p, 2), sample_weight=np.concatenate([y, 1 - y])
        )
    right = (y * predicted).sum()
    below = {"precision": predicted.sum(), "recall": y.sum(), "f1": (predicted.sum() + y.sum()) / 2}
    return right / below[name]


@pytest.mark.parametrize("figure", FIGURES)
def test_chances_are_those_of_the_least_error_but_for_equal_shares(figure):
    p, _ = population(60, seed=1)
    flat, step = p.ravel(), 1e-6
    base = soft_figure(figure, flat, flat, 0.4)
    slope = np.array(
        [
            (soft_figure(figure, flat + step * (np.arange(len(flat)) == at), flat, 0.4) - base)
            / step
            for at in range(len(flat))
        ]
    )
    best = np.abs(slope) * np.sqrt(flat * (1 - flat))
    size = best / best.sum()
    for cell in (flat > 0.4, flat <= 0.4):
        size[cell] = 0.8 * size[cell] + 0.2 * size[cell].mean()
    size = 0.8 * size + 0.2 / len(flat)
    scale = brentq(lambda scale: np.minimum(scale * size, 1).sum() - 60, 1, 1e4)
    expected = np.minimum(scale * size, 1)
    found = of_all_pairs(60, p, figure=figure, threshold=0.4).ravel()
    # Average precision is that of pairs that apply, not of pairs that apply in part.
    tolerance = 0.2 if figure == "average_precision" else 1e-4
    assert found == pytest.approx(expected, rel=tolerance)


def test_estimates_are_nearer_than_with_random_questions():
    p, Y = population(400)
    true = precision_score(Y.ravel(), (p > 0.5).ravel())
    errors, nothing = {"drawn": [], "random": []}, nothing_known(400)
    for seed in range(40):
        table = suggest_evaluation_questions(nothing, p, 100, figure="precision", random_state=seed)
        yes = Y[pairs_of(table)] == 1
        told = table.assign(answer=np.where(yes, "yes", "no"))
        drawn = Answers.from_table(told, items=range(400), label_names=LABELS)
        asked = draw_answers(Y, question="asked", items_share=0.25, random_state=seed)
        for way, answers in (("drawn", drawn), ("random", asked)):
            errors[way].append(estimate_metrics(answers, p).precision.value - true)
    assert np.std(errors["drawn"]) < 0.7 * np.std(errors["random"])
    assert abs(np.mean(errors["drawn"])) < 3 * np.std(errors["drawn"]) / np.sqrt(40) + 0.01


def test_items_with_an_answer_are_left_out_and_names_stay():
    p, _ = population(30)
    items = [f"i{at}" for at in range(30)]
    told = {"item": items[:20], "label": ["sea", "sky"] * 10, "answer": ["no"] * 20}
    answers = Answers.from_table(
        told, items=items, label_names=["sea", "sky", "fog"], question="asked"
    )
    table = suggest_evaluation_questions(answers, p, 30, random_state=0)
    assert {*table["item"]} == {*items[20:]}
    assert len(table.drop_duplicates(["item", "label"])) == len(table) == 30
    assert {*table["label"]} == {"sea", "sky", "fog"}
    assert table["probability"].to_numpy() == pytest.approx(np.full(30, 1 / 3))
    with raises(InputError, "n=31", "30 pairs"):
        suggest_evaluation_questions(answers, p, 31)


@pytest.mark.parametrize("size", [10, 200, 399])
def test_menus_of_many_labels_have_chances_that_can_be_weighed(size):
    """Of 200 of 400 labels there are 1e119 menus: one of these chances is as good as another."""
    names = [str(label) for label in range(400)]
    nothing = Answers.from_table({"item": [], "label": []}, items=range(9), label_names=names)
    table = suggest_questions(nothing, 6, kind=f"ticked-{size}", random_state=0)
    yes = np.random.default_rng(0).random(len(table)) < 0.2
    told = table.assign(answer=np.where(yes, "yes", "no"))
    answers = Answers.from_table(told, items=range(9), label_names=names)
    found = estimate_metrics(answers, np.full((9, 400), 0.3)).share
    assert found.value == pytest.approx(yes.mean())


@pytest.mark.parametrize("p", [np.zeros((5, 3)), np.ones((5, 3)), np.full((5, 3), 0.1)])
def test_where_nothing_is_predicted_or_doubtful_all_pairs_are_alike(p):
    for figure in FIGURES:
        table = suggest_evaluation_questions(nothing_known(5), p, 4, figure=figure)
        assert table["probability"].to_numpy() == pytest.approx(np.full(4, 1 / 3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"probabilities": np.zeros((4, 3))}, ("shape (4, 3)", "(5, 3)")),
        ({"probabilities": np.full((5, 3), 1.5)}, ("0", "1", "1.5")),
        ({"threshold": [0.5, 0.5]}, ("threshold", "2 numbers", "3")),
        ({"figure": "accuracy"}, ("figure", "'precision'", "'recall'", "'f1'")),
        ({"n": 0}, ("n", "at least 1")),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    given = {"probabilities": np.full((5, 3), 0.5), "n": 2, **given}
    with raises(InputError, message):
        suggest_evaluation_questions(nothing_known(5), **given)
