"""From a plan to the folds that are to be run, each under a key that says what it depends on."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import complabel
from complabel.datasets import dataset_fingerprint, load_dataset
from complabel.errors import DatasetNotFoundError
from complabel.methods import get_method, make_classifier
from complabel.studies._code import code_digest
from complabel.studies._plan import Draw, ExpandedRow, Plan
from complabel.studies._protocol import seeded, split_folds

# Draws labels, splits, fits, predicts and calls the metrics: what every result depends on.
_FOLD = "complabel.studies._protocol"
# The parts of an identity that name code; "source" is what the first stores had.
_CODE = ("code", "source", "versions")


@dataclass(frozen=True)
class Unit:
    """One fold of one row on one dataset: the smallest piece of a study.

    Parameters
    ----------
    key : str
        SHA-256 of ``identity``.
    identity : str
        Everything that can change the result, as JSON.
    dataset : str
    fingerprint : str
        Of the dataset, after preprocessing.
    draw : Draw
    row : ExpandedRow
    fold, folds, seed : int
    """

    key: str
    identity: str
    dataset: str
    fingerprint: str
    draw: Draw
    row: ExpandedRow
    fold: int
    folds: int
    seed: int

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters of the classifier, as JSON can hold them."""
        return _parameters(self.row, self.dataset, self.seed, self.fold)


@functools.cache
def result_versions() -> dict[str, str]:
    """Return the versions of what computes results."""
    others = ("torch", "scikit-learn", "numpy", "scipy")
    return {"complabel": complabel.__version__, **{name: metadata.version(name) for name in others}}


def plan_units(
    plan: Plan, *, data_dir: str | Path | None = None
) -> tuple[list[Unit], dict[str, str]]:
    """List what a plan runs, with the datasets at hand.

    Parameters
    ----------
    plan : Plan
    data_dir : path or None, default=None
        Folder with dataset files.

    Returns
    -------
    units : list of Unit
        Dataset by dataset, so that each is in use for one stretch of the run.
    missing : dict of str to str
        Datasets that are not at hand, with the reason.

    Raises
    ------
    InputError
        If a dataset cannot be split into so many folds.
    DatasetFormatError
        If a dataset's file does not parse.
    """
    units: list[Unit] = []
    missing: dict[str, str] = {}
    for name in plan.datasets:
        try:
            dataset = load_dataset(name, data_dir=data_dir)
        except DatasetNotFoundError:
            # Not the error's own text, which lists folders: reports are passed on to others.
            missing[name] = f"not at hand; get it with: complabel datasets --download {name}"
            continue
        split_folds(dataset, n_folds=plan.folds, seed=plan.seed)
        fingerprint = dataset_fingerprint(dataset)
        for draw in plan.draws:
            for row in plan.expanded_rows():
                for fold in range(plan.folds):
                    identity = canonical_json(_identity(row, name, fingerprint, draw, fold, plan))
                    key = hashlib.sha256(identity.encode()).hexdigest()
                    units.append(
                        Unit(
                            key, identity, name, fingerprint, draw, row, fold, plan.folds, plan.seed
                        )
                    )
    return units, missing


def canonical_json(data: Mapping[str, Any]) -> str:
    """Write plain data as the one JSON text that equal data share."""
    return json.dumps(data, sort_keys=True, default=repr)


def unit_code(method: str) -> str:
    """Return the checksum of the code that a method's results depend on."""
    return code_digest(get_method(method).classifier.__module__, _FOLD)


def without_code(identity: str) -> str:
    """Return what an identity says but for the code and the versions of libraries.

    Parameters
    ----------
    identity : str
        The identity of a unit, by this version of complabel or an earlier one.

    Returns
    -------
    str
        Empty if the identity is damaged.
    """
    try:
        said = json.loads(identity)
        return canonical_json({name: said[name] for name in said if name not in _CODE})
    except (TypeError, ValueError):
        return ""


def _identity(
    row: ExpandedRow, dataset: str, fingerprint: str, draw: Draw, fold: int, plan: Plan
) -> dict[str, Any]:
    """Return everything that can change a unit's result, as plain data.

    Titles do not count: a row is the same under another name, and shared between studies.
    """
    method = get_method(row.method)
    if method.learns_from == "relevant":
        labels: dict[str, Any] = {"scheme": "relevant"}
    else:
        labels = {**draw.model_dump(exclude={"name"}), "relevant_per_row": row.relevant_per_row}
        if draw.scheme == "uniform":
            del labels["sharpness"]
        if row.relevant_share:
            labels["relevant_share"] = row.relevant_share
    return {
        "data": fingerprint,
        "labels": labels,
        "fold": fold,
        "folds": plan.folds,
        "seed": plan.seed,
        "classifier": method.classifier.__name__,
        "code": unit_code(row.method),
        "parameters": _parameters(row, dataset, plan.seed, fold),
        "versions": result_versions(),
    }


def _parameters(row: ExpandedRow, dataset: str, seed: int, fold: int) -> dict[str, Any]:
    """Return a classifier's parameters, with the settings for the dataset and its seed."""
    classifier = make_classifier(row.method, dataset=dataset, **row.settings)
    parameters: dict[str, Any] = seeded(classifier, seed=seed, fold=fold).get_params(deep=False)
    return parameters
