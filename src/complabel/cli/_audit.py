"""`complabel audit`: for which labels may a machine's answers be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli import _options as options
from complabel.cli._console import (
    command,
    explain,
    remark,
    save,
    save_json,
    say,
    show_rows,
    working,
)
from complabel.cli._inputs import Before, Settled
from complabel.cli._options import argument, flag, option

if TYPE_CHECKING:
    from complabel.answers import Answers
    from complabel.frequencies import MachineAudit, MachineFiles

_MOST_LABELS = 30
_NOT_USABLE = 2
_CHECK = flag(
    "For scripts: end with the exit code 0 if all labels can be used, 2 if some cannot or it is not"
    " known yet. An error is 1. Without --check, the code is 0 whatever was found.",
    "--check",
)


@dataclass(kw_only=True)
class Earlier(Before):
    """Earlier months, and what changed since."""

    same_items: bool = flag(
        "With --before: items of one name in both months are one item, so they tell whether the"
        " machine changed.",
        "--same-items",
    )

    @property
    def since(self) -> str:
        """The name of the latest month, if there is one."""
        return self.before[0].name if self.before else ""

    def read(self, reading: Settled, *, only_yes: bool) -> dict[str, Any]:
        """Return what ``audit_machine`` takes of the months."""
        months = self.months(reading, only_yes=only_yes)
        return {"before": months, "same_items": self.same_items}

    def show(self, audited: MachineAudit) -> None:
        """Print by how much the figures of labels changed."""
        from complabel.reports import CHANGED, change_rows

        if audited.changes is not None:
            rows = change_rows(audited)
            show_rows(f"since {self.since}", "label", CHANGED, rows, _MOST_LABELS)


@options.with_examples(
    "audit machine.csv people.csv",
    "audit machine.csv people.csv more.csv --items tickets.csv --html audit.html",
    "audit machine.csv people.csv --other second.csv",
    "audit judge-a.csv people-a.csv --versus judge-b.csv people-b.csv",
    "audit february.csv answers-feb.csv --before january.csv answers-jan.csv",
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
    earlier: Earlier,
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
    check: bool = _CHECK,
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
    how: Any = {"label_names": label_names, "apart": True}
    machines, audited, n_unsure = setup.audit(files, answers, earlier, **how)
    scores, *more_scores = machines.said.values()
    names = [*machines.said][1:]
    others = dict(zip(names, audited.others, strict=True))
    agreements = {
        name: agreement(scores, each) for name, each in zip(names, more_scores, strict=True)
    }
    besides: Any = {"agreements": agreements, "others": others, "since": earlier.since}
    sentences = audit_sentences(audited, scores, n_unsure, **besides)
    sentences += _second_person(machines, answers, scores, reading)
    say(f"{audit_headline(audited)}.")
    for sentence in sentences:
        say(f"  {sentence}.")
    _show_labels(audited)
    if versus is not None:
        say("\n  ".join(setup.compare(machines, audited, machine, *versus)))
    earlier.show(audited)
    if html is not None:
        save(html, render_audit(audited, sentences, **besides))
    save_json(json_file, audited.as_dict() | {"others": _as_json(agreements, others)})
    chosen: Any = {"only_yes": only_yes, "label_names": label_names, **reading.typed()}
    asks: Any = {"against": files, "before": earlier.pairs, "items": items}
    _say_next(machine, answers, asks, chosen)
    if check and not audited.usable.all():
        raise SystemExit(_NOT_USABLE)


def _say_next(
    machine: Path, answers: list[Path], asks: dict[str, Any], chosen: dict[str, Any]
) -> None:
    more = command("ask", *answers, **asks, **chosen, out="more.csv")
    say(f"next: to know more, ask where an answer tells most\n  {more}")
    to: Any = {"machine": machine, "features": "X.npz", "out": "model.safetensors"}
    fit = command("fit", *answers, **chosen, **to)  # the features have the items
    say(f"or learn from both, if there are features of the items\n  {fit}")


@dataclass(frozen=True)
class _Setup:
    """How tables are read, and what is known of people."""

    reading: Settled
    known: Mapping[str, Any]
    about: Mapping[str, Any]

    def audit(
        self, files: list[Path], answers: list[Path], earlier: Earlier | None = None, **more: Any
    ) -> tuple[MachineFiles, MachineAudit, int]:
        """Return what machines say, how good it is, and how often people were unsure."""
        from complabel.frequencies import about_the_others, audit_machine, by_machine

        machines = self.reading.machines(files, **self.known, **more)
        people = self.reading.people(answers, machines)
        unsure = self.reading.unsure(answers, people)
        if left := about_the_others(people.only(~by_machine(people))):
            say(f"  {left}; they do not count")
        scores, about = [*machines.said.values()], {**self.about}
        _doubt_other_machines(people, scores)
        if earlier is not None:
            about |= earlier.read(self.reading, only_yes=self.known["only_yes"])
        with working("comparing people's answers with the machine's"):
            audited = audit_machine(people, scores, unsure=unsure[:2], **about)
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


def _doubt_other_machines(people: Answers, machines: Sequence[Any]) -> None:
    from complabel.frequencies import drawn_by_others

    if strange := drawn_by_others(people, machines):
        remark(
            f"{strange:,} answers were drawn by what another machine says. Of a month with other"
            " items, though of the same names, give them with --before instead"
        )


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
    explain(
        "Intervals of 95 %. A label is good enough if its precision and its recall are at least"
        f" {audited.least:g}, with a probability of .8 or more. More: so many more answers about"
        " the label halve the interval of how often it applies."
    )


def _percent(value: float, *ends: float, digits: int = 0) -> str:
    if value != value:
        return "-"
    interval = " to ".join(f"{100 * end:.{digits}f}" for end in ends)
    return f"{100 * value:.{digits}f} %{f' ({interval})' * bool(ends)}"
