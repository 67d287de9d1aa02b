"""Experiments: plans, runs, their store, statistics and reports, and the paper's own figures."""

from complabel.studies._benchmark import BenchmarkResult, OnFold, results_as_json, run_benchmark
from complabel.studies._comparison import (
    Cell,
    compare_with_published,
    comparison_markdown,
    read_results,
)
from complabel.studies._demo import DEMO_METHODS, run_demo
from complabel.studies._export import units_json
from complabel.studies._forecast import Forecast
from complabel.studies._grids import DEFAULT_GRIDS, Grid, expand_grid
from complabel.studies._pages import render_demo
from complabel.studies._plan import Draw, ExpandedRow, Plan, Row
from complabel.studies._plan_files import PAPER_TABLES, SHIPPED_PLANS, read_plan, shipped_plan
from complabel.studies._protocol import (
    FoldResult,
    cross_validate,
    draw_known,
    draw_labels,
    split_folds,
)
from complabel.studies._published import Published, published_cells, published_results
from complabel.studies._ranks import (
    FriedmanResult,
    average_ranks,
    critical_difference,
    friedman_test,
    groups_not_different,
)
from complabel.studies._report import render_report, results_csv, summarize_study, write_report
from complabel.studies._results import StudyResults, UnitResult
from complabel.studies._run import Monitor, RunSummary, run_study
from complabel.studies._statistics import (
    MARKS,
    Judgement,
    PairedTestResult,
    Summary,
    WinTieLoss,
    corrected_t_test,
    judge,
    paired_t_test,
    summarize,
    win_tie_loss,
)
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
    "DEFAULT_GRIDS",
    "DEMO_METHODS",
    "LOG_LIKELIHOOD",
    "MARKS",
    "PAPER_TABLES",
    "RANKING_ERROR",
    "SHIPPED_PLANS",
    "BenchmarkResult",
    "Cell",
    "Draw",
    "ExpandedRow",
    "FoldResult",
    "Forecast",
    "FriedmanResult",
    "Grid",
    "Judgement",
    "Monitor",
    "OnFold",
    "Outcome",
    "PairedTestResult",
    "Plan",
    "Published",
    "Row",
    "RunSummary",
    "Store",
    "StudyResults",
    "Summary",
    "TunedSetting",
    "TuningResult",
    "Unit",
    "UnitResult",
    "WinTieLoss",
    "average_ranks",
    "compare_with_published",
    "comparison_markdown",
    "corrected_t_test",
    "critical_difference",
    "cross_validate",
    "draw_known",
    "draw_labels",
    "expand_grid",
    "friedman_test",
    "groups_not_different",
    "judge",
    "paired_t_test",
    "plan_units",
    "published_cells",
    "published_results",
    "read_plan",
    "read_results",
    "render_demo",
    "render_report",
    "results_as_json",
    "results_csv",
    "run_benchmark",
    "run_demo",
    "run_study",
    "shipped_plan",
    "split_folds",
    "summarize",
    "summarize_study",
    "tune",
    "units_json",
    "win_tie_loss",
    "write_report",
]
