"""A small problem, brief fits and stubs, for tests of what all methods share."""

import warnings

import numpy as np

from complabel.datasets import make_synthetic
from complabel.methods import METHODS, ComplementaryClassifier, make_classifier
from complabel.simulate import draw_complementary

N_SAMPLES, N_FEATURES, N_LABELS = 90, 5, 4
PROBLEM = make_synthetic(N_SAMPLES, n_features=N_FEATURES, n_labels=N_LABELS, random_state=3)
COMPLEMENTARY = draw_complementary(PROBLEM.Y, random_state=0)
LEARNERS = [name for name, method in METHODS.items() if method.learns_from == "complementary"]
# One method, or two, of each kind of fit.
FAMILIES = ("mlcl", "selection-likelihood", "ridge", "ml-knn", "lift", "fpml", "pml-lc")
FAMILIES += ("gdf", "ccmn", "supervised")


def brief(name, **settings):
    """Make a method with its seed fixed, few iterations and no search.

    Settings that the method does not have are left out.
    """
    settings = {"random_state": 0, "epochs": 5, "max_iter": 20, **settings}
    if name in ("selection-likelihood", "supervised"):
        kernel = {"kernel": "rbf", "gamma": 0.1, "n_components": 20}
        settings = {"alpha": 0.1, "cardinality": 1.5, **kernel, **settings}
    known = METHODS[name].classifier().get_params()
    return make_classifier(name, **{key: settings[key] for key in settings if key in known})


def targets_of(name, relevant=PROBLEM.Y, complementary=COMPLEMENTARY):
    """Return what the method's fit takes: complementary labels, or true ones for a reference."""
    return complementary if METHODS[name].learns_from == "complementary" else relevant


class Recorder(ComplementaryClassifier):
    """Keeps what it is given; scores a label by its number."""

    def _fit(self, X, complementary, relevant, /):
        self.given_ = X, complementary, relevant

    def _decision(self, X):
        return np.tile(np.arange(len(self.classes_), dtype=float), (X.shape[0], 1))


class Understanding(Recorder):
    """Keeps the answers too; the likelihood of a row is one of its features."""

    models_the_choice = True
    understands_answers = True

    def _fit_answers(self, X, answers, /):
        self.answers_ = X, answers

    def _log_likelihood(self, X, complementary):
        return X[:, 1]

    def _decision(self, X):
        return np.hstack([X[:, :1], super()._decision(X)[:, 1:]])

    def _answers_log_likelihood(self, decision, answers):
        assert len(decision) == len(answers) == answers.answered.sum()
        return decision[:, 0]


class Reference(Recorder):
    learns_from = "relevant"


def learned(answers, method=Recorder, features=PROBLEM.X, **more):
    """What a method is given of answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return method().fit(features, answers, **more)
