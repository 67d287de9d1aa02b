"""The log-likelihood of answers, as a function that torch can differentiate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from complabel.errors import InputError
from complabel.losses._answers_likelihood import AnswersLikelihood
from complabel.losses._settings import check_propensities, check_rates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from complabel.answers import Answers


def answers_log_likelihood(
    logits: Tensor,
    answers: Answers,
    *,
    propensities: ArrayLike | None = None,
    error_rates: ArrayLike = 0.0,
    exclusion_rates: ArrayLike | None = None,
) -> Tensor:
    """Compute the log-probability of all that people answered about each item.

    Parameters
    ----------
    logits : tensor of shape (n, K)
        The logits z: a label applies with probability p = sigmoid(z).
    answers : Answers
        Answers about the n items: any mix of namings, judged labels and exclusions.
    propensities : array-like of shape (K,) or None, default=None
        How readily each label comes to mind, relative to the others. None: all alike.
    error_rates : float or array-like of shape (R,), default=0.0
        Probability, in [0, 1], that an answer is a mistake: drawn at random from all answers that
        the question allows. One number for all, or one for each annotator code. Annotators that
        are unknown have the mean rate. If an answer judges several labels, each judgement is a
        mistake with this probability.
    exclusion_rates : float, array-like of shape (K,) or None, default=None
        Probability, in [0, 1], that a label that does not apply is excluded. It must be given if
        ``answers`` hold exclusions.

    Returns
    -------
    tensor of shape (n,)
        Log-probabilities in nats; 0 for an item without an answer. First derivatives are
        available, second derivatives are not.

    Raises
    ------
    AnnotationError
        If answers contradict each other and no mistakes are allowed.
    InputError
        If shapes do not fit, a rate is out of range, or exclusion rates are missing.

    See Also
    --------
    AnswersLikelihood : The same, laid out once for many logits and for batches.
    selection_log_likelihood : The case of labels that were named freely.

    Notes
    -----
    Any number of judged labels and exclusions of an item is treated exactly. So are, in addition,
    namings of one label each from the same menu, or one naming of several labels. All other
    namings of an item are multiplied, each with its probability given the facts; so are several
    namings if there are mistakes. That is a composite likelihood. Integrals are exact to rounding
    up to 24 labels, and have a relative error below 1e-8 beyond.

    Examples
    --------
    >>> from complabel.answers import Answers
    >>> asked = Answers.from_arrays(relevant=[[1, 0, 0]], offered=[[1, 0, 0]])  # "is it 0?": yes
    >>> float(answers_log_likelihood(torch.zeros(1, 3), asked).exp())
    0.5
    """
    rates = check_rates("error_rates", error_rates, len(answers.annotator_names), "annotator")
    unknown = rates.mean() if len(rates) else float(np.asarray(error_rates))
    excluded = None
    if exclusion_rates is not None:
        excluded = check_rates("exclusion_rates", exclusion_rates, answers.n_labels, "label")
    if not logits.is_floating_point():
        raise InputError(f"logits are {logits.dtype}; give floats, the values before a sigmoid")
    # In half precision, the log-odds of settled labels (1e30) and small probabilities overflow.
    precise = logits if logits.dtype == torch.float64 else logits.float()
    mistakes = bool(unknown > 0)
    likelihood = AnswersLikelihood(
        answers,
        exclusion_rates=excluded,
        mistakes=mistakes,
        dtype=precise.dtype,
        device=precise.device,
    )

    def tensor(values: NDArray[np.float64]) -> Tensor:
        return torch.as_tensor(values, dtype=precise.dtype, device=precise.device)

    log_w = None
    if propensities is not None:
        log_w = tensor(np.log(check_propensities(propensities, answers.n_labels)))
    return likelihood.log_likelihood(
        precise,
        log_propensities=log_w,
        error_rates=tensor(np.append(rates, unknown)) if mistakes else None,
    ).to(logits.dtype)
