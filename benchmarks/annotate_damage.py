"""A sitting of `complabel annotate` in a bad world: damaged files, kills, a full disk.

    python -m benchmarks.annotate_damage damage --flips 300 --cuts 60 --blocks 60
    python -m benchmarks.annotate_damage kills --kills 100
    python -m benchmarks.annotate_damage full

All of them hold one sitting of four days: two people answer; a label is added, with a goal; two
labels are merged; one is renamed. `damage` stops it at any moment, as SIGKILL would, and changes
single bits, cuts and zeroes blocks of each file that it finds then. `kills` kills it within each
day, and begins the day anew. `full` lets the n-th write fail for want of space, for all n, once and
from then on (it needs a C compiler). What was confirmed must be there with the same meaning, or the
file is refused.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import ctypes
import functools
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from complabel.errors import ComplabelError
from complabel.live import Annotation, Until, read_things
from complabel.trust import Goal

DAYS: list[dict[str, Any]] = [
    {"labels": ["a", "b", "c", "d", "e"]},
    {"labels": ["a", "b", "c", "d", "e", "f"], "goal": True},
    {"labels": ["a", "c", "d", "e", "f"], "merge": {"b": "a"}},
    {"labels": ["a", "x", "d", "e", "f"], "merge": {"b": "a"}, "rename": {"c": "x"}},
]
BLOCK = 512  # bytes
FAILING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static long left = -1; static int once; static char where[512];
void fail_after(long n, int o, const char *d) { left = n; once = o; strncpy(where, d, 511); }
static int fails(int fd) {
  char name[64], path[1024]; long n;
  if (!where[0]) return 0;
  snprintf(name, 64, "/proc/self/fd/%d", fd);
  n = readlink(name, path, 1023); if (n < 0) return 0; path[n] = 0;
  if (!strstr(path, where)) return 0;
  if (left < 0) return 0;
  if (left > 0) { left--; return 0; }
  if (once) left = -1;
  errno = ENOSPC; return 1;
}
#define NEXT(name) ((name##_t)dlsym(RTLD_NEXT, #name))
typedef ssize_t (*write_t)(int, const void *, size_t);
typedef ssize_t (*pwrite_t)(int, const void *, size_t, off_t);
typedef pwrite_t pwrite64_t;
ssize_t write(int f, const void *b, size_t n) { return fails(f) ? -1 : NEXT(write)(f, b, n); }
ssize_t pwrite(int f, const void *b, size_t n, off_t o) {
  return fails(f) ? -1 : NEXT(pwrite)(f, b, n, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off_t o) {
  return fails(f) ? -1 : NEXT(pwrite64)(f, b, n, o); }
"""


def opened(folder: Path, labels: list[str], *, goal: bool = False, **more: Any) -> Annotation:
    """Open the sitting as a day of it does."""
    until = Until([Goal.parse("frequencies +-.2")], len(labels)) if goal else None
    things = read_things(folder / "items.csv", text="body")
    out = folder / "answers.csv"
    return Annotation.open(things, labels, out=out, question="asked", until=until, **more)


def hold(folder: Path, day: int, n: int, confirm: Callable[[Any], None], *, seed: int) -> None:
    """Answer n questions of a day; ``confirm`` is called with each answer that was stored."""
    chance = random.Random(seed)
    annotation = opened(folder, **DAYS[day])
    with contextlib.closing(annotation.store):
        annotation.save()
        asker = annotation.asker
        for at in range(n):
            event = asker.next(chance.choice(["ann", "bo"]))
            if event is None:
                break
            question = asker.questions[event.number]
            said = chance.choice(["yes", "no"])
            asker.answer(event.id, event.person, said, 1.5)
            annotation.store.append(annotation.things.names, asker.new)
            asker.new.clear()
            (label,) = asker.labels_of(question)
            confirm([str(event.id), annotation.things.names[question.item], label, said])
            if at % 10 == 9:
                annotation.save()
            if annotation.until is not None and at % 5 == 4:
                annotation.until.look(annotation.news, asker.answered)
        annotation.end()


def make(folder: Path, n_items: int = 60) -> None:
    """Write the things that people are asked about."""
    rows = "".join(f"item {at},some words {at}\n" for at in range(n_items))
    (folder / "items.csv").write_text("item,body\n" + rows)


def table_of(annotation: Annotation) -> dict[str, list[str]]:
    """Return what the table says, by the id of the question: item, label and answer."""
    table = annotation.table()
    names = ("answer_id", "item", "label", "answer")
    return {id_: row for id_, *row in zip(*(table[name] for name in names), strict=True)}


def is_kept(confirmed: list[list[str]], table: dict[str, list[str]], labels: list[str]) -> bool:
    """Say whether all that was confirmed is in the table, with the labels of now."""
    for id_, item, label, said in confirmed:
        now = label if "x" not in labels else {"c": "x"}.get(label, label)
        is_merged = "b" not in labels and label in ("a", "b")
        if not is_merged and table.get(id_) != [item, now, said]:
            return False
    return True


def child(run: Callable[[Callable[[Any], None]], None], folder: Path) -> tuple[int, Path]:
    """Run something in a process; return its number, and the file of what it confirmed."""
    told = folder.parent / f"{folder.name}.told"
    number = os.fork()
    if number:
        return number, told
    try:
        with told.open("a") as file:

            def confirm(answer: Any) -> None:
                file.write(json.dumps(answer) + "\n")
                file.flush()

            run(confirm)
    except ComplabelError as error:
        with told.open("a") as file:
            file.write(json.dumps({"error": str(error)}) + "\n")
    finally:
        os._exit(0)


def lines(told: Path) -> list[Any]:
    """Return what a process wrote, as far as its lines are whole."""
    text = told.read_text() if told.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith(("]", "}"))]


def days(folder: Path, chance: random.Random) -> list[tuple[int, dict[str, bytes], list[Any]]]:
    """Hold a sitting; return at many moments the day, the files, and what was confirmed."""
    found = []
    for day in range(len(DAYS)):
        number, told = child(functools.partial(hold, folder, day, 40, seed=day), folder)
        while os.waitpid(number, os.WNOHANG) == (0, 0):
            time.sleep(chance.uniform(0.02, 0.2))
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGSTOP)
                time.sleep(0.01)
                files = {each.name: each.read_bytes() for each in folder.glob("answers*")}
                said = [each for each in lines(told) if isinstance(each, list)]
                os.kill(number, signal.SIGCONT)
                if "answers.csv" in files:  # a sitting has one from its start
                    found.append((day, files, said))
    return found


def damaged(whole: bytes, kind: str, chance: random.Random) -> bytes:
    """Return the content of a file after something happened to it."""
    content = bytearray(whole)
    if kind == "flip":
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del content[chance.randrange(len(content)) :]
    elif kind == "block":
        at = chance.randrange(-(-len(content) // BLOCK)) * BLOCK
        end = min(at + BLOCK, len(content))
        content[at:end] = bytes(end - at)
    return bytes(content)


def damage(n_flips: int, n_cuts: int, n_blocks: int) -> None:
    """Damage each file of a sitting as it is at any moment."""
    chance = random.Random(0)
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "sitting"
        folder.mkdir()
        make(folder)
        snapshots = days(folder, chance)
        shutil.rmtree(folder)
        kinds = {"flip": n_flips, "cut": n_cuts, "block": n_blocks, "nothing": n_cuts}
        for file in ("answers.csv.sqlite", "answers.csv.sqlite-journal"):
            has = [each for each in snapshots if each[1].get(file)]
            print(f"{file}: at {len(has)} moments")
            for kind in [each for each, n in kinds.items() for _ in range(n)] if has else ():
                day, files, said = chance.choice(has)
                folder.mkdir()
                make(folder)
                now = {**files, file: damaged(files[file], kind, chance)}
                for each, content in now.items():
                    (folder / each).write_bytes(content)
                counts[f"{file} {kind}"][_outcome(folder, day, said)] += 1
                shutil.rmtree(folder)
    for what, found in counts.items():
        print(what, dict(found))
    assert not any(found["other answers"] for found in counts.values())


def _outcome(folder: Path, day: int, said: list[list[str]]) -> str:
    """Say what a start of the same command does."""
    try:
        annotation = opened(folder, **DAYS[day])
    except ComplabelError as error:
        return "refused" if str(folder / "answers.csv.sqlite") in str(error) else "refused badly"
    with contextlib.closing(annotation.store):
        table = table_of(annotation)
        extra = len(annotation.asker.done) - len(said)
        same = is_kept(said, table, DAYS[day]["labels"]) and 0 <= extra <= 1
        return "the same answers" if same else "other answers"


def kills(n_kills: int) -> None:
    """Kill a sitting within each day."""
    chance, n_confirmed = random.Random(0), 0
    for day in range(len(DAYS)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "sitting"
            folder.mkdir()
            make(folder, 2_000)
            for before in range(day):
                number, told = child(
                    functools.partial(hold, folder, before, 20, seed=before), folder
                )
                os.waitpid(number, 0)
            for at in range(n_kills):
                number, told = child(functools.partial(hold, folder, day, 9_999, seed=at), folder)
                time.sleep(chance.uniform(0.01, 0.6))
                os.kill(number, signal.SIGKILL)
                os.waitpid(number, 0)
            annotation = opened(folder, **DAYS[day])
            confirmed = [each for each in lines(told) if isinstance(each, list)]
            with contextlib.closing(annotation.store):
                table = table_of(annotation)
                assert is_kept(confirmed, table, DAYS[day]["labels"])
                extra = len(annotation.asker.done) - len(confirmed)
            print(f"day {day + 1}: {n_kills} kills, {len(confirmed):,} confirmed answers, all there"
                  f" as they were; {extra} more were stored when it was killed")  # fmt: skip
            n_confirmed += len(confirmed)
    print(f"{n_confirmed:,} confirmed answers")


def full() -> None:
    """Let each write of a sitting fail."""
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    for once in (1, 0):
        counts: collections.Counter[str] = collections.Counter()
        for n in range(10_000):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name) / "sitting"
                folder.mkdir()
                make(folder)
                number, told = child(functools.partial(fill, library, n, once, folder), folder)
                os.waitpid(number, 0)
                said = lines(told)
                errors = [each["error"] for each in said if isinstance(each, dict)]
                confirmed = [each for each in said if isinstance(each, list)]
                outcome = "nothing was confirmed"
                day = 3 if _opens(folder, 3) else 0  # all changes at once, or nothing was stored
                if confirmed or _opens(folder, day):
                    annotation = opened(folder, **DAYS[day])
                    with contextlib.closing(annotation.store):
                        kept = is_kept(confirmed, table_of(annotation), DAYS[day]["labels"])
                    outcome = "kept" if kept else "lost"
            is_named = all(str(folder) in each for each in errors)
            counts[f"{outcome}, {'the message names the file' if is_named else errors}"] += 1
            if not errors:  # all writes came before
                break
        print(f"{'one write fails' if once else 'all writes fail from then on'}: {dict(counts)}")


def fill(
    library: Any, n: int, once: int, folder: Path, confirm: Callable[[Any], None]
) -> None:  # fmt: skip
    """Hold a sitting while the n-th write fails; a day that failed is begun anew."""
    library.fail_after(n, once, f"{folder}/".encode())
    for day in range(len(DAYS)):
        for _ in range(2):
            try:
                hold(folder, day, 4, confirm, seed=day)
                break
            except ComplabelError as error:
                confirm({"error": str(error)})


def _opens(folder: Path, day: int) -> bool:
    with contextlib.suppress(ComplabelError):
        opened(folder, **DAYS[day]).store.close()
        return True
    return False


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("damage", "kills", "full"))
    for name, default in (("flips", 300), ("cuts", 60), ("blocks", 60), ("kills", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    logging.disable()
    if given.what == "damage":
        damage(given.flips, given.cuts, given.blocks)
    elif given.what == "kills":
        kills(given.kills)
    elif "LD_PRELOAD" not in os.environ:
        with tempfile.TemporaryDirectory() as name:
            source, made = Path(name) / "failing.c", Path(name) / "failing.so"
            source.write_text(FAILING)
            subprocess.run(["cc", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
            again = {**os.environ, "LD_PRELOAD": str(made)}
            subprocess.run([sys.executable, __file__, "full"], env=again, check=True)
    else:
        full()


if __name__ == "__main__":
    main()
