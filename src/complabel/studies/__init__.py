"""Experiments: the ten-fold protocol, benchmarks of methods, and the paper's own figures."""

from complabel.studies._benchmark import BenchmarkResult, OnFold, results_as_json, run_benchmark
from complabel.studies._protocol import FoldResult, cross_validate, draw_labels, split_folds
from complabel.studies._published import Published, published_results

__all__ = [
    "BenchmarkResult",
    "FoldResult",
    "OnFold",
    "Published",
    "cross_validate",
    "draw_labels",
    "published_results",
    "results_as_json",
    "run_benchmark",
    "split_folds",
]
