import re

import pytest
from tests.fuzz import importers

from complabel.errors import DatasetFormatError
from complabel.importers import FORMATS, Format


@pytest.fixture
def unguarded(monkeypatch):
    """Leave this process without the limits that a worker has."""
    monkeypatch.setattr(importers, "guard", lambda: None)


@pytest.fixture(autouse=True)
def quiet(recwarn):
    """Let answers of which the file does not list the labels be made without a warning."""


def test_the_files_that_are_mutated_are_sound(tmp_path):
    outcomes = set()
    for number, seed in enumerate(importers.SEEDS[::3]):
        path = tmp_path / f"{number}-{seed.name}"
        content = seed.pack(seed.content)
        path.write_bytes(content)
        outcomes.add((seed.format, importers.import_one(seed, path, content)))
    formats = {seed.format for seed in importers.SEEDS[::3]}
    assert {(name, "read") for name in formats} <= outcomes
    assert formats <= {each.name for each in FORMATS}


def test_mutants_are_read_or_cleanly_refused(unguarded, capsys):
    assert importers.main(["--mutants", "150", "--seed", "2024"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("150 mutants of seed 2024: ")
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (\w+)[,;]", last)}
    assert counts["read"] > 15
    assert counts["DatasetFormatError"] > 50
    assert counts["finds"] == 0


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (KeyError("deep inside"), "KeyError: "),
        (MemoryError(), "MemoryError: "),
        (RecursionError("too deep"), "RecursionError: 'too deep'"),
        (DatasetFormatError("somewhere"), "AssertionError: 'somewhere'"),
    ],
    ids=["key", "memory", "recursion", "vague"],
)
def test_a_find_is_told_kept_and_replayed(unguarded, monkeypatch, tmp_path, capsys, raised, told):
    def read(path, options, tally):
        raise raised
        yield

    watch(monkeypatch, read)
    assert importers.main(["--mutants", "2", "--seed", "5", "--out", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "mutant 1 of seed 5, of range(0, 2): " + told in out
    kept = (tmp_path / "5-1-a.csv").read_bytes()
    assert kept == importers.make_mutant(5, 1)[1]
    assert importers.main(["--only", "1", "--seed", "5"]) == 1
    assert "Traceback" in capsys.readouterr().out


def watch(monkeypatch, read):
    """Put a format of the test's own in the place of all others."""
    own = Format("own", "a format of this test", lambda head: True, read)
    monkeypatch.setattr(importers, "FORMAT", {"own": own})
    monkeypatch.setattr(importers, "FORMATS", (own,))
    monkeypatch.setattr(importers, "SEEDS", [importers.Seed("own", "a.csv", b"a,b\n1,2\n")])
