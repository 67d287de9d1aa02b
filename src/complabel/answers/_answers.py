"""The class ``Answers``: what people answered about items, and to which question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from complabel._parameters import check_choice
from complabel.answers._answers_arrays import MASKS, AnswerArrays
from complabel.answers._answers_build import build
from complabel.answers._answers_table import read_table
from complabel.answers._answers_together import put_together
from complabel.answers._checks import check_known
from complabel.answers._indicator import IndicatorLike, check_indicator
from complabel.answers._names import label_names_of
from complabel.answers._questions import QUESTIONS, Question
from complabel.answers._statements import (
    CONTRADICTION_POLICIES,
    ContradictionPolicy,
    Statements,
    find_contradictions,
    resolve_contradictions,
)


class Answers(AnswerArrays):
    """Answers that people gave about items (the rows of X); the second argument of ``fit``.

    Make it with :meth:`from_arrays`, :meth:`from_table` or :meth:`from_complementary`. An item may
    have several answers or none. ``answers[rows]`` gives the answers about some items, so
    scikit-learn can split them together with X. They never become an array, which would lose what
    was asked: ``np.asarray`` raises an AnnotationError. :attr:`complementary` has the labels that
    do not apply.

    Each answer belongs to a question about the labels that were ``offered``:

    - "named": name ``asked_for`` labels that do not apply. The annotator chooses which ones. If
      fewer are named, all other offered labels apply. If none is named, all offered labels apply.
      More may be known: labels that apply are ``relevant``; labels that do not apply are
      ``absent``, and these must not be offered.
    - "asked": does each offered label apply? "No" is ``absent``, "yes" is ``relevant``.
    - "ticked": tick all labels that do not apply. These are ``absent``, the others ``relevant``.
    - "excluded": a rule, a report or a person ruled some labels out. These are ``excluded``.
      Nothing is known about the other labels, unless they are ``absent`` or ``relevant``.

    Attributes
    ----------
    n_items, n_labels : int
        Number of items (rows of X) and of labels.
    label_names : tuple of str, or None
        Names of the labels; None if they have only numbers.
    item_names : ndarray of shape (n_items,), dtype object, or None
        Names of the items; None if the answers do not come from a table.
    annotator_names : tuple of str
        Names of the annotators: code k in ``annotator`` stands for entry k.
    item : ndarray of shape (n_answers,), dtype intp
        Row of X that each answer is about, in ascending order.
    question : ndarray of shape (n_answers,), dtype str
        Question that each answer belongs to, one of :data:`QUESTIONS`.
    annotator : ndarray of shape (n_answers,), dtype intp
        Code of the person who answered; -1 if unknown.
    asked_for : ndarray of shape (n_answers,), dtype intp
        How many labels were to be named; 0 if the question is not "named".
    probability : ndarray of shape (n_answers,), dtype float64
        Probability with which a random question was drawn; NaN if it was not drawn at random.
    all_apply : ndarray of shape (n_answers,), dtype str
        What the annotator does if all offered labels apply, one of :data:`ALL_APPLY`. Only used
        if the question is "named".
    offered : sparse.csr_array of shape (n_answers, n_labels), dtype uint8
        The labels that the question is about; a row without entries means all labels.
    named, absent, relevant, excluded : sparse.csr_array of shape (n_answers, n_labels), dtype uint8
        1 where the answer says this about the label. All arrays are read-only.

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
        """Make answers from masks with one row for each answer.

        Parameters
        ----------
        named, absent, relevant, excluded : array-like or sparse (n_answers, n_labels), optional
            What the answers say, 0/1. At least one mask is needed. If the question is "ticked",
            ``relevant`` may be left out: offered labels that are not ticked apply.
        offered : array-like or sparse matrix of shape (n_answers, n_labels), optional
            Labels that each question is about. A row of zeros means all labels; if the question
            is "asked", it means the judged labels.
        question : str, array-like of shape (n_answers,), or None, default=None
            One of :data:`QUESTIONS`. None infers it from the first rule that fits: "named" if the
            answer names a label, "excluded" if it excludes one, "asked" if it judges one. An
            answer that marks nothing, if ``named`` was given and a menu was offered, is "named":
            all labels of the menu apply. If ``excluded`` but not ``named`` was given, it is
            "excluded".
        item : array-like of shape (n_answers,) of int, optional
            Row of X that each answer is about, in any order; by default 0, 1, 2, ...
        annotator : array-like of shape (n_answers,), optional
            Integers are codes from 0, and -1 means unknown. All other values are names; None, NaN
            and blanks mean unknown.
        asked_for : int or array-like of shape (n_answers,), optional
            How many labels were to be named. By default the number that was named, at least 1. In
            an array, give 0 where the question is not "named".
        probability : float or array-like of shape (n_answers,), optional
            Probability with which a random question was drawn; NaN, the default, if it was not.
        all_apply : str or array-like of shape (n_answers,), default="answer"
            See :class:`Answers`.
        n_items : int, optional
            Number of rows of X; by default up to the last item with an answer.
        label_names : sequence of str of length n_labels, optional
            By default the columns of the first data frame among the masks.

        Returns
        -------
        Answers

        Raises
        ------
        AnnotationError
            If an answer contradicts itself, says nothing, or marks a label that was not offered;
            if a mask is not 0/1 or arrays do not fit together.
        InputError
            If ``n_items`` is not an integer of at least 0.

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
        question: Question | None = None,
        contradictions: ContradictionPolicy | Literal["keep"] = "error",
    ) -> Answers:
        """Make answers from a table with one row for each label of an answer.

        Parameters
        ----------
        table : pandas.DataFrame, or mapping of column names to columns
            Needs the columns ``item`` and ``label``. The other columns may be missing or have
            gaps (None, NaN, blanks).

            - ``answer_id``: rows with the same id are one answer. They must agree in all filled
              columns except ``label`` and ``answer``. A row without an id is one answer.
            - ``label``: a name. A gap means all offered labels: with "yes", in an answer of one
              row that is "named" or "ticked", it says that all offered labels apply.
            - ``answer``: "no" (the default), "yes" or "unsure", or another word for one of them:
              :data:`ANSWER_WORDS`. "asked" has no default if the table has any answer, or if
              there is a ``probability``. Rows with "unsure" say nothing; an answer of only such
              rows is left out. In "ticked", "unsure" means that the label was not offered.
            - ``question``: see :class:`Answers`. Its "no" marks the label as named, absent or
              excluded; its "yes" marks it as relevant. Where it is a gap, ``question`` below
              holds. If that is None, too, an answer is "named" if it has ``asked_for``, if its
              label is a gap, or if it has ``offered`` and only "no". It is "asked" if it has a
              ``probability``, or if this or another such answer says "yes". All others are
              refused, because nothing tells what was asked.
            - ``offered``: the offered labels, as a list or as text with a JSON list. Without it,
              all labels were offered; if the question is "asked", only the judged labels.
            - ``asked_for``: how many labels were to be named; by default the number named.
            - ``annotator``: anything; it becomes a name.
            - ``probability``: see :class:`Answers`.

            Other columns, such as ``time``, are ignored.
        items : sequence, or None, default=None
            Names of the rows of X as in the column ``item``, in the order of the rows. Some may
            have no answer. By default all that occur, sorted. They become ``item_names``.
        labels : sequence of str, or None, default=None
            All labels, in the order of the masks' columns. By default all that occur, sorted; a
            warning says so if answers are about all labels.
        question : {"named", "asked", "ticked", "excluded"} or None, default=None
            The question of all answers that have none in the column ``question``.
        contradictions : {"error", "drop", "majority", "trust-relevant", "keep"}, default="error"
            What to do if one answer says that a label applies to an item and another denies it:
            see :func:`resolve_contradictions`. "keep" keeps all answers.

        Returns
        -------
        Answers

        Raises
        ------
        AnnotationError
            As :meth:`from_arrays`; also for unknown words, items or labels, for contradictions, and
            if nothing tells what was asked. The message names the answer or the row of the table,
            counted from 0.
        InputError
            If ``question`` or ``contradictions`` is none of the allowed words.

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
        check_choice("contradictions", contradictions, (*CONTRADICTION_POLICIES, "keep"))
        check_choice("question", question, (None, *QUESTIONS))
        made = read_table(table, items=items, labels=labels, question=question).make(cls)
        return made if contradictions == "keep" else resolve_contradictions(made, contradictions)

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
        """Join several sets of answers about the same items into one.

        Parameters
        ----------
        several : sequence of Answers
            All must have the same items and labels. The same annotator name means the same person.

        Returns
        -------
        Answers
            Sorted by item; answers about one item keep the order in which they were given.

        Raises
        ------
        AnnotationError
            If there are none, or their items or labels differ.
        """
        return put_together(several)

    def statements(self) -> Statements:
        """Return what the answers say, one statement for each label.

        This includes what follows: if fewer labels are named than asked for, all other offered
        labels apply.

        Returns
        -------
        Statements

        Examples
        --------
        >>> answers = Answers.from_arrays(absent=[[1, 0]], relevant=[[0, 1]], item=[2])
        >>> said = answers.statements()
        >>> said.item, said.label, said.applies
        (array([2, 2]), array([0, 1]), array([False,  True]))
        """
        return Statements.of(self)

    def contradictions(self) -> NDArray[np.intp]:
        """Return the items and labels about which answers contradict each other.

        Returns
        -------
        ndarray of shape (n_contradictions, 2), dtype intp
            Item and label of each contradiction, in ascending order.
        """
        pairs = find_contradictions(self.statements())
        return np.column_stack(np.divmod(pairs, self.n_labels)).astype(np.intp)
