"""Shares of answers by the sum over all label sets, exactly where fractions are given."""

import itertools
import re
from fractions import Fraction
from pathlib import Path

import numpy as np

PATH = Path(__file__).parents[1] / "identifiability.md"
PAGE = " ".join(re.sub(r"</?su[bp]>", "", PATH.read_text(encoding="utf-8")).split())


def said(*texts):
    """Assert that the page says this, whatever its line breaks and subscripts."""
    for text in texts:
        assert " ".join(text.split()) in PAGE, text


def table_after(text):
    """Return the rows of the first table after a text of the page, its head left out."""
    lines = PATH.read_text(encoding="utf-8").split(text, 1)[1].splitlines()
    rows = itertools.dropwhile(lambda line: not line.startswith("|"), lines)
    rows = list(itertools.takewhile(lambda line: line.startswith("|"), rows))[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def exact(*values):
    """Return fractions, such as "1/3", as an array."""
    return np.array([Fraction(value) for value in values], dtype=object)


def label_sets(n_labels):
    """Return all label sets (2^K, K); 1 is a label that applies."""
    return np.array(list(itertools.product((0, 1), repeat=n_labels)))


def independent(p):
    """Return the probabilities (2^K,) of all label sets if labels are independent."""
    return np.prod(np.where(label_sets(len(p)) == 1, p, 1 - p), axis=1)


def distribution(n_labels, probabilities):
    """Return the probabilities (2^K,) of all label sets, given as {labels from 1: probability}."""
    given = {frozenset(labels): Fraction(value) for labels, value in probabilities.items()}
    sets = [frozenset(np.flatnonzero(row) + 1) for row in label_sets(n_labels)]
    assert sum(given.values()) == 1
    return np.array([given.get(labels, Fraction(0)) for labels in sets], dtype=object)


def shares(probabilities, offered=None, w=None, e=0):
    """Return the shares of each label on offer, named, and last of "all of these apply"."""
    n_labels = len(probabilities).bit_length() - 1
    offered = list(range(n_labels) if offered is None else offered)
    weights = (np.ones(n_labels, dtype=int) if w is None else w)[offered]
    named = (1 - label_sets(n_labels)[:, offered]) * weights
    total = named.sum(axis=1)
    each = named * probabilities[:, None] / (total + (total == 0))[:, None]
    answers = np.append(each.sum(axis=0), probabilities[total == 0].sum())
    return (1 - e) * answers + e / len(answers) if e else answers


def menus(n_labels, size):
    """Return all menus of a size."""
    return list(itertools.combinations(range(n_labels), size))


def frequencies(probabilities):
    """Return how often each label applies, (K,)."""
    n_labels = len(probabilities).bit_length() - 1
    return probabilities @ label_sets(n_labels)


def both_apply(probabilities):
    """Return how often each pair of labels applies, (K (K - 1) / 2,)."""
    Y = label_sets(len(probabilities).bit_length() - 1)
    return np.array([probabilities @ (Y[:, j] * Y[:, k]) for j, k in menus(Y.shape[1], 2)])
