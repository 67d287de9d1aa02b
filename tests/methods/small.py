"""A small problem and brief fits, for tests that go over all methods."""

from complabel.datasets import make_synthetic
from complabel.methods import METHODS, make_classifier
from complabel.simulate import draw_complementary

N_SAMPLES, N_FEATURES, N_LABELS = 90, 5, 4
PROBLEM = make_synthetic(N_SAMPLES, n_features=N_FEATURES, n_labels=N_LABELS, random_state=3)
COMPLEMENTARY = draw_complementary(PROBLEM.Y, random_state=0)
LEARNERS = [name for name, method in METHODS.items() if method.learns_from == "complementary"]


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
