"""Claims: each is a sentence, and relations that stored results must fulfil.

docs/evidence/claims.toml has them: ``sentence``; ``holds``, relations such as ``tags.min(best(AN,
PW)-asked) >= 0``; ``about``, the part of the page; and, where it applies, ``missed = true`` for a
goal that is not reached, ``held_out`` (whether the data chose no setting) and ``tests`` that keep
what the claim rests on. Figures within a sentence are named in braces: ``{tags.cells}``.
"""

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from typing import Any

from benchmarks import _results
from benchmarks._results import NUMBER, SIGN, SPEC, NoFigureError, read

PATH = _results.CHECKOUT / "docs" / "evidence" / "claims.toml"


@dataclass
class Claim:
    """A sentence, and what it rests on."""

    name: str
    sentence: str
    holds: list[str]
    about: str
    missed: bool = False
    held_out: bool = False
    tests: tuple[str, ...] = ()
    page: str | None = None

    def text(self) -> str:
        """Return the sentence with its figures."""
        return re.sub(r"\{([^}]+)\}", lambda found: _results.figure(found[1]), self.sentence)

    def is_true(self) -> bool:
        """Return whether all relations hold on the stored results."""
        return all(_results.holds(each) for each in self.holds)

    def runs(self) -> list[dict[str, Any]]:
        """Return how the cells were measured that the claim rests on."""
        texts = [*self.holds, *re.findall(r"\{([^}]+)\}", self.sentence)]
        sides = [side for text in texts for side in SIGN.split(text) if not NUMBER.fullmatch(side)]
        named = {found.group(1, 2) for side in sides if (found := SPEC.fullmatch(side))}
        return [run for name, where in sorted(named, key=str) for run in read(name).runs_of(where)]

    def stale(self) -> list[str]:
        """Return the rooms that have changed since these cells were measured, or checked."""
        return sorted({room for run in self.runs() for room in _results.changed(run)})

    def transcribed(self) -> bool:
        """Return whether a figure was taken from an older page."""
        return any(run.get("transcribed") for run in self.runs())


def claims() -> list[Claim]:
    """Read all claims."""
    entries: dict[str, Any] = tomllib.loads(PATH.read_text(encoding="utf-8"))
    return [Claim(name, **entry) for name, entry in entries.items()]


def sentence(name: str) -> str:
    """Return the sentence of a claim."""
    found = {claim.name: claim for claim in claims()}
    if name not in found:
        raise NoFigureError(f"no claim is named {name!r}")
    return found[name].text()


def markdown(about: str) -> str:
    """Return the claims about one part of the evidence, a row for each; "summary" counts all."""
    if about == "summary":
        missed = sum(claim.missed for claim in claims())
        old = sum(claim.transcribed() for claim in claims())
        return (
            f"{len(claims())} claims: {len(claims()) - missed} hold, {missed} goals are missed."
            f" {old} rest on figures that an older page printed, and say so."
        )
    lines = ["| claim | |", "|---|---|"]
    for claim in sorted(claims(), key=lambda claim: claim.missed):
        if claim.about != about:
            continue
        places = [f"[page]({claim.page})"] if claim.page else []
        places += [f"`{each.removeprefix('tests/')}`" for each in claim.tests]
        text = f"{claim.text()} ({', '.join(places)})" if places else claim.text()
        state = ["**missed**" if claim.missed else "holds"]
        state += ["held out"] * claim.held_out + ["older page"] * claim.transcribed()
        lines.append(f"| {text} | {', '.join(state)} |")
    return "\n".join(lines) if lines[2:] else ""


def main() -> int:
    """Print each claim, what is older than the code, and all commits; 1 if a claim fails."""
    counts, though = Counter(holds=0, missed=0, FAILS=0), ""
    for claim in claims():
        word = "holds" if claim.is_true() else "missed" if claim.missed else "FAILS"
        counts[word] += 1
        if claim.missed and word == "holds":
            word = though = "holds, though it is marked as missed"
        old = claim.stale()
        age = f" (changed since: {', '.join(old)})" if old else ""
        age += " (of an older page)" * claim.transcribed()
        print(f"{word:7} {claim.name}: {claim.text()}{age}")
    print(", ".join(f"{n} {word}" for word, n in counts.items()))
    runs = [run for path in _results.RESULTS.glob("*.jsonl") for run in read(path.stem).runs]
    checked = [run["checked"] for run in runs if "checked" in run]
    for what, those in (("measured", runs), ("quick cells seen again", checked)):
        commits = Counter(str(run.get("commit", "an older page")) for run in those)
        print(f"{what}:", ", ".join(f"{name} {n}" for name, n in commits.most_common()))
    return int(counts["FAILS"] > 0 or though != "")
