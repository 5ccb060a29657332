"""What a learner tried: read from a fitted model for the memory, and for learners of near problems.

A learner that `SupportsCandidates`, as moses does, names features by their number among the columns
it was given. In the memory they go by name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.memory import LearnerCandidate
from metafs.plugin.programs import Program, with_features
from metafs.plugin.protocols import SupportsCandidates


@dataclass(frozen=True)
class Tried:
    """The candidates of a learner, and the least and the greatest score that they can have."""

    candidates: tuple[LearnerCandidate, ...]
    least_score: float
    greatest_score: float


def tried_by(estimator: Any, problem: Problem, columns: Array) -> Tried | None:
    """Return what the learner of a fitted pipeline tried on some columns of a problem.

    None if it does not tell, or if what it was given were not the columns themselves.
    """
    if not isinstance(estimator, Pipeline) or problem.classes is None:
        return None
    *before, (_, learner) = estimator.steps
    if not isinstance(learner, SupportsCandidates):
        return None
    if not all(isinstance(step, SimpleImputer) for _, step in before):
        return None
    names = [problem.feature_names[column] for column in np.asarray(columns).tolist()]
    candidates = [
        LearnerCandidate(problem.classes[int(output)], named, size, score)
        for output, candidate, size, score in learner.candidates()
        if (named := with_features(candidate, names.__getitem__)) is not None
    ]
    return Tried(tuple(candidates), *learner.score_range())


def programs_for(problem: Problem, kept: Iterable[LearnerCandidate]) -> tuple[Program, ...]:
    """Return programs of near problems with features by number, each with its negation.

    What a program says there may be true of the other class here.
    """
    place = {name: column for column, name in enumerate(problem.feature_names)}
    found: dict[str, Program] = {}
    for each in kept:
        program = with_features(each.candidate, place.get)
        if program is not None:
            found.setdefault(repr(program), program)
    return tuple(each for program in found.values() for each in (program, {"not": program}))
