"""Type aliases of the arrays that methods pass on."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Features = Any
"""An ndarray or CSR array of shape (n_samples, n_features), already validated."""

Array: TypeAlias = NDArray[np.float64]
Indicator: TypeAlias = NDArray[np.uint8]
