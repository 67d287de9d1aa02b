"""Features for a model: read from a file, or made of texts or pictures as the model's file says."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from complabel.cli import _options as options
from complabel.cli._console import command, doubt, remark, say, working
from complabel.cli._inputs import read_own_features
from complabel.cli._options import option
from complabel.cli._outputs import unused
from complabel.errors import InputError

if TYPE_CHECKING:
    from complabel.features import Made, Source
    from complabel.files import Features, Table
    from complabel.methods import SavedModel

Columns = Mapping[str, str | None]


@dataclass(kw_only=True)
class FeaturesOrThings:
    """Where the rows of features come from, and what they are called."""

    text: str | None = option(
        "COLUMN",
        "Of a table of texts: the column with a text. [default: as the table that the model's"
        " features were made of]",
    )
    image: str | None = option(
        "COLUMN", "Of a table of pictures: the column with the path of a picture."
    )
    item: str | None = options.ITEM
    on_error: str = options.ON_ERROR
    items: Path | None = options.ITEMS

    @classmethod
    def of(cls, items: Path | None) -> FeaturesOrThings:
        """Return options of which only the names of rows are given."""
        return cls(text=None, image=None, item=None, on_error="stop", items=items)

    @property
    def columns(self) -> Columns:
        """The columns of a table of texts or pictures."""
        return {"text": self.text, "image": self.image, "item": self.item}

    def typed(self) -> dict[str, Any]:
        """Return the options as typed, for a command that reads the same things."""
        return {**self.columns, "items": self.items}

    def read(self, model: SavedModel, things: Path) -> Features:
        """Return all features for a model, in memory; refuse those made otherwise."""
        with self.file(model, things) as (path, _):
            return read_own_features(path, self.items, model=model)

    @contextlib.contextmanager
    def file(self, model: SavedModel, things: Path) -> Iterator[tuple[Path, Source | None]]:
        """Give the user's file of features, or one made of texts or pictures for a while."""
        source = None
        if model.recipe is not None or any(self.columns.values()) or things.is_dir():
            source = _source_of(model, things, self.columns)
        if source is None:
            yield things, None
            return
        from complabel.features import make_features

        if self.items is not None:
            raise InputError(f"--items is for features; name the items of {things} with --item")
        warn_of_others(source, things)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "X.npz")
            with working(f"making features of {things}") as far:
                made = make_features(
                    source,
                    model.encoder,
                    path,
                    skips=self.on_error == "skip",
                    on_part=lambda done: far(f"{done:,} items"),
                )
            warn_of_rows(made)
            of = ", items by the column ".join(map(repr, source.made_of))
            of = f" of the column {of}," if of else ""
            say(f"made features{of} as {model.path} says: {model.recipe}")
            yield path, source


def warn_of_others(source: Source, things: Path) -> None:
    """Print which files of a folder are left out."""
    if source.folder is not None and source.folder.others:
        remark(f"{things}: {source.folder.left_out()}", style="yellow")


def warn_of_rows(made: Made) -> None:
    """Print which items have features that tell nothing, or none."""
    for line in made.warnings():
        doubt(line)


def _source_of(model: SavedModel, things: Path, columns: Columns) -> Source | None:
    """Return the texts or pictures that features are made of; None if the file holds features."""
    from complabel.features import model_of, open_source
    from complabel.files import ITEM_TABLES, Table

    if model.recipe is None:
        again = command("features", things, **columns, out="X.npz")
        raise InputError(
            f"{model.path} does not say how the features that it learned from were made; make those"
            f" of {things} in the same way, such as {again}, and give them"
        )
    kind, _ = model_of(model.recipe)
    if not things.is_dir() and things.name.lower().endswith(ITEM_TABLES):
        table = Table.open(things, "tables", endings=ITEM_TABLES)
        columns = _columns_of(table, model, columns, "text" if kind == "text" else "image")
    if not (things.is_dir() or columns["text"] or columns["image"]):
        if columns["item"] is not None:
            raise InputError(f"{things} holds features; name their items with --items, not --item")
        return None
    source = open_source(things, **columns)
    if source.kind != kind:
        raise InputError(f"{model.path} learned from {kind}, but {things} holds {source.kind}")
    return source


def _columns_of(table: Table, model: SavedModel, columns: Columns, option: str) -> Columns:
    """Return the given columns, and where none is given the one that the model's file names.

    A table of features gets none. What could be both, or neither, is refused.
    """
    from complabel.files import is_list, some_of

    column, name = (*model.made_of, None, None)[:2]
    if columns["text"] is None and columns["image"] is None:
        others, d = {*table.columns} - {"item"}, model.classifier.n_features_in_
        lists = table.schema is not None and any(map(is_list, table.schema.types))
        fits = len(others) == d or (lists and len(others) == 1)
        if fits == (column in table.columns and not lists):
            noun, of = "texts" if option == "text" else "pictures", f" in a column {column!r}"
            raise InputError(
                f"{table.path} {'could hold' if fits else 'holds neither'} {noun}"
                f"{of * bool(column)}, from which {model.path} learned, {'or' if fits else 'nor'}"
                f" {d:,} features; its columns are {some_of(table.columns)}. Give the column of the"
                f" {noun} with --{option}, or a file of features alone"
            )
        if fits:
            return columns
        columns = {**columns, option: column}
    if columns["item"] is None and name is not None:
        if name not in table.columns:
            raise InputError(
                f"{table.path} has no column {name!r}, by which {model.path} calls items, only"
                f" {some_of(table.columns)}; give the column of the names with --item"
            )
        columns = {**columns, "item": name}
    is_numbered = columns["item"] is None and "item" not in table.columns
    if is_numbered and (names := table.unique_columns(*filter(None, columns.values()))):
        raise InputError(
            f"{table.path} has no column item, so rows would be called 0, 1, 2; give the column"
            f" that names them with --item: {some_of(names)}? If none does, leave these out"
        )
    return columns


def say_made(model: SavedModel, source: Source) -> Path:
    """Say which command makes the features that were made; return the file it writes."""
    kinds = "text" if source.kind == "text" else "image", "item"
    columns, made = dict(zip(kinds, source.made_of, strict=False)), Path(unused(Path("X.npz")))
    say(f"  {command('features', source.path, **columns, encoder=model.encoder.named, out=made)}")
    return made
