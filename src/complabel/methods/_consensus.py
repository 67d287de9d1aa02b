"""What a model and all answers say together: about labels, about each answer, about people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from complabel._parameters import AnyArray, Array, Bools, Features, Ints
from complabel.answers import Answers, Statements, pair_rows
from complabel.errors import InputError
from complabel.methods._base import WeightedClassifier
from complabel.methods._door import check_new, refuse_other_number_of_rows

# To find wrong answers, nobody is taken to be without mistakes: rates are at least this, and the
# error rate is this if the model knows none.
_LEAST_RATE, _ASSUMED_RATE = 1e-4, 0.02
# People's log-odds are normally distributed. The priors of mean and spread act like so many people
# more: with the model's mean rate, and with a spread of 1.
_PRIOR_PEOPLE = 2.0
_ROUNDS = 50
_MOST_LOG_ODDS = 12.0
_NORMAL_95 = 1.96


@dataclass(frozen=True, eq=False)
class Answered:
    """Answers about n items and K labels, with what a model knows about R annotators."""

    answers: Answers
    propensities: Array | None  # (K,)
    # Error rates (R + 1,), or those of missed and invented labels (2, R + 1, 1 or K); unknown
    # annotators last. None: no mistakes.
    rates: Array | None
    exclusion_rates: Array | None  # (K,)
    exposure: Array | None = None  # (K,)

    def fallible(self) -> Answered:
        """Return the same, but everybody may err."""
        rates = self.rates
        if rates is None:
            rates = np.full(len(self.answers.annotator_names) + 1, _ASSUMED_RATE)
        return replace(self, rates=np.clip(rates, _LEAST_RATE, 1 - _LEAST_RATE))

    def log_odds(self, logits: Array) -> Array:
        """Return the log-odds (n, K) that labels apply, given their logits and all answers."""
        import torch

        from complabel.losses import AnswersLikelihood

        likelihood = AnswersLikelihood(
            self.answers,
            exclusion_rates=self.exclusion_rates,
            exposure=self.exposure,
            with_error_rates=self.rates is not None,
        )
        parameters = {}
        if self.rates is not None:
            rates = torch.from_numpy(self.rates)
            one_sided = {"missed": rates[0], "invented": rates[-1]}
            parameters = {"error_rates": rates} if rates.ndim == 1 else one_sided
        if self.propensities is not None:
            parameters["log_propensities"] = torch.from_numpy(np.log(self.propensities))
        return np.asarray(likelihood.log_odds(torch.from_numpy(logits), **parameters).numpy())

    @property
    def one_sided(self) -> Array:
        """The rates (2, R + 1, 1 or K) with which people miss and invent labels they judge."""
        assert self.rates is not None
        if self.rates.ndim > 1:
            return self.rates
        return np.stack([self.rates / 2] * 2)[:, :, np.newaxis]

    def people(self, answers: Answers, statements: Statements) -> Ints:
        """Return the places (S,) of the rates of those who made statements in some answers."""
        # The model may have replaced answers that it cannot use, and so numbered people anew.
        place = {name: number for number, name in enumerate(self.answers.annotator_names)}
        places = [place.get(name, -1) for name in answers.annotator_names]
        return np.array([*places, -1])[answers.annotator[statements.answer]] % (len(place) + 1)


class ConsensusMixin(WeightedClassifier):
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
        Exact for judgements, exclusions, tags and, besides them, one naming of an item. Several
        namings are combined as if they were independent given the rest.

        A model without mistakes repeats what people say. Give rates to ``fit``, or let it find
        them.
        """
        features, answers = self._read_answered(X, answers)
        logits = self._decision(features)
        return np.asarray(special.expit(self._answered(answers).log_odds(logits)))

    def doubtful_answers(self, X: ArrayLike, answers: Answers) -> dict[str, AnyArray]:
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
            - ``statements``: whether the annotator said that the label applies;
            - ``wrong``: the probability that this is wrong, given the features and all answers;
            - ``others``: the probability that the label applies, given the features and all
              *other* answers; NaN for labels that were named, of which it is not computed.

        Raises
        ------
        InputError, AnnotationError
            As :meth:`predict_consensus`; but answers to questions may contradict each other.

        Notes
        -----
        Everybody may err here: in a model without mistakes, with a rate of .01 for both cases. What
        rules exclude, and tags, are not listed.
        """
        features, answers = self._read_answered(X, answers)
        statements = answers.statements()
        statements = statements.only(~answers.lists[statements.answer])
        answered = self._answered(answers).fallible()
        odds, others = self._beliefs(
            features, answered, statements, answered.people(answers, statements)
        )
        others[~answers.judges[statements.answer]] = np.nan
        wrong = special.expit(np.where(statements.applies, -odds, odds))
        labels = np.asarray(self.classes_ if answers.label_names is None else answers.label_names)
        people = np.array([*answers.annotator_names, None], dtype=object)
        columns = {
            "item": statements.item
            if answers.item_names is None
            else answers.item_names[statements.item],
            "label": labels[statements.label],
            "annotator": people[answers.annotator[statements.answer]],
            "said": statements.applies,
            "wrong": wrong,
            "others": special.expit(others),
        }
        order = np.argsort(-wrong, kind="stable")
        return {name: column[order] for name, column in columns.items()}

    def annotators_table(self, X: ArrayLike, answers: Answers) -> dict[str, AnyArray]:
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
            - ``missed``, ``invented``: the rates, means over labels;
            - ``missed_low``, ``missed_high``, ``invented_low``, ``invented_high``.

        Notes
        -----
        Rates that the model knows of this person are taken as they are. Others are found from these
        judgements, which the model must not have learned from: it would agree with them too much.
        People's log-odds are taken to be normally distributed, with a mean and a spread that are
        found, too (empirical Bayes), and so are the intervals. They leave out that predictions may
        be wrong: in simulations, 84 to 97 % of them held the true rate. Labels that people named
        are not counted here.
        """
        features, answers = self._read_answered(X, answers)
        statements = answers.statements()
        statements = statements.only(answers.judges[statements.answer])
        answered = self._answered(answers).fallible()
        person = answered.people(answers, statements)
        _, others = self._beliefs(features, answered, statements, person)
        names = np.array([*answered.answers.annotator_names, None], dtype=object)
        judged = np.bincount(person, minlength=len(names))
        rows = np.flatnonzero(judged)
        log_odds, errors = _log_odds_of_people(
            special.logit(answered.one_sided.mean(axis=2)),
            person,
            statements.applies,
            special.expit(others),
        )
        columns = {"annotator": names[rows], "judged": judged[rows]}
        sides = zip(("missed", "invented"), log_odds[:, rows], errors[:, rows], strict=True)
        for name, odds, error in sides:
            for end, reach in (("", 0.0), ("_low", -_NORMAL_95), ("_high", _NORMAL_95)):
                columns[name + end] = special.expit(odds + reach * error)
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

    def _beliefs(
        self, X: Features, answered: Answered, statements: Statements, person: Ints
    ) -> tuple[Array, Array]:
        """Return log-odds (S,) that labels apply, by all answers and by all but a judgement."""
        odds = answered.log_odds(self._decision(X))[statements.item, statements.label]
        # Given the label, a judgement depends on nothing else, so its factor can be taken away.
        rates = answered.one_sided
        missed, invented = rates[:, person, statements.label if rates.shape[2] > 1 else 0]
        of_yes = np.log1p(-missed) - np.log(invented)
        of_no = np.log(missed) - np.log1p(-invented)
        return odds, odds - np.where(statements.applies, of_yes, of_no)


def _log_odds_of_people(
    known: Array, person: Ints, yes: Bools, applies: Array
) -> tuple[Array, Array]:
    """Return log-odds (2, R + 1) of missed and invented labels, and their standard errors.

    ``known`` (2, R + 1) are those of the model. Who has the mean rates, which are last, is found
    from J judgements, about labels that apply with given probabilities (J,).
    """
    # Each round is a step of Fisher's scoring, and one of empirical Bayes for mean and spread.
    n_people = known.shape[1]
    judged = np.bincount(person, minlength=n_people) > 0
    is_new = np.isclose(known, known[:, -1:]).all(axis=0)  # a mean is not exact
    log_odds, mean, variances = known, known[:, -1:], np.ones((2, 1))
    for _ in range(_ROUNDS):
        missed, invented = special.expit(log_odds)[:, person]
        p_yes = applies * (1 - missed) + (1 - applies) * invented
        # The slopes (2, J) of the chance of "yes" by both log-odds.
        slopes = np.stack(
            [-applies * missed * (1 - missed), (1 - applies) * invented * (1 - invented)]
        )
        weighted = slopes / (p_yes * (1 - p_yes))
        information = np.zeros((n_people, 2, 2))
        np.add.at(information, person, np.einsum("ij,kj->jik", slopes, weighted))
        posterior = np.linalg.inv(information + np.diag(1 / variances.ravel()))
        gradient = -(log_odds - mean) / variances
        np.add.at(gradient.T, person, (weighted * (yes - p_yes)).T)
        log_odds = log_odds + np.einsum("rij,jr->ir", posterior, gradient) * is_new
        log_odds = log_odds.clip(-_MOST_LOG_ODDS, _MOST_LOG_ODDS)
        squared_errors = np.diagonal(posterior, axis1=1, axis2=2).T
        most = judged.sum() + _PRIOR_PEOPLE
        mean = (
            log_odds[:, judged].sum(axis=1, keepdims=True) + _PRIOR_PEOPLE * known[:, -1:]
        ) / most
        squares = (log_odds - mean) ** 2 + squared_errors
        variances = (squares[:, judged].sum(axis=1, keepdims=True) + _PRIOR_PEOPLE) / most
    return log_odds, np.sqrt(squared_errors)
