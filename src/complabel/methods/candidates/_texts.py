"""Text that the docstrings of several methods on candidate labels share."""

from complabel.methods._documented import EXAMPLE

TEXTS = {
    "objective": """objective_ : ndarray of shape (n_rounds,)
    The objective after each round; it never rises.
{attributes}""",
    "attributes": """coef_, intercept_ : ndarrays of shape (K, n_features) and (K,)
    W; the intercept is zero without ``fit_intercept``.
n_iter_ : int
    Rounds made.
converged_ : bool
    Whether ``tol`` was met.
{shape}""",
    "shape": """classes_ : ndarray of shape (K,)
n_features_in_ : int""",
    "regression": """Known relevant labels are not used: they are candidates already.
``predict_proba`` is the logistic curve that agrees with the score to first order at 0.5. Above
8000 features no d x d matrix is formed: W is found by conjugate gradients, O(nnz K) a step.""",
    "example": EXAMPLE,
}
