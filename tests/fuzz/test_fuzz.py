"""The two commands: mutants are read or cleanly refused, and what is neither is told."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fuzz import driver, importers, mutants, readers
from tests.spawned import python

from complabel.errors import AnnotationError, DatasetFormatError, InputError
from complabel.importers import FORMATS, Format

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def unguarded(monkeypatch, recwarn):
    """Leave this process without the limits that a worker has, and without warnings."""
    monkeypatch.setattr(driver, "guard", lambda target: None)


@pytest.mark.parametrize(
    ("target", "n_mutants", "least"),
    [
        (readers.TARGET, 600, {"read": 30, "DatasetFormatError": 300}),
        (importers.TARGET, 150, {"read": 15, "DatasetFormatError": 50}),
    ],
    ids=["readers", "importers"],
)
def test_mutants_are_read_or_cleanly_refused(target, n_mutants, least, capsys):
    assert driver.main(target, ["--mutants", str(n_mutants), "--seed", "2024"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"{n_mutants} mutants of seed 2024: ")
    assert last.endswith("; 0 finds")
    told = last.partition(": ")[2]
    counts = Counter[str]()  # "read", and "read, empty"
    for count, word in re.findall(r"(\d+) (\w+)", told):
        counts[word] += int(count)
    assert all(counts[word] > count for word, count in least.items())


@pytest.mark.parametrize("kind", mutants.KINDS, ids=lambda kind: "+".join(kind.files))
def test_dataset_files_that_are_mutated_are_sound(kind, tmp_path):
    driver.write(tmp_path, {name: kind.pack(content) for name, content in kind.files.items()})
    found = kind.read(tmp_path)
    assert found.n_samples >= 4
    assert found.n_labels >= 2


def test_files_of_answers_that_are_mutated_are_sound(tmp_path):
    read = set()
    for seed in importers.SEEDS:
        driver.write(tmp_path, {seed.name: seed.pack(seed.content)})
        try:
            if importers.use(seed, tmp_path) == "read":
                read.add(seed.format)
        except (DatasetFormatError, InputError):
            pass  # the options of the seed do not fit it
    assert read == {seed.format for seed in importers.SEEDS} <= {each.name for each in FORMATS}


@pytest.mark.parametrize("target", [readers.TARGET, importers.TARGET])
def test_the_same_seed_and_index_give_the_same_mutant(target):
    first, again, other = ([target.make(seed, n)[1] for n in range(60)] for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert len({tuple(files.values()) for files in first}) > 50


def broken_kind(broken):
    return mutants.Kind({"a.csv": b"0 1:1\n"}, broken)


def broken_seed(broken):
    own = Format(
        "own", "of this test", lambda head: True, lambda path, options, tally: broken(path)
    )
    return importers.Seed(own, "a.csv", b"a,b\n1,2\n")


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (KeyError("deep inside"), "KeyError: "),
        (MemoryError(), "MemoryError: "),
        (RecursionError("too deep"), "RecursionError: 'too deep'"),
        (RuntimeWarning("invalid value"), "RuntimeWarning: 'invalid value'"),
        (driver.TooSlow("a day"), "TooSlow: 'a day'"),
        (DatasetFormatError("somewhere"), "AssertionError: 'somewhere'"),
        (AnnotationError("x" * 9999), "AssertionError: 'xxx"),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    ("target", "origin"),
    [(readers.TARGET, broken_kind), (importers.TARGET, broken_seed)],
    ids=["readers", "importers"],
)
def test_a_find_is_told_kept_and_replayed(tmp_path, capsys, target, origin, raised, told):
    def broken(path):
        raise raised

    if len(str(raised)) > driver.LONGEST and not target.showable:
        return
    files = {"a.csv": b"0 1:1\n"}
    target = replace(target, make=lambda *_: (origin(broken), files))
    assert driver.main(target, ["--mutants", "2", "--seed", "5", "--out", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"mutant 1 of seed 5: {told}" in out
    assert "2 finds" in out
    assert (tmp_path / "5-1" / "a.csv").read_bytes() == files["a.csv"]
    assert driver.main(target, ["--only", "1", "--seed", "5"]) == 1
    assert "Traceback" in capsys.readouterr().out


def test_a_table_of_which_no_answers_can_be_made_is_a_find(tmp_path):
    piece = {"item": ["a"], "label": ["sea"], "answer": ["no"]}  # nothing says what was asked
    driver.write(tmp_path, {"a.csv": b""})
    with pytest.raises(AssertionError, match="no answers"):
        importers.use(broken_seed(lambda path: [piece]), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["readers", "importers"])
def test_the_command_runs_from_the_root_in_several_processes(name):
    words = ("-m", f"tests.fuzz.{name}", "--mutants", 501, "--jobs", 2)
    told = python(*words, cwd=ROOT, timeout=300)
    assert "501 of 501 mutants, 0 finds" in told
    assert told.splitlines()[-1].startswith("501 mutants of seed 0: ")
