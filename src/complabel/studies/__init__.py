"""Experiments: the ten-fold protocol, benchmarks of methods, and the paper's own figures."""

from complabel.studies._benchmark import BenchmarkResult, OnFold, results_as_json, run_benchmark
from complabel.studies._comparison import (
    Cell,
    compare_with_published,
    comparison_markdown,
    read_results,
)
from complabel.studies._protocol import FoldResult, cross_validate, draw_labels, split_folds
from complabel.studies._published import Published, published_results

__all__ = [
    "BenchmarkResult",
    "Cell",
    "FoldResult",
    "OnFold",
    "Published",
    "compare_with_published",
    "comparison_markdown",
    "cross_validate",
    "draw_labels",
    "published_results",
    "read_results",
    "results_as_json",
    "run_benchmark",
    "split_folds",
]
