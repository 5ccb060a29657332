"""What the Jensen-Shannon distances share: the metric, and how a target is labelled."""

from math import sqrt

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.plugin.signature import Signature, jensen_shannon
from metafs.stats.discretise import discretise_target


class RootJensenShannon:
    """The square root of the Jensen-Shannon divergence: a metric in [0, 1]."""

    in_sql = True

    def distance(self, a: Signature, b: Signature) -> float:
        """Return the distance of two described problems."""
        return sqrt(jensen_shannon(a, b))


def labelled_target(problem: Problem, n_bins: int) -> tuple[Array, tuple[str, ...]]:
    """Return a code for each row and the text each code stands for.

    Classes keep their labels, so two problems that share a class share its keys; a numeric
    target is cut into bins of equal frequency, named by their order.
    """
    if problem.classes is not None:
        return problem.y, problem.classes
    codes = discretise_target(problem.y, n_bins=n_bins)
    return codes, tuple(f"q{code + 1}" for code in range(int(codes.max()) + 1))
