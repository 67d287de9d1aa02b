"""Methods that learn from complementary labels: scikit-learn classifiers, one file each."""

from complabel.methods._base import ComplementaryClassifier
from complabel.methods._registry import METHODS, Method, get_method, make_classifier
from complabel.methods.mlcl import MLCLClassifier
from complabel.methods.prior import PriorClassifier
from complabel.methods.supervised import SupervisedClassifier

__all__ = [
    "METHODS",
    "ComplementaryClassifier",
    "MLCLClassifier",
    "Method",
    "PriorClassifier",
    "SupervisedClassifier",
    "get_method",
    "make_classifier",
]
