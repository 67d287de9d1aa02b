"""Time one evaluation of the flagship's objective on the processor and, if there is one, on a GPU.

An evaluation is what each step of L-BFGS needs: the logits of all rows, the likelihood of one
answer about each with its gradient, and the product of that gradient with the features. Features
and labels are random. Prints Markdown: the shortest of several repeats, and the greatest error of
the gradient, as a share of its largest entry, against the processor's in double precision.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from complabel.losses import AnswersLikelihood
from complabel.simulate import draw_answers

# Rows, features and labels.
CASES = [(100_000, 768, 20), (100_000, 768, 80), (1_000_000, 256, 20)]
SHARE = 0.1  # of labels that apply


class Evaluation:
    """The value and the gradient (K, d) at weights (K, d), with everything on one device."""

    def __init__(self, X, coef, answers, device: str, dtype: torch.dtype) -> None:
        self.X = torch.from_numpy(X).to(device, dtype)
        self.coef = torch.from_numpy(coef).to(device, dtype)
        self.likelihood = AnswersLikelihood(answers, dtype=dtype, device=device)

    @torch.inference_mode()
    def __call__(self) -> tuple[float, torch.Tensor]:
        """Return the value and the gradient, once the device is done."""
        # Label by label, as in the fit: the likelihood reads it so.
        logits = torch.mm(self.coef, self.X.t()).t()
        found = self.likelihood(logits)
        gradient = torch.mm(found.through_logits.t(), self.X)
        # A transfer to the processor waits until the GPU is done.
        return float(found.values.sum()), gradient.cpu()


def seconds_of(evaluate: Evaluation, repeats: int) -> tuple[float, float]:
    """Return the seconds of the clock and of the processor, each the least of some repeats."""
    evaluate()  # the first call makes what later ones reuse
    clock, processor = [], []
    for _ in range(repeats):
        began, worked = time.perf_counter(), time.process_time()
        evaluate()
        clock.append(time.perf_counter() - began)
        processor.append(time.process_time() - worked)
    return min(clock), min(processor)


def ways(threads: Sequence[int]) -> Iterator[tuple[str, str, int]]:
    """Yield a name, the device and the threads of the processor."""
    for number in threads:
        yield f"processor, {number} thread{'s' * (number > 1)}", "cpu", number
    if torch.cuda.is_available():
        yield torch.cuda.get_device_name(), "cuda", 1


def rows_of_case(shape, question: str, repeats: int, threads: Sequence[int]) -> Iterator[str]:
    """Yield a row of the table for each way to evaluate."""
    n, d, n_labels = shape
    rng = np.random.default_rng(0)
    Y = (rng.random((n, n_labels)) < SHARE).astype(np.uint8)
    answers = draw_answers(Y, question=question, random_state=0)
    coef = rng.standard_normal((n_labels, d)) / np.sqrt(d)
    X, exact, first = rng.standard_normal((n, d), dtype=np.float32), None, 0.0
    for dtype in (torch.float64, torch.float32):
        for name, device, number in ways(threads):
            torch.set_num_threads(number)
            evaluate = Evaluation(X, coef, answers, device, dtype)
            gradient = evaluate()[1].double()
            exact = gradient if exact is None else exact
            clock, processor = seconds_of(evaluate, repeats)
            first = first or clock
            error = float((gradient - exact).abs().max() / exact.abs().max())
            cells = [f"{n:,} x {d}, {n_labels} labels", question, str(dtype)[6:], name]
            cells += [f"{clock:.3f}", "" if device == "cuda" else f"{processor:.2f}"]
            yield f"| {' | '.join(cells)} | {first / clock:.1f} | {error:.0e} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows, to try it")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="of the processor")
    parser.add_argument("--question", nargs="+", default=["asked", "free"])
    given = parser.parse_args()
    if not torch.cuda.is_available():
        print("There is no GPU that torch can use here: only the processor is measured.\n")
    print("| features | answers | type | on | seconds | processor seconds | times | error |")
    print("|---|---|---|---|--:|--:|--:|--:|", flush=True)
    for n, d, n_labels in CASES:
        for question in given.question:
            shape = (int(n * given.share), d, n_labels)
            for row in rows_of_case(shape, question, given.repeats, given.threads):
                print(row, flush=True)


if __name__ == "__main__":
    main()
