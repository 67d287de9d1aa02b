"""What a model and all answers say together: about labels, about each answer, about people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from complabel.answers import STATEMENT_KINDS, Answers, Statements, pair_rows
from complabel.errors import InputError
from complabel.methods._arrays import Array, Features
from complabel.methods._base import ComplementaryClassifier
from complabel.methods._door import check_new, refuse_other_number_of_rows

# To find wrong answers, nobody is taken to be without mistakes: rates are at least this.
_LEAST_RATE = 0.01
# Rates of people are looked for on a grid of their log-odds: .0003 to .993.
_GRID = np.linspace(-8.0, 5.0, 66)
# Log-odds that a label applies are rounded to this, so that people are counts of such judgements.
_BINS = np.linspace(-12.0, 12.0, 241)
# People's log-odds are spread about a mean. The priors act like so many people more: with a spread
# of 1, and with a rate of .1.
_PRIOR_PEOPLE, _PRIOR_MEAN = 2.0, special.logit(0.1)
_ROUNDS = 50
_INTERVAL = (0.5, 0.025, 0.975)


@dataclass(frozen=True, eq=False)
class Answered:
    """Answers about n items and K labels, with what a model knows about R annotators."""

    answers: Answers
    propensities: Array | None  # (K,)
    # Error rates (R + 1,), or those of missed and invented labels (2, R + 1, 1 or K); unknown
    # annotators last. None: no mistakes.
    rates: Array | None
    exclusion_rates: Array | None  # (K,)

    def fallible(self) -> Answered:
        """Return the same, but everybody may err."""
        rates = self.rates
        if rates is None:
            rates = np.zeros(len(self.answers.annotator_names) + 1)
        least = _LEAST_RATE if rates.ndim > 1 else 2 * _LEAST_RATE  # half of those are right
        return replace(self, rates=np.clip(rates, least, 1 - _LEAST_RATE))

    def log_odds(self, logits: Array) -> Array:
        """Return the log-odds (n, K) that labels apply, given their logits and all answers."""
        import torch

        from complabel.losses import AnswersLikelihood

        likelihood = AnswersLikelihood(
            self.answers,
            exclusion_rates=self.exclusion_rates,
            with_error_rates=self.rates is not None,
        )
        given = {}
        if self.rates is not None:
            rates = torch.from_numpy(self.rates)
            one_sided = {"missed": rates[0], "invented": rates[-1]}
            given = {"error_rates": rates} if rates.ndim == 1 else one_sided
        if self.propensities is not None:
            given["log_propensities"] = torch.from_numpy(np.log(self.propensities))
        return np.asarray(likelihood.log_odds(torch.from_numpy(logits), **given).numpy())

    def log_ratios(self, annotator: NDArray[np.intp], said: Statements) -> Array:
        """Return log P(statement | applies) / P(statement | does not), (S,), of judgements."""
        assert self.rates is not None
        if self.rates.ndim == 1:
            missed = invented = self.rates[annotator] / 2
        else:
            column = said.label if self.rates.shape[2] > 1 else 0
            missed, invented = self.rates[:, annotator, column]
        return np.where(
            said.applies,
            np.log1p(-missed) - np.log(invented),
            np.log(missed) - np.log1p(-invented),
        )


class ConsensusMixin(ComplementaryClassifier):
    """Methods about answered items, for classifiers that know the exact likelihood of answers."""

    def predict_consensus(self, X: ArrayLike, answers: Answers) -> Array:
        """Return the probability of each label to apply, given the features and all answers.

        ``predict_proba`` knows only the features. Here, what people said about an item counts,
        too, by how often each of them errs. People are found by name; new ones have mean rates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        answers : Answers
            About the same n_samples items and the K labels of ``fit``. Items without an answer get
            what ``predict_proba`` says.

        Returns
        -------
        ndarray of shape (n_samples, K), float64

        Raises
        ------
        InputError
            If X or its rows are wrong, or ``fit`` was given one class per row.
        AnnotationError
            If the answers are about other labels; or if they contradict each other, and the model
            knows no mistakes.

        Notes
        -----
        Exact for judgements, exclusions and, besides them, one naming of an item. Several namings
        are combined as if they were independent given the rest.

        A model without mistakes repeats what people say. Give rates to ``fit``, or let it find
        them.
        """
        features, answers = self._read_answered(X, answers)
        logits = self._decision(features)
        return np.asarray(special.expit(self._answered(answers).log_odds(logits)))

    def doubtful_answers(self, X: ArrayLike, answers: Answers) -> dict[str, NDArray[Any]]:
        """List what people said, that which is most probably wrong first.

        Parameters
        ----------
        X, answers
            As in :meth:`predict_consensus`. Answers that the model learned from are looked at, too,
            but a model that has few of them believes them too much.

        Returns
        -------
        dict of str to ndarray of shape (S,)
            Columns with an entry for each label of which somebody said whether it applies.

            - ``item``, ``label``, ``annotator``: names, or numbers of items and labels without
              names; None for unknown annotators;
            - ``said``: whether the annotator said that the label applies;
            - ``wrong``: the probability that this is wrong, given the features and all answers;
            - ``others``: the probability that the label applies, given the features and all
              *other* answers; NaN for labels that were named, of which it is not computed.

        Raises
        ------
        InputError, AnnotationError
            As :meth:`predict_consensus`; but answers to questions may contradict each other.

        Notes
        -----
        Everybody may err here: rates below .01 are raised to .01. What rules exclude is not listed.
        """
        features, answers = self._read_answered(X, answers)
        said = answers.statements()
        said = said.only(said.kind != STATEMENT_KINDS.index("excluded"))
        odds, others = self._beliefs(features, answers, said)
        wrong = special.expit(np.where(said.applies, -odds, odds))
        labels = np.asarray(self.classes_ if answers.label_names is None else answers.label_names)
        people = np.array([*answers.annotator_names, None], dtype=object)
        columns = {
            "item": said.item if answers.item_names is None else answers.item_names[said.item],
            "label": labels[said.label],
            "annotator": people[answers.annotator[said.answer]],
            "said": said.applies,
            "wrong": wrong,
            "others": special.expit(others),
        }
        order = np.argsort(-wrong, kind="stable")
        return {name: column[order] for name, column in columns.items()}

    def annotators_table(self, X: ArrayLike, answers: Answers) -> dict[str, NDArray[Any]]:
        """Estimate how often each person misses and invents labels, with 95 % intervals.

        Parameters
        ----------
        X, answers
            As in :meth:`predict_consensus`.

        Returns
        -------
        dict of str to ndarray of shape (R,)
            Columns with an entry for each person who judged labels, in the order of the answers'
            ``annotator_names``; last, if there are such, all unknown annotators together.

            - ``annotator``: the name, or None;
            - ``judged``: how many labels the person judged;
            - ``missed``, ``invented``: medians of the rates, over all labels;
            - ``missed_low``, ``missed_high``, ``invented_low``, ``invented_high``.

        Notes
        -----
        A judgement tells how often a person errs by what the features and the other answers say.
        These rates come from the answers given here, those of the attributes ``missed_`` and
        ``invented_`` from held-out predictions in ``fit``. People's log-odds are normally
        distributed; mean and spread are found, too (empirical Bayes). What labels people named
        tells nothing here. Rules are not people.
        """
        features, answers = self._read_answered(X, answers)
        said = answers.statements()
        said = said.only(np.isin(answers.question, ("asked", "ticked"))[said.answer])
        _, others = self._beliefs(features, answers, said)
        n_people = len(answers.annotator_names)
        code = answers.annotator[said.answer] % (n_people + 1)  # -1 becomes the last place
        judged = np.bincount(code, minlength=n_people + 1)
        rows = np.flatnonzero(judged)
        rates = _rates_of_people(np.searchsorted(rows, code), said.applies, others, len(rows))
        columns = {
            "annotator": np.array([*answers.annotator_names, None], dtype=object)[rows],
            "judged": judged[rows],
        }
        for name, quantiles in zip(("missed", "invented"), rates, strict=True):
            ends = zip(("", "_low", "_high"), quantiles.T, strict=True)
            columns |= {f"{name}{end}": values for end, values in ends}
        return columns

    def _answered(self, answers: Answers) -> Answered:
        """Return answers with what the model knows about those who gave them."""
        raise NotImplementedError

    def _read_answered(self, X: ArrayLike, answers: Any) -> tuple[Features, Answers]:
        if not isinstance(answers, Answers):
            raise InputError(f"answers must be Answers, got {type(answers).__name__}")
        features = self._validate_new(X)
        answers = pair_rows(X, answers, names=("X", "answers"))
        refuse_other_number_of_rows(answers, features.shape[0], name="answers")
        check_new(answers, self.classes_)
        if self._single:
            raise InputError(
                "fit was given one class per row, of which exactly one applies; answers about"
                " single labels need a model of labels that apply independently"
            )
        return features, answers

    def _beliefs(self, X: Features, answers: Answers, said: Statements) -> tuple[Array, Array]:
        """Return log-odds (S,) that labels apply, by all answers and by all but the statement."""
        answered = self._answered(answers).fallible()
        odds = answered.log_odds(self._decision(X))[said.item, said.label]
        # Given the label, a judgement depends on nothing else, so its factor can be taken away.
        others = odds - answered.log_ratios(answers.annotator[said.answer], said)
        judged = np.isin(answers.question, ("asked", "ticked"))[said.answer]
        return odds, np.where(judged, others, np.nan)


def _rates_of_people(
    person: NDArray[np.intp], yes: NDArray[np.bool_], odds: Array, n_people: int
) -> Array:
    """Return quantiles (2, R, 3) of the rates of missed and of invented labels."""
    n_bins, n_grid = len(_BINS), len(_GRID)
    place = np.searchsorted((_BINS[1:] + _BINS[:-1]) / 2, odds)
    cell = (person * 2 + yes) * n_bins + place
    counts = np.bincount(cell, minlength=n_people * 2 * n_bins).reshape(n_people, 2 * n_bins)
    p, rate = special.expit(_BINS), special.expit(_GRID)
    # The chances of "yes" (bins, missed, invented).
    says_yes = np.add.outer(np.outer(p, 1 - rate), np.zeros(n_grid))
    says_yes += np.multiply.outer(1 - p, rate)[:, np.newaxis]
    log_chances = np.log(np.concatenate([1 - says_yes, says_yes]))
    of_people = (counts @ log_chances.reshape(2 * n_bins, -1)).reshape(-1, n_grid, n_grid)
    means, spreads = np.full(2, _PRIOR_MEAN), np.ones(2)
    for _ in range(_ROUNDS):
        # Log-priors of both rates on the grid (2, G), and the posterior (R, G, G).
        prior = -(((_GRID - means[:, np.newaxis]) / spreads[:, np.newaxis]) ** 2) / 2
        posterior = of_people + prior[0][:, np.newaxis] + prior[1]
        posterior = special.softmax(posterior, axis=(1, 2))
        sides = np.stack([posterior.sum(axis=2), posterior.sum(axis=1)])  # (2, R, G)
        total = sides.sum(axis=1)  # (2, G)
        means = (total @ _GRID + _PRIOR_MEAN) / (n_people + 1)
        squares = (total * (_GRID - means[:, np.newaxis]) ** 2).sum(axis=1)
        spreads = np.sqrt((squares + _PRIOR_PEOPLE) / (n_people + _PRIOR_PEOPLE))
    below = np.cumsum(sides, axis=2) - sides / 2
    return np.array(
        [
            [special.expit(np.interp(_INTERVAL, of_person, _GRID)) for of_person in of_side]
            for of_side in below
        ]
    )
