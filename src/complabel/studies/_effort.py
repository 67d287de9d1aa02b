"""What a draw costs annotators: how many answers it takes, and how many seconds these take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from complabel.studies._draw import CHECKED

if TYPE_CHECKING:
    from complabel.studies._draw import Draw

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Seconds(BaseModel):
    """How long annotators take for an answer: an assumption, which reports print.

    It plays no part in what is run, so that no result depends on it.

    Parameters
    ----------
    named : float, default=5.0
        To think of a label that does not apply, of all labels.
    menu : float, default=3.0
        To name one of a few labels on offer.
    asked : float, default=1.5
        To answer whether one label applies. An audit consists of such answers.
    ticked : float, default=1.5
        For each label of a list in which all labels are judged.
    """

    model_config = CHECKED

    named: _Positive = 5.0
    menu: _Positive = 3.0
    asked: _Positive = 1.5
    ticked: _Positive = 1.5


def answers_of(draw: Draw, n_items: float) -> float | None:
    """Return how many answers a draw gives about some items, on average, and for its audit.

    Parameters
    ----------
    draw : Draw
    n_items : float
        Items that people may be asked about, such as those of a training part.

    Returns
    -------
    float or None
        Each label that somebody names counts. None where the labels are the dataset's own, which
        were not asked for here.

    Examples
    --------
    >>> from complabel.studies import Draw
    >>> answers_of(Draw(name="some", question="asked", items_share=0.25, audit=50), 1000)
    300.0
    """
    if draw.scheme == "own":
        return None
    return _questions(draw, n_items) * draw.labels_per_row + draw.audit


def seconds_of(draw: Draw, n_items: float, n_labels: int, seconds: Seconds) -> float | None:
    """Return how long annotators take for a draw, its audit included.

    Parameters
    ----------
    draw : Draw
    n_items : float
    n_labels : int
        Of the dataset: somebody who ticks judges all of them.
    seconds : Seconds
        For an answer of each kind.

    Returns
    -------
    float or None
        None where the labels are the dataset's own.

    Examples
    --------
    >>> from complabel.studies import Draw
    >>> seconds_of(Draw(name="named"), 1000, 6, Seconds())
    5000.0
    """
    if draw.scheme == "own":
        return None
    each = {
        "asked": seconds.asked,
        "ticked": seconds.ticked * n_labels,
        "free": seconds.named * draw.labels_per_row,
    }.get(draw.question, seconds.menu * draw.labels_per_row)
    return _questions(draw, n_items) * each + draw.audit * seconds.asked


def _questions(draw: Draw, n_items: float) -> float:
    """Return how many questions people are asked about some items, the audit left out."""
    if draw.question == "none":
        return 0.0
    return n_items * draw.items_share * draw.answers_per_item
