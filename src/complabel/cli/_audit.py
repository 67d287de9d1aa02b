"""`complabel audit`: for which labels may a machine's answers be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli import _options as options
from complabel.cli._console import command, explain, save, save_json, say, show_rows, working
from complabel.cli._inputs import Settled
from complabel.cli._options import argument, option

if TYPE_CHECKING:
    from complabel.frequencies import MachineAudit, MachineFiles

_MOST_LABELS = 30


@options.with_examples(
    "audit machine.csv people.csv",
    "audit machine.csv people.csv more.csv --items tickets.csv --html audit.html",
    "audit machine.csv people.csv --other second.csv",
    "audit judge-a.csv people-a.csv --versus judge-b.csv people-b.csv",
)
def audit(
    machine: Path = argument(
        "MACHINE",
        "Table of the machine's answers, yes or no about each item and label; or of probabilities,"
        " with the column item and a column for each label.",
    ),
    answers: list[Path] = argument(
        "ANSWERS",
        "Tables of people's answers to questions of complabel ask --against, or to random ones.",
    ),
    *,
    other: list[Path] | None = option(
        "FILE",
        "Table of another machine, or of another prompt; repeat for more. What all of them say is"
        " taken together, and each one's precision and recall are shown. If several annotators"
        " of a table answer the same pairs, each is a machine.",
    ),
    versus: tuple[Path, Path] | None = option(
        "MACHINE ANSWERS",
        "Tables about another system's answers to the same items: what the machine says of them,"
        " and people. Each label's frequency is compared.",
    ),
    least: float = options.share(
        "The precision and the recall that a label needs to be used.", default=0.8
    ),
    missed: float = options.share("How often people say no about a label that applies."),
    invented: float = options.share("How often people say yes about a label that does not apply."),
    items: Path | None = option(
        "FILE",
        "All items: one on each line, or a table with the column item. [default: those that MACHINE"
        " mentions]",
    ),
    only_yes: bool = options.ONLY_YES,
    label_names: Path | None = options.LABEL_NAMES,
    reading: Settled,
    html: Path | None = options.target("Also write a web page to this file.", page=True),
    json_file: Path | None = options.JSON_FILE,
) -> None:
    """Say for which labels a machine's answers may be used, by a few answers of people.

    A table has the frequency of each label, and the machine's precision and recall, with
    intervals. A label can be used if both are at least --least with a probability of .8. If two
    people answered the same pairs, they are compared with each other and with the machine.
    """
    from complabel.files import read_item_names
    from complabel.reports import agreement, audit_headline, audit_sentences, render_audit

    files = [machine, *(other or ())]
    names_of_items = None if items is None else read_item_names(items)
    about: Any = {"missed": missed, "invented": invented, "least": least}
    setup = _Setup(reading, {"items": names_of_items, "only_yes": only_yes}, about)
    machines, audited, n_unsure = setup.audit(files, answers, label_names=label_names, apart=True)
    scores, *more_scores = machines.said.values()
    names = [*machines.said][1:]
    others = dict(zip(names, audited.others, strict=True))
    agreements = {
        name: agreement(scores, each) for name, each in zip(names, more_scores, strict=True)
    }
    sentences = audit_sentences(audited, scores, n_unsure, agreements, others)
    sentences += _second_person(machines, answers, scores, reading)
    say(f"{audit_headline(audited)}.")
    for sentence in sentences:
        say(f"  {sentence}.")
    _show_labels(audited)
    if versus is not None:
        say("\n  ".join(setup.compare(machines, audited, machine, *versus)))
    explain(
        "Intervals of 95 %. A label is good enough if its precision and its recall are at least"
        f" {least:g}, with a probability of .8 or more. More: so many more answers about the"
        " label halve the interval of how often it applies."
    )
    if html is not None:
        save(html, render_audit(audited, sentences, agreements=agreements, others=others))
    save_json(json_file, audited.as_dict() | {"others": _as_json(agreements, others)})
    chosen = {"only_yes": only_yes, "label_names": label_names, **reading.typed()}
    more = command("ask", *answers, against=files, items=items, **chosen, out="more.csv")
    say(f"next: to know more, ask where an answer tells most\n  {more}")
    to = {"machine": machine, "features": "X.npz", "out": "model.safetensors"}
    fit = command("fit", *answers, **chosen, **to)  # the features have the items
    say(f"or learn from both, if there are features of the items\n  {fit}")


@dataclass(frozen=True)
class _Setup:
    """How tables are read, and what is known of people."""

    reading: Settled
    known: Mapping[str, Any]
    about: Mapping[str, Any]

    def audit(
        self, files: list[Path], answers: list[Path], **more: Any
    ) -> tuple[MachineFiles, MachineAudit, int]:
        """Return what machines say, how good it is, and how often people were unsure."""
        from complabel.frequencies import about_the_others, audit_machine, by_machine

        machines = self.reading.machines(files, **self.known, **more)
        people = self.reading.people(answers, machines)
        unsure = self.reading.unsure(answers, people)
        if left := about_the_others(people.only(~by_machine(people))):
            say(f"  {left}; they do not count")
        with working("comparing people's answers with the machine's"):
            scores = [*machines.said.values()]
            audited = audit_machine(people, scores, unsure=unsure[:2], **self.about)
        return machines, audited, len(unsure[0])

    def compare(
        self, machines: MachineFiles, audited: MachineAudit, first: Path, b: Path, answers: Path
    ) -> list[str]:
        """Say how much more often labels apply than to another system's items."""
        from complabel.frequencies import compare_audits

        second, other, _ = self.audit([b], [answers], label_names=machines.label_names)
        second.refuse_other_items(b, machines)
        return [f"{first} less {b}:", *compare_audits(audited, other).lines()]


def _second_person(
    machines: MachineFiles, answers: list[Path], scores: Any, reading: Settled
) -> list[str]:
    """Compare the machine with a second person, if two people answered some of the same pairs."""
    from complabel.frequencies import answered_twice, compare_with_second_person

    rules: Any = {"question": reading.read_as, "contradictions": "keep"}
    people = machines.read_people(answers, **rules).answers
    return compare_with_second_person(people, scores).lines() if answered_twice(people) else []


def _as_json(
    agreements: Mapping[str, tuple[Any, Any]], others: Mapping[str, MachineAudit]
) -> dict[str, Any]:
    """Return what is known of other machines: of each label, and last of all pairs."""
    return {
        name: {
            "same": [None if each != each else each for each in same.tolist()],
            "kappa": [None if each != each else each for each in kappa.tolist()],
            "audit": others[name].as_dict() if name in others else None,
        }
        for name, (same, kappa) in agreements.items()
    }


def _show_labels(audited: MachineAudit) -> None:
    from complabel.reports import verdicts

    numbers = ["applies to", "machine", "precision", "recall", "asked", "more"]
    words, rows = verdicts(audited), []
    for at in audited.good.argsort(kind="stable").tolist():
        applies = (audited.frequencies.values[at], *audited.frequencies.intervals[at])
        cells = (
            words[at],
            _percent(*applies, digits=1),
            _percent(audited.machine_shares[at], digits=1),
            _percent(audited.precision.values[at], *audited.precision.intervals[at]),
            _percent(audited.recall.values[at], *audited.recall.intervals[at]),
            f"{audited.n_asked[:, at].sum():,}",
            f"{audited.n_more[at]:,}",
        )
        rows.append([audited.label_names[at], *cells])
    show_rows("", "label", ["", *numbers], rows, _MOST_LABELS)


def _percent(value: float, *ends: float, digits: int = 0) -> str:
    if value != value:
        return "-"
    interval = " to ".join(f"{100 * end:.{digits}f}" for end in ends)
    return f"{100 * value:.{digits}f} %{f' ({interval})' * bool(ends)}"
