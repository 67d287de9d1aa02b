"""What losses do at their edges: how many of all are right, and which are not.

    python -m benchmarks.loss_edges

Each loss, with each kind of settings, is tried on two rows of three labels. "Right" is what the
functions below say, to 1 in 10,000.
"""

import argparse
import contextlib

import numpy as np
import torch

from complabel.errors import ComplabelError
from complabel.experiments import losses as compared
from complabel.losses import ComplementaryCrossEntropy, MLCLLoss, SelectionLikelihoodLoss

RATES, T = [0.5, 0.4, 0.9], (1 - torch.eye(3)) / 2
MAKE = {
    "MLCL": lambda: MLCLLoss(T),
    "softmax": ComplementaryCrossEntropy,
    "selection": SelectionLikelihoodLoss,
    "selection, c": lambda: SelectionLikelihoodLoss(cardinality=1.5),
    "selection, propensities": lambda: SelectionLikelihoodLoss(propensities=[1.0, 2.0, 3.0]),
    "GDF": compared.GDFLoss,
    "unbiased": compared.UnbiasedBCELoss,
    "L-UW": compared.LUWLoss,
    "CTL": compared.CTLLoss,
    "ComRank": compared.ExponentialRankingLoss,
    "CCMN": lambda: compared.CCMNLoss(RATES),
    "COMES-HL": lambda: compared.COMESHammingLoss(RATES),
    "COMES-RL": lambda: compared.COMESRankingLoss(RATES),
}
LOGITS = torch.tensor([[4.0, -1.0, 7.0], [6.0, 5.0, -2.0]])
NAMED = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def found(loss, logits, named, *, around=None):
    """Return the value and the gradient, as one list of numbers."""
    leaf = logits.clone().requires_grad_()
    with around or contextlib.nullcontext():
        value = loss(leaf, named)
    value.backward()
    return [value.item(), *leaf.grad.double().flatten().tolist()]


def alike(one, other):
    """Whether all numbers are finite, and equal to 1 in 10,000."""
    return bool(np.isfinite(one).all()) and np.allclose(one, other, rtol=1e-4, atol=1e-4)


def autocast(make):
    """Whether the gradient under autocast is the one without."""
    around = torch.autocast("cpu", torch.bfloat16)
    return alike(found(make(), LOGITS, NAMED, around=around), found(make(), LOGITS, NAMED))


def half(make):
    """Whether logits in half precision are taken, and the value is not rounded to it."""
    value = make()(LOGITS.bfloat16(), NAMED)
    return value.dtype == torch.float32 and alike([float(value)], [float(make()(LOGITS, NAMED))])


def double(make):
    """Whether a loss in double precision takes logits in single."""
    return alike(found(make().double(), LOGITS, NAMED), found(make(), LOGITS, NAMED))


def unnamed(make):
    """Whether a row without a label adds nothing to the sum, and gets no gradient."""
    named = NAMED * torch.tensor([[1.0], [0.0]])
    value, *slopes = found(make(), LOGITS, named)
    alone = found(make(), LOGITS[:1], named[:1])[0]
    return alike([2 * value], [alone]) and not any(slopes[3:])


def refused(make):
    """Whether .5, -1 and NaN among the labels are each refused."""
    for wrong in (0.5, -1.0, torch.nan):
        named = NAMED.clone()
        named[0, 0] = wrong
        with contextlib.suppress(ComplabelError):
            make()(LOGITS, named)
            return False
    return True


def infinite(make):
    """Whether the value and the gradient are finite with a logit of -inf."""
    logits = LOGITS.clone()
    logits[0, 0] = logits[1, 2] = -torch.inf
    return bool(np.isfinite(found(make(), logits, NAMED)).all())


def empty(make):
    """Whether the loss of no rows is 0."""
    return float(make()(LOGITS[:0], NAMED[:0])) == 0


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    print(f"| case | right, of {len(MAKE)} | not right |\n|---|--:|---|")
    for case in (autocast, half, double, unnamed, refused, infinite, empty):
        wrong = []
        for name, make in MAKE.items():
            try:
                fine = case(make)
            except (RuntimeError, ValueError) as error:
                fine, name = False, f"{name} ({type(error).__name__})"
            wrong += [] if fine else [name]
        print(f"| {case.__name__} | {len(MAKE) - len(wrong)} | {', '.join(wrong)} |")


if __name__ == "__main__":
    main()
