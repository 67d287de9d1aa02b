"""What a sitting's log says of labels and items: their names now, and what was asked when.

Nothing in a log is ever rewritten. Labels keep their numbers when they are renamed; labels that are
merged make a new one, and nobody is asked about its parts any more. So an answer of any day says
today what it said then.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from complabel.errors import AnnotationError, InputError, StoreError
from complabel.files import some_of
from complabel.live._drawing import Period
from complabel.live._server import new_token

Entry = tuple[str, dict[str, Any]]  # of the log: what happened, and its values
CHANGES = ("began", "token", "labels", "items")  # entries that are neither questions nor events


class History:
    """What all entries of a log so far say; ``apply`` takes them in their order.

    ``names`` has all labels that ever were, by their numbers, as they are called now; ``parts`` has
    what merged ones were made of. ``items`` has all items in the order in which they came, by their
    first names; ``called`` says what they are called now.
    """

    def __init__(self) -> None:
        self.mark = self.token = self.question = ""
        self.is_weighted = False
        self.names: list[str] = []
        self.parts: dict[int, tuple[int, ...]] = {}
        self.periods: list[Period] = []
        self.items: list[str] = []
        self.called: dict[str, str] = {}
        self.gone: list[str] = []  # items that could not be shown at the last start
        self.n_questions = 0
        self.n_changes = 0  # entries that are neither questions nor events
        self.n_renamed = 0  # labels that got another name, each time
        self._first: dict[str, str] = {}  # first names of items, by those of now
        self._asked: set[str] = set()  # first names of items that were asked about
        self._done: set[tuple[str, str, str]] = set()  # what was renamed or merged, and into what

    @property
    def now(self) -> Period:
        return self.periods[-1]

    @property
    def labels(self) -> list[str]:
        """The labels that people are asked about."""
        return [self.names[label] for label in self.now.labels]

    @property
    def since(self) -> list[int]:
        """Of each label, the number of the first question that may be about it."""
        return [
            next(period.since for period in self.periods if label in period.labels)
            for label in self.now.labels
        ]

    def period(self, number: int) -> Period:
        return self.periods[bisect_right(self.periods, number, key=lambda each: each.since) - 1]

    def on_offer(self, number: int, labels: Sequence[int] | None) -> tuple[int, ...]:
        """Return the labels that a question was about."""
        return self.period(number).labels if labels is None else tuple(labels)

    def latest(self, number: int) -> int:
        """Return the latest label that there was when a question was drawn."""
        at = bisect_right(self.periods, number, key=lambda each: each.since)
        return max(max(period.labels) for period in self.periods[:at])

    def first_name(self, item: str) -> str:
        """Return the name that an item of now has in the log."""
        return self._first.get(item, item)

    def items_now(self, renamed: Mapping[str, str]) -> list[str]:
        """Return the names of all items in their order, after some got another one."""
        new = {new: old for old, new in renamed.items() if old in self._first}
        names = [self.called[first] for first in self.items]
        return [renamed.get(name, name) for name in names if name not in new]

    def apply(self, what: str, entry: Any) -> None:
        """Take the next entry."""
        self.n_changes += what in CHANGES
        if what == "question":
            number, item, *_ = entry
            self.n_questions = max(self.n_questions, number + 1)
            self._asked.add(item)
        elif what == "labels":
            self._change_labels(entry)
        elif what == "items":
            self._change_items(entry)
        elif what == "token":
            self.token = entry["token"]
        elif what == "began":
            self.mark, self.token, self.question = (
                entry[name] for name in ("mark", "token", "question")
            )
            self.is_weighted, self.names = bool(entry.get("weighted")), list(entry["labels"])
            self.periods = [Period(0, tuple(range(len(self.names))), entry["seed"])]

    def _change_labels(self, entry: Mapping[str, Any]) -> None:
        labels, seed = list(self.now.labels), entry.get("seed", self.now.seed)
        for number, new in entry.get("renamed", ()):
            self._done.add(("renamed", self.names[number], new))
            self.n_renamed += 1
            self.names[number] = new
        for new, parts in entry.get("merged", ()):
            self._done |= {("merged", self.names[part], new) for part in parts}
            labels = [label for label in labels if label not in parts]
            self.parts[len(self.names)] = tuple(parts)
            labels.append(len(self.names))
            self.names.append(new)
        for name in entry.get("added", ()):
            labels.append(len(self.names))
            self.names.append(name)
        self.is_weighted |= bool(entry.get("weighted"))
        if (tuple(labels), seed) != (self.now.labels, self.now.seed):
            since = max(self.n_questions, self.now.since)
            if since == self.now.since:  # nothing was asked in that period
                self.periods.pop()
            self.periods.append(Period(since, tuple(labels), seed))

    def _change_items(self, entry: Mapping[str, Any]) -> None:
        for old, new in entry.get("renamed", {}).items():
            self._done.add(("item", old, new))
            if new in self._first:  # it came as another item, and nobody was asked about it
                self.items.remove(self._first[new])
                del self.called[self._first[new]]
            self._first[new] = first = self._first.pop(old)
            self.called[first] = new
        for name in entry.get("new", ()):
            first = name
            while first in self.called:  # an item of this name has another one now
                first += "'"
            self.items.append(first)
            self.called[first], self._first[name] = name, first
        self.gone = list(entry.get("gone", self.gone))

    def agree(self, path: Any, about: Mapping[str, Any]) -> list[Entry]:
        """Return the entries of what is asked from now on; refuse what contradicts the log.

        ``about`` has ``labels`` and ``question``, and may have ``seed`` and ``weighted``,
        ``renamed`` and ``merged`` labels, ``items`` and ``renamed_items``.
        """
        entries: list[Entry] = []
        if not self.mark:
            if any(about.get(what) for what in ("merged", "renamed", "renamed_items")):
                raise StoreError(
                    f"{path} is not there, so there are no answers in which a label or an item"
                    " could get another name; leave out --merge, --rename and --rename-item"
                )
            began = {"mark": secrets.token_hex(8), "token": new_token(), "seed": 0, **about}
            names = ("mark", "token", "question", "labels", "seed", "weighted")
            entries.append(("began", {name: began[name] for name in names if name in began}))
        else:
            if self.question != about["question"]:
                difference = f'other question: "{self.question:.80}", not "{about["question"]:.80}"'
                same = "the same --question or --questions, or the same --until and --against"
                raise _other(path, difference, same)
            entry = self._labels_of_now(path, about)
            if about.get("seed", self.now.seed) != self.now.seed:
                entry["seed"] = about["seed"]
            if about.get("weighted") and not self.is_weighted:
                entry["weighted"] = True
            entries += [("labels", entry)] if entry else []
        if "items" in about:
            entry = self._items_of_now(path, about)
            entries += [("items", entry)] if entry else []
        return entries

    def _labels_of_now(self, path: Any, about: Mapping[str, Any]) -> dict[str, Any]:
        number = {self.names[label]: label for label in self.now.labels}
        names: list[Any] = []
        for old, new in self._new(about, "renamed", number).items():
            if new in number:
                raise InputError(
                    f"{old!r} is to be renamed, but {new!r} is a label already; to make one label"
                    f" of both, give --merge {old}={new}"
                )
            number[new] = number.pop(old)
            names.append([number[new], new])
        groups: dict[str, list[int]] = {}
        merged = self._new(about, "merged", number)
        for old, new in merged.items():
            if new in merged:
                reason = "which is merged, too; merge both into one name"
                raise AnnotationError(f"{old!r} is to be merged into {new!r}, {reason}")
            groups.setdefault(new, []).append(number.pop(old))
        for new, parts in groups.items():
            parts += [number.pop(new)] if new in number else []
        names += [[*parts, new] for new, parts in groups.items() if len(parts) == 1]
        known = [*number, *groups]
        if gone := [name for name in known if name not in about["labels"]]:
            same = (
                "these labels, too, or say what became of each one (--rename OLD=NEW, or --merge"
                " OLD=NEW into another label)"
            )
            raise _other(path, f"labels that are gone: {some_of(gone)}", same)
        entry = {
            "renamed": names,
            "merged": [[new, sorted(parts)] for new, parts in groups.items() if len(parts) > 1],
            "added": [name for name in about["labels"] if name not in known],
        }
        return {name: each for name, each in entry.items() if each}

    def _new(self, about: Mapping[str, Any], change: str, known: Iterable[str]) -> dict[str, str]:
        """Return what is to be renamed or merged and is not yet; refuse what is not there."""
        option = {"renamed": "--rename", "merged": "--merge"}[change]
        new_names = dict(about.get(change) or {})
        if still := [old for old in new_names if old in about["labels"]]:
            raise InputError(
                f"{option} is about {some_of(still)}, which --label-names still has; leave out"
                " there what gets another name or is merged into another label"
            )
        for old, new in list(new_names.items()):
            if old not in known:
                if (change, old, new) not in self._done and ("renamed", old, new) not in self._done:
                    raise AnnotationError(
                        f"{old!r} is to be {change}, but the {len(self.labels)} labels are"
                        f" {some_of(self.labels)}; correct {option}"
                    )
                del new_names[old]
        return new_names

    def _items_of_now(self, path: Any, about: Mapping[str, Any]) -> dict[str, Any]:
        first, here = self._first, {*about["items"]}
        renamed = dict(about.get("renamed_items") or {})
        for old, new in list(renamed.items()):
            if old not in first:
                if ("item", old, new) not in self._done:
                    raise StoreError(
                        f"{path}: there is no item {old!r}, so it cannot be renamed; correct"
                        f" --rename-item. Items are {some_of([*first])}"
                    )
                del renamed[old]
            elif old in here or new not in here:
                it_is = f"{old!r} is still among" if old in here else f"{new!r} is not among"
                raise InputError(
                    f"--rename-item {old}={new}: {it_is} the things to ask about; correct it"
                )
            elif first.get(new, new) in self._asked or [*renamed.values()].count(new) > 1:
                raise InputError(
                    f"--rename-item {old}={new}: that would make one item of two, about which"
                    " people may have been asked; leave the option out"
                )
        called = {*self.called.values()} - {*renamed} | {*renamed.values()}
        gone = sorted(called - here)
        asked = {self.called.get(each, each) for each in self._asked} - {*renamed}
        if asked and not renamed and not asked & here:
            raise StoreError(
                f"{path}: people were asked about {len(asked):,} items, such as"
                f" {min(asked)!r}, and none of them is among the things to ask about; name the"
                " folder or table of these answers, or begin anew with another --out"
            )
        entry: dict[str, Any] = {
            "renamed": renamed,
            "new": [name for name in about["items"] if name not in called],
        }
        entry = {name: each for name, each in entry.items() if each}
        return {**entry, "gone": gone} if gone != self.gone else entry


def _other(path: Any, other: str, same: str) -> StoreError:
    """Say what is asked otherwise than before, and what to do."""
    return StoreError(
        f"{path}: these answers were given with {other}; to go on, give {same}, or begin anew with"
        " another --out"
    )
