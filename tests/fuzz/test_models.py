import re

import numpy as np
import pytest
from tests.fuzz import models

import complabel
from complabel.errors import ModelFileError


def test_many_mutants_are_loaded_or_cleanly_refused(capsys):
    assert models.main(["--mutants", "150", "--seed", "2026"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    counts = [int(count.replace(",", "")) for count in re.findall(r"([\d,]+) re", last)]
    assert sum(counts) == 150
    assert len(counts) >= 2  # some are read


def test_the_files_that_are_mutated_are_sound(tmp_path):
    assert len(models.sound()) > len(models.METHODS)
    for content, _, _ in models.sound():
        assert models.attempt(content, tmp_path / "m") == "read"


@pytest.mark.parametrize(
    ("raised", "shown"),
    [(IndexError("out of range"), "IndexError: out of range"), (ModelFileError("no"), "say where")],
    ids=["crash", "vague"],
)
def test_a_find_is_told(monkeypatch, capsys, raised, shown):
    def broken(path):
        raise raised

    monkeypatch.setattr(complabel, "load", broken)
    assert models.main(["--mutants", "1", "--seed", "5"]) == 1
    assert shown in capsys.readouterr().out
    assert models.main(["--only", "0", "--seed", "5"]) == 1
    assert "Traceback" in capsys.readouterr().out


def test_a_crash_behind_a_refusal_is_a_find(monkeypatch, tmp_path):
    def hides(path):
        raise ModelFileError(f"{path} cannot be loaded") from IndexError("out of range")

    monkeypatch.setattr(complabel, "load", hides)
    with pytest.raises(IndexError):
        models.attempt(np.zeros(3).tobytes(), tmp_path / "m")
