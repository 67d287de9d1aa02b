"""Estimates of how often each label applies: what the field calls class priors, or prevalence."""

from complabel.frequencies._changes import MachineChanges
from complabel.frequencies._comparison import (
    AuditComparison,
    SecondPerson,
    compare_audits,
    compare_with_second_person,
)
from complabel.frequencies._comparison import answered_twice as answered_twice
from complabel.frequencies._counts import Audit as Audit
from complabel.frequencies._counts import about_the_others as about_the_others
from complabel.frequencies._counts import by_machine as by_machine
from complabel.frequencies._counts import chosen_at_random as chosen_at_random
from complabel.frequencies._counts import drawn_at_random as drawn_at_random
from complabel.frequencies._counts import draws_of as draws_of
from complabel.frequencies._counts import forms_by_machine as forms_by_machine
from complabel.frequencies._counts import forms_of as forms_of
from complabel.frequencies._counts import inverse_probability as inverse_probability
from complabel.frequencies._counts import judged_at_random as judged_at_random
from complabel.frequencies._counts import named_at_random as named_at_random
from complabel.frequencies._counts import refuse_without_sample as refuse_without_sample
from complabel.frequencies._counts import stand_for as stand_for
from complabel.frequencies._counts import sums_by as sums_by
from complabel.frequencies._earlier import drawn_by_others as drawn_by_others
from complabel.frequencies._earlier import months_of as months_of
from complabel.frequencies._estimate import LabelFrequencies, estimate_label_frequencies
from complabel.frequencies._estimate import check_auto_or_given as check_auto_or_given
from complabel.frequencies._estimate import checked_machines as checked_machines
from complabel.frequencies._estimate import checked_probabilities as checked_probabilities
from complabel.frequencies._estimate import (
    frequencies_with_propensities as frequencies_with_propensities,
)
from complabel.frequencies._estimate import given_frequencies as given_frequencies
from complabel.frequencies._estimate import rates_of_lists as rates_of_lists
from complabel.frequencies._estimate import rates_of_mistakes as rates_of_mistakes
from complabel.frequencies._exposure import estimate_exposure as estimate_exposure
from complabel.frequencies._exposure import shared_exposure as shared_exposure
from complabel.frequencies._exposure import tag_shares as tag_shares
from complabel.frequencies._machine import MachineAudit, MachineRates, audit_machine
from complabel.frequencies._machine_files import MachineFiles as MachineFiles
from complabel.frequencies._machine_files import read_machines
from complabel.frequencies._machine_strata import NOTHING as NOTHING
from complabel.frequencies._machine_strata import YES as YES
from complabel.frequencies._machine_strata import Strata as Strata
from complabel.frequencies._machine_strata import scores_of as scores_of
from complabel.frequencies._sequential import answers_left as answers_left
from complabel.frequencies._sequential import beside_predictions as beside_predictions
from complabel.frequencies._sequential import interval_at_goal as interval_at_goal
from complabel.frequencies._sequential import interval_whenever as interval_whenever
from complabel.frequencies._strata import drawn_chances as drawn_chances
from complabel.frequencies._strata import what_is_left as what_is_left

__all__ = [
    "AuditComparison",
    "LabelFrequencies",
    "MachineAudit",
    "MachineChanges",
    "MachineRates",
    "SecondPerson",
    "audit_machine",
    "compare_audits",
    "compare_with_second_person",
    "estimate_label_frequencies",
    "read_machines",
]
