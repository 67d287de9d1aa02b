import re

import pytest
from sklearn.base import clone

from complabel.errors import InputError
from complabel.methods import (
    METHODS,
    ComplementaryClassifier,
    MLCLClassifier,
    PriorClassifier,
    SupervisedClassifier,
    get_method,
    make_classifier,
)
from complabel.paper import published_results

# The learning rates that the paper states per dataset.
PUBLISHED_RATES = {
    "yeast": 0.1,
    "scene": 0.01,
    "corel5k": 0.01,
    "corel16k": 0.01,
    "eurlex_dc": 0.001,
    "eurlex_sm": 0.001,
    "bookmark": 0.001,
    "delicious": 0.001,
}
REFERENCES = {"supervised"}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_constructible_by_its_name(name):
    method = get_method(name)
    assert method is METHODS[name]
    assert method.name == name
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name)
    assert method.title
    classifier = make_classifier(name)
    assert isinstance(classifier, ComplementaryClassifier)
    assert type(clone(classifier)) is type(classifier)
    assert not hasattr(classifier, "classes_")


@pytest.mark.parametrize("dataset", [*PUBLISHED_RATES, "digits", ""])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_settings_for_every_dataset(name, dataset):
    settings = METHODS[name].settings(dataset)
    classifier = make_classifier(name, dataset=dataset)
    parameters = classifier.get_params()
    assert {key: parameters[key] for key in settings} == settings


@pytest.mark.parametrize("name", METHODS)
def test_only_references_learn_from_relevant_labels(name):
    expected = "relevant" if name in REFERENCES else "complementary"
    assert METHODS[name].learns_from == expected
    assert make_classifier(name).learns_from == expected


def test_the_names_lead_to_the_classes():
    assert type(make_classifier("mlcl")) is MLCLClassifier
    assert type(make_classifier("prior")) is PriorClassifier
    assert type(make_classifier("supervised")) is SupervisedClassifier


def test_titles_are_told_apart():
    assert len({method.title for method in METHODS.values()}) == len(METHODS)
    columns = {method.published_as for method in METHODS.values() if method.published_as}
    assert columns == {method for _, method, _ in published_results("uniform")}
    assert METHODS["mlcl"].published_as == "MLCL"
    assert METHODS["prior"].published_as is None


@pytest.mark.parametrize(("dataset", "rate"), PUBLISHED_RATES.items())
@pytest.mark.parametrize("name", ["mlcl", "supervised"])
def test_the_papers_learning_rates(name, dataset, rate):
    classifier = make_classifier(name, dataset=dataset)
    assert classifier.learning_rate == rate
    assert classifier.epochs == 200
    assert classifier.batch_size == 256
    assert classifier.weight_decay == 1e-4


def test_a_dataset_the_paper_does_not_use_gets_the_defaults():
    default = MLCLClassifier().get_params()
    assert make_classifier("mlcl").get_params() == default
    assert make_classifier("mlcl", dataset="digits").get_params() == default


def test_parameters_override_settings():
    classifier = make_classifier("mlcl", dataset="yeast", learning_rate=0.5, beta=0.0)
    assert (classifier.learning_rate, classifier.beta) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("wrong", "meant"), [("mlc", "mlcl"), ("priors", "prior"), ("superviced", "supervised")]
)
@pytest.mark.parametrize("look_up", [get_method, make_classifier])
def test_a_name_nearly_right_is_suggested(look_up, wrong, meant):
    with pytest.raises(InputError, match=f"no method '{wrong}'. Did you mean '{meant}'\\?"):
        look_up(wrong)


def test_a_name_unlike_any_gets_the_list():
    with pytest.raises(InputError, match=r"no method '0xyz'\. Known are: .*mlcl") as raised:
        get_method("0xyz")
    assert "Did you mean" not in str(raised.value)
    assert all(name in str(raised.value) for name in METHODS)


def test_the_registry_cannot_be_changed_by_its_users():
    with pytest.raises(TypeError):
        METHODS["mlcl"] = METHODS["prior"]
    with pytest.raises(AttributeError):
        METHODS["mlcl"].name = "other"
