"""Files of features: their making, their recipes, and what other features might gain."""

import csv
import zipfile

import numpy as np
import openpyxl
import pytest
from scipy import sparse
from tests.features.pictures import noise, write_pictures
from tests.refusals import raises

from complabel.errors import ComplabelError, InputError
from complabel.features import (
    advice,
    encoder_for,
    encoder_of,
    make_features,
    model_of,
    open_source,
    picture_features,
    text_features,
)
from complabel.features._encoder import Encoder
from complabel.files import iterate_features, read_features
from complabel.live import read_things

TEXTS = ["out of paper", "no ink", "", "paper jam in the second tray"]


def write_table(path, columns, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",").writerows(
            [columns, *rows]
        )
    return path


@pytest.fixture
def tickets(tmp_path):
    rows = [[f"t{at}", text, at] for at, text in enumerate(TEXTS)]
    return write_table(tmp_path / "tickets.csv", ["item", "body", "n"], rows)


class Lengths:
    """An encoder of texts that counts its calls, and may stop at one of them."""

    def __init__(self, stops_at=None, rows=2):
        self.calls, self.stops_at, self.rows = 0, stops_at, rows

    def encode(self, texts):
        self.calls += 1
        if self.calls == self.stops_at:
            raise KeyboardInterrupt
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    def encoder(self, how="lengths"):
        return Encoder("text", "lengths", how, self.encode, rows=self.rows)


@pytest.mark.parametrize("name", ["X.npz", "X.parquet"])
def test_dense_rows_of_several_parts_are_in_order(tmp_path, tickets, name):
    made = make_features(open_source(tickets, text="body"), Lengths().encoder(), tmp_path / name)
    found = read_features(tmp_path / name)
    np.testing.assert_array_equal(found.X, [[len(text), 1] for text in TEXTS])
    assert found.X.dtype == np.float32
    assert found.items.tolist() == list(made.items)
    pieces = list(iterate_features(tmp_path / name, n_rows=3))
    assert [len(piece.items) for piece in pieces] == [3, 1]
    assert {piece.recipe for piece in pieces} == {found.recipe} == {"text by lengths: lengths"}
    assert not (tmp_path / f".{name}.parts").exists()


def test_the_same_items_make_the_same_bytes(tmp_path, tickets):
    for name in ("A.npz", "B.npz"):
        make_features(
            open_source(tickets, text="body"), encoder_for("text", "words"), tmp_path / name
        )
    assert (tmp_path / "A.npz").read_bytes() == (tmp_path / "B.npz").read_bytes()
    assert zipfile.ZipFile(tmp_path / "A.npz").testzip() is None


def test_after_an_interruption_only_the_rest_is_made(tmp_path, tickets):
    source, out = open_source(tickets, text="body"), tmp_path / "X.npz"
    with pytest.raises(KeyboardInterrupt):
        make_features(source, Lengths(stops_at=2).encoder(), out)
    assert not out.exists()
    rest = Lengths()
    made = make_features(source, rest.encoder(), out)
    assert (rest.calls, made.n_kept_from_before) == (1, 2)
    np.testing.assert_array_equal(read_features(out).X, [[len(text), 1] for text in TEXTS])


@pytest.mark.parametrize("change", ["text", "name", "recipe", "damage"])
def test_a_part_that_was_made_otherwise_is_made_anew(tmp_path, tickets, change):
    out = tmp_path / "X.npz"
    with pytest.raises(KeyboardInterrupt):
        make_features(open_source(tickets, text="body"), Lengths(stops_at=2).encoder(), out)
    content = tickets.read_text()
    if change == "text":
        tickets.write_text(content.replace("no ink", "no more ink"))
    elif change == "name":
        tickets.write_text(content.replace("t1", "t9"))
    elif change == "damage":
        (part,) = (tmp_path / ".X.npz.parts").iterdir()
        part.write_bytes(part.read_bytes()[:100])
    rest = Lengths()
    how = "other" if change == "recipe" else "lengths"
    made = make_features(open_source(tickets, text="body"), rest.encoder(how), out)
    assert (rest.calls, made.n_kept_from_before) == (2, 0)


def test_long_texts_make_small_parts(tmp_path):
    texts = "".join(f"t{n},{'x' * n * 10**6}\n" for n in (9, 6, 0, 3))  # 8 million fill a part
    (tmp_path / "long.csv").write_text(f"item,body\n{texts}")
    lengths, source = Lengths(rows=100), open_source(tmp_path / "long.csv", text="body")
    make_features(source, lengths.encoder(), tmp_path / "X.npz")
    assert lengths.calls == 2  # of 9, and of 6, 0 and 3 million characters


def test_a_folder_of_pictures_is_read_with_its_paths_as_names(tmp_path):
    paths = write_pictures(tmp_path / "photos", 2) + write_pictures(tmp_path / "photos" / "in", 1)
    out = tmp_path / "X.npz"
    make_features(open_source(tmp_path / "photos"), encoder_for("pictures", "colours"), out)
    found = read_features(out)
    assert found.items.tolist() == ["00.png", "01.png", "in/00.png"]
    np.testing.assert_allclose(found.X, picture_features(paths, model="colours"), rtol=1e-6)


def test_a_part_of_skipped_pictures_still_stops_a_run_that_must_not_skip(tmp_path):
    photos, out = tmp_path / "photos", tmp_path / "X.npz"
    write_pictures(photos, 2)
    (photos / "00.png").write_bytes(b"")
    source, dull = open_source(photos), encoder_for("pictures", "colours")
    encoder = Encoder("pictures", "one", "by one", dull.encode, dull.prepare, rows=1)

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_features(source, encoder, out, skips=True, on_part=stop)
    with raises(ComplabelError, "00.png"):
        make_features(source, encoder, out)
    noise(0).save(photos / "00.png")
    assert make_features(source, encoder, out).items == ("00.png", "01.png")


def test_no_picture_that_can_be_read_is_an_error(tmp_path):
    (tmp_path / "a.png").write_bytes(b"")
    source = open_source(tmp_path)
    with raises(ComplabelError, "1 pictures"):
        make_features(source, encoder_for("pictures", "colours"), tmp_path / "X.npz", skips=True)


def test_a_table_may_hold_paths_of_pictures(tmp_path):
    write_pictures(tmp_path / "photos", 2)
    rows = [["b", "photos/01.png"], ["a", "photos/00.png"]]
    table = write_table(tmp_path / "list.tsv", ["id", "file"], rows)
    source = open_source(table, image="file", item="id")
    make_features(source, encoder_for("pictures", "colours"), tmp_path / "X.npz")
    found = read_features(tmp_path / "X.npz")
    assert found.items.tolist() == ["b", "a"]
    paths = [tmp_path / "photos" / name for name in ("01.png", "00.png")]
    np.testing.assert_allclose(found.X, picture_features(paths, model="colours"), rtol=1e-6)


@pytest.mark.parametrize("name", ["t.xlsx", "unicode.txt", "unicode.csv", "semicolon.csv"])
def test_tables_are_read_as_spreadsheets_save_them(tmp_path, name):
    rows = [["item", "body, and more"], ["007", 'été, "so"'], ["b", "x"]]
    path = tmp_path / name
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path)
    else:
        sign = ";" if "semicolon" in name else "\t"
        with path.open("w", newline="", encoding="utf-8" if sign == ";" else "utf-16") as file:
            csv.writer(file, delimiter=sign).writerows([["item", "body"], *rows[1:]])
    column = "body, and more" if path.suffix == ".xlsx" else "body"
    source = open_source(path, text=column)
    assert list(source.pairs()) == [("007", 'été, "so"'), ("b", "x")]
    things = read_things(path, text=column)
    assert things.names == ["007", "b"]
    assert things.show(0) == {"text": 'été, "so"'}


def test_a_line_of_a_sheet_is_named(tmp_path):
    book = openpyxl.Workbook()
    for row in (["item", "body"], ["a", "x"], [None, "y"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with raises(ComplabelError, "row 3"):
        list(open_source(tmp_path / "t.xlsx", text="body").pairs())


def test_parquet_and_rows_without_names(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"body": TEXTS}), tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet", text="body")
    assert list(source.pairs()) == [(str(at), text) for at, text in enumerate(TEXTS)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", "x"], ["a", "y"]], ("item 'a'", "line 2", "line 3")),
        ([["a", "x"], [" ", "y"]], ("line 3", "'item'")),
        ([], "t.csv"),
    ],
    ids=["repeated", "blank", "none"],
)
def test_wrong_names_are_refused(tmp_path, rows, message):
    table = write_table(tmp_path / "t.csv", ["item", "body"], rows)
    with raises(ComplabelError, message):
        make_features(open_source(table, text="body"), Lengths().encoder(), tmp_path / "X.npz")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "--text"),
        ({"text": "body", "image": "n"}, ("tickets.csv", "--text")),
        ({"text": "words"}, "column 'words'"),
        ({"text": "body", "item": "id"}, "column 'id'"),
        ({"text": "item"}, "column 'item'"),
    ],
    ids=["nothing", "both", "text", "item", "same"],
)
def test_wrong_columns_are_refused(tickets, given, message):
    with raises(ComplabelError, message):
        open_source(tickets, **given)
    with raises(ComplabelError, "--text"):
        open_source(tickets.parent, text="body")


def test_other_formats_are_refused_before_any_work(tmp_path, tickets):
    source, lengths = open_source(tickets, text="body"), Lengths()
    with raises(ComplabelError, ".npz", ".parquet"):
        make_features(source, lengths.encoder(), tmp_path / "X.npy")
    with raises(ComplabelError, ".parquet"):
        make_features(source, encoder_for("text", "words"), tmp_path / "X.parquet")
    assert lengths.calls == 0


def test_numbers_that_are_not_finite_are_refused(tmp_path, tickets):
    encoder = Encoder("text", "odd", "odd", lambda texts: np.full((len(texts), 2), np.nan))
    with raises(ComplabelError, "--encoder"):
        make_features(open_source(tickets, text="body"), encoder, tmp_path / "X.npz")


def test_a_recipe_may_stand_for_a_model(tmp_path):
    recipe, texts = encoder_for("text", "words").recipe, ["no ink", "paper jam"]
    found = text_features(texts, model=recipe)
    assert abs(found - text_features(texts, model="words")).max() == 0
    paths, recipe = write_pictures(tmp_path, 2), encoder_for("pictures", "pixels").recipe
    expected = picture_features(paths, model="pixels")
    np.testing.assert_array_equal(picture_features(paths, model=recipe), expected)
    with raises(InputError, "pictures", "colours"):
        picture_features(paths, model=encoder_for("text", "words").recipe)


def test_a_recipe_that_makes_something_else_now_is_refused():
    recipe = encoder_for("text", "words").recipe.replace("(1)", "(0)")
    with raises(InputError, "2", "14 columns"):
        encoder_of(recipe)


@pytest.mark.parametrize("text", ["", "text", "text by words", "sounds by words: x"])
def test_other_texts_are_no_recipes(text):
    with raises(InputError, "complabel features"):
        model_of(text)


def test_words_that_occur_in_one_item_only_tell_nothing():
    recipe = encoder_for("text", "words").recipe
    X = sparse.csr_array(np.array([[1, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1]], dtype=np.float32))
    # Without the last item: of five words of two items, only the first two are in another item.
    text = advice(X, np.array([True, True, False]), recipe)
    assert "of the words of an item, 40% occur in another item with answers" in text
    assert "--encoder wordllama" in text
    assert advice(X, np.array([True, True, True]), recipe) == ""
    assert advice(X, np.array([False, False, False]), recipe) == ""


def test_only_first_tries_get_advice():
    X, answered = text_features(["a word", "other things"], model="words"), np.array([True, True])
    assert "a pretrained network" in advice(X, answered, encoder_for("pictures", "colours").recipe)
    assert advice(X, answered, "text by wordllama: mean") == ""
    assert advice(X, answered, None) == ""
