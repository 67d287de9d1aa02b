"""Pictures of models: displays as in scikit-learn, and the same as inline SVG of a page."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from complabel._parameters import check_choice
from complabel.errors import InputError
from complabel.frequencies import estimate_label_frequencies
from complabel.trust import estimate_metrics, reliability

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from complabel._parameters import Array
    from complabel.answers import Answers
    from complabel.frequencies import LabelFrequencies
    from complabel.trust import Figures, Reliability


# Matplotlib draws with these colours, which no colour map has. Later they become the page's
# colours.
INK, ACCENT = "#010203", "#0a0b0c"
SERIES = tuple(f"#0b0c{place:02x}" for place in range(1, 7))
"""Colours for lines, which become the page's series colours."""
_PAGE_COLOURS = {INK: "currentColor", ACCENT: "var(--accent)"} | {
    colour: f"var(--series-{place})" for place, colour in enumerate(SERIES, start=1)
}
_REFERENCE = re.compile(r"(?<=url\(#)[^)]+|(?<=^#).+")  # the id in url(#id) and in #id

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 9.0,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10.0,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK
    ),
}


def _inline_svg(figure: Figure, *, ident: str, description: str) -> Markup:
    """Turn a figure into an ``<svg>`` that can stand beside others in an HTML page.

    ``ident`` must be unique on the page; ids inside the element start with it. The XML serializer
    escapes all texts.
    """
    from markupsafe import Markup

    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    root = ET.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):  # would apply to the whole page
                parent.remove(child)
    _localize(root, ident)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", description)
    return Markup(ET.tostring(root, encoding="unicode"))


def _localize(root: ET.Element, ident: str) -> None:
    used: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        return used.setdefault(match.group(), f"{ident}-{len(used)}")

    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        # HTML has no namespaces, and its name for xlink:href is href.
        for name in [name for name in element.attrib if name.startswith("{")]:
            element.set(name.rpartition("}")[2], element.attrib.pop(name))
        for name in ("href", "clip-path"):
            if name in element.attrib:
                element.set(name, _REFERENCE.sub(rename, element.attrib[name]))
        style = element.get("style")
        if style is not None:
            for drawn, shown in _PAGE_COLOURS.items():
                style = style.replace(drawn, shown)
            element.set("style", style)
    for element in root.iter():
        old_id = element.attrib.pop("id", None)
        if old_id in used:
            element.set("id", used[old_id])


# Inches.
WIDTH = 3.5
_LETTER = 0.066

WHISKER: Mapping[str, Any] = {"fmt": "none", "ecolor": INK, "elinewidth": 1}


@dataclass(frozen=True)
class Chart:
    """A chart of a page: ``draw`` draws it into an empty figure of ``size`` in inches."""

    title: str
    description: str
    size: tuple[float, float]
    draw: Callable[[Figure], None]

    def svg(self, ident: str) -> Markup:
        import matplotlib as mpl
        from matplotlib.figure import Figure

        with mpl.rc_context():
            mpl.rcdefaults()  # a matplotlibrc must not reach the page
            mpl.rcParams.update(_STYLE)
            figure = Figure(figsize=self.size, layout="constrained", facecolor="none")
            self.draw(figure)
            return _inline_svg(figure, ident=ident, description=self.description)


def reliability_chart(reliable: Reliability, *, title: str, description: str) -> Chart:
    """Return a diagram of reliability for a page."""

    def draw(figure: Figure) -> None:
        ReliabilityDisplay(reliable).plot(new_axes(figure, title, ""), color=ACCENT)

    return Chart(title, description, (WIDTH, WIDTH), draw)


def precision_recall_chart(
    curve: Mapping[str, Array], at: Figures, *, title: str, description: str
) -> Chart:
    """Return a curve of precision over recall for a page; see ThresholdDisplay."""

    def draw(figure: Figure) -> None:
        axes = new_axes(figure, title, "")
        ThresholdDisplay(curve, at).plot(axes, over="recall", color=ACCENT)

    return Chart(title, description, (WIDTH, WIDTH), draw)


class _Display(ABC):
    """What all displays have; they work like the displays of scikit-learn."""

    ax_: Axes
    figure_: Any

    @classmethod
    @abstractmethod
    def _of(cls, answers: Any, probabilities: Any, **settings: Any) -> Self:
        """Estimate what is shown."""

    @abstractmethod
    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into ``ax``, or a new figure; return the display."""

    @classmethod
    def from_predictions(
        cls,
        answers: Answers | ArrayLike,
        probabilities: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        **settings: Any,
    ) -> Self:
        """Draw what answers to random questions say of probabilities.

        Parameters
        ----------
        answers : Answers
            ``ReliabilityDisplay`` also takes true labels of shape (n_items, n_labels).
        probabilities : array-like of shape (n_items, n_labels) or None, default=None
            Of a model that did not learn from the answers. Only ``LabelFrequencyDisplay`` can do
            without them.
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw; None makes a new figure.
        **settings
            Further parameters of :func:`complabel.trust.reliability`,
            :func:`complabel.trust.estimate_metrics` or
            :func:`complabel.frequencies.estimate_label_frequencies`.

        Returns
        -------
        The display, drawn, with the attributes ``ax_`` and ``figure_``.
        """
        return cls._of(answers, probabilities, **settings).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, answers: Answers, *, ax: Axes | None = None, **settings: Any
    ) -> Self:
        """Draw what answers say of a fitted model that did not learn from them.

        Parameters
        ----------
        estimator : ComplementaryClassifier
            Fitted; its ``predict_proba`` and ``thresholds_`` are used.
        X : array-like or sparse matrix of shape (n_items, n_features)
            All items from which the questions were drawn.
        answers : Answers
            Answers about these items.
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw; None makes a new figure.
        **settings
            Further parameters, as ``from_predictions`` takes them.

        Returns
        -------
        The display, drawn, with the attributes ``ax_`` and ``figure_``.
        """
        thresholds = getattr(estimator, "thresholds_", None)
        if issubclass(cls, ThresholdDisplay) and thresholds is not None:
            settings = {"threshold": thresholds, **settings}
        return cls.from_predictions(answers, estimator.predict_proba(X), ax=ax, **settings)

    def _begin(self, ax: Axes | None) -> tuple[Axes, Any]:
        try:
            from matplotlib import pyplot, rcParams
        except ModuleNotFoundError as error:
            raise InputError(
                'a display needs matplotlib, which is not installed: run pip install "complabel'
                '[report]"'
            ) from error
        if ax is None:
            _, ax = pyplot.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax, rcParams["text.color"]


@dataclass(eq=False)
class ReliabilityDisplay(_Display):
    """A picture of how far probabilities can be believed: if they can, dots lie on the diagonal.

    Each dot is a bin of pairs of an item and a label: the share that applies, with an interval of
    95 %, over the mean probability.

    Parameters
    ----------
    reliability : Reliability
        What :func:`complabel.trust.reliability` returns.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> probabilities = np.random.default_rng(0).random((400, 5))
    >>> true_labels = np.random.default_rng(1).random((400, 5)) < probabilities
    >>> ReliabilityDisplay.from_predictions(true_labels, probabilities).ax_.get_ylabel()
    'share that applies'
    """

    reliability: Reliability

    @classmethod
    def _of(cls, answers: Any, probabilities: Any, **settings: Any) -> Self:
        return cls(reliability(answers, probabilities, **settings))

    def plot(self, ax: Axes | None = None, *, color: str = "C0") -> Self:
        """Draw into ``ax``, or a new figure; return the display."""
        bins = self.reliability
        axes, ink = self._begin(ax)
        axes.axline((0, 0), slope=1, color=ink, alpha=0.5, linewidth=1, linestyle="--")
        reach = np.abs(bins.intervals.T - bins.share)
        axes.errorbar(bins.mean_probability, bins.share, yerr=reach, **{**WHISKER, "ecolor": ink})
        line: Mapping[str, Any] = {"color": color, "linewidth": 1.5, "marker": "o"}
        axes.plot(bins.mean_probability, bins.share, markersize=4, clip_on=False, **line)
        _as_shares(axes, "predicted probability", "share that applies")
        return self


@dataclass(eq=False)
class ThresholdDisplay(_Display):
    """A picture of precision and recall at many thresholds, as bands of their intervals.

    Parameters
    ----------
    curve : dict of str to ndarray
        What ``curve`` of :class:`complabel.trust.MetricEstimates` returns.
    at : Figures
        Precision, recall and share at the thresholds in use.
    threshold : float, array-like of shape (n_labels,) or None, default=None
        These thresholds; a line shows them if they are the same for all labels.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> probabilities = np.random.default_rng(0).random((400, 5))
    >>> true_labels = np.random.default_rng(1).random((400, 5)) < probabilities
    >>> answers = draw_answers(true_labels, question="asked", random_state=2)
    >>> shown = ThresholdDisplay.from_predictions(answers, probabilities, threshold=0.6)
    >>> shown.plot(over="recall").ax_.get_ylabel()
    'precision'
    """

    curve: Mapping[str, Array]
    at: Figures
    threshold: ArrayLike | None = None

    @classmethod
    def _of(cls, answers: Any, probabilities: Any, **settings: Any) -> Self:
        estimates = estimate_metrics(answers, probabilities, **settings)
        return cls(estimates.curve(), estimates, settings.get("threshold", 0.5))

    def plot(
        self, ax: Axes | None = None, *, over: str = "threshold", color: str | None = None
    ) -> Self:
        """Draw into ``ax``, or a new figure; return the display.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
        over : {"threshold", "recall"}, default="threshold"
            Both over the threshold, the same one for all labels. Or precision over recall: there
            a dot shows both at the thresholds in use, and a dashed line the precision of a random
            order.
        color : str or None, default=None
            Of the line of precision; None takes the first of the style.
        """
        check_choice("over", over, ("threshold", "recall"))
        axes, ink = self._begin(ax)
        faint: Mapping[str, Any] = {"color": ink, "alpha": 0.5, "linewidth": 1, "linestyle": "--"}
        known = np.isfinite(self.curve["precision"]) & np.isfinite(self.curve["recall"])
        curve = {name: values[known] for name, values in self.curve.items()}
        if over == "recall":
            axes.axhline(self.at.share.value, **faint)
            # True recall falls as the threshold rises; estimates need not, and would tangle the
            # band.
            xlabel, recall = "recall", curve["recall"]
            along = (np.maximum.accumulate(recall[::-1])[::-1] + np.minimum.accumulate(recall)) / 2
        else:
            xlabel, along = "threshold of the probability", curve["threshold"]
            used = set() if self.threshold is None else {*np.ravel(self.threshold).tolist()}
            if len(used) == 1:
                axes.axvline(used.pop(), **faint)
        lines = ("precision",) if over == "recall" else ("precision", "recall")
        for name, drawn in zip(lines, (color or "C0", "C1"), strict=False):
            low, high = curve[f"{name}_low"], curve[f"{name}_high"]
            axes.fill_between(along, low, high, color=drawn, alpha=0.2, linewidth=0)
            axes.plot(along, curve[name], color=drawn, linewidth=1.5, label=name)
        if over == "recall":
            x, y = self.at.recall, self.at.precision
            across, up = ([[each.value - each.low], [each.high - each.value]] for each in (x, y))
            axes.errorbar([x.value], [y.value], xerr=across, yerr=up, **{**WHISKER, "ecolor": ink})
            axes.plot([x.value], [y.value], "o", color=ink, markersize=5, clip_on=False)
        else:
            axes.legend(frameon=False)
        _as_shares(axes, xlabel, "precision" if over == "recall" else "share")
        return self


@dataclass(eq=False)
class LabelFrequencyDisplay(_Display):
    """A picture of how often labels apply, with intervals of 95 %, the most frequent on top.

    Parameters
    ----------
    frequencies : LabelFrequencies
        What :func:`complabel.frequencies.estimate_label_frequencies` returns.
    label_names : sequence of str or None, default=None
        None shows the numbers of the labels.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from complabel.simulate import draw_answers
    >>> true_labels = np.random.default_rng(1).random((400, 3)) < [0.1, 0.5, 0.3]
    >>> answers = draw_answers(true_labels, question="asked", random_state=2)
    >>> shown = LabelFrequencyDisplay.from_predictions(answers)
    >>> [text.get_text() for text in shown.ax_.get_yticklabels()]
    ['1', '2', '0']
    """

    frequencies: LabelFrequencies
    label_names: Sequence[str] | None = None

    @classmethod
    def _of(cls, answers: Any, probabilities: Any, **settings: Any) -> Self:
        frequencies = estimate_label_frequencies(answers, predictions=probabilities, **settings)
        return cls(frequencies, answers.label_names)

    def plot(self, ax: Axes | None = None, *, color: str = "C0") -> Self:
        """Draw into ``ax``, or a new figure; return the display."""
        values, intervals = self.frequencies.values, self.frequencies.intervals
        axes, ink = self._begin(ax)
        order, at = np.argsort(-values, kind="stable"), np.arange(len(values))
        reach = np.abs(intervals.T - values)[:, order]
        axes.errorbar(values[order], at, xerr=reach, **{**WHISKER, "ecolor": ink})
        axes.plot(values[order], at, "o", color=color, markersize=4, clip_on=False)
        names = self.label_names or range(len(values))
        axes.set_yticks(at, [str(names[label]) for label in order.tolist()])
        axes.invert_yaxis()
        axes.set(xlabel="share of items with the label", xlim=(0, None))
        return self


def _as_shares(axes: Axes, xlabel: str, ylabel: str) -> None:
    ticks = np.linspace(0, 1, 3)
    for set_ticks in (axes.set_xticks, axes.set_yticks):
        set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=xlabel, ylabel=ylabel)


def new_axes(
    figure: Figure, title: str, axis: str, *, names: Sequence[str] = (), bottom: float = 0.42
) -> Axes:
    """Return axes with fixed margins in inches; matplotlib's layout engine would take minutes."""
    figure.set_layout_engine("none")
    width, height = figure.get_size_inches()
    most = int((width / 2 - 0.15) / _LETTER)  # a longer name would leave no room to draw
    names = [name if len(name) <= most else f"{name[: most - 1]}…" for name in names]
    left = 0.15 + _LETTER * max(map(len, names)) if names else 0.55
    above = 0.28 if title else 0.08
    axes = figure.add_axes(
        (left / width, bottom / height, 1 - (left + 0.15) / width, 1 - (bottom + above) / height)
    )
    axes.set_title(title)
    axes.set_xlabel(axis)
    if names:
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(axis="y", length=0)
    return axes
