"""Items that are called as their files: `--item-file`."""

import pytest
from tests.importers.reading import read, refused, write
from tests.importers.samples import HASHES, annotation, choices, task
from tests.refusals import check_names, raises

from complabel.errors import InputError
from complabel.importers import Options, import_answers

ADDRESSES = {
    "/data/upload/1/p0000.jpg": "p0000.jpg",
    "/data/upload/17/9d3e1a2b-p0000.jpg": "p0000.jpg",  # as Label Studio keeps uploaded files
    "/data/upload/17/9d3e1a2b-my%20photo.jpg": "my photo.jpg",
    "https://studio.org/data/upload/1/9d3e1a2b-deadbeef-x.jpg": "deadbeef-x.jpg",
    "/data/local-files/?d=photos/new%20ones/p1.jpg": "p1.jpg",
    "https://studio.org/data/local-files/?d=p1.jpg&x=2": "p1.jpg",
    "https://b.org/a/p%201.jpg?X-Amz-Date=20261123T1/2&y=z.png#top": "p 1.jpg",
    "s3://bucket/folder/p1.jpg": "p1.jpg",
    "gs://bucket/9d3e1a2b-p1.jpg": "9d3e1a2b-p1.jpg",
    "photos/100%25 ?#1.jpg": "100%25 ?#1.jpg",  # a path has no escapes
    "C:\\photos\\p1.jpg": "p1.jpg",
    "p1.jpg": "p1.jpg",
}


def about(field, *values):
    """An export with a task for each value."""
    return [
        task(n, {field: value}, annotation(n, choices("not_this", "sea")))
        for n, value in enumerate(values, 1)
    ]


def items_of(path, field):
    table, tally = import_answers(path, options=Options(item_file=field))
    assert not any("--item" in remark for remark in tally.remarks)
    return table["item"].tolist()


@pytest.mark.parametrize(("address", "name"), ADDRESSES.items())
def test_an_item_has_the_name_of_its_file(tmp_path, address, name):
    path = write(tmp_path, "a.json", about("image", address))
    assert items_of(path, "image") == [name]
    line = {"label": "sea", **HASHES, "answer": "accept", "meta": {"path": address}}
    assert items_of(write(tmp_path, "a.jsonl", [line]), "path") == [name]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["a/p.jpg", "b/p.jpg"], ("'a/p.jpg'", "'b/p.jpg'", "'p.jpg'")),
        (["a/p.jpg", "b/"], "item 'b/'"),
        (["data:image/png;base64,iVBO/Rw0"], ("--item-file", "--item")),
    ],
)
def test_names_must_tell_items_apart(tmp_path, values, told):
    path = write(tmp_path, "a.json", about("image", *values))
    check_names(refused(path, None, item_file="image"), told)


def test_one_file_may_have_several_answers(tmp_path):
    path = write(tmp_path, "a.json", about("image", "a/p.jpg", "a/p.jpg"))
    assert items_of(path, "image") == ["p.jpg"] * 2


def test_one_option_names_the_item(tmp_path):
    path = write(tmp_path, "a.json", about("image", "a/p.jpg"))
    with raises(InputError, "item_file"):
        import_answers(path, options=Options(item="image", item_file="image"))


def test_numbers_in_place_of_names_are_said_with_the_option_that_gives_names(tmp_path):
    upload = "/data/upload/1/9d3e1a2b-p0.jpg"
    _, tally = read("label-studio", write(tmp_path, "a.json", about("image", upload)))
    remark = tally.remarks[0]
    assert "'p0.jpg', give --item-file 'image'" in remark
    record = {"id": 1, "image": upload, "not_this": "sea", "annotator": 7, "annotation_id": 3}
    _, tally = read("label-studio", write(tmp_path, "min.json", [record]))
    assert tally.remarks[0] == remark
    line = {"label": "sea", **HASHES, "answer": "accept", "text": "and/or", "path": "x/p0.jpg"}
    _, tally = read("prodigy", write(tmp_path, "a.jsonl", [line]))
    assert "_input_hash. To name them as the files, such as 'p0.jpg'" in tally.remarks[0]
    _, tally = read("label-studio", write(tmp_path, "a.json", about("caption", "A cat/dog.")))
    assert "give the field with them as --item; it has caption" in tally.remarks[0]
