"""Files of features in every format that holds them, for tests to write."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

NAMES = ["red", "green, light", 'blue "sky"']
IDS = ["007", "7", "b,c.jpg", 'a "x".jpg', "über\nzwei"]


def frame(X, ids=None):
    """A data frame of features, with a column of ids if there are any."""
    table = pd.DataFrame(X, columns=[*NAMES, *(f"x{at}" for at in range(X.shape[1]))][: X.shape[1]])
    if ids is not None:
        table.insert(1, "item", ids)  # the column need not be the first
    return table


def write_csv(path, X, ids):
    frame(X, ids).to_csv(path, index=False)


def write_lists(path, X, ids):
    values = pa.array(list(X), pa.list_(pa.from_numpy_dtype(X.dtype)))
    pq.write_table(pa.table({"item": ids, "embedding": values}), path)


def write_fixed_lists(path, X, ids):
    values = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])
    pq.write_table(pa.table({"item": pa.array(ids, pa.large_string()), "e": values}), path)


def write_npz(path, X, ids):
    np.savez(path, X=X, items=np.array(ids), feature_names=np.array(NAMES[: X.shape[1]]))


WITH_IDS = {
    "csv": ("X.csv", write_csv),
    "csv.gz": ("X.csv.gz", write_csv),
    "tsv": ("X.tsv", lambda path, X, ids: frame(X, ids).to_csv(path, index=False, sep="\t")),
    "parquet": ("X.parquet", lambda path, X, ids: frame(X, ids).to_parquet(path, index=False)),
    "parquet of lists": ("lists.parquet", write_lists),
    "parquet of fixed lists": ("fixed.parquet", write_fixed_lists),
    "npz": ("X.npz", write_npz),
}


def write_own_sparse(path, X):
    whole = sparse.csr_array(X)
    np.savez(
        path, X_data=whole.data, X_indices=whole.indices, X_indptr=whole.indptr, X_shape=whole.shape
    )


def write_svmlight(path, X):
    dump_svmlight_file(X, np.ones((len(X), 2)), str(path), zero_based=False, multilabel=True)


WITHOUT_IDS = {
    "npy": ("X.npy", np.save),
    "npz of parts": ("parts.npz", write_own_sparse),
    "npz of SciPy": ("scipy.npz", lambda path, X: sparse.save_npz(path, sparse.csr_matrix(X))),
    "npz of SciPy, by columns": (
        "csc.npz",
        lambda path, X: sparse.save_npz(path, sparse.csc_array(X)),
    ),
    "svmlight": ("X.svm", write_svmlight),
}


def write_text(path, text):
    """Write a text file, packed if its name says so, and return its path."""
    raw = text.encode()
    path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)
    return path
