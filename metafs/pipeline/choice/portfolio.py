"""Results on real tables, shipped for those who have no memory yet.

`benchmarks/portfolio.py` measures them: the success of each candidate on tables cut to several
numbers of rows. A table counts by how like the problem at hand it is: in rows, in columns, and in
what its target holds.

They were measured without memory. Where memory is expected to help, they say too little of learners
that take a prior: if memory lowers the log-loss by g, such a learner is taken to make up for
g / ln 2 of what it lacks of full success.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np

from metafs.data.problem import Problem
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.expectation import Past
from metafs.plugin.prior import Prior
from metafs.stats.linear import expected_gain

MOST = 4.0
"""How many problems of one's own all tables together are worth at most."""

USE_OF_MEMORY = {"remembered": 1.0, "voting": 0.5}
"""The part of a learner that memory helps."""


@dataclass(frozen=True, eq=False)
class Shape:
    """What of a problem tells which pipelines suit it, before anything is tried."""

    n_rows: int
    n_features: int
    n_classes: int
    """0 if the target holds numbers."""

    def likeness(self, other: "Shape") -> float:
        """Return 1 for the same shape, near 0 for another."""
        rows = np.log(self.n_rows / other.n_rows)
        columns = np.log(self.n_features / other.n_features)
        kind = 1.0 if (self.n_classes > 0) == (other.n_classes > 0) else 0.1
        return kind * float(np.exp(-(rows**2) / 2 - columns**2 / 6))


def shape_of(problem: Problem) -> Shape:
    """Return the shape of a problem."""
    n_classes = len(problem.classes) if problem.classes else 0
    return Shape(problem.n_samples, problem.n_features, n_classes)


def shipped(
    problem: Problem, *, without: Sequence[str] = (), memory_gain: float = 0.0
) -> list[Past]:
    """Return the shipped results, each with how related its table is.

    Parameters
    ----------
    problem : Problem
    without : sequence of str
        Tables to leave out.
    memory_gain : float
        By how much memory is expected to lower the log-loss of a linear model.
    """
    shape = shape_of(problem)
    found = [
        Past(
            _with_memory(past.success, memory_gain),
            shape.likeness(of),
            shipped=True,
            more_rows=float(np.log(of.n_rows / shape.n_rows)),
        )
        for table, of, past in _tables()
        if table not in without
    ]
    total = sum(each.weight for each in found)
    if total <= MOST:
        return found
    return [replace(each, weight=each.weight * MOST / total) for each in found]


def memory_gain(problem: Problem, prior: Prior | None) -> float:
    """Return by how much memory lowered the loss of past problems with as few labels."""
    if prior is None or prior.weights is None:
        return 0.0
    counts = np.bincount(problem.y) if problem.is_classification else [problem.n_samples]
    return expected_gain(prior.weights.experience, float(min(counts)))


def _with_memory(success: Mapping[Candidate, float], gain: float) -> dict[Candidate, float]:
    made_up = min(gain / np.log(2), 1.0)
    return {
        each: value + USE_OF_MEMORY.get(each.learner, 0.0) * made_up * max(1.0 - value, 0.0)
        for each, value in success.items()
    }


def shipped_tables() -> set[str]:
    """Return the names of the tables that were measured."""
    return {table for table, _, _ in _tables()}


@cache
def _tables() -> list[tuple[str, Shape, Past]]:
    text = files(__package__).joinpath("portfolio.json").read_text()
    return [
        (
            each["table"],
            Shape(each["n_rows"], each["n_features"], each["n_classes"]),
            Past({Candidate(*which): success for *which, success in each["success"]}),
        )
        for each in json.loads(text)
    ]
