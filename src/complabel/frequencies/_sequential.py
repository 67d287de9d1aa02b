"""How often a label applies, if people answer until it is known, or until they have had enough.

An interval for a number of answers that was fixed before holds too seldom if somebody looks at it
after each answer, and stops when it is short. Two intervals allow for that. One is for a goal: ask
until the interval is no longer than this. When a label reaches its goal depends on its own answers
alone, so the chance that the interval misses is a finite sum over all their courses, and the level
is such that it is at most 5 %, whatever the frequency. The other one holds whenever somebody
stops, for any reason, and is longer.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy import special

from complabel._parameters import Array, Bools
from complabel.frequencies._counts import Audit

# The level of intervals of Clopper and Pearson, both tails together. With it, at most 5 % of the
# intervals miss the share at the moment when they are short enough, for any number of items: tests
# and benchmarks/until.py add up all courses. Wide intervals need few answers, so each answer
# changes them much; their level is less.
_LEVEL, _LEVEL_OF_WIDE = 0.036, 0.03
_WIDE = 0.06  # half of the length
# Mistakes of the interval that holds at all times.
_WHENEVER = 0.05
_PRIOR = 0.5  # of Jeffreys, for yes and for no
_HALVINGS = 50
_LEAST = 1e-12
_SHARES = (1 - np.cos(np.linspace(0, np.pi, 201))) / 2  # many near 0 and 1
_ROUNDS = 5
_STEP, _MOST_STEPS = 0.2, 200  # answers of a simulated sitting at once, as a share of what is left
_ROUNDING = 1e-6  # of a number of items
# Beside predictions, a judgement is worth several. How many is estimated from the same answers, so
# the estimate is multiplied by this: at most 5 in 100 sittings stop falsely (benchmarks/until.py).
_WORTH = 0.8
# The number of answers that are left, beside a machine. With this prior of the machine's errors and
# this spread, its intervals hold in about 80 of 100 sittings (scene, one label).
_PRIOR_OF_ERRORS = 0.25  # for yes and for no
_SPREAD = 2.0  # of the number's logarithm, over the root of the answers so far


def interval_at_goal(
    yes: Array, judged: Array, within: Array | float, n_items: Array | float = math.inf
) -> Array:
    """Return intervals (K, 2) of shares, for who stops when half of an interval is ``within``.

    The shares are those among ``n_items``, or (K,) numbers of items, of which some were judged. An
    infinite number is right for any, and needs more answers.
    """
    n_yes, n_no = yes, judged - yes
    if np.isfinite(n_items).all():  # what was judged is known: the rest tells less and less
        factor = (n_items - 1) / (n_items - judged + 1)
        n_yes, n_no = n_yes * factor, n_no * factor
    half = np.where(np.asarray(within) > _WIDE, _LEVEL_OF_WIDE, _LEVEL) / 2
    low = special.betaincinv(np.maximum(n_yes, _LEAST), n_no + 1, half)
    high = special.betaincinv(n_yes + 1, np.maximum(n_no, _LEAST), 1 - half)
    ends = np.stack([np.where(n_yes > 0, low, 0.0), np.where(n_no > 0, high, 1.0)], axis=-1)
    if np.isfinite(n_items).all():  # a label applies to a whole number of items
        ends[..., 0] = np.maximum(np.floor(ends[..., 0] * n_items + _ROUNDING), yes) / n_items
        most = n_items - (judged - yes)
        ends[..., 1] = np.minimum(np.ceil(ends[..., 1] * n_items - _ROUNDING), most) / n_items
    return ends


def interval_whenever(yes: Array, judged: Array) -> Array:
    """Return intervals (K, 2) of shares, for who stops at any time and for any reason.

    A share is in the interval as long as the answers are not 20 times as probable if it was drawn
    from Jeffreys' prior (Robbins, "Statistical methods related to the law of the iterated
    logarithm", Annals of Mathematical Statistics 1970). By Ville's inequality, in 95 of 100
    sittings it is never left out.
    """
    no = judged - yes
    mixture = special.betaln(yes + _PRIOR, no + _PRIOR) - special.betaln(_PRIOR, _PRIOR)

    def left_out(share: Array) -> Array:
        log_likelihood = special.xlogy(yes, share) + special.xlog1py(no, -share)
        return np.asarray(mixture - log_likelihood >= -np.log(_WHENEVER))

    middle = np.where(judged > 0, yes / np.maximum(judged, 1), _PRIOR)
    ends = []
    for end in (np.zeros_like(middle), np.ones_like(middle)):
        outer, inner = end, middle
        for _ in range(_HALVINGS):
            at = (outer + inner) / 2
            is_out = left_out(at)
            outer, inner = np.where(is_out, at, outer), np.where(is_out, inner, at)
        ends.append(np.where(left_out(end), outer, end))
    return np.stack(ends, axis=-1)


def answers_left(
    yes: Array,
    judged: Array,
    within: Array,
    n_items: Array | float = math.inf,
    *,
    n_draws: int,
    rng: np.random.Generator,
) -> Array:
    """Draw (D, K) how many more answers the intervals at the goal need to be ``within`` (K,)."""
    left = _drawn_left(yes, judged, within, n_items, n_draws, rng)
    ends = interval_at_goal(yes, judged, within, n_items)
    return np.where((ends[:, 1] - ends[:, 0]) / 2 <= within, 0.0, left)


def _drawn_left(
    yes: Array,
    judged: Array,
    within: Array,
    n_items: Array | float,
    n_draws: int,
    rng: np.random.Generator,
) -> Array:
    """Draw (D, K) how many more answers are needed; at least one, and what was answered stays."""
    # First the share of "yes" among the answers to come is drawn, then these answers: several at
    # once while the goal is far, at last one by one.
    shape, usual = (n_draws, len(yes)), (yes.sum() + _PRIOR) / (judged.sum() + 2 * _PRIOR)
    # The share of yes of all labels together counts like one more answer about each label.
    share = rng.beta(yes + usual, judged - yes + 1 - usual, shape)
    drawn_yes, total = np.broadcast_to(yes, shape).copy(), np.broadcast_to(judged, shape).copy()
    answers_left, step = np.empty(shape), np.ones(shape, dtype=np.intp)
    widths, place = np.unique(within, return_inverse=True)
    for _ in range(_MOST_STEPS):
        drawn_yes += rng.binomial(step, share)
        total += step
        for number, width in enumerate(widths.tolist()):
            at = place == number
            answers_left[:, at] = np.interp(
                drawn_yes[:, at] / total[:, at], _SHARES, _answers_needed(width)
            )
        far = answers_left / (1 + answers_left / n_items) - total  # of so many items
        step = np.where(far > 0, np.maximum(far * _STEP, 1), 0).astype(np.intp)
        if not step.any():
            break
    return np.asarray(total - judged)


@functools.cache
def _answers_needed(within: float) -> Array:
    """Return how many answers make an interval short enough, where these shares of them are yes."""
    low, high = np.ones_like(_SHARES), np.full_like(_SHARES, 2 / within**2)
    for _ in range(_HALVINGS):
        n = (low + high) / 2
        ends = interval_at_goal(_SHARES * n, n, within)
        enough = (ends[:, 1] - ends[:, 0]) / 2 <= within
        low, high = np.where(enough, low, n), np.where(enough, n, high)
    return high


def beside_predictions(
    audit: Audit,
    predicted: Bools,
    within: Array,
    n_items: Array,
    *,
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[Array, Array, Array, Array]:
    """Return counts that tell as much as judgements do beside predictions, and what is left (D, K).

    It is known of all items whether a label is predicted. So the shares of "yes" among those
    judged, predicted or not, tell more than all judgements together (post-stratification). The
    counts are "yes", judgements and items, (K,), as if there were more of them.
    """
    share, n_labels = predicted.mean(axis=0), predicted.shape[1]
    shares = np.array([share, 1 - share, np.ones(n_labels)])
    is_predicted = predicted[audit.item, audit.label]
    cells = (is_predicted, ~is_predicted, np.ones_like(is_predicted))
    n, yes = (
        np.array([np.bincount(audit.label, weight * cell, n_labels) for cell in cells])
        for weight in (audit.weight, audit.weight * audit.applies)
    )

    def worth(times: Array, k: Array) -> Array:
        """How many judgements one is worth with so many times as many, of which k say yes."""
        at = np.maximum(n * times, _LEAST)
        # One "yes" and one "no" are added: from few errors, their rate is not known well.
        variance = shares**2 * (k + 1) * (at + 1 - k) / (at + 2) ** 2 / at
        gain = variance[..., 2, :] / variance[..., :2, :].sum(axis=-2)
        return np.asarray(np.maximum(_WORTH * gain, 1.0))

    now = worth(np.ones(n_labels), yes)
    value = (shares * yes / np.maximum(n, _LEAST))[:2].sum(axis=0)
    is_yes, judged = np.where(now > 1, value * n[2], yes[2]), n[2]
    # The rate of a machine's errors is drawn, too. More errors make a judgement worth less, and
    # from few errors their rate is not known well.
    n_yes, n_no = (each[:2] + _PRIOR_OF_ERRORS for each in (yes, n - yes))
    drawn = rng.beta(n_yes, n_no, (n_draws, 2, n_labels))
    at_end = np.broadcast_to(now, (n_draws, n_labels))
    for _ in range(_ROUNDS):
        worth_yes, worth_all, items = (np.ravel(of * at_end) for of in (is_yes, judged, n_items))
        widths = np.tile(within, n_draws)
        left = _drawn_left(worth_yes, worth_all, widths, items, 1, rng)
        left = left.reshape(at_end.shape) / at_end
        times = (1 + left / np.maximum(judged, 1))[:, np.newaxis]
        k = yes[:2] + drawn * n[:2] * (times - 1)
        at_end = worth(times, np.concatenate([k, k.sum(axis=1, keepdims=True)], axis=1))
    spread = np.where(now > 1, _SPREAD / np.sqrt(np.maximum(judged, 1)), 0.0)
    left *= np.exp(spread * rng.standard_normal(left.shape))
    low, high = interval_at_goal(is_yes * now, judged * now, within, n_items * now).T
    left = np.where((high - low) / 2 <= within, 0.0, np.maximum(left, 1.0))
    return is_yes * now, judged * now, n_items * now, left
