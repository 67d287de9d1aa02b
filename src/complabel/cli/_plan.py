"""`complabel plan`: how many more answers a goal takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from complabel.cli import _options as options
from complabel.cli._console import command, explain, save_json, say, working
from complabel.cli._inputs import Settled, names_in
from complabel.cli._options import argument, option
from complabel.errors import InputError

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
    from complabel.answers import Answers
    from complabel.asking import plan_answers
    from complabel.files import read_item_names

    item_names = None if items is None else read_item_names(items)
    machine: Any = None
    if against:
        machines = reading.machines(against, item_names, label_names, only_yes=only_yes, apart=True)
        machine = [*machines.said.values()]
        item_names, names = machines.item_names, machines.label_names
        people = reading.people(answers, machines) if answers else None
    else:
        names = list(names_in(label_names) or ())
        people = reading.answers(answers, item_names, label_names) if answers else None
    if guess is not None and (against or answers):
        raise InputError(
            "--guess is given beside ANSWERS or --against, which tell more; leave it out"
        )
    if people is None:
        if not item_names or not names:
            raise InputError(
                "nothing says which items and labels there are: give --items and --label-names,"
                " answers so far, or --against"
            )
        people = Answers.from_table({"item": [], "label": []}, items=item_names, label_names=names)
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
