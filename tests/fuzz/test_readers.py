import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz import mutants, readers

from complabel.errors import DatasetFormatError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def unguarded(monkeypatch):
    """Leave this process without the limits that a worker has."""
    monkeypatch.setattr(readers, "prepare", lambda: None)


@pytest.mark.parametrize("kind", mutants.KINDS, ids=lambda kind: "+".join(kind.files))
def test_the_files_that_are_mutated_are_sound(kind, tmp_path):
    for name, content in kind.files.items():
        (tmp_path / name).write_bytes(kind.pack(content))
    found = kind.read(tmp_path)
    assert found.n_samples >= 4
    assert found.n_labels >= 2


def test_mutants_are_read_or_cleanly_refused(unguarded, capsys):
    assert readers.main(["--mutants", "600", "--seed", "2024"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("600 mutants of seed 2024: ")
    counts = [int(count.replace(",", "")) for count in re.findall(r"([\d,]+) [DIr]", last)]
    assert sum(counts) == 600
    assert "; 0 finds, " in last


def test_the_same_seed_and_index_give_the_same_mutant():
    first, again, other = (
        [mutants.make_mutant(seed, index)[1] for index in range(100)] for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other
    assert len({tuple(files.values()) for files in first}) > 90


@pytest.mark.parametrize(
    ("raised", "shown"),
    [
        (ValueError("deep inside"), "ValueError: deep inside"),
        (MemoryError(), "MemoryError: "),
        (RuntimeWarning("invalid value"), "RuntimeWarning: invalid value"),
        (DatasetFormatError("somewhere"), "AssertionError: somewhere"),
    ],
)
def test_a_find_is_told_kept_and_replayed(unguarded, monkeypatch, tmp_path, capsys, raised, shown):
    def broken(folder):
        raise raised

    monkeypatch.setattr(mutants, "KINDS", [mutants.Kind({"toy.svm": b"0 1:1\n"}, broken)])
    assert readers.main(["--mutants", "2", "--seed", "5", "--out", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"mutant 1 of seed 5: {shown}" in out
    assert "2 finds, " in out
    kept = (tmp_path / "5-1" / "toy.svm").read_bytes()
    assert kept == mutants.make_mutant(5, 1)[1]["toy.svm"]
    assert readers.main(["--only", "1", "--seed", "5"]) == 1
    assert "Traceback" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_runs_from_the_root_in_several_processes():
    completed = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.readers", "--mutants", "501", "--jobs", "2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "501 of 501 mutants, 0 finds" in completed.stdout
    assert completed.stdout.splitlines()[-1].startswith("501 mutants of seed 0: ")
