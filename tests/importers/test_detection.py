import json

import pytest
from tests.importers.reading import FORMAT, head, write
from tests.importers.samples import SAMPLES
from tests.refusals import raises

from complabel.errors import DatasetFormatError
from complabel.importers import FORMATS, Head, Options, detect, import_answers

JSON_FORMATS = ("label-studio", "prodigy", "argilla", "lvis")
each_sample = pytest.mark.parametrize("sample", SAMPLES)


@each_sample
@pytest.mark.parametrize("ending", ["", ".gz"], ids=["plain", "packed"])
def test_each_file_is_recognized_by_its_own_format_alone(tmp_path, sample, ending):
    own, name, content, _ = SAMPLES[sample]
    path = write(tmp_path, name + ending, content)
    assert [each.name for each in FORMATS if each.recognizes(head(path))] == [own]


@each_sample
def test_indentation_and_a_byte_order_mark_change_nothing(tmp_path, sample):
    own, name, content, _ = SAMPLES[sample]
    if not isinstance(content, str) and name.endswith(".json"):
        content = json.dumps(content, indent=4)
    path = write(tmp_path, name, content)
    marked = Head(path, b"\xef\xbb\xbf" + path.read_bytes())
    assert FORMAT[own].recognizes(marked)


@each_sample
def test_a_beginning_cut_off_anywhere_raises_nothing_and_misleads_nobody(tmp_path, sample):
    own, name, content, _ = SAMPLES[sample]
    path = write(tmp_path, name, content)
    start = path.read_bytes()
    for stop in range(0, len(start), 31):
        found = {each.name for each in FORMATS if each.recognizes(Head(path, start[:stop]))}
        assert found <= {own}


@pytest.mark.parametrize("name", JSON_FORMATS)
@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"\xff\xfe\x00\x00",
        b"\x89HDF\r\n",
        b"item,label,answer\na,sea,no\n",
        b"ImageID,Source,LabelName,Confidence\n",
        b"[",
        b"{",
        b'{"id": ',
        b'["a", "b"]',
        b'[["annotations"]]',
        b'{"answer": "yes", "text": "no"}',
        b'{"info": {}, "licenses": []}',
        b'[{"id": 1, "result": {"annotations": []}}]',
        b'{"a": "\\"annotations\\": 1, \\"data\\": 2"}',
        b"[" * 65536,
        b'"' * 65535,
    ],
    ids=range(16),
)
def test_other_files_are_not_recognized(tmp_path, name, start):
    assert FORMAT[name].recognizes(Head(tmp_path / "a", start)) is False


STRANGERS = {
    "CVAT": "<?xml version='1.0'?>\n<annotations><image name='a'><tag label='x'/></image>",
    "Pascal VOC": "<annotation><filename>a.jpg</filename><object><name>x</name></object>",
    "LabelMe": {"version": "5", "shapes": [{"label": "x"}], "imagePath": "a.jpg"},
    "Datumaro": {"info": {}, "categories": {}, "items": [{"id": "a"}]},
    "Zooniverse": "classification_id,annotations,subject_ids\n1,[],7\n",
    "doccano": '{"text": "x", "label": ["a"]}\n{"text": "y", "label": []}\n',
    "spaCy": '{"text": "x", "cats": {"a": 1}}\n{"text": "y", "cats": {"a": 0}}\n',
    "item, label and answer": b"\x00\x01",
}


@pytest.mark.parametrize("tool", STRANGERS)
def test_files_of_other_tools_are_told_how_to_become_a_table(tmp_path, tool):
    path = write(tmp_path, "export", STRANGERS[tool])
    with raises(DatasetFormatError, tool) as caught:
        detect(path)
    assert "item, label and answer" in str(caught.value)


def test_a_column_for_each_person_leads_to_the_options_that_read_it(tmp_path):
    path = write(tmp_path, "a.csv", "item,anna,ben\na,sea,sky\nb,sea,\n")
    with raises(DatasetFormatError, "'anna'", "'ben'"):
        detect(path)
    options = Options(present=("anna", "ben"), unselected="unknown")
    table, _ = import_answers(path, format="columns", options=options)
    told = [*zip(table["item"], table["label"], table["annotator"], strict=True)]
    assert told == [("a", "sea", "anna"), ("a", "sky", "ben"), ("b", "sea", "anna")]
