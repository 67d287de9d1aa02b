"""What commands write: the one rule for their outputs, tried before any work.

A file that exists is not replaced without ``--force``, and a file that the command also reads not
at all. There are exceptions, which nobody typed and which can be made again: a web page that
complabel wrote, a report in whose folder no file has changed since, a table that is made from a
file beside it, and the model of a sitting that goes on.
"""

from __future__ import annotations

import inspect
import itertools
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from complabel._settings import settings_as_options
from complabel._writing import behind_links, explained, keeping
from complabel._writing import unused as unused
from complabel.errors import InputError, OutputError

# Parameters that have another name in the library than on the command line.
# What messages of other commands say that complabel import takes.
_OF_IMPORT = {name: f"--{name}" for name in ("column", "drop", "none", "separator", "unselected")}
_ALSO = (
    *(("format", "--from"), ("n_folds", "--folds"), ("n_jobs", "--jobs")),
    *(("random_state", "--seed"), ("kind", "--question"), ("question", "--read-as")),
    *(("model", "--llm"), ("model", "--encoder")),
)
_MARK = b'<meta name="generator" content="complabel '
_HEAD = 4096  # bytes of a page in which the mark is looked for


@dataclass(frozen=True)
class Output:
    """Of an option: the command writes the file that it names."""

    endings: tuple[str, ...] = ()  # how the name may end; empty: as it likes
    page: bool = False  # a web page of complabel's may replace an earlier one
    source: str = ""  # ending of a file beside it, from which it is made again and again
    is_own: Callable[[Path, Mapping[str, Any]], bool] | None = None  # wrote the same command this?
    later: bool = False  # the command itself claims what it writes, when it knows the names


@dataclass
class _Claims:
    """What a command reads, what it will write, and what of that it may replace."""

    force: bool
    read: Sequence[Path]
    replaceable: set[Path] = field(default_factory=set)
    written: list[Path] = field(default_factory=list)


_claims: ContextVar[_Claims] = ContextVar("claims")


class GuardedCommand(TyperCommand):
    """A command that tries its outputs before it runs; if it has any, it has ``--force``."""

    def __init__(self, *args: Any, callback: Callable[..., None], **settings: Any) -> None:
        super().__init__(*args, callback=callback, **settings)
        self._outputs: dict[str | None, Output] = {
            name: mark
            for name, parameter in inspect.signature(callback).parameters.items()
            if (mark := getattr(parameter.default, "output", None))
        }
        self._of_two = [
            f"--{name}"
            for name, parameter in inspect.signature(callback).parameters.items()
            if getattr(parameter.default, "of_two", False)
        ]
        if self._outputs:
            self.params.append(_force_option())

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Read the options, and refuse outputs that cannot be written or would lose something."""
        if not ctx.resilient_parsing:
            args = _one_by_one(args, self._of_two)
        left: list[str] = super().parse_args(ctx, args)
        if not self._outputs or ctx.resilient_parsing:  # the latter while the shell completes
            return left
        force, values = ctx.params.pop("force"), ctx.params
        read = [value for name, value in values.items() if name not in self._outputs]
        claims = _Claims(force, [path for value in read for path in _files_in(value)])
        _claims.set(claims)
        for parameter in self.params:
            mark = self._outputs.get(parameter.name)
            if mark is not None and not mark.later and values[parameter.name] is not None:
                _claim(Path(values[parameter.name]), option_of(parameter), mark, values)
        if not force:
            ctx.with_resource(keeping(claims.replaceable))
        return left

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command; messages call what it was given by the names of its options."""
        options = {str(each.name): option_of(each) for each in self.params if option_of(each)}
        also = {name: option for name, option in _ALSO if option in options.values()}
        of_machine = [name for name in ("--machine", "--against") if name in options.values()]
        if ctx.params.get("only_yes") and not any(map(ctx.params.get, ("machine", "against"))):
            raise InputError(
                f"--only-yes is given without {of_machine[0]}; it is about that file, and no other"
            )
        with settings_as_options({**_OF_IMPORT, **also, **options}):
            return super().invoke(ctx)


def _one_by_one(args: list[str], options: list[str]) -> list[str]:
    """Repeat an option in front of its second value: Typer has none that takes two, repeatedly."""
    repeated: list[str] = []
    words = iter(args)
    for word in words:
        name, is_joined, value = word.partition("=")
        if name not in options:
            repeated.append(word)
            continue
        values = [value] * bool(is_joined) + [*itertools.islice(words, 1 if is_joined else 2)]
        if len(values) < 2 or any(each.startswith("--") for each in values):
            raise InputError(f"{name} takes two files each time it is given; got {word} alone")
        for each in values:
            repeated += [name, each]
    return repeated


def _force_option() -> Any:
    """Return the option ``--force``, which Typer makes only for a command."""
    app = typer.Typer(add_completion=False)

    @app.command()
    def _(
        force: bool = typer.Option(
            False, "--force", help="Replace output files that exist.", metavar=""
        ),
    ) -> None:
        del force

    return typer.main.get_command(app).params[0]


def may_replace() -> bool:
    """Return whether ``--force`` lets the command replace files."""
    return _claims.get().force


def has_written(path: Path) -> None:
    """Let the command replace a file that it wrote itself."""
    _claims.get().replaceable.add(behind_links(path))


def _claim(path: Path, option: str, mark: Output, values: Mapping[str, Any]) -> None:
    """Refuse a file that cannot be written, or whose content would be lost."""
    claims, shown = _claims.get(), f"{option} {path}".strip()
    if mark.endings and not path.name.lower().endswith(mark.endings):
        *others, last = mark.endings
        listed = f"{', '.join(others)} or {last}" if others else last
        raise InputError(
            f"{shown}: the name has the wrong ending for this kind of file; end it in {listed}"
        )
    with explained(shown):
        refuse_no_folder(path, shown)
        exists = os.path.lexists(path)
        refuse_odd(path, shown)
        is_own = exists and mark.page and is_own_page(path)
        if mark.source and path.with_name(f"{path.name}{mark.source}").is_file():
            is_own = True
        if exists and mark.is_own is not None:
            is_own = mark.is_own(path, values)
        if exists and not claims.force and not is_own:
            raise OutputError(
                f"{shown}: this file exists; give another name, such as {unused(path)}, or --force"
                " to replace it"
            )
        target = behind_links(path)
        if exists:
            claims.replaceable.add(target)
        claims.written.append(path)
        try_to_write(target.parent, path)


def refuse_odd(path: Path, shown: str) -> None:
    """Refuse a path that is no plain file, or that the command also reads or writes."""
    claims = _claims.get()
    problem = ""
    if path.is_dir():
        problem = "this is a folder; give the name of a file"
    elif any(_same(path, other) for other in claims.read):
        problem = "the command also reads this file; give another name"
    elif any(_same(path, other) for other in claims.written):
        problem = "two outputs have this name; give each its own"
    elif path.exists() and not path.is_file():
        problem = "this is no plain file; give another name"
    if problem:
        raise OutputError(f"{shown}: {problem}")


def refuse_no_folder(path: Path, shown: str) -> None:
    if not path.parent.is_dir():
        raise InputError(
            f"{shown}: there is no folder {path.parent}; make the folder, or give another path"
        )


def try_to_write(folder: Path, path: Path) -> None:
    """Write a file into a folder and remove it, as the output will be written."""
    trial = folder / f".{path.name}.{uuid.uuid4().hex}.part"
    try:
        trial.open("xb").close()
    finally:
        trial.unlink(missing_ok=True)


def is_own_page(path: Path) -> bool:
    """Return whether complabel wrote a page; a link counts as somebody else's."""
    if path.is_symlink():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(_HEAD)


def _same(path: Path, other: Path) -> bool:
    """Return whether two paths are one file, also if it does not exist yet."""
    try:
        return path.samefile(other)
    except OSError:
        return behind_links(path) == behind_links(other)


def _files_in(value: Any) -> list[Path]:
    several = value if isinstance(value, list | tuple) else [value]
    return [Path(each) for each in several if isinstance(each, str | Path) and str(each)]


def option_of(parameter: Any) -> str:
    """Return the name of a command's option as it is typed; empty for an argument."""
    return next((name for name in parameter.opts if name.startswith("--")), "")
