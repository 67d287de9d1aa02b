"""Fetches the files of a dataset: verified, atomically, from the first mirror that answers."""

import hashlib
import http.client
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from complabel._files import replacing
from complabel.datasets._catalog import DataFile, catalog_entry
from complabel.datasets._paths import StrPath, as_path
from complabel.errors import DownloadError

Progress: TypeAlias = Callable[[int, int | None], None]

_CHUNK = 1 << 16
_TIMEOUT_SECONDS = 30.0
# Sites answer with an HTML page, and status 200, for files they no longer have.
_FIRST_BYTES = {".zip": b"PK", ".bz2": b"BZh", ".gz": b"\x1f\x8b"}


def download_dataset(
    name: str, directory: StrPath, *, progress: Progress | None = None
) -> list[Path]:
    """Download the files of a dataset to ``directory/name``.

    Each file is written beside its final place, verified, and only then renamed: a failure or an
    interruption leaves nothing half-written. Files already there and intact are kept.

    Parameters
    ----------
    name : str
        A name in ``CATALOG``.
    directory : path
        Created where it does not exist.
    progress : callable or None, default=None
        Called as ``progress(bytes_done, bytes_total)`` for each file; the total is None where the
        server does not say.

    Returns
    -------
    list of Path
        The files of the dataset.

    Raises
    ------
    DatasetNotFoundError
        If the name is not in the catalog.
    DownloadError
        If no mirror delivers the files intact, or the catalog knows no address; the message
        says what to put where by hand.
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
    reason = "; ".join(failures) or "the catalog knows no address that serves its files directly"
    raise DownloadError(
        f"dataset {name!r} could not be downloaded: {reason}. Get it by hand from {entry.source} "
        f"and put {' or '.join(map(str, entry.layouts))} in {folder}"
    )


def sha256_of(path: Path) -> str:
    """Compute the SHA-256 checksum of a file, in hexadecimal."""
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
    """Write what an address serves to a file."""
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
        raise DownloadError(f"broke off after {done} of {total} bytes")


def _problem(partial: Path, target: Path) -> str:
    """Tell a page of a site from the archive it was asked for."""
    expected = _FIRST_BYTES.get(target.suffix, b"")
    with partial.open("rb") as content:
        found = content.read(len(expected))
    return "" if found == expected else f"served something else than a {target.suffix} file"
