"""What does a refit of ``complabel annotate`` cost when many answers are there and 50 are new?

Three people answer about 100,000 items with 64 features and 20 labels, the same item often. Nine of
ten answers are a yes or no and the others tick lists ("asked"), or all are menus of two. In ten of
a thousand questions a second person is asked the same, and one in twenty of yes and no is wrong.
Before each of three refits somebody takes three answers back and gives others. The settings of the
model are given. The model's process and the server's are one here, so that both are measured; what
is sent is pickled as a pipe does it. Figures are processor seconds of a refit with all six fits,
megabytes that are sent, and the most memory (MB) beside what was held before.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from threading import RLock
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks._fits import memory, timed
from complabel.live._annotation import Annotation
from complabel.live._asker import Asker, Event
from complabel.live._drawing import Question
from complabel.live._learner import Learner, Refits

CELLS = [
    *({"answers": n, "asks": "asked"} for n in (10_000, 100_000, 1_000_000)),
    {"answers": 100_000, "asks": "menu"},
]
QUICK, TIMES = {"answers": (10_000,)}, ("seconds", "memory")
N_ITEMS, N_FEATURES, N_LABELS, NEW, BACK, REFITS = 100_000, 64, 20, 50, 3, 3


class Here:
    """The learner's pipe and its process, in this process."""

    def __init__(self, refits: Refits) -> None:
        self.refits, self.sent, self.reply = refits, 0, None

    def send(self, what: Any) -> None:
        """Do what a message asks for, after it was pickled and read."""
        message = pickle.dumps(what)
        self.sent += len(message)
        name, *arguments = pickle.loads(message)
        self.reply = getattr(self.refits, name)(*arguments)

    def recv(self) -> Any:
        """Return the reply."""
        return self.reply


class People:
    """Three people, who answer by a linear rule."""

    def __init__(self, asker: Asker, X: Any, kind: str) -> None:
        self.asker, self.kind, self.rng = asker, kind, np.random.default_rng(0)
        weights = self.rng.normal(size=(N_FEATURES, N_LABELS)) / np.sqrt(N_FEATURES) * 2
        self.truth = X @ weights - 1 + self.rng.logistic(size=(len(X), N_LABELS)) > 0
        self.last: list[tuple[int, str, int, int]] = []

    def answer(self, count: int) -> None:
        """Answer new questions, some of them twice."""
        items = self.rng.integers(N_ITEMS, size=count).tolist()
        people, twice = self.rng.integers(3, size=count).tolist(), self.rng.random(count) < 0.01
        menus = self.rng.integers(N_LABELS, size=(count, 2)).tolist()
        for item, person, again, menu in zip(items, people, twice.tolist(), menus, strict=True):
            number = len(self.asker.questions)
            if self.kind == "menu":
                labels = (menu[0], (menu[0] + 1 + menu[1] % (N_LABELS - 1)) % N_LABELS)
                question = Question(number, item, "menu", labels, 2 / N_LABELS**2, 1)
            elif number % 10 == 0:
                question = Question(number, item, "ticked", None, 1.0, None)
            else:
                question = Question(number, item, "asked", (menu[0],), 1 / N_LABELS, None)
            self.asker.restore([question])
            for copy in range(1 + again):
                who = f"person {(person + copy) % 3}"
                self.say(number, who, copy, self.event("asked", who, number, copy))

    def say(self, number: int, person: str, copy: int, of: int) -> None:
        """Answer a question that a person has."""
        question = self.asker.questions[number]
        labels = range(N_LABELS) if question.labels is None else question.labels
        applies = self.truth[question.item]
        answer: Any = [f"label {each}" for each in labels if applies[each]]
        if question.kind == "asked":
            answer = "yes" if bool(answer) != (self.rng.random() < 0.05) else "no"
        elif question.kind == "menu":
            answer = [f"label {each}" for each in labels if not applies[each]][:1]
        if self.rng.random() < 0.01:
            answer = "unsure"
        self.event("answered", person, number, copy, of, answer, 3.0)
        self.last.append((number, person, copy, of))

    def mend(self) -> None:
        """Take the last answers of a person back, and give them again."""
        mine = [each for each in self.last[-1000:] if each[1] == self.last[-1][1]][-BACK:]
        for number, person, copy, of in reversed(mine):
            self.say(number, person, copy, self.event("undone", person, number, copy, of))

    def event(self, what: Any, person: str, number: int, copy: int, *more: Any) -> int:
        """Let something happen; return its id."""
        id_ = self.asker.last_id + 1
        self.asker.restore([Event(id_, 0.0, what, person, number, copy, *more)])
        return id_


def measure(*, draw: int, data: Any, answers: int, asks: str) -> dict[str, float]:
    """Return what a refit costs."""
    X = np.random.default_rng(0).normal(size=(N_ITEMS, N_FEATURES)).astype(np.float32)
    labels = [f"label {number}" for number in range(N_LABELS)]
    source: Any = SimpleNamespace(total=None, known=(), restore=lambda *_, **__: None)
    asker = Asker(source, labels, lambda: 0.0)
    people, refits = People(asker, X, asks), Refits(X)
    people.answer(answers)
    refits.model.set_params(alpha=1e-3, kernel="linear", scaling="global", rank=None)
    refits.model.set_params(cardinality=None if asks != "menu" else 5.0)
    learner, pipe = Learner.__new__(Learner), Here(refits)
    vars(learner).update(
        _things=np.arange(N_ITEMS), _pipe=pipe, _busy=RLock(), _state=None, standings=None
    )
    things: Any = [str(each) for each in range(N_ITEMS)]
    store: Any = None
    annotation = Annotation(things, labels, asker, store, Path("x"), learner)
    learner.update(annotation.news)
    seconds, most, held, pipe.sent = 0.0, 0.0, memory("VmRSS"), 0
    for _ in range(REFITS):
        people.answer(NEW)
        people.mend()
        Path("/proc/self/clear_refs").write_text("5")  # the most memory is counted from here
        seconds += timed(lambda: learner.update(annotation.news))[2] / REFITS
        most = max(most, memory("VmHWM") - held)
    return {"seconds": seconds, "sent": pipe.sent / REFITS / 1e6, "memory": most * 1e9 / 2**20}
