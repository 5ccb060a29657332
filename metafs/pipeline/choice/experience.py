"""What memory knows of pipelines, for a problem at hand."""

from collections.abc import Sequence

import numpy as np

from metafs.data.problem import Problem
from metafs.memory import Neighbour, PastTrials
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.expectation import Past
from metafs.pipeline.choice.rows import MOST_ROWS
from metafs.stats.scorers import best_possible

NEAR = 2.0
"""By how much more a problem at distance 0 counts than one that is merely of the same space."""

LIKE_ROWS = 8.0
"""By how much numbers of rows may differ: twice the square of their logarithms' scale."""


def experience(
    trials: Sequence[PastTrials],
    problem: Problem,
    near: Sequence[Neighbour] = (),
    *,
    exclude_source: str | None = None,
) -> list[Past]:
    """Return what past problems of the space say of candidates, each with how related it is.

    Problems with about as many rows count most, because with few rows other pipelines win than
    with many. Those of `exclude_source` have no say.
    """
    distance = {each.problem_id: each.distance for each in near}
    found = []
    for each in trials:
        if exclude_source is not None and each.source == exclude_source:
            continue
        span = best_possible(each.scoring) - each.no_skill
        if span <= 0:
            continue
        success = {
            Candidate(learner, selector, size): (score - each.no_skill) / span
            for (selector, size, learner), score in each.scores.items()
        }
        rows = float(np.log(min(each.n_samples, MOST_ROWS) / min(problem.n_samples, MOST_ROWS)))
        nearness = 1.0 + NEAR * max(0.0, 1.0 - distance.get(each.problem_id, 1.0))
        weight = float(np.exp(-(rows**2) / LIKE_ROWS)) * nearness
        found.append(Past(success, weight, more_rows=rows))
    return found
