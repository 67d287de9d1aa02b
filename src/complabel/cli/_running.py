"""Functions of the commands that run a plan or show a study."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from complabel.cli import _options as options
from complabel.cli._console import complain, errors, remark, say
from complabel.cli._next import command
from complabel.cli._outputs import claim_folder, claim_store
from complabel.cli._working import duration

if TYPE_CHECKING:
    from complabel.cli._progress import Progress
    from complabel.studies import Plan, RunSummary, Store, StudyResults


@contextlib.contextmanager
def watched(name: str, store: Path, opened: Store | None = None) -> Iterator[Progress]:
    """Show progress inside the block; on Ctrl-C, say how to continue.

    With ``opened``, the expected time is shown, too.
    """
    from complabel.cli._progress import Progress

    try:
        with Progress(name, opened) as progress:
            yield progress
    except KeyboardInterrupt:
        remark(
            f"stopped; finished units are safe in {store}: give the same command again to continue"
        )
        raise


def run_plan(plan: Plan, path: Path, data_dir: Path | None, jobs: int, **how: Any) -> None:
    """Run a plan with a live display, and print what was done."""
    from complabel.studies import Store, run_study

    claim_store(path)
    with Store(path) as store, watched(plan.name, path, store) as progress:
        summary = run_study(plan, store, data_dir=data_dir, n_jobs=jobs, monitor=progress, **how)
    say_missing(summary.missing)
    _say_done(plan.name, summary, path)


def _say_done(name: str, summary: RunSummary, store: Path) -> None:
    """Print what a run did and what is left."""
    ran = f"{name}: ran {summary.n_ran} of {summary.n_units} units"
    remarks = [ran, f"in {duration(summary.seconds)}"]
    if summary.n_failed:
        remarks.append(f"{summary.n_failed} failed")
    if summary.n_by_other_code:
        remarks.append(
            f"{summary.n_by_other_code} older results in {store} were not used: other code or"
            " versions made them"
        )
    say(", ".join(remarks))


def hint_at_other_half(names: Sequence[str]) -> None:
    """Print a hint if only one of a dataset's two files is given, train or test."""
    from complabel.datasets import CATALOG, EMBEDDED, other_half

    for name in names:
        other = "" if name in (*CATALOG, *EMBEDDED) else other_half(name)
        if other and other not in names and Path(other).is_file():
            remark(f"hint: {other} is not read; give both files to use them as one dataset")


def say_missing(missing: Mapping[str, str]) -> None:
    """Print which datasets of a plan are missing, and why."""
    for name, reason in missing.items():
        remark(f"left out: {name}, {reason}", style="yellow")


def say_failed(results: StudyResults) -> None:
    """Print what failed and why, each reason once."""
    reasons = Counter((unit.dataset, unit.row, unit.reason) for unit in results.having("failed"))
    for (dataset, row, reason), count in reasons.items():
        complain(f"failed: {dataset}, {row}, {count} folds: {reason}")


def stop_if_failed(results: StudyResults, path: Path) -> None:
    """If units failed, in this run or before, say which and what to do, and exit 1."""
    failed = results.having("failed")
    if not failed:
        return
    say_failed(results)
    name = results.plan.name
    if results.plan.criteria:
        shown = command("study", "report", name, store=at(path))
    else:
        shown = command("study", "export", f"{name}.json", study=name, store=at(path))
    complain(
        f"{len(failed)} of {len(results.units)} units failed. Their tracebacks: {shown}. To run"
        " them again, add --retry-failed to this command"
    )
    raise typer.Exit(1)


def opened_results(path: Path, name: str | None, *, with_criteria: bool = False) -> StudyResults:
    """Return the results of a study in a store, by default of the latest.

    With ``with_criteria``, a study without criteria is refused, such as a search by ``tune``.
    """
    from complabel.errors import InputError, StoreError
    from complabel.studies import Store

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


def at(store: Path) -> Path | None:
    """Return the option ``store`` of the next command; None for the default store."""
    return None if store == options.STORE else store


def claim_report(name: str, folder: Path | None) -> Path:
    """Return the folder for a study's report, if it can be written there and nothing is lost."""
    from complabel.reports import FORMATS

    folder = folder or Path(f"{name}-report")
    claim_folder(folder, [*FORMATS])
    return folder


def write_reports(results: StudyResults, folder: Path) -> None:
    """Write a study's report and print its files."""
    from complabel.reports import write_report

    with errors().status("drawing the report"):
        paths = write_report(results, folder)
    for path in paths:
        say(f"wrote {path}")
    say(f"next: open {paths[0]} in a browser")
