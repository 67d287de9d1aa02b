"""What the docstring of the classifier says of its parameters, in parts."""

TEXTS = {
    "of_features": """scaling : {"auto", "standardize", "global", "rows"}, default="auto"
    Only used without a kernel: divide each feature by its standard deviation, or all features
    by one number, or each row by its length first, which suits words.
kernel : {"auto", "linear", "rbf"}, default="auto"
    ``"rbf"`` learns a linear map of exp(-gamma ||x - x'||^2), approximated by its values at
    some of the training rows; so does ``"auto"`` where that predicts held-out answers better.
    ``"auto"`` is ``"linear"`` with more than 500,000 rows.
gamma : "auto" or float, default="auto"
    Only used with the kernel. ``"auto"`` searches around one over the mean squared distance
    of two rows.
n_components : int, default=500
    The most training rows that the kernel is approximated by.
rank : "auto", int or None, default="auto"
    The greatest rank of W, so that labels share what they learn. None leaves it free, as does
    a rank that W cannot exceed. ``"auto"`` compares None with 2, 4, 8, 16 and 32 by held-out
    answers; it is None where all labels were named freely.""",
    "of_people": """label_frequencies : "auto", None or array-like of shape (K,), default="auto"
    To what share of the rows each label applies, in [0, 1], if known: the mean probability of
    each label is held near to it. ``"auto"`` estimates it where labels were named freely and
    at least K yes/no answers are about random labels, but not where most answers say it by
    themselves: by :func:`complabel.frequencies.estimate_label_frequencies`, sharpened by a fit
    to the other answers, and with the cardinality that held-out answers prefer within 1.5
    standard errors. Propensities follow from it. None, or ``cardinality=None``, leaves it out.
propensities : None, "auto", "equal" or array-like of shape (K,), default=None
    How readily each label comes to the mind of somebody who is to name one, relative to the
    others. ``"equal"`` takes all alike. ``"auto"`` fits them, and is refused where the answers
    do not determine them. Those that do are namings from random menus on which "all of these
    apply" can be said, or free namings beside yes/no answers about random labels. Where label
    frequencies are known or estimated they follow from these. Else None fits them where there
    are ten such answers for each label and the held-out ones show it by two standard errors;
    else it takes all alike, and warns of free namings that cannot show whether that holds.
error_rate : float, "auto" or "per-annotator", default=0.0
    The chance, in [0, 1), that an answer is drawn at random from all that its question allows.
    ``"auto"`` fits one rate of all where held-out answers gain by it, or where answers
    contradict each other. ``"per-annotator"`` estimates one for each from held-out answers,
    and needs answers that say who gave them. Those rates are drawn a little towards 0.1, as ten
    more answers would.
exclusion_rates : None, float or array-like of shape (K,), default=None
    How often a label that does not apply is excluded by the rule or report that excluded some,
    in [0, 1]. None takes them from label frequencies, given ones or by at least K yes/no
    answers about random labels: what share of a label is excluded, over how often it does not
    apply. Without either it takes excluded labels as named freely, and warns. They are never
    fitted: features predict a rule, and the likelihood would take that for a high rate.""",
    "of_search": """cv_results_ : dict of ndarrays of shape (n_settings,)
    The settings tried, as of scikit-learn's searches: ``param_NAME`` for each parameter,
    masked where it has no part; ``mean_test_score``, the mean log-likelihood of held-out
    rows; ``std_test_score`` over the folds; ``rank_test_score``. Further
    ``standard_error_of_difference`` to the best, and ``chosen``. A setting that is clearly
    lost on the first fold is not fitted to others; its mean is then as far from the best as
    on that one. Many rows are searched in parts, each within the next: ``n_resources`` is how
    many rows a setting was tried on. If there are more rows than that, ``alpha_`` is smaller
    than the alpha chosen, in proportion. Beside parameters,
    ``param_propensity_spread`` is the standard deviation a priori of log-propensities that
    were fitted; ``param_error_rate`` is the mean over annotators. Where label frequencies were
    estimated, ``alpha_`` and ``cardinality_`` are chosen once more, once these are sharpened.
    Only if something was chosen.
cardinality_curve_ : dict of ndarrays of shape (n_cardinalities,)
    ``cardinality``, and ``mean_log_likelihood`` with the best alpha tried for it. Only if
    the cardinality was chosen.""",
    "found_of_people": """label_frequencies_ : ndarray of shape (K,)
    Only where they were given or estimated: then as they go with ``cardinality_``.
label_frequencies_errors_, label_frequencies_covariance_ : ndarray of shape (K,) and (K, K)
    Standard errors, and what they come from. Only where frequencies were estimated.
propensities_ : ndarray of shape (K,)
    Only where they were given or found: then with a geometric mean of 1.
error_rate_ : float
    The mean over the answers; 0 without mistakes. Of annotators that ``fit`` did not know.
error_rates_ : ndarray of shape (n_annotators,)
    In the order of ``annotator_names`` of the answers. Only where ``error_rate_`` is not 0.
exclusion_rates_ : ndarray of shape (K,)
    Only where they were given, or followed from random answers.""",
}
