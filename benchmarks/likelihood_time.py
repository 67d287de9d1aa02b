"""How long does the likelihood of one answer for each item take, with 983 labels?

The likelihood and its gradient of 200 items: a named label that does not apply, one that applies,
and a list of tags, with propensities and without.
"""

import time
from typing import Any

import numpy as np
import torch

from complabel.losses import AnswersLikelihood
from complabel.simulate import draw_answers

CELLS = [
    *({"question": each, "propensities": "none"} for each in ("named", "positive", "tagged")),
    *({"question": each, "propensities": "given"} for each in ("named", "positive")),
]
DRAWS, TIMES = 3, ("seconds",)
N_ITEMS, N_LABELS, REPEATS = 200, 983, 5


def measure(*, draw: int, data: Any, **cell: Any) -> dict[str, float]:
    """Return seconds of the processor for one evaluation with its gradient."""
    rng = np.random.default_rng(draw)
    Y = (rng.random((N_ITEMS, N_LABELS)) < 0.02).astype(np.uint8)
    Y[np.arange(N_ITEMS), rng.integers(N_LABELS, size=N_ITEMS)] = 1
    logits = torch.tensor(rng.normal(-4, 1, size=Y.shape))
    log_w = torch.tensor(rng.normal(size=N_LABELS)) if cell["propensities"] == "given" else None
    given = {"exposure": np.full(N_LABELS, 0.5)} if cell["question"] == "tagged" else {}
    drawn = draw_answers(Y, question=cell["question"], random_state=0, **given)
    likelihood = AnswersLikelihood(drawn, **given)
    likelihood(logits, log_propensities=log_w)
    start = time.process_time()
    for _ in range(REPEATS):
        likelihood(logits, log_propensities=log_w)
    return {"seconds": (time.process_time() - start) / REPEATS}
