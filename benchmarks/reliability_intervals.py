"""How often the interval of ``reliability`` holds the error of probabilities, beside a bootstrap.

Probabilities of all items come from three folds of the selection likelihood (``reliability.py``).
Random yes/no questions about all items are drawn 200 times, and 10 bins are made. ``true`` is the
error by all labels, ``plain`` the error that one would compute by hand from the answers, with what
chance adds to it, and ``boot_held`` how often 95 % of its bootstrap replicates hold the truth.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from benchmarks._draws import block, means
from benchmarks.audits import audit_of
from benchmarks.reliability import fitted, plain_error
from complabel.trust import reliability

CELLS = {"set": ("digits", "scene", "yeast"), "learned": ("asked", "menu", "truth")}
QUICK, NEEDS = {"set": ("digits",), "learned": ("asked",)}, ("scene", "yeast")
BINS, N_DRAWS, REPLICATES = 10, 200, 200


@means
def measure(*, draw: int, data: Any, **cell: str) -> Any:
    """Yield errors, lengths, and whether intervals hold, by the number of questions."""
    folds = [fitted(cell["set"], cell["learned"], "kernel", fold, data) for fold in range(3)]
    Y, p = (np.concatenate([each[at] for each in folds]) for at in (0, 1))
    truth = plain_error(p, Y.astype(float), BINS)
    for n, each in product((200, 1000), block(draw, N_DRAWS)):
        asked = audit_of(Y, n, (each, 7))
        found = reliability(asked, p, n_bins=BINS)
        label = (asked.relevant + asked.absent).tocsr().indices
        said, judged = Y[asked.item, label].astype(float), p[asked.item, label]
        rng = np.random.default_rng((each, 8))
        again = [rng.integers(n, size=n) for _ in range(REPLICATES)]
        replicates = [plain_error(judged[rows], said[rows], BINS) for rows in again]
        low, high = np.quantile(replicates, [0.025, 0.975])
        figures = {
            "true": truth,
            "plain": plain_error(judged, said, BINS),
            "error": found.error,
            "length": found.interval[1] - found.interval[0],
            "held": found.interval[0] <= truth <= found.interval[1],
            "boot_held": low <= truth <= high,
        }
        yield {"questions": n}, figures
