"""`complabel labelstudio-config` as it is typed."""

import pytest

from complabel.importers import label_studio_config


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text("sea\nsky & sun\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("question", ["named", "ticked", "both"])
def test_the_configuration_goes_to_the_terminal_and_advice_beside_it(run, question):
    code, out, err = run("labelstudio-config", "labels.txt", "--question", question)
    assert code == 0
    assert out == label_studio_config(["sea", "sky & sun"], question=question) + "\n"
    assert err.splitlines()[0].startswith("next: in Label Studio, paste it")
    told = {
        "named": "--absent not_this",
        "ticked": "--label-names labels.txt",  # the export does not list them
        "both": "--absent not_this --present this",
    }
    assert f"  complabel import export.json {told[question]} --out answers.csv" in err


def test_questions_of_ask_need_no_labels_and_go_to_a_file(run, folder):
    arguments = ("--question", "asked", "--item-kind", "text", "--out", "config.xml")
    code, out, err = run("labelstudio-config", *arguments)
    assert (code, out) == (0, "wrote config.xml\n")
    expected = label_studio_config([], question="asked", show="text")
    assert (folder / "config.xml").read_text(encoding="utf-8") == expected + "\n"
    assert "  complabel import export.json --out answers.csv" in err


@pytest.mark.parametrize("question", ["ticked", "named"])
def test_menus_that_tasks_bring_need_no_labels_and_no_options(run, question):
    code, out, err = run("labelstudio-config", "--question", question)
    assert (code, out) == (0, label_studio_config([], question=question) + "\n")
    assert "  complabel import export.json --out answers.csv" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--question", "both"], "there are no labels; give their names, one on each"),
        (["none.txt"], "none.txt: no such file"),
        (["labels.txt", "--question", "x"], "question must be one of"),
        (["labels.txt", "--out", "none/c.xml"], "there is no folder none"),
    ],
)
def test_what_is_wrong_is_said(run, arguments, message):
    code, out, err = run("labelstudio-config", *arguments)
    assert (code, out) == (1, "")
    assert message in err
