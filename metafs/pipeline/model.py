"""A model in hand: what predicts new rows of a problem that was solved."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.dummy import DummyClassifier, DummyRegressor

from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.errors import ProblemError
from metafs.pipeline.choice.choosing import Choice
from metafs.pipeline.scoring import model_on
from metafs.stats.preparation import chosen_columns


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A learner on the selected columns of a problem, fitted to all its rows."""

    problem: str
    feature_names: tuple[str, ...]
    """All columns of the problem, in the order in which a bare array must have them."""
    columns: Array
    """Which of these the learner sees."""
    classes: tuple[str, ...] | None
    """The labels of the classes; None if the target is a number."""
    estimator: Any

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the columns that the model needs."""
        return tuple(self.feature_names[column] for column in self.columns)

    def predict(self, X: Any) -> Array:
        """Return the class label, or the number, of each row of a data frame or an array."""
        found = np.asarray(self.estimator.predict(self._rows(X)))
        return found if self.classes is None else np.asarray(self.classes)[found]

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, in the order of `classes`."""
        return np.asarray(self.estimator.predict_proba(self._rows(X)))

    def _rows(self, X: Any) -> Matrix:
        if nw.dependencies.is_into_dataframe(X):
            frame = nw.from_native(X, eager_only=True)
            missing = [name for name in self.features if name not in frame.columns]
            if missing:
                raise ProblemError(
                    f"the table lacks the column {missing[0]!r}, which the model of "
                    f"{self.problem!r} needs."
                )
            rows = frame.select(list(self.features)).to_numpy() if self.features else X
        else:
            rows = X if issparse(X) else np.asarray(X)
            if rows.shape[1] != len(self.feature_names):
                raise ProblemError(
                    f"the model of {self.problem!r} was fitted to {len(self.feature_names)} "
                    f"columns, but these rows have {rows.shape[1]}."
                )
            rows = chosen_columns(rows, self.columns)
        if not self.features:
            return np.zeros((len(rows), 1))
        return rows.astype(np.float64)


def fitted_model(choice: Choice, problem: Problem | None = None) -> FittedModel:
    """Return the chosen pipeline's learner, fitted to the chosen columns of a problem.

    By default that is the problem on whose rows the pipeline was chosen.
    """
    problem = problem or choice.evaluation.problem
    columns = choice.columns
    if choice.candidate is None:
        guess = DummyClassifier() if problem.is_classification else DummyRegressor()
        nothing = np.zeros((problem.n_samples, 1))
        estimator = guess.fit(nothing, problem.y, sample_weight=problem.sample_weight)
        columns = columns[:0]
    else:
        learner = choice.evaluation.learners[choice.candidate.learner]
        evaluation = choice.evaluation
        estimator = model_on(
            problem, columns, learner, prior=evaluation.prior, decide_for=evaluation.scoring
        )
    classes = None if problem.classes is None else tuple(problem.classes)
    return FittedModel(problem.name, tuple(problem.feature_names), columns, classes, estimator)
