"""Experiments: plans, one engine that runs them, and the store of their results."""

from complabel.experiments.studies._data import fetch as fetch
from complabel.experiments.studies._draw import Draw
from complabel.experiments.studies._draw import Seconds as Seconds
from complabel.experiments.studies._draw import amount_of as amount_of
from complabel.experiments.studies._draw import answers_of as answers_of
from complabel.experiments.studies._draw import seconds_of as seconds_of
from complabel.experiments.studies._fold import run_fold as run_fold
from complabel.experiments.studies._fold import split_folds
from complabel.experiments.studies._plan import Plan, Row
from complabel.experiments.studies._plan_files import benchmark_plan, read_plan
from complabel.experiments.studies._results import Outcome as Outcome
from complabel.experiments.studies._results import StudyResults
from complabel.experiments.studies._results import UnitResult as UnitResult
from complabel.experiments.studies._run import Monitor, run_study
from complabel.experiments.studies._run import RunSummary as RunSummary
from complabel.experiments.studies._store import Store
from complabel.experiments.studies._tune import TunedSetting as TunedSetting
from complabel.experiments.studies._tune import TuningResult as TuningResult
from complabel.experiments.studies._tune import tune
from complabel.experiments.studies._units import Unit as Unit
from complabel.experiments.studies._units import plan_units as plan_units

__all__ = [
    "Draw",
    "Monitor",
    "Plan",
    "Row",
    "Store",
    "StudyResults",
    "benchmark_plan",
    "read_plan",
    "run_study",
    "split_folds",
    "tune",
]
