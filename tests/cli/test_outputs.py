"""A hundred ways to overwrite a file: nothing that exists is lost, and outputs are tried first."""

import os
import sys
import warnings
from pathlib import Path

import pytest
from tests.cli.own import ITEMS, NAMES, write_files, write_table
from tests.refusals import raises
from typer.main import get_command

from complabel.cli import _app
from complabel.errors import InputError, OutputError

COMMAND = get_command(_app.app)
ANSWERS = ("named.csv", "--features", "X.csv", "--label-names", "labels.txt")
ANNOTATE = ("texts.csv", "--text", "text", "--label-names", "labels.txt", "--no-browser")
READ = ("--features", "X.csv")
MODEL = ("m.safetensors", "X.csv")

# Every output of every command: what is typed before it, a file that is read, and an ending.
OUTPUTS = {
    "features --out": (["features", "truth.csv", "--text", "item"], "truth.csv", ".npz"),
    "import --out": (["import", "export.json"], "export.json", ".csv"),
    "import --labels-out": (["import", "asked.csv", "--out", "n.csv"], "asked.csv", ".txt"),
    "ask --out": (["ask", *ANSWERS, "-n", "9"], "named.csv", ".csv"),
    "fit --out": (["fit", *ANSWERS, "--method", "ridge"], "X.csv", ".safetensors"),
    "predict --out": (["predict", *MODEL], "X.csv", ".csv"),
    "decide --out": (["decide", *MODEL, "--answers", "asked.csv"], "asked.csv", ".safetensors"),
    "onnx --out": (["onnx", "m.safetensors"], "m.safetensors", ".onnx"),
    "evaluate --json": (["evaluate", *MODEL, "--truth", "truth.csv"], "truth.csv", ".json"),
    "evaluate --html": (["evaluate", *MODEL, "--answers", "asked.csv"], "asked.csv", ".html"),
    "audit --html": (["audit", "asked.csv", "named.csv"], "asked.csv", ".html"),
    "audit --json": (["audit", "asked.csv", "named.csv"], "named.csv", ".json"),
    "plan --json": (["plan", "asked.csv", "--against", "named.csv"], "named.csv", ".json"),
    "inspect --html": (["inspect", *ANSWERS], "named.csv", ".html"),
    "inspect --json": (["inspect", *ANSWERS], "X.csv", ".json"),
    "consensus --out": (["consensus", "asked.csv"], "asked.csv", ".csv"),
    "consensus --doubtful": (["consensus", "asked.csv", "--out", "n.csv"], "asked.csv", ".csv"),
    "consensus --json": (["consensus", "asked.csv", "--out", "n.csv"], "asked.csv", ".json"),
    "show --html": (["show", MODEL[0]], MODEL[0], ".html"),
    "show --json": (["show", MODEL[0]], MODEL[0], ".json"),
    "labelstudio-config --out": (["labelstudio-config", "labels.txt"], "labels.txt", ".xml"),
    "annotate --out": (["annotate", *ANNOTATE], "labels.txt", ".csv"),
    "annotate --model-out": (["annotate", *ANNOTATE, *READ], "X.csv", ".safetensors"),
    "demo --out": (["demo"], None, ".html"),
    "tune --json": (["tune", *ANSWERS, "--method", "ridge"], "named.csv", ".json"),
    "benchmark --json": (["benchmark", *ANSWERS], "labels.txt", ".json"),
    "study export": (["study", "export", "--store", "s.json"], "s.json", ".json"),
}
OF_FOLDERS = {"study report --out", "reproduce --out"}
WRITES = ("Write", "Also write", "File to write", "The page to write")
TYPED = ("questions.csv", "export.json", "labels.txt", "m.safetensors", "plan.toml", "page.html")


def typed(output, path):
    """The words of a command with this file for its output."""
    words, _, _ = OUTPUTS[output]
    option = output.split()[-1]
    return [*words, *([option] if option.startswith("--") else []), str(path)]


def call(words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        COMMAND.main([*map(str, words)], standalone_mode=False)


def contents(folder):
    """Everything below a folder: links as such, and the bytes of files."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in folder.rglob("*")
    }


@pytest.fixture(scope="module")
def typed_files(tmp_path_factory):
    """A folder with a file of each kind; no test of this module may change it."""
    folder = tmp_path_factory.mktemp("typed")
    write_files(folder)
    rows = [[ITEMS[0], NAMES[0], "yes", "asked", 0.25], [ITEMS[1], NAMES[1], "no", "asked", 0.25]]
    header = ["item", "label", "answer", "question", "probability"]
    write_table(folder / "questions.csv", header, rows)
    for name in ("m.safetensors", "predictions.csv", "plan.toml", "s.json"):
        (folder / name).write_text(f"the only copy of {name}")
    (folder / "page.html").write_text("<html><head><title>notes of my own</title></html>")
    return folder


@pytest.fixture
def folder(typed_files, monkeypatch):
    """The folder, whose files must be the same afterwards; what a test adds to it is removed."""
    monkeypatch.chdir(typed_files)
    before = contents(typed_files)
    yield typed_files
    for path in sorted(typed_files.rglob("*"), reverse=True):
        if str(path.relative_to(typed_files)) not in before:
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert contents(typed_files) == before


def refused(folder, words, *said):
    """The command is refused as soon as it begins, and leaves all as it was."""
    before = contents(folder)
    with pytest.raises((OutputError, InputError)) as error:
        call(words)
    for word in said:
        assert word in str(error.value)
    assert contents(folder) == before


def ending_fits(output, name):
    return output.split()[-1] in {"--json", "--html", "--labels-out"} or (
        output == "demo --out" or name.endswith(OUTPUTS[output][2])
    )


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("output", OUTPUTS)
def test_no_command_replaces_a_file(folder, output, name):
    said = ("--force", "exists") if ending_fits(output, name) else ()
    read = OUTPUTS[output][0]
    refused(folder, typed(output, name), name, *([] if name in read else said))


WAYS = {
    "another spelling": lambda folder, link, victim: f"./{victim}",
    "around a folder": lambda folder, link, victim: f"../{folder.name}/{victim}",
    "the whole path": lambda folder, link, victim: folder / victim,
    "a symbolic link": lambda folder, link, victim: os.symlink(victim, link) or link,
    "a hard link": lambda folder, link, victim: os.link(victim, link) or link,
    "a link to nothing": lambda folder, link, victim: os.symlink("nothing", link) or link,
    "a folder": lambda folder, link, victim: os.mkdir(link) or link,
    "a link to a folder": lambda folder, link, victim: os.symlink(folder, link) or link,
    "below a file": lambda folder, link, victim: f"{victim}/{link}",
    "no folder": lambda folder, link, victim: f"none/{link}",
    "too long a name": lambda folder, link, victim: f"{'n' * 300}{link}",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_no_way_round_is_found(folder, output, way):
    victim = TYPED[list(WAYS).index(way) % len(TYPED)]
    refused(folder, typed(output, WAYS[way](folder, f"link{OUTPUTS[output][2]}", victim)))


@pytest.mark.parametrize("way", ["itself", "another spelling", "a symbolic link", "a hard link"])
@pytest.mark.parametrize("output", [name for name, (_, read, _) in OUTPUTS.items() if read])
def test_what_a_command_reads_is_not_replaced_even_with_force(folder, output, way):
    _, read, ending = OUTPUTS[output]
    path = read if way == "itself" else WAYS[way](folder, f"link{ending}", read)
    said = ["the command also reads this file"] if ending_fits(output, str(path)) else []
    refused(folder, [*typed(output, path), "--force"], *said)


@pytest.mark.parametrize(
    "words",
    [
        [*typed("inspect --html", "n.html"), "--json", "./n.html"],
        [*typed("import --out", "n.csv"), "--labels-out", "n.csv"],
        [*typed("benchmark --json", "n.json"), "--store", "n.json"],
    ],
    ids=" ".join,
)
def test_two_outputs_do_not_share_a_file(folder, words):
    refused(folder, [*words, "--force"], "give")


NOWHERE = [("none/x", "there is no folder none"), ("/proc/x", "cannot be written")]


@pytest.mark.parametrize(("name", "said"), NOWHERE[: 1 + sys.platform.startswith("linux")])
@pytest.mark.parametrize("output", OUTPUTS)
def test_outputs_are_tried_before_anything_is_read(monkeypatch, tmp_path, output, name, said):
    """No input is there, but the output is what the message is about."""
    monkeypatch.chdir(tmp_path)
    refused(tmp_path, typed(output, f"{name}{OUTPUTS[output][2]}"), name, said)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs a device")
def test_a_device_is_not_replaced(folder):
    words = typed("labelstudio-config --out", "/dev/null")
    refused(folder, [*words, "--force"], "no plain file")
    assert not Path("/dev/null").is_file()


def test_the_table_holds_every_output():
    """An option whose help says that it writes has the rule, and stands in a table above."""
    found = set()

    def look(command, path):
        if hasattr(command, "list_commands"):
            command.list_commands(None)  # now it also has those of the experiments
        for name, sub in getattr(command, "commands", {}).items():
            look(sub, [*path, name])
        for each in command.params:
            says = getattr(each, "help", None) or ""
            if each.metavar in ("FILE", "FOLDER") and says.startswith(WRITES):
                option = [] if each.param_type_name == "argument" else each.opts[:1]
                found.add(" ".join([*path, *option]))
                assert "force" in {each.name for each in command.params}, path

    look(COMMAND, [])
    assert found == {*OUTPUTS, *OF_FOLDERS}


LIGHT = ("import --out", "import --labels-out", "ask --out", "inspect --html")
LIGHT += ("inspect --json", "labelstudio-config --out")


@pytest.mark.parametrize("output", LIGHT)
def test_force_replaces(monkeypatch, tmp_path, output):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    target = Path(f"old{OUTPUTS[output][2]}")
    target.write_text("old")
    before = contents(tmp_path)
    call([*typed(output, target), "--force"])
    after = contents(tmp_path)
    assert after.pop(target.name) != before.pop(target.name)
    after.pop("n.csv", None)
    assert after == before, "nothing else has changed, and nothing is left over"


@pytest.mark.parametrize("way", ["a symbolic link", "a hard link", "a link to nothing"])
def test_force_writes_through_a_link_and_keeps_it(monkeypatch, tmp_path, way):
    monkeypatch.chdir(tmp_path)
    Path("labels.txt").write_text("a\nb\nc\n")
    Path("old.xml").write_text("old")
    link = Path(WAYS[way](tmp_path, "link.xml", "old.xml"))
    call([*typed("labelstudio-config --out", link), "--force"])
    assert link.read_text().startswith("<View>")
    assert link.is_symlink() == (way != "a hard link")
    written = {"a symbolic link": True, "a hard link": False, "a link to nothing": False}
    assert (Path("old.xml").read_text() != "old") == written[way]
    if way == "a link to nothing":
        assert Path("nothing").read_text() == link.read_text()


def test_a_page_of_complabel_is_replaced_and_one_of_somebody_else_is_not(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    words = typed("inspect --html", "page.html")
    call(words)
    first = contents(tmp_path)
    call([*words[:2], *words[-2:]])
    assert contents(tmp_path) != first
    os.symlink("page.html", "link.html")
    refused(tmp_path, typed("inspect --html", "link.html"), "exists")
    refused(tmp_path, typed("inspect --json", "page.html"), "exists")


def test_another_name_is_proposed(folder):
    refused(folder, typed("ask --out", "questions.csv"), "such as questions-2.csv")
    for name in ("questions-2.csv", "questions-3.csv"):
        (folder / name).touch()
    refused(folder, typed("ask --out", "questions.csv"), "such as questions-4.csv")
    refused(folder, typed("ask --out", "questions-2.csv"), "such as questions-4.csv")


def test_a_file_that_appears_meanwhile_is_kept(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write_files(tmp_path)
    Path("slowly.py").write_text(
        "from complabel.methods import PriorClassifier\n"
        "class Slow(PriorClassifier):\n"
        "    def fit(self, X, y):\n"
        "        open('n.json', 'w').write('of others')\n"
        "        return super().fit(X, y)\n"
    )
    own = ("--folds", 2, "--jobs", 1, "--method", "slowly:Slow")
    with raises(OutputError, "n.json"):
        call(["benchmark", "synthetic", *own, "--json", "n.json"])
    assert Path("n.json").read_text() == "of others"
    assert len([*tmp_path.glob("*n.json*")]) == 1


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """A folder with a store of results, and a report."""
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        call(["benchmark", "synthetic", "--method", "prior", "--folds", "2"])
        call(["study", "report", "--out", "report"])
    return folder


FILES = ("report.html", "tables.md", "tables.tex", "results.csv", "summary.json")


@pytest.mark.usefixtures("without_charts")
def test_a_report_in_which_somebody_wrote_is_not_replaced(studied, monkeypatch):
    monkeypatch.chdir(studied)
    path = studied / "report" / "tables.tex"
    path.write_text(path.read_text("utf-8") + "a note\n", "utf-8")
    command = ["study", "report", "--out", "report"]
    refused(studied, command, "exists", "report-2", "--force")
    call([*command, "--force"])
    assert "a note" not in path.read_text("utf-8")
    call(command)  # nobody has changed it since


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", [["study", "report"], ["reproduce", "table2", "--quick"]])
def test_a_file_in_the_place_of_a_report_is_kept(studied, monkeypatch, tmp_path, command, name):
    monkeypatch.chdir(tmp_path)
    store = ["--store", studied / "complabel-studies.sqlite"] if command[0] == "study" else []
    Path(name).write_text("mine")
    refused(tmp_path, [*command, *store, "--out", "."], f"{name} exists")
    refused(tmp_path, [*command, *store, "--out", name], "is a file")
    refused(tmp_path, [*command, *store, "--out", f"{name}/below"], "is a file")
    Path(name).unlink()
    Path(name).mkdir()
    refused(tmp_path, [*command, *store, "--out", ".", "--force"], "is a folder")
