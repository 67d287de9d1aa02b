"""scikit-learn's own checks: all for one method of each family, some for the others.

They run as scikit-learn has them. Those whose own problems are refused, because two classes or rows
with all labels say nothing of labels that do not apply, run once more on problems that are not.
"""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_multilabel_classification
from sklearn.utils import estimator_checks
from tests.methods.small import brief

from complabel.methods import METHODS, FrequencyMatchedClassifier

# Some of the checks' tiny samples happen to leave a label unchosen, which is rightly warned of;
# so is one class per row given by name or as a column, which may be meant otherwise.
pytestmark = pytest.mark.filterwarnings(
    "ignore::complabel.answers.UnchosenLabelWarning",
    "ignore::complabel.answers.ClassPerRowWarning",
    # scikit-learn skips checks of estimators that need an optional library, pandas for instance.
    "ignore::sklearn.exceptions.SkipTestWarning",
)


def checked(name, **settings):
    """A method with few iterations.

    Where a method has a choice, it cuts all rows at the same point: scikit-learn expects that
    the sign of a decision tells the prediction.
    """
    return brief(name, n_neighbors=3, n_components=5, threshold="probability", cut=0.5, **settings)


def with_proper_label_sets(*, allow_unlabeled=True, **settings):
    """As scikit-learn draws problems, but with at least one and not all labels in every row.

    A row of complementary labels that is empty or full says nothing or leaves nothing, and is
    refused; scikit-learn's checks of multi-label classifiers feed such rows.
    """
    X, Y = make_multilabel_classification(allow_unlabeled=False, **settings)
    Y[Y.all(axis=1), 0] = 0
    return X, Y


def with_a_third_class(estimator, y, *, enforce=estimator_checks._enforce_estimator_tags_y):
    """As scikit-learn prepares classes for an estimator, but never two of them.

    One of two classes per row, read as the one that does not apply, is refused.
    """
    y = enforce(estimator, y)
    classes, number = np.unique(y, return_inverse=True)
    if len(classes) == 2:
        y = np.where(np.arange(len(y)) % 3 == 0, np.max(y) + 1, y)
    return number if classes.tolist() == [0, 1, 3] else y  # 2 is the class that was left out


def with_a_fourth_class(*, centers=None, cluster_std=1.0, **settings):
    """As scikit-learn draws three classes, of which it leaves one out in a second problem."""
    centers = 4 if centers is None and cluster_std == 1 else centers
    return make_blobs(centers=centers, cluster_std=cluster_std, **settings)


@pytest.fixture
def proper_labels(monkeypatch):
    monkeypatch.setattr(estimator_checks, "make_blobs", with_a_fourth_class)
    monkeypatch.setattr(estimator_checks, "make_multilabel_classification", with_proper_label_sets)
    monkeypatch.setattr(estimator_checks, "_enforce_estimator_tags_y", with_a_third_class)


OUTPUTS = ("predict", "predict_proba", "decision_function")
ALL_LABELS = {  # rows that leave no label
    *("check_classifier_multioutput", "check_classifiers_multilabel_representation_invariance"),
    *(f"check_classifiers_multilabel_output_format_{name}" for name in OUTPUTS),
}
# Where scikit-learn's own y of two classes cannot be helped.
OF_TWO_CLASSES = {
    "check_classifiers_classes",
    "check_decision_proba_consistency",
    "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series",
}
TWO_CLASSES = OF_TWO_CLASSES | {
    *("check_estimators_dtypes", "check_pipeline_consistency", "check_estimators_nan_inf"),
    *("check_estimators_pickle", "check_classifier_data_not_an_array", "check_classifiers_train"),
    *("check_fit2d_1feature", "check_fit_idempotent", "check_fit_check_is_fitted"),
    *("check_n_features_in", "check_sample_weights_shape"),
    "check_sample_weights_not_overwritten",
}
FOLDS = {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}


def rightly_failed(classifier, classes=OF_TWO_CLASSES):
    """Checks that a method cannot pass, with the reason why it need not."""
    failed = dict.fromkeys(
        FOLDS,
        "cv is set to a list of folds, but is a number here; test_weights.py has the property",
    )
    failed |= dict.fromkeys(classes, "of two classes, the one that does not apply names both")
    if classifier.threshold == "minmax":
        reason = "predict cuts each row at a point of its own range, so a decision's sign is free"
        failed["check_classifier_multioutput"] = reason
    return failed


def refused(classifier):
    """Checks whose problems are refused, too."""
    return rightly_failed(classifier, TWO_CLASSES) | dict.fromkeys(ALL_LABELS, "rows of all labels")


# All checks for one method of each family.
FULLY = ("ridge", "ml-knn", "gdf", "selection-likelihood")
# For the others: fits to odd data, and what a fit changes of the object. The base class decides
# the rest.
OWN = {
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_fit_idempotent",
    "check_classifiers_train",
    "check_classifiers_one_label",
    "check_classifier_multioutput",
    "check_dict_unchanged",
    "check_dont_overwrite_attributes",
    "check_methods_subset_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
}


def only(names, marked):
    """Keep these checks; a case is a tuple, or pytest's parameters if it may fail."""
    arguments, cases = marked.args
    kept = [case for case in cases if getattr(case, "values", case)[1].func.__name__ in names]
    return pytest.mark.parametrize(arguments, kept, **marked.kwargs)


class EquallyFrequent(FrequencyMatchedClassifier):
    """Labels that are alike, however many there are: the checks draw problems of all sizes."""

    def _frequencies(self, answers, *, predictions=None):
        n_labels = len(self.classes_)
        self.label_frequencies = np.full(n_labels, 1 / n_labels if self._single else 0.5)
        found = super()._frequencies(answers, predictions=predictions)
        self.label_frequencies = "auto"
        return found


WHOLE = [*map(checked, FULLY), EquallyFrequent(checked("ridge"), cv=2)]


@estimator_checks.parametrize_with_checks(WHOLE, expected_failed_checks=refused)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@only(
    TWO_CLASSES | ALL_LABELS,
    estimator_checks.parametrize_with_checks(WHOLE, expected_failed_checks=rightly_failed),
)
def test_scikit_learns_contract_with_labels_that_do_not_apply(proper_labels, estimator, check):
    check(estimator)


@only(
    OWN,
    estimator_checks.parametrize_with_checks(
        [checked(name) for name in METHODS if name not in FULLY],
        expected_failed_checks=rightly_failed,
    ),
)
def test_a_methods_own_part_of_the_contract(proper_labels, estimator, check):
    check(estimator)


@pytest.mark.slow
@estimator_checks.parametrize_with_checks(
    [
        checked(
            "selection-likelihood", alpha="auto", cardinality="auto", kernel="auto", gamma="auto"
        )
    ],
    expected_failed_checks=rightly_failed,
)
def test_scikit_learns_contract_where_everything_is_chosen(proper_labels, estimator, check):
    check(estimator)
