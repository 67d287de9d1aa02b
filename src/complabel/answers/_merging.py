"""Labels that were merged: what old answers say about the label that they are now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from complabel._parameters import Bools, Ints
from complabel.answers._answers import Answers
from complabel.answers._arrays import BY_CHOICE, MARKS, Statements
from complabel.answers._masks import Mask, counts_of, keep_rows, mask_of, rows_of, spell_out, union
from complabel.answers._names import list_some
from complabel.errors import AnnotationError


def merge_labels(answers: Answers, merged: Mapping[str, str]) -> Answers:
    """Merge labels, and return what follows from old answers about the merged ones.

    ``merged`` has the new name of each label that is merged. A merged label applies if any of its
    parts does: the labels with this new name, and the one that has the name already.

    - Who says yes about a part says yes. Who says no about *all* parts says no, in one answer or in
      several about the item; a no about some of them says nothing. Unknown people are not joined.
    - Where all parts were on offer, a "ticked", "excluded" or "tagged" answer becomes one about
      the merged label, with its ``probability`` and with what it says in ``drawn``.
    - What follows otherwise becomes an answer that is "asked", without ``probability``: the yes
      about a part is kept and the no is not, which is no random sample. In the old answer, the
      parts are not on offer any more; it is left out if nothing else was.
    - Who named another label of a menu with parts chose among the others. Such an answer has no
      ``probability`` any more, because it is left out if a part was named.
    - Who named a part because it applies, of all parts on offer, named the merged label.

    An AnnotationError says that a label to merge is not there, or is a new name, too.

    Examples
    --------
    >>> answers = Answers.from_arrays(
    ...     absent=[[1, 1, 0], [1, 0, 0], [0, 0, 0]],
    ...     relevant=[[0, 0, 0], [0, 0, 0], [0, 1, 0]],
    ...     label_names=["sea", "ocean", "sky"],
    ... )
    >>> merged = merge_labels(answers, {"ocean": "sea"})
    >>> merged.label_names, merged.item
    (('sea', 'sky'), array([0, 2]))
    >>> merged.known_relevant[2], merged.complementary[0]
    (array([1, 0], dtype=uint8), array([1, 0], dtype=uint8))
    """
    names = answers.label_names or ()
    for old, new in merged.items():
        if old not in names:
            raise AnnotationError(f"{old!r} is to be merged, but the labels are {list_some(names)}")
        if new in merged:
            reason = "which is merged, too; merge both into one name"
            raise AnnotationError(f"{old!r} is to be merged into {new!r}, {reason}")
    for new in dict.fromkeys(merged.values()):
        names = answers.label_names or ()
        parts = [at for at, name in enumerate(names) if merged.get(name, name) == new]
        answers = _merge(answers, np.array(parts), new)
    return answers


def _merge(answers: Answers, parts: Ints, new: str) -> Answers:
    """Merge the labels in some columns into one in the place of the first."""
    names, n_parts = list(answers.label_names or ()), len(parts)
    names[parts[0]] = new
    kept = np.setdiff1d(np.arange(len(names)), parts[1:])
    changes: Any = {"n_labels": len(kept), "label_names": tuple(names[label] for label in kept)}
    if n_parts == 1:  # it only has another name
        return replace(answers, **changes)

    def put(mask: Mask, has_new: Bools) -> Mask:
        """Return a mask of the labels of now, with the merged one in some rows."""
        others, rows = ~np.isin(mask.indices, parts), np.flatnonzero(has_new)
        labels = np.concatenate([mask.indices[others], np.full(len(rows), parts[0])])
        rows = np.concatenate([rows_of(mask)[others], rows])
        return mask_of(rows, np.searchsorted(kept, labels), (len(has_new), len(kept)))

    is_listed, is_named = counts_of(answers.offered) > 0, answers.question == "named"
    is_positive = answers.question == "positive"
    n_offered = np.where(is_listed, counts_of(answers.offered[:, parts]), n_parts)
    whole = ~is_named & (n_offered == n_parts)
    narrowed = ~whole & (n_offered > 0)  # without the parts, all labels are not all any more
    offered = union(keep_rows(answers.offered, ~narrowed), spell_out(answers.offered, narrowed))
    changes["offered"] = offered = put(offered, whole & is_listed)
    one_is_enough = ("relevant", "positive", "tagged")
    for name in MARKS:
        mask, least = getattr(answers, name), 1 if name in one_is_enough else n_parts
        changes[name] = put(mask, whole & (counts_of(mask[:, parts]) >= least))
    chose, n_left = narrowed & answers.chooses, counts_of(offered)
    n_named = counts_of(changes["named"]) + counts_of(changes["positive"])
    left = np.where(n_left == 0, np.where(narrowed, 0, len(kept)), n_left)
    most = np.where(answers.exhausted, np.minimum(answers.asked_for, left), n_named)
    changes["asked_for"] = np.where(chose | (whole & is_positive), most, answers.asked_for)
    changes["probability"] = np.where(chose, np.nan, answers.probability)
    changes["drawn"] = np.where(chose, "", answers.drawn)
    gone = narrowed & ((n_left == 0) | (answers.chooses & (most == 0)))
    # A menu of one label is a yes/no question; who picks a label even if all apply says nothing.
    alone = answers.chooses & (left == 1)
    offered = spell_out(offered, alone) + keep_rows(offered, ~alone)
    gone |= alone & (n_named > 0) & (answers.if_none == "pick")
    for side, other, which in (("absent", "relevant", is_named), ("relevant", "absent", ~is_named)):
        chosen = changes["named" if side == "absent" else "positive"]
        changes[side] = union(changes[side], keep_rows(chosen, alone))
        changes[other] = union(changes[other], keep_rows(offered, alone & which & (n_named == 0)))
    judged = keep_rows(union(changes["absent"], changes["relevant"]), alone)
    changes["offered"] = union(offered, judged)
    changes |= {name: keep_rows(changes[name], ~alone) for name in ("named", "positive")}
    changes["question"] = np.where(alone, "asked", answers.question)
    changes["asked_for"][alone] = 0
    rest, statements = replace(answers, **changes).only(~gone), answers.statements()
    answer = statements.answer
    picked = np.isin(statements.kind, BY_CHOICE[:2]) & (answers.if_none == "pick")[answer]
    statements = statements.only(~picked & ~whole[answer] & np.isin(statements.label, parts))
    if not len(statements):
        return rest
    row, applies = _follows(answers, statements, n_parts)
    nothing = mask_of(row[:0], row[:0], (len(row), len(names)))
    people = np.array([*answers.annotator_names, None], dtype=object)  # code -1: last entry
    columns: Any = {"item": answers.item[row], "annotator": people[answers.annotator[row]]}
    columns |= {"weight": answers.weight[row], "n_items": answers.n_items, "question": "asked"}
    columns |= {"absent": put(nothing, ~applies), "relevant": put(nothing, applies)}
    others = Answers.from_arrays(**columns, label_names=changes["label_names"])
    return Answers.concatenate([rest, others])


def _follows(answers: Answers, statements: Statements, n_parts: int) -> tuple[Ints, Bools]:
    """Return the rows of answers from which something follows about all parts, and what.

    ``statements`` are about parts. There is one row of a person and an item for each side.
    """
    people, n_people = answers.annotator[statements.answer], len(answers.annotator_names)
    voter = np.where(people == -1, n_people + statements.answer, people)
    who = statements.item * (int(voter.max()) + 1) + voter
    rows: list[Ints] = []
    for side, least in ((False, n_parts), (True, 1)):
        of_side = np.flatnonzero(statements.applies == side)
        labels = np.unique(np.stack([who[of_side], statements.label[of_side]]), axis=1)  # each once
        _, counts = np.unique(labels[0], return_counts=True)
        _, first = np.unique(who[of_side], return_index=True)
        rows.append(statements.answer[of_side[first[counts >= least]]])
    return np.concatenate(rows), np.repeat([False, True], [*map(len, rows)])
