"""The user's own tables, as a plan names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from complabel.answers import ContradictionPolicy, Question
from complabel.studies._draw import CHECKED

EXAMPLE = '{ name = "mine", features = "X.csv", answers = "answers.csv", truth = "truth.csv" }'


def _several(value: Any) -> Any:
    """Turn a single path into a tuple."""
    return (value,) if isinstance(value, str) else value


_File = Annotated[str, Field(min_length=1)]


class OwnTables(BaseModel):
    """Paths of features with answers, true labels, or both, as ``load_tables`` takes them.

    Parameters
    ----------
    features : str
    answers : str or list of str, default=[]
    truth, items, label_names : str or None, default=None
    question : str or None, default=None
    contradictions : str, default="error"
    """

    model_config = CHECKED

    features: _File
    answers: Annotated[tuple[_File, ...], BeforeValidator(_several)] = ()
    truth: _File | None = None
    items: _File | None = None
    label_names: _File | None = None
    question: Question | None = None
    contradictions: ContradictionPolicy = "error"

    @model_validator(mode="after")
    def _tells_something(self) -> Self:
        """Refuse features without answers and truth."""
        if not (self.answers or self.truth):
            raise ValueError(
                f"{self.features}: features without labels tell nothing; also give answers, truth,"
                " or both"
            )
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """All files of these tables."""
        others = (self.truth, self.items, self.label_names)
        return (self.features, *self.answers, *(path for path in others if path is not None))

    def within(self, folder: Path) -> OwnTables:
        """Return the same tables with relative paths resolved from ``folder``."""

        def placed(path: str | None) -> str | None:
            return None if path is None else str(folder / path)

        others = ("features", "truth", "items", "label_names")
        places: dict[str, Any] = {name: placed(getattr(self, name)) for name in others}
        places["answers"] = tuple(str(folder / path) for path in self.answers)
        return self.model_copy(update=places)


OwnFile: TypeAlias = "str | tuple[str, ...] | OwnTables"
"""The files that a plan's dataset is read from; empty for a dataset of the catalog."""


def paths_of(file: str | Sequence[str] | OwnTables) -> tuple[str, ...]:
    """Return all paths that are given for a dataset."""
    if isinstance(file, OwnTables):
        return file.paths
    return ((file,) if file else ()) if isinstance(file, str) else tuple(file)


def tables_of_entry(entry: Mapping[str, Any]) -> OwnTables:
    """Return the tables that an entry of a plan names; refuse wrong keys and values."""
    if unknown := sorted(entry.keys() - OwnTables.model_fields.keys() - {"name"}):
        raise ValueError(
            f"the dataset {entry['name']!r} has the unknown key {unknown[0]!r}; known keys are"
            f" {', '.join(OwnTables.model_fields)}, as in {EXAMPLE}"
        )
    try:
        return OwnTables.model_validate({key: entry[key] for key in entry if key != "name"})
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:  # our own message, which is a complete sentence
            raise ValueError(first["msg"].removeprefix("Value error, ")) from error
        problem = f"{first['loc'][0]}: {first['msg']}"
        raise ValueError(
            f"the dataset {entry['name']!r}, {problem}; write tables of your own as {EXAMPLE}"
        ) from error
