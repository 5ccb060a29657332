"""What fitting a candidate is expected to take, as selectors and learners say themselves.

Only orders of magnitude matter: what would take far too long is left out, and what takes longer has
to promise more.
"""

from collections.abc import Mapping
from typing import Any

from metafs.data.problem import Problem
from metafs.pipeline.choice.candidates import ALL, Candidate
from metafs.plugin.protocols import SupportsCost

UNKNOWN = 0.02
"""Seconds that are assumed of a selector or a learner that does not say what it costs."""


def seconds_of(fitted: Any, n_samples: int, n_features: int, n_outputs: int) -> float:
    """Return what a fit of a selector or a learner takes, roughly."""
    if not isinstance(fitted, SupportsCost):
        return UNKNOWN
    return fitted.expected_seconds(n_samples, n_features, n_outputs)


def seconds_on(
    problem: Problem,
    candidate: Candidate,
    selectors: Mapping[str, Any],
    learners: Mapping[str, Any],
) -> float:
    """Return what ranking the columns of a problem and fitting the learner take, roughly."""
    seconds = seconds_to_learn(problem, candidate, learners)
    if candidate.selector == ALL:
        return seconds
    selector = selectors[candidate.selector]
    return seconds + seconds_of(selector, problem.n_samples, problem.n_features, n_outputs(problem))


def seconds_to_learn(
    problem: Problem,
    candidate: Candidate,
    learners: Mapping[str, Any],
    n_samples: int | None = None,
) -> float:
    """Return what fitting the learner takes, roughly, to all rows of a problem or to so many."""
    width = problem.n_features if candidate.size is None else candidate.size
    n_samples = problem.n_samples if n_samples is None else n_samples
    return seconds_of(learners[candidate.learner], n_samples, width, n_outputs(problem))


def n_outputs(problem: Problem) -> int:
    """Return the number of classes if there are more than two, else 1."""
    n_classes = len(problem.classes) if problem.classes else 1
    return n_classes if n_classes > 2 else 1
