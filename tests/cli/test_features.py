"""`complabel features` as it is typed, and how models keep to what it made."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.cli.own import ITEMS, read_table, write_table
from tests.features.pictures import noise, write_pictures
from tests.features.test_networks import write_mean
from tests.features.test_sentences import write_model
from tests.spawned import python

from complabel.features import text_features
from complabel.files import read_features
from complabel.methods import read_header

FIT = "fit named.csv --label-names labels.txt --method ridge --folds 0"
# Words that tell which labels apply do not matter here, only that each item has a row.
TEXTS = [f"ticket {number} about printer {number % 7}" for number in range(len(ITEMS))]


@pytest.fixture
def tickets(folder):
    write_table(folder / "tickets.csv", ["item", "body"], list(zip(ITEMS, TEXTS, strict=True)))
    return folder


def test_a_table_of_texts_becomes_features_with_names(run, tickets):
    code, out, err = run("features tickets.csv --text body --encoder words --out T.npz")
    assert (code, err) == (0, "")
    assert out == (
        "wrote T.npz: 90 items, 16,384 features\n"
        "  text by words: hashed words, 2^14 columns, rows scaled (1)\n"
        "next: complabel fit answers.csv --features T.npz --out model.safetensors\n"
    )
    found = read_features("T.npz")
    assert found.items.tolist() == list(ITEMS)
    assert (found.X.dtype, abs(found.X - text_features(TEXTS, model="words")).max()) == ("f4", 0)


def test_zeros_and_left_out_pictures_are_told(run, folder):
    write_table(folder / "t.csv", ["body"], [["a word"], ["..."]])
    code, _, err = run("features t.csv --text body --encoder words --out T.npz")
    assert code == 0
    assert err.startswith("1 items have only zeros")
    write_pictures(folder / "photos", 2)
    (folder / "photos" / "00.png").write_bytes(b"")
    code, _, err = run("features photos --encoder colours --out X.npz")
    assert code == 1
    assert err.startswith("error: photos/00.png: is no picture that can be read")
    assert "leave such pictures out with --on-error skip" in err
    code, out, err = run("features photos --encoder colours --out X.npz --on-error skip")
    assert code == 0
    assert "1 items, 1,149 features" in out
    assert err.startswith("1 pictures were left out, and have no row:\n  photos/00.png: is no")


def test_files_that_are_no_pictures_are_named_and_tiff_is_read(run, folder):
    write_pictures(folder / "photos", 2)
    noise(3).save(folder / "photos" / "c.tif")
    for name in ("d.cr2", "e.cr2", "notes.txt"):
        (folder / "photos" / name).touch()
    code, out, err = run("features photos --encoder colours --out X.npz")
    assert (code, err) == (0, "photos: 3 files are left out: 2 .cr2, 1 .txt\n")
    assert "3 items" in out
    assert read_features("X.npz").items.tolist() == ["00.png", "01.png", "c.tif"]


def made(run, name, model):
    assert run(f"features tickets.csv --text body --encoder {model} --out {name}")[0] == 0


def test_a_model_refuses_features_that_were_made_otherwise(run, tickets):
    pytest.importorskip("wordllama")
    made(run, "T.npz", "words")
    made(run, "W.npz", "wordllama")
    assert run(f"{FIT} --features T.npz --out m.safetensors")[0] == 0
    given = read_header("m.safetensors")["provenance"]["given"]
    assert given["recipe"] == read_features("T.npz").recipe
    for command in (
        "predict m.safetensors W.npz --out p.csv",
        "evaluate m.safetensors W.npz --truth truth.csv",
        "decide m.safetensors W.npz --answers asked.csv --out d.safetensors",
        "ask asked.csv --to-evaluate m.safetensors --features W.npz --out q.csv",
        "show m.safetensors --features W.npz --html page.html",
    ):
        code, _, err = run(command)
        assert code == 1, command
        assert "m.safetensors learned from features made as 'text by words: hashed words" in err
        assert "but W.npz was made as 'text by wordllama: mean of 256 numbers" in err
        assert "complabel features TABLE --text COLUMN --encoder words --out W-2.npz" in err
    assert run("predict m.safetensors T.npz --out p.csv")[0] == 0


def test_a_model_doubts_features_that_do_not_say_how_they_were_made(run, tickets):
    made(run, "T.npz", "words")
    assert run(f"{FIT} --features T.npz --out m.safetensors")[0] == 0
    found = read_features("T.npz")
    np.savez("plain.npz", X=found.X.toarray(), items=found.items.astype(str))
    code, _, err = run("predict m.safetensors plain.npz --out p.csv")
    assert code == 0
    assert err.startswith("plain.npz does not say how it was made. m.safetensors learned from")


@pytest.mark.parametrize("name", ["T.npz", "T.parquet"])
@pytest.mark.parametrize("options", ["", "--text body", "--text body --item id"])
def test_predict_makes_the_features_of_texts_as_its_model_says(run, tickets, name, options):
    """Of the columns that the model's file names, also after thresholds were chosen."""
    pytest.importorskip("wordllama")
    write_table(tickets / "t.csv", ["id", "body"], list(zip(ITEMS, TEXTS, strict=True)))
    assert run(f"features t.csv --text body --item id --out {name}")[0] == 0
    assert run(f"{FIT} --features {name} --out fitted.safetensors")[0] == 0
    decide = f"decide fitted.safetensors {name} --answers asked.csv"
    assert run(f"{decide} --out m.safetensors")[0] == 0
    assert run(f"predict m.safetensors {name} --out a.csv")[0] == 0
    code, out, err = run(f"predict m.safetensors t.csv {options} --out b.csv")
    assert (code, err) == (0, "")
    assert (tickets / "a.csv").read_bytes() == (tickets / "b.csv").read_bytes()
    assert out.startswith("made features of the column 'body', items by the column 'id', as m.safe")
    assert "complabel features t.csv --text body --item id --encoder wordllama --out X.npz" in out


def test_rows_are_not_called_by_numbers_if_a_column_may_name_them(run, tickets):
    assert run("features tickets.csv --text body --encoder words --out T.npz")[0] == 0
    assert run(f"{FIT} --features T.npz --out m.safetensors")[0] == 0
    ids = [[f"id {item}", text, 1] for item, text in zip(ITEMS, TEXTS, strict=True)]
    write_table(tickets / "new.csv", ["Nr", "body", "n"], ids)
    code, _, err = run("predict m.safetensors new.csv --out p.csv")
    assert (code, "--item: 'Nr'?" in err) == (1, True)
    assert run("predict m.safetensors new.csv --item Nr --out p.csv")[0] == 0
    assert [row["item"] for row in read_table(tickets / "p.csv")] == [each[0] for each in ids]
    code, _, err = run("features new.csv --text body --encoder words --out N.npz")
    assert (code, "('Nr')" in err) == (0, True)


def test_what_could_be_texts_or_features_is_not_guessed(run, tickets):
    write_table(tickets / "t.csv", ["id", "body"], list(zip(ITEMS, TEXTS, strict=True)))
    assert run("features t.csv --text body --item id --encoder words --out T.npz")[0] == 0
    assert run(f"{FIT} --features T.npz --out m.safetensors")[0] == 0
    numbers = [f"f{at}" for at in range(2**14)]
    wide = ["0"] * len(numbers)
    for columns, options, told in (
        (["id", "other"], "", ["neither texts in a column 'body'", "--text", "'id', 'other'"]),
        (["name", "body"], "", ["no column 'id'", "--item", "'name', 'body'"]),
        (["id", "body", *numbers[2:]], "", ["could hold texts in a column 'body'", "--text"]),
        (["id", "body"], "--image body", ["learned from text, but new.csv holds pictures"]),
        (["id", "body"], "--items labels.txt", ["--item"]),
        (["item", *numbers], "--item f0", ["new.csv holds features", "--items"]),
    ):
        write_table(tickets / "new.csv", columns, [["a.jpg", *wide][: len(columns)]])
        code, _, err = run(f"predict m.safetensors new.csv {options} --out p.csv")
        assert (code, [each for each in told if each not in err]) == (1, []), err
        assert not (tickets / "p.csv").exists()
    write_table(tickets / "new.csv", ["item", *numbers], [["a.jpg", *wide]])
    assert run("predict m.safetensors new.csv --out p.csv")[0] == 0


def write_photos(folder):
    """Write a picture of each item, and call the items of the tables as these files."""
    write_pictures(folder / "photos", len(ITEMS))
    for at, item in enumerate(ITEMS):
        (folder / "photos" / f"{at:02}.png").rename(folder / "photos" / f"{item}.png")
    for name in ("named.csv", "asked.csv", "truth.csv"):
        text = (folder / name).read_text("utf-8")
        for item in ITEMS:
            text = text.replace(f"\n{item},", f"\n{item}.png,")
        (folder / name).write_text(text, "utf-8")


def test_predict_makes_the_features_of_a_folder_as_its_model_says(run, folder):
    write_photos(folder)
    (folder / "photos" / "notes.txt").touch()
    run("features photos --encoder pixels --out X.npz")
    assert run(f"{FIT} --features X.npz --out m.safetensors")[0] == 0
    assert run("predict m.safetensors X.npz --out a.csv")[0] == 0
    code, out, err = run("predict m.safetensors photos --out b.csv")
    assert (code, err) == (0, "photos: 1 file is left out: 1 .txt\n")
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert "complabel features photos --encoder pixels --out X-2.npz\n" in out
    assert "complabel evaluate m.safetensors X-2.npz" in out
    (folder / "photos" / f"{ITEMS[0]}.png").write_bytes(b"")
    code, _, err = run("predict m.safetensors photos --out c.csv")
    assert (code, f"photos/{ITEMS[0]}.png: is no picture" in err) == (1, True)
    assert not (folder / "c.csv").exists()
    assert run("predict m.safetensors photos --on-error skip --out c.csv")[0] == 0
    whole = (folder / "b.csv").read_text("utf-8").splitlines()
    kept = [line for line in whole if not line.startswith(f"{ITEMS[0]}.png,")]
    assert (folder / "c.csv").read_text("utf-8").splitlines() == kept


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_a_network_in_a_file_is_found_where_it_was_and_beside_the_model(run, folder, ending):
    """Told from another of its name by its digest; evaluate takes a folder as predict does."""
    write_photos(folder)
    (folder / "nets").mkdir()
    network = Path(write_mean(folder / "nets" / "net.onnx", ["b", 3, 8, 8]))
    assert run(f"features photos --encoder nets/net.onnx --out X.{ending}")[0] == 0
    assert run(f"{FIT} --features X.{ending} --out m.safetensors")[0] == 0
    commands = (
        "predict m.safetensors {} --out {}.csv",
        "evaluate m.safetensors {} --truth truth.csv --json {}.json",
        "evaluate m.safetensors {} --answers asked.csv --json {}-asked.json",
        "decide m.safetensors {} --answers asked.csv --out {}.safetensors",
        "show m.safetensors --features {} --json {}-show.json",
    )
    for command in commands:
        written = command.split()[-1].format("a"), command.split()[-1].format("b")
        assert run(command.format(f"X.{ending}", "a"))[0] == 0
        code, out, err = run(command.format("photos", "b"))
        assert (code, out.partition(" as m.safetensors says")[0]) == (0, "made features"), err
        if not command.startswith("decide"):
            first, second = ((folder / name).read_bytes() for name in written)
            assert first == second, command
    assert run("features photos --encoder colours --out C.npz")[0] == 0
    code, _, err = run("predict m.safetensors C.npz --out c.csv")
    assert (code, "--encoder nets/net.onnx --out C" in err) == (1, True)
    other = folder / "other"
    other.mkdir()
    model = (folder / "m.safetensors").rename(other / "m.safetensors")
    (folder / "net.onnx").write_bytes(b"of the same name")
    assert run("predict other/m.safetensors photos --out c.csv")[0] == 0
    network.rename(folder / "away.onnx")
    code, _, err = run(f"predict {model} photos --out d.csv")
    digits = hashlib.sha256((folder / "away.onnx").read_bytes()).hexdigest()[:12]
    for told in (f"net.onnx with the weights {digits}", str(folder / "nets"), str(other),
                 "net.onnx holds other weights"):  # fmt: skip
        assert told in err
    assert (code, (folder / "d.csv").exists()) == (1, False)
    (folder / "away.onnx").rename(other / "net.onnx")
    code, out, _ = run(f"predict {model} photos --out d.csv")
    assert (code, f"--encoder {other / 'net.onnx'}" in out) == (0, True)
    assert (folder / "d.csv").read_bytes() == (folder / "a.csv").read_bytes()


def test_the_command_that_makes_features_by_a_network_beside_words_is_whole(run, tickets):
    write_model(tickets / "tiny")
    made(run, "T.npz", "tiny+words")
    assert run(f"{FIT} --features T.npz --out m.safetensors")[0] == 0
    code, out, err = run("predict m.safetensors tickets.csv --out p.csv")
    assert (code, "--encoder tiny/model.onnx+words --out X.npz" in out) == (0, True), err
    made(run, "X-2.npz", "tiny/model.onnx+words")
    assert run("predict m.safetensors X-2.npz --out q.csv")[0] == 0


def test_a_model_that_does_not_say_how_its_features_were_made_names_the_command(run, tickets):
    assert run(f"{FIT} --features X.csv --out m.safetensors")[0] == 0
    code, _, err = run("predict m.safetensors tickets.csv --text body --out p.csv")
    assert code == 1
    assert "complabel features tickets.csv --text body --out" in err
    assert not (tickets / "p.csv").exists()


def test_fit_and_tune_say_what_other_features_might_gain(run, tickets):
    rows = [[item, f"only{item} here{item} both"] for item in ITEMS]
    write_table(tickets / "tickets.csv", ["item", "body"], rows)
    made(run, "T.npz", "words")
    _, _, err = run(f"{FIT} --features T.npz --out m.safetensors")
    assert "hint: of the words of an item, 3" in err
    _, _, err = run("tune named.csv --features T.npz --method ridge --grid alpha=1,2 --folds 2")
    assert "hint: of the words of an item, 3" in err


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    """SIGKILL at some moment; the file is then the same as without it."""
    rows = [[f"t{at}", f"word{at % 977} word{at % 89} " * 20] for at in range(20_000)]
    write_table(tmp_path / "t.csv", ["item", "body"], rows)
    code = "from complabel.cli import main; import sys; sys.argv[0] = 'complabel'; main()"

    def command(out):
        words = ["features", "t.csv", "--text", "body", "--encoder", "words", "--out", out]
        return [sys.executable, "-c", code, *words]

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.Popen(command("A.npz"), cwd=tmp_path, env=environment)
    parts = tmp_path / ".A.npz.parts"
    while not (parts.is_dir() and any(parts.glob("[!.]*.npz"))) and killed.poll() is None:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "A.npz").exists()
    done = {}
    for out in ("A.npz", "B.npz"):
        done[out] = python(*command(out)[1:], cwd=tmp_path, env=environment)
    assert "items were done before an interruption" in done["A.npz"]
    assert "interruption" not in done["B.npz"]
    assert (tmp_path / "A.npz").read_bytes() == (tmp_path / "B.npz").read_bytes()
    assert not parts.exists()
