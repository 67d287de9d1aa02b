"""`complabel audit`: for which labels may a machine's answers be used."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from complabel.cli import _options as options
from complabel.cli import _own as own
from complabel.cli._console import command, explain, new_table, save, save_json, say, show, working
from complabel.cli._options import argument, option

_MOST_LABELS = 30


@options.with_examples(
    "audit machine.csv people.csv",
    "audit machine.csv people.csv more.csv --html audit.html",
)
def audit(
    machine: Path = argument(
        "MACHINE", "Table of the machine's answers: yes or no about each item and label."
    ),
    answers: list[Path] = argument(
        "ANSWERS",
        "Tables of people's answers to questions of complabel ask --against, or to random ones.",
    ),
    *,
    least: float = options.share(
        "The precision and the recall that a label needs to be used.", default=0.8
    ),
    missed: float = options.share(
        "How often people say no about a label that applies.", metavar="P"
    ),
    invented: float = options.share(
        "How often people say yes about a label that does not apply.", metavar="P"
    ),
    items: Path | None = option(
        "FILE", "All items, one on each line. [default: those that MACHINE mentions]"
    ),
    label_names: Path | None = options.LABEL_NAMES,
    question: str | None = options.QUESTION,
    contradictions: str = options.CONTRADICTIONS,
    html: Path | None = options.target("Also write a web page to this file.", page=True),
    json_file: Path | None = options.JSON_FILE,
) -> None:
    """Say for which labels a machine's answers may be used, by a few answers of people.

    A table has the frequency of each label, and the machine's precision and recall, with
    intervals. A label can be used if both are at least --least with a probability of .8.
    """
    from complabel.files import read_item_names
    from complabel.frequencies import audit_machine
    from complabel.reports import audit_headline, audit_sentences

    known = None if items is None else read_item_names(items)
    of_machine, said = own.read_machine(machine, known, label_names, question, contradictions)
    names = of_machine.item_names
    people = own.read_own_answers(
        answers,
        list(names if names is not None else ()),
        list(of_machine.label_names or ()),
        question,
        contradictions,
    )
    unsure = own.unsure_about(answers, people, question)
    with working("comparing people's answers with the machine's"):
        rates = {"missed": missed, "invented": invented, "unsure": unsure}
        found = audit_machine(people, said, **rates, least=least)
    say(f"{audit_headline(found)}.")
    for sentence in audit_sentences(found, float(found.as_dict()["machine_cardinality"])):
        say(f"  {sentence}.")
    _show_labels(found)
    explain(
        "Intervals of 95 %. A label is good enough if its precision and its recall are at least"
        f" {least:g}, with a probability of .8 or more."
    )
    if html is not None:
        from complabel.reports import render_audit

        save(html, render_audit(found))
    save_json(json_file, found.as_dict())
    more = command("ask", *answers, against=machine, n=60, out="more.csv").replace("--n ", "-n ")
    say(f"next: to know more, ask where an answer tells most\n  {more}")
    fit = command("fit", *answers, machine=machine, features="X.npz", out="model.safetensors")
    say(f"or learn from both, if there are features of the items\n  {fit}")


def _show_labels(found: object) -> None:
    from complabel.frequencies import MachineAudit
    from complabel.reports import verdicts

    assert isinstance(found, MachineAudit)
    numbers = ["applies to", "machine", "precision", "recall", "asked"]
    table = new_table("", "label", "", numbers=numbers)
    words = verdicts(found)
    for at in found.good.argsort(kind="stable")[:_MOST_LABELS].tolist():
        low, high = found.frequencies.intervals[at]
        table.add_row(
            Text(found.label_names[at]),
            words[at],
            f"{found.frequencies.values[at]:.3f} ({low:.3f} to {high:.3f})",
            _share(found.machine_shares[at]),
            _with_ends(found.precision.values[at], *found.precision.intervals[at]),
            _with_ends(found.recall.values[at], *found.recall.intervals[at]),
            f"{found.n_asked[:, at].sum():,}",
        )
    show(table)
    if len(words) > _MOST_LABELS:
        say(f"{len(words) - _MOST_LABELS:,} more labels are not shown; --json FILE writes them")


def _share(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"


def _with_ends(value: float, low: float, high: float) -> str:
    return "-" if value != value else f"{value:.2f} ({low:.2f} to {high:.2f})"
