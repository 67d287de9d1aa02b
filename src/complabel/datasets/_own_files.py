"""Which files make one dataset of somebody's own, and which format they are in."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from complabel.datasets._mulan import xml_candidates
from complabel.datasets._paths import StrPaths, as_paths, is_file, no_file
from complabel.errors import DatasetFormatError

Format = Literal["npz", "mat", "svmlight", "mulan", "arff"]

_SVMLIGHT = (".svm", ".svmlight", ".libsvm")
_FORMATS: dict[str, Format] = {
    ".npz": "npz",
    ".mat": "mat",
    ".arff": "arff",
    ".arff.zip": "arff",
    ".zip": "arff",
    **{word + packed: "svmlight" for word in _SVMLIGHT for packed in ("", ".gz", ".bz2")},
}
_KNOWN = ".npz, .mat, .arff, .zip (with one .arff), or .svm, .svmlight, .libsvm (also .gz, .bz2)"
_IN_PARTS = ("svmlight", "arff")


@dataclass(frozen=True)
class OwnFiles:
    """The parts of one dataset, and the XML file that names its labels, if there is one.

    ARFF files with an XML file are Mulan's; without one, their relation has to tell the labels.
    """

    name: str
    format: Format
    parts: tuple[Path, ...]
    labels: Path | None = None

    @property
    def all_files(self) -> tuple[Path, ...]:
        """Every file that is read."""
        return self.parts if self.labels is None else (*self.parts, self.labels)


def find_own_files(path: StrPaths) -> OwnFiles:
    """Find the files of a dataset, given one of them or all; refuse what cannot be one."""
    given = as_paths("path", path)
    for file in given:
        if not is_file(file):
            raise no_file(file)
    named = [file for file in given if file.suffix.lower() == ".xml"]
    parts = [file for file in given if file not in named]
    if not parts:
        raise DatasetFormatError(
            f"{named[0]}: names the labels of an ARFF file; give the ARFF file, too"
        )
    found = [_format(file) for file in parts]
    if len({*found}) > 1 or (len(found) > 1 and found[0] not in _IN_PARTS):
        raise DatasetFormatError(
            f"{', '.join(map(str, parts))}: only several ARFF files, or several svmlight files,"
            " can be the parts of one dataset; give one file"
        )
    if named and (len(named) > 1 or found[0] != "arff"):
        raise DatasetFormatError(
            f"{named[-1]}: an XML file names the labels of ARFF files, and there is one for each"
            " dataset; leave it out"
        )
    labels = named[0] if named else _xml_beside(parts[0]) if found[0] == "arff" else None
    kind: Format = "mulan" if labels is not None else found[0]
    return OwnFiles(_common_name(parts), kind, tuple(parts), labels)


def _ending(file: Path) -> str:
    """Return the ending that tells a file's format, or the empty text."""
    fitting = [ending for ending in _FORMATS if file.name.lower().endswith(ending)]
    return max(fitting, key=len, default="")


def _format(file: Path) -> Format:
    """Tell a file's format by its ending."""
    ending = _ending(file)
    if not ending:
        raise DatasetFormatError(
            f"{file}: a dataset of your own ends in {_KNOWN}; save it as one of these (save_file"
            " writes .npz)"
        )
    return _FORMATS[ending]


def _xml_beside(arff: Path) -> Path | None:
    """Return the XML file that an ARFF file's name stands for, if it is there."""
    return next(filter(is_file, xml_candidates(arff)), None)


def _common_name(parts: Sequence[Path]) -> str:
    """Return the name without its ending; of parts, the words that their names begin with."""
    names = [part.name[: -len(_ending(part))] for part in parts]
    words = [name.split("-") for name in names]
    shared = [first for first, *others in zip(*words, strict=False) if {*others} <= {first}]
    return "-".join(shared) or names[0]
