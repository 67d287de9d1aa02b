"""Is an answer lost when ``complabel annotate`` is killed, and how long do its routes take?

"kills": two people answer, take back and ask ahead while the server is killed again and again;
who gets no reply sends the same request again. Its servers are forked from a process that has
imported everything. "people": 200 people answer at once, ten questions each. What was confirmed is
compared with the table of answers. "load": start, memory, and milliseconds from request to reply
(the median and 99 of 100) with 100,000 texts of 220 letters and 300 labels, for one person and for
eight. "sitting": one simulated person says yes or no in 1.5 seconds, in the median, and ticks in
three times that, without mistakes, for some minutes; figures are what ``fit`` learns from the
table (mean average precision by label on other items), and how many answers of each kind came.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from benchmarks._server import Person, Server
from benchmarks.annotate_kinds import load
from complabel.files import read_answers
from complabel.methods import SelectionLikelihoodClassifier

CELLS = [
    {"what": "kills", "times": 100},
    {"what": "kills", "times": 5},
    {"what": "people", "times": 200},
    {"what": "load", "times": 300},
    *(
        {"what": "sitting", "asks": question, "minutes": minutes}
        for question in ("asked", "ticked", "mixed")
        for minutes in (5, 10, 22)
    ),
]
QUICK = {"what": ("kills",), "times": (5,)}
TIMES = (
    *("start", "start_again", "memory", "memory_then", "next_1", "next99_1", "answer_1"),
    *("answer99_1", "rate_1", "next_8", "next99_8", "answer_8", "answer99_8", "rate_8", "seconds"),
)


def together(do: Callable[[Any], None], people: Any) -> float:
    """Let people do something at once; return the seconds."""
    threads, begun = (
        [threading.Thread(target=do, args=(each,)) for each in people],
        time.monotonic(),
    )
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - begun


def compared(rows: list[dict[str, str]], people: list[Person]) -> dict[str, int]:
    """Compare the table with what people know."""
    found = {row["answer_id"]: (row["item"], row["label"], row["answer"]) for row in rows}
    confirmed = {id_: said for each in people for id_, said in each.confirmed.items()}
    seen = [pair for each in people for pair in each.seen]
    return {
        "confirmed": len(confirmed),
        "lost": len(confirmed.keys() - found.keys()),
        "twice": len(rows) - len(found),
        "unconfirmed": len(found.keys() - confirmed.keys()),
        "changed": sum(found.get(each, said) != said for each, said in confirmed.items()),
        "asked_twice": len(seen) - len(set(seen)),
    }


def kills(folder: Path, n_kills: int) -> dict[str, int]:
    """Kill the server while two people answer."""
    server = Server(folder, 5_000, 20)
    server.fork()
    people = [Person(each, server.port) for each in ("ann", "ben")]
    stop, chance = threading.Event(), random.Random(0)
    threads = [threading.Thread(target=each.sit, args=(stop,)) for each in people]
    for thread in threads:
        thread.start()
    for _ in range(n_kills):
        time.sleep(chance.uniform(0.02, 0.5))
        server.child.kill()
        server.child.join()
        assert server.child.exitcode == -signal.SIGKILL
        server.fork()
    time.sleep(0.2)
    stop.set()
    for thread in threads:
        thread.join()
    os.kill(server.child.pid or 0, signal.SIGTERM)
    server.child.join()
    return compared(server.table(), people)


def at_once(folder: Path, n_people: int) -> dict[str, float]:
    """Let many people answer at once."""
    server = Server(folder, 5_000, 20)
    server.start()
    people = [Person(f"person-{at}", server.port) for at in range(n_people)]
    took = together(lambda person: [person.answer() for _ in range(10)], people)
    server.end()
    return {**compared(server.table(), people), "seconds": took}


def of_load(folder: Path, n_answers: int) -> dict[str, float]:
    """Measure starts, memory and times."""
    server = Server(folder, 100_000, 300)
    found = {"start": server.start(), "memory": server.memory()}
    for n_people in (1, 8):
        times: dict[str, list[float]] = {"next": [], "answer": []}

        def sit(name: str, times: Any = times, n: int = n_answers // n_people) -> None:
            person = Person(name, server.port)
            for _ in range(n):
                begun = time.perf_counter()
                person.next(3)
                times["next"].append(time.perf_counter() - begun)
                question, begun = person.next(), time.perf_counter()
                person.say(question, "no", 2)
                times["answer"].append(time.perf_counter() - begun)

        took = together(sit, [f"person-{n_people}-{at}" for at in range(n_people)])
        found[f"rate_{n_people}"] = len(times["answer"]) / took
        for route, seconds in times.items():
            middle, most = 1000 * np.quantile(seconds, [0.5, 0.99])
            found |= {f"{route}_{n_people}": middle, f"{route}99_{n_people}": most}
    found["memory_then"] = server.memory()
    server.end()
    found["start_again"] = server.start()
    server.end()
    return found


def sitting(folder: Path, asks: str, minutes: float) -> dict[str, float]:
    """Let one person answer by a way of asking, and learn from the table."""
    X, Y, X_test, Y_test = load("made-17", None, 0)
    labels = [f"label {at}" for at in range(Y.shape[1])]
    rng, clock = np.random.default_rng(0), 0.0
    server = Server(folder, len(X), len(labels), None if asks == "mixed" else asks)
    server.start()
    person = Person("ann", server.port)
    while clock < 60 * minutes:
        asked = person.next()
        row = Y[int(asked["item"].split()[1])]
        said: Any = [each for each in asked.get("offered", ()) if row[labels.index(each)]]
        if asked["question"] == "asked":
            said = "yes" if row[labels.index(asked["label"])] else "no"
        seconds = (1.5 if isinstance(said, str) else 4.5) * float(np.exp(0.4 * rng.normal()))
        person.say(asked, said, seconds)
        clock += seconds
    kinds = person.ask("GET", "/api/progress")["by_kind"]
    server.end()
    items = [f"item {at}" for at in range(len(X))]
    answers = read_answers(folder / "answers.csv", items=items, label_names=labels).answers
    p = SelectionLikelihoodClassifier(random_state=0).fit(X, answers).predict_proba(X_test)
    reached = average_precision_score(Y_test, p, average="macro")
    return {"precision": reached, **{kind: of["answers"] for kind, of in kinds.items()}}


def measure(*, draw: int, data: Any, what: str, **cell: Any) -> dict[str, float]:
    """Run real servers, and return what became of answers, or times."""
    with tempfile.TemporaryDirectory() as name:
        if what == "sitting":
            return sitting(Path(name), cell["asks"], cell["minutes"])
        ways = {"kills": kills, "people": at_once, "load": of_load}
        return ways[what](Path(name), cell["times"])
