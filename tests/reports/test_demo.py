from __future__ import annotations

import base64
import copy
import io
import json

import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score
from tests.reports.small import Page

from complabel.errors import InputError
from complabel.methods import SelectionLikelihoodClassifier
from complabel.reports import _demo, run_demo
from complabel.reports._demo import WAYS

SMALL = {"seed": 3, "n_pictures": 150, "n_questions": 50}


@pytest.fixture(scope="module")
def summary(demo):
    return demo[0]


@pytest.fixture
def page(pages):
    return pages["demo"]


@pytest.fixture(scope="module")
def pictures():
    """The pictures of the small demonstration, drawn again."""
    return _demo._draw_pictures(SMALL["n_pictures"], np.random.default_rng(SMALL["seed"]))


@pytest.fixture(scope="module")
def answers(pictures):
    """Answers that know the pictures of the training part; the propensities are extreme."""
    rng = np.random.default_rng(0)
    propensities = np.array([1e6, 1, 1, 1, 1, 1e-6])
    return _demo._ask(pictures.Y[pictures.train], propensities, 50, 109, rng)


def with_precisions(summary, **found):
    changed = copy.deepcopy(summary)
    for way, value in found.items():
        changed["ways"][way]["average_precision"] = value
    return changed


def with_forms(summary, *precisions):
    """The summary with these average precisions of forms on 109, 60, 30, 15 and 7 pictures."""
    changed = copy.deepcopy(summary)
    for form, value in zip(changed["ticking"]["forms"], precisions, strict=True):
        form["average_precision"] = value
    return changed


def row_of(picture, pictures):
    pixels = np.array(picture["pixels"]).ravel()
    rows = np.flatnonzero((pixels == pictures.X).all(axis=1))
    assert len(rows) == 1
    return rows[0]


def quadrants(pictures, rows):
    """The handwritten digits of some pictures, each as bytes."""
    blocks = pictures.X[rows].reshape(-1, 2, 8, 2, 8).transpose(0, 1, 3, 2, 4).reshape(-1, 64)
    return {block.tobytes() for block in blocks if block.any()}


def test_summary_is_plain_data(summary):
    assert json.loads(json.dumps(summary)) == summary


def test_parts_have_their_sizes_and_share_no_handwriting(pictures, summary):
    assert (len(pictures.train), len(pictures.test)) == (120, 30)
    assert (summary["n_train"], summary["n_test"]) == (120, 30)
    assert not quadrants(pictures, pictures.train) & quadrants(pictures, pictures.test)


def test_pictures_show_no_other_digits(pictures):
    used = np.concatenate([pictures.train, pictures.test])
    filled = pictures.X[used].reshape(-1, 2, 8, 2, 8).any(axis=(2, 4)).sum(axis=(1, 2))
    assert filled.tolist() == pictures.Y[used].sum(axis=1).tolist()


@pytest.mark.parametrize("way", [way for way in WAYS if way != "ticked"])
def test_each_picture_has_one_true_answer(answers, pictures, way):
    Y, said = pictures.Y[pictures.train], answers[way]
    assert sorted(said.item.tolist()) == list(range(len(Y)))
    truth = Y[said.item]
    denied = said.named.toarray() + said.absent.toarray()
    confirmed = said.relevant.toarray()
    assert (denied.sum(axis=1) + confirmed.sum(axis=1) == 1).all()
    assert not (denied * truth).any()
    assert (confirmed <= truth).all()


def test_forms_say_all_that_is_on_fewer_pictures(answers, pictures):
    ticked, Y = answers["ticked"], pictures.Y[pictures.train]
    assert set(ticked.question) == {"ticked"}
    assert len(set(ticked.item.tolist())) == len(ticked.item) == 109
    assert ticked.item.max() > 109  # not the first pictures, but random ones
    assert (ticked.relevant.toarray() == Y[ticked.item]).all()
    assert (ticked.absent.toarray() == 1 - Y[ticked.item]).all()


def test_forms_take_no_longer_than_the_yes_no_answers(summary):
    # A form takes 14.5 + 5 * .28 = 15.9 seconds: 120 * 14.5 / 15.9 = 109.4.
    forms = summary["ticking"]["forms"]
    assert [form["pictures"] for form in forms] == [109, 60, 30, 15, 7]
    assert [form["times"] for form in forms] == pytest.approx([15.9 / 14.5, 2, 4, 8, 16])
    assert summary["n_ticked"] == 109
    assert forms[0]["average_precision"] == summary["ways"]["ticked"]["average_precision"]
    assert forms[0]["average_precision"] > forms[-1]["average_precision"]
    assert _demo._forms_in_time(10, 16) == 1


def test_ways_differ_by_the_question_alone(answers):
    assert set(answers["free"].question) == set(answers["biased"].question) == {"named"}
    assert set(answers["asked"].question) == {"asked"}
    assert np.allclose(answers["asked"].probability, 1 / 6)
    assert answers["free"].named.toarray()[:, 5].any()


def test_a_bias_makes_some_digits_come_to_mind_first(answers, pictures):
    Y = pictures.Y[pictures.train]
    named = answers["biased"].named.toarray()
    assert (named[:, 0] == (Y[answers["biased"].item, 0] == 0)).all()
    assert not named[:, 5].any()


def test_an_audit_replaces_names_by_the_yes_no_answers_about_the_same_pictures(answers):
    mixed = answers["audited"]
    questions = mixed.question == "asked"
    assert questions.sum() == 50
    for part, way in ((questions, "asked"), (~questions, "biased")):
        whole = answers[way]
        same = whole.only(np.isin(whole.item, mixed.item[part]))
        kept = mixed.only(part)
        assert kept.item.tolist() == same.item.tolist()
        for mask in ("named", "absent", "relevant"):
            assert (getattr(kept, mask).toarray() == getattr(same, mask).toarray()).all()


def test_criteria_of_a_case_worked_by_hand():
    Y = np.array([[1, 1, 0], [0, 0, 1]], dtype=np.uint8)
    pictures = _demo._Pictures(np.zeros((2, 4)), Y, np.array([], int), np.arange(2))
    scores = np.array([[0.9, 0.1, 0.5], [0.2, 0.3, 0.4]])
    # The first picture: a 1 is right, of two guesses one; the second one's guess is right.
    assert pictures.measure(scores) == pytest.approx(
        {"average_precision": ((1 + 2 / 3) / 2 + 1) / 2, "found": 2 / 3}
    )


def test_figures_are_those_of_the_flagship_on_the_test_part(summary, pictures):
    rng = np.random.default_rng(SMALL["seed"])
    _demo._draw_pictures(SMALL["n_pictures"], rng)
    propensities = rng.permutation(_demo._spread_evenly(6))
    assert propensities.tolist() == summary["propensities"]
    asked = _demo._ask(pictures.Y[pictures.train], propensities, 50, 109, rng)["asked"]
    classifier = SelectionLikelihoodClassifier(kernel="linear", random_state=3)
    classifier.fit(pictures.X[pictures.train], asked)
    scores = classifier.predict_proba(pictures.X[pictures.test])
    expected = label_ranking_average_precision_score(pictures.Y[pictures.test], scores)
    assert summary["ways"]["asked"]["average_precision"] == pytest.approx(expected, abs=1e-9)
    places = {row: place for place, row in enumerate(pictures.test)}
    for picture in summary["examples"]["test"]:
        ranked = np.argsort(-scores[places[row_of(picture, pictures)]])
        assert picture["guesses"]["asked"] == [str(k) for k in ranked[: len(picture["shows"])]]


def test_nothing_tells_what_to_match_to_where_all_is_named(summary):
    matched = {way: figures["others"]["matched"] for way, figures in summary["ways"].items()}
    assert [way for way, value in matched.items() if value is None] == ["free", "biased"]


@pytest.mark.slow  # the whole demonstration once more
def test_test_labels_play_no_part_in_what_is_learned(summary, monkeypatch):
    draw = _demo._draw_pictures

    def mirrored(n_pictures, rng):
        pictures = draw(n_pictures, rng)
        pictures.Y[pictures.test] = 1 - pictures.Y[pictures.test]
        return pictures

    monkeypatch.setattr(_demo, "_draw_pictures", mirrored)
    monkeypatch.setattr(_demo, "_others", lambda *_: {})
    monkeypatch.setattr(_demo, "_references", lambda *_: {})
    monkeypatch.setattr(_demo, "_SLOWER", ())
    changed = run_demo(**SMALL)
    before = {str(p["pixels"]): p["guesses"] for p in summary["examples"]["test"]}
    common = [p for p in changed["examples"]["test"] if str(p["pixels"]) in before]
    assert common
    for picture in common:
        for way, guesses in picture["guesses"].items():
            ours = before[str(picture["pixels"])][way]
            n = min(len(ours), len(guesses))
            assert ours[:n] == guesses[:n]


def test_examples_are_shown_with_their_own_digits(summary, pictures):
    for part, rows in (("training", pictures.train), ("test", pictures.test)):
        assert len(summary["examples"][part]) == 8
        for picture in summary["examples"][part]:
            row = row_of(picture, pictures)
            assert row in rows
            assert picture["shows"] == [str(k) for k in np.flatnonzero(pictures.Y[row])]
    said = {way: set() for way in WAYS}
    for picture in summary["examples"]["training"]:
        for way, answer in picture["answers"].items():
            said[way].add(answer["said"])
            if way == "ticked":
                none = answer["said"] == "nothing"
                assert answer["labels"] == ([] if none else picture["shows"])
            else:
                (label,) = answer["labels"]
                assert (label in picture["shows"]) == (answer["said"] == "yes")
    assert said["ticked"] == {"ticked", "nothing"}
    assert said["free"] == said["biased"] == {"named"}
    assert said["asked"] <= {"yes", "no"}
    assert "named" in said["audited"]
    assert said["audited"] & {"yes", "no"}
    assert all(len(picture["shows"]) > 1 for picture in summary["examples"]["test"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_pictures": 99}, "n_pictures"),
        ({"n_questions": 0}, "n_questions"),
        ({"n_pictures": 100, "n_questions": 80}, "80, but there are only 80 training pictures"),
        ({"seed": -1}, "seed"),
    ],
    ids=["few-pictures", "no-questions", "only-questions", "negative-seed"],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        run_demo(**given)


BIAS = (
    " Naming what comes to mind first teaches less: 0.500 instead of 0.900. With 50 yes/no"
    " questions among the answers it is 0.800."
)


def test_advice_stands_only_where_figures_bear_it_out(summary):
    usual = with_precisions(summary, free=0.9, asked=0.95, ticked=0.93, biased=0.5, audited=0.8)
    assert _demo._meaning(usual) == (
        "Ask yes or no about random labels if you can: average precision 0.950. Ticking all labels"
        " of fewer pictures, in the same time, teaches less: 0.930." + BIAS
    )
    forms = with_forms(with_precisions(usual, ticked=0.97), 0.97, 0.96, 0.95, 0.9, 0.8)
    assert _demo._meaning(forms) == (
        "Let people tick all labels of fewer pictures, in the time of a yes or no about each:"
        f" average precision 0.970 instead of 0.950. {_demo._pays(forms)}" + BIAS
    )
    for other in ({"audited": 0.4}, {"asked": 0.7, "ticked": 0.8}, {"biased": 0.92}):
        meaning = _demo._meaning(with_precisions(usual, **other))
        assert "if you can" not in meaning
        assert "best way was" in meaning
    assert "“named, with a bias”: average precision 0.970" in _demo._meaning(
        with_precisions(usual, biased=0.97)
    )


@pytest.mark.parametrize(
    ("asked", "forms", "sentence"),
    [
        # 30 of 120 pictures are as good: a form may take 120 / 30 = 4 times as long.
        (0.95, (0.97, 0.96, 0.95, 0.9, 0.8), "Here ticking pays if it takes less than 4 times as"),
        # Halfway between 15 and 30 pictures in the logarithm: 120 / sqrt(15 * 30) = 5.66.
        (
            0.925,
            (0.97, 0.96, 0.95, 0.9, 0.8),
            "Here ticking pays if it takes less than 5.7 times as",
        ),
        # 7 of 120 pictures are better already: 120 / 7 = 17.1.
        (0.7, (0.97, 0.96, 0.95, 0.9, 0.8), "Here ticking pays even if it takes 17 times as"),
        (
            0.98,
            (0.97, 0.96, 0.95, 0.9, 0.8),
            "Here ticking does not pay, although it takes only 1.1 times",
        ),
        # More forms may do worse by chance. What was measured at the people's own speed decides.
        (
            0.96,
            (0.95, 0.97, 0.95, 0.9, 0.8),
            "Here ticking does not pay, although it takes only 1.1 times",
        ),
    ],
)
def test_how_long_ticking_may_take_worked_by_hand(summary, asked, forms, sentence):
    found = _demo._pays(with_forms(with_precisions(summary, asked=asked), *forms))
    assert found.startswith(sentence)
    assert found.endswith("as long as one yes or no.")


def test_the_page_says_how_long_ticking_may_take(page, summary):
    document = Page(page)
    (section,) = (
        text for given, text in document.find("section") if given["aria-labelledby"] == "ticking"
    )
    words = " ".join(section.split())
    assert summary["pays"] in words
    assert "14.5 seconds for a yes or no, and 0.28 for each further label" in words
    assert "all 6 digits take 1.1 times as long as one yes or no" in words
    asked = summary["ways"]["asked"]["average_precision"]
    for form in summary["ticking"]["forms"]:
        more = f"{form['average_precision'] - asked:+.3f}".replace("-", "\N{MINUS SIGN}")
        row = f"{form['pictures']}{form['average_precision']:.3f}{more}"
        assert f"{form['times']:.2g} times as long{row}" in words


def test_bars_have_the_summarys_figures_beside_them(page, summary):
    document = Page(page)
    bars = [attributes["style"] for attributes, _ in document.find("span", **{"class": "bar"})]
    values = [text for _, text in document.find("td", **{"class": "value"})]
    found = [text for _, text in document.find("td", **{"class": "found"})]
    figures = [*summary["ways"].values(), *summary["references"].values()]
    assert values == [f"{each['average_precision']:.3f}" for each in figures]
    assert found == [f"{100 * each['found']:.0f} %" for each in figures]
    assert bars == [f"width: {100 * each['average_precision']:.1f}%" for each in figures]
    assert summary["meaning"] == _demo._meaning(summary)
    assert summary["meaning"] in document.find("header")[0][1]


def test_pictures_are_what_was_asked_about_and_have_words(page, summary):
    from matplotlib.image import imread

    images = [attributes for attributes, _ in Page(page).find("img")]
    examples = [*summary["examples"]["training"], *summary["examples"]["test"]]
    for image, picture in zip(images, examples, strict=True):
        read = imread(io.BytesIO(base64.b64decode(image["src"].partition(",")[2])))
        assert np.abs(1 - read[..., 0] - picture["pixels"]).max() <= 1.5 / 255
        assert image["alt"].endswith(f"it shows {', '.join(picture['shows'])}")


def test_answers_and_guesses_stand_beside_their_pictures(page, summary):
    cells = [" ".join(text.split()) for _, text in Page(page).find("dd")]
    words = {
        "named": "no {0}", "no": "{0}? no", "yes": "{0}? yes", "ticked": "☑ {0}",
        "nothing": "no form",
    }  # fmt: skip
    expected = [
        words[answer["said"]].format(", ".join(answer["labels"]))
        for picture in summary["examples"]["training"]
        for answer in picture["answers"].values()
    ]
    for picture in summary["examples"]["test"]:
        for guesses in picture["guesses"].values():
            marks = [("✓ right: " if g in picture["shows"] else "✗ wrong: ") + g for g in guesses]
            expected.append(" ".join(marks))
    assert cells == expected
