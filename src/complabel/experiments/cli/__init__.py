"""The commands for experiments; the command line of the tool finds them here by name."""

from complabel.cli import new_group
from complabel.experiments.cli._compare import benchmark, tune
from complabel.experiments.cli._datasets import datasets
from complabel.experiments.cli._study_run import export, report, reproduce, run, status

_HEADING = "Experiments"
app = new_group(
    "Compare methods, and reproduce the paper.",
    _HEADING,
    *(datasets, benchmark, tune, reproduce),
)
study = new_group(
    "Run a study of datasets, draws and methods, and report its results.",
    "Commands",
    *(run, status, report, export),
)
app.add_typer(study, name="study", rich_help_panel=_HEADING)
