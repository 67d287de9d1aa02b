r"""The likelihood of any mix of answers about items, exactly where one integral does it.

Labels are independent given x with p_k = sigmoid(z_k). *Facts* about a label, answers that judge
it, or rules that exclude it, multiply its two cases; what they leave shifts its logit. *Namings* of
some of the labels on offer follow, given the facts. Several namings of one label from one menu are
one integral, too. Namings beyond are multiplied, each given the facts: a composite likelihood,
which is consistent but loses what several answers say together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from complabel.errors import InputError
from complabel.losses._evaluation import Evaluation, Point
from complabel.losses._facts import lay_out_facts
from complabel.losses._naming_groups import lay_out_namings
from complabel.losses._namings import add_namings, add_skips

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from complabel.annotations import Answers


class AnswersLikelihood:
    """The likelihood of some answers, laid out once and computed for many logits.

    Parameters
    ----------
    answers : Answers
    exclusion_rates : ndarray of shape (K,) or None, default=None
        How often a label that does not apply is excluded.
    mistakes : bool, default=False
        Whether annotators make mistakes; then a call takes their rates.
    dtype : torch.dtype, default=torch.float64
        Of the logits: float64 or float32.
    device : torch.device or str, default="cpu"
        Of the logits.

    Raises
    ------
    AnnotationError
        If the answers contradict each other, and there are no mistakes.
    InputError
        If labels were excluded, and the rates are not known.
    """

    def __init__(
        self,
        answers: Answers,
        *,
        exclusion_rates: NDArray[np.float64] | None = None,
        mistakes: bool = False,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
    ) -> None:
        where: Any = {"mistakes": mistakes, "dtype": dtype, "device": torch.device(device)}
        self.shape = answers.shape
        self.dtype = dtype
        self.mistakes = mistakes
        self._facts = lay_out_facts(answers, exclusion_rates=exclusion_rates, **where)
        self._groups = lay_out_namings(answers, **where)

    @torch.no_grad()
    def __call__(
        self,
        logits: Tensor,
        *,
        log_propensities: Tensor | None = None,
        error_rates: Tensor | None = None,
    ) -> Evaluation:
        """Evaluate the likelihood and its gradients; autograd is not needed, and records nothing.

        Parameters
        ----------
        logits : tensor of shape (n, K)
        log_propensities : tensor of shape (K,) or (n, K) or None, default=None
            Those of each label, or of each item and label. None where all labels come to mind
            alike.
        error_rates : tensor of shape (R + 1,) or None, default=None
            In [0, 1]: of each annotator, and of the unknown one. Given where there are mistakes.

        Returns
        -------
        Evaluation

        Raises
        ------
        InputError
            If logits have another shape or dtype than was laid out, or error rates are given
            without mistakes or lack with them.
        """
        self._check(logits, error_rates)
        point = Point.at(logits, log_propensities, error_rates)
        found = Evaluation.empty(point)
        shift = None if self._facts is None else self._facts.add_evidence(point, found)
        if not self._groups:
            return found
        given_facts = point.logits
        if self._facts is not None and shift is not None:
            given_facts = self._facts.shifted(point.logits, shift)
        through_given = torch.zeros_like(given_facts)
        for group in self._groups:
            add_namings(group, point, given_facts, found, through_given)
            add_skips(group, point, found)
        # Facts shift logits by what does not depend on them.
        found.through_logits.add_(through_given)
        if self._facts is not None:
            self._facts.add_through_shift(point, through_given, found)
        return found

    def _check(self, logits: Tensor, error_rates: Tensor | None) -> None:
        """Refuse what the answers were not laid out for."""
        if tuple(logits.shape) != self.shape:
            raise InputError(
                f"logits have shape {tuple(logits.shape)}, and answers are about {self.shape[0]}"
                f" items and {self.shape[1]} labels; give one row per item"
            )
        if logits.dtype != self.dtype:
            raise InputError(
                f"logits are {logits.dtype}, but answers were laid out for {self.dtype}; give that"
            )
        if self.mistakes != (error_rates is not None):
            found, advice = ("with", "give") if self.mistakes else ("without", "leave out")
            raise InputError(f"answers were laid out {found} mistakes; {advice} error_rates")
