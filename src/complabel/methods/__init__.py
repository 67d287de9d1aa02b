"""Methods that learn from complementary labels, as scikit-learn classifiers.

Classes are imported when they are first used, because some of them need torch.
"""

from typing import TYPE_CHECKING

from complabel._lazy import lazily, places_in
from complabel.methods._places import OWN_PLACES
from complabel.methods._places import RATES as RATES
from complabel.methods._places import Grid as Grid
from complabel.methods._registry import METHODS, get_method, make_classifier
from complabel.methods._registry import Method as Method
from complabel.methods._registry import check_parameter as check_parameter
from complabel.methods._registry import home_of as home_of
from complabel.methods._registry import literal as literal
from complabel.methods._registry import methods_of as methods_of

if TYPE_CHECKING:  # a type checker cannot follow the registry's strings
    from complabel.methods._base import ComplementaryClassifier
    from complabel.methods._base import load as load
    from complabel.methods._decisions import RegressionScores as RegressionScores
    from complabel.methods._decisions import ScoresAroundHalf as ScoresAroundHalf
    from complabel.methods._door import warn_assumed as warn_assumed
    from complabel.methods._door import warn_user as warn_user
    from complabel.methods._features import far_centre as far_centre
    from complabel.methods._features import range_of as range_of
    from complabel.methods._features import refuse_overflow as refuse_overflow
    from complabel.methods._held_out import HeldOutScore as HeldOutScore
    from complabel.methods._held_out import Predictions as Predictions
    from complabel.methods._held_out import cross_fit_probabilities, held_out_score
    from complabel.methods._held_out import folds_of as folds_of
    from complabel.methods._linear_systems import MAX_DIRECT_COLUMNS as MAX_DIRECT_COLUMNS
    from complabel.methods._linear_systems import Gram as Gram
    from complabel.methods._linear_systems import RidgeSystem as RidgeSystem
    from complabel.methods._linear_systems import side_by_side as side_by_side
    from complabel.methods._notes import notes_of as notes_of
    from complabel.methods._onnx import save_onnx
    from complabel.methods._opened import SavedModel as SavedModel
    from complabel.methods._opened import about_cardinality as about_cardinality
    from complabel.methods._saving import MISSING as MISSING
    from complabel.methods._saving import Numbers as Numbers
    from complabel.methods._saving import Rows as Rows
    from complabel.methods._saving import read_header as read_header
    from complabel.methods._saving import read_model as read_model
    from complabel.methods.baselines.prior import PriorClassifier
    from complabel.methods.baselines.ridge import ComplementaryRidgeClassifier
    from complabel.methods.gradient._base import GradientClassifier as GradientClassifier
    from complabel.methods.gradient._side_by_side import fit_side_by_side as fit_side_by_side
    from complabel.methods.gradient.mlcl import MLCLClassifier
    from complabel.methods.gradient.network_likelihood import NetworkLikelihoodClassifier
    from complabel.methods.matched import FrequencyMatchedClassifier
    from complabel.methods.selection._beside_machine import BesideMachine, fit_beside_machine
    from complabel.methods.selection._beside_machine import fit_again as fit_again
    from complabel.methods.selection._classifier import SelectionLikelihoodClassifier
    from complabel.methods.selection._constant import (
        constant_log_likelihood as constant_log_likelihood,
    )
    from complabel.methods.selection._model import ProgressCallback as ProgressCallback

__all__ = [
    "METHODS",
    "BesideMachine",
    "ComplementaryClassifier",
    "ComplementaryRidgeClassifier",
    "FrequencyMatchedClassifier",
    "MLCLClassifier",
    "NetworkLikelihoodClassifier",
    "PriorClassifier",
    "SelectionLikelihoodClassifier",
    "cross_fit_probabilities",
    "fit_beside_machine",
    "get_method",
    "held_out_score",
    "make_classifier",
    "save_onnx",
]
_NAMES_IN = {
    "_base": "ComplementaryClassifier load",
    "_decisions": "RegressionScores ScoresAroundHalf",
    "_door": "warn_assumed warn_user",
    "_features": "far_centre range_of refuse_overflow",
    "_held_out": "HeldOutScore Predictions cross_fit_probabilities folds_of held_out_score",
    "_linear_systems": "MAX_DIRECT_COLUMNS Gram RidgeSystem side_by_side",
    "_notes": "notes_of",
    "_onnx": "save_onnx",
    "_opened": "SavedModel about_cardinality",
    "_saving": "MISSING Numbers Rows read_header read_model",
    "gradient._base": "GradientClassifier",
    "gradient._side_by_side": "fit_side_by_side",
    "selection._beside_machine": "BesideMachine fit_again fit_beside_machine",
    "selection._constant": "constant_log_likelihood",
    "selection._model": "ProgressCallback",
}
_PLACES = {place.partition(":")[2]: place for place in OWN_PLACES.values()}
_PLACES |= places_in(__name__, _NAMES_IN)
__getattr__, __dir__ = lazily(__name__, _PLACES)
