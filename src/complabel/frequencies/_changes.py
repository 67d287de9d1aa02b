"""What changed between two months: the machine, or the items, and by how much."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from scipy import special

from complabel._parameters import Array, Bools
from complabel.frequencies._earlier import EarlierMonth
from complabel.frequencies._machine_strata import YES, words_of
from complabel.frequencies._months import SAME
from complabel.frequencies._strata import StrataPosterior

_RATES = ("frequency", "precision", "recall")
_ENDS = (0.5, 0.025, 0.975)
# If nothing changed, the odds below are 1 on average. They exceed this in 1 or 2 of 100 cases
# (benchmarks/months.py), and in 1 of 5 at most (Markov's inequality).
_ODDS = 5.0
# The chance of a false alarm by the label that moved most, and by all labels together.
_BY_CHANCE = 0.005
_FEWEST_SHARED = 30
# Log odds that tell whether the machine or the items changed: less depends on how much is thought
# to be missed, before anybody saw it.
_CLEAR = 7.0
_TINY = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class MachineChanges:
    """What changed since the month before.

    Attributes
    ----------
    what : str
        What is known to have changed: "machine", "items" or "both"; "either", if answers do not
        tell which of the two did; "" if nothing is known to have changed.
    differences : dict of str to ndarray of shape (n_labels + 1, 3), dtype float64
        This month's frequency, precision and recall less the former one's, and both ends of the
        interval of 95 %; NaN where one of them is not known. Each month stands for itself here. The
        last row is about all pairs; of frequencies, it is the mean.
    odds : float
        How much likelier people's answers are if the machine's yes and no are not right as often as
        before than if they are.
    n_named, n_shared : int
        How many names of items stand in both months, and how many of these are said to be one item.
    agreement : ndarray of shape (n_labels + 1,), dtype float64
        How often the machine says the same of these as before; NaN if there are none.
    """

    what: str
    differences: dict[str, Array]
    odds: float
    n_named: int
    n_shared: int
    agreement: Array

    @classmethod
    def of(
        cls, new: EarlierMonth, old: EarlierMonth, both: StrataPosterior, *, same_items: bool
    ) -> Self:
        """Compare two months; ``both`` is the posterior of the new one beside the old one."""
        places, items = old.labels(new.answers), old.items(new.answers)
        known, shared = places >= 0, (items >= 0) & same_items
        rates, before = _rates(new.posterior), _rates(old.posterior)
        before = {name: each[:, np.r_[places, -1]] for name, each in before.items()}
        words = words_of(new.machine), words_of(old.machine)[:, places]
        now, then = words[0][shared], words[1][items[shared]]
        # Other items of the same kind differ by chance, but not those that stand in both.
        noise = sum((1 - len(now) / len(each)) / (4 * len(each)) for each in words)
        shares = np.stack([(each == YES).mean(axis=0) for each in words])
        more, less = (((a == YES) & (b != YES)).sum(axis=0) for a, b in ((now, then), (then, now)))
        z_of_shares = np.diff(np.arcsin(np.sqrt(shares[::-1])), axis=0)[0]
        odds = _odds(both)
        frequencies = rates["frequency"][:, :-1], before["frequency"][:, :-1]
        step = shares[0] - shares[1]
        if len(now) >= _FEWEST_SHARED:
            of_items = _for_items_by_shared(more[known], less[known], len(now), step[known])
        else:
            tells = _quantiles(before["recall"] - before["invented"], 0.5)[:-1]
            often = [each[:, known] for each in frequencies]
            of_items = _for_items(often[0], often[1], noise, (step / np.fmax(tells, 0.1))[known])
            more, less = 0 * more, 0 * less
        what = _what(
            words=_is_far((more - less) / np.sqrt(np.maximum(more + less, 1)), known),
            shares=_is_far(z_of_shares / np.sqrt(max(noise, _TINY)), known) and noise > _TINY,
            frequencies=_is_far(_z(*frequencies, noise), known) and noise > _TINY,
            quality=odds >= _ODDS,
            of_items=of_items if noise > _TINY else 0.0,  # else there are no other items
        )
        same = np.where(known, now == then, np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # labels and items that are in one month alone
            agreement = np.r_[np.nanmean(same, axis=0), np.nanmean(same)]
        return cls(
            what=what,
            differences={name: _ends(rates[name], before[name], known) for name in _RATES},
            odds=odds,
            n_named=int((items >= 0).sum()),
            n_shared=len(now),
            agreement=agreement,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; what is not known is None."""
        changes: dict[str, Any] = asdict(self)
        changes["agreement"] = _plain(self.agreement)
        changes["differences"] = {name: _plain(each) for name, each in self.differences.items()}
        return changes


def _plain(values: Array) -> list[Any]:
    return [
        _plain(each) if np.ndim(each) else None if np.isnan(each) else float(each)
        for each in values
    ]


def _what(*, words: bool, shares: bool, frequencies: bool, quality: bool, of_items: float) -> str:
    """Return what changed, by what moved, and by the log odds that it is the items."""
    if words:
        return "both" if frequencies else "machine"
    if frequencies and not shares:
        return "items"
    if not shares and not quality:
        return ""
    if shares and of_items <= -_CLEAR:
        return "machine"
    return "items" if of_items >= (_CLEAR if shares else np.inf) else "either"


def _rates(posterior: StrataPosterior) -> dict[str, Array]:
    """Return draws (D, K + 1) of the frequencies and of the machine's rates; last, of all pairs."""
    often = posterior.draws.frequencies
    mean = often.mean(axis=1, keepdims=True)
    return {"frequency": np.hstack([often, mean]), **posterior.draws.rates()}


def _ends(new: Array, old: Array, known: Bools) -> Array:
    """Return medians and ends of differences of draws (D, K + 1); NaN where one is not known."""
    n = min(len(new), len(old))
    # Both posteriors were drawn with the same random numbers.
    old = np.random.default_rng(1).permutation(old)
    apart = _quantiles(new[:n] - old[:n], _ENDS).T
    apart[:-1][~known] = np.nan
    return np.asarray(apart)


def _quantiles(draws: Array, ends: Any) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels without a rate in all draws
        return np.asarray(np.nanquantile(draws, ends, axis=0))


def _is_far(z: Array, known: Bools) -> bool:
    """Return whether differences over their errors, (K,), are more than chance makes them."""
    n = int(known.sum())
    limit = -special.ndtri(_BY_CHANCE / (2 * n))
    return bool(
        abs(z[known]).max() > limit or (z[known] ** 2).sum() > special.chdtri(n, _BY_CHANCE)
    )


def _z(new: Array, old: Array, noise: float) -> Array:
    """Return differences (K,) of frequencies over their errors, on the scale of angles."""
    angles = [np.arcsin(np.sqrt(np.clip(each, 0, 1))) for each in (new, old)]
    variance = sum(each.var(axis=0) for each in angles) + noise
    return np.asarray((angles[0].mean(axis=0) - angles[1].mean(axis=0)) / np.sqrt(variance))


def _for_items(new: Array, old: Array, noise: float, expected: Array) -> float:
    """Return log odds that frequencies (K,) differ as expected of the same machine, not at all.

    What is expected follows from how often it says a label. Errors of labels go together.
    """
    middle = old.mean(axis=0)
    covariance = np.atleast_2d(np.cov(new.T)) + np.atleast_2d(np.cov(old.T))
    covariance += np.diag(4 * noise * middle * (1 - middle) + _TINY)
    weights = np.linalg.solve(covariance, expected)
    return float(weights @ (new.mean(axis=0) - middle - expected / 2))


def _for_items_by_shared(more: Array, less: Array, n: int, step: Array) -> float:
    """Return log odds that n items in both months are labelled as before, not as all others are."""
    if not (more + less).any():
        return np.inf
    apart, variance = (more - less) / n, (more + less + 1) / n**2
    return float((((apart - step) ** 2 - apart**2) / (2 * variance)).sum())


def _odds(both: StrataPosterior) -> float:
    """Return the odds that a stratum is not as before; their mean is 1 if all are as before."""
    same = np.array([part.drifts[0] for part in both.parts])
    odds = (1 - same) / np.maximum(same, _TINY) * SAME.chance / (1 - SAME.chance)
    return float((np.prod(1 + odds) - 1) / (2.0 ** len(odds) - 1))
