"""`complabel fit`: learn a model from answers and features, and save it."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from complabel.cli import _options as options
from complabel.cli._console import command, doubt, duration, remark, say, working
from complabel.cli._inputs import SettledOrKept, advise_on, read_own_features
from complabel.cli._options import option, target
from complabel.cli._outputs import has_written
from complabel.cli._predict import say_fitted
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.files import Features
    from complabel.methods import BesideMachine, ComplementaryClassifier, HeldOutScore
    from complabel.trust import FeaturesTell

_FIGURES = ("criterion", "score", "standard_error", "constant", "gain_error", "n_folds")
_WORTH = ("weight", "gain", "gain_error", "n_answers")


@dataclass(kw_only=True)
class Beside:
    """A machine whose answers are learned from, too."""

    machine: Path | None = option(
        "FILE",
        "Also learn from this table of a machine's answers, which count less than people's. How"
        " much less, held-out answers of people tell.",
    )
    only_yes: bool = options.ONLY_YES

    def read(
        self, people: list[Path], items: list[str], label_names: Path | None, reading: SettledOrKept
    ) -> tuple[Any, Any]:
        """Return the names of all labels, and what the machine says; look at people's files."""
        if self.machine is None:
            return label_names, None
        from complabel.files import read_quietly

        machines = reading.machines([self.machine], items, label_names, only_yes=self.only_yes)
        # A machine has answers about all labels; some people's may be about fewer.
        names = machines.label_names
        known: Any = {"items": items, "label_names": None if label_names is None else names}
        known |= {"question": reading.read_as, "contradictions": "keep"}
        answers = read_quietly(people, **known).answers
        machines.refuse_swapped(people, answers)
        if n_unsure := len(reading.unsure(people, answers)[0]):
            say(f"people were unsure {n_unsure:,} times; the fit leaves these answers out")
        return names, machines.said_by_any

    def notes(self, result: BesideMachine | None) -> dict[str, Any]:
        """Return what a model's file keeps of the machine."""
        if result is None:
            return {}
        of_it = {name: getattr(result, name) for name in _WORTH}
        return {"machine": {"answers": str(self.machine), **of_it}}


def _folds(number: int) -> int:
    """Refuse one fold, which leaves nothing to learn from."""
    if number == 1:
        raise typer.BadParameter(
            "one fold leaves nothing to learn from; give 2 or more, or 0 for no score"
        )
    return number


@dataclass(kw_only=True)
class Score:
    """How a model is scored on held-out answers."""

    folds: int = option(
        "N",
        "Folds for the score on held-out answers; each fold is one more fit. 0: no score.",
        default=3,
        min=0,
        callback=_folds,
    )
    seed: int = option("N", "Seed of the folds and the method.", default=0, min=0)

    def of(
        self,
        classifier: Any,
        X: Any,
        answer_set: Answers,
        seconds: float,
        notes: dict[str, Any],
        out: Path,
    ) -> str:
        """Score a model, print that and keep it in its file; return the advice.

        Its fit took some seconds, and so does each fold.
        """
        from complabel.methods import held_out_score
        from complabel.trust import features_tell

        with working("scoring on held-out answers") as far:
            far(f"{self.folds} folds, about {duration(seconds * (self.folds - 1))}")
            started = time.monotonic()

            def show(done: int) -> None:
                left = (time.monotonic() - started) / done * (self.folds - done)
                far(f"{done} of {self.folds} folds, about {duration(left)} left")

            settings: Any = {"n_folds": self.folds, "random_state": self.seed, "on_fold": show}
            score = held_out_score(classifier, X, answer_set, same_features=True, **settings)
        tell = features_tell(answer_set, score.probabilities, folds=score.folds)
        named = {name: getattr(score, name) for name in _FIGURES}
        figures = {name: value if value == value else None for name, value in named.items()}
        notes |= {"held_out": figures, "features_tell": tell.as_dict()}
        classifier.save(out, provenance=notes)  # a file has no NaN
        say("\n".join(scored(score, tell)))
        return verdict(score, tell)


@options.with_examples(
    "fit answers.csv --features X.csv --out model.safetensors",
    "fit answers.csv --features X.npy --items ids.txt --out model.safetensors",
    "fit answers.csv --features X.csv --method ridge:alpha=1 --out ridge.safetensors",
    "fit people.csv --machine machine.csv --features X.csv --out model.safetensors",
    "fit answers.parquet --features X.parquet --dask tcp://HOST:8786 --out model.safetensors",
)
def fit(
    answers: list[Path] = options.ANSWERS,
    features: Path = options.FEATURES,
    *,
    out: Path = target(
        "Write the model to this file, which ends in .safetensors.",
        default=...,
        endings=(".safetensors",),
    ),
    method: str = option(
        "METHOD", f"Method to fit. {options.METHOD_HELP}", default="selection-likelihood"
    ),
    items: Path | None = options.ITEMS,
    label_names: Path | None = options.LABEL_NAMES,
    reading: SettledOrKept,
    match_frequencies: bool = options.MATCH_FREQUENCIES,
    beside: Beside,
    score: Score,
    dask: str | None = option(
        "ADDRESS",
        "Fit on the workers of this Dask scheduler, which read the features, a Parquet file.",
    ),
) -> None:
    """Learn a model from answers, save it, and score it on held-out answers.

    No true labels are needed. The score is compared with that of the best constant guess, which is
    the same for all items. A column weight of the answers says how much each of them counts.

    Only the features of items with answers are read. The selection likelihood reads more than
    1 GiB of these in pieces, from a Parquet file; such a fit is not scored.
    """
    from complabel.files import read_row_names

    classifier = _classifier(method, match_frequencies, score.seed)
    _refuse_machine(classifier, beside.machine, dask)
    in_pieces = _reads_pieces(classifier, features, dask, beside.machine)
    with working(f"reading {features}"):
        ids = [*read_row_names(features, items=items)]
    names, scores = beside.read(answers, ids, label_names, reading)
    answer_set = reading.answers(answers, ids, names)
    rows = _answered(answer_set, scores)
    table = read_own_features(features, items, rows=rows, in_pieces=in_pieces)
    in_pieces = hasattr(table.X, "pieces")
    if not in_pieces:  # only features of items with answers were read
        answer_set = answer_set[rows.nonzero()[0]]
        scores = None if scores is None else scores[rows]
    started, X = time.monotonic(), table.framed()
    with working(f"fitting {method}") as far:
        classifier, result = _fitted(classifier, X, answer_set, scores, (score.seed, dask), far)
    seconds = time.monotonic() - started
    notes = {"answers": [*map(str, answers)], "features": str(features)}
    notes |= _notes(classifier, answer_set, table, seconds) | beside.notes(result)
    # Save the model before scoring: Ctrl-C during the score then loses nothing.
    classifier.save(out, provenance=notes)
    has_written(out)
    say(f"wrote {out}: {type(classifier).__name__}, fitted in {duration(seconds)}")
    say_fitted(classifier, out)
    advice = ""
    if result is not None:
        say("\n".join(result.lines()))
    elif in_pieces:
        remark(
            "a fit in pieces is not scored, because each fold is one more fit; keep some answers"
            " apart, and give them to complabel evaluate"
        )
    elif score.folds:
        advice = score.of(classifier, table.X, answer_set, seconds, notes, out)
    if advice.endswith((":", "?")):  # where other features are needed, questions are no way out
        about = {"features": features, "items": items, "label_names": label_names}
        advice = f"{advice}\n{_next_questions(answers, reading, about)}"
    doubt(advice)
    if not in_pieces:
        advise_on(table, answer_set)
    say(f"next: {command('predict', out, features, items=items, out='predictions.csv')}")


def _next_questions(answers: list[Path], reading: SettledOrKept, about: dict[str, Any]) -> str:
    policy = "majority" if reading.contradictions == "keep" else reading.contradictions
    about |= {**reading.typed(), "contradictions": policy}
    return f"  {command('ask', *answers, **about, out='questions.csv')}"


def _notes(
    classifier: ComplementaryClassifier, answer_set: Answers, table: Features, seconds: float
) -> dict[str, Any]:
    """Return what a model's file keeps of the fit, beside the names of the files."""
    from complabel.methods import notes_of

    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "seconds": round(seconds, 1),
        **notes_of(answer_set, classifier),
        **({} if table.recipe is None else table.notes()),
    }


def _fitted(
    classifier: Any,
    X: Any,
    answer_set: Answers,
    scores: Any,
    seed_and_dask: tuple[int, str | None],
    far: Callable[[str], None],
) -> tuple[Any, BesideMachine | None]:
    """Fit a classifier to people's answers, beside a machine's if there are any.

    ``seed_and_dask`` has the seed and the address of a Dask scheduler.
    """
    from complabel._training import dask_client
    from complabel.answers import UnansweredRowWarning

    seed, dask = seed_and_dask
    if scores is not None:
        from complabel.methods import fit_beside_machine  # loads torch

        result = fit_beside_machine(
            classifier,
            X,
            answer_set,
            scores,
            random_state=seed,
            on_fit=lambda done, of: far(f"step {done} of {of}, beside the machine"),
        )
        return result.classifier, result
    _tell(classifier, far)
    client = nullcontext() if dask is None else dask_client(dask, as_default=True)
    with warnings.catch_warnings(), client:
        # The number of items with answers is printed already.
        warnings.simplefilter("ignore", UnansweredRowWarning)
        classifier.fit(X, answer_set)
    _tell(classifier, None)
    return classifier, None


def _classifier(method: str, match_frequencies: bool, seed: int) -> Any:
    """Make the classifier that the command names; refuse one that learns from true labels."""
    from complabel.methods import FrequencyMatchedClassifier, make_classifier

    classifier: Any = make_classifier(method)
    if classifier.learns_from != "complementary":
        raise InputError(
            f"{method} learns from true labels, not from answers; choose one of 'complabel methods'"
        )
    if match_frequencies:
        classifier = FrequencyMatchedClassifier(classifier)
    if "random_state" in classifier.get_params():
        classifier.set_params(random_state=seed)
    return classifier


def _refuse_machine(classifier: Any, machine: Path | None, dask: str | None) -> None:
    learner = getattr(classifier, "classifier", classifier)  # of --match-frequencies
    if machine is not None and (dask or not learner.learns_beside_machine):
        raise InputError(
            "--machine needs --method selection-likelihood on this computer; leave out --dask and"
            " other methods"
        )


def _answered(answers: Answers, scores: Any) -> Any:
    """Return which items people or the machine answered, (n_items,)."""
    return answers.answered if scores is None else answers.answered | (scores == scores).any(axis=1)


def _reads_pieces(
    classifier: Any, path: Path, dask: str | None, machine: Path | None
) -> bool | None:
    """Return whether to read features in pieces; None: if they are many.

    A machine has answers about all items, so all their features are held in memory.
    """
    reads_pieces = classifier.reads_pieces
    if dask is not None and not (reads_pieces and path.suffix == ".parquet"):
        raise InputError(
            "--dask needs features in a Parquet file, and --method selection-likelihood; give both,"
            " or leave out --dask"
        )
    return True if dask is not None else (None if reads_pieces and machine is None else False)


def _tell(classifier: Any, far: Callable[[str], None] | None) -> None:
    """Let a classifier put its progress into words, or stop that."""

    # A function, because scikit-learn's clone copies other objects.
    def callback(stage: str, number: int, most: int | None, loss: float) -> None:
        del loss
        what = "settings tried:" if stage == "search" else "step"
        if far is not None:
            far(f"{what} {number}" + (f" of {most}" if most is not None else ""))

    names = [name for name in classifier.get_params() if f"__{name}".endswith("__callback")]
    classifier.set_params(**dict.fromkeys(names, callback if far is not None else None))


def scored(score: HeldOutScore, tell: FeaturesTell) -> list[str]:
    """Return lines that compare a model with guesses that are the same for all items."""
    from complabel.reports import held_out_in_words

    # By label, the order tells more than how likely the answers are.
    more = [] if tell.labels else [f"held-out answers: {held_out_in_words(vars(score))}"]
    return [*tell.lines(), *more]


def verdict(score: HeldOutScore, tell: FeaturesTell) -> str:
    """Return a warning if it is not shown that features help; else an empty text.

    With few answers, nobody knows; with enough, a gain that is worth something would be seen.
    """
    if tell.labels:
        if tell.named(False) or tell.named(True):
            return tell.sentence()
        return "these answers are too few to know what the features tell of any label. Ask more:"
    if score.gain > 2 * score.gain_error:
        return ""
    if score.gain > 0 and not math.isnan(score.gain_error):
        return (
            "these answers are too few to show that the features help: the gain is less than twice"
            " its standard error. Ask more questions:"
        )
    return (
        "on these answers, the model is no better than one guess for all items. Ask more questions,"
        " or give other features:"
    )
