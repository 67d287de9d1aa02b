"""`complabel plan`: by answers, by a machine, by a guess; its next step runs."""

import json
import re
import shlex

from tests.cli.test_audit import answer, folder  # noqa: F401


def test_by_a_guess_a_machine_and_the_first_answers(folder, tmp_path, run):  # noqa: F811
    Y, _ = folder
    known = ("--items", "all.txt", "--label-names", "labels.txt")
    code, out, _ = run("plan", *known, "--guess", 0.2, "--within", 0.1)
    assert code == 0
    assert len(re.findall(r"^±0.1 ", out, flags=re.MULTILINE)) == 1
    assert "about ±0.5" in out  # nothing is known yet
    against = ("--against", "machine.csv")
    assert run("plan", *against)[0] == 0
    assert run("ask", *against, "-n", 60, "--out", "check.csv")[0] == 0
    answer("check.csv", tmp_path / "people.csv", Y)
    code, out, _ = run("plan", "people.csv", *against, "--json", "plan.json")
    assert code == 0
    assert "60 of 800" in out
    plan = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert [goal["within"] for goal in plan["goals"]] == [0.1, 0.05, 0.03, 0.02]
    assert plan["decided"]
    following = re.search(r"next: (.*)", out)[1]
    assert run(*shlex.split(following)[1:])[0] == 0


def test_what_says_nothing_is_refused(folder, run):  # noqa: F811
    for words, named in (
        (("--guess", 0.1), "--label-names"),
        (("--against", "machine.csv", "--guess", 0.1), "--guess"),
        (("--items", "all.txt", "--label-names", "labels.txt"), "guess"),
    ):
        code, _, err = run("plan", *words)
        assert (code, named in err) == (1, True)
