"""A model in hand: what predicts new rows of a problem that was solved.

A model that was not needed while its problem was solved, because selector and learner were named,
is fitted when it is first used. Until then it keeps the columns that it will learn from. So does a
model whose learner gives no probabilities, until these are asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.dummy import DummyClassifier, DummyRegressor

from metafs.data.layout import Layout
from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.pipeline.choice.choosing import Choice
from metafs.pipeline.fitting.probabilities import with_probabilities
from metafs.pipeline.fitting.scoring import model_on
from metafs.plugin.prior import Prior
from metafs.stats.preparation import chosen_columns


@dataclass(frozen=True, eq=False)
class Lesson:
    """A learner and what it learns from: a problem of the selected columns only."""

    problem: Problem
    learner: Any
    prior: Prior | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters of `model_on`."""

    def learnt(self) -> Any:
        """Return the learner, with what prepares the columns for it, fitted to all rows."""
        columns = np.arange(self.problem.n_features)
        return model_on(
            self.problem, columns, self.learner, prior=self.prior, new_rows=True, **self.options
        )

    def layout(self) -> Layout:
        """Return how rows of these columns are read."""
        return Layout.of(self.problem, range(self.problem.n_features))

    def with_probabilities(self, estimator: Any) -> Any:
        """Return an estimator that gives probabilities, if that can be had."""
        return with_probabilities(self.problem, self.learner, estimator, self.prior)


@dataclass(eq=False)
class FittedModel:
    """A learner on the selected columns of a problem, fitted to all its rows.

    New rows come as the first ones did: a data frame, whose columns are found by name, or an array
    with all columns in the order in which they were given. Text, categories, dates and truth values
    are read as they were when the problem was; a category that was not seen is none of the known.
    """

    problem: str
    layout_: Layout | None
    """How new rows are read; None if that is yet to be learnt, with the rest."""
    classes: tuple[str, ...] | None
    """The labels of the classes; None if the target is a number."""
    target: str = "y"
    space: str | None = None
    estimator_: Any = field(default=None, repr=False)
    """The fitted estimator; None if it is yet to be fitted."""
    lesson: Lesson | None = field(default=None, repr=False)
    """What is yet to be learnt from."""

    @property
    def estimator(self) -> Any:
        """The fitted scikit-learn estimator, which takes prepared rows and returns codes."""
        if self.estimator_ is None and self.lesson is not None:
            self.estimator_, self.layout_ = self.lesson.learnt(), self.layout
        if self.classes is None or hasattr(self.estimator_, "predict_proba"):
            self.lesson = None
        return self.estimator_

    @property
    def layout(self) -> Layout:
        """The columns that the model needs, and how new rows of them are read."""
        if self.layout_ is None and self.lesson is not None:
            self.layout_ = self.lesson.layout()
        assert self.layout_ is not None
        return self.layout_

    def complete(self) -> "FittedModel":
        """Learn all that is yet to be learnt, and let go of the rows; return the model itself."""
        if not hasattr(self.estimator, "predict_proba") and self.lesson is not None:
            self.estimator_ = self.lesson.with_probabilities(self.estimator_)
        self.lesson = None
        return self

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the columns that the model needs."""
        return self.layout.names

    @property
    def tells_probabilities(self) -> bool:
        """Whether the model gives the probability of each class."""
        return self.classes is not None and hasattr(self.complete().estimator, "predict_proba")

    def predict(self, X: Any) -> Array:
        """Return the class label, or the number, of each row of a data frame or an array."""
        return self.predict_rows(self.rows(X))

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, in the order of `classes`."""
        return self.proba_of_rows(self.rows(X))

    def rows(self, X: Any) -> Matrix:
        """Return rows as the estimator takes them."""
        rows = self.layout.rows(X, f"rows for the model of {self.problem!r}")
        return chosen_columns(rows, np.arange(rows.shape[1])) if issparse(rows) else rows

    def predict_rows(self, rows: Matrix) -> Array:
        """Predict rows that are numbers already."""
        found = self.outcomes(rows)
        return found if self.classes is None else np.asarray(self.classes)[found.astype(np.int64)]

    def outcomes(self, rows: Matrix) -> Array:
        """Return the code of the class, or the number, for rows that are numbers already."""
        if not rows.shape[0]:
            return np.zeros(0)
        return np.asarray(self.estimator.predict(_at_least_one_column(rows)))

    def proba_of_rows(self, rows: Matrix) -> Array:
        """Return the probability of each class for rows that are numbers already."""
        if not self.tells_probabilities:
            raise UsageError(
                f"the model of {self.problem!r} gives no probabilities: choose another learner."
            )
        if not rows.shape[0]:
            return np.zeros((0, len(self.classes or ())))
        return np.asarray(self.estimator.predict_proba(_at_least_one_column(rows)))


def _at_least_one_column(rows: Matrix) -> Matrix:
    return rows if rows.shape[1] else np.zeros((rows.shape[0], 1))


def fitted_model(choice: Choice, problem: Problem | None = None) -> FittedModel:
    """Return the chosen pipeline's learner, fitted to the chosen columns of a problem.

    By default that is the problem on whose rows the pipeline was chosen.
    """
    evaluation = choice.evaluation
    problem = problem or evaluation.problem
    if choice.candidate is None:
        guess = DummyClassifier() if problem.is_classification else DummyRegressor()
        nothing = np.zeros((problem.n_samples, 1))
        guess.fit(nothing, problem.y, sample_weight=problem.sample_weight)
        return replace(_model(problem), layout_=Layout.of(problem, ()), estimator_=guess)
    learner = evaluation.learners[choice.candidate.learner]
    model = named_model(
        problem, choice.columns, learner, evaluation.prior, decide_for=evaluation.scoring
    )
    model.estimator  # noqa: B018  (it is fitted by being asked for)
    return model


def named_model(
    problem: Problem, columns: Array, learner: Any, prior: Prior | None = None, **options: Any
) -> FittedModel:
    """Return a model of a learner on some columns, which is fitted when it is first used.

    `options` are further parameters of `model_on`.
    """
    columns = np.asarray(columns, dtype=np.int64)
    part = None if prior is None else prior.columns(columns)
    everything = np.array_equal(columns, np.arange(problem.n_features))
    chosen = problem if everything else problem.columns(columns.tolist())
    lesson = Lesson(chosen, learner, part, options)
    return replace(_model(problem), lesson=lesson)


def _model(problem: Problem) -> FittedModel:
    return FittedModel(
        problem.name,
        None,
        None if problem.classes is None else tuple(problem.classes),
        problem.target,
        problem.space,
    )
