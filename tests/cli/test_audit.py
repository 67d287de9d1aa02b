"""`complabel ask --against` and `complabel audit`: from a machine's labels to a page."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from tests.cli.own import read_table, write_back, write_table
from tests.frequencies.test_strata import world

from complabel._drawn import ByMachine
from complabel.live._drawing import read_questions

NAMES = ["cat", "dog", "sofa", "tree"]


HEADER = ["item", "label", "answer", "question"]
KNOWN = ("--items", "all.txt", "--label-names", "labels.txt")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Y, machine = world(200, 4)
    rows = [
        (f"i{item}", NAMES[label], ["no", "yes"][machine[item, label]], "asked")
        for item in range(200)
        for label in range(4)
    ]
    write_table(tmp_path / "machine.csv", HEADER, rows)
    (tmp_path / "labels.txt").write_text("\n".join(NAMES), "utf-8")
    (tmp_path / "all.txt").write_text("".join(f"i{at}\n" for at in range(200)), "utf-8")
    return Y, machine


def answer(questions, target, Y):
    rows = read_table(Path(questions))
    for row in rows:
        row["answer"] = ["no", "yes"][Y[int(row["item"][1:]), NAMES.index(row["label"])]]
    write_back(target, rows)
    return {(row["item"], row["label"]) for row in rows}


def test_from_a_machine_to_a_page_in_two_rounds(folder, tmp_path, run):
    Y, machine = folder
    code, out, _ = run("ask", "--against", "machine.csv", "-n", 60, "--out", "check.csv")
    assert code == 0
    assert "complabel audit machine.csv" in out
    text = (tmp_path / "check.csv").read_text(encoding="utf-8")
    assert not re.search(SAYS, text)
    first = answer("check.csv", tmp_path / "people.csv", Y)
    words = np.array([machine[int(item[1:]), NAMES.index(label)] for item, label in first])
    assert words.sum() == 30
    options = ("--against", "machine.csv", "-n", 40, "--seed", 1, "--out", "more.csv")
    assert run("ask", "people.csv", *options)[0] == 0
    assert answer("more.csv", tmp_path / "more-people.csv", Y).isdisjoint(first)
    files = ("machine.csv", "people.csv", "more-people.csv")
    code, out, _ = run("audit", *files, "--html", "audit.html", "--json", "audit.json")
    assert code == 0
    assert "--against machine.csv --out" in out
    assert "of 4 labels" in out
    told = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert told["n_answers"] == 100
    assert set(told["labels"]) == set(NAMES)
    for at, name in enumerate(NAMES):
        low, high = told["labels"][name]["interval"]
        assert low - 0.02 <= Y[:, at].mean() <= high + 0.02
    assert "of 4 labels" in (tmp_path / "audit.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--question", "named"), "--question"),
        (("--question", "ticked", "-n", 201), "200"),
        (("--to-evaluate", "m.safetensors"), "--to-evaluate"),
        (("--all-known",), "--all-known"),
        (("--all-items",), "--all-items"),
        (("--features", "X.csv"), "--features"),
        (("-n", 900), "900"),
    ],
)
def test_what_does_not_go_with_a_machine_is_refused(folder, options, named, run):
    given = options if "-n" in options else ("-n", 10, *options)
    code, _, errors = run("ask", "--against", "machine.csv", *given, "--out", "check.csv")
    assert code == 1
    assert named in errors


def asked(folder, tmp_path, run, *options, n=60):
    """Let people answer some questions; return what they were asked."""
    assert run("ask", *options, "-n", n, "--out", "check.csv")[0] == 0
    return answer("check.csv", tmp_path / "people.csv", folder[0])


AGAINST = ("--against", "machine.csv")
SAYS, DRAWN = r"machine \w{8} [yn]", r"machine \w{8} ~\w+"  # in clear, and sealed


@pytest.mark.parametrize("tool", ["spreadsheet", "label-studio"])
def test_forms_by_what_a_machine_says_come_back_and_questions_follow(folder, tmp_path, run, tool):
    Y, _ = folder
    rows = [(f"i{at}", f"text {at}") for at in range(200)]
    write_table(tmp_path / "shown.csv", ["item", "text"], rows)
    out = {"spreadsheet": "forms.csv", "label-studio": "tasks.json"}[tool]
    ask = ("ask", *AGAINST, "--items", "shown.csv", "--question", "ticked")
    assert run(*ask, "-n", 30, "--for", tool, "--out", out)[0] == 0
    text = (tmp_path / out).read_text("utf-8")
    assert re.search(DRAWN, text)
    assert "form." not in text
    if tool == "label-studio":
        tasks = json.loads(text)
        for number, task in enumerate(tasks):
            yes = [name for at, name in enumerate(NAMES) if Y[int(task["data"]["item"][1:]), at]]
            value = {"from_name": "applies", "value": {"choices": yes or ["none apply"]}}
            task |= {"id": number, "annotations": [{"id": number, "result": [value]}]}
        (tmp_path / "export.json").write_text(json.dumps(tasks), "utf-8")
        assert run("import", "export.json", "--out", "people.csv")[0] == 0
        n_answers = 120
    else:
        listed = read_questions(tmp_path / out, {f"i{at}": at for at in range(200)}, NAMES)
        assert all(ByMachine.of(each.drawn).labels == 4 for each in listed.questions)
        answer(out, tmp_path / "people.csv", Y)
        rows = read_table(tmp_path / "people.csv")
        rows[5]["answer"] = "unsure"
        write_back(tmp_path / "people.csv", rows)
        n_answers = 119
    known = {row["item"] for row in read_table(tmp_path / "people.csv")}
    assert run("ask", "people.csv", *AGAINST, "-n", 20, "--out", "more.csv")[0] == 0
    assert known.isdisjoint(item for item, _ in answer("more.csv", tmp_path / "single.csv", Y))
    audit = ("audit", "machine.csv", "people.csv", "single.csv", "--json", "audit.json")
    code, said, _ = run(*audit)
    assert (code, "do not count" in said) == (0, False)
    told = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert told["n_answers"] == n_answers + 20
    code, _, errors = run(ask[0], "people.csv", *ask[1:], "-n", 171, "--out", "next.csv")
    assert (code, "170 items" in errors) == (1, True)
    assert run(ask[0], "people.csv", *ask[1:], "-n", 170, "--out", "next.csv")[0] == 0
    assert known.isdisjoint(item for item, _ in answer("next.csv", tmp_path / "rest.csv", Y))
    # All items were asked about, but for one label of one.
    assert run("audit", "machine.csv", "people.csv", "rest.csv", "--json", "all.json")[0] == 0
    told = json.loads((tmp_path / "all.json").read_text("utf-8"))["labels"]
    often = [told[name]["frequency"] for name in NAMES]
    np.testing.assert_allclose(often, Y.mean(axis=0), atol=(120 - n_answers) / 200 + 1e-9)


def test_files_in_the_wrong_order_are_refused(folder, tmp_path, run):
    asked(folder, tmp_path, run, *AGAINST)
    swapped = ("machine.csv", "--against", "people.csv", "--out", "more.csv")
    for words in (("audit", "people.csv", "machine.csv"), ("ask", *swapped)):
        code, _, errors = run(*words)
        assert (code, "60 of people.csv" in errors, "order" in errors) == (1, True, True)


def test_answers_to_another_months_questions_say_nothing(folder, tmp_path, run):
    """Neither of items that the machine has not, nor with a list of all of them."""
    asked(folder, tmp_path, run, *AGAINST)
    text = (tmp_path / "machine.csv").read_text("utf-8")
    items = {line.split(",")[0] for line in text.splitlines()[1:]}
    header, rows = text.split("\n", 1)
    later = "\n".join(f"later-{line}" for line in rows.splitlines())
    (tmp_path / "later.csv").write_text(f"{header}\n{later}\n", "utf-8")
    (tmp_path / "both.txt").write_text("\n".join([*items, *(f"later-{x}" for x in items)]), "utf-8")
    code, _, errors = run("audit", "later.csv", "people.csv")
    assert (code, "--items" in errors, "--before" in errors) == (1, False, True)
    code, _, errors = run("audit", "later.csv", "people.csv", "--items", "both.txt")
    assert (code, "no answer is about" in errors) == (1, True)


def test_the_next_month_follows_the_one_before(folder, tmp_path, run):
    """Both number their items alike, and no answer of one is taken for one of the other."""
    asked(folder, tmp_path, run, *AGAINST)
    (tmp_path / "people.csv").rename("january-people.csv")
    (tmp_path / "machine.csv").rename("january.csv")
    Y, machine = world(200, 4, seed=5)
    words = [
        (f"i{item}", NAMES[label], ["no", "yes"][machine[item, label]], "asked")
        for item, label in np.ndindex(machine.shape)
    ]
    write_table(tmp_path / "machine.csv", HEADER, words)
    (tmp_path / "check.csv").unlink()
    before = ("--before", "january.csv", "january-people.csv")
    code, out, _ = run("ask", *AGAINST, *before, "--out", "check.csv")
    assert (code, "40 questions in place of 80" in out) == (0, True)
    answer("check.csv", tmp_path / "people.csv", Y)
    files = ("machine.csv", "people.csv")
    code, out, errors = run("audit", *files, *before, "--json", "a.json", "--html", "a.html")
    assert (code, "another machine" in errors) == (0, False)
    assert f"--against machine.csv {shlex.join(before)} --out" in out
    told = json.loads((tmp_path / "a.json").read_text("utf-8"))
    changes = told["changes"]
    assert (told["n_answers"], changes["n_named"], changes["n_shared"]) == (40, 200, 0)
    page = (tmp_path / "a.html").read_text("utf-8")
    assert page.count("Since january.csv") >= 2
    value, low, high = changes["differences"]["precision"][-1]
    assert low < value < high
    code, out, _ = run("audit", *files, *before, "--same-items", "--json", "b.json")
    shared = json.loads((tmp_path / "b.json").read_text("utf-8"))["changes"]
    same = (machine == folder[1]).mean()
    assert (shared["n_shared"], shared["what"]) == (200, "machine")
    assert shared["agreement"][-1] == pytest.approx(same)
    assert f"{100 * same:.1f} %" in out
    taken = run("audit", "machine.csv", before[2], *files[1:], "--contradictions", "drop")
    assert "another machine" in taken[2]
    write_table(tmp_path / "yes.csv", HEADER, [row for row in words if row[2] == "yes"])
    for odd, named in (
        (("machine.csv", "--before", "january.csv"), "two files"),
        (("machine.csv", *before, "--other", "january.csv"), "--before"),
        (("yes.csv", *before, "--only-yes", "--items", "all.txt"), "--before"),
    ):
        code, _, errors = run("audit", odd[0], "people.csv", *odd[1:])
        assert (code, named in errors) == (1, True)


def test_a_check_ends_with_2_unless_all_labels_can_be_used(folder, tmp_path, run):
    asked(folder, tmp_path, run, *AGAINST, n=300)
    for least, code in ((0.01, 0), (0.999, 2)):
        words = ("audit", "machine.csv", "people.csv", "--least", least)
        assert (run(*words)[0], run(*words, "--check")[0]) == (0, code)
    assert run("audit", "machine.csv", "no.csv", "--check")[0] == 1


def test_answers_about_items_that_the_machine_lacks_need_all_items(folder, tmp_path, run):
    of_people = asked(folder, tmp_path, run, *AGAINST)
    lines = (tmp_path / "machine.csv").read_text("utf-8").splitlines(keepends=True)
    gone = {item for item, _ in of_people if item.endswith("7")}
    kept = [line for line in lines if line.split(",")[0] not in gone]
    (tmp_path / "machine.csv").write_text("".join(kept), "utf-8")
    code, _, errors = run("audit", "machine.csv", "people.csv")
    assert (code, f"({len(gone)} in all)" in errors, "--items" in errors) == (*(1, True, False),)
    code, out, _ = run("audit", "machine.csv", "people.csv", "--items", "all.txt")
    assert (code, f"{4 * len(gone)} of 800 pairs" in out) == (0, True)
    code, out, _ = run("ask", "people.csv", *AGAINST, "--items", "all.txt", "--out", "more.csv")
    assert (code, "answered-more.csv --items all.txt" in out) == (0, True)


def test_labels_that_the_machine_lacks_need_all_names(folder, tmp_path, run):
    asked(folder, tmp_path, run, *AGAINST)
    text = (tmp_path / "people.csv").read_text("utf-8")
    (tmp_path / "people.csv").write_text(text.replace("dog", "Dog"), "utf-8")
    code, _, errors = run("audit", "machine.csv", "people.csv")
    assert (code, "leave the cell as it was, or blank" in errors) == (1, True)
    (tmp_path / "people.csv").write_text(re.sub(DRAWN, "", text.replace("dog", "Dog")), "utf-8")
    code, _, errors = run("audit", "machine.csv", "people.csv")
    assert (
        code,
        "labels that machine.csv" in errors,
        "'Dog'" in errors,
        "--label-names" in errors,
    ) == (*(1, True, True, True),)
    (tmp_path / "labels.txt").write_text("\n".join([*NAMES, "Dog"]), "utf-8")
    given = ("--label-names", "labels.txt", "--json", "audit.json")
    assert run("audit", "machine.csv", "people.csv", *given)[0] == 0
    told = json.loads((tmp_path / "audit.json").read_text("utf-8"))["labels"]
    assert (told["Dog"]["machine"], told["dog"]["asked"]["yes"]) == (None, 0)


def test_what_a_machine_does_not_list_is_a_no_only_if_the_user_says_so(folder, tmp_path, run):
    asked(folder, tmp_path, run, *AGAINST)
    lines = (tmp_path / "machine.csv").read_text("utf-8").splitlines(keepends=True)
    rows = [line for line in lines if "no" not in line.split(",")]
    (tmp_path / "yes.csv").write_text("".join(rows), "utf-8")
    first_two = [",".join(line.split(",")[:2]) for line in rows]
    (tmp_path / "list.csv").write_text("\n".join(first_two), "utf-8")
    told = {}
    for machine, given, named in (
        ("yes.csv", (), "--only-yes"),
        ("yes.csv", ("--only-yes",), "--items"),
        ("machine.csv", ("--only-yes", "--items", "all.txt"), "leave out"),
        ("yes.csv", ("--only-yes", "--items", "all.txt"), None),
        ("list.csv", ("--only-yes", "--items", "all.txt"), None),
        ("machine.csv", (), None),
    ):
        code, _, errors = run("audit", machine, "people.csv", *given, "--json", f"{machine}.json")
        assert (code, named is None or named in errors) == (int(named is not None), True)
        if named is None:
            told[machine] = json.loads((tmp_path / f"{machine}.json").read_text("utf-8"))
    assert told["yes.csv"] == told["list.csv"] == told["machine.csv"]
    more = ("--against", "yes.csv", "--only-yes", "--items", "all.txt", "--out", "more.csv")
    code, out, _ = run("ask", "people.csv", *more)
    assert (code, "--items all.txt --only-yes" in out) == (0, True)
    code, _, errors = run("audit", "list.csv", "people.csv", "--items", "all.txt")
    assert (code, "--only-yes" in errors) == (1, True)
    code, out, _ = run("audit", "list.csv", "people.csv", "--items", "all.txt", "--only-yes")
    assert (code, "--only-yes --machine list.csv --features" in out) == (0, True)


def write_wide(path, values, names=NAMES):
    rows = [[f"i{at}", *row] for at, row in enumerate(values.tolist())]
    write_table(path, ["item", *names], rows)


def test_a_table_of_probabilities_is_a_machine(folder, tmp_path, run):
    Y, machine = folder
    asked(folder, tmp_path, run, *AGAINST)
    at = [2, 0, 3, 1]  # columns in another order
    write_wide(tmp_path / "wide.csv", machine[:150, at], [NAMES[each] for each in at])
    lines = (tmp_path / "machine.csv").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "machine.csv").write_text("".join(lines[:601]), "utf-8")
    found = []
    for name in ("wide.csv", "machine.csv"):
        assert run("audit", name, "people.csv", *KNOWN, "--json", f"{name}.json")[0] == 0
        found.append(json.loads((tmp_path / f"{name}.json").read_text("utf-8")))
    assert found[0] == found[1]
    write_wide(tmp_path / "scores.csv", np.where(Y, 0.7, 0.05))
    code, out, _ = run("ask", "--against", "scores.csv", "--out", "more.csv")
    assert (code, f"yes about {Y.sum()} pairs" in out) == (0, True)
    write_wide(tmp_path / "far.csv", 3 * machine)
    write_wide(tmp_path / "other.csv", machine, ["cat", "dog", "sofa", "car"])
    (tmp_path / "words.csv").write_text("item,labels\ni1,cat;dog\n", "utf-8")
    refused = {"far.csv": "to 3", "other.csv": "'car'", "words.csv": "complabel import"}
    for name, named in refused.items():
        code, _, errors = run("audit", name, "people.csv", "--label-names", "labels.txt")
        assert (code, named in errors) == (1, True)


def test_unsure_people_count(folder, tmp_path, run):
    asked(folder, tmp_path, run, *AGAINST)
    text = (tmp_path / "people.csv").read_text("utf-8").splitlines(keepends=True)
    unsure = [line.replace("no", "unsure").replace("yes", "?") for line in text[1:9]]
    (tmp_path / "people.csv").write_text("".join([text[0], *unsure, *text[9:]]), "utf-8")
    code, out, _ = run("audit", "machine.csv", "people.csv", "--json", "audit.json")
    assert (code, "People were unsure 8 times" in out) == (0, True)
    told = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert told["n_answers"] == 52


def test_pairs_about_which_people_were_unsure_are_not_asked_again(folder, tmp_path, run):
    first = asked(folder, tmp_path, run, *AGAINST, n=500)
    text = (tmp_path / "people.csv").read_text("utf-8").splitlines(keepends=True)
    for sure in (300, 0):
        unsure = [re.sub(",(yes|no),", ",unsure,", line) for line in text[1 + sure :]]
        (tmp_path / "people.csv").write_text("".join([*text[: 1 + sure], *unsure]), "utf-8")
        options = ("people.csv", *AGAINST, "--force", "--out", "more.csv", "-n")
        assert run("ask", *options, 300)[0] == 0
        assert answer("more.csv", tmp_path / "more.csv", folder[0]).isdisjoint(first)
        code, _, errors = run("ask", *options, 301)
        assert (code, "301 questions are more than the 300 pairs" in errors) == (1, True)


def test_several_machines_are_taken_together_from_files_and_from_annotators(folder, tmp_path, run):
    Y, machine = folder
    second = np.where(np.random.default_rng(5).random(Y.shape) < 0.1, 1 - Y, Y)
    write_wide(tmp_path / "second.csv", second)
    both = ("--against", "machine.csv", "--against", "second.csv")
    code, out, _ = run("ask", *both, "--out", "check.csv")
    assert (code, "80 questions" in out, "the first round" in out) == (0, True, True)
    assert "ask answered-check.csv --against machine.csv --against second.csv --out more.csv" in out
    assert "--other second.csv" in out
    answer("check.csv", tmp_path / "people.csv", Y)
    code, out, _ = run("ask", "people.csv", *both, "--out", "more.csv")
    assert (code, "60 questions" in out, "the first round" in out) == (0, True, False)
    words = ("people.csv", "--json", "audit.json", "--html", "audit.html", "--force")
    code, out, _ = run("audit", "machine.csv", "--other", "second.csv", *words)
    assert code == 0
    told = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    other = told["others"]["second.csv"]
    assert other["same"][-1] == pytest.approx((machine == second).mean())
    assert other["same"][1] == pytest.approx((machine == second)[:, 1].mean())
    low, high = other["audit"]["all_pairs"]["precision"][1:]
    assert low < Y[second == 1].mean() < high
    assert "second.csv" in (tmp_path / "audit.html").read_text("utf-8")
    # The same two machines as annotators of one table.
    rows = [
        (f"i{i}", NAMES[k], ["no", "yes"][said[i, k]], "asked", name)
        for name, said in (("one", machine), ("two", second))
        for i, k in np.ndindex(machine.shape)
    ]
    write_table(tmp_path / "table.csv", [*HEADER, "annotator"], rows)
    code, out, _ = run("audit", "table.csv", *words)
    assert (code, "2 annotators answer the same pairs" in out) == (0, True)
    again = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert again["labels"] == told["labels"]
    assert again["others"]["two"] == other


def test_a_batch_goes_out_and_comes_back_as_a_machine(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tickets.csv").write_text("item,text\nt1,My bill\nt2,It crashes\n", "utf-8")
    (tmp_path / "labels.txt").write_text("billing\nbug\n", "utf-8")
    words = ("ask", "--for", "openai", "--question", "ticked", "--all-items")
    words += ("--items", "tickets.csv")
    words += ("--label-names", "labels.txt", "--out", "batch.jsonl")
    code, _, errors = run(*words)
    assert (code, "--llm" in errors) == (1, True)
    code, out, _ = run(*words, "--llm", "m", "--dry-run")
    assert (code, "2 requests" in out) == (0, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.txt", "tickets.csv"]
    assert run(*words, "--llm", "m")[0] == 0
    assert (
        "ask --against answered-batch.csv --items tickets.csv"
        in run(*words, "--llm", "m", "--force")[1]
    )
    lines = (tmp_path / "batch.jsonl").read_text("utf-8").splitlines()
    content = json.dumps({"billing": "yes", "bug": "no"})
    results = [
        {
            "custom_id": json.loads(line)["custom_id"],
            "response": {
                "status_code": 200,
                "body": {"choices": [{"message": {"content": content}}]},
            },
        }
        for line in lines
    ]
    text = "".join(json.dumps(each) + "\n" for each in results)
    (tmp_path / "results.jsonl").write_text(text, "utf-8")
    known = ("--label-names", "labels.txt")
    code, out, _ = run("import", "results.jsonl", "--out", "machine.csv", *known)
    _, *words = shlex.split(out.splitlines()[-1])  # there are no more than 4 pairs
    against = ("--against", "machine.csv", *known, "--number", "4", "--out", "check.csv")
    assert (code, words) == (0, ["ask", *against])
    code, out, _ = run(*words)
    assert (code, "yes about 2 pairs" in out) == (0, True)
    # What tells little of a machine, or is not about single labels, is looked at first.
    (tmp_path / "results.jsonl").write_text(text.replace("yes", "no"), "utf-8")
    code, out, _ = run("import", "results.jsonl", "--out", "machine.csv", "--force")
    assert (code, out.splitlines()[-1]) == (0, "next: complabel inspect machine.csv")


def test_what_is_about_batches_alone_is_refused_elsewhere(folder, run):
    for options in (("--dry-run",), ("--llm", "m")):
        code, _, errors = run("ask", "--against", "machine.csv", *options, "--out", "check.csv")
        assert (code, "--llm" in errors) == (1, True)


def write_features(path, Y):
    X = Y + np.random.default_rng(0).normal(0, 0.5, Y.shape)
    write_wide(path, X, "abcd")


def test_a_fit_beside_a_machine_says_what_its_answers_were_worth(folder, tmp_path, run):
    Y, _ = folder
    write_features(tmp_path / "X.csv", Y)
    assert run("ask", "--against", "machine.csv", "-n", 80, "--out", "check.csv")[0] == 0
    answer("check.csv", tmp_path / "people.csv", Y)
    options = ("--machine", "machine.csv", "--features", "X.csv", "--out", "model.safetensors")
    code, out, _ = run("fit", "people.csv", *options)
    assert code == 0
    assert "of a person's answer" in out
    assert "gain over people's answers alone" in out
    code, out, _ = run("predict", "model.safetensors", "X.csv", "--out", "predictions.csv")
    assert code == 0
    code, _, error = run("fit", "people.csv", *options, "--method", "ridge", "--force")
    assert code == 1
    assert "--machine needs" in error
    write_table(tmp_path / "machine.csv", ["item", "label"], [["i0", name] for name in NAMES])
    code, _, error = run("fit", "people.csv", *options, "--force")
    assert (code, "--only-yes" in error) == (1, True)
    more = ("--only-yes", "--match-frequencies", "--folds", 0, "--force")
    code, out, error = run("fit", "people.csv", *options, *more)
    assert (code, error, "yes about 4 pairs" in out) == (0, "", True)
    assert "frequency: the estimated share of the items" in out


def test_a_model_beside_a_machine_is_measured_by_fits_beside_it(folder, tmp_path, run):
    Y, _ = folder
    write_features(tmp_path / "X.csv", Y)
    pairs = np.random.default_rng(1).choice(Y.size, 400, replace=False)
    rows = [(f"i{at // 4}", NAMES[at % 4], ["no", "yes"][Y.flat[at]]) for at in pairs]
    write_table(tmp_path / "checked.csv", ["item", "label", "answer"], rows)
    assert run("import", "checked.csv", "--random-questions", "--out", "people.csv")[0] == 0
    beside, chosen = ("--machine", "machine.csv"), "selection-likelihood:kernel=linear,alpha=0.001"
    told = ("--features", "X.csv", "--method", chosen, "--out", "model.safetensors")
    assert run("fit", "people.csv", *beside, *told)[0] == 0
    alone = (*told[:-1], "alone.safetensors")
    assert run("fit", "people.csv", *alone)[0] == 0
    to = ("--out", "decided.safetensors")
    for command, model, given, named in (
        ("evaluate", "model", ("people.csv", "--cross-fit", 2), "--machine"),
        ("decide", "model", ("people.csv", "--cross-fit", 2, *to), "--machine"),
        ("evaluate", "model", ("people.csv", *beside), "--cross-fit"),
        ("evaluate", "model", ("checked.csv", *beside, "--cross-fit", 2), "--random-questions"),
        ("evaluate", "alone", ("people.csv", *beside, "--cross-fit", 2), "leave it out"),
    ):
        code, _, error = run(command, f"{model}.safetensors", "X.csv", "--answers", *given)
        assert (code, named in error) == (1, True)
    measure = ("evaluate", "model.safetensors", "X.csv", "--answers", "people.csv", *beside)
    code = run(*measure, "--cross-fit", 2, "--json", "found.json")[0]
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert (code, found["n_judgements"]) == (0, 400)
    figures = found["figures"]
    assert figures["average_precision"]["low"] > figures["share"]["high"]  # features tell labels


def test_a_fit_to_files_in_the_wrong_order_is_refused(folder, tmp_path, run):
    asked(folder, tmp_path, run, *AGAINST)
    write_features(tmp_path / "X.csv", folder[0])
    options = ("--features", "X.csv", "--out", "model.safetensors")
    code, _, errors = run("fit", "machine.csv", "--machine", "people.csv", *options)
    assert (code, "machine.csv: answers about 800 pairs" in errors) == (1, True)
    assert "60 of people.csv" in errors
    assert "exchange them" in errors
    assert not (tmp_path / "model.safetensors").exists()


def test_a_fit_beside_a_machine_says_how_often_people_were_unsure(folder, tmp_path, run):
    asked(folder, tmp_path, run, *AGAINST, n=80)
    write_features(tmp_path / "X.csv", folder[0])
    text = (tmp_path / "people.csv").read_text("utf-8").splitlines(keepends=True)
    unsure = [re.sub(",(yes|no),", ",unsure,", line) for line in text[1:8]]
    told, chosen = [], "selection-likelihood:kernel=linear,alpha=0.1,scaling=global,rank=none"
    for name, lines in (("people.csv", [*unsure, *text[8:]]), ("sure.csv", text[8:])):
        (tmp_path / name).write_text("".join([text[0], *lines]), "utf-8")
        options = ("--machine", "machine.csv", "--features", "X.csv", "--force", "--method", chosen)
        code, out, _ = run("fit", name, *options, "--out", "model.safetensors")
        assert (code, "people were unsure 7 times" in out) == (0, name == "people.csv")
        told.append(out[out.index("each answer of the machine") :].splitlines()[:3])
    assert told[0] == told[1]


def test_two_systems_and_a_second_person(folder, tmp_path, run):
    Y, machine = folder
    run("ask", "--against", "machine.csv", "-n", 80, "--out", "check.csv")
    answer("check.csv", tmp_path / "people.csv", Y)
    rows = read_table(tmp_path / "people.csv")
    for person, wrong in (("ann", 0), ("ben", 4)):  # ben contradicts ann four times
        said = [
            {**row, "annotator": person, "answer": {"yes": "no", "no": "yes"}[row["answer"]]}
            if at < wrong
            else {**row, "annotator": person}
            for at, row in enumerate(rows)
        ]
        write_back(tmp_path / f"{person}.csv", said)
    code, out, err = run("audit", "machine.csv", "ann.csv", "ben.csv", "--trusted", "ann")
    assert code == 0, err
    assert "a second person: two people agree about 9" in out
    assert "80 pairs" in out
    # Another system does what the first does; of the label cat nobody approves.
    Y[:, 0] = machine[:, 0] = 0
    machine[0, 0] = 1
    rows = read_table(tmp_path / "machine.csv")
    for row in rows:
        row["answer"] = ["no", "yes"][machine[int(row["item"][1:]), NAMES.index(row["label"])]]
    write_back(tmp_path / "other.csv", rows)
    run("ask", "--against", "other.csv", "-n", 80, "--out", "check-other.csv")
    answer("check-other.csv", tmp_path / "other-people.csv", Y)
    files = ("machine.csv", "people.csv", "--versus", "other.csv", "other-people.csv")
    code, out, err = run("audit", *files)
    assert code == 0, err
    lines = out[out.index("machine.csv less other.csv") :].splitlines()
    assert re.match(r"\s+cat: \+", lines[1])
    assert "no difference is known" in "".join(lines[2:5])
    write_back(tmp_path / "other.csv", [row for row in rows if row["item"] != "i7"])
    code, _, err = run("audit", *files)
    assert code == 1
    assert "i7" in err


def test_failed_requests_alone_are_written_again(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.csv").write_text("item,text\na,A\nb,B\n", "utf-8")
    (tmp_path / "labels.txt").write_text("x\ny\n", "utf-8")
    given = ("--items", "items.csv", "--label-names", "labels.txt", "--all-items")
    batch = ("--for", "openai", "--llm", "m", "--question", "ticked", *given)
    assert run("ask", *batch, "--out", "batch.jsonl")[0] == 0
    first, last = (tmp_path / "batch.jsonl").read_text("utf-8").splitlines()
    failed = {"custom_id": json.loads(first)["custom_id"], "response": None, "error": {"code": "x"}}
    (tmp_path / "results.jsonl").write_text(json.dumps(failed), "utf-8")
    again = ("ask", "--failed", "results.jsonl", "--out", "again.jsonl")
    sizes = f"2 requests without an answer, {len(first) + len(last):,} characters"
    code, out, _ = run(*again, "--dry-run")
    assert (code, sizes in out, (tmp_path / "again.jsonl").exists()) == (0, True, False)
    code, out, _ = run(*again)
    assert (code, sizes in out, "import results.jsonl" in out) == (0, True, True)
    assert (tmp_path / "again.jsonl").read_text("utf-8") == f"{first}\n{last}\n"
    for odd in (("results.jsonl",), ("--llm", "n"), ("-n", 5), ("--items", "items.csv")):
        assert run(*again, "--force", *odd)[0] == 1
