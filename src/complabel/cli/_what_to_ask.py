"""Which questions `complabel ask` draws: at random, about a model, or about machines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel._questions import kinds_in_words
from complabel.cli import _options as options
from complabel.cli._console import command, explain, say, working
from complabel.cli._inputs import Before, Settled, names_in, read_own_features
from complabel.cli._options import flag, option
from complabel.cli._outputs import unused
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers

_MOST_NAMES = 5  # in a message
_ONLY_FEATURES = (
    "--to-evaluate asks yes or no about the labels of the model, by the features of items without"
    " an answer: give --features, and leave out --question, --label-names, --annotator, --until,"
    " --all-known and --all-items"
)
_ONLY_MACHINE = (
    "--against asks about a machine's answers, with --question asked, ticked or ticked-M: leave out"
    " --to-evaluate, --figure, --until, --all-known, --all-items and --features; --items names all"
    " items"
)
# Questions if no number is given, and with a machine: in the first round, and in later ones.
_USUAL, _FIRST, _LATER = 200, 80, 60
_AFTER_OTHERS = 0.5  # of these, if there are answers of earlier months


@dataclass(frozen=True)
class Drawn:
    """Questions in the order in which they are asked, all labels, and what to do with answers."""

    table: Any
    labels: Sequence[str] | None
    then: Callable[[Path], str]


@dataclass(kw_only=True)
class Known(Settled):
    """What all kinds of questions need: answers so far, and files that list items and labels."""

    features: Path | None = option(
        "FILE",
        "Features of all items, with or without an answer. [default: ask only about the"
        " items in ANSWERS]",
    )
    items: Path | None = option(
        "FILE",
        "With --features: the item of each of its rows, one on each line. Without: all"
        " items, one on each line, or a table with the column item.",
    )
    label_names: Path | None = options.LABEL_NAMES
    seed: int = option("N", "Seed of the random questions.", default=0, min=0)
    files: list[Path] = field(default_factory=list, init=False)

    def known_items(self) -> list[str] | None:
        """Return all items; None: those that the answers mention."""
        from complabel.files import read_item_names

        if self.features is not None:
            return list(read_own_features(self.features, self.items).items)
        return None if self.items is None else read_item_names(self.items)

    def so_far(self, items: list[str] | None, label_names: Path | Sequence[str] | None) -> Answers:
        """Return all answers so far; there may be none."""
        if self.files:
            return self.answers(self.files, items, label_names)
        labels = names_in(label_names)
        if items is None or labels is None:
            lacking = ["--label-names"] * (labels is None)
            lacking += ["--features or --items"] * (not items)
            raise InputError(
                "there are no answers yet, so the items and the labels are not known: also give"
                f" {' and '.join(lacking)}"
            )
        say(f"no answers yet: {len(items):,} items, {len(labels)} labels")
        return _no_answers(items, labels)

    def then(self, name: str, *words: object, out: str | None = None, **more: object) -> str:
        """Return a command that reads the answers, too."""
        of = {**more, "label_names": self.label_names, **self.typed()}
        return f"  {command(name, *words, **of, out=out)}"

    def fit(self, answered: Path) -> str:
        """Say how to learn from the answers."""
        words, out = (*self.files, answered), "model.safetensors"
        if self.features is None:
            fit = self.then("fit", *words, features="X.csv", out=out)
            return f"and, with features of these items in X.csv,\n{fit}"
        return self.then("fit", *words, features=self.features, items=self.items, out=out)


def _no_answers(items: Sequence[str], labels: Sequence[str]) -> Answers:
    from complabel.answers import Answers

    return Answers.from_table({"item": [], "label": []}, items=items, label_names=labels)


@dataclass(kw_only=True)
class AtRandom:
    """Questions about random labels that are not known."""

    n: int | None = option(
        "N",
        "Number of questions. [default: 200; with --against 80 at first, and 60 in later rounds"
        " or of questions to tick; with --before half of these]",
        "-n",
        "--number",
        min=1,
    )
    all_items: bool = flag(
        "Ask about all items, or with --question asked about all pairs of an item and a label.",
        "--all-items",
    )
    until: list[str] | None = option(
        "GOAL",
        "Ask no more than this needs, by ANSWERS so far: frequencies +-.03, or another number, for"
        " the frequency of each label.",
    )
    question: str = option("QUESTION", f"What to ask. {kinds_in_words()}", default="asked")
    annotator: str | None = option(
        "NAME",
        "Who will answer. What NAME said in ANSWERS is not asked again; its share of the random"
        " sample is written, with NAME. [default: all pairs of an item and a label may be asked"
        " about, whatever others or a machine said of them]",
    )
    all_known: bool = flag(
        "The same for everything in ANSWERS, whoever said it: if all of it is right, such as rules"
        " that never err.",
        "--all-known",
    )

    def draw(self, inputs: Known) -> Drawn:
        """Draw questions; with goals, no more than these need, and none if all are reached."""
        from complabel.asking import suggest_questions

        answers = inputs.so_far(inputs.known_items(), inputs.label_names)
        known_answers = self._known(answers)
        n = None if self.all_items else self.n or _USUAL
        if n is None:
            n_known = int((known_answers.complementary ^ known_answers.known_relevant).sum())
            n_pairs = known_answers.n_items * known_answers.n_labels
            n = known_answers.n_items if self.question != "asked" else n_pairs - n_known
        if self.until:
            n = min(n, self._left(answers))
            if not n:
                say("each goal is reached: nothing more has to be asked, and nothing was written")
                raise SystemExit(0)
        table = suggest_questions(known_answers, n, kind=self.question, random_state=inputs.seed)
        return Drawn(table, known_answers.label_names, inputs.fit)

    def _known(self, answers: Answers) -> Answers:
        """Return what the person who will answer said; nothing, if it is not said who that is."""
        if self.all_known and self.annotator is not None:
            raise InputError("--annotator is given with --all-known; leave one of them out")
        if self.all_known:
            return answers
        if self.annotator is None:
            if answers.n_answers:
                explain(
                    f"{answers.n_answers:,} earlier answers do not count as those of the person who"
                    " is asked: give --annotator NAME if some do, or --all-known if all are right"
                )
            return answers.only(answers.annotator < -1)  # none
        if answers.n_answers and self.annotator not in answers.annotator_names:
            names = ", ".join(map(repr, answers.annotator_names[:_MOST_NAMES])) or "nobody"
            raise InputError(
                f"--annotator {self.annotator}: the answers are by {names}; give one of these"
                " names, or leave the option out if this person did not answer before"
            )
        code = [*answers.annotator_names, self.annotator].index(self.annotator)
        return answers.only(answers.annotator == code)

    def _left(self, answers: Answers) -> int:
        """Say how far goals are; return how many questions are enough with a chance of .9."""
        from complabel._questions import QuestionKind
        from complabel.trust import FREQUENCIES, Goal, how_far, questions_left

        left, goals = 0.0, [Goal.parse(text) for text in self.until or ()]
        for goal in goals:
            if goal.figure != FREQUENCIES:
                raise InputError(
                    f"--until {goal}: ask knows only frequencies, such as frequencies +-.03; for"
                    " others use complabel annotate, or complabel.trust.how_far in Python"
                )
        kind = QuestionKind.parse(self.question, answers.n_labels)
        goals[0].refuse_question(kind)
        for standing in how_far(answers, goals):
            say(f"{'reached' if standing.is_reached else 'not reached'}: {standing.goal}")
            say(f"  {standing.sentence()}")
            low, _, high = questions_left(standing, kind.n_offered(answers.n_labels))
            if not standing.is_reached:
                say(f"  it takes {low:,.0f} to {high:,.0f} more questions in 8 of 10 cases")
            left = max(left, high)
        return int(left)


@dataclass(kw_only=True)
class AboutModel:
    """Questions whose answers tell most about a model."""

    to_evaluate: Path | None = option(
        "MODEL",
        "With --features: ask what tells most about how good this model is, about items without an"
        " answer in ANSWERS. Give all answers that it learned from.",
    )
    figure: str | None = option(
        "FIGURE",
        "With --to-evaluate: what the answers shall tell about, over all labels: f1, precision,"
        " recall or average-precision. [default: f1]",
        **options.one_of("f1", "precision", "recall", "average-precision"),
    )

    def draw(self, inputs: Known, n: int) -> Drawn:
        """Draw questions; say about which items."""
        from complabel.methods import SavedModel
        from complabel.trust import suggest_evaluation_questions

        if self.to_evaluate is None:
            raise InputError("--figure is given without --to-evaluate; also give the model")
        if inputs.features is None or inputs.label_names is not None:
            raise InputError(_ONLY_FEATURES)
        model = SavedModel.open(self.to_evaluate)
        features = read_own_features(inputs.features, inputs.items, model=model)
        answers = inputs.so_far(list(features.items), model.label_names)
        n_answered, classifier = int(answers.answered.sum()), model.classifier
        with working(f"predicting {answers.n_items:,} items"):
            probabilities = classifier.predict_proba(model.columns_of(features))
        explain(
            f"{answers.n_items - n_answered:,} items without an answer may be drawn; {n_answered:,}"
            " with an answer are left out, since the model may have learned from them"
        )
        table = suggest_evaluation_questions(
            answers,
            probabilities,
            n,
            figure=(self.figure or "f1").replace("-", "_"),
            threshold=getattr(classifier, "thresholds_", math.nextafter(classifier.cut, 1)),
            random_state=inputs.seed,
        )

        def evaluate(answered: Path) -> str:
            """Return the command that evaluates a model; say which items it is about."""
            about: list[Path | None] = [inputs.features, inputs.items]
            if n_answered:  # the figures are those of the items that could be drawn
                about = [each and each.with_name(f"unanswered-{each.name}") for each in about]
                say(
                    f"to evaluate, make {' and '.join(str(each) for each in about if each)} first:"
                    " without the items that have an answer, which could not be drawn"
                )
            of: Any = {"items": about[1], "answers": answered}
            return f"  {command('evaluate', self.to_evaluate, about[0], **of)}"

        return Drawn(table, answers.label_names, evaluate)


@dataclass(kw_only=True)
class AboutMachines(Before):
    """Questions by what machines say: a number of them, or the first or the next round."""

    against: list[Path] | None = option(
        "FILE",
        "Table of a machine's answers; repeat for several machines. Ask about random pairs of which"
        " it says yes, and of which it says no, half of them each. If ANSWERS has people's answers"
        " to earlier questions of this kind, the next round goes where it tells most. With"
        " --question ticked, people tick all labels of items, drawn by what it says of these."
        " Nothing that the machine said is shown.",
    )
    only_yes: bool = options.ONLY_YES

    def draw(self, inputs: Known, n: int | None, kind: str) -> Drawn:
        """Draw questions about pairs of which the machines say something, or about items."""
        from complabel.asking import suggest_questions

        first, *others = self.against or []
        files = inputs.files
        machines = inputs.machines(
            [first, *others],
            inputs.known_items(),
            inputs.label_names,
            only_yes=self.only_yes,
            apart=True,
        )
        people = _no_answers(machines.item_names, machines.label_names)
        if files:
            people = inputs.people(files, machines)
        unsure = inputs.unsure(files, people)[:2] if files else None
        months = self.months(inputs, only_yes=self.only_yes)
        most = people.n_items * (people.n_labels if kind == "asked" else 1)
        size = n or self._size(bool(files) or kind != "asked", most)
        of: Any = {"against": [*machines.said.values()], "random_state": inputs.seed, "kind": kind}
        of["before"] = months
        table = suggest_questions(people, size, unsure=unsure, **of)

        later = round(_LATER * (_AFTER_OTHERS if self.before else 1))

        def then(answered: Path) -> str:
            html, words = unused(Path("audit.html")), (first, *files, answered)
            of: Any = {"items": inputs.items, "only_yes": self.only_yes}
            of["before"] = self.pairs
            audit = inputs.then("audit", *words, other=others, **of, html=html)
            if n or files:
                return audit
            more = inputs.then("ask", answered, against=[first, *others], **of, out="more.csv")
            return (
                f"this is the first round: the next one, of {later}, goes where answers tell most"
                f"\n{more}\nwhat is known so far:\n{audit}"
            )

        return Drawn(table, people.label_names, then)

    def _size(self, is_later: bool, most: int) -> int:
        """Return how many questions there are if nobody says it; say if they are fewer."""
        usual = _LATER if is_later else _FIRST
        if not self.before:
            return min(usual, most)
        size = min(round(usual * _AFTER_OTHERS), most)
        say(
            f"{size} questions in place of {min(usual, most)}: the answers of {self.before[1].name}"
            " count, too, as far as the new ones agree with them"
        )
        return size


def drawn_for(
    known: Known, at_random: AtRandom, about_model: AboutModel, about_machines: AboutMachines
) -> Drawn:
    """Draw questions of one kind; refuse options of the other kinds."""
    n, kind = at_random.n, at_random.question
    of_model = about_model.to_evaluate is not None or about_model.figure is not None
    whole = at_random.all_known or at_random.all_items
    if about_machines.against:
        if of_model or known.features or whole or at_random.until:
            raise InputError(_ONLY_MACHINE)
        return about_machines.draw(known, n, kind)
    if of_model:
        if at_random.annotator is not None or whole or at_random.until or kind != "asked":
            raise InputError(_ONLY_FEATURES)
        return about_model.draw(known, n or _USUAL)
    return at_random.draw(known)
