"""The sentences of the demonstration, for the page and for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

TITLES: Final = {
    "free": "named freely",
    "asked": "asked yes or no",
    "biased": "named, with a bias",
    "audited": "named, with a bias, and {n_questions} asked",
    "prior": "for comparison: without looking at pictures",
    "supervised": "for comparison: with all true labels",
}
"""Titles of the ways of asking and of the references; braces hold keys of the summary."""

_ABOUT: Final = {
    "free": "“Name a digit that is not here.” All digits come to mind equally.",
    "asked": "“Is there a 3?” A random digit is asked about. The answer is yes or no.",
    "biased": "As in 1, but some digits come to mind first: {most} comes {ratio:.0f} times as"
    " readily as {least}.",
    "audited": "As in 3, but for {n_questions} of the {n_train:,} pictures people say yes or no,"
    " as in 2.",
    "prior": "The same order of digits for every picture.",
    "supervised": "The same model, told which digits are on each picture. Its settings are chosen"
    " in the same way.",
}


def demo_titles(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return the titles of the four ways of asking and the two references, by name.

    Parameters
    ----------
    summary : mapping
        The result of :func:`run_demo`.

    Returns
    -------
    dict of str to str
        First the ways, numbered from 1, then the references.
    """
    titles = {name: text.format(**summary) for name, text in TITLES.items()}
    for number, name in enumerate(summary["ways"], start=1):
        titles[name] = f"{number} {titles[name]}"
    return titles


def demo_meaning(summary: Mapping[str, Any]) -> str:
    """Return one to three sentences on what the figures mean.

    Parameters
    ----------
    summary : mapping
        The result of :func:`run_demo`.

    Returns
    -------
    str
        Advice if the figures support it, else only the figures.
    """
    found = {name: way["average_precision"] for name, way in summary["ways"].items()}
    free, asked, biased, audited = (
        f"{found[way]:.3f}" for way in ("free", "asked", "biased", "audited")
    )
    questions = summary["n_questions"]
    if found["biased"] < found["audited"] and found["biased"] < found["free"] <= found["asked"]:
        return (
            f"Ask yes or no about random labels if you can: average precision {asked}. Naming what"
            f" comes to mind first teaches less: {biased} instead of {free}. With {questions}"
            f" yes/no questions among the answers it is {audited}."
        )
    best = max(found, key=lambda way: found[way])
    return (
        f"Here the best way was “{TITLES[best].format(**summary)}”: average precision"
        f" {found[best]:.3f}. A bias changed naming from {free} to {biased}. With {questions}"
        f" yes/no questions among the answers it was {audited}."
    )


def about_ways(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return a description of each way of asking and each reference, by name."""
    readily = dict(zip(summary["label_names"], summary["propensities"], strict=True))
    most, least = max(readily, key=readily.__getitem__), min(readily, key=readily.__getitem__)
    facts = {**summary, "most": most, "least": least, "ratio": readily[most] / readily[least]}
    return {name: text.format(**facts) for name, text in _ABOUT.items()}
