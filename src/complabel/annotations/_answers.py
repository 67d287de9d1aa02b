"""What people answered: which question each answer belongs to, and what it says of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from complabel._parameters import check_choice
from complabel.annotations._answers_arrays import MASKS, AnswerArrays
from complabel.annotations._answers_build import build
from complabel.annotations._answers_table import read_table, refuse_contradictions
from complabel.annotations._answers_together import put_together
from complabel.annotations._checks import check_known
from complabel.annotations._indicator import IndicatorLike, check_indicator
from complabel.annotations._names import label_names_of


class Answers(AnswerArrays):
    """What people answered about items, the rows of X: the second argument of ``fit``.

    Make it with :meth:`from_arrays`, :meth:`from_table` or :meth:`from_complementary`. An item may
    have several answers or none. ``answers[rows]`` are the answers about some items, so that
    scikit-learn splits them along with X; as an array they are their complementary labels.

    Each answer belongs to a question about the labels that were ``offered``:

    - "named": name ``asked_for`` of them that do not apply, whichever you like. Fewer are named
      only where no others are left: the rest of those on offer applies. Nothing named says that
      all of them apply. Labels known besides are ``relevant``, or ``absent`` and not on offer.
    - "asked": does each of them apply? "No" is ``absent``, "yes" ``relevant``.
    - "ticked": tick all that do not apply. Those ticked are ``absent``, the others ``relevant``.
    - "excluded": a rule, a report or somebody who does not judge everything ruled some of them
      out, which are ``excluded``; of those left nothing is known. Labels known besides are
      ``absent`` or ``relevant``.

    Attributes
    ----------
    n_items, n_labels : int
    label_names : tuple of str, or None
        What the columns of the masks stand for; None if they are numbers.
    item_names : ndarray of shape (n_items,), or None
        What a table called the items.
    annotator_names : tuple of str
        Of the codes in ``annotator``.
    item : ndarray of shape (n_answers,), dtype intp
        Which row of X each answer is about, ascending.
    question : ndarray of shape (n_answers,), dtype str
        Of :data:`QUESTIONS`.
    annotator : ndarray of shape (n_answers,), dtype intp
        Code of who answered; -1 if unknown.
    asked_for : ndarray of shape (n_answers,), dtype intp
        How many labels were to be named; 0 if the question is not "named".
    probability : ndarray of shape (n_answers,), dtype float64
        The chance with which a random question was drawn; NaN if it was not drawn at random.
    all_apply : ndarray of shape (n_answers,), dtype str
        Of :data:`ALL_APPLY`; it matters where the question is "named".
    offered : sparse.csr_array of shape (n_answers, n_labels), dtype uint8
        The labels that the question is about; a row without entries means all labels.
    named, absent, relevant, excluded : sparse.csr_array of shape (n_answers, n_labels), dtype uint8
        What the answers say. All arrays are read-only.

    Examples
    --------
    >>> answers = Answers.from_arrays(
    ...     named=[[0, 0, 1, 0], [0, 0, 0, 0]],
    ...     offered=[[0, 0, 0, 0], [1, 1, 0, 0]],  # any label; a menu, of which all apply
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
        offered: IndicatorLike | None = None,
        question: str | ArrayLike | None = None,
        item: ArrayLike | None = None,
        annotator: ArrayLike | None = None,
        asked_for: ArrayLike | None = None,
        probability: ArrayLike | None = None,
        all_apply: str | ArrayLike = "answer",
        n_items: int | None = None,
        label_names: Sequence[str] | None = None,
    ) -> Answers:
        """Make answers of masks with one row for each answer.

        Parameters
        ----------
        named, absent, relevant, excluded : array-like or sparse (n_answers, n_labels), optional
            What the answers say, 0/1; at least one. If the question is "ticked", ``relevant`` may
            be left out: labels on offer that are not ticked apply.
        offered : array-like or sparse matrix of shape (n_answers, n_labels), optional
            Labels that each question is about. A row of zeros means all labels; if the question
            is "asked", those judged.
        question : str, array-like of shape (n_answers,), or None, default=None
            Of :data:`QUESTIONS`. Inferred if None: "named" where something is named, else
            "excluded" where something is excluded, else "asked" where something is judged. An
            answer that marks nothing is "named" if a menu was offered: all of these apply. It is
            "excluded" if ``excluded`` was given, and not ``named``.
        item : array-like of shape (n_answers,) of int, optional
            Which row of X each answer is about, in any order; by default 0, 1, 2, ...
        annotator : array-like of shape (n_answers,), optional
            Integers are codes from 0, with -1 for unknown; anything else are names, with None,
            NaN and blanks for unknown.
        asked_for : int or array-like of shape (n_answers,), optional
            How many labels were to be named; by default as many as were, at least 1. An array has
            0 where the question is not "named".
        probability : float or array-like of shape (n_answers,), optional
            The chance with which a random question was drawn; NaN, the default, if it was not.
        all_apply : str or array-like of shape (n_answers,), default="answer"
            Of :data:`ALL_APPLY`.
        n_items : int, optional
            Rows of X; by default up to the last item with an answer.
        label_names : sequence of str of length n_labels, optional
            By default the columns of the first data frame among the masks.

        Returns
        -------
        Answers

        Raises
        ------
        AnnotationError
            If an answer contradicts itself, says nothing, or marks what was not offered; if a
            mask is not 0/1 or arrays do not fit together.

        Examples
        --------
        >>> Answers.from_arrays(absent=[[1, 0, 0], [0, 0, 0]], relevant=[[0, 0, 0], [0, 1, 0]])
        Answers(2 items, 3 labels, 2 answers: 2 asked)
        """
        masks = dict(zip(MASKS, (named, absent, relevant, excluded, offered), strict=True))
        return build(
            cls,
            masks,
            question=question,
            item=item,
            annotator=annotator,
            asked_for=asked_for,
            probability=probability,
            all_apply=all_apply,
            n_items=n_items,
            label_names=label_names,
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        items: Sequence[Any] | None = None,
        labels: Sequence[str] | None = None,
        conflicts: Literal["error", "keep"] = "error",
    ) -> Answers:
        """Make answers of a table with one row for each label of an answer.

        Parameters
        ----------
        table : pandas.DataFrame, or mapping of column names to columns
            Needs the columns ``item`` and ``label``; the others may lack or have gaps (None, NaN,
            blanks).

            - ``answer_id``: rows with the same one are one answer, and agree in all columns but
              ``label`` and ``answer``, as far as these are filled. A row without is an answer.
            - ``label``: a name. A gap stands for all labels on offer, in an answer of one row:
              "named" or "ticked" with "yes" says that all of these apply.
            - ``answer``: "no" (the default, but for "asked" with a ``probability``, which needs
              one), "yes" or "unsure". Rows with "unsure" say nothing,
              and an answer of such rows alone is left out; in "ticked", the label was not offered.
            - ``question``: see :class:`Answers`. Its "no" is named, absent, ticked or excluded;
              its "yes" is relevant. Where there is none, an answer with ``asked_for`` or without
              a label is "named", and so is one of "no" alone with ``offered``; any other is
              "asked".
            - ``offered``: labels on offer, as a list or as text, a JSON list. Without it all
              labels were; those judged, if "asked".
            - ``asked_for``: how many labels were to be named; without it, as many as were.
            - ``annotator``: anything; it becomes a name.
            - ``probability``: see :class:`Answers`.

            Other columns, ``time`` among them, are left alone.
        items : sequence, or None, default=None
            What ``item`` calls the rows of X, in their order; there may be some without answers.
            By default all that occur, sorted; they are the result's ``item_names`` in any case.
        labels : sequence of str, or None, default=None
            All labels, in the order of the columns to be. By default all that occur, sorted.
        conflicts : {"error", "keep"}, default="error"
            What to do if one answer says that a label applies to an item and another denies it.

        Returns
        -------
        Answers

        Raises
        ------
        AnnotationError
            As :meth:`from_arrays`, with the row of the table (from 0) or the answer; for unknown
            words, items or labels, and for conflicts.

        Examples
        --------
        >>> table = {
        ...     "item": ["a", "a", "b"],
        ...     "label": ["sea", "city", "sea"],
        ...     "answer": ["yes", "no", "no"],
        ... }
        >>> answers = Answers.from_table(table, labels=["city", "forest", "sea"])
        >>> answers
        Answers(2 items, 3 labels, 3 answers: 3 asked)
        >>> answers.complementary
        array([[1, 0, 0],
               [0, 0, 1]], dtype=uint8)
        """
        check_choice("conflicts", conflicts, ("error", "keep"))
        made = read_table(table, items=items, labels=labels).make(cls)
        if conflicts == "error":
            refuse_contradictions(made)
        return made

    @classmethod
    def from_complementary(
        cls, y: IndicatorLike, *, relevant: IndicatorLike | None = None
    ) -> Answers:
        """Make answers of complementary labels: of each row, one that names them.

        Parameters
        ----------
        y : array-like or sparse matrix of shape (n_items, n_labels)
            1 where a label does not apply. A row without any is an item without an answer.
        relevant : array-like or sparse matrix of shape (n_items, n_labels), or None, default=None
            Labels known to apply; they are lost where a row of ``y`` has no mark.

        Returns
        -------
        Answers
            As many labels were asked for as are named; all labels never apply.

        Raises
        ------
        AnnotationError
            If a matrix is not 2-D or not 0/1, or a label is in both.

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
        """Put answers about the same items together.

        Parameters
        ----------
        several : sequence of Answers
            About as many items and the same labels. Annotators of one name are one person.

        Returns
        -------
        Answers
            Those about one item in the order given.

        Raises
        ------
        AnnotationError
            If there are none, or their items or labels differ.
        """
        return put_together(several)
