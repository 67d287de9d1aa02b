"""Is an answer lost when ``complabel annotate`` is killed, and how long do its routes take?

"kills": two people answer, take back and ask ahead while the server is killed again and again;
who gets no reply sends the same request again. Its servers are forked from a process that has
imported everything. "people": 200 people answer at once, ten questions each. What was confirmed is
compared with the table of answers. "load": start, memory (MB), and milliseconds from request to
reply (the median and 99 of 100) with 100,000 texts of 220 letters and 300 labels, for one person
and for eight. "sitting": one person says yes or no in 1.5 seconds, in the median, and ticks in
three times that, without mistakes; "precision" is the mean average precision by label on other
items of what ``fit`` learns from the table.
"""

from __future__ import annotations

import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from benchmarks._fits import memory, timed
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
    *("start", "memory", "memory_then", "next_1", "next99_1", "answer_1"),
    *("answer99_1", "rate_1", "next_8", "next99_8", "answer_8", "answer99_8", "rate_8", "seconds"),
)


def together(do: Callable[[Any], Any], people: Sequence[Any]) -> float:
    """Let people do something at once; return the seconds."""
    begun = time.monotonic()
    with ThreadPoolExecutor(len(people)) as threads:
        list(threads.map(do, people))
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
    server, stop, chance = Server(folder, 5_000, 20), threading.Event(), random.Random(0)
    server.fork()
    people = [Person(each, server.port) for each in ("ann", "ben")]
    with ThreadPoolExecutor(2) as threads:
        sitting = [threads.submit(each.sit, stop.is_set) for each in people]
        for _ in range(n_kills):
            time.sleep(chance.uniform(0.02, 0.5))
            server.child.kill()
            server.child.join()
            assert server.child.exitcode == -signal.SIGKILL
            server.fork()
        time.sleep(0.2)
        stop.set()
        for each in sitting:
            each.result()  # or its error
    server.child.terminate()
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
    found = {"start": server.start(), "memory": memory("VmRSS", server.process.pid) * 1e9 / 2**20}
    for n_people in (1, 8):
        times: dict[str, list[float]] = {"next": [], "answer": []}

        def sit(person: Person, times: Any = times, n: int = n_answers // n_people) -> None:
            for _ in range(n):
                times["next"].append(timed(lambda: person.next(3))[1])
                question = person.next()
                times["answer"].append(timed(lambda asked=question: person.say(asked, "no", 2))[1])

        people = [Person(f"person-{n_people}-{at}", server.port) for at in range(n_people)]
        took = together(sit, people)
        found[f"rate_{n_people}"] = len(times["answer"]) / took
        for route, seconds in times.items():
            middle, most = 1000 * np.quantile(seconds, [0.5, 0.99])
            found |= {f"{route}_{n_people}": middle, f"{route}99_{n_people}": most}
    found["memory_then"] = memory("VmRSS", server.process.pid) * 1e9 / 2**20
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
        applies = dict(zip(labels, Y[int(asked["item"].split()[1])], strict=True))
        clock += person.tell(applies, asked, 1.5 * float(np.exp(0.4 * rng.normal())))
    server.end()
    items = [f"item {at}" for at in range(len(X))]
    answers = read_answers(folder / "answers.csv", items=items, label_names=labels).answers
    p = SelectionLikelihoodClassifier(random_state=0).fit(X, answers).predict_proba(X_test)
    return {"precision": average_precision_score(Y_test, p, average="macro")}


def measure(*, draw: int, data: Any, what: str, **cell: Any) -> dict[str, float]:
    """Run real servers, and return what became of answers, or times."""
    with tempfile.TemporaryDirectory() as name:
        if what == "sitting":
            return sitting(Path(name), cell["asks"], cell["minutes"])
        ways = {"kills": kills, "people": at_once, "load": of_load}
        return ways[what](Path(name), cell["times"])
