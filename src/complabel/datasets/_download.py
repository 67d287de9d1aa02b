"""Download the files of a dataset, verify them, and write them atomically."""

import hashlib
import http.client
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from complabel._opening import StrPath, as_path
from complabel._writing import replacing
from complabel.datasets._catalog import DataFile, catalog_entry
from complabel.errors import DownloadError

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
