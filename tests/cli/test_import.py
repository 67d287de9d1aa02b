"""`complabel import` as it is typed."""

import json
import shlex

import pytest
from tests.cli.own import ITEMS, N_ANSWERED, NAMES, read_table
from tests.importers.samples import JUDGED, LABEL_STUDIO

from complabel.cli import _import
from complabel.importers import FORMATS


def test_the_formats_are_those_of_the_importers():
    assert sorted(_import.NAMES) == sorted(format_.name for format_ in FORMATS)


def test_an_export_becomes_a_table_and_is_counted(run, folder):
    code, out, err = run("import", "export.json", "--absent", "not_this", "--out", "my answers.csv")
    assert code == 0
    rows = read_table(folder / "my answers.csv")
    assert [row["item"] for row in rows] == list(ITEMS[:N_ANSWERED])
    assert [row["label"] for row in rows] == [
        row["label"] for row in read_table(folder / "named.csv")
    ]
    assert {row["answer"] for row in rows} == {"no"}
    lines = out.splitlines()
    assert lines[0] == "export.json:"
    assert "  60  tasks" in lines
    assert lines[-2:] == ["wrote my answers.csv", "next: complabel inspect 'my answers.csv'"]
    assert "note: The export does not list the labels on offer" in err
    assert "'not_this'" not in err


def test_what_a_plain_form_means_is_asked_and_the_answer_of_the_message_reads_it(run, folder):
    """A form of one's own, as most have it: people tick what applies."""
    text = (folder / "export.json").read_text("utf-8").replace("not_this", "my tags")
    (folder / "plain.json").write_text(text, "utf-8")
    code, out, err = run("import", "plain.json", "--out", "answers.csv")
    assert (code, out) == (1, "")
    assert not (folder / "answers.csv").exists()
    lines = [line.strip() for line in err.splitlines()]
    assert lines[0].startswith("error: plain.json: nothing says what people's choices mean")
    assert lines[1].startswith("control 'my tags' (used 60 times): ")
    ticked = "--present 'my tags' --read-as ticked --label-names FILE"
    meaning = lines[lines.index(ticked) + 1]
    assert meaning == "people ticked all labels that apply; the others do not"
    told = shlex.split(ticked.replace("FILE", "labels.txt"))
    assert run("import", "plain.json", *told, "--out", "answers.csv")[0] == 0
    rows = read_table(folder / "answers.csv")
    assert [row["answer"] for row in rows].count("yes") == N_ANSWERED
    assert len(rows) == N_ANSWERED * len(NAMES)


LVIS = {
    "images": [{"id": 1, "neg_category_ids": [2], "not_exhaustive_category_ids": []}],
    "annotations": [{"id": 5, "image_id": 1, "category_id": 1}],
    "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}, {"id": 3, "name": "emu"}],
}


def test_labels_that_nobody_mentioned_are_kept_if_asked_for(run, folder):
    (folder / "lvis.json").write_text(json.dumps(LVIS), encoding="utf-8")
    code, _, err = run("import", "lvis.json", "--out", "answers.parquet")
    assert code == 0
    assert (
        "lists 3 labels, but the answers mention only 2 of them; keep all names with --labels-out"
        in err
    )
    code, out, err = run("import", "lvis.json", "--out", "all.parquet", "--labels-out", "all.txt")
    assert (code, err) == (0, "")
    assert (folder / "all.txt").read_text(encoding="utf-8") == "cat\ndog\nemu\n"
    assert "next: complabel inspect all.parquet --label-names all.txt\n" in out


def test_labels_of_a_file_without_a_list_are_those_mentioned(run, folder):
    run("import", "export.json", "--out", "answers.csv", "--labels-out", "found.txt")
    assert (folder / "found.txt").read_text("utf-8").splitlines() == sorted(NAMES)


def test_options_reach_the_importer(run, folder):
    (folder / "ls.json").write_text(json.dumps(LABEL_STUDIO), encoding="utf-8")
    code, _, _ = run(
        "import", "ls.json", "--absent", "not_this", "--present", "this", "--out", "answers.csv"
    )
    assert code == 0
    said = {(row["label"], row["answer"]) for row in read_table(folder / "answers.csv")}
    assert ("city", "yes") in said
    assert ("sea", "no") in said
    (folder / "codes.csv").write_text("item,sea,sky\na,J,N\nb,?,N\n", encoding="utf-8")
    coded = ("--from", "coded", "--yes", "J", "--no", "N", "--unsure", "?")
    assert run("import", "codes.csv", *coded, "--out", "coded.csv")[0] == 0
    rows = read_table(folder / "coded.csv")
    assert [row["answer"] for row in rows] == ["yes", "no", "unsure", "no"]


OWN_FORMAT = """
from complabel.importers import Format

def read(path, options, tally):
    pairs = [line.split() for line in path.read_text().splitlines()]
    tally.counts["lines"] = len(pairs)
    yield {name: list(found) for name, found in zip(("item", "label"), zip(*pairs))}

LINES, NUMBER = Format("lines", "a line for each", lambda head: False, read), 7
"""


def test_a_format_of_ones_own_is_named_by_its_module(run, folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "own_format.py").write_text(OWN_FORMAT, encoding="utf-8")
    (folder / "lines.txt").write_text("a sea\nb sky\n", encoding="utf-8")
    told = ("import", "lines.txt", "--out", "other.csv", "--from")
    code, out, _ = run("import", "lines.txt", "--out", "answers.csv", "--from", "own_format:LINES")
    assert (code, "2  lines" in out) == (0, True)
    rows = read_table(folder / "answers.csv")
    assert [(row["item"], row["label"]) for row in rows] == [("a", "sea"), ("b", "sky")]
    for name in ("own_format:NUMBER", "own_format:NONE", "no_module:LINES"):
        code, _, err = run(*told, name)
        assert (code, f"--from is '{name}'" in err) == (1, True)
    code, _, err = run(*told, "own_format:LINES", "--yes", "1")
    assert (code, "--yes" in err) == (1, True)  # which the format does not use
    assert not (folder / "other.csv").exists()


def test_who_ticked_nothing_is_asked_about(run, folder):
    (folder / "ticks.csv").write_text("item,anna\na,sea\nb,\n", encoding="utf-8")
    (folder / "two.txt").write_text("sea\nsky\n", encoding="utf-8")
    told = ("--from", "columns", "--present", "anna", "--read-as", "ticked")
    told += ("--label-names", "two.txt", "--out", "answers.csv")
    code, _, err = run("import", "ticks.csv", *told)
    assert (code, "--unselected no" in err) == (1, True)
    assert not (folder / "answers.csv").exists()
    assert run("import", "ticks.csv", *told, "--unselected", "perhaps")[0] == 2
    assert run("import", "ticks.csv", *told, "--unselected", "no")[0] == 0
    said = [(row["item"], row["answer"]) for row in read_table(folder / "answers.csv")]
    assert said == [("a", "yes"), ("a", "no"), ("b", "no"), ("b", "no")]


def test_people_with_a_column_each(run, folder):
    (folder / "sheet.csv").write_text("item,anna,ben\na,sea;sky,\nb,,fog\n", encoding="utf-8")
    told = ("--from", "columns", "--absent", "anna", "--absent", "ben=Ben B.")
    code, _, _ = run("import", "sheet.csv", *told, "--separator", ";", "--out", "answers.csv")
    assert code == 0
    wanted = ("item", "label", "annotator", "question")
    assert [[row[name] for name in wanted] for row in read_table(folder / "answers.csv")] == [
        ["a", "sea", "anna", "named"],
        ["a", "sky", "anna", "named"],
        ["b", "fog", "Ben B.", "named"],
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json", "--out", "a.csv"], "none.json: no such file; check the path"),
        (["export.json", "--out", "none/a.csv"], "--out none/a.csv: there is no folder none"),
        (["export.json", "--out", "a.txt"], "end it in .csv, .csv.gz or .parquet"),
        (["export.json", "--out", "a.csv", "--from", "labels"], "--from is 'labels'"),
        (["labels.txt", "--out", "a.csv"], "labels.txt: the format was not recognized"),
        (["export.json", "--out", "a.csv", "--absent", "x"], "has no choice in a control 'x'"),
        (["export.json", "--out", "export.json"], "end it in"),
        (["named.csv", "--out", "named.csv"], "the command also reads this file; give another"),
    ],
)
def test_what_cannot_be_read_is_said_and_nothing_is_written(run, folder, arguments, message):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = run("import", *arguments)
    assert code == 1
    assert err.startswith("error: ")
    assert message in err
    assert "Traceback" not in out + err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_verdicts_of_a_judge_become_a_machines_table(run, folder):
    (folder / "scores.json").write_text(json.dumps(JUDGED["langfuse"]), "utf-8")
    told = ("--met-from", "helpful=0.5", "--yes", "warm", "--no", "cold", "--out", "judge.csv")
    code, _, err = run("import", "scores.json", *told)
    assert code == 1
    assert "--only 'EVAL'" in err
    code, out, err = run("import", "scores.json", *told, "--only", "EVAL")
    assert code == 0, err
    assert "'helpful' from 0.5 on" in err
    assert "complabel ask --against judge.csv" in out
    assert len(read_table(folder / "judge.csv")) == 6
    for wrong in ("x", "helpful=x", "helpful=nan"):
        code, _, err = run("import", "scores.json", "--met-from", wrong, "--out", "new.csv")
        assert code == 1
        assert "--met-from" in err
