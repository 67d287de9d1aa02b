"""Experiments: the ten-fold protocol, benchmarks of methods, and the paper's own figures."""

from complabel.studies._benchmark import BenchmarkResult, OnFold, results_as_json, run_benchmark
from complabel.studies._comparison import (
    Cell,
    compare_with_published,
    comparison_markdown,
    read_results,
)
from complabel.studies._demo import DEMO_METHODS, run_demo
from complabel.studies._pages import render_demo
from complabel.studies._protocol import FoldResult, cross_validate, draw_labels, split_folds
from complabel.studies._published import Published, published_results

__all__ = [
    "DEMO_METHODS",
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
    "render_demo",
    "results_as_json",
    "run_benchmark",
    "run_demo",
    "split_folds",
]
