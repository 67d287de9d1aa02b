"""Is the consensus of raters who say no, maybe or yes right, beside crowd-kit's methods?

The data are 1,135 pairs of a picture and a label of ImageNet, about which 78 raters and five
experts answered (L. Beyer and others, arXiv 2006.07159): ``crowd/imagenet/imagenet.npz`` in the
folder of ``--data``. ``size`` raters are shown, drawn for each pair or the same for all pairs
(``design``), in 20 samples; what most experts say is taken for true. "Maybe" is an answer to
``find_consensus``, and counts 1, since raters who are unsure do not deny; two more lines count it
one half and 0. To crowd-kit it is an answer too, or yes, or no, or left out, or both; three answers
count 0, one half or 1. Each method has the best average ``precision`` and ``log_loss`` over these
ways and three bounds of probabilities, so the experts choose for them. Differences from the first
line are paired, with standard errors. "Made" raters need no data.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.metrics import average_precision_score, log_loss

from benchmarks._people import aggregations
from complabel.answers import Answers
from complabel.people._states import Judgements, choose_states, fit_states

CELLS = [{"set": "made", "size": 3, "design": "pairs"}]
CELLS += [{"set": "imagenet", "size": size, "design": "pairs"} for size in (3, 78)]
CELLS += [{"set": "imagenet", "size": 3, "design": "raters"}]
QUICK, NEEDS = {"set": ("made",)}, ("imagenet",)
NO, MAYBE, YES = range(3)
BOUNDS, SAMPLES = (1e-6, 0.01, 0.05), {"made": 1, "imagenet": 20}
COUNTS = {"0": 0.0, "1/2": 0.5, "1": 1.0}  # maybe
SLOW = ("zero-based skill", "MACE", "GLAD")  # they get three answers, and yes for maybe


def crowd_of(name: str, data: Any) -> dict[str, Any]:
    """Return answers of R raters about P pairs, (R, P), what is true, pictures and labels, (P,)."""
    if name == "imagenet":
        found = np.load(data / "crowd" / "imagenet" / "imagenet.npz")
        truth = (found["experts"] == YES).mean(axis=0) > 0.5
        label = np.unique(found["label"], return_inverse=True)[1]
        return {"said": found["raters"].astype(int), "truth": truth, "label": label,
                "picture": found["picture"].astype(int)}  # fmt: skip
    rng, (item, label) = np.random.default_rng(0), np.divmod(np.arange(120), 3)
    place = rng.normal(size=120)
    seen = place + rng.normal(size=(12, 120)) + rng.normal(0, 0.5, (12, 1))
    said = np.digitize(seen, [-0.3, 0.3])
    return {"said": said, "truth": place > 0, "label": label, "picture": item}


def by_complabel(crowd: Any, rows: pd.DataFrame) -> Any:
    """Yield the share of people who say yes, with maybe as 1, as one half and as 0."""
    picture, label = crowd["picture"], crowd["label"]
    sure, maybe = rows[rows["label"] != MAYBE], rows[rows["label"] == MAYBE]

    def marks(word: int) -> Any:
        at = np.flatnonzero(sure["label"] == word)
        ones = (np.ones(len(at), dtype=np.uint8), (at, label[sure["task"].iloc[at]]))
        return sparse.csr_array(ones, shape=(len(sure), label.max() + 1))

    answers = Answers.from_arrays(
        relevant=marks(YES),
        absent=marks(NO),
        question="asked",
        item=picture[sure["task"]],
        annotator=[f"{worker:02}" for worker in sure["worker"]],
        n_items=picture.max() + 1,
    )
    people = pd.Index(answers.annotator_names).get_indexer([f"{w:02}" for w in maybe["worker"]])
    judgements = Judgements.of(answers, (picture[maybe["task"]], label[maybe["task"]], people))
    of_all = judgements, np.zeros(answers.shape)
    n_states = choose_states(*of_all, np.random.default_rng(0))
    found = fit_states(*of_all, n_states).of_all(*of_all)
    share, unsure, _ = (each[picture, label] for each in found)
    for name, worth in (("yes or unsure", 1), ("unsure counts one half", 0.5), ("only yes", 0)):
        yield name, "", share + worth * unsure


def told(rows: pd.DataFrame, way: str) -> pd.DataFrame:
    """Return the rows with maybe as another answer, or without it."""
    if way == "both":
        halves = [rows.replace({"label": {MAYBE: word}}) for word in (NO, YES)]
        return pd.concat(halves, ignore_index=True)
    if way == "left out":
        return rows[rows["label"] != MAYBE]
    return rows if way == "three" else rows.replace({"label": {MAYBE: YES * (way == "yes")}})


def by_crowd_kit(name: str, make: Any, rows: pd.DataFrame, n: int) -> Any:
    """Yield the probabilities of a method in all ways to understand maybe."""
    for way in ("three", "yes") if name in SLOW else ("three", "yes", "no", "left out", "both"):
        model, table = make(), told(rows, way)
        try:
            model.fit(table)
        except (KeyError, ValueError):  # of methods for two answers that get three
            continue
        if hasattr(model, "probas_"):
            chances = model.probas_
        else:  # Wawa, zero-based skill
            chances = aggregations()["majority vote"]().fit_predict_proba(table, model.skills_)
        chances = chances.reindex(index=range(n), columns=range(3)).fillna(0.0).to_numpy()
        for count, worth in COUNTS.items() if way == "three" else [("0", 0.0)]:
            yield f"crowd-kit {name}", f"{way} {count}", chances @ [0.0, worth, 1.0]


def measure(*, draw: int, data: Any, **cell: Any) -> Any:
    """Return the figures of each method, and paired differences from the first."""
    crowd = crowd_of(cell["set"], data)
    said, truth = crowd["said"], crowd["truth"]
    scores: dict[Any, list[tuple[float, float]]] = defaultdict(list)
    for sample in range(SAMPLES[cell["set"]] if cell["size"] < len(said) else 1):
        shape = said.shape if cell["design"] == "pairs" else (len(said), 1)
        order = np.argsort(np.random.default_rng(sample).random(shape), axis=0)
        size = cell["size"], said.shape[1]
        worker = np.broadcast_to(order[: cell["size"]], size).ravel()
        task = np.tile(np.arange(size[1]), size[0])
        rows = pd.DataFrame({"task": task, "worker": worker, "label": said[worker, task]})
        found = [*by_complabel(crowd, rows)]
        for name, make in aggregations().items():
            found += by_crowd_kit(name, make, rows, size[1])
        for name, way, p in found:
            for bound in BOUNDS if way else BOUNDS[:1]:
                loss = log_loss(truth, np.clip(p, bound, 1 - bound))
                scores[name, way, bound].append((average_precision_score(truth, p), loss))
    ours, rows = np.array(scores["yes or unsure", "", BOUNDS[0]]), []
    for name in dict.fromkeys(key[0] for key in scores):
        ways = [np.array(values) for key, values in scores.items() if key[0] == name]
        ways, figures = [each for each in ways if len(each) == len(ours)], {}
        for at, (figure, sign) in enumerate((("precision", -1), ("log_loss", 1))):
            values = min((each[:, at] for each in ways), key=lambda each: sign * each.mean())
            apart = values - ours[:, at]
            figures |= {figure: values.mean(), f"{figure}_more": apart.mean()}
            if len(apart) > 1:
                figures[f"{figure}_error"] = apart.std(ddof=1) / np.sqrt(len(apart))
        rows.append(({"method": name}, figures))
    return rows
