"""Odd names and people for pages, and a reader of pages."""

from __future__ import annotations

import math
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
from tests.frequencies.test_strata import asked_about, half_and_half, world

from complabel.frequencies import audit_machine


class Page(HTMLParser):
    """A page's tables, line by line, and its elements with their texts; refuses wrong nesting."""

    VOID = frozenset({"meta", "img", "br", "path", "use"})

    def __init__(self, html):
        super().__init__()
        self.tables, self.elements, self._open = [], [], []
        self.feed(html)
        self.close()
        assert self._open == []

    @property
    def text(self):
        (html,) = self.find("html")
        return html[1]

    @property
    def attributes(self):
        return [attributes for _, attributes, _ in self.elements]

    def find(self, tag, **attributes):
        return [
            (found, "".join(text))
            for name, found, text in self.elements
            if name == tag and attributes.items() <= found.items()
        ]

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("th", "td"):
            self.tables[-1][-1].append("")
        if tag not in self.VOID:
            self._open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for _, _, text in self._open:
            text.append(data)
        if {"th", "td"} & {tag for tag, *_ in self._open}:
            self.tables[-1][-1][-1] += data


HOSTILE = ["<script>alert(1)</script>", "a\"b' onload=x", "sea & sky\n{{ 7*7 }}", "łódź" * 12]
PEOPLE = ("<b>ann</b>", "bob & co")


def an_audit(names):
    """A machine's audit; one label is often invented, and the machine never says another."""
    Y, machine = world(n_labels=4, seed=3)
    machine[:, 3] = 0
    items, labels = half_and_half(Y, machine, 300, np.random.default_rng(3))
    return replace(audit_machine(asked_about(Y, items, labels), machine), label_names=names)


def about_people():
    """How often two people and the unknown ones err, and 25 doubtful answers."""
    people = {
        "annotator": np.array([*PEOPLE, None], dtype=object),
        "judged": np.array([10, 2000, 0]),
        "missed": np.array([math.nan, 0.25, math.nan]),
        "missed_low": np.array([0.1, 0.2, 0.01]),
        "missed_high": np.array([0.9, 0.4, 0.99]),
        "invented": np.array([0.03, 0.01, math.nan]),
        "invented_low": np.array([0.02, 0.005, 0.01]),
        "invented_high": np.array([0.04, 0.015, 0.99]),
    }
    doubtful = {
        "item": np.array([f"<i>{at}" for at in range(25)], dtype=object),
        "label": np.array(HOSTILE)[np.arange(25) % 4],
        "annotator": np.array([*PEOPLE, None, *PEOPLE] * 5, dtype=object),
        "said": np.arange(25) % 3 == 0,
        "wrong": np.linspace(0.9, 0.1, 25),
        "others": np.where(np.arange(25) == 1, math.nan, 0.125),
    }
    return people, doubtful


def draw_labels():
    Y = (np.random.default_rng(100).random((400, 4)) < [0.1, 0.2, 0.3, 0.4]).astype(np.uint8)
    Y[Y.all(axis=1), 0] = 0
    return Y
