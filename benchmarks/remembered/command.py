"""The memory of the real command: a MetaDB that `metafs.solve` filled.

The past problems are solved one after the other, with their own rows only: which rows no remembered
model has seen, the pipeline has to find out itself.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from remembered.streams import New, Stream

from metafs import Problem, solve
from metafs.errors import ProblemError
from metafs.memory import MetaDB
from metafs.memory.memory import Memory
from metafs.pipeline.plan import Plan
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry
from metafs.stats.linear import WeightPrior

FILLED_BY = {"selector": "infogain", "params": {"n_features_to_select": 20}, "folds": 2}


def problem_of(stream: Stream, name: str, X: Any, y: Any, X_unlabelled: Any = None) -> Problem:
    """Return the problem as a table in a file of its own would give it."""
    problem = Problem.of(
        X,
        np.array([str(label) for label in y]) if stream.classes else y,
        name=name,
        source=f"{name}.npz",
        feature_names=[f"c{j:05d}" for j in range(X.shape[1])],
        task="classes" if stream.classes else "numbers",
        leave_out="nothing",
    )
    if X_unlabelled is None or not X_unlabelled.shape[0]:
        return problem
    return replace(problem, X_unlabelled=X_unlabelled)


class Commanded:
    """A memory that the command filled, and what it tells new problems."""

    def __init__(self, stream: Stream, file: Path) -> None:
        self.stream, self.file = stream, file
        problems = [problem_of(stream, f"past {each.name}", each.X, each.y) for each in stream.past]
        for each in solve(problems, db=file, **FILLED_BY):
            if each.status not in ("solved", "skipped"):
                raise SystemExit(f"{each.problem}: {each.error}")
        self.plan: Plan = Settings(**FILLED_BY).resolve(Registry())

    def prior(self, new: New, rows: Any) -> WeightPrior:
        """Return what the learner is told of a new problem's weights."""
        try:
            problem = problem_of(
                self.stream, f"new {new.name}", new.X[rows], new.y[rows], new.X_unlabelled
            )
        except ProblemError:  # two rows of one value: the command predicts nothing
            return WeightPrior()
        memory = Memory(MetaDB(self.file), self.plan.distance)
        task = prepare(problem, self.plan, memory)
        if task.history is None:
            return WeightPrior()
        return replace(task.history.weights, classes=None)  # y holds their names
