"""What a refit of `complabel annotate` costs when many answers are there and 50 are new.

    python -m benchmarks.annotate_growth                       # 10^4, 10^5, 10^6 answers
    PYTHONPATH=OTHER/src python -m benchmarks.annotate_growth  # those of another checkout

Three people answer about 100,000 items with 64 features and 20 labels, the same item often. Nine of
ten answers are a yes or no, or all are tick lists (``--kind ticked``) or menus (``--kind menu``).
In ten of a thousand questions a second person is asked the same, and one in twenty of yes and no
is wrong. Before each refit somebody takes
three answers back and gives others. The settings of the model are given, so that no search
is timed. The model's process and the server's are one here, so that both are measured; what is sent
is pickled as a pipe does it. Printed are processor seconds of each part, without the parts inside
it, the bytes that are sent, and the most memory beside what was held before.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import pickle
import time
from collections import defaultdict
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from complabel._training import one_thread
from complabel.live._annotation import Annotation
from complabel.live._asker import Asker, Event
from complabel.live._drawing import Question
from complabel.live._learner import Learner, Refits

N_ITEMS, N_FEATURES, N_LABELS, NEW, BACK, REFITS = 100_000, 64, 20, 50, 3, 3
# Parts that one of two checkouts does not have are left out.
PARTS = {
    "read": ["live._asker:Asker.answers", "live._asker:Asker.news"],
    "join": ["live._asker:News.then"],
    "rows": ["answers._arrays:AnswerArrays.__getitem__"],
    "contradictions": ["live._learner:resolve_contradictions"],
    "targets": ["methods._door:Targets.read"],
    "lay out": [
        "methods.selection._refit:_evidence",
        "methods.selection._likelihood:Likelihood._lay_out",
    ],
    "fit": [
        "_training._newton:LabelNewton.minimize",
        "methods.selection._refit:fit_maps",
    ],
    "score": ["live._learner:Refits._figures"],
}


class Timer:
    """Adds up processor seconds of parts, each without those of the parts inside it."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._inside: list[str] = ["other"]
        self._since = time.process_time()

    def go(self, part: str | None) -> None:
        """Begin a part; None ends the one that began last."""
        now = time.process_time()
        self.seconds[self._inside[-1]] += now - self._since
        self._since = now
        if part is None:
            self._inside.pop()
        else:
            self._inside.append(part)

    def patch(self, part: str, place: str) -> None:
        """Count the seconds of a function to a part."""
        module_name, _, path = place.partition(":")
        *owners, name = path.split(".")
        try:
            owner: Any = importlib.import_module(f"complabel.{module_name}")
            for each in owners:
                owner = getattr(owner, each)
            function = getattr(owner, name)
        except (ImportError, AttributeError):
            return
        bound = getattr(function, "__self__", None) is not None

        @functools.wraps(function)
        def timed(*arguments: Any, **more: Any) -> Any:
            self.go(part)
            try:
                return function(*arguments, **more)
            finally:
                self.go(None)

        setattr(owner, name, staticmethod(timed) if bound else timed)


class Here:
    """The learner's pipe and its process, in this process."""

    def __init__(self, refits: Refits, timer: Timer) -> None:
        self.refits, self.timer, self.sent, self.reply = refits, timer, 0, None

    def send(self, what: Any) -> None:
        """Do what a message asks for, after it was pickled and read."""
        self.timer.go("send")
        message = pickle.dumps(what)
        self.sent += len(message)
        name, *arguments = pickle.loads(message)
        self.timer.go(None)
        self.reply = getattr(self.refits, name)(*arguments)

    def recv(self) -> Any:
        """Return the reply."""
        return self.reply


class Everything:
    """A source that knows nothing of what was asked."""

    total, known = None, ()

    def restore(self, question: Question) -> None:
        """Keep nothing."""


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
            elif self.kind == "ticked" or number % 10 == 0:
                question = Question(number, item, "ticked", None, 1.0, None)
            else:
                question = Question(number, item, "asked", (menu[0],), 1 / N_LABELS, None)
            self.asker.restore(question)
            for copy in range(1 + again):
                self.say(f"person {(person + copy) % 3}", number, copy)

    def say(self, person: str, number: int, copy: int, of: int | None = None) -> None:
        """Hand a copy to a person, unless they have it again, and answer it."""
        if of is None:
            of = self.event("asked", person, number, copy)
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
        person = self.last[-1][1]
        mine = [each for each in self.last[-1000:] if each[1] == person][-BACK:]
        for number, _, copy, of in reversed(mine):
            again = self.event("undone", person, number, copy, of)
            self.say(person, number, copy, again)

    def event(self, what: Any, person: str, number: int, copy: int, *more: Any) -> int:
        """Let something happen; return its id."""
        id_ = self.asker.last_id + 1
        self.asker.restore(Event(id_, 0.0, what, person, number, copy, *more))
        return id_


def memory(name: str) -> float:
    """Return what the process holds (VmRSS), or the most that it held (VmHWM), in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def measure(n_answers: int, kind: str) -> None:
    """Measure, and print a row for each part."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ITEMS, N_FEATURES)).astype(np.float32)
    labels = [f"label {number}" for number in range(N_LABELS)]
    asker = Asker(Everything(), labels, lambda: 0.0)
    people = People(asker, X, kind)
    people.answer(n_answers)
    refits, timer = Refits(X), Timer()
    refits.model.set_params(alpha=1e-3, kernel="linear", scaling="global", rank=None)
    refits.model.set_params(cardinality=None if kind != "menu" else 5.0)
    learner: Any = Learner.__new__(Learner)
    vars(learner).update(_things=np.arange(N_ITEMS), _pipe=Here(refits, timer), _busy=RLock())
    things: Any = [str(each) for each in range(N_ITEMS)]
    annotation = Annotation(things, labels, asker, None, Path("x"), learner)  # type: ignore[arg-type]
    learner._state = None

    def refit() -> None:
        if hasattr(annotation, "news"):
            learner.update(annotation.news)
        else:  # all answers, until November 2026
            learner.update(*annotation.answers())

    began = time.process_time()
    refit()
    first = time.process_time() - began
    for part, places in PARTS.items():
        for place in places:
            timer.patch(part, place)
    held, most, learner._pipe.sent = memory("VmRSS"), 0.0, 0
    timer.go("people")
    timer.seconds.clear()
    for _ in range(REFITS):
        people.answer(NEW)
        people.mend()
        Path("/proc/self/clear_refs").write_text("5")  # the most memory is counted from here
        timer.go(None)
        refit()
        timer.go("people")
        most = max(most, memory("VmHWM") - held)
    state = learner.state()
    seconds = {part: timer.seconds[part] / REFITS for part in (*PARTS, "send", "other")}
    told = " | ".join(f"{each:.2f}" for each in (sum(seconds.values()), *seconds.values()))
    sent = learner._pipe.sent / REFITS / 1e6
    about = f"{kind} | {state['answers']:,} | {first:.0f}"
    print(f"| {about} | {told} | {sent:.2f} | {most:,.0f} | {state['score']:.6f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--answers", type=int, nargs="+", default=[10**4, 10**5, 10**6])
    parser.add_argument("--kind", choices=["asked", "ticked", "menu"], default="asked")
    options = parser.parse_args()
    columns = ["kind", "answers", "first", "all", *PARTS, "send", "other", "MB sent", "MB memory"]
    print(f"| {' | '.join([*columns, 'score'])} |")
    print(f"|---|{'--:|' * len(columns)}")
    for n_answers in options.answers:
        with one_thread():
            measure(n_answers, options.kind)


if __name__ == "__main__":
    main()
