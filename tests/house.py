"""The package as a house: its rooms, their sizes and who imports whom.

    python -m tests.house                # lines, files and public names by building and room
    python -m tests.house --since REV    # beside those of an earlier commit

The architecture test keeps the numbers; CONTRIBUTING shows the table.
"""

from __future__ import annotations

import argparse
import ast
import functools
import io
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

CHECKOUT = Path(__file__).parents[1]
SOURCE, TESTS = "src/complabel", "tests"

# Two buildings, each from the bottom up: a room imports only from those before it. The experiments
# stand on the tool, so nothing in the tool imports them.
BUILDINGS = {
    "tool": (
        "errors",
        "_lazy",
        "_settings",
        "_writing",
        "_opening",
        "_sqlite",
        "_parameters",
        "_questions",
        "_services",
        "_drawn",
        "answers",
        "simulate",
        "files",
        "features",
        "metrics",
        "datasets",
        "importers",
        "transition",
        "losses",
        "frequencies",
        "_training",
        "methods",
        "people",
        "asking",
        "trust",
        "reports",
        "live",
        "cli",
    ),
    "experiments": (
        "experiments.paper",
        "experiments.statistics",
        "experiments.datasets",
        "experiments.losses",
        "experiments.methods",
        "experiments.studies",
        "experiments.reports",
        "experiments.cli",
    ),
}
ROOMS = tuple(room for rooms in BUILDINGS.values() for room in rooms)
# Each hands out names of all its rooms, on demand.
FRONT_DOORS = (f"{SOURCE}/__init__.py", f"{SOURCE}/experiments/__init__.py")


@dataclass
class House:
    """The Python files of a checkout: paths as in the repository, and their texts."""

    texts: Mapping[str, str]
    trees: dict[str, ast.Module] = field(default_factory=dict)

    @classmethod
    def here(cls, checkout: Path = CHECKOUT) -> House:
        """Read the files as they are now."""
        paths = [path for top in (SOURCE, TESTS) for path in (checkout / top).rglob("*.py")]
        return cls(
            {p.relative_to(checkout).as_posix(): p.read_text(encoding="utf-8") for p in paths}
        )

    @classmethod
    def at(cls, revision: str) -> House:
        """Read the files of a commit."""
        packed = subprocess.run(
            ["git", "archive", revision, SOURCE, TESTS],
            cwd=CHECKOUT,
            capture_output=True,
            check=True,
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as files:
            return cls(
                {
                    member.name: files.extractfile(member).read().decode()
                    for member in files
                    if member.name.endswith(".py")
                }
            )

    @functools.cached_property
    def modules(self) -> set[str]:
        """The dotted names of the package's files."""
        return {module_name(path) for path in self.sources}

    @property
    def sources(self) -> list[str]:
        """The paths of the package's files."""
        return sorted(path for path in self.texts if path.startswith(SOURCE + "/"))

    def tree(self, path: str) -> ast.Module:
        """Return the syntax tree of a file."""
        if path not in self.trees:
            self.trees[path] = ast.parse(self.texts[path], filename=path)
        return self.trees[path]

    def lines(self, *paths: str) -> int:
        """Count the lines of files, all of them."""
        return sum(len(self.texts[path].splitlines()) for path in paths)

    def public(self, path: str) -> list[str]:
        """Return the names in ``__all__``, if users can import the file under a public name."""
        if any(part.startswith("_") for part in PurePosixPath(path).with_suffix("").parts[2:-1]):
            return []
        if PurePosixPath(path).name.startswith("_") and not path.endswith("__init__.py"):
            return []
        for node in self.tree(path).body:
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            if "__all__" in {getattr(target, "id", None) for target in targets}:
                return list(ast.literal_eval(node.value))
        return []

    def imports(self, path: str) -> Iterator[str]:
        """Yield the modules of the package that a file imports, in functions too.

        Imports for type checkers count. ``from complabel import metrics`` is complabel.metrics.
        """
        for node in ast.walk(self.tree(path)):
            if isinstance(node, ast.Import):
                yield from (a.name for a in node.names if a.name.startswith("complabel."))
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: imports are absolute"
                if (node.module or "").split(".")[0] == "complabel":
                    for alias in node.names:
                        inner = f"{node.module}.{alias.name}"
                        yield inner if inner in self.modules else node.module


def module_name(path: str) -> str:
    """src/complabel/metrics/_criteria.py is complabel.metrics._criteria."""
    parts = PurePosixPath(path).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(name: str) -> str | None:
    """Return the room that a dotted name lies in; None for the package and for experiments."""
    parts = name.split(".")[1:]
    if parts[:1] == ["experiments"]:
        return ".".join(parts[:2]) if len(parts) > 1 else None
    return parts[0] if parts else None


def circles(house: House) -> list[set[str]]:
    """Find modules that import each other, directly or through others.

    The front doors are no part of it: they hand out names of every room, on demand.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    names = [module_name(path) for path in house.sources if path not in FRONT_DOORS]
    number = {name: at for at, name in enumerate(names)}
    arrows = [
        (number[name], number[target])
        for path in house.sources
        if (name := module_name(path)) in number
        for target in house.imports(path)
        if target in number and target != name
    ]
    rows, columns = zip(*arrows, strict=True)
    graph = coo_array(([1] * len(arrows), (rows, columns)), shape=(len(names), len(names)))
    n_parts, part = connected_components(graph, directed=True, connection="strong")
    members = [{names[at] for at in range(len(names)) if part[at] == own} for own in range(n_parts)]
    return [circle for circle in members if len(circle) > 1]


def building_of(room: str) -> str:
    """Return the building that a room belongs to."""
    return "experiments" if room.startswith("experiments") else "tool"


def sizes(house: House) -> dict[str, Counter[str]]:
    """Count lines, files and public names by room; the single files of a building together."""
    by_room: dict[str, Counter[str]] = {}
    for path in house.sources:
        parts = PurePosixPath(path).parts[2:]
        building, *inside = parts if parts[0] == "experiments" else ("", *parts)
        room = inside[0] if len(inside) > 1 else "single files"
        room = f"{building}.{room}" if building else room
        counts = by_room.setdefault(room, Counter())
        counts["lines"] += house.lines(path)
        counts["files"] += 1
        counts["names"] += len(house.public(path))
    return by_room


def n_test_lines(house: House) -> int:
    """Count the lines of the tests."""
    return house.lines(*(path for path in house.texts if path.startswith(TESTS + "/")))


def table(now: House, before: House | None = None) -> Iterator[str]:
    """Yield the lines of the table that CONTRIBUTING shows: each building, its rooms, its sum."""
    houses = [now] if before is None else [before, now]
    counted = [sizes(house) for house in houses]
    yield "| room | lines | files | public names |"
    yield "|---|--:|--:|--:|"

    def line(title: str, *rooms: str) -> str:
        cells = [
            _arrow([sum(counts.get(room, Counter())[what] for room in rooms) for counts in counted])
            for what in ("lines", "files", "names")
        ]
        return f"| {title} | " + " | ".join(cells) + " |"

    every_room = sorted({*counted[0], *counted[-1]}, key=lambda room: ("single" in room, room))
    for building in BUILDINGS:
        rooms = [room for room in every_room if building_of(room) == building]
        yield from (line(f"`{room}`", room) for room in rooms)
        yield line(f"**{building}**", *rooms)
    yield line("together", *every_room)
    tests = _arrow([n_test_lines(house) for house in houses])
    yield f"| tests | {tests} | | |"


def _arrow(values: list[int]) -> str:
    return " → ".join(f"{value:,}" if value else "-" for value in values)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.house", description=__doc__)
    parser.add_argument("--since", metavar="REV", help="also the sizes at an earlier commit")
    since = parser.parse_args().since
    print(*table(House.here(), House.at(since) if since else None), sep="\n")


if __name__ == "__main__":
    main()
