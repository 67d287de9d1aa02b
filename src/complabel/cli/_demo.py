"""`complabel demo`: the same pictures, asked about in four ways, and what is learned from each.

What it draws, asks and learns takes only names that any program may use.
"""

from __future__ import annotations

import base64
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel import __version__
from complabel.cli import _options as options
from complabel.cli._console import command, new_table, save, say, show, working
from complabel.cli._options import option, target

if TYPE_CHECKING:
    from complabel._parameters import AnyArray, Array, Indicator
    from complabel.answers import Answers

_N_DIGITS = 6  # of ten, so that few answers are enough and the demonstration takes only seconds
_DRAWN_FOR_ONE = 5  # only 30 % of all pictures show none of the other digits
_TEST_GROUPS = (8, 9)  # of the ten groups of handwritten digits; the others are learned from
_READILY = 16  # how many times as readily the first digit comes to mind as the last
_ONE_IN = 8  # in the way "mixed", every eighth picture is asked about
# A form with six labels takes 1.1 times as long as a yes or no: docs/evidence/questions.md.
_TIMES = 1.1
_SHOWN = 8

# Each way of asking: its title, and what people are asked.
WAYS = {
    "named": (
        "named",
        "“Name a digit that is not here.” Some digits come to mind more readily than others.",
    ),
    "mixed": (
        "named, and some asked",
        f"The same, but one picture in {_ONE_IN} is asked about: yes or no.",
    ),
    "asked": (
        "asked yes or no",
        "“Is there a 3?” A random digit is asked about. The answer is yes or no.",
    ),
    "ticked": (
        "ticked",
        "“Tick all digits that are here.” A form takes longer, so in the same time there are fewer"
        " forms than pictures.",
    ),
}
_COMPARED = {
    "nothing": ("without looking at pictures", "The same order of digits for every picture."),
    "truth": ("with all true labels", "The same model, told which digits are on each picture."),
}


@options.with_examples("demo", "demo --seed 1 --out page.html")
def demo(
    page: Path = target(
        "File to write the page to.", "--out", default=Path("complabel-demo.html"), page=True
    ),
    n_pictures: int = option(
        "N",
        "Number of pictures, of which four in five are learned from.",
        "--pictures",
        default=2000,
        min=100,
    ),
    seed: int = option("N", "Seed of the pictures, the answers and the methods.", default=0, min=0),
) -> None:
    """Ask about the same pictures in four ways, and compare what is learned from each.

    The pictures show handwritten digits and come with complabel. The answers are simulated. The
    demo takes about 10 seconds.
    """
    from sklearn.metrics import label_ranking_average_precision_score

    from complabel.methods import make_classifier
    from complabel.reports import get_template

    template = get_template("demo.html.j2")  # before the work: it may need a package
    X, Y, X_test, Y_test = _pictures(n_pictures, seed)
    answers = _ask(Y, seed)
    linear: Any = {"kernel": "linear", "random_state": seed}  # linear fits in seconds
    fits: dict[str, tuple[Any, Any]] = {
        way: (make_classifier("selection-likelihood", **linear), answers[way]) for way in WAYS
    }
    fits["nothing"] = (make_classifier("prior"), answers["asked"])
    fits["truth"] = (make_classifier("supervised", **linear), Y)
    scores, precisions = {}, {}
    with working("learning") as far, warnings.catch_warnings():
        # The page says what these warnings say: some pictures have no form.
        warnings.simplefilter("ignore")
        for number, (way, (classifier, y)) in enumerate(fits.items(), start=1):
            far(f"{number} of {len(fits)}")
            scores[way] = classifier.fit(X, y).predict_proba(X_test)
            precisions[way] = label_ranking_average_precision_score(Y_test, scores[way])
    titles = WAYS | _COMPARED
    table = new_table(
        f"{len(X):,} pictures, at most one answer each; tested on {len(X_test):,} others",
        "way of asking",
        numbers=["average precision"],
    )
    for way, precision in precisions.items():
        table.add_row(titles[way][0], f"{precision:.3f}")
    show(table)
    best = titles[max(WAYS, key=precisions.__getitem__)][0]
    text = template.render(
        complabel=__version__,
        ways=WAYS,
        titles=titles,
        precisions=precisions,
        best=best,
        n_train=len(X),
        n_test=len(X_test),
        n_ticked=answers["ticked"].n_answers,
        asked=_answered(X, Y, answers),
        guessed=_guessed(X_test, Y_test, {way: scores[way] for way in WAYS}),
        seed=seed,
    )
    save(page, text)
    say(f"Here the best way was: {best}. Open {page} in a browser to see what people said.")
    say(f"next: {command('import', '--help')}")


def _pictures(n_pictures: int, seed: int) -> list[AnyArray]:
    """Return features and true labels of pictures to learn from, and then of others to test on.

    No handwritten digit is in both parts.
    """
    import numpy as np

    from complabel.datasets import make_digits

    data = make_digits(_DRAWN_FOR_ONE * n_pictures, random_state=seed)
    fits = data.Y[:, _N_DIGITS:].sum(axis=1) == 0
    is_test = np.isin(np.asarray(data.groups), _TEST_GROUPS)
    train = np.flatnonzero(fits & ~is_test)[: n_pictures * 4 // 5]
    test = np.flatnonzero(fits & is_test)[: n_pictures // 5]
    Y = data.Y[:, :_N_DIGITS]
    X = np.asarray(data.X)
    return [X[train], Y[train], X[test], Y[test]]


def _ask(Y: Indicator, seed: int) -> dict[str, Answers]:
    """Ask simulated people about each picture in each way; they make no mistakes."""
    import numpy as np

    from complabel.answers import Answers
    from complabel.simulate import draw_answers

    rng = np.random.default_rng(seed)
    propensities = rng.permutation(np.geomspace(1, _READILY, _N_DIGITS))
    named = draw_answers(Y, propensities=propensities, random_state=rng)
    asked = draw_answers(Y, question="asked", random_state=rng)
    is_asked = rng.permutation(len(Y)) % _ONE_IN == 0
    mixed = [named.only(~is_asked[named.item]), asked.only(is_asked[asked.item])]
    ticked = draw_answers(Y, question="ticked", items_share=1 / _TIMES, random_state=rng)
    return {"named": named, "mixed": Answers.concatenate(mixed), "asked": asked, "ticked": ticked}


def _answered(X: AnyArray, Y: Indicator, answers: dict[str, Answers]) -> list[dict[str, Any]]:
    return [
        _picture(X[row], Y[row]) | {"said": {way: _in_words(answers[way], row) for way in WAYS}}
        for row in range(_SHOWN)
    ]


def _in_words(answers: Answers, row: int) -> str:
    here = answers.only(answers.item == row)
    if not here.n_answers:
        return "no form"
    relevant, absent, named = (
        ", ".join(map(str, mask.indices)) for mask in (here.relevant, here.absent, here.named)
    )
    if here.question[0] == "ticked":
        return f"☑ {relevant}"
    if here.question[0] == "named":
        return f"no {named}"
    return f"{relevant}? yes" if relevant else f"{absent}? no"


def _guessed(X: AnyArray, Y: Indicator, scores: dict[str, Array]) -> list[dict[str, Any]]:
    """Return test pictures with two digits or more, with as many guesses of each model."""
    import numpy as np

    return [
        _picture(X[row], Y[row])
        | {
            "guesses": {
                way: (-of[row]).argsort()[: Y[row].sum()].tolist() for way, of in scores.items()
            }
        }
        for row in np.flatnonzero(Y.sum(axis=1) > 1)[:_SHOWN]
    ]


def _picture(pixels: AnyArray, labels: Indicator) -> dict[str, Any]:
    from matplotlib.image import imsave

    side = round(len(pixels) ** 0.5)
    file = io.BytesIO()
    imsave(file, pixels.reshape(side, side), cmap="gray_r", vmin=0, vmax=1, format="png")
    image = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")
    return {"image": image, "shows": labels.nonzero()[0].tolist()}
