"""Tickets with topics: a plain export of Label Studio, and a sheet in which two people ticked."""

import csv
import json

import numpy as np

TOPICS = {
    "login": ("password", "account", "locked"),
    "billing": ("invoice", "refund", "charged"),
    "crash": ("freezes", "error", "closes"),
    "delivery": ("parcel", "courier", "late"),
}


def task(name: str, text: str, topics: list[str]) -> dict[str, object]:
    """Return a task as Label Studio exports it; the form has one control, called topics."""
    choice = {"from_name": "topics", "to_name": "text", "type": "choices"}
    result = [{**choice, "value": {"choices": topics}}] if topics else []
    return {"data": {"item": name, "text": text}, "annotations": [{"result": result}]}


def main() -> None:
    """Write the files."""
    rng = np.random.default_rng(0)
    applies = rng.random((400, len(TOPICS))) < 0.35
    applies[:20] = False  # nobody can tick anything here
    fillers = ["hello", "please", "thanks", "since", "Monday", "help", "again", "today"]
    texts = []
    for row in applies:
        words = [rng.choice(TOPICS[topic]) for topic, k in zip(TOPICS, row, strict=True) if k]
        texts.append(" ".join(rng.permutation([*words, *rng.choice(fillers, 4)])))
    names = [f"t{i:03}" for i in range(len(texts))]
    ticked = [[topic for topic, k in zip(TOPICS, row, strict=True) if k] for row in applies]

    with open("kinds.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(TOPICS))
    with open("tickets.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("item", "text"), *zip(names, texts, strict=True)])
    with open("tickets-truth.csv", "w", encoding="utf-8", newline="") as file:
        rows = [[name, *row] for name, row in zip(names, applies.astype(int).tolist(), strict=True)]
        csv.writer(file).writerows([("item", *TOPICS), *rows])
    with open("plain.json", "w", encoding="utf-8") as file:
        json.dump([task(*each) for each in zip(names, texts, ticked, strict=True)], file)
    with open("sheet-of-two.csv", "w", encoding="utf-8", newline="") as file:
        cells = ["; ".join(each) for each in ticked]
        rows = [(name, cell, cell) for name, cell in zip(names, cells, strict=True)]
        csv.writer(file).writerows([("item", "ann", "ben"), *rows])


if __name__ == "__main__":
    main()
