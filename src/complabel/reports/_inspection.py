"""The findings about answers, as lines for a terminal and as a page with charts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from complabel import __version__
from complabel._opening import StrPath
from complabel._questions import KINDS
from complabel._writing import write_text
from complabel.asking import DEPENDS, Finding, Inspection, LabelSummary
from complabel.reports._templates import get_template, top_of_scale

_SIGNS = {"problem": "✗", "warning": "!", "note": "·"}

_MOST_LABELS = 20
_MOST_ANNOTATORS = 10
_NAME = 24
# Most lines of a chart; nobody can read a chart with a thousand.
_DRAWN_LABELS = 60
_DRAWN_ANNOTATORS = 40
_DRAWN_CONTRADICTIONS = _DRAWN_DOUBTFUL = 20

_KINDS = {  # what answers say about a label, in the order of the stacked bars
    "named": "named: does not apply, chosen by somebody",
    "excluded": "excluded by a rule",
    "absent": "judged: does not apply",
    "relevant": "applies",
}


def render_inspection(
    inspection: Inspection,
    *,
    people: Mapping[str, Any] | None = None,
    doubtful: Mapping[str, Any] | None = None,
    found_by: str = "",
    told: Sequence[str] = (),
) -> str:
    """Render the findings as one HTML page without external files.

    Parameters are those of :func:`write_inspection_page`.
    """
    labels = _labels_by_answers(inspection, _DRAWN_LABELS)
    kinds = {
        kind: text
        for kind, text in _KINDS.items()
        if any(getattr(label, kind) for label in inspection.labels)
    }
    return get_template("inspection.html.j2").render(
        seen=inspection,
        headline=_headline(inspection),
        questions=_about_questions(inspection),
        frequencies=_about_frequencies(inspection),
        agreement=_about_agreement(inspection) if inspection.agreement is not None else "",
        times=_about_times(inspection),
        timed=_timed(inspection),
        labels=labels,
        most=max([label.mentioned for label in labels], default=0) or 1,
        kinds=kinds,
        depends=DEPENDS,
        top=top_of_scale(each.at_most if each.high is None else each.high for each in labels),
        rates=_rates(people or {}, inspection),
        n_judges=0 if people is None else int((people["judged"] > 0).sum()),
        doubtful=_rows(doubtful or {})[:_DRAWN_DOUBTFUL],
        found_by=found_by,
        told=told,
        top_of_scale=top_of_scale,
        annotators=inspection.annotators[:_DRAWN_ANNOTATORS],
        contradictions=inspection.contradictions[:_DRAWN_CONTRADICTIONS],
        signs=_SIGNS,
        complabel=__version__,
    )


def _rates(people: Mapping[str, Any], inspection: Inspection) -> list[dict[str, Any]]:
    """Return a row for each of those who judged most, with the median of their seconds."""
    seconds = {each.annotator: each.seconds for each in inspection.annotators}
    judges = [person for person in _rows(people) if person["judged"]]
    judges.sort(key=lambda person: -person["judged"])
    drawn = judges[:_DRAWN_ANNOTATORS]
    return [each | {"seconds": seconds.get(each["annotator"])} for each in drawn]


def _rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    lists = (np.asarray(column).tolist() for column in columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def write_inspection_page(
    inspection: Inspection,
    path: StrPath,
    *,
    people: Mapping[str, Any] | None = None,
    doubtful: Mapping[str, Any] | None = None,
    found_by: str = "",
    told: Sequence[str] = (),
) -> None:
    """Write the findings as one HTML page; an error leaves an older file unchanged.

    Parameters
    ----------
    inspection : Inspection
    path : path
    people : dict of str to ndarray, optional
        How often people err: what ``annotators_table`` of a classifier returns, or ``people`` of
        :func:`complabel.people.find_consensus`.
    doubtful : dict of str to ndarray, optional
        The answers that are most probably wrong first: what ``doubtful_answers`` of a classifier
        returns, or ``doubtful`` of the consensus. The page shows twenty of them.
    found_by : str, default=""
        A sentence that says how both were found.
    told : sequence of str, default=()
        Lines that say what the features tell: :class:`~complabel.trust.FeaturesTell`.

    Raises
    ------
    InputError
        If Jinja2 or matplotlib is not installed.
    OutputError
        If the file cannot be written.
    """
    about: Any = {"people": people, "doubtful": doubtful, "found_by": found_by, "told": told}
    page = render_inspection(inspection, **about)
    write_text(Path(path), page)


def _headline(inspection: Inspection) -> str:
    seen, step = inspection, inspection.next_step
    n_warnings = sum(each.severity != "note" for each in seen.findings)
    some = f"{seen.n_items - seen.n_unanswered:,} of " if seen.n_unanswered else ""
    answers = (
        f"{seen.n_answers:,} {'answer' if seen.n_answers == 1 else 'answers'} about"
        f" {some}{seen.n_items:,} {'item' if seen.n_items == 1 else 'items'} and"
        f" {seen.n_labels:,} labels"
    )
    if step is None:
        return f"{answers}: ready for a fit."
    several = "one thing" if n_warnings == 1 else f"{n_warnings} things"
    first = "" if n_warnings == 1 else "The first: "
    return f"{answers}: {several} to look at before a fit. {first}{step.title}."


def inspection_lines(inspection: Inspection, width: int = 80) -> list[str]:
    """Return the findings as lines of plain text: what to do next, findings, and their figures.

    Parameters
    ----------
    inspection : Inspection
    width : int, default=80
        Most characters in a line of text, at least 40; commands and tables are not broken.

    Returns
    -------
    list of str
    """
    width = max(width, 40)
    lines = textwrap.wrap(_headline(inspection), width)
    step = inspection.next_step
    if step is not None:
        lines += ["", *textwrap.wrap(f"Next: {step.advice}", width)]
        lines += [f"  {step.command}"] if step.command else []
    for finding in inspection.findings:
        lines += ["", *_finding(finding, width, with_advice=finding is not step)]
    lines += ["", *textwrap.wrap(_about_frequencies(inspection), width)]
    if inspection.agreement is not None:
        lines += textwrap.wrap(_about_agreement(inspection), width)
    lines += [""]
    lines += textwrap.wrap(_about_questions(inspection), width)
    if kinds := _timed(inspection):
        lines += ["", *_table(kinds), *textwrap.wrap(_about_times(inspection), width)]
    lines += ["", *_labels(inspection, width)]
    if inspection.annotators:
        lines += ["", *_annotators(inspection)]
    return [line.rstrip() for line in lines]


def _about_questions(inspection: Inspection) -> str:
    by_question = [f"{count:,} {word}" for word, count in inspection.questions.items()]
    text = f"Answers: {', '.join(by_question) or 'none'}."
    if inspection.n_all_apply:
        text += f" {inspection.n_all_apply:,} say that all other labels shown apply."
    return f"{text} Items without an answer: {inspection.n_unanswered:,}."


def _about_frequencies(inspection: Inspection) -> str:
    known = inspection.knowledge
    if known.cardinality is None or known.error is None:
        return (
            f"How often labels apply is not known ({known.reason}). If all answers are right,"
            f" between {known.at_least:,.2f} and {known.at_most:,.2f} labels apply to an item on"
            " average."
        )
    apart = ", ".join(f"{value:.2f} ± {error:.2f} by {who}" for who, value, error in known.apart)
    return (
        f"Labels that apply to an item: {known.cardinality:.2f} on average, ± {known.error:.2f}"
        f" (one standard error), from {known.reason}."
        + (f" People differ about it: {apart}." if apart else "")
    )


def _about_agreement(inspection: Inspection) -> str:
    agreement = inspection.agreement
    assert agreement is not None
    if inspection.only_says is not None:
        return (
            f"All {agreement.n_judgements:,} judgements of {agreement.n_pairs:,} pairs of item and"
            f" label that several people judged say {inspection.only_says}: nobody could disagree."
        )
    alpha = "" if agreement.alpha is None else f" (Krippendorff's alpha {agreement.alpha:.2f})"
    text = (
        f"Annotators agree in {agreement.observed:.0%} of the cases that several of them"
        f" judged{alpha}: {agreement.n_judgements:,} judgements of {agreement.n_pairs:,} pairs of"
        " item and label."
    )
    if agreement.error_rate is None or agreement.error is None:
        return f"{text} This is no more than by chance."
    return (
        f"{text} If all give answers at random equally often, they do so in"
        f" {agreement.error_rate:.0%} ± {agreement.error:.0%} of their answers."
    )


def _about_times(inspection: Inspection) -> str:
    times, text = inspection.times, ""
    if times is None:
        return text
    if times.looking is not None and times.each is not None:
        text = "The time does not grow with the number of labels on offer."
        if times.each > 0:
            text = (
                f"Looking at an item takes {max(times.looking, 0):.3g} seconds, and judging each"
                f" label {times.each:.2g}, if all kinds of questions are put on one line."
            )
    if times.n_long:
        some = "1 answer" if times.n_long == 1 else f"{times.n_long:,} answers"
        text += f" {some} took over ten times as long as the median; medians do not mind."
    return text.strip()


def _timed(inspection: Inspection) -> dict[str, list[str]]:
    """Return the columns of a table of the kinds of questions that have times, if any."""
    kinds = [kind for kind in inspection.kinds if kind.timed]
    if not kinds:
        return {}
    agreed = [None if kind.agreement is None else kind.agreement.observed for kind in kinds]
    alphas = [None if kind.agreement is None else kind.agreement.alpha for kind in kinds]
    return {
        "question": [KINDS[kind.kind].title for kind in kinds],
        "timed": [f"{kind.timed:,}" for kind in kinds],
        "seconds": [f"{kind.seconds:.3g}" for kind in kinds],
        "middle half": [f"{kind.low:.3g} to {kind.high:.3g}" for kind in kinds],
        "per label": ["" if kind.each is None else f"{kind.each:.2g}" for kind in kinds],
        "agree": [_share(share) for share in agreed],
        "alpha": ["" if alpha is None else f"{alpha:.2f}" for alpha in alphas],
    }


def _labels_by_answers(inspection: Inspection, most: int) -> Sequence[LabelSummary]:
    return sorted(inspection.labels, key=lambda label: -label.mentioned)[:most]


def _finding(finding: Finding, width: int, *, with_advice: bool) -> Iterator[str]:
    yield from textwrap.wrap(
        f"{_SIGNS[finding.severity]} {finding.severity}: {finding.title} [{finding.name}]",
        width,
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    for text in (finding.what, *([f"→ {finding.advice}"] if with_advice else [])):
        yield from textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ")
    if with_advice and finding.command:
        yield f"    {finding.command}"


def _labels(inspection: Inspection, width: int) -> list[str]:
    """Return a table of the labels with the most answers, without empty columns."""
    shown = _labels_by_answers(inspection, _MOST_LABELS)
    columns = {"label": [_short(label.label) for label in shown]}
    for name in ("named", "excluded", "absent", "relevant", "judged"):
        values = [getattr(label, name) for label in shown]
        if any(values):
            columns[name] = [f"{value:,}" for value in values]
    if inspection.knowledge.known:
        columns["applies to"] = [_share(label.frequency) for label in shown]
        columns["95 %"] = [f"{_share(label.low)} to {_share(label.high)}" for label in shown]
        if any(label.exclusion_rate is not None for label in shown):
            columns["excl. rate"] = [_share(label.exclusion_rate) for label in shown]
        if any(label.propensity is not None for label in shown):
            columns["propensity"] = [f"{label.propensity or 0:.2f}" for label in shown]
    else:
        columns["at least"] = [_share(label.at_least) for label in shown]
        columns["at most"] = [_share(label.at_most) for label in shown]
    lines = _table(columns)
    while len(columns) > 2 and max(map(len, lines)) > width:  # the last columns matter most
        del columns[list(columns)[1]]
        lines = _table(columns)
    more = inspection.n_labels - len(shown)
    return [*lines, f"and {more:,} more labels, in fewer answers"] if more > 0 else lines


def _annotators(inspection: Inspection) -> list[str]:
    shown = inspection.annotators[:_MOST_ANNOTATORS]
    columns = {
        "annotator": [_short(each.annotator) for each in shown],
        "answers": [f"{each.answers:,}" for each in shown],
        "seconds": ["" if each.seconds is None else f"{each.seconds:.3g}" for each in shown],
        "says yes": [_share(each.yes_share) for each in shown],
        "agrees": [_share(each.agreement) for each in shown],
        "at random": [_share(each.error_rate) for each in shown],
    }
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    more = len(inspection.annotators) - len(shown)
    return [*_table(columns), *([f"and {more:,} more annotators"] if more > 0 else [])]


def _table(columns: dict[str, list[str]]) -> list[str]:
    """Return the lines of a table; its first column is aligned left, the others right."""
    widths = [max(map(len, [name, *cells])) for name, cells in columns.items()]
    rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _short(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"
