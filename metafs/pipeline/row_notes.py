"""Notes on rows: that they seem to repeat, and who counts them alike although they have weights."""

from collections.abc import Mapping
from typing import Any

from metafs.data.problem import Problem
from metafs.stats.repeated_rows import repeated_rows
from metafs.stats.scorers import scorer_named, takes_weight
from metafs.stats.weighting import takes_weights


def row_notes(
    problem: Problem, estimators: Mapping[str, Any], scoring: str | None = None
) -> tuple[str, ...]:
    """Return what a user should know of how the rows of a problem were taken.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> problem = Problem.of([[0.0], [1.0]], [0, 1], sample_weight=[1.0, 2.0])
    >>> row_notes(problem, {"learner 'knn'": KNeighborsClassifier()})
    ("these take no weights and count all rows alike: learner 'knn'",)
    """
    repeated = repeated_rows(problem)
    found = () if repeated is None else (repeated,)
    if problem.sample_weight is None:
        return found
    without = [name for name, estimator in estimators.items() if not takes_weights(estimator)]
    if scoring is not None and not takes_weight(scorer_named(scoring)):
        without.append(f"scoring {scoring!r}")
    if not without:
        return found
    return (*found, f"these take no weights and count all rows alike: {', '.join(without)}")
