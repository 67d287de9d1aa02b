import copy

import pytest
from tests.importers.reading import FORMAT, changed, head, masks, read, refused, short, write
from tests.importers.samples import LVIS
from tests.refusals import check_names


def load(folder, content, **options):
    return read("lvis", write(folder, "a.json", content), **options)


def test_row_by_row(tmp_path):
    table, tally = load(tmp_path, LVIS)
    assert short(table) == [
        ("50", "50", "bed", "no", "asked"),
        ("50", "50", "acorn", "no", "asked"),
        ("50", "50", "cat", "yes", "asked"),
        ("70", "70", "cat", "no", "asked"),
    ]
    assert set(table) == {"answer_id", "item", "label", "answer", "question"}
    assert list(tally.label_names) == ["acorn", "bed", "cat"]
    assert dict(tally.counts) == {
        "images": 3,
        "images without an answer": 1,
        "absent": 3,
        "present": 1,
    }
    _, found = masks(table, list(tally.label_names))
    assert found["absent"] == [[1, 1, 0], [0, 0, 1]]
    assert found["relevant"] == [[0, 0, 1], [0, 0, 0]]


def test_the_real_file(data_dir):
    path = data_dir / "lvis" / "lvis_val_100.json"
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    assert FORMAT["lvis"].recognizes(head(path))
    table, tally = read("lvis", path)
    assert tally.counts["images"] == 100
    assert len(tally.label_names) == 1230
    answers, _ = masks(table, list(tally.label_names))
    assert answers.absent.sum() / 100 == pytest.approx(9.42)
    assert answers.relevant.sum() / 100 == pytest.approx(2.99)
    assert not len(answers.contradictions())
    assert set(answers.question) == {"asked"}


def test_another_field_names_the_item(tmp_path):
    assert set(load(tmp_path, LVIS, item="file_name")[0]["item"]) == {"50.jpg", "70.jpg"}


def test_absent_and_present_is_a_contradiction_between_two_answers(tmp_path):
    content = changed(LVIS, ("images", 0, "neg_category_ids"), [2, 2, 3])
    table, _ = load(tmp_path, content)
    assert short(table)[:3] == [
        ("50-no", "50", "cat", "no", "asked"),
        ("50-no", "50", "acorn", "no", "asked"),
        ("50-yes", "50", "cat", "yes", "asked"),
    ]
    answers, _ = masks(table, ["acorn", "bed", "cat"])
    assert answers.contradictions().tolist() == [[0, 2]]


@pytest.mark.parametrize(
    ("way", "value", "told"),
    [
        (("images",), {}, "images"),
        (("images", 1), "x", ("images.1", "'x'")),
        (("images", 1, "id"), 2**70, "images.1.id"),
        (("images", 1, "id"), "60", ("images.1.id", "'60'")),
        (("images", 1, "id"), 50, "50"),
        (("images", 1, "neg_category_ids"), None, "images.1.neg_category_ids"),
        (("images", 1, "neg_category_ids"), [9], ("60", "9")),
        (("images", 1, "neg_category_ids"), [[1]], "1"),
        (("annotations", 1, "image_id"), True, "annotations.1.image_id"),
        (("annotations", 1, "image_id"), 51, "51"),
        (("annotations", 1, "category_id"), 51, ("50", "51")),
        (("categories", 1, "id"), 3, ()),
        (("categories", 1, "name"), "acorn", ()),
        (("categories", 1, "name"), None, "categories.1.name"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, way, value, told):
    check_names(refused(tmp_path / "a.json", changed(LVIS, way, value), "lvis"), told)


def test_a_file_of_coco_is_told_what_is_missing(tmp_path):
    content = copy.deepcopy(LVIS)
    del content["images"][1]["neg_category_ids"]
    check_names(refused(tmp_path / "a.json", content, "lvis"), "images.1.neg_category_ids")
    for other in ([], {}):
        assert refused(tmp_path / "a.json", other, "lvis")


COCO = {
    "images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "b.jpg"}],
    "annotations": [{"id": at, "image_id": 1, "category_id": at} for at in (1, 3)],
    "categories": [{"id": at, "name": name} for at, name in ((1, "cat"), (2, "dog"), (3, "cow"))],
}


def test_what_coco_does_not_annotate_is_asked_for(tmp_path):
    for option in ("no", "unknown"):
        assert f"unselected='{option}'" in refused(tmp_path / "a.json", COCO, "lvis")
    table, tally = load(tmp_path, COCO, unselected="no", item="file_name")
    answers, found = masks(table, list(tally.label_names))
    assert list(tally.label_names) == ["cat", "dog", "cow"]
    assert (found["relevant"], found["absent"]) == ([[1, 0, 1], [0, 0, 0]], [[0, 1, 0], [1, 1, 1]])
    assert set(answers.question) == {"ticked"}
    table, _ = load(tmp_path, COCO, unselected="unknown", item="file_name")
    assert short(table) == [("1", "a.jpg", label, "yes", "asked") for label in ("cat", "cow")]
    mixed = changed(COCO, ("images", 0, "neg_category_ids"), [])
    check_names(refused(tmp_path / "b.json", mixed, "lvis"), "images.0.not_exhaustive_category_ids")
