"""Batches of language models: out, answered as each family answers, and back."""

import json

import numpy as np
import pytest

from complabel.errors import ComplabelError, InputError
from complabel.importers import import_answers, write_questions

LABELS = ["cat", 'a "dog"', "Möwe"]
N = 6
ASKED = {
    "item": [f"i{at}" for at in range(N)],
    "label": (LABELS * 2)[:N],
    "question": ["asked"] * N,
}
TICKED = {
    "answer_id": np.repeat([f"form {at}" for at in range(N)], 3),
    "item": np.repeat(ASKED["item"], 3),
    "label": LABELS * N,
    "question": ["ticked"] * (3 * N),
    "offered": [json.dumps(LABELS)] * (3 * N),
}
TEXTS = {item: {"text": f"Text of {item}."} for item in ASKED["item"]}
WORDS = ["yes", "no", "unsure", "yes", "no", "no"]


def chat(text, end="stop", **message):
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    return {"model": "m-1", "choices": [{**choice, "finish_reason": end}], "usage": usage}


def openai(ident, text, end="stop"):
    body = {"status_code": 200, "request_id": "r", "body": chat(text, end)}
    return {"id": "b", "custom_id": ident, "response": body, "error": None}


def responses(ident, text, end="stop"):
    output = [
        {"type": "reasoning"},
        {"type": "message", "content": [{"type": "output_text", "text": text}]},
    ]
    body = {
        "model": "m-1",
        "status": "completed" if end == "stop" else "incomplete",
        "output": output,
    }
    body["usage"] = {"input_tokens": 10, "output_tokens": 2}
    return {"custom_id": ident, "response": {"status_code": 200, "body": body}, "error": None}


def bare(ident, text, end="stop"):
    return {"custom_id": ident, "response": chat(text, end)}


def anthropic(ident, text, end="stop"):
    reason = {"stop": "end_turn", "length": "max_tokens"}[end]
    message = {"model": "m-1", "content": [{"type": "text", "text": text}], "stop_reason": reason}
    message["usage"] = {"input_tokens": 10, "output_tokens": 2}
    return {"custom_id": ident, "result": {"type": "succeeded", "message": message}}


def gemini(ident, text, end="stop"):
    reason = {"stop": "STOP", "length": "MAX_TOKENS"}[end]
    candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": reason}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 2}
    response = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m-1"}
    return {"key": ident, "response": response}


def bedrock(ident, text, end="stop"):
    reason = {"stop": "end_turn", "length": "max_tokens"}[end]
    output = {"model": "m-1", "content": [{"type": "text", "text": text}], "stop_reason": reason}
    output["usage"] = {"input_tokens": 10, "output_tokens": 2}
    return {"recordId": ident, "modelInput": {}, "modelOutput": output}


ANSWERED = {
    "openai": openai,
    "responses": responses,
    "bare": bare,
    "mistral": openai,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
}
FAILED = {
    "openai": lambda ident: {"custom_id": ident, "response": None, "error": {"code": "e"}},
    "status": lambda ident: {"custom_id": ident, "response": {"status_code": 500, "body": {}}},
    "anthropic": lambda ident: {"custom_id": ident, "result": {"type": "expired"}},
    "gemini": lambda ident: {"key": ident, "status": {"code": 3, "message": "m"}},
    "bedrock": lambda ident: {"recordId": ident, "error": {"errorCode": 400, "errorMessage": "m"}},
}


def written(tmp_path, family="openai", table=ASKED, shown=TEXTS, **options):
    tool = {"responses": "openai", "bare": "openai"}.get(family, family)
    path = tmp_path / ("batch.json" if tool == "anthropic" else "batch.jsonl")
    assert write_questions(table, path, tool=tool, shown=shown, model="gpt", **options) == N
    text = path.read_text(encoding="utf-8")
    found = (
        json.loads(text)["requests"]
        if tool == "anthropic"
        else list(map(json.loads, text.splitlines()))
    )
    ids = [
        next(each[key] for key in ("custom_id", "key", "recordId") if key in each) for each in found
    ]
    return ids, found


def read(tmp_path, results):
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in results), encoding="utf-8")
    return import_answers(path)


@pytest.mark.parametrize("family", ANSWERED)
def test_yes_and_no_come_back_as_they_were_said(tmp_path, family):
    ids, found = written(tmp_path, family)
    assert len(set(ids)) == N
    for ident, request, item in zip(ids, found, ASKED["item"], strict=True):
        assert ident.startswith("q0000")
        assert len(ident) <= 64
        assert item not in ident
        assert f"Text of {item}." in json.dumps(request)
    said = list(zip(ids, WORDS, strict=True))[::-1]  # results come in any order
    table, tally = read(tmp_path, [ANSWERED[family](*each) for each in said])
    assert list(table["item"]) == ASKED["item"]
    assert list(table["label"]) == ASKED["label"]
    assert list(table["answer"]) == WORDS
    assert all(who.startswith("m-1 ") for who in table["annotator"])
    assert table["annotator"].nunique() == 1  # the digest is that of the form, not of the label
    assert tally.counts["results"] == N
    assert any("60 tokens" in each and "12" in each for each in tally.remarks)


@pytest.mark.parametrize("family", ANSWERED)
def test_all_labels_of_an_item_come_back_in_one_reply(tmp_path, family):
    ids, found = written(tmp_path, family, TICKED)
    assert all(
        label in json.dumps(found[0], ensure_ascii=False).replace('\\"', '"').replace('\\"', '"')
        for label in ("cat", "Möwe")
    )
    rng = np.random.default_rng(0)
    said = rng.choice(["yes", "no", "unsure"], size=(N, 3))
    said[:, 0] = "yes"
    replies = [json.dumps(dict(zip(LABELS, row.tolist(), strict=True))) for row in said]
    replies[1] = f"Here it is:\n```json\n{replies[1]}\n```"
    results = [ANSWERED[family](*each) for each in zip(ids, replies, strict=True)]
    table, _ = read(tmp_path, results)
    assert list(table["answer"]) == said.ravel().tolist()
    assert list(table["label"]) == LABELS * N
    assert list(table["item"]) == np.repeat(ASKED["item"], 3).tolist()


def test_what_failed_is_counted_and_nothing_is_guessed(tmp_path):
    ids, _ = written(tmp_path, table=TICKED)
    whole = json.dumps(dict.fromkeys(LABELS, "no"))
    twice = '{"cat": "yes", "cat": "no", "a \\"dog\\"": "no", "Möwe": "no"}'
    results = [
        openai(ids[0], whole, "length"),
        openai(ids[1], json.dumps({"cat": "no"})),  # two labels are missing
        openai(ids[2], twice),
        openai(ids[3], whole),
        openai(ids[3], json.dumps(dict.fromkeys(LABELS, "yes"))),
        {"custom_id": ids[4], "response": {"status_code": 200, "body": chat(None, refusal="no")}},
    ]
    with pytest.raises(ComplabelError):  # nothing is left to import
        import_answers_or_fail(tmp_path, results)
    table, tally = read(tmp_path, [*results, openai(ids[5], whole)])
    assert set(table["item"]) == {"i5"}
    counts = tally.counts
    assert counts["replies that were cut off"] == 1
    assert counts["replies that do not parse"] == 2
    assert counts["requests with two different replies"] == 1
    assert counts["requests that the model refused"] == 1
    assert any(ids[0] in each for each in tally.remarks)


def import_answers_or_fail(tmp_path, results):
    table, _ = read(tmp_path, results)
    if not len(table):
        raise InputError("no row")


@pytest.mark.parametrize("way", FAILED)
def test_failures_are_those_of_each_family(tmp_path, way):
    ids, _ = written(tmp_path)
    answer = {"gemini": gemini, "bedrock": bedrock, "anthropic": anthropic}.get(way, openai)
    results = [answer(ids[0], "yes"), FAILED[way](ids[1]), answer(ids[2], "perhaps")]
    table, tally = read(tmp_path, results)
    assert list(table["item"]) == ["i0"]
    assert tally.counts["requests that failed"] == 1
    assert tally.counts["replies that do not parse"] == 1
    assert tally.counts["requests without a result"] == N - 3


def test_a_retry_that_succeeded_counts_and_an_equal_repeat_does_not_disturb(tmp_path):
    ids, _ = written(tmp_path)
    results = [FAILED["openai"](ids[0]), openai(ids[0], "no"), openai(ids[0], "no")]
    table, tally = read(tmp_path, results)
    assert list(table["answer"]) == ["no"]
    assert tally.counts["requests that failed"] == 0


def test_results_need_the_table_of_their_own_batch(tmp_path):
    ids, _ = written(tmp_path)
    (tmp_path / "batch.ids.jsonl").rename(tmp_path / "other.ids.jsonl")
    assert len(read(tmp_path, [openai(ids[0], "yes")])[0]) == 1  # found by the end of the id
    other = f"{ids[0][:-6]}ffffff"
    with pytest.raises(ComplabelError, match="ids"):
        read(tmp_path, [openai(other, "yes")])
    with pytest.raises(ComplabelError, match="q999999"):
        read(tmp_path, [openai(ids[0], "yes"), openai(f"q999999{ids[0][7:]}", "yes")])


@pytest.mark.parametrize("family", ["openai", "mistral", "anthropic", "gemini", "bedrock"])
def test_pictures_travel_in_the_request(tmp_path, family):
    (tmp_path / "p.png").write_bytes(b"\x89PNG not really")
    shown = {item: {"image": "p.png"} for item in ASKED["item"]}
    _, found = written(tmp_path, family, shown=shown, folder=tmp_path)
    text = json.dumps(found[0])
    assert "iVBORyBub3QgcmVhbGx5"[:8] in text
    assert "image/png" in text


@pytest.mark.parametrize(
    ("options", "named"),
    [({"model": None}, "model"), ({"shown": None}, "shown"), ({"tool": "anthropic"}, "json")],
)
def test_what_a_batch_lacks_is_named(tmp_path, options, named):
    given = {"tool": "openai", "shown": TEXTS, "model": "gpt", **options}
    with pytest.raises(InputError, match=named):
        write_questions(ASKED, tmp_path / "b.jsonl", **given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_mutants", [150, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", ["openai", "responses", "anthropic", "gemini", "bedrock"])
def test_damaged_results_are_refused_or_counted_without_a_traceback(tmp_path, family, n_mutants):
    ids, _ = written(tmp_path, family)
    good = [ANSWERED[family](*each) for each in zip(ids, WORDS, strict=True)]
    text = "".join(json.dumps(each) + "\n" for each in good)
    right = dict(zip(ASKED["item"], WORDS, strict=True))
    rng = np.random.default_rng(0)
    path = tmp_path / "results.jsonl"
    n_read = 0
    for _ in range(n_mutants):
        at, size = int(rng.integers(len(text))), int(rng.integers(1, 9))
        filler = "".join(rng.choice(list('{}[]":,0x\n'), size=int(rng.integers(0, 4))))
        path.write_text(text[:at] + filler + text[at + size :], encoding="utf-8")
        try:
            table, _ = import_answers(path, format="results")
        except ComplabelError:
            continue
        n_read += 1
        for item, answer in zip(table["item"], table["answer"], strict=True):
            assert answer == right[item]
    assert n_read > 10


@pytest.mark.slow
@pytest.mark.parametrize("family", ["openai", "mistral", "anthropic", "gemini", "bedrock"])
def test_ten_thousand_results_come_back_as_they_were_said(tmp_path, family):
    n, rng = 10_000, np.random.default_rng(1)
    items, words = [f"item {at}" for at in range(n)], rng.choice(WORDS, n).tolist()
    table = {"item": items, "label": rng.choice(LABELS, n), "question": ["asked"] * n}
    path = tmp_path / ("b.json" if family == "anthropic" else "b.jsonl")
    texts = {item: {"text": f"Text of {item}."} for item in items}
    write_questions(table, path, tool=family, shown=texts, model="gpt")
    names = tmp_path / "b.ids.jsonl"
    ids = [json.loads(line) for line in names.read_text(encoding="utf-8").splitlines()]
    ids = [each["id"] for each in ids if "item" in each or "id" in each][-n:]
    said = list(zip(ids, words, strict=True))
    rng.shuffle(said)
    found, _ = read(tmp_path, [ANSWERED[family](*each) for each in said])
    assert list(found["item"]) == items
    assert list(found["label"]) == list(table["label"])
    assert list(found["answer"]) == words
