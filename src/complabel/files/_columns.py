"""Columns that stand in a file and are not read: some may change what it says, others are named."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from complabel._opening import fault
from complabel._settings import setting
from complabel.answers import USED_COLUMNS
from complabel.files._names import SHOWN
from complabel.files._write import CONFIDENCE

TO_DO = "to_do"  # the column of a spreadsheet that says what to fill in
OWN_COLUMNS = (*USED_COLUMNS, "time", CONFIDENCE, *SHOWN, TO_DO)
"""What a table of answers may have."""
_MEANINGS = {
    "annotator": "worker rater annotator coder judge labeler labeller user username userid"
    " participant performer respondent expert reviewer completedby createdby email recipientemail"
    " responseid person doctor reader grader evaluator crowdworker turker prolificpid labeledby"
    " labelledby annotatedby kodierer nutzername assignee bewerter ratername",
    "answer": "value labelvalue verdict judgment judgement response relevant isrelevant applies"
    " rating vote votes nyes nno votesyes nvotes decision present absent yesno polarity ypred",
    "confidence": "score prob proba logit certainty likelihood similarity prediction predictedprob"
    " scores confidence confidencescore probabilityscore conf probyes pyes softmax confidencelevel",
    "status": "status state approved rejected accepted isvalid valid reviewstatus assignmentstatus"
    " approval tainted deleted qc attentioncheck complete flagged",
    "gold": "gold golden isgold goldlabel goldstandard istest groundtruth truth expected"
    " goldenlabel truelabel ytrue expertlabel",
    "weight": "weight weights sampleweight importance allapply",
    "seconds": "duration durationinseconds leadtime worktimeinseconds elapsed",
}
_MOST = 60  # letters of a name that says something
_WORDS = {word: what for what, words in _MEANINGS.items() for word in words.split()}
_SAYS = {
    "annotator": "who answered",
    "answer": "what was answered",
    "confidence": "how probable an answer is",
    "status": "which answers count",
    "gold": "what is right, or which rows are tests",
    "seconds": "how long it took",
    "weight": "how an answer counts",
}


def meaning_of(column: str) -> str | None:
    """Return what a column may be about, by its name; None if it is not known.

    Examples
    --------
    >>> meaning_of("Worker_ID"), meaning_of("ASSIGNMENT:status"), meaning_of("remark")
    ('annotator', 'status', None)
    """
    words = [part for part in re.split(r"[^a-z]+", column.casefold()) if part not in ("", "id")]
    if len(column) > _MOST:
        return None
    first = [word for word in words[:1] if word in ("rater", "coder", "annotator", "worker")]
    for each in ("".join(words), *words[-1:], *first):
        if each in _WORDS:
            return _WORDS[each]
        if each.endswith("id") and each[:-2] in _WORDS:
            return _WORDS[each[:-2]]
    return None


def left_over(
    path: Path,
    columns: Iterable[str],
    read: Collection[str],
    *,
    dropped: Collection[str] = (),
    may_read: Collection[str] = ("annotator", "answer", "confidence", "seconds"),
    command: bool = False,
) -> list[str]:
    """Return the columns that are not read; refuse one that may change what the others say.

    ``dropped`` are those that the user does not want, ``may_read`` what a column can be read as.
    ``command``: ``complabel import`` takes the options of the message, and the caller does not.
    """
    there = [*columns]
    if strangers := [name for name in dropped if name not in there]:
        text = f"has no column {strangers[0]!r} to drop; it has {', '.join(map(repr, there[:8]))}"
        raise fault(path, text)
    left = [name for name in there if name not in read and name not in dropped]
    for name in left:
        what = meaning_of(name)
        if what is None:
            continue
        drop = f"{setting('drop', name)} if it does not matter here"
        if what in ("status", "gold"):
            drop = f"{setting('drop', name)} if each row counts; else take out the rows that do not"
        ways: list[dict[str, object]] = [{"drop": (name,)}]
        text = f"has a column {name!r}, which is not read, and may say {_SAYS[what]}: give"
        if what in may_read and (what == name or what not in there):
            ways.insert(0, {"column": {what: name}})
            text += f" {setting('column', {what: name})} to read it, or"
        ending = "; complabel import takes these" * command
        raise fault(path, f"{text} {drop}{ending}", proposes=ways)
    return left
