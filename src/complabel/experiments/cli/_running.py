"""A run of a plan on the terminal: its progress, what failed, and the result."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from rich import progress
from rich.table import Table
from rich.text import Text

from complabel._writing import behind_links, explained
from complabel.cli import (
    Log,
    command,
    complain,
    duration,
    errors,
    has_written,
    is_own_page,
    may_replace,
    new_table,
    output,
    refuse_no_folder,
    refuse_odd,
    remark,
    say,
    show,
    try_to_write,
    unused,
)
from complabel.errors import InputError, OutputError, StoreError
from complabel.experiments.cli import _options as options
from complabel.experiments.datasets import describe_datasets
from complabel.experiments.reports import FORMATS, refuse_without_libraries, write_report
from complabel.experiments.studies import (
    Monitor,
    Outcome,
    Plan,
    Store,
    StudyResults,
    Unit,
    plan_units,
    read_plan,
    run_study,
)

_CRITERION = "average_precision"
_NONE = "n/a"
_MOST_DRAWS = 5  # lines of a dry run about draws; how-to-ask has over 30


@contextlib.contextmanager
def watched(name: str, store: Path) -> Iterator[Progress]:
    """Show progress; on Ctrl-C, say how to continue."""
    watching = Progress(name)
    try:
        with watching.bar if errors().is_terminal else contextlib.nullcontext():
            yield watching
    except KeyboardInterrupt:
        told = f"stopped; finished units are safe in {store}"
        remark(f"{told}: give the same command again to continue")
        raise


class Progress(Monitor):
    """Shows a run on standard error."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._log = Log(name)
        self.bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("units"),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
            progress.TextColumn("last {task.fields[last]}", markup=False),
            console=errors(),
            transient=True,
        )
        self._task = self.bar.add_task(name, total=None, last="-")

    def planned(self, units: list[Unit], todo: list[Unit], n_failed: int) -> None:
        """Say what is in the store already."""
        n_stored = len(units) - len(todo)
        self.bar.update(self._task, total=len(units), completed=n_stored)
        if n_stored:
            told = f"{n_stored} of {len(units)} units are already in the store"
            remark(f"{self._name}: {told}" + f", {n_failed} of them failed" * bool(n_failed))

    def finished(self, unit: Unit, outcome: Outcome, seconds: float) -> None:  # noqa: ARG002
        """Count a unit; print a failure at once."""
        last = f"{unit.dataset}, {unit.draw.name}, {unit.row.title}, fold {unit.fold + 1}"
        self.bar.update(self._task, advance=1, last=last)
        if outcome.error:
            complain(f"failed: {last}: {outcome.reason}")
        if not errors().is_terminal:
            task = self.bar.tasks[0]
            self._log(f"{task.completed:.0f} of {task.total:.0f} units, last {last}")


def say_missing(missing: Mapping[str, str]) -> None:
    for name, reason in missing.items():
        remark(f"left out: {name}, {reason}", style="yellow")


def say_failed(results: StudyResults) -> None:
    reasons = Counter((unit.dataset, unit.row, unit.reason) for unit in results.having("failed"))
    for (dataset, row, reason), count in reasons.items():
        complain(f"failed: {dataset}, {row}, {count} folds: {reason}")


def _show_outcome(results: StudyResults) -> None:
    """Print average precision where all folds are done; nothing if the study has no criteria."""
    plan, records = results.plan, results.records()
    if not (plan.criteria and records):
        return
    shown = {
        (each["draw"], each["dataset"], each["row"]): f"{each['metrics'][_CRITERION]['mean']:.3f}"
        for each in records
    }
    datasets = list(dict.fromkeys(each["dataset"] for each in records))
    for draw in plan.draws:
        table = new_table("", "method", numbers=datasets)
        for row in dict.fromkeys(each["row"] for each in records if each["draw"] == draw.name):
            values = [shown.get((draw.name, dataset, row), _NONE) for dataset in datasets]
            table.add_row(Text(row), *values)
        if table.row_count:
            say(f"Average precision, {plan.title_of(draw)}")
            output().print(table)


def find_plan(name: str, *, quick: bool, data_dir: Path | None) -> Plan:
    """Read a plan; with ``quick``, cut it down to datasets that are at hand."""
    plan = read_plan(name)
    if not quick:
        return plan
    return plan.quick([e["name"] for e in describe_datasets(data_dir) if e["available"]])


def show_plan(plan: Plan, data_dir: Path | None, path: Path) -> None:
    """Say what a run of a plan would do."""
    units, missing = plan_units(plan, data_dir=data_dir)
    table = new_table(f"{plan.name}: {len(units)} units", "row", "method", "settings")
    for row in plan.expanded_rows():
        told = {
            f" + {row.relevant_per_row} relevant per row": row.relevant_per_row,
            f" + {row.relevant_share:.0%} of the relevant": row.relevant_share,
            " + the true label frequencies": row.label_frequencies,
            " + matched to label frequencies": row.match_frequencies,
        }
        settings = ", ".join(f"{name}={value!r}" for name, value in row.settings.items())
        settings += "".join(text for text, is_so in told.items() if is_so)
        table.add_row(Text(row.title), Text(row.method), Text(settings.lstrip()))
    show(table)
    at_hand = [name for name in plan.datasets if name not in missing]
    say(f"on {', '.join(at_hand) or 'no dataset'}; {plan.folds} folds, seed {plan.seed}")
    n_draws = len(plan.draws)
    say("1 draw:" if n_draws == 1 else f"{n_draws} draws:")
    for draw in plan.draws[:_MOST_DRAWS]:
        say(f"  {draw.name}: {plan.title_of(draw)}")
    if n_draws > _MOST_DRAWS:
        say(f"  and {n_draws - _MOST_DRAWS} more")
    say_missing(missing)
    if path.is_file():
        with Store(path, create=False) as store:
            stored = store.failures([unit.key for unit in units])
        say(f"{len(stored)} of {len({unit.key for unit in units})} units are already in {path}")


def table_of_units(results: StudyResults) -> Table:
    counts: dict[str, dict[tuple[str, str], Counter[str]]] = {}
    for unit in results.units:
        of_row = counts.setdefault(unit.row, {})
        of_row.setdefault((unit.dataset, unit.draw), Counter())[unit.status] += 1
    columns = list(dict.fromkeys(place for of_row in counts.values() for place in of_row))
    table = new_table("", "", numbers=(f"{dataset}\n{draw}" for dataset, draw in columns))
    for row, of_row in counts.items():
        found = [of_row.get(column, Counter()) for column in columns]
        cells = [f"{n['done']}/{n.total()}" for n in found]
        failed = [f" {n['failed']} failed" * bool(n["failed"]) for n in found]
        table.add_row(Text(row), *map("".join, zip(cells, failed, strict=True)))
    return table


def run_plan(plan: Plan, path: Path, data_dir: Path | None, jobs: int, **how: Any) -> StudyResults:
    """Run a plan with its progress, say what was run and left out, and show the results."""
    claim_store(path)
    with Store(path) as store, watched(plan.name, path) as watching:
        summary = run_study(plan, store, data_dir=data_dir, n_jobs=jobs, monitor=watching, **how)
    say_missing(summary.missing)
    ran = f"{plan.name}: ran {summary.n_ran} of {summary.n_units} units"
    remarks = [ran, f"in {duration(summary.seconds)}"]
    if summary.n_failed:
        remarks.append(f"{summary.n_failed} failed")
    say(", ".join(remarks))
    results = opened_results(path, plan.name)
    _show_outcome(results)
    return results


def stop_if_failed(results: StudyResults, path: Path) -> None:
    """If units failed, in this run or before, say which and what to do, and exit 1."""
    failed = results.having("failed")
    if not failed:
        return
    say_failed(results)
    name = results.plan.name
    if results.plan.criteria:
        shown = command("study", "report", name, store=options.at(path))
    else:
        shown = command("study", "export", f"{name}.json", study=name, store=options.at(path))
    complain(
        f"{len(failed)} of {len(results.units)} units failed. Their tracebacks: {shown}. To run"
        " them again, add --retry-failed to this command"
    )
    raise typer.Exit(1)


def opened_results(path: Path, name: str | None, *, with_criteria: bool = False) -> StudyResults:
    """Return a study's results, by default the latest's; ``with_criteria`` refuses it without."""
    with Store(path, create=False) as store:
        names = [name] if name else store.studies()
        if not names:
            raise StoreError(f"{path} holds no study yet; run one with: complabel study run PLAN")
        results = store.results(names[0])
    if with_criteria and not results.plan.criteria:
        raise InputError(
            f"{names[0]} has scores but no criteria on true labels: it is a search by complabel"
            " tune, or its data have no true labels; give the command that made it to see the"
            " scores again, or write them to a .json file with study export"
        )
    return results


def claim_report(name: str, folder: Path | None) -> Path:
    """Return the folder for a study's report, if it can be written there and nothing is lost."""
    refuse_without_libraries()
    folder = folder or Path(f"{name}-report")
    shown = f"--out {folder}"
    with explained(shown):
        nearest = next(p for p in (folder, *folder.absolute().parents) if os.path.lexists(p))
        if not nearest.is_dir():
            raise OutputError(f"{shown}: {nearest} is a file; give the name of a folder")
        there = [folder / name for name in FORMATS if os.path.lexists(folder / name)]
        for path in there:
            refuse_odd(path, f"--out {path}")
        if there and not may_replace() and not _is_own_report(there):
            other = unused(folder if folder.name.strip(".") else folder / "report")
            raise OutputError(
                f"{shown}: {there[0]} exists; give another folder, such as {other}, or --force to"
                " replace the files in it"
            )
        for path in there:
            has_written(path)
        try_to_write(nearest, folder)
    return folder


def claim_store(path: Path) -> None:
    """Refuse a store that cannot be made; a store that exists is continued."""
    shown = f"--store {path}"
    with explained(shown):
        if not path.exists():
            refuse_no_folder(path, shown)
            try_to_write(behind_links(path).parent, path)


def _is_own_report(paths: Sequence[Path]) -> bool:
    """Return whether complabel wrote these files, and nobody has changed one since."""
    pages = [path for path in paths if path.suffix == ".html"]
    times = {path.lstat().st_mtime_ns for path in paths}
    return bool(pages) and len(times) == 1 and all(map(is_own_page, pages))


def write_reports(results: StudyResults, folder: Path) -> None:
    with errors().status("drawing the report"):
        paths = write_report(results, folder)
    for path in paths:
        say(f"wrote {path}")
    say(f"next: open {paths[0]} in a browser")
