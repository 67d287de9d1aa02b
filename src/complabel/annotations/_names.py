"""Names of labels: the columns of a data frame, and what was probably meant by another name."""

import difflib
from collections import Counter
from collections.abc import Sequence

from complabel.annotations._indicator import MAX_NAMED
from complabel.errors import AnnotationError


def label_names_of(values: object) -> list[str] | None:
    """Return the column names of a data frame of labels, if it has any.

    Parameters
    ----------
    values : object
        A data frame of pandas or polars, or anything else.

    Returns
    -------
    list of str or None
        None for what is no data frame, and where some column's name is not a string.

    Raises
    ------
    AnnotationError
        If two columns have one name.
    """
    try:
        names = list(getattr(values, "columns", ()))
    except TypeError:  # an attribute of this name that lists nothing
        return None
    if not names or not all(isinstance(name, str) for name in names):
        return None
    repeated, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise AnnotationError(f"two columns are named {repeated!r}; give every label one column")
    return names


def check_label_names(
    values: object, expected: Sequence[object], *, name: str = "y", reference: str = "fit"
) -> None:
    """Refuse a data frame whose columns are other labels, or the same in another order.

    Parameters
    ----------
    values : object
        Without column names it passes.
    expected : sequence
        The label of each column; unless all are names, everything passes.
    name, reference : str, default="y" and "fit"
        What to call the data frame, and where the expected labels are from, in an error message.

    Raises
    ------
    AnnotationError
        If a name is unknown, missing, or in another place.
    """
    names = label_names_of(values)
    labels = [str(label) for label in expected if isinstance(label, str)]
    if names is None or len(labels) < len(expected):
        return
    for unknown in [label for label in names if label not in labels]:
        raise AnnotationError(
            f"{name} has the column {unknown!r}, which {reference} was not given"
            f"{suggest(unknown, labels)}"
        )
    for missing in [label for label in labels if label not in names]:
        raise AnnotationError(f"{name} lacks the column {missing!r}, which {reference} was given")
    for at, (found, label) in enumerate(zip(names, labels, strict=True)):
        if found != label:
            raise AnnotationError(
                f"{name} has its columns in another order than {reference}: column {at} is "
                f"{found!r} where {label!r} was; give them in the same order"
            )


def suggest(unknown: str, known: Sequence[str]) -> str:
    """Return '; did you mean ...?' if a known name is near, else the first few that are known."""
    plain = {label.strip().casefold(): label for label in known}
    near = difflib.get_close_matches(unknown.strip().casefold(), plain, n=1)
    if near:
        return f"; did you mean {plain[near[0]]!r}?"
    listed = ", ".join(map(repr, known[:MAX_NAMED]))
    more = ", ..." if len(known) > MAX_NAMED else ""
    return f"; the {len(known)} known labels are {listed}{more}"
