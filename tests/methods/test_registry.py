import inspect
import re
import sys
import textwrap

import pytest
from sklearn.base import clone
from tests.methods.small import COMPLEMENTARY, PROBLEM
from tests.refusals import raises

from complabel import methods
from complabel.errors import InputError
from complabel.experiments import methods as compared
from complabel.experiments.methods import (
    FPMLClassifier,
    GDFClassifier,
    LIFTClassifier,
    PMLLRSClassifier,
    make_paper_classifier,
)
from complabel.methods import (
    METHODS,
    ComplementaryClassifier,
    MLCLClassifier,
    get_method,
    make_classifier,
)

# The learning rates that the paper states per dataset.
PUBLISHED_RATES = {"yeast": 0.1, **dict.fromkeys(("scene", "corel5k", "corel16k"), 0.01)}
PUBLISHED_RATES |= dict.fromkeys(("eurlex_dc", "eurlex_sm", "bookmark", "delicious"), 0.001)
REFERENCES = {"supervised", "supervised-bce"}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_constructible_by_its_name(name):
    method = get_method(name)
    assert method is METHODS[name]
    assert method.name == name
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name)
    assert method.learns_from == ("relevant" if name in REFERENCES else "complementary")
    assert method.learns_from == method.classifier.learns_from
    assert (method.learns == "answers") == (
        method.classifier.understands_answers and method.learns != "relevant"
    )
    classifier = make_classifier(name)
    assert isinstance(classifier, ComplementaryClassifier)
    assert type(clone(classifier)) is type(classifier) is method.classifier
    assert not hasattr(classifier, "classes_")
    assert set(method.grid) <= set(classifier.get_params())
    assert all(len(values) > 1 for values in method.grid.values())


CLASSES = {
    name: getattr(room, name)
    for room in (methods, compared)
    for name in room.__all__
    if name.endswith("Classifier")
}


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_is_told(name):
    """In the class's docstring, or in that of the class which it names."""
    classifier = CLASSES[name]
    text = inspect.getdoc(classifier)
    for other in re.findall(r"(?:those of|As in) :class:`(?:[\w.]+\.)?(\w+)`", text):
        text += inspect.getdoc(CLASSES[other])
    told = re.findall(r"^([\w, ]+?)(?: : .*)?$", text, flags=re.MULTILINE)
    told = {name for names in told for name in names.split(", ")}
    assert set(inspect.signature(classifier).parameters) <= told


@pytest.mark.parametrize("name", ["mlcl", "supervised-bce"])
def test_the_papers_settings(name):
    for dataset, rate in PUBLISHED_RATES.items():
        classifier = make_paper_classifier(name, dataset)
        assert classifier.learning_rate == rate
        settings = (classifier.epochs, classifier.batch_size, classifier.weight_decay)
        assert settings == (200, 256, 1e-4)


def test_a_dataset_the_paper_does_not_use_gets_the_defaults():
    default = MLCLClassifier().get_params()
    assert make_classifier("mlcl").get_params() == default
    assert make_paper_classifier("mlcl", "digits").get_params() == default


@pytest.mark.parametrize(
    ("name", "parameters", "rate", "beta"),
    [
        ("mlcl", {"learning_rate": 0.5, "beta": 0.0}, 0.5, 0.0),
        ("mlcl:beta=0.5", {}, 0.1, 0.5),
        ("mlcl:learning_rate=0.2", {}, 0.2, 1.0),
        ("mlcl:beta=0.5", {"beta": 0.1}, 0.1, 0.1),
    ],
)
def test_parameters_override_the_names_settings_and_these_the_papers(name, parameters, rate, beta):
    made = make_paper_classifier(name, "yeast", **parameters)
    assert (made.learning_rate, made.beta) == (rate, beta)


def test_a_text_is_refused_where_a_number_or_a_truth_value_is_meant():
    for name, method in METHODS.items():
        parameters = inspect.signature(method.classifier).parameters.values()
        for each in parameters:
            if isinstance(each.default, bool | int | float):
                classifier = method.classifier(**{each.name: "false"})
                y = PROBLEM.Y if name in REFERENCES else COMPLEMENTARY
                with raises(InputError, each.name):
                    classifier.fit(PROBLEM.X, y)


def test_the_registry_cannot_be_changed_by_its_users_and_tells_titles_apart():
    with pytest.raises(TypeError):
        METHODS["mlcl"] = METHODS["prior"]
    with pytest.raises(AttributeError):
        METHODS["mlcl"].name = "other"
    assert len({method.title for method in METHODS.values()}) == len(METHODS)


@pytest.mark.parametrize(
    ("name", "classifier", "settings", "title"),
    [
        ("lift:solver=libsvm", LIFTClassifier, {"solver": "libsvm"}, "LIFT (solver = libsvm)"),
        ("fpml:rank=1", FPMLClassifier, {"rank": 1}, "fPML (rank = 1)"),
        (
            "pml-lrs:fit_intercept=false,eta=0.5",
            PMLLRSClassifier,
            {"fit_intercept": False, "eta": 0.5},
            "PML-LRS (fit_intercept = False, eta = 0.5)",
        ),
        ("gdf:milestones=(5,8),epochs=9", GDFClassifier, {"milestones": (5, 8), "epochs": 9}, None),
        ("mlcl:correlation=none", MLCLClassifier, {"correlation": None}, None),
    ],
)
def test_settings_follow_a_name(name, classifier, settings, title):
    method = get_method(name)
    assert (method.name, method.base, method.classifier) == (name, name.split(":")[0], classifier)
    assert method.settings == settings
    assert title in (None, method.title)
    made = make_paper_classifier(name, "yeast")
    assert type(made) is classifier
    assert settings.items() <= made.get_params().items()
    assert not method.grid.keys() & settings.keys()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mlc", ("method 'mlc'", "'mlcl'")),
        ("superviced", ("method 'superviced'", "'supervised'")),
        ("lift:solvr=libsvm", ("lift", "'solvr'", "'solver'")),
        ("prior:alpha=1", ("prior", "'alpha'")),
        ("lyft:solver=libsvm", ("method 'lyft'", "'lift'")),
        ("ml-knn:cut=.5", ("ml-knn", "'cut'", "n_neighbors")),
        ("0xyz", "method '0xyz'"),
        ("no_such_module:Thing", "ModuleNotFoundError"),
    ],
)
@pytest.mark.parametrize("look_up", [get_method, make_classifier])
def test_an_unknown_name_is_refused_with_the_nearest_one(look_up, name, message):
    with raises(InputError, message):
        look_up(name)


@pytest.mark.parametrize("name", METHODS)
def test_an_unknown_parameter_of_any_method_is_refused(name):
    known = inspect.signature(get_method(name).classifier).parameters
    with pytest.raises(InputError) as refusal:
        make_classifier(name, nothing_of_this_name=1)
    told = str(refusal.value)
    assert all(word in told for word in ("'nothing_of_this_name'", name, *known))


OWN = """
    import numpy as np
    from complabel.methods import ComplementaryClassifier


    class OwnClassifier(ComplementaryClassifier):
        def __init__(self, *, weight=1.0):
            self.weight = weight

        def _fit(self, X, complementary, relevant, /):
            self.rate_ = complementary.mean(axis=0)

        def _decision(self, X):
            return np.tile(-self.weight * self.rate_, (X.shape[0], 1))


    NOT_A_CLASS = 3
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module of somebody's own, importable; and its name."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(OWN), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    sys.modules.pop(name, None)


def test_a_class_of_ones_own_is_named_by_its_module(own):
    method = get_method(f"{own}:OwnClassifier")
    assert (method.title, method.grid) == ("OwnClassifier", {})
    made = make_paper_classifier(f"{own}:OwnClassifier:weight=2.5", "scene")
    assert made.weight == 2.5
    made.fit(PROBLEM.X, COMPLEMENTARY)
    assert made.predict_proba(PROBLEM.X).shape == COMPLEMENTARY.shape


def test_an_installed_package_offers_methods_under_names_of_its_own(own, tmp_path):
    record = tmp_path / f"{own}-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {own}\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text(
        f"[complabel.methods]\nown-rate = {own}:OwnClassifier\n"
    )
    assert get_method("own-rate").classifier.__name__ == "OwnClassifier"
    assert make_classifier("own-rate:weight=3.0").weight == 3.0
    with raises(InputError, "'own-rate'"):
        get_method("own-rat")


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("NOT_A_CLASS", "3"),
        ("Absent", "AttributeError"),
    ],
)
def test_what_is_no_method_is_refused(own, attribute, message):
    with raises(InputError, message):
        get_method(f"{own}:{attribute}")
