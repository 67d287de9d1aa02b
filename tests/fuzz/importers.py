"""Damaged files with answers: :mod:`tests.fuzz.driver` says how to run it.

A find is also a table that is none, or one of which answers cannot be made. Another format takes
part by its files in :data:`SEEDS`.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from tests.fuzz import driver
from tests.fuzz.mutants import change, mutate
from tests.importers.reading import conserved
from tests.importers.samples import ASKED, ASKED_MIN, FILES, MENUS, SAMPLES, TABLES

from complabel.answers import Answers
from complabel.errors import ComplabelError
from complabel.files import COLUMNS, CONFIDENCE
from complabel.importers import FORMATS, Head, Options, Tally, import_answers

TABULAR = {"open-images", "coded", "table", "replies"}
FORMAT = {each.name: each for each in FORMATS}
WORDS = {
    "answer": {"no", "yes", "unsure"},
    "question": {"named", "asked", "ticked", "excluded", "positive", "tagged"},
}
NUMBERS = {"asked_for": int, "probability": float, "seconds": float, "confidence": float}


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
            *[{"random_questions": True}] * (content is MENUS or content in (ASKED, ASKED_MIN)),
            {"item": "image"},
        )
        uses = {"label_names", *FORMAT[own].uses.split()}
        seeds += [Seed(own, name, raw, {**options, **more}) for more in told if uses >= {*more}]
        seeds.append(Seed(own, name, raw))
        seeds.append(
            Seed(own, f"{name}.gz", raw, options, lambda made: gzip.compress(made, mtime=0))
        )
    for kind, (name, content) in FILES.items():
        own = "table" if kind in TABLES else kind
        codes = (
            {"yes": ("1",), "no": ("0",), "unsure": ("-1",)} if "yes" in FORMAT[own].uses else {}
        )
        seeds += [Seed(own, name, content, codes)] * 6  # as many as of the others
    return seeds


SEEDS = make_seeds()
HOSTILE: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 1.5, 1e300, float("nan"), float("inf"), 2**63, 10**400),
    *("", " ", "a", "1", "\ud800", "\x00", "\n", "x" * 5000, "\u5929\u7a7a", "sea", "no", "[]"),
    *([], {}, [[]], [None], ["a"], [["sea", "sky"]], [{}], {"choices": ["sea"]}, {"value": "sea"}),
    *({"choices": [["a", "b"]], "x": 1}, {"taxonomy": [["a"]]}, [{"choices": "a"}], [1, "1", 1.0]),
]


def make_mutant(seed: int, index: int) -> tuple[Seed, dict[str, bytes]]:
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
    return origin, {origin.name: packed}


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
        document = change(rng, document, HOSTILE)
    return as_bytes(document if isinstance(document, list) or plain.endswith("n") else [document],
                    plain)  # fmt: skip


def use(origin: Seed, folder: Path) -> str:
    """Import a file: recognize it, read it, make answers of it."""
    path = folder / origin.name
    start = path.read_bytes()[: 2**16]
    for each in FORMATS:
        assert isinstance(each.recognizes(Head(path, start)), bool)
    own, options = FORMAT.get(origin.format, origin.format), Options(**origin.options)
    labels: list[str] | None = None
    if origin.format in TABULAR:  # such a format leaves some of the checks to the driver
        table, tally = import_answers(path, format=own, options=options)
        assert tuple(table.columns) == COLUMNS
    else:
        tally = Tally()
        pieces = [check(piece) for piece in own.read(path, options, tally)]
        for text in (*tally.remarks, *tally.counts, *tally.label_names):
            text.encode()
        if not pieces:
            return "read, empty"
        table = pd.concat(pieces, ignore_index=True)
        menus = table["offered"].dropna() if "offered" in table else ()
        named = (label for menu in menus for label in json.loads(menu))
        labels = [*dict.fromkeys([*tally.label_names, *table["label"], *named])]
        if options.label_names and not {*labels} <= {*options.label_names}:
            return "refused by import_answers: a label is not listed"
        if "ticked" not in set(
            table.get("question", ())
        ):  # forms say all about the labels on offer
            labels += ["another", "last"]
    try:
        Answers.from_table(table, label_names=labels, contradictions="keep")
    except ComplabelError as refusal:
        if labels is not None:
            raise AssertionError("no answers can be made of the table") from refusal
        return type(refusal).__name__  # a table of answers may say anything
    conserved(own, table, tally)
    return "read"


def check(piece: dict[str, Any]) -> pd.DataFrame:
    """Return a piece as a table, if it is one."""
    assert set(piece) <= {*COLUMNS, CONFIDENCE}, set(piece)
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


def prepare() -> None:
    """Load what pandas needs, which must not count as ours."""
    origin, content = SEEDS[0], {SEEDS[0].name: SEEDS[0].content}
    with tempfile.TemporaryDirectory() as top:
        driver.write(Path(top), content)
        assert use(origin, Path(top)) == "read"


TARGET = driver.Target(__doc__, make_mutant, use, prepare)

if __name__ == "__main__":
    sys.exit(driver.main(TARGET, None))
