"""Count rows, answers, items and labels of a table of answers, piece by piece."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from complabel.answers import QUESTIONS
from complabel.importers._format import Tally
from complabel.importers._hashes import HashSet, hashes_of, paired, shared_by

_MAX_NAMED = 3


class Totals:
    """Counts rows, answers, items and labels, and finds pairs with both a yes and a no.

    It needs eight bytes of memory for each row and for each item.
    """

    def __init__(self) -> None:
        self._rows: Counter[str] = Counter()
        self._items = HashSet()
        self.labels: set[str] = set()
        self._single: Counter[str] = Counter()  # by question: answers without an id (one row)
        self._ids: dict[str, HashSet] = defaultdict(HashSet)  # by question: ids of other answers
        self._said = {"no": HashSet(), "yes": HashSet()}
        self._examples: list[str] = []

    def add(self, table: Any) -> None:
        """Count a piece, which is a pyarrow.Table made by ``answers_to_arrow``."""
        import pyarrow.compute as pc  # type: ignore[import-untyped]

        table = table.combine_chunks()
        column = {name: _joined(table[name]) for name in table.column_names}
        items = hashes_of(column["item"])
        self._items.add(items)
        self._see_labels(column["label"], column["offered"])
        self._count_answers(column["answer_id"], column["question"])
        answer = pc.fill_null(column["answer"], "no")  # a blank answer is read as "no"
        self._rows.update(_value_counts(answer))
        about_one = column["label"].is_valid().to_numpy(zero_copy_only=False)
        pairs = paired(items, hashes_of(column["label"]))
        rows = {
            word: np.flatnonzero(about_one & pc.equal(answer, word).to_numpy(zero_copy_only=False))
            for word in self._said
        }
        for word, where in rows.items():
            self._said[word].add(pairs[where])
        if len(self._examples) < _MAX_NAMED:
            both = shared_by(pairs[rows["yes"]], pairs[rows["no"]])
            said_yes = rows["yes"] if len(both) else rows["yes"][:0]
            self._name(said_yes[np.isin(pairs[said_yes], both)], column["item"], column["label"])

    def finish(self, tally: Tally) -> None:
        """Add the counts to a tally, and a remark on contradictions."""
        by_question = self._single + Counter({name: s.count() for name, s in self._ids.items()})
        counts = tally.counts
        counts["rows"] = self._rows.total()
        counts["answers"] = by_question.total()
        for name in QUESTIONS:
            if by_question[name]:
                counts[f"{name} answers"] = by_question[name]
        if by_question[""]:
            counts["answers without a question"] = by_question[""]
        counts["items"] = self._items.count()
        counts["labels"] = len(self.labels)
        for word in ("yes", "no", "unsure"):
            counts[f"rows that say {word}"] = self._rows[word]
        n_pairs = self._said["yes"].count_shared(self._said["no"])
        counts["contradictory pairs"] = n_pairs
        if n_pairs:
            named = f", such as {', '.join(self._examples)}" if self._examples else ""
            tally.remark(
                f"{n_pairs:,} pairs of item and label have both a yes and a no{named}; all are "
                "kept. Choose what to do with them when you use the answers: "
                "--contradictions (contradictions= of read_answers)"
            )

    def _see_labels(self, label: Any, offered: Any) -> None:
        self.labels.update(label.unique().drop_null().to_pylist())
        for menu in offered.unique().drop_null().to_pylist():
            try:
                self.labels.update(map(str, json.loads(menu)))
            except (ValueError, TypeError, RecursionError):
                continue  # refused, with its place, when answers are made from the table

    def _count_answers(self, answer_id: Any, question: Any) -> None:
        import pyarrow.compute as pc

        question = pc.fill_null(question, "")
        alone = answer_id.is_null()
        self._single.update(_value_counts(question.filter(alone)))
        if answer_id.null_count == len(answer_id):
            return
        ids = hashes_of(answer_id)
        for name in question.filter(pc.invert(alone)).unique().to_pylist():
            chosen = pc.and_(pc.invert(alone), pc.equal(question, name))
            self._ids[name].add(ids[chosen.to_numpy(zero_copy_only=False)])

    def _name(self, rows: Any, item: Any, label: Any) -> None:
        for row in rows.tolist():
            text = f"label {label[row].as_py()!r} of item {item[row].as_py()!r}"
            if text not in self._examples:
                self._examples.append(text)
            if len(self._examples) == _MAX_NAMED:
                return


def _joined(column: Any) -> Any:
    """Return a column as one array."""
    import pyarrow as pa

    joined = column.combine_chunks()
    return pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else joined


def _value_counts(column: Any) -> dict[str, int]:
    return {each["values"]: each["counts"] for each in column.value_counts().to_pylist()}
