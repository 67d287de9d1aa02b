import json
import random

import pytest
from tests.importers.reading import imported, refused, write
from tests.refusals import check_names, raises

from complabel.answers import Answers
from complabel.errors import DatasetFormatError, InputError
from complabel.importers import Options, import_answers, write_questions
from complabel.importers._questions import Question
from complabel.importers._replies import answers_in

QUESTIONS = {
    "item": [4, 5, 4],
    "label": ["dog", "it's a cat", "dog"],
    "answer": [None, None, "no"],
    "question": ["asked"] * 3,
    "probability": [0.5, 0.25, 0.5],
}
MENU = ["sea", "Sky", "city"]
NAMINGS = {"item": ["a", "b"], "question": ["named"] * 2, "offered": [MENU, MENU]}
NAMINGS["asked_for"] = [1, 2]


SHOWN = {str(item): {"text": f"Text of {item}."} for item in (*range(6), "a", "b")}


def write_prompts(table, path, shown=SHOWN, **options):
    return write_questions(table, path, tool="replies", shown=shown, **options)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def reply_to(path, replies):
    """Answer the prompts of a file, as a user's loop would."""
    lines = [{**line, "reply": reply} for line, reply in zip(lines_of(path), replies, strict=True)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_a_prompt_says_what_is_asked_and_how_to_answer(tmp_path):
    path = tmp_path / "prompts.jsonl"
    texts = {4: {"text": "A puppy."}, 5: {"text": "Ein Kätzchen."}}
    assert write_prompts(QUESTIONS, path, shown=texts) == 2
    first, second = lines_of(path)
    assert first == {
        "id": "q1",
        "answer_id": "q1",
        "item": "4",
        "question": "asked",
        "label": "dog",
        "probability": 0.5,
        "text": "A puppy.",
        "prompt": "Does the label 'dog' apply to this item? Answer yes, no, or unsure."
        "\n\nThe item is this text:\nA puppy.",
    }
    assert second["text"] == "Ein Kätzchen."
    assert "Kätzchen" in path.read_text(encoding="utf-8")
    (known,) = second["known"]  # it is not asked, but belongs to the sample
    assert (known["item"], known["label"], known["answer"]) == ("4", "dog", "no")


@pytest.mark.parametrize("table", [QUESTIONS, NAMINGS], ids=["asked", "named"])
def test_a_prompt_holds_what_it_asks_about(tmp_path, table):
    """Who sends the prompt alone must not get answers about nothing."""
    path, items = tmp_path / "prompts.jsonl", map(str, table["item"])
    seen = {item: {"text": f"Text\n{item}", "image": f"{item}.jpg"} for item in items}
    write_prompts(table, path, seen)
    for line in lines_of(path):
        text, image = f"Text\n{line['item']}", f"{line['item']}.jpg"
        assert text in line["prompt"]
        assert line["prompt"].endswith("\n\nThe item is this picture.")
        assert (line["text"], line["image"]) == (text, image)
    path.unlink()
    for nothing in (None, {item: {} for item in seen}):
        with raises(InputError, "shown"):
            write_prompts(table, path, nothing)
        assert not path.exists()


def test_a_menu_is_spelled_out_with_its_forms(tmp_path):
    path = tmp_path / "prompts.jsonl"
    assert write_prompts(NAMINGS, path) == 2
    one, two = lines_of(path)
    assert one["offered"] == two["offered"] == MENU
    assert "Name one of these labels that does not apply" in one["prompt"]
    assert two["asked_for"] == 2
    assert "Name 2 of these labels" in two["prompt"]
    forms = {"item": ["a"] * 2, "label": MENU[:2], "question": ["ticked"] * 2, "answer_id": [1, 1]}
    assert write_prompts(forms, path) == 1
    (form,) = lines_of(path)
    assert "Answer with one JSON object that has each label as a key" in form["prompt"]
    assert '["sea", "Sky"]' in form["prompt"]
    free = {"item": ["a"], "question": ["named"]}
    write_prompts(free, path, label_names=MENU)
    assert lines_of(path)[0]["offered"] == MENU


@pytest.mark.parametrize(
    ("table", "options", "told"),
    [
        ({"item": ["a"], "question": ["named"]}, {}, ("row 1", "0 labels")),
        ({"item": ["a"], "question": ["excluded"]}, {}, "'excluded'"),
        ({"item": ["a"], "question": ["ticked"]}, {}, "answer_id"),
        ({"item": ["a"], "question": ["asked"]}, {}, "row 1"),
        ({**NAMINGS, "label": ["sea", None]}, {}, "row 1"),
        (
            {"item": ["a"], "question": ["named"]},
            {"label_names": ["All apply", "b"]},
            "'all apply'",
        ),
        (QUESTIONS, {"shown": {4: {"text": "A puppy."}}}, ("row 2", "item '5'")),
    ],
)
def test_what_is_no_question_is_refused_and_nothing_written(tmp_path, table, options, told):
    path = tmp_path / "prompts.jsonl"
    with raises(InputError, told):
        write_prompts(table, path, **options)
    assert not path.exists()


def test_namings_come_back_as_choices_from_their_menu(tmp_path):
    path = tmp_path / "prompts.jsonl"
    write_prompts(NAMINGS, path)
    back = reply_to(path, ['{"named": "sky"}', '{"named": ["city", "sea"]}'])
    rows, tally = imported(tmp_path / "back.jsonl", back)
    said = [(row["item"], row["label"], row["answer"], row["asked_for"]) for row in rows]
    assert said == [("a", "Sky", "no", 1), ("b", "city", "no", 2), ("b", "sea", "no", 2)]
    assert {row["question"] for row in rows} == {"named"}
    assert [json.loads(row["offered"]) for row in rows] == [MENU] * 3
    assert tally.counts["answers"] == 2
    everything = reply_to(path, ["All apply.", '{"named": "all apply"}'])
    rows, _ = imported(tmp_path / "back.jsonl", everything)
    assert [("label" in row, row["answer"]) for row in rows] == [(False, "yes")] * 2
    answers = Answers.from_table(import_answers(tmp_path / "back.jsonl")[0], label_names=MENU)
    assert answers.known_relevant.tolist() == [[1, 1, 1]] * 2


JUDGED = {"id": "q1", "item": "a", "label": "sea"}
NAMED = {"id": "q1", "item": "a", "question": "named", "offered": MENU}


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("yes", "yes"),
        ("No.", "no"),
        ("UNSURE", "unsure"),
        ("No, the picture shows a city.", "no"),
        ("no\nThe picture shows a city.", "no"),
        ("**Yes**: there is one.", "yes"),
        ("Yes, there is no doubt.", "yes"),
        ("No, none of it; it does not apply.", "no"),
        ("Unsure. It could be yes or no.", "unsure"),
        ({"answer": "No"}, "no"),
        ({"Answer": " yes. ", "why": "there it is"}, "yes"),
        ('```json\n{"answer": "no"}\n```', "no"),
        ('Let me think {about it}. {"answer": "no"}', "no"),
        ('{"answer": "no"} I repeat: {"answer": "no"}', "no"),
        ('{"answer": "no"} or rather {"answer": "yes"}', None),
        ('{"answer": "perhaps"}', None),
        ('{"answer": false}', "no"),
        ('{"answer": 0}', None),
        ("No idea", None),
        ("Not sure", "unsure"),
        ("yes | no | unsure", None),
        ("Yes, no, who knows", None),
        ("Yes or no?", None),
        ("yesterday", None),
        ("The answer is no.", "no"),
        ("{" * 5000, None),
        (5, None),
        (["no"], None),
    ],
    ids=lambda value: json.dumps(value)[:30],
)
def test_a_judgment_is_read_if_it_is_plain(tmp_path, reply, said):
    assert read_reply(tmp_path, JUDGED, reply) == ([] if said is None else [("sea", said)])


@pytest.mark.parametrize(
    "reply",
    [
        *("No, it does not... yes", "No. Wait, yes.", "Yes, but no", "No\n\nFinal answer: Yes"),
        *("Yes. On reflection, no.", "Yes.\n\nIt shows a wolf, so the answer is no."),
        *("Yes, the label does not apply.", "Yes: it doesn't apply", "Yes, not applicable."),
        *("No, the label 'sea' applies.", "No, it does apply.", "No, I am unsure.", "Yes, unsure"),
        *("'Yes' is wrong.", '"No" would be the wrong answer.', "`yes` is not right"),
        *("(Yes) would be wrong", "No. 1 on the list is the sea", "No.5", "Yes, or no?"),
        *("Yes. No sea is here.", "Unsure, yes", "No problem, yes", "Yes? No idea", "no doubt"),
        *('{"answer": "no", "answer": "yes"}', '{"answer": "yes"} No, I take it back: no.'),
        *('No. {"answer": "yes"}', '{"yes": false}', '{"answer": {"answer": "yes"}}'),
        *('{"answer": "no", "x": {"answer": "yes"},}', '{"answer": "yes"', '["yes", "no"]'),
        '{"answer": "no"}' + "{}" * 200 + '{"answer": "yes"}',
    ],
)
def test_a_reply_that_could_be_read_upside_down_is_not_read(tmp_path, reply):
    assert read_reply(tmp_path, JUDGED, reply) == []


# Words of the table, and what stands behind them without taking them back, or takes them back.
WORDS = {
    "yes": ["Yes", "Ja", "Oui", "Sí", "Sì", "Sim", "はい", "是", "Да"],
    "no": ["No", "Nein", "Non", "Não", "いいえ", "否", "Нет"],
    "unsure": ["Unsure", "I am not sure", "I\u2019m uncertain", "Unclear", "cannot tell"],
}
AROUND = ["{}", "{}.", "{}。", "**{}**!", "Answer: {}", "**Answer:** {}", "The answer is {}."]
AROUND += ["<think>\nYes, no.\n</think>\n\n{}", "no\n</think> {}", "<thinking>{{</thinking>{}."]
AROUND += ["[THINK]so it applies[/THINK]\n{}", "<answer>{}</answer>", "{} - this is a harbour."]
AROUND += ["{}\n\n<reasoning>A harbour.</reasoning>", '<think>no</think>{{"answer": "{}"}}']


@pytest.mark.parametrize("said", WORDS)
def test_each_word_of_the_table_is_read_alike_in_each_wording(tmp_path, said):
    texts = [form.format(word) for form in AROUND for word in WORDS[said]]
    lines = [{**JUDGED, "id": str(n), "reply": text} for n, text in enumerate(texts)]
    rows, _ = imported(write(tmp_path, "replies.jsonl", lines), None)
    assert [texts[int(row["answer_id"])] for row in rows if row["answer"] != said] == []
    assert {int(row["answer_id"]) for row in rows} == {*range(len(texts))}


UNREAD = ["{} and {}", "{} or {}?", "{}/{}", "{}, but {}", "{}. Wait, {}.", "<think>{} {}", "{} {}"]
UNREAD += ["{}. The answer is {}", "<think>{}.</think>{} <think>", "{}. 5 {}", "{}{}"]
OTHERWISE = [
    *("No, this is about a rude sea, so sea applies.", "No, other: it fits.", "No, it does."),
    *("Nein, das Label trifft zu.", "Ja, das Label trifft nicht zu.", "Sí, no aplica."),
    *("Oui, le label ne s'applique pas.", "はい、適用されません。", "いいえ、適用されます。"),
    *("是的\uff0c不适用。", "Да, не относится.", "Нет, относится.", "Yes, no sea"),
    *("Yes. Actually it is inapplicable.", "No, that is correct.", "I am not sure, but no."),
    *("The answer is not yes.", "Yes. That is wrong.", "</think>", "<think></think>", "Yes?"),
]


def test_what_says_two_things_is_counted_as_not_clear(tmp_path):
    pairs = list(zip(WORDS["yes"], [*WORDS["no"], "No", "No"], strict=True))
    texts = [form.format(*pair[::way]) for form in UNREAD for pair in pairs for way in (1, -1)]
    texts += OTHERWISE
    lines = [{**JUDGED, "id": str(n), "reply": text} for n, text in enumerate(texts)]
    sound = {**JUDGED, "id": "sound", "reply": "no"}
    rows, tally = imported(write(tmp_path, "replies.jsonl", [*lines, sound]), None)
    assert [texts[int(row["answer_id"])] for row in rows[:-1]] == []
    assert tally.counts["replies that do not parse"] == len(texts)


def plainly(words):
    """What a mixture of words says of the sea, by one rule: all that is said must agree."""
    said, denied = set(), False
    for word, after in zip(words, [*words[1:], ""], strict=True):
        denied = word in ("no", "does not") or (denied and word in ("sea", "city", "applies"))
        if word in ("no", "does not") and after in ("city", "applies"):  # not of the sea alone
            continue
        if word in ("yes", "no", "does not"):
            said.add("yes" if word == "yes" else "no")
        if word == "applies":
            said.add("no" if denied else "yes")
    return said.pop() if len(said) == 1 else None


def test_mixtures_of_words_are_never_read_as_what_they_do_not_plainly_say(tmp_path):
    rng, texts = random.Random(0), []
    pool = ["yes", "no", "but", "sea", "city", "applies", "does not", ",", ".", ", so", "\n"]
    for _ in range(2000):
        texts.append([rng.choice(("yes", "no")), rng.choice((",", ".", " -", ""))])
        texts[-1] += rng.choices(pool, k=rng.randrange(7))
    lines = [{**JUDGED, "id": str(n), "reply": " ".join(text)} for n, text in enumerate(texts)]
    rows, _ = imported(write(tmp_path, "replies.jsonl", lines), None)
    read = {int(row["answer_id"]): row["answer"] for row in rows}
    assert {n: (texts[n], said) for n, said in read.items() if plainly(texts[n]) != said} == {}
    assert len(read) > 200


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("sea", [("sea", "no")]),
        ("SKY.", [("Sky", "no")]),
        ({"named": "city"}, [("city", "no")]),
        ('{"named": ["sea"]}', [("sea", "no")]),
        ("all apply", [(None, "yes")]),
        ({"named": "All apply."}, [(None, "yes")]),
        ({"named": ["sea", "city"]}, []),
        ({"named": "forest"}, []),
        ({"named": []}, []),
        ("The sea does not apply", []),
        ("sea, city", []),
    ],
    ids=lambda value: json.dumps(value)[:30],
)
def test_a_naming_is_read_if_it_is_plain(tmp_path, reply, said):
    assert read_reply(tmp_path, NAMED, reply) == said


def read_reply(folder, prompt, reply):
    """What one reply says, beside another that is always read."""
    sound = {"id": "z", "item": "z", "label": "sea", "reply": "no"}
    path = write(folder, "replies.jsonl", [{**prompt, "reply": reply}, sound])
    rows, tally = imported(path, None)
    assert tally.counts["replies that do not parse"] == (len(rows) == 1)
    assert len(tally.remarks) == (len(rows) == 1)
    return [(row.get("label"), row["answer"]) for row in rows[:-1]]


def test_a_label_on_offer_that_two_are_like_is_not_guessed(tmp_path):
    prompt = {**NAMED, "offered": ["A", "a", "b"]}
    assert read_reply(tmp_path, prompt, "a") == [("a", "no")]
    assert read_reply(tmp_path, prompt, "A.") == []


def test_what_a_reply_from_a_menu_means_is_asked(tmp_path):
    line = {name: value for name, value in NAMED.items() if name != "question"} | {"reply": "sea"}
    message = refused(tmp_path / "replies.jsonl", [line])
    assert "--read-as named" in message
    assert "--read-as ticked" in message
    for question, said in (("named", ["no"]), ("ticked", ["yes", "no", "no"])):
        rows, _ = imported(tmp_path / "replies.jsonl", None, question=question)
        assert [row["answer"] for row in rows] == said


def test_what_does_not_parse_is_counted_and_shown_and_the_rest_read(tmp_path):
    lines = [{**JUDGED, "id": str(n), "reply": f"well {n}"} for n in range(5)]
    lines.append({**JUDGED, "id": "x", "reply": "no"})
    lines.append({**JUDGED, "id": "y"})
    text = "\n\n".join(map(json.dumps, lines))
    rows, tally = imported(tmp_path / "replies.jsonl", text)
    assert [row["answer_id"] for row in rows] == ["x"]
    assert tally.counts["replies that do not parse"] == 5
    assert tally.counts["requests without a result"] == 1
    told = tally.remarks[0]
    assert told.startswith("replies that do not parse: 5, such as 0 ('well 0'), 1 ('well 1'), 2 (")
    assert "well 3" not in told
    assert tally.remarks[1].startswith("requests without a result: 1, such as y")
    assert "are a random sample only if all were answered" in tally.remarks[1]


def test_ids_alone_are_enough_beside_the_file_of_prompts(tmp_path):
    prompts, back = tmp_path / "prompts.jsonl", tmp_path / "back.jsonl"
    write_prompts(QUESTIONS, prompts)
    text = '{"id": "q2", "reply": "no", "annotator": "model-7"}\n'
    rows, tally = imported(back, text, prompts=prompts)
    names = ("answer_id", "item", "label", "answer", "question", "annotator", "probability")
    assert [tuple(row.get(name) for name in names) for row in rows] == [
        ("q3", "4", "dog", "no", "asked", None, 0.5),
        ("q2", "5", "it's a cat", "no", "asked", "model-7", 0.25),
    ]
    assert tally.counts["requests without a result"] == 1
    check_names(refused(back, None), "'q2'")


def test_a_repeated_reply_counts_once_and_two_that_differ_not_at_all(tmp_path):
    lines = [{**JUDGED, "reply": reply} for reply in ("no", "No.")]
    lines += [{**JUDGED, "reply": "yes", "annotator": who} for who in ("other", "third")]
    lines.append({**JUDGED, "reply": "no", "annotator": "third"})
    rows, tally = imported(write(tmp_path, "replies.jsonl", lines), None)
    said = [(row["answer_id"], row["answer"], row.get("annotator")) for row in rows]
    assert said == [("q1", "no", None), ("q1 (2)", "yes", "other")]
    assert tally.counts["requests with two different replies"] == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 2"),
        ("[1]", "line 2"),
        ('{"item": "a", "label": "b", "reply": "no"}', "line 2"),
        ('{"id": "x", "item": "a", "reply": "no"}', "line 2"),
        ('{"id": "x", "item": "", "label": "b", "reply": "no"}', "line 2"),
        ('{"id": "x", "item": [1], "label": "b", "reply": "no"}', "line 2"),
        ('{"id": "x", "item": "a", "label": "\\ud800", "reply": "no"}', "line 2"),
        ('{"id": "x", "item": "a", "label": "b", "probability": 7}', ("probability", "7")),
        ('{"id": "x", "item": "a", "question": "named", "offered": "sea"}', ("offered", "'sea'")),
        ('{"id": "x", "item": "a", "label": "b", "asked_for": 0.5}', ("asked_for", "0.5")),
    ],
)
def test_lines_that_are_no_prompts_are_refused(tmp_path, line, told):
    sound = json.dumps({**JUDGED, "reply": "no"})
    check_names(refused(tmp_path / "replies.jsonl", f"{sound}\n{line}\n"), told)


def test_prompts_with_one_id_twice_are_refused(tmp_path):
    path = tmp_path / "prompts.jsonl"
    write(tmp_path, "prompts.jsonl", [JUDGED, JUDGED])
    replies = write(tmp_path, "r.jsonl", [{"id": "q1", "reply": "no"}])
    with raises(DatasetFormatError, "prompts.jsonl", "line 2", "id 'q1'"):
        import_answers(replies, options=Options(prompts=path))
    other = {**JUDGED, "item": "b", "reply": "no"}
    told = refused(tmp_path / "r.jsonl", [{**JUDGED, "reply": "no"}, other])
    assert "line 2: id 'q1' has two questions" in told


TICKED = {"id": "q1", "item": "a", "question": "ticked", "offered": MENU}


@pytest.mark.parametrize(
    ("reply", "ticked"),
    [
        ({"ticked": ["city", "SEA."]}, {"sea", "city"}),
        ({"ticked": "none apply"}, set()),
        ("Sky", {"Sky"}),
        ([], None),
        ({"ticked": ["forest"]}, None),
        ({"ticked": ["sea", "sea"]}, None),
        ("sea, city", None),
        ("all apply", None),
        ({"named": ["sea"]}, None),
        ('{"sea": "yes", "Sky": "no", "city": "No"}', {"sea"}),
        ({"sea": "no", "Sky": "no", "city": "no"}, set()),
        ({"sea": True, "Sky": False, "city": "Nein."}, {"sea"}),
        ({"sea": 1, "Sky": 0, "city": 0}, None),
        ({"sea": "yes", "Sky": "no"}, None),
    ],
    ids=lambda value: json.dumps(value, default=sorted)[:30],
)
def test_ticks_are_read_if_they_are_plain(tmp_path, reply, ticked):
    said = read_reply(tmp_path, TICKED, reply)
    none = ticked is None
    assert said == ([] if none else [(x, "yes" if x in ticked else "no") for x in MENU])


@pytest.mark.parametrize(
    "reply",
    [
        *("네, 해당되지 않습니다.", "はい、違います。", "是的, 不相关", "Sì, non è pertinente."),
        *("Ja, het is niet van toepassing.", "Ja, Lieferung wird nicht erwähnt."),
        *("Oui, l'étiquette n'est pas pertinente.", "No, the label is accurate."),
    ],
)
def test_a_word_that_is_denied_behind_it_is_not_clear(reply):
    question = Question(item="a", question="asked", label="Lieferung")
    assert answers_in({"": question}, reply)[""] is None
