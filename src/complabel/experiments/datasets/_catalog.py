"""The catalog of datasets, read from catalog.toml in this folder, and downloads of its files."""

from __future__ import annotations

import difflib
import hashlib
import http.client
import logging
import pkgutil
import tomllib
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from complabel._opening import StrPath, as_path, wrong_type
from complabel._writing import replacing
from complabel.errors import DatasetNotFoundError, DownloadError

if TYPE_CHECKING:
    from complabel.datasets import MultiLabelDataset

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


_ENTRIES = parse_catalog(resources.files(__package__).joinpath("catalog.toml").read_text("utf-8"))

CATALOG: Mapping[str, CatalogEntry] = MappingProxyType(
    {name: entry for name, entry in _ENTRIES.items() if not entry.make}
)
"""Datasets that are read from files, by name."""

EMBEDDED: Mapping[str, CatalogEntry] = MappingProxyType(
    {name: entry for name, entry in _ENTRIES.items() if entry.make}
)
"""Datasets that need no file, by name."""


Progress: TypeAlias = Callable[[int, int | None], None]

_CHUNK = 1 << 16
_TIMEOUT_SECONDS = 30.0
# For files that are gone, some sites answer with status 200 and an HTML page.
_FIRST_BYTES = {".zip": b"PK", ".bz2": b"BZh", ".gz": b"\x1f\x8b"}


def download_dataset(
    name: str, directory: StrPath, *, progress: Progress | None = None
) -> list[Path]:
    """Download the files of a dataset to ``directory/name``.

    Intact files that are already there are kept. An error or an interruption leaves no incomplete
    file.

    Parameters
    ----------
    name : str
        A name in ``CATALOG``.
    directory : path
        Created if it does not exist.
    progress : callable or None, default=None
        Called as ``progress(bytes_done, bytes_total)`` for each file. The total is None if the
        server does not send it.

    Returns
    -------
    list of Path

    Raises
    ------
    DatasetNotFoundError
        If the name is not in the catalog.
    DownloadError
        If no mirror delivers the files intact, or the catalog has no address. The message says
        which files to get by hand, and where to put them.
    """
    entry = catalog_entry(name)
    folder = as_path("directory", directory) / name
    failures: list[str] = []
    for layout in entry.layouts:
        try:
            if layout.downloadable:
                return [_fetch(file, folder, progress) for file in layout.all_files]
        except DownloadError as failure:
            failures.append(str(failure))
    reason = "; ".join(failures) or "the catalog has no address for a direct download"
    raise DownloadError(
        f"dataset {name!r} could not be downloaded: {reason}. Get it by hand from {entry.source} "
        f"and put {' or '.join(map(str, entry.layouts))} in {folder}"
    )


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch(file: DataFile, folder: Path, progress: Progress | None) -> Path:
    """Fetch one file from the first mirror that delivers it intact."""
    target = folder / file.name
    if target.is_file() and file.sha256 in (None, sha256_of(target)):
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise DownloadError(f"{folder} cannot be created: {cause}") from cause
    failures: list[str] = []
    for url in file.mirrors:
        try:
            with replacing(target) as partial:
                _stream(url, partial, progress)
                if problem := file.problem(url, sha256_of(partial)) or _problem(partial, target):
                    raise DownloadError(problem)
            return target
        except (OSError, http.client.HTTPException) as failure:
            failures.append(f"{url}: {failure}")
    raise DownloadError("; ".join(failures))


def _stream(url: str, partial: Path, progress: Progress | None) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": "complabel"})
    done = 0
    with (
        urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response,
        partial.open("xb") as out,
    ):
        length = response.headers.get("Content-Length")
        total = int(length) if length is not None and length.isdecimal() else None
        while chunk := response.read(_CHUNK):
            out.write(chunk)
            done += len(chunk)
            if progress is not None:
                progress(done, total)
    if total is not None and done != total:
        raise DownloadError(f"stopped after {done} of {total} bytes")


def _problem(partial: Path, target: Path) -> str:
    """Return a message if the server sent something else than the expected kind of archive."""
    expected = _FIRST_BYTES.get(target.suffix, b"")
    with partial.open("rb") as content:
        found = content.read(len(expected))
    return "" if found == expected else f"the server did not send a {target.suffix} file"
