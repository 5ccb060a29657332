"""Any pipelines side by side on a stream: the same folds, nested scores, ranks over problems."""

from metafs.comparison.pipelines import Pipeline, pipelines_of
from metafs.comparison.ranks import RankTest, critical_difference, rank_test
from metafs.comparison.result import Comparison, Entry, Summary
from metafs.comparison.running import compare, run

__all__ = [
    "Comparison",
    "Entry",
    "Pipeline",
    "RankTest",
    "Summary",
    "compare",
    "critical_difference",
    "pipelines_of",
    "rank_test",
    "run",
]
