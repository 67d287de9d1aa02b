"""What becomes of a sitting of ``complabel annotate`` whose files are damaged, or that is killed?

One sitting of four days: two people answer; a label is added, with a goal; two labels are merged;
one is renamed. "damage" stops it at any moment, as SIGKILL would, and changes one bit, cuts or
zeroes a block of a file that it finds then. "kills" kills it within each day, and begins the day
again. What was confirmed must be there with the same meaning ("same"), or the file is refused.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import os
import random
import signal
import time
from typing import Any

from benchmarks._days import DAYS, STORE, confirmed, forked, hold, outcome, place

FILES, KINDS = (STORE, f"{STORE}-journal"), {"bit": 300, "cut": 60, "block": 60, "nothing": 60}
CELLS = [
    *({"what": "damage", "file": file, "kind": kind} for file in FILES for kind in KINDS),
    *({"what": "kills", "day": day, "kills": kills} for day in range(4) for kills in (100, 3)),
]
QUICK = {"what": ("damage", "kills"), "file": (None, STORE), "kind": (None, "cut")}
QUICK |= {"kills": (None, 3)}


@functools.cache
def moments() -> list[tuple[int, dict[str, bytes], list[Any]]]:
    """Hold a sitting; return at many moments the day, the files, and what was confirmed."""
    found, chance = [], random.Random(0)
    with place() as folder:
        for day in range(len(DAYS)):
            sitting = forked(hold, folder, day, 40, day)
            while sitting.is_alive():
                time.sleep(chance.uniform(0.02, 0.2))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(sitting.pid, signal.SIGSTOP)
                    time.sleep(0.01)
                    files = {each.name: each.read_bytes() for each in folder.glob("answers*")}
                    said = confirmed(folder)
                    os.kill(sitting.pid, signal.SIGCONT)
                    if "answers.csv" in files:  # a sitting has one from its start
                        found.append((day, files, said))
    return found


def damaged(whole: bytes, kind: str, chance: random.Random) -> bytes:
    """Return the content of a file after something happened to it."""
    content = bytearray(whole)
    if kind == "bit":
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del content[chance.randrange(len(content)) :]
    elif kind == "block":
        at = chance.randrange(-(-len(content) // 512)) * 512
        content[at : at + 512] = bytes(len(content[at : at + 512]))
    return bytes(content)


def damage(file: str, kind: str) -> dict[str, int]:
    """Damage a file of a sitting as it is at any moment."""
    counts = collections.Counter(refused=0, same=0, other=0)
    chance = random.Random(f"{file} {kind}")
    has = [each for each in moments() if each[1].get(file)]
    for _ in range(KINDS[kind] if has else 0):
        day, files, said = chance.choice(has)
        with place() as folder:
            for each, content in files.items():
                now = damaged(content, kind, chance) if each == file else content
                (folder / each).write_bytes(now)
            counts[outcome(folder, day, said)] += 1
    return {**counts, "times": counts.total()}


def kills(day: int, n_kills: int) -> dict[str, int]:
    """Kill a sitting within a day, again and again."""
    chance = random.Random(day)
    with place(2_000) as folder:
        for before in range(day):
            forked(hold, folder, before, 20, before).join()
        for at in range(n_kills):
            sitting = forked(hold, folder, day, 9_999, at)
            time.sleep(chance.uniform(0.01, 0.6))
            sitting.kill()
            sitting.join()
        said = confirmed(folder)
        return {"confirmed": len(said), "lost": outcome(folder, day, said, n_kills) != "same"}


def measure(*, draw: int, data: Any, what: str, **cell: Any) -> dict[str, int]:
    """Return how often a sitting was refused, the same, or another one."""
    if what == "damage":
        return damage(cell["file"], cell["kind"])
    return kills(cell["day"], cell["kills"])
