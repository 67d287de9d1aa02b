"""Datasets that need no file: canvases of digits, and a logistic model."""

import numpy as np
from scipy.special import expit, log_expit

from complabel._parameters import Array, Indicator, check_integer, check_random_state, check_real
from complabel.datasets._dataset import MultiLabelDataset

_N_GROUPS = 10  # as many as the usual number of folds
_SIDE = 8  # pixels of a source image
_N_CLASSES = 10
_MAX_LABELS = 12  # memory and time grow with the 2^K label sets, which are all listed
_CELLS_PER_CHUNK = 1 << 21  # 16 MiB of probabilities


def make_digits(
    n_samples: int = 5000, *, random_state: int | np.random.Generator = 0
) -> MultiLabelDataset:
    """Compose canvases of one to four different handwritten digits.

    The digits are placed in random quadrants of 8 x 8 pixels; they are the labels of the canvas.

    The 1797 source images are divided into 10 groups. Each group has all ten digits, and a canvas
    uses only images of its own group. Split by ``groups``, so that no source image is in both
    training and test.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of canvases n, divided evenly among the groups.
    random_state : int or numpy.random.Generator, default=0
        The same integer gives the same dataset.

    Returns
    -------
    MultiLabelDataset
        A dataset named "digits": X of shape (n, 256) with values in [0, 1], ten labels "0" to
        "9", and groups.

    Raises
    ------
    InputError
        If an argument is out of range.

    References
    ----------
    The images are those of ``sklearn.datasets.load_digits``: E. Alpaydin and C. Kaynak,
    "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998.

    Examples
    --------
    >>> data = make_digits(50)
    >>> data.X.shape, data.Y.shape, int(data.Y.sum(axis=1).max())
    ((50, 256), (50, 10), 4)
    """
    from sklearn.datasets import load_digits  # this import takes over a second

    check_integer("n_samples", n_samples, at_least=1)
    rng = check_random_state(random_state)
    source = load_digits()
    # Shuffle the images and sort them by digit; the groups take each digit's images in turn.
    shuffled = rng.permutation(source.target.size)
    order = shuffled[np.argsort(source.target[shuffled], kind="stable")]
    count = np.bincount(source.target, minlength=_N_CLASSES)
    first = np.cumsum(count) - count

    groups = rng.permutation(np.arange(n_samples) % _N_GROUPS)
    n_digits = rng.integers(1, 5, size=n_samples)
    digits = np.argsort(rng.random((n_samples, _N_CLASSES)), axis=1)[:, :4]  # (n, 4), different
    quadrants = np.argsort(rng.random((n_samples, 4)), axis=1)
    u = rng.random((n_samples, 4))

    canvas, slot = np.nonzero(np.arange(4) < n_digits[:, None])
    digit, group = digits[canvas, slot], groups[canvas]
    pool_size = (count[digit] - group + _N_GROUPS - 1) // _N_GROUPS
    pick = (u[canvas, slot] * pool_size).astype(np.intp)
    row, column = np.divmod(quadrants[canvas, slot], 2)
    pixels = np.zeros((n_samples, 2, _SIDE, 2, _SIDE))
    pixels[canvas, row, :, column, :] = source.images[
        order[first[digit] + group + _N_GROUPS * pick]
    ]
    Y = np.zeros((n_samples, _N_CLASSES), dtype=np.uint8)
    Y[canvas, digit] = 1
    side = 2 * _SIDE
    return MultiLabelDataset(
        name="digits",
        X=pixels.reshape(n_samples, side * side) / 16.0,
        Y=Y,
        label_names=tuple(map(str, range(_N_CLASSES))),
        feature_names=tuple(f"pixel_{r}_{c}" for r in range(side) for c in range(side)),
        groups=groups,
    )


def make_synthetic(
    n_samples: int = 1000,
    *,
    n_features: int = 20,
    n_labels: int = 6,
    cardinality: float = 1.5,
    signal: float = 2.0,
    random_state: int | np.random.Generator = 0,
) -> MultiLabelDataset:
    """Draw a dataset with Gaussian features and independent logistic labels.

    x is standard normal. Each label is drawn independently with probability
    f_k(x) = sigmoid(w_k^T x + b_k), under the condition that some but not all labels are relevant.

    Parameters
    ----------
    n_samples, n_features : int, default=1000, 20
        n and d.
    n_labels : int, default=6
        K, from 3 to 12: a set is drawn from all 2^K sets.
    cardinality : float, default=1.5
        Mean of f_1 + ... + f_K over the sample, above 0 and below K. The mean number of relevant
        labels is somewhat larger, because empty sets are excluded.
    signal : float, default=2.0
        Standard deviation of w_k^T x, above 0: how much the features tell about the labels.
    random_state : int or numpy.random.Generator, default=0
        The same integer gives the same dataset.

    Returns
    -------
    MultiLabelDataset
        A dataset named "synthetic".

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> make_synthetic(200, n_labels=4).Y.shape
    (200, 4)
    """
    check_integer("n_samples", n_samples, at_least=1)
    check_integer("n_features", n_features, at_least=1)
    check_integer("n_labels", n_labels, at_least=3)
    check_real("n_labels", n_labels, at_most=_MAX_LABELS)
    check_real("cardinality", cardinality, above=0, below=n_labels)
    check_real("signal", signal, above=0)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_features))
    weights = rng.standard_normal((n_features, n_labels))
    weights *= signal / np.linalg.norm(weights, axis=0)
    bias = 0.5 * rng.standard_normal(n_labels)
    logits = X @ weights + bias  # (n, K)
    logits += _shift_to(cardinality, logits)
    return MultiLabelDataset(
        name="synthetic",
        X=X,
        Y=_draw_sets(logits, rng),
        label_names=tuple(f"label_{k}" for k in range(n_labels)),
        feature_names=tuple(f"feature_{i}" for i in range(n_features)),
    )


def _shift_to(cardinality: float, logits: Array) -> float:
    """Return the number that, added to all logits, gives the mean sum of probabilities."""
    from scipy.optimize import brentq  # a quarter of the import time of this package

    bound = np.abs(logits).max() + 40.0  # sigmoid(+-40) is 0 or 1 to within 1e-17
    return float(
        brentq(lambda shift: expit(logits + shift).sum(axis=1).mean() - cardinality, -bound, bound)
    )


def _draw_sets(logits: Array, rng: np.random.Generator) -> Indicator:
    """Draw a relevant set for each row, (n, K), neither empty nor full.

    Rejection sampling would be endless if the excluded sets have almost all the probability.
    """
    n_labels = logits.shape[1]
    # All label sets except the empty and the full one, (2^K - 2, K).
    sets = ((np.arange(1, 2**n_labels - 1)[:, None] >> np.arange(n_labels)) & 1).astype(np.uint8)
    inside = sets.astype(np.float64)
    u = rng.random(len(logits))
    Y = np.empty(logits.shape, dtype=np.uint8)
    rows_per_chunk = max(1, _CELLS_PER_CHUNK // len(sets))
    for start in range(0, len(logits), rows_per_chunk):
        rows = slice(start, start + rows_per_chunk)
        log_chance = log_expit(logits[rows]) @ inside.T + log_expit(-logits[rows]) @ (1 - inside).T
        chance = np.exp(log_chance - log_chance.max(axis=1, keepdims=True))  # (rows, sets)
        chance /= chance.sum(axis=1, keepdims=True)
        cumulative = np.cumsum(chance, axis=1)
        # The last column may be rounded to below 1; scaling u by it keeps u below it.
        chosen = (cumulative > (u[rows] * cumulative[:, -1])[:, None]).argmax(axis=1)
        Y[rows] = sets[chosen]
    return Y
