"""Tables of studies (plans that ``complabel study run`` takes) as rows of results."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks._frame import PARTS
from complabel.experiments.reports import summarize_study
from complabel.experiments.reports._asking import tickings
from complabel.experiments.studies import Plan, Store, benchmark_plan, read_plan, run_study
from complabel.metrics import METRICS

RELEASED = ("*", "fpml:rank=1", "pml-lrs:fit_intercept=false")
LEAST_DEVIATION = 0.0005  # what the paper prints as .000


def plan_of(study: str) -> Plan:
    """Return a plan of this folder, or one that comes with the package."""
    if study.startswith("released-"):
        draw: Any = {"labels": "released", "scheme": study.removeprefix("released-")}
        return benchmark_plan(["scene", "yeast"], RELEASED, draw=draw)
    own = Path(__file__).parent / f"{study}.toml"
    return read_plan(own if own.exists() else study)


def cells_of(*studies: str, lacking: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return a cell for each data set of each study."""
    return [
        {"study": study, "set": name}
        for study in studies
        for name in plan_of(study).datasets
        if name not in lacking
    ]


def named(title: str) -> str:
    """Return the title of a row as the name of a figure."""
    return re.sub(r"\W+", "_", title).strip("_")


def seconds_of(*studies: str) -> list[str]:
    """Return the figures that say how long methods took."""
    return [f"{named(row.title)}_s" for study in studies for row in plan_of(study).expanded_rows()]


def rows_of(
    study: str, name: str, seed: int, data: Any, criteria: Sequence[str] = tuple(METRICS)
) -> list[tuple[dict[str, str], Any]]:
    """Run a study on one data set, or what its store lacks; return its rows."""
    part = {"name": f"{study}-{name}", "datasets": [name], "seed": seed}
    plan = plan_of(study).model_copy(update=part)
    PARTS.mkdir(exist_ok=True)
    with Store(PARTS / "studies.sqlite") as store:
        run_study(plan, store, data_dir=data, n_jobs=1, allow_missing=False)
        return rows(store.results(plan.name), criteria)


def rows(results: Any, criteria: Sequence[str]) -> list[tuple[dict[str, str], Any]]:
    """Return the figures of each way of asking and criterion.

    ``MLCL`` is a mean over folds, ``MLCL_sd`` their standard deviation, ``MLCL_off`` says by how
    many published deviations ours is better (+) or worse than ``MLCL_printed``, and ``MLCL_s`` are
    seconds of a fold. ``break-even`` and ``ahead`` are those of reports, the latter in the time of
    one yes or no for each item.
    """
    found: dict[tuple[str, str], dict[str, float]] = {}
    for record in results.records():
        row, way = named(record["row"]), record["draw"]
        printed = results.published(record["dataset"], way, record["row"])
        if record["match_frequencies"]:
            row, way = row.removesuffix("_matched_frequencies"), f"{way} matched"
        took = found.setdefault((way, "seconds"), {})
        took[f"{row}_s"] = record["seconds"] / record["folds"]
        for criterion in criteria:
            of = record["metrics"][criterion]
            figures = found.setdefault((way, criterion), {})
            figures |= {row: of["mean"], f"{row}_sd": of["std"]}
            if criterion in printed:
                theirs, sign = printed[criterion], 2 * METRICS[criterion].higher_is_better - 1
                away = (of["mean"] - theirs.mean) / max(theirs.std, LEAST_DEVIATION)
                figures |= {f"{row}_printed": theirs.mean, f"{row}_off": sign * away}
    for each in tickings(summarize_study(results)):
        row = named(each.row)
        found.setdefault((each.question, "break-even"), {})[row] = each.break_even[0]
        at = [amount for amount, _ in each.asked].index(1)
        for ratio, gains in each.ahead[:-1]:  # the last is that of the plan's seconds
            if gains[at] is not None:
                way = f"{each.question} in {ratio:g} at 1 each"
                found.setdefault((way, "ahead"), {})[row] = gains[at]
    return [({"way": way, "criterion": of}, figures) for (way, of), figures in found.items()]
