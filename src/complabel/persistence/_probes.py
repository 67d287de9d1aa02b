"""Rows of features that nobody has, and what a model says of them, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from complabel.persistence._kinds import Context, Numbers, refuse_other_names
from complabel.persistence._refused import RefusedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_PROBES = 16
# Of the largest output. Another processor or library rounds otherwise, networks in single
# precision; a model that was put together wrongly is off by far more.
TOLERANCE = 1e-4


def probe_rows(model: Any) -> NDArray[np.float32]:
    """Draw rows (16, d) that look like none of the training rows.

    They are normal, with a seed that is always the same. Where the model keeps some rows of
    features, they have the means and standard deviations of their columns: else all would be
    infinitely far from what it keeps. Nothing of the training features is in the file that was not
    in the model.
    """
    kept = model._kept_rows()
    d = model.n_features_in_
    centre, spread = np.zeros(d), np.ones(d)
    if kept is not None and kept.shape[0]:
        centre, spread = _moments(kept)
    # Few digits, so that what remains to be drawn is the same wherever it is.
    drawn = np.round(np.random.default_rng(0).standard_normal((N_PROBES, d)), 3)
    limit = float(np.finfo(np.float32).max)
    return np.clip(centre + spread * drawn, -limit, limit).astype(np.float32)


def outputs_of(model: Any, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return what a model says of rows, (16, K)."""
    with np.errstate(all="ignore"):
        return np.asarray(model._decision(rows.astype(np.float64)), dtype=np.float64)


def probes_of(model: Any) -> dict[str, Any]:
    """Return rows and outputs, by name."""
    rows = probe_rows(model)
    return {"rows": rows, "outputs": outputs_of(model, rows)}


def compare_probes(model: Any, value: Any) -> None:
    """Refuse a model that says something else of the rows than the one that was saved."""
    refuse_other_names(value, "probes", ("rows", "outputs"))
    n_labels, d = len(model.classes_), model.n_features_in_
    context = Context({}, {"16": N_PROBES, "K": n_labels, "d": d})
    rows = Numbers("16", "d", dtype=np.float32).restored(value["rows"], "probes.rows", context)
    expected = Numbers("16", "K").restored(value["outputs"], "probes.outputs", context)
    try:
        found = outputs_of(model, rows)
    except MemoryError:
        raise
    except Exception as error:  # whatever a model that fits together badly runs into
        raise RefusedError(f"the model in it cannot predict: {error}") from error
    if found.shape != expected.shape:
        raise RefusedError(f"the model in it gives {found.shape[1:]} scores, not {n_labels}")
    difference = np.abs(found - expected).max()
    if not difference <= TOLERANCE * (1 + np.abs(expected).max()):
        raise RefusedError(
            f"the model in it gives other scores than when it was saved, by up to"
            f" {difference:.3g}. Load it with the versions that its provenance names"
            " (complabel.persistence.read_header), or fit and save again"
        )


def _moments(rows: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means and standard deviations (d,) of the columns of rows."""
    from sklearn.preprocessing import StandardScaler  # takes half a second

    scaler = StandardScaler(with_mean=False).fit(rows.astype(np.float64))
    return scaler.mean_, np.sqrt(scaler.var_)
