"""Find names of labels that may be two spellings of one label."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations

_LEAST_LETTERS = 5  # shorter words often differ in one letter: "cat", "car"
_MOST_RARE, _TIMES = 3, 10  # a misspelt name is in few answers, the right one in many


def similar_names(counts: Mapping[str, int], *, misspelt: bool) -> list[tuple[str, str]]:
    """Return pairs of names, the one with more answers first.

    ``counts`` has the number of answers by name. Names that differ only in case, spaces, hyphens
    and the like are always pairs. If names may be ``misspelt``, those are, too, that differ in
    one letter (changed, left out, added or swapped with its neighbour), if one of them is rare.
    """
    plain = {name: re.sub(r"[\s\-_.']+", "", name.casefold()) for name in counts}
    groups: dict[str, set[str]] = defaultdict(set)
    for name, key in plain.items():
        groups[key or name].add(name)
    found = {pair for group in groups.values() for pair in combinations(sorted(group), 2)}
    if misspelt:
        near: dict[str, set[str]] = defaultdict(set)
        for name, key in plain.items():
            if len(key) >= _LEAST_LETTERS - 1 and not re.search(r"\d", key):
                # Two names one letter apart become equal if each loses at most one letter.
                # The first letter is hardly ever wrong: "river" and "diver" are two words.
                for form in {key, *(key[:at] + key[at + 1 :] for at in range(1, len(key)))}:
                    near[form].add(name)
        found |= {
            pair
            for group in near.values()
            for pair in combinations(sorted(group), 2)
            if _rare_beside(*(counts[name] for name in pair))
            and plain[pair[0]][0] == plain[pair[1]][0]
            and _one_letter_apart(*(plain[name] for name in pair))
        }
    pairs = [(a, b) if counts[a] >= counts[b] else (b, a) for a, b in found]
    return sorted(pairs, key=lambda pair: (-counts[pair[0]], pair))


def _rare_beside(first: int, second: int) -> bool:
    """Return whether one of two counts is small, and the other many times as large."""
    few, many = sorted((first, second))
    return few <= _MOST_RARE and many >= _TIMES * max(few, 1)


def _one_letter_apart(a: str, b: str) -> bool:
    """Return whether one change, omission or swap of neighbours turns one word into the other."""
    if len(a) > len(b):
        a, b = b, a
    if len(b) < _LEAST_LETTERS:
        return False
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return a[at:] == b[at + 1 :]
    return a[at + 1 :] == b[at + 1 :] or (
        a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :]
    )
