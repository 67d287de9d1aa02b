"""Type aliases of the arrays that methods pass on."""

from typing import Any

from complabel._parameters import Array as Array
from complabel._parameters import Indicator as Indicator

Features = Any
"""An ndarray or CSR array of shape (n_samples, n_features), already validated."""
