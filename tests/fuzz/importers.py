"""Imports a great many damaged exports, and reports what comes through as no clean refusal.

    python -m tests.fuzz.importers --mutants 100000 --seed 0 --jobs 2

Run it from the root of the repository, on Linux or macOS. Every mutant follows from the seed and
its index alone: ``--only INDEX`` reads one again, with its traceback, and ``--out`` keeps its file.
A find is an exception that is no ComplabelError, a refusal that does not name the file, a table
that is none, answers that cannot be made of it, memory beyond a limit, or more than half a minute.

Another format takes part by its files in :data:`SEEDS`.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
from tests.fuzz.mutants import mutate
from tests.fuzz.readers import AT_ONCE, SECONDS, TooSlow, prepare, say
from tests.importers.samples import FILES, SAMPLES, TABLES

from complabel.answers import Answers
from complabel.errors import ComplabelError, DatasetFormatError
from complabel.files import COLUMNS
from complabel.importers import FORMATS, Head, Options, Tally, import_answers

TABULAR = {"open-images", "coded", "table", "replies", "openmic", "pml"}
FORMAT = {each.name: each for each in FORMATS}
WORDS = {"answer": {"no", "yes", "unsure"}, "question": {"named", "asked", "ticked", "excluded"}}
NUMBERS = {"asked_for": int, "probability": float}


@dataclass(frozen=True)
class Seed:
    """A sound file: its format, its name, its bytes before it is packed, what the user says."""

    format: str
    name: str
    content: bytes
    options: dict[str, Any] = field(default_factory=dict)
    pack: Callable[[bytes], bytes] = bytes


def as_bytes(content: Any, name: str) -> bytes:
    """Return a sample as its file has it."""
    if isinstance(content, str | bytes):
        return content.encode(errors="surrogatepass") if isinstance(content, str) else content
    if name.endswith(".jsonl"):
        return b"".join(json.dumps(each).encode() + b"\n" for each in content)
    return json.dumps(content).encode()


def make_seeds() -> list[Seed]:
    """Make the seeds: each sample under several options, and one of each format packed."""
    seeds = []
    for own, name, content, options in SAMPLES.values():
        raw = as_bytes(content, name)
        names = ("sea", "sky", "city", "forest", "animal / cat")
        told = (
            {},
            {"label_names": names},
            {"unselected": "no", "label_names": names},
            {"random_questions": True},
            {"item": "image"},
        )
        seeds += [Seed(own, name, raw, {**options, **more}) for more in told]
        seeds.append(Seed(own, name, raw))
        seeds.append(
            Seed(own, f"{name}.gz", raw, options, lambda made: gzip.compress(made, mtime=0))
        )
    for kind, (name, content) in FILES.items():
        own = "table" if kind in TABLES else kind
        seeds += [Seed(own, name, content, {"unsure": ("-1",)})] * 6  # as many as of the others
    return seeds


SEEDS = make_seeds()
HOSTILE: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 1.5, 1e300, float("nan"), float("inf"), 2**63, 10**400),
    *("", " ", "a", "1", "\ud800", "\x00", "\n", "x" * 5000, "\u5929\u7a7a", "sea", "no", "[]"),
    *(
        [],
        {},
        [[]],
        [None],
        ["sea"],
        [["sea", "sky"]],
        [{}],
        {"choices": ["sea"]},
        {"value": "sea"},
    ),
    *({"choices": [["a", "b"]], "x": 1}, {"taxonomy": [["a"]]}, [{"choices": "a"}], [1, "1", 1.0]),
]


def make_mutant(seed: int, index: int) -> tuple[Seed, bytes]:
    """Make the file of one mutant; the same for the same seed and index."""
    rng = random.Random(f"{seed}:{index}")
    origin = rng.choice(SEEDS)
    content = origin.content
    way = rng.random()
    if way < 0.55:
        content = reshape(rng, content, origin.name)
    if way > 0.45:
        content = mutate(rng, content)
    if rng.random() < 0.005:
        at, opening = rng.randint(0, len(content)), rng.choice((b"[", b'{"a":', b'[{"a":'))
        content = content[:at] + opening * rng.choice((100, 900, 5000, 100_000)) + content[at:]
    packed = origin.pack(content)
    if packed is not content and rng.random() < 0.3:
        packed = mutate(rng, packed)
    return origin, packed


def reshape(rng: random.Random, content: bytes, name: str) -> bytes:
    """Change one to four values of JSON to something else; leave other files alone."""
    plain = name.removesuffix(".gz")
    if plain.endswith(".jsonl"):
        document = [json.loads(line) for line in content.splitlines()]
    elif plain.endswith(".json"):
        document = json.loads(content)
    else:
        return mutate(rng, content)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        document = change(rng, document)
    return as_bytes(document if isinstance(document, list) or plain.endswith("n") else [document],
                    plain)  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Give all containers with all their keys or positions."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict | list):
            keys = list(holder) if isinstance(holder, dict) else range(len(holder))
            for key in keys:
                yield holder, key
                waiting.append(holder[key])


def change(rng: random.Random, document: Any) -> Any:
    """Replace, drop, repeat, move or wrap a value."""
    found = list(places(document))
    if not found:
        return copy.deepcopy(rng.choice(HOSTILE))
    holder, key = rng.choice(found)
    way = rng.randrange(6)
    if way <= 1:
        holder[key] = copy.deepcopy(rng.choice(HOSTILE))
    elif way == 2:
        del holder[key]
    elif way == 3:
        other, place = rng.choice(found)
        holder[key] = copy.deepcopy(other[place])
    elif way == 4:
        holder[key] = [holder[key]] if rng.random() < 0.5 else {"value": holder[key]}
    elif isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        names = [name for each, name in found if isinstance(each, dict)]
        holder[rng.choice(names)] = holder.pop(key)
    return document


def attempt(seed: int, index: int, folder: Path) -> str:
    """Import one mutant: "read", the name of a refusal, or what is raised."""
    origin, content = make_mutant(seed, index)
    path = folder / origin.name
    path.write_bytes(content)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return import_one(origin, path, content)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        path.unlink()


def import_one(origin: Seed, path: Path, content: bytes) -> str:
    """Import a file: recognize it, read it, make answers of it."""
    for each in FORMATS:
        assert isinstance(each.recognizes(Head(path, content[: 2**16])), bool)
    if origin.format in TABULAR:
        return import_whole(origin, path)
    tally = Tally()
    try:
        pieces = list(FORMAT[origin.format].read(path, Options(**origin.options), tally))
    except DatasetFormatError as refusal:
        if str(path) not in str(refusal):
            raise AssertionError("the refusal does not say where") from refusal
        if not str(refusal).isprintable() or len(str(refusal)) > 2500 + len(str(path)):
            raise AssertionError("the refusal cannot be shown") from refusal
        return type(refusal).__name__
    except ComplabelError as refusal:
        return type(refusal).__name__
    for text in (*tally.remarks, *tally.counts, *tally.label_names):
        text.encode()
    if not pieces:
        return "read, empty"
    frames = [check(piece) for piece in pieces]
    table = pd.concat(frames, ignore_index=True)
    labels = dict.fromkeys([*tally.label_names, *table["label"]])
    for menu in table["offered"].dropna() if "offered" in table else ():
        labels.update(dict.fromkeys(json.loads(menu)))
    Answers.from_table(
        table, label_names=[*labels, "another", "yet another"], contradictions="keep"
    )
    return "read"


def import_whole(origin: Seed, path: Path) -> str:
    """Import a file whose format leaves some of the checks to the driver."""
    try:
        table, _ = import_answers(
            path, format=FORMAT[origin.format], options=Options(**origin.options)
        )
    except ComplabelError as refusal:
        if not str(refusal).isprintable():
            raise AssertionError("the refusal cannot be shown") from refusal
        return type(refusal).__name__
    assert tuple(table.columns) == COLUMNS
    try:
        Answers.from_table(table, contradictions="keep")
    except ComplabelError as refusal:  # a table of answers may say anything
        return type(refusal).__name__
    return "read"


def check(piece: dict[str, Any]) -> pd.DataFrame:
    """Return a piece as a table, if it is one."""
    assert set(piece) <= set(COLUMNS), set(piece)
    assert len({len(values) for values in piece.values()}) == 1
    assert {"item", "label", "answer"} <= set(piece)
    for name, values in piece.items():
        filled = [value for value in values if value is not None]
        assert filled, name
        kind = NUMBERS.get(name, str)
        assert all(isinstance(value, kind) for value in filled), name
        assert set(filled) <= WORDS.get(name, set(filled)), name
        "".join(map(str, filled)).encode()
    return pd.DataFrame(piece)


def guard() -> None:
    """Guard a worker, and let it see no warnings about labels."""
    with tempfile.TemporaryDirectory() as top:  # what pandas loads must not count as ours
        path = Path(top, SEEDS[0].name)
        path.write_bytes(SEEDS[0].content)
        assert import_one(SEEDS[0], path, SEEDS[0].content) == "read"
    prepare()
    warnings.filterwarnings("ignore", category=UserWarning)


def run_chunk(seed: int, indices: range) -> tuple[Counter[str], list[tuple[int, str]]]:
    """Import some mutants; return how often each outcome came, and the finds."""
    outcomes: Counter[str] = Counter()
    finds = []
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as top:
        for index in indices:
            try:
                outcomes[attempt(seed, index, Path(top))] += 1
            except (Exception, TooSlow) as find:
                outcomes["find"] += 1
                told = find.__cause__ or find
                finds.append((index, f"{type(find).__name__}: {str(told)[:200]!a}"))
    return outcomes, finds


def run(seed: int, n_mutants: int, jobs: int, out: Path | None) -> Counter[str]:
    """Import all mutants, telling finds."""
    total: Counter[str] = Counter()
    starts = range(0, n_mutants, AT_ONCE)
    parts = [range(start, min(start + AT_ONCE, n_mutants)) for start in starts]
    for part, outcomes, finds in run_parts(seed, parts, jobs):
        total += outcomes
        for index, text in finds:
            say(f"mutant {index} of seed {seed}, of {part}: {text}")
            keep(seed, index, out)
    return total


def run_parts(
    seed: int, parts: list[range], jobs: int
) -> Iterator[tuple[range, Counter[str], list[tuple[int, str]]]]:
    """Import mutants in this process or in several, and give what came of some at a time."""
    if jobs == 1:
        guard()
        for part in parts:
            yield part, *run_chunk(seed, part)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=guard) as pool:
        waiting = [pool.submit(run_chunk, seed, part) for part in parts]
        for part, future in zip(parts, waiting, strict=True):
            try:
                yield part, *future.result()
            except BrokenProcessPool:
                yield part, Counter(find=1), [(part.start, "a worker died here or soon after")]
                return


def keep(seed: int, index: int, out: Path | None) -> None:
    """Write the file of a find, where a folder is given."""
    if out is not None:
        origin, content = make_mutant(seed, index)
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{seed}-{index}-{origin.name}").write_bytes(content)


def run_one(seed: int, index: int, out: Path | None) -> int:
    """Import one mutant again and show what comes of it."""
    keep(seed, index, out)
    guard()
    with tempfile.TemporaryDirectory() as top:
        try:
            say(f"mutant {index} of seed {seed}: {attempt(seed, index, Path(top))}")
        except (Exception, TooSlow):
            say(traceback.format_exc())
            return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.importers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--mutants", type=int, default=10_000, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the mutants (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (%(default)s)")
    parser.add_argument("--only", type=int, metavar="INDEX", help="import this mutant alone")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="keep the files of finds here")
    given = parser.parse_args(arguments)
    if given.only is not None:
        return run_one(given.seed, given.only, given.out)
    started = time.monotonic()
    total = run(given.seed, given.mutants, given.jobs, given.out)
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in total.most_common())
    say(
        f"{given.mutants:,} mutants of seed {given.seed}: {outcomes}; {total['find']} finds, "
        f"{time.monotonic() - started:.0f} s"
    )
    return 1 if total["find"] else 0


if __name__ == "__main__":
    sys.exit(main())
