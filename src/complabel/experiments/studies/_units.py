"""The units of a plan: its folds to run, each with a key of everything it depends on."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any

import complabel
from complabel.datasets import MultiLabelDataset
from complabel.errors import DatasetNotFoundError
from complabel.experiments.methods import make_paper_classifier
from complabel.experiments.studies._data import dataset_fingerprint, fetch, refuse_what_it_lacks
from complabel.experiments.studies._draw import Draw
from complabel.experiments.studies._fold import fold_seed, split_folds
from complabel.experiments.studies._labels import released_checksum
from complabel.experiments.studies._plan import Plan, Row
from complabel.experiments.studies._results import canonical_json, result_versions
from complabel.methods import get_method

# The rooms and files that compute a result. The key of a unit has a checksum of what is read from
# files, of the paper's settings and of the plan, so that code does not count here.
_COMPUTING = (
    *("_parameters", "_training", "answers", "simulate", "metrics"),
    *("transition", "losses", "frequencies", "methods"),
    *("experiments/losses", "experiments/methods"),
    *("experiments/studies/_labels", "experiments/studies/_fold"),
)


@dataclass(frozen=True)
class Unit:
    """One fold of one row on one dataset: the smallest piece of a study.

    ``key`` is the SHA-256 of ``identity``: everything that can change the result, as JSON. ``data``
    is the dataset, in the process that runs the study.
    """

    key: str
    identity: str
    plan: Plan
    dataset: str
    data: MultiLabelDataset | None = field(repr=False, compare=False)
    draw: Draw
    row: Row
    parameters: Mapping[str, Any]
    fold: int


def plan_units(
    plan: Plan, *, data_dir: str | Path | None = None, allow_missing: bool = True
) -> tuple[list[Unit], dict[str, str]]:
    """List the units of a plan on the datasets at hand, and the missing datasets with the reason.

    A missing file of the user's is refused, and with ``allow_missing=False`` any dataset that is
    not at hand.
    """
    units: list[Unit] = []
    missing: dict[str, str] = {}
    for name in plan.datasets:
        own = plan.files.get(name)
        try:
            dataset = fetch(name, own, data_dir=data_dir)
        except DatasetNotFoundError:
            if own or not allow_missing:
                raise
            # The error's own text names folders, which do not belong into a report for others.
            missing[name] = f"not at hand; get it with: complabel datasets --download {name}"
            continue
        units.extend(_units_of(plan, name, dataset, data_dir))
    return units, missing


def _units_of(
    plan: Plan, name: str, dataset: MultiLabelDataset, data_dir: str | Path | None
) -> Iterator[Unit]:
    refuse_what_it_lacks(dataset, plan, split_folds(dataset, n_folds=plan.folds, seed=plan.seed))
    fingerprint = dataset_fingerprint(dataset)
    rows = [(row, _parameters(row, name)) for row in plan.expanded_rows()]
    for draw in plan.draws:
        released = released_checksum(dataset, draw, data_dir)
        for (row, settings), fold in itertools.product(rows, range(plan.folds)):
            if not row.has_answers_under(draw):
                continue
            parameters = settings
            if "random_state" in settings:
                parameters = {**settings, "random_state": fold_seed(plan.seed, fold)}
            identity = canonical_json(
                {
                    "data": fingerprint,
                    "labels": _labels(row, draw, released),
                    "fold": fold,
                    "folds": plan.folds,
                    "seed": plan.seed,
                    "classifier": get_method(row.method).classifier.__name__,
                    "parameters": parameters,
                    "measured": {"criteria": plan.criteria, "score": plan.score},
                    **made_by(row),
                }
            )
            yield Unit(
                key=hashlib.sha256(identity.encode()).hexdigest(),
                identity=identity,
                plan=plan,
                dataset=name,
                data=dataset,
                draw=draw,
                row=row,
                parameters=parameters,
                fold=fold,
            )


def likeness(unit: Unit) -> str:
    """Return a text that is equal for units that gain if they run side by side; empty if none."""
    classifier = get_method(unit.row.method).classifier
    if not getattr(classifier, "trains_side_by_side", False) or unit.row.match_frequencies:
        return ""
    said = json.loads(unit.identity)
    own = {"random_state", "learning_rate"}
    said["parameters"] = {k: v for k, v in said["parameters"].items() if k not in own}
    return canonical_json({**said, "fold": None})


def _labels(row: Row, draw: Draw, released: str) -> dict[str, Any]:
    """Return what the labels of a unit depend on; ``released`` is a checksum of given ones."""
    if get_method(row.method).learns_from == "relevant":
        return {"scheme": "relevant"}
    return {
        **draw.what_counts(),
        "released": released,
        "relevant_per_row": row.relevant_per_row,
        "relevant_share": row.relevant_share,
    }


def _parameters(row: Row, dataset: str) -> dict[str, Any]:
    """Return a classifier's parameters on a dataset, and the row's settings on frequencies."""
    classifier = make_paper_classifier(row.method, dataset, **row.settings)
    parameters: dict[str, Any] = classifier.get_params(deep=False)
    if row.match_frequencies:
        parameters["match_frequencies"] = row.label_frequencies or "auto"
    elif row.label_frequencies:
        parameters["label_frequencies"] = row.label_frequencies
    return parameters


def made_by(row: Row) -> dict[str, Any]:
    """Return the code and the versions that a row's results depend on."""
    module = get_method(row.method).classifier.__module__
    own = "" if module.startswith("complabel.") else _digest(*own_files(module))
    return {"code": _computing_code() + own, "versions": result_versions()}


@functools.cache
def _computing_code() -> str:
    return _digest(*(file for place in _COMPUTING for file in _files_of(place)))


def _files_of(place: str) -> list[Path]:
    root = Path(complabel.__file__).parent
    return sorted([*root.glob(f"{place}.py"), *root.glob(f"{place}/**/*.py")])


def _digest(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def own_files(module: str) -> list[Path]:
    """Return the file of a module of the user's, and of modules beside it that it imports."""
    top = module.partition(".")[0]
    spec = find_spec(top)
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).parents[Path(spec.origin).stem == "__init__"]
    if any(folder.glob("*.dist-info")):  # modules beside an installed package are other people's
        return sorted([*folder.glob(f"{top}.py"), *folder.glob(f"{top}/**/*.py")])
    finder = ModuleFinder([str(folder)])
    finder.import_hook(module)
    files = (vars(each)["__file__"] for each in finder.modules.values())
    return sorted(Path(file) for file in files if file)
