"""What several tests of studies need: one fold that is fitted, and runs that are read back."""

from complabel.studies import Store, _fold, run_study
from complabel.studies._run import run_unit


def fit_fold(*given, **how):
    """Fit a method to the training part of a fold, as a run does."""
    return _fold.fit_fold(*_fold.prepare_fold(*given, **how))


def outcome_of(unit, folder=None):
    """Run a unit as a worker does."""
    return run_unit(unit, folder)[1]


def run(plan, **options):
    """Run a plan in this process and forget it; return what was counted, and the results."""
    with Store(":memory:") as store:
        summary = run_study(plan, store, n_jobs=1, **options)
        return summary, store.results(plan.name)
