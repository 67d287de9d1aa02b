"""Experiments: plans, runs, and the store of their results."""

from complabel.studies._benchmark import BenchmarkResult, OnFold, results_as_json, run_benchmark
from complabel.studies._export import units_json
from complabel.studies._forecast import Forecast
from complabel.studies._grids import expand_grid
from complabel.studies._plan import Draw, ExpandedRow, Plan, Row
from complabel.studies._plan_files import read_plan, shipped_plan
from complabel.studies._protocol import (
    FoldResult,
    cross_validate,
    draw_known,
    draw_labels,
    seeded,
    split_folds,
)
from complabel.studies._results import StudyResults, UnitResult
from complabel.studies._run import Monitor, RunSummary, run_study
from complabel.studies._store import Store
from complabel.studies._tune import (
    LOG_LIKELIHOOD,
    RANKING_ERROR,
    TunedSetting,
    TuningResult,
    tune,
)
from complabel.studies._units import Unit, plan_units
from complabel.studies._work import Outcome

__all__ = [
    "LOG_LIKELIHOOD",
    "RANKING_ERROR",
    "BenchmarkResult",
    "Draw",
    "ExpandedRow",
    "FoldResult",
    "Forecast",
    "Monitor",
    "OnFold",
    "Outcome",
    "Plan",
    "Row",
    "RunSummary",
    "Store",
    "StudyResults",
    "TunedSetting",
    "TuningResult",
    "Unit",
    "UnitResult",
    "cross_validate",
    "draw_known",
    "draw_labels",
    "expand_grid",
    "plan_units",
    "read_plan",
    "results_as_json",
    "run_benchmark",
    "run_study",
    "seeded",
    "shipped_plan",
    "split_folds",
    "tune",
    "units_json",
]
