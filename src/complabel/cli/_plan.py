"""`complabel plan`: how many more answers a goal takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli import _options as options
from complabel.cli._console import command, explain, save_json, say, working
from complabel.cli._inputs import Settled, names_in
from complabel.cli._options import argument, option
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.answers import Answers

_AT_ONCE = 200


@options.with_examples(
    "plan people.csv --against machine.csv --items tickets.csv",
    "plan answers.csv --items tickets.csv --within .05 --within .03",
    "plan --items tickets.csv --label-names labels.txt --guess .1",
)
def plan(
    answers: list[Path] | None = argument(
        "[ANSWERS]",
        "Tables of people's answers so far, yes or no to random questions or to questions of"
        " complabel ask --against. Some 50 are enough for a forecast.",
        default=None,
    ),
    *,
    against: list[Path] | None = option(
        "FILE",
        "Table of a machine's answers; repeat for several machines. The questions that are counted"
        " are about these.",
    ),
    items: Path | None = option(
        "FILE",
        "All items: one on each line, or a table with the column item. [default: those that the"
        " machine or the answers mention]",
    ),
    within: list[float] | None = option(
        "HALF",
        "A goal: half of the interval of 95 % of each label's frequency; repeat for more. [default:"
        " .1, .05, .03 and .02]",
        min=0.001,
        max=0.999,
    ),
    guess: float | None = options.share(
        "Without ANSWERS and --against: about how often a label applies.", default=None
    ),
    only_yes: bool = options.ONLY_YES,
    label_names: Path | None = options.LABEL_NAMES,
    reading: Settled,
    json_file: Path | None = options.JSON_FILE,
) -> None:
    """Say how many more answers it takes until the frequency of every label is known well.

    It counts yes or no questions, and items of which all labels are ticked. With a machine's
    labels, it also says of how many labels you will know whether you can use them.
    """
    from complabel.asking import plan_answers

    if guess is not None and (against or answers):
        raise InputError(
            "--guess is given beside ANSWERS or --against, which tell more; leave it out"
        )
    people, machine = _read(answers, against, items, label_names, reading, only_yes)
    of: Any = {"within": within} if within else {}
    with working("forecasting"):
        forecast = plan_answers(people, machine, guess=guess, **of)
    say("\n".join(forecast.lines()))
    explain(
        "Numbers in brackets are intervals of 95 %. They are wide after few answers: forecast again"
        " after the next ones."
    )
    save_json(json_file, forecast.as_dict())
    n = min(max(forecast.goals[-1].questions[0], 1), _AT_ONCE)
    chosen = {"label_names": label_names, **reading.typed()}
    ask = command(
        "ask",
        *(answers or ()),
        against=against,
        items=items,
        **chosen,
        number=n,
        out="questions.csv",
    )
    say(f"next: {ask}")


def _read(
    answers: list[Path] | None,
    against: list[Path] | None,
    items: Path | None,
    label_names: Path | None,
    reading: Settled,
    only_yes: bool,
) -> tuple[Answers, Any]:
    """Return people's answers so far, of which there may be none, and what machines say."""
    from complabel.answers import Answers
    from complabel.files import read_item_names

    machine: Any = None
    item_names = None if items is None else read_item_names(items)
    names: Sequence[str] = names_in(label_names) or ()
    if against:
        machines = reading.machines(against, item_names, label_names, only_yes=only_yes, apart=True)
        machine = [*machines.said.values()]
        item_names, names = machines.item_names, machines.label_names
        if answers:
            return reading.people(answers, machines), machine
    elif answers:
        return reading.answers(answers, item_names, label_names), machine
    if not item_names or not names:
        raise InputError(
            "nothing says which items and labels there are: give --items and --label-names, answers"
            " so far, or --against"
        )
    nothing: Any = {"item": [], "label": []}
    return Answers.from_table(nothing, items=item_names, label_names=names), machine
