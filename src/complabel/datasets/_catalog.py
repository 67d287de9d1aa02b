"""The catalog of datasets, read from catalog.toml in this folder."""

import difflib
import logging
import pkgutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal

from complabel._opening import wrong_type
from complabel.datasets._dataset import MultiLabelDataset
from complabel.errors import DatasetNotFoundError

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class DataFile:
    name: str
    sha256: str | None = None
    mirrors: Sequence[str] = ()

    def problem(self, where: object, digest: str) -> str:
        """Say how a file's SHA-256 differs from the catalog; without one there, log it."""
        if self.sha256 is None:
            _logger.info("%s: SHA-256 %s; the catalog has none to compare with", where, digest)
        elif self.sha256 != digest:
            return f"SHA-256 is {digest}, expected {self.sha256}"
        return ""


@dataclass(frozen=True)
class Layout:
    """One set of files that a dataset can be read from.

    ``labels`` is Mulan's XML file. ``folder`` is a subfolder that several datasets share.
    """

    format: Literal["mulan", "meka", "svmlight", "pml"]
    files: tuple[DataFile, ...]
    labels: DataFile | None = None
    n_features: int | None = None
    folder: str = ""

    def __str__(self) -> str:
        return f"{', '.join(file.name for file in self.all_files)} ({self.format})"

    @property
    def all_files(self) -> tuple[DataFile, ...]:
        return self.files if self.labels is None else (*self.files, self.labels)

    @property
    def downloadable(self) -> bool:
        return all(file.mirrors for file in self.all_files)


@dataclass(frozen=True)
class Statistics:
    """Published size of a dataset after preprocessing; None if not published."""

    n_features: int | None = None
    n_labels: int | None = None
    n_samples: int | None = None
    label_cardinality: float | None = None


@dataclass(frozen=True)
class CatalogEntry:
    """What the catalog knows about a dataset.

    ``expected`` is the published size after preprocessing, ``layouts`` are the sets of files that
    it can be read from, the preferred one first. A dataset without files has in ``make`` the
    ``package.module:function`` that makes it, given ``random_state``.
    """

    name: str
    title: str
    citation: str
    source: str
    licence: str
    expected: Statistics = Statistics()
    layouts: tuple[Layout, ...] = ()
    note: str = ""
    make: str = ""

    @property
    def downloadable(self) -> bool:
        return any(layout.downloadable for layout in self.layouts)

    def generate(self, random_state: int) -> MultiLabelDataset:
        dataset: MultiLabelDataset = pkgutil.resolve_name(self.make)(random_state=random_state)
        return dataset


def catalog_entry(name: str, *, embedded: bool = False) -> CatalogEntry:
    """Return the entry of a name; datasets without files only if ``embedded``."""
    if not isinstance(name, str):
        raise wrong_type("the name of a dataset", name, "one name as a str")
    if name in CATALOG:
        return CATALOG[name]
    if name in EMBEDDED:
        if embedded:
            return EMBEDDED[name]
        raise DatasetNotFoundError(
            f"dataset {name!r} is generated and has no files; use load_dataset({name!r})"
        )
    known = [*CATALOG, *EMBEDDED]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise DatasetNotFoundError(
        f"unknown dataset {name!r}; {hint}Known: {', '.join(known)}. load_file reads your own files"
    )


def parse_catalog(text: str) -> dict[str, CatalogEntry]:
    """Build catalog entries from TOML; an unknown key raises a TypeError."""
    entries = {}
    for name, table in tomllib.loads(text).items():
        table["layouts"] = tuple(_layout(**layout) for layout in table.get("layouts", ()))
        table["expected"] = Statistics(**table.get("expected", {}))
        entries[name] = CatalogEntry(name=name, **table)
    return entries


def _layout(
    files: list[dict[str, Any]], labels: dict[str, Any] | None = None, **rest: Any
) -> Layout:
    built = tuple(DataFile(**file) for file in files)
    return Layout(files=built, labels=None if labels is None else DataFile(**labels), **rest)


_ENTRIES = parse_catalog(
    resources.files("complabel.datasets").joinpath("catalog.toml").read_text("utf-8")
)

CATALOG: Mapping[str, CatalogEntry] = MappingProxyType(
    {name: entry for name, entry in _ENTRIES.items() if not entry.make}
)
"""Datasets that are read from files, by name."""

EMBEDDED: Mapping[str, CatalogEntry] = MappingProxyType(
    {name: entry for name, entry in _ENTRIES.items() if entry.make}
)
"""Datasets that need no file, by name."""
