"""Makes a file of features in parts, which are kept beside it until it is complete.

Ctrl-C and a crash lose only the part that is being made. A part is found again by what it was made
of: the recipe, the names, and the texts or the dates of the pictures.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from complabel._opening import StrPath, as_path, ending_of
from complabel._parameters import AnyArray, Bools
from complabel._writing import explained, replacing
from complabel.errors import DatasetFormatError, InputError
from complabel.features._encoder import Encoder, Kind, model_of
from complabel.features._lite0 import Far
from complabel.features._pictures import load_pictures, picture_encoder
from complabel.features._texts import text_encoder
from complabel.files import (
    CSR_PARTS,
    ITEM_TABLES,
    MADE_OF_KEY,
    NETWORK_KEY,
    READ_PICTURES,
    RECIPE_KEY,
    PictureFolder,
    Table,
    pyarrow,
    read_folder,
    refuse_repeated,
)


@dataclass(frozen=True)
class Source:
    """Items of a kind: texts, or files of pictures. ``n_items`` is None before a table is read."""

    kind: Kind
    path: Path
    table: Table | None = None
    column: str = ""
    item: str | None = None
    folder: PictureFolder | None = None

    @property
    def n_items(self) -> int | None:
        return None if self.folder is None else len(self.folder.pictures)

    @property
    def made_of(self) -> tuple[str, ...]:
        """The column of the texts or paths, and that of the names of items unless it is "item"."""
        names = (self.item,) if self.item and self.item != "item" else ()
        return () if self.table is None else (self.column, *names)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each item, and its text or the path of its picture."""
        if self.folder is not None:
            yield from ((name, str(self.path / name)) for name in self.folder.pictures)
            return
        assert self.table is not None
        folder = self.path.parent if self.kind == "pictures" else None
        names: list[str] = []
        wanted = [self.column] if self.item is None else [self.item, self.column]
        for piece in self.table.pieces(wanted):
            values = [each or "" for each in piece[self.column].to_pylist()]
            if self.item is None:
                ids = [str(len(names) + at) for at in range(len(values))]
            else:
                ids = [each or "" for each in piece[self.item].to_pylist()]
            for at, (name, value) in enumerate(zip(ids, values, strict=True), start=len(names)):
                blank = self.item if not name.strip() else self.column if folder else None
                if blank is not None and not (name.strip() and value.strip()):
                    problem = f"{blank!r} is blank; fill it in, or leave the row out"
                    raise self.table.refuse(at, problem)
                yield name, value if folder is None else os.path.join(folder, value)
            names += ids
        refuse_repeated(self.path, names, self.table.place)
        if not names:
            raise InputError(f"{self.path}: there are no rows; add one for each item")


def open_source(
    path: StrPath, *, text: str | None = None, image: str | None = None, item: str | None = None
) -> Source:
    """Open a folder of pictures, or a table with a column of texts or of paths of pictures.

    Paths are seen from the folder of the table. Without a column ``item``, or that of another
    name, items are called by the numbers of their rows.
    """
    file = as_path("path", path)
    if file.is_dir():
        options = {"--text": text, "--image": image, "--item": item}
        wrong = next((option for option, value in options.items() if value is not None), None)
        if wrong is not None:
            raise InputError(
                f"{file} is a folder, so all its pictures are read; leave {wrong} out, or give a"
                " table"
            )
        return Source("pictures", file, folder=read_folder(file, READ_PICTURES))
    column = text if text is not None else image
    if column is None or (text is not None and image is not None):
        raise InputError(
            f"{file}: give the column of the texts with --text, or that of the paths of pictures"
            " with --image, and only one of them"
        )
    needed = [column] if item is None else [column, item]
    table = Table.open(file, "tables of items", needed, endings=ITEM_TABLES)
    called = item if item is not None else "item" if "item" in table.columns else None
    if called == column:
        raise InputError(f"{file}: the column {column!r} cannot also name the items")
    return Source("text" if text is not None else "pictures", file, table, column, called)


ENDINGS = (".npz", ".parquet")
_MOST_CHARACTERS = 8_000_000  # of the texts of a part

Pair = tuple[str, str]


@dataclass(frozen=True)
class Made:
    """What was written: names (n,), d, what was skipped and why, and how many rows are zeros."""

    items: tuple[str, ...]
    n_features: int
    skipped: tuple[str, ...]
    n_empty: int
    n_kept_from_before: int

    def warnings(self) -> list[str]:
        """Say how many items have features that tell nothing, and which ones have none."""
        lines = []
        if self.n_empty:
            lines.append(
                f"{self.n_empty:,} items have only zeros: texts without a word that counts, or"
                " pictures of one colour. A model gives all of them the same probabilities"
            )
        if self.skipped:
            lines.append(f"{len(self.skipped):,} pictures were left out, and have no row:")
        return [*lines, *(f"  {reason}" for reason in self.skipped)]


def make_features(
    source: Source,
    encoder: Encoder,
    out: StrPath,
    *,
    skips: bool = False,
    on_part: Callable[[int], None] | None = None,
) -> Made:
    """Write the features of all items to a ``.npz`` or ``.parquet`` file, with names and recipe.

    A picture that cannot be read is an error, or left out if ``skips``. ``on_part`` is called with
    the number of items so far.
    """
    target = as_path("out", out)
    ending = ending_of(target, ENDINGS)
    if not ending:
        raise InputError(
            f"{target}: features are written with names and a recipe, which other formats do not"
            " hold; end the name in .npz or .parquet"
        )
    if ending == ".parquet" and encoder.is_sparse:
        raise InputError(
            f"{target}: features by {encoder.model} are sparse, and .parquet would hold all their"
            " zeros; end the name in .npz"
        )
    folder = target.with_name(f".{target.name}.parts")
    paths, known, done = [], 0, 0
    names: list[str] = []
    skipped: list[str] = []
    with explained(folder):
        folder.mkdir(exist_ok=True)
    for pairs in _parts(source, encoder):
        path = folder / f"{_key(encoder, pairs)}.npz"
        part = _read(path)
        known += 0 if part is None else len(pairs)
        if part is None:
            part = _part(pairs, encoder)
            if not skips and len(part["reasons"]):
                raise _refusal(str(part["reasons"][0]))
            with explained(path), replacing(path) as partial, partial.open("wb") as file:
                np.savez(file, **part)
        reasons = part["reasons"].tolist()
        if reasons and not skips:
            raise _refusal(reasons[0])
        names += [pairs[at][0] for at in part["rows"]]
        skipped += reasons
        paths.append(path)
        done += len(pairs)
        if on_part is not None:
            on_part(done)
    if not names:
        raise InputError(f"{source.path}: none of the {done:,} pictures can be read")
    write = _write_npz if ending == ".npz" else _write_parquet
    with explained(target), replacing(target) as partial:
        width, n_empty = write(partial, paths, names, encoder, source)
    shutil.rmtree(folder, ignore_errors=True)
    return Made(tuple(names), width, tuple(skipped), n_empty, known)


def _refusal(reason: str) -> DatasetFormatError:
    return DatasetFormatError(
        f"{reason}. Repair or remove the picture, or leave such pictures out with --on-error skip"
    )


def _parts(source: Source, encoder: Encoder) -> Iterator[list[Pair]]:
    """Yield the items in pieces that fit into the memory."""
    part: list[Pair] = []
    size = 0
    for pair in source.pairs():
        part.append(pair)
        size += len(pair[1]) if encoder.prepare is None else 0
        if len(part) == encoder.rows or size > _MOST_CHARACTERS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _key(encoder: Encoder, pairs: Sequence[Pair]) -> str:
    """Return a name that another recipe, item, text or picture would change."""
    key = hashlib.sha256(repr((encoder.recipe, pairs)).encode("utf-8", "surrogatepass"))
    if encoder.prepare is not None:
        for _, path in pairs:
            with contextlib.suppress(OSError):  # a missing file is refused when it is opened
                stat = os.stat(path)
                key.update(f"{stat.st_size} {stat.st_mtime_ns} ".encode())
    return key.hexdigest()[:40]


def _part(pairs: Sequence[Pair], encoder: Encoder) -> dict[str, Any]:
    """Return the arrays of a part: rows of items that were read, reasons of others, and X."""
    values: list[Any] = [value for _, value in pairs]
    reasons: list[str] = []
    rows = list(range(len(pairs)))
    if encoder.prepare is not None:
        loaded = list(load_pictures(values, encoder))
        rows = [at for at, each in enumerate(loaded) if not isinstance(each, DatasetFormatError)]
        reasons = [str(each) for each in loaded if isinstance(each, DatasetFormatError)]
        values = [loaded[at] for at in rows]
    part: dict[str, Any] = {
        "rows": np.array(rows, dtype=np.intp),
        "reasons": np.array(reasons, dtype=np.str_),
    }
    if not values:
        return part
    X = encoder.encode(values)
    finite = np.isfinite(X.data if encoder.is_sparse else X)
    if not finite.all():
        raise InputError(
            f"{encoder.model} made numbers that are not finite; give another --encoder"
        )
    if not encoder.is_sparse:
        return part | {"X": np.ascontiguousarray(X, dtype=np.float32)}
    arrays = X.data, X.indices, X.indptr.astype(np.int64), np.array(X.shape)
    return part | dict(zip(CSR_PARTS, arrays, strict=True))


def _read(path: Path) -> dict[str, Any] | None:
    """Return a part that was made before, or None if there is none, or a damaged one."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            return dict(file)
    except FileNotFoundError:
        return None
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        path.unlink(missing_ok=True)
        return None


def _of_parts(paths: Iterable[Path], name: str) -> Iterator[AnyArray]:
    for path in paths:
        with np.load(path, allow_pickle=False) as file:
            if name in file:
                yield file[name]


def _write_npz(
    path: Path, parts: Sequence[Path], names: Sequence[str], encoder: Encoder, source: Source
) -> tuple[int, int]:
    """Write an archive, and return the number of columns and of rows that are zeros.

    One part at a time is in memory; numpy.savez needs all of them.
    """
    with zipfile.ZipFile(path, "w") as archive:
        _put(archive, "recipe", [np.array([encoder.recipe])], (1,))
        if encoder.file:
            _put(archive, "network", [np.array([encoder.file])], (1,))
        if source.made_of:
            _put(archive, "made_of", [np.array(source.made_of)], (len(source.made_of),))
        _put(archive, "items", [np.array(names, dtype=np.str_)], (len(names),))
        if not encoder.is_sparse:
            width = next(_of_parts(parts, "X")).shape[1]
            _put(archive, "X", _of_parts(parts, "X"), (len(names), width))
            empty = sum(int((~block.any(axis=1)).sum()) for block in _of_parts(parts, "X"))
            return width, empty
        width = int(next(_of_parts(parts, "shape"))[1])
        counts = np.concatenate([np.diff(each) for each in _of_parts(parts, "indptr")])
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        for name in ("data", "indices"):
            _put(archive, f"X_{name}", _of_parts(parts, name), (int(starts[-1]),))
        _put(archive, "X_indptr", [starts], starts.shape)
        _put(archive, "X_shape", [np.array([len(names), width])], (2,))
        return width, int((counts == 0).sum())


def _put(
    archive: zipfile.ZipFile, name: str, blocks: Iterable[AnyArray], shape: tuple[int, ...]
) -> None:
    """Write blocks, one below the other, as an array; without a date, so files can be compared."""
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
        for at, block in enumerate(blocks):
            if at == 0:
                about = {"descr": block.dtype.str, "fortran_order": False, "shape": shape}
                npy.write_array_header_2_0(cast(Any, file), about)
            file.write(np.ascontiguousarray(block).tobytes())


def _write_parquet(
    path: Path, parts: Sequence[Path], names: Sequence[str], encoder: Encoder, source: Source
) -> tuple[int, int]:
    """Write a table with a column of names and one of lists; return as ``_write_npz`` does."""
    pa = pyarrow()
    from pyarrow import parquet  # type: ignore[import-untyped]

    width = next(_of_parts(parts, "X")).shape[1]
    kind = pa.list_(pa.float32(), width)
    columns = [("item", pa.string()), ("features", kind)]
    notes = {RECIPE_KEY: encoder.recipe, MADE_OF_KEY: json.dumps(source.made_of)}
    notes |= {NETWORK_KEY: encoder.file} if encoder.file else {}
    schema = pa.schema(columns, metadata=notes)
    done = empty = 0
    with parquet.ParquetWriter(path, schema) as writer:
        for block in _of_parts(parts, "X"):
            column = pa.array(names[done : done + len(block)], pa.string())
            lists = pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), width)
            writer.write_table(pa.table([column, lists], schema=schema))
            done += len(block)
            empty += int((~block.any(axis=1)).sum())
    return width, empty


# Recipes
_FIRST_TRIES = {
    "colours": "small pixels, edges and colours",
    "pixels": "small grey pixels, which see no colours and no brightness (--encoder colours does)",
}
_FEW = 0.8  # below this share of known words, a remark is made


def encoder_for(kind: Kind, model: str | None = None, far: Far | None = None) -> Encoder:
    """Return the encoder of that name; by default the best that is there.

    ``far`` is told how far a download is.
    """
    if kind == "text":
        return text_encoder(model)
    return picture_encoder(model, far=far)


def encoder_of(recipe: str, model: Path | None = None, network: object = None) -> Encoder:
    """Return the encoder that makes features by a recipe; refuse one that has changed since.

    A network in a file is looked for in the current folder, where it was when the features were
    made (``network``), and beside the file of the model.
    """
    folders = [] if model is None else [model.parent]
    # A path of two slashes may lead to another machine, and a stranger may have written it.
    if isinstance(network, str) and network and network.replace("\\", "/")[:2] != "//":
        at = Path(network).parent
        folders = [at, *folders, *(folder / at for folder in folders)]
    make = text_encoder if model_of(recipe)[0] == "text" else picture_encoder
    return make(recipe, folders)


def advice(X: Any, answered: Bools, recipe: str | None) -> str:
    """Return what other features might gain, in words; empty if there is nothing to say.

    ``X`` (n, d) are features by a recipe, ``answered`` (n,) the items that a model learns from.
    Hashed words tell nothing before they occur in another item with answers.
    """
    kind, model = model_of(recipe) if recipe else ("", "")
    if kind == "pictures" and model in _FIRST_TRIES:
        return (
            f"these features are {_FIRST_TRIES[model]}. Of photographs, a pretrained network"
            " usually tells far more: complabel features FOLDER --encoder lite0 --out P.npz"
        )
    if kind == "text" and model == "words" and answered.any():
        rows = sparse.csr_array(X)[np.flatnonzero(answered)]
        items = np.bincount(rows.indices, minlength=rows.shape[1])
        share = float((items[rows.indices] > 1).mean()) if rows.nnz else 0.0
        if share < _FEW:
            return (
                f"of the words of an item, {share:.0%} occur in another item with answers; the"
                " model learns nothing about the others. A pretrained model knows words that are"
                " alike: complabel features TABLE --text COLUMN --encoder wordllama --out W.npz"
            )
    return ""
