"""The class ``Answers``: what people answered about items, and to which question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from complabel._parameters import Ints, check_choice, check_integer
from complabel._questions import BY_QUESTION, JUDGING
from complabel.answers._arrays import (
    COLUMNS,
    MASKS,
    AnswerArrays,
    complete_masks,
    one_each,
    read_annotators,
    read_asked_for,
    read_column,
    read_known,
    read_masks,
    read_questions,
    read_words,
    same_names,
)
from complabel.answers._checks import check_answers, check_known
from complabel.answers._codes import CodedTable
from complabel.answers._masks import IndicatorLike, as_mask, check_indicator, mask_of, read_frame
from complabel.answers._names import (
    ALL_APPLY,
    Question,
    check_label_names,
    is_gap,
    label_names_of,
    pair_rows,
    row_names,
)
from complabel.answers._statements import (
    CONTRADICTION_POLICIES,
    ContradictionPolicy,
    resolve_contradictions,
)
from complabel.answers._table import as_html, read_table, table_of
from complabel.errors import AnnotationError


class Answers(AnswerArrays):
    """Answers that people gave about items (the rows of X); the second argument of ``fit``.

    Make it with :meth:`from_frame`, :meth:`from_table`, :meth:`from_arrays` or
    :meth:`from_complementary`. An item may have several answers or none. ``answers[rows]`` gives
    the answers about some items, so scikit-learn can split them together with X. They never become
    an array, which would lose what was asked. :attr:`complementary` has the labels that do not
    apply.

    Each answer belongs to a question about the labels that were ``offered``:

    - "named": name ``asked_for`` labels that do not apply. The annotator chooses which ones. If
      fewer are named, all other offered labels apply. More may be known: labels that apply are
      ``relevant``; labels that do not apply are ``absent``, and these must not be offered.
    - "asked": does each offered label apply? "No" is ``absent``, "yes" is ``relevant``.
    - "ticked": tick all labels that apply, or all that do not. The others on offer are the
      opposite, so each is ``relevant`` or ``absent``.
    - "excluded": a rule, a report or a person ruled some labels out. These are ``excluded``.
      Nothing is known about the other labels, unless they are ``absent`` or ``relevant``.
    - "positive": name ``asked_for`` labels that *apply*. These are ``positive``, and no sample of
      all that apply: the annotator chooses. If fewer are named, no other offered label applies.
      More may be known: ``absent``, and ``relevant`` of labels that are not offered.
    - "tagged": a list of labels that *apply*, as many as somebody cared to give. These are
      ``tagged``. Nothing is known about the other labels, unless they are ``absent``.

    Attributes
    ----------
    n_items, n_labels : int
    label_names : tuple of str, or None
    item_names : ndarray of shape (n_items,), dtype object, or None
        None if the answers come from arrays without names of rows.
    annotator_names : tuple of str
        Code k in ``annotator`` stands for entry k.
    item : ndarray of shape (n_answers,), dtype intp
        Row of X that each answer is about, in ascending order.
    question : ndarray of shape (n_answers,), dtype str
        One of :data:`QUESTIONS`.
    annotator : ndarray of shape (n_answers,), dtype intp
        Code of the person who answered; -1 if unknown.
    asked_for : ndarray of shape (n_answers,), dtype intp
        How many labels were to be named; 0 if the question is neither "named" nor "positive".
    probability : ndarray of shape (n_answers,), dtype float64
        Probability with which a random question was drawn; NaN if it was not drawn at random.
    drawn : ndarray of shape (n_answers,), dtype str
        How the question was drawn: "random"; "aimed", by a rule that prefers some pairs of an item
        and a label, so that only answers with a ``probability`` are a sample; "rule", decided by a
        rule, which is no sample; "machine ...", at random among the pairs of the label of which a
        machine says the same, as :func:`complabel.asking.suggest_questions` writes it; "" if
        somebody chose it, or if it is not known. Then a ``probability`` makes it "random".
    seconds : ndarray of shape (n_answers,), dtype float64
        How long the person took for the answer; NaN if unknown.
    weight : ndarray of shape (n_answers,), dtype float64
        How much each answer counts in a fit: 1 is usual, 0 leaves it out. See :meth:`with_weight`.
    all_apply : ndarray of shape (n_answers,), dtype str
        What the annotator of a "named" answer does if all offered labels apply: says so
        ("answer"), does not answer ("skip"), or names one of them anyway ("pick"). "never" means
        that this does not happen.
    none_applies : ndarray of shape (n_answers,), dtype str
        The same of a "positive" answer, if no offered label applies.
    offered, named, absent, relevant, excluded, positive, tagged : sparse.csr_array \
            (n_answers, n_labels)
        Of dtype uint8: 1 where the answer says this about the label. A row of ``offered`` without
        entries means all labels. All arrays are read-only.

    Examples
    --------
    >>> answers = Answers.from_arrays(
    ...     named=[[0, 0, 1, 0], [0, 0, 0, 0]],
    ...     offered=[[0, 0, 0, 0], [1, 1, 0, 0]],  # all labels; a menu whose labels all apply
    ...     item=[0, 2],
    ... )
    >>> answers
    Answers(3 items, 4 labels, 2 answers: 2 named)
    >>> answers.known_relevant
    array([[0, 0, 0, 0],
           [0, 0, 0, 0],
           [1, 1, 0, 0]], dtype=uint8)
    >>> answers[[2, 0]].complementary
    array([[0, 0, 0, 0],
           [0, 0, 1, 0]], dtype=uint8)
    """

    @classmethod
    def from_arrays(
        cls,
        *,
        named: IndicatorLike | None = None,
        absent: IndicatorLike | None = None,
        relevant: IndicatorLike | None = None,
        excluded: IndicatorLike | None = None,
        positive: IndicatorLike | None = None,
        tagged: IndicatorLike | None = None,
        offered: IndicatorLike | None = None,
        question: str | ArrayLike | None = None,
        item: ArrayLike | None = None,
        annotator: ArrayLike | None = None,
        asked_for: ArrayLike | None = None,
        probability: ArrayLike | None = None,
        drawn: str | ArrayLike = "",
        seconds: ArrayLike | None = None,
        weight: ArrayLike = 1.0,
        all_apply: str | ArrayLike = "answer",
        none_applies: str | ArrayLike = "answer",
        n_items: int | None = None,
        label_names: Sequence[str] | None = None,
    ) -> Answers:
        """Make answers from masks with one row for each answer.

        Parameters
        ----------
        named, absent, relevant, excluded, positive, tagged : array-like or sparse \
                (n_answers, n_labels), optional
            What the answers say, 0/1. At least one mask is needed. If the question is "ticked",
            ``relevant`` alone has what people ticked because it applies, and the other offered
            labels do not; ``absent`` alone has what they ticked because it does not apply, and the
            others do. If both are given, they must say all.
        offered : array-like or sparse matrix of shape (n_answers, n_labels), optional
            Labels that each question is about. A row of zeros means all labels; if the question
            is "asked", it means the judged labels.
        question : str, array-like of shape (n_answers,), or None, default=None
            None infers it from the first rule that fits: "named" if the answer names a label,
            "positive" if it names one that applies, "excluded" if it excludes one, "tagged" if it
            tags one, "asked" if it judges one. An answer that marks nothing is "named" if ``named``
            was given and a menu was offered: all labels of the menu apply. If ``positive`` was
            given, it is "positive": none applies. If neither of them was given, it is "excluded"
            or "tagged": an empty list.
        item : array-like of shape (n_answers,) of int, optional
            Row of X that each answer is about, in any order; by default 0, 1, 2, ...
        annotator : array-like of shape (n_answers,), optional
            Integers from 0 are codes, and -1 means unknown; if one is a million or more, or below
            -1, all are names. All other values are names; None, NaN and blanks mean unknown.
        asked_for : int or array-like of shape (n_answers,), optional
            By default the number that was named, at least 1. In an array, give 0 where the
            question is neither "named" nor "positive".
        probability, seconds : float or array-like of shape (n_answers,), optional
        drawn : str or array-like of shape (n_answers,), default=""
        weight : float or array-like of shape (n_answers,), default=1.0
        all_apply, none_applies : str or array-like of shape (n_answers,), default="answer"
        n_items : int, optional
            By default up to the last item with an answer.
        label_names : sequence of str of length n_labels, optional
            By default the columns of the first data frame among the masks.

        Raises
        ------
        AnnotationError
            If an answer contradicts itself, says nothing, or marks a label that was not offered;
            if a mask is not 0/1 or arrays do not fit together.

        Examples
        --------
        >>> Answers.from_arrays(absent=[[1, 0, 0], [0, 0, 0]], relevant=[[0, 0, 0], [0, 1, 0]])
        Answers(2 items, 3 labels, 2 answers: 2 asked)
        """
        marks = (named, absent, relevant, excluded, positive, tagged, offered)
        indicators = dict(zip(MASKS, marks, strict=True))
        marked = [name for name, values in indicators.items() if values is not None]
        masks, names = read_masks(indicators, label_names)
        n_answers, n_labels = masks["named"].shape
        questions = read_questions(question, masks, marked=marked)
        masks = complete_masks(masks, questions, marked=marked)
        codes, people = read_annotators(annotator, n_answers)
        item = np.arange(n_answers) if item is None else item
        items = read_column(item, "item", n_answers, np.intp)
        n_items = int(items.max(initial=-1)) + 1 if n_items is None else n_items
        check_integer("n_items", n_items, at_least=0)
        answers = cls(
            n_items=int(n_items),
            n_labels=n_labels,
            label_names=names,
            item_names=None,
            annotator_names=people,
            item=items,
            question=questions,
            annotator=codes,
            asked_for=read_asked_for(asked_for, masks["named"] + masks["positive"], questions),
            probability=read_known(probability, "probability", n_answers),
            drawn=one_each(drawn, "drawn", n_answers).astype(np.str_),
            seconds=read_known(seconds, "seconds", n_answers),
            weight=read_column(weight, "weight", n_answers, np.float64),
            all_apply=read_words(all_apply, "all_apply", n_answers, ALL_APPLY),
            none_applies=read_words(none_applies, "none_applies", n_answers, ALL_APPLY),
            **masks,
        )
        check_answers(answers, lambda row: f"answer {row} (item {items[row]})")
        return answers._sorted()

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        items: Sequence[Any] | None = None,
        label_names: Sequence[str] | None = None,
        question: Question | None = None,
        contradictions: ContradictionPolicy | Literal["keep"] = "error",
        trusted: Sequence[str] = (),
    ) -> Answers:
        """Make answers from a table with one row for each label of an answer.

        Parameters
        ----------
        table : pandas.DataFrame, or mapping of column names to columns
            Needs the columns ``item`` and ``label``. The other columns may be missing or have
            gaps (None, NaN, blanks); more columns are ignored.

            - ``answer_id``: rows with the same id are one answer. They must agree in all filled
              columns except ``label`` and ``answer``. A row without an id is one answer.
            - ``label``: a name. A gap means all offered labels: with "yes", in an answer of one
              row that is "named" or "ticked", it says that all offered labels apply. With "no", in
              an answer of one row that is "positive", it says that none applies; in one that is
              "tagged", that there are no tags.
            - ``answer``: "no", "yes" or "unsure"; yes, y, true, 1, n, false, 0, ? and skip mean
              one of them, too. A gap is "no" in "named" and "excluded", and "yes" in "positive" and
              "tagged" beside a label. It is refused in "asked", and in a "ticked" answer without
              "yes" or "no". Rows with "unsure" say nothing; an answer of only these is left out.
            - ``question``: its "no" marks the label as named, absent or excluded; its "yes" marks
              it as positive, tagged or relevant. An answer that is "ticked" and has only "yes"
              ticked what applies: the other offered labels do not. One that has only "no" ticked
              what does not apply: the others do. If it has both, each offered label needs a row;
              "unsure" says that the label was not offered. A gap beside a "yes" is a label that was
              not ticked; so it is beside a "no" if there is a ``probability``. Otherwise such a gap
              is refused.
              Where the question is a gap, ``question`` below holds. If that is None, too, an
              answer is "named" if it has ``asked_for``, if its label is a gap, or if it has
              ``offered`` and only "no". It is "asked" if it has a ``probability``, or if this or
              another such answer says "yes". All others are refused.
            - ``offered``: the offered labels, as a list or as text with a JSON list. Without it,
              all labels were offered; if the question is "asked", only the judged labels.
            - ``asked_for``: by default the number named.
            - ``annotator``: anything; it becomes a name.
            - ``probability``
            - ``drawn``: how the question was drawn; see :class:`Answers`.
            - ``seconds``: how long the person took for the whole answer.
            - ``weight``: how much the answer counts, a number from 0; a gap is 1.
            - ``all_apply``, ``none_applies``: a word of :class:`Answers`; a gap is "answer".
        items : sequence, or None, default=None
            Names of the rows of X as in the column ``item``, in the order of the rows. Some may
            have no answer. By default all that occur, sorted. They become ``item_names``.
        label_names : sequence of str, or None, default=None
            All labels, in the order of the masks' columns. By default all that occur, sorted; a
            warning says so if answers are about all labels.
        question : {"named", "asked", "ticked", "excluded", "positive", "tagged"} or None, \
                default=None
            The question of all answers that have none in the column ``question``.
        contradictions : {"error", "drop", "majority", "trust-relevant", "keep"}, default="error"
        trusted : sequence of str, default=()
            See :func:`resolve_contradictions`.

        Raises
        ------
        AnnotationError
            As :meth:`from_arrays`; also for unknown words, items or labels, for contradictions, and
            if nothing tells what was asked. The message names the answer or the row of the table,
            counted from 0.

        Examples
        --------
        >>> table = {
        ...     "item": ["a", "a", "b"],
        ...     "label": ["sea", "city", "sea"],
        ...     "answer": ["yes", "no", "no"],
        ... }
        >>> answers = Answers.from_table(table, label_names=["city", "forest", "sea"])
        >>> answers
        Answers(2 items, 3 labels, 3 answers: 3 asked)
        >>> answers.complementary
        array([[1, 0, 0],
               [0, 0, 1]], dtype=uint8)
        """
        check_choice("contradictions", contradictions, (*CONTRADICTION_POLICIES, "keep"))
        check_choice("question", question, (None, *BY_QUESTION))
        coded = table if isinstance(table, CodedTable) else CodedTable.of(table)
        arrays, place = read_table(coded, items=items, label_names=label_names, question=question)
        answers = cls(**arrays)
        check_answers(answers, place)
        sorted_answers = answers._sorted()
        if contradictions == "keep" and not trusted:
            return sorted_answers
        return resolve_contradictions(sorted_answers, contradictions, trusted=trusted)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        question: Literal["asked", "ticked"] = "asked",
        annotator: ArrayLike | None = None,
        probability: ArrayLike | None = None,
        label_names: Sequence[str] | None = None,
    ) -> Answers:
        """Make answers from a frame with a row for each item and a column for each label.

        Parameters
        ----------
        frame : data frame or array-like of shape (n_items, n_labels)
            1 (True) where the label applies, 0 (False) where it does not, and a gap (NaN, None,
            ``pandas.NA``) where that is not known. A row may have gaps only. The columns of a data
            frame name the labels; the index of pandas, if it is not the default one, the items.
        question : {"asked", "ticked"}, default="asked"
            "asked": each known cell is an answer, a yes or no about one label. "ticked": the known
            cells of a row are one form, of which somebody ticked all that apply.
        annotator : str or array-like of shape (n_items,), optional
            Who answered all rows, or each. Of several people about the same items, give a frame for
            each, and join the answers by :meth:`concatenate`.
        probability : float or array-like of shape (n_items,), optional
            The chance with which the question of a cell (of a form, if "ticked") was drawn, if
            chance chose what was asked; answers tell how often labels apply only then.
        label_names : sequence of str of length n_labels, optional
            Names for an array; those of a data frame must be the same.

        Raises
        ------
        AnnotationError
            If a cell is anything else, which may be a code or the name of an item; if two rows or
            columns have the same name.

        Examples
        --------
        >>> answers = Answers.from_frame([[1, 0, None], [None, None, None], [None, 0, 0]])
        >>> answers
        Answers(3 items, 3 labels, 4 answers: 4 asked)
        >>> answers.known_relevant
        array([[1, 0, 0],
               [0, 0, 0],
               [0, 0, 0]], dtype=uint8)
        """
        check_choice("question", question, JUDGING)
        cells, items = read_frame(frame), row_names(frame)
        counts = Counter(items)
        if gone := [name for name in counts if counts[name] > 1 or is_gap(name)]:
            raise AnnotationError(
                f"the index of the frame has {gone[0]!r} more than once, or as a gap; give each"
                " item one row and one name. Of several people, give a frame for each, and join"
                " their answers by Answers.concatenate"
            )
        if label_names is not None:
            check_label_names(frame, label_names, name="frame", reference="label_names")
        rows, labels = np.nonzero(~np.isnan(cells))
        item, answer = rows, np.arange(len(rows))
        if question == "ticked":
            item, answer = np.unique(rows, return_inverse=True)
        yes, shape = cells[rows, labels] == 1, (len(item), cells.shape[1])

        def by_row(values: Any, name: str) -> Any:
            each = None if values is None else pair_rows(frame, values)
            return None if each is None else one_each(each, name, len(cells))[item]

        answers = cls.from_arrays(
            absent=mask_of(answer[~yes], labels[~yes], shape),
            relevant=mask_of(answer[yes], labels[yes], shape),
            offered=mask_of(answer, labels, shape),
            question=question,
            item=item,
            annotator=by_row(annotator, "annotator"),
            probability=by_row(probability, "probability"),
            n_items=len(cells),
            label_names=label_names_of(frame) if label_names is None else label_names,
        )
        names = None if items is None else np.fromiter(items, dtype=object, count=len(items))
        return replace(answers, item_names=names)

    @classmethod
    def from_complementary(
        cls, y: IndicatorLike, *, relevant: IndicatorLike | None = None
    ) -> Answers:
        """Make answers from complementary labels: one answer for each row, which names them.

        Parameters
        ----------
        y : array-like or sparse matrix of shape (n_items, n_labels)
            1 where a label does not apply. A row of zeros is an item without an answer.
        relevant : array-like or sparse matrix of shape (n_items, n_labels), or None, default=None
            1 where a label is known to apply. Rows in which ``y`` is all 0 are ignored.

        Returns
        -------
        Answers
            ``asked_for`` is the number of named labels; ``all_apply`` is "never".

        Raises
        ------
        AnnotationError
            If a label is in both matrices, or one is not 0/1.

        Examples
        --------
        >>> answers = Answers.from_complementary([[0, 1, 1], [0, 0, 0]])
        >>> answers.asked_for, answers.answered
        (array([2]), array([ True, False]))
        """
        complementary = check_indicator(y, name="y")
        names = label_names_of(y)
        rows = np.flatnonzero(complementary.any(axis=1))
        known = None
        if relevant is not None:
            known = check_known(relevant, complementary, names, name="y")[rows]
        return cls.from_arrays(
            named=complementary[rows],
            relevant=known,
            question="named",
            item=rows,
            all_apply="never",
            n_items=len(complementary),
            label_names=names,
        )

    @classmethod
    def concatenate(cls, several: Sequence[Answers]) -> Answers:
        """Join several sets of answers about the same items into one.

        The same annotator name means the same person. The result is sorted by item; answers about
        one item keep the order in which they were given.

        Raises
        ------
        AnnotationError
            If there are none, or their items or labels differ.
        """
        parts = list(several)
        if not parts:
            raise AnnotationError("there are no answers to join; give at least one Answers")
        for at, part in enumerate(parts):
            if part.shape != parts[0].shape:
                raise AnnotationError(
                    f"answers 0 have shape {parts[0].shape} (items, labels) but answers {at} "
                    f"{part.shape}; all must be about the same items and labels"
                )
        people = list(dict.fromkeys(name for part in parts for name in part.annotator_names))
        code = {name: at for at, name in enumerate(people)}
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("item", *COLUMNS)
        }
        columns["annotator"] = np.concatenate(
            [  # code -1: last entry
                np.array([*map(code.get, part.annotator_names), -1], dtype=np.intp)[part.annotator]
                for part in parts
            ]
        )
        for name in MASKS:
            stacked = sparse.vstack([getattr(part, name) for part in parts], format="csr")
            columns[name] = as_mask(stacked)
        return replace(
            parts[0],
            label_names=same_names([part.label_names for part in parts], "labels"),
            item_names=same_names([part.item_names for part in parts], "items"),
            annotator_names=tuple(people),
            **columns,
        )._sorted()

    def with_weight(self, weight: ArrayLike) -> Answers:
        """Return the same answers with other weights, which ``fit`` uses.

        A weight says how much an answer counts. If all answers about an item have the weight w,
        the log-probability of them all is multiplied by w, as by a ``sample_weight`` of the item.
        If they differ, an item counts in parts: all answers together with the least weight, those
        of greater weight once more with what the next weight is greater, and so on. For answers
        that are independent given the features, this is the sum of weight times log-probability.

        Parameters
        ----------
        weight : float or array-like of shape (n_answers,)
            From 0. In the order of these answers, which are sorted by item.

        Returns
        -------
        Answers

        Raises
        ------
        AnnotationError
            If a weight is negative or not finite, or there is not one for each answer.

        Examples
        --------
        >>> answers = Answers.from_arrays(named=[[1, 0, 0], [0, 1, 0]]).with_weight([2, 0.5])
        >>> answers[[1]].weight
        array([0.5])
        """
        values = read_column(weight, "weight", self.n_answers, np.float64)
        changed = replace(self, weight=values)
        check_answers(changed, lambda row: f"answer {row} (item {self.item[row]})")
        return changed

    def to_table(self) -> Any:
        """Return the answers as a table with one row for each label of an answer.

        Returns
        -------
        pandas.DataFrame
            The columns that :meth:`from_table` reads, ``time``, which is empty, and ``weight`` and
            ``all_apply`` if these are not the default. Labels that are ``absent`` in a "named"
            answer stand in an answer of their own, which is "asked". Without pandas, a dictionary.

        Notes
        -----
        ``Answers.from_table(table, items=answers.item_names, label_names=answers.label_names,
        contradictions="keep")`` gives the same answers. What has no names is named by its numbers:
        then give ``items=range(n_items)`` and ``label_names=[str(k) for k in range(n_labels)]``.

        Examples
        --------
        >>> answers = Answers.from_frame([[1, None], [0, 1]], label_names=["sea", "sky"])
        >>> print(answers.to_table()[["item", "label", "answer"]].to_string(index=False))
         item label answer
            0   sea    yes
            1   sea     no
            1   sky    yes
        """
        columns = table_of(self)
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ImportError:
            return columns
        return pd.DataFrame(columns)

    def _repr_html_(self) -> str:
        return as_html(self)

    def contradictions(self) -> Ints:
        """Return item and label of each contradiction, (n_contradictions, 2) intp, ascending."""
        pairs = self.statements().contradicted
        return np.column_stack(np.divmod(pairs, self.n_labels)).astype(np.intp)
