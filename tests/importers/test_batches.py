"""Tables with a row for each answer of one person."""

import re

import pytest
from tests.importers.reading import imported, refused, write
from tests.importers.samples import delimited

from complabel.importers import detect

LABELS = ("sea", "sky", "a|b")


def mechanical_turk(*answers):
    """A batch file; each answer is (item, worker, status, seconds, what was said)."""
    return delimited(
        ",",
        [
            {
                "HITId": f"h-{item}",
                "AssignmentId": f"a{number}",
                "WorkerId": worker,
                "AssignmentStatus": status,
                "SubmitTime": "Tue Mar 07 11:46:15 PST 2017",
                "WorkTimeInSeconds": seconds,
                "Input.item": item,
                "Input.text": "A text, with a comma",
                "Answer.labels": said,
                "Answer.comment": "",
            }
            for number, (item, worker, status, seconds, said) in enumerate(answers)
        ],
    )


def test_labels_of_a_batch_file(tmp_path):
    content = mechanical_turk(
        ("t1", "W1", "Approved", "37", "sea|sky"),
        ("t1", "W2", "Rejected", "2", "sky"),
        ("t2", "W1", "Submitted", "12", ""),
        ("t2", "W3", "Approved", "", '["a|b"]'),
    )
    path = write(tmp_path, "batch.csv", content)
    assert detect(path).name == "batch"
    rows, tally = imported(path, None, present=("labels",))
    names = ("answer_id", "item", "label", "answer", "question", "annotator", "seconds")
    assert [tuple(row.get(name) for name in names) for row in rows] == [
        ("a0", "t1", "sea", "yes", "asked", "W1", 37),
        ("a0", "t1", "sky", "yes", "asked", "W1", 37),
        ("a3", "t2", "a|b", "yes", "asked", "W3", None),
    ]
    assert {row["time"] for row in rows} == {"Tue Mar 07 11:46:15 PST 2017"}
    assert (tally.counts["refused answers"], tally.counts["empty answers"]) == (1, 1)
    named, _ = imported(path, None, absent=("Answer.labels",))
    assert [(row["question"], row["asked_for"]) for row in named] == [("named", 2)] * 2 + [
        ("named", 1)
    ]


FIGURE_EIGHT = [
    {
        "_unit_id": "17",
        "_id": str(number),
        "_worker_id": worker,
        "_trust": "0.9",
        "_tainted": tainted,
        "_started_at": "10/23/2018 13:11:12",
        "_created_at": ended,
        "_golden": "false",
        "tags": said,
    }
    for number, (worker, tainted, ended, said) in enumerate(
        [
            ("5", "false", "10/23/2018 13:12:02", "sea\nsky"),
            ("6", "true", "10/23/2018 13:12:02", "sea"),
            ("7", "false", "tomorrow", "sky"),
        ]
    )
]


def test_a_full_report_of_figure_eight(tmp_path):
    path = write(tmp_path, "f1.csv", delimited(",", FIGURE_EIGHT))
    assert detect(path).name == "batch"
    rows, tally = imported(path, None, present=("tags",))
    names = ("item", "label", "annotator", "seconds")
    assert [tuple(row.get(name) for name in names) for row in rows] == [
        ("17", "sea", "5", 50),
        ("17", "sky", "5", 50),
        ("17", "sky", "7", None),
    ]
    assert tally.counts["refused answers"] == 1


def test_any_table_of_this_form(tmp_path):
    text = "item,annotator,ticked,seconds\nt1,w1,sea;sky,4\nt2,w1,a|b,\n"
    path = write(tmp_path, "rows.csv", text)
    rows, _ = imported(path, None, "batch", present=("ticked",), separator=";")
    assert [(row["item"], row["label"], row["annotator"], row.get("seconds")) for row in rows] == [
        ("t1", "sea", "w1", 4),
        ("t1", "sky", "w1", 4),
        ("t2", "a|b", "w1", None),
    ]


ONE = mechanical_turk(("t1", "W1", "Approved", "37", "sea"))


@pytest.mark.parametrize(
    ("content", "options", "told"),
    [
        (ONE, {}, "say which columns hold labels, .*its columns are 'Answer.comment', "),
        (ONE, {"absent": ("tags",)}, "has no column 'tags' with answers; its columns are"),
        (ONE, {"item": "where", "absent": ("labels",)}, "has no column 'where', which should"),
        (ONE.replace('"t1"', '""'), {"absent": ("labels",)}, "line 2: has no Input.item; fill in"),
        ("item,labels\na,sea\n", {"absent": ("labels",)}, "'annotator', which says who answered"),
    ],
)
def test_what_is_not_understood_is_said(tmp_path, content, options, told):
    path = write(tmp_path, "batch.csv", content)
    assert re.search(told, refused(path, None, "batch", **options))
