"""What MetaClassifier and MetaRegressor share: the steps of the loop, and their report."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import (
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from metafs.data.problem import Problem
from metafs.data.row_values import fit_weights
from metafs.data.text_input import holds_text
from metafs.data.typing import Array, Matrix
from metafs.estimator.fit_input import (
    UNNAMED,
    FitInput,
    installed_registry,
    kept_positions,
    read,
    row_metadata,
)
from metafs.memory import INTERRUPTED, MetaDB
from metafs.memory.memory import Memory
from metafs.memory.named_fits import fit_source, keep_one, would_be_kept
from metafs.pipeline.display.fitted_html import ChosenInHtml
from metafs.pipeline.engines.interruption import handled
from metafs.pipeline.preparing import prepare
from metafs.pipeline.recording import finish
from metafs.pipeline.settings import Settings
from metafs.pipeline.solution import Solution
from metafs.pipeline.steps import work
from metafs.pipeline.task import PreparedTask, TaskResult
from metafs.plugin.registry import Registry

NO_SKILL = {"selector": None, "size": 0, "learner": "no skill"}
"""The pipeline where nothing beats no skill."""


class Predictor(ChosenInHtml, SelectorMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """What classifier and regressor share: everything but what a target is."""

    _task: Literal["classes", "numbers"]

    def __init__(
        self,
        selector: Any = "auto",
        learner: Any = "auto",
        *,
        size: int | Literal["all", "auto"] = "auto",
        db: str | PathLike[str] | None = None,
        name: str | None = None,
        space: str | None = None,
        max_seconds: float | None = None,
        random_state: int | None = None,
        scoring: str | None = None,
        folds: int = 5,
        keep: Sequence[str | int] | None = None,
        max_features: int | None = None,
        params: Mapping[str, Any] | None = None,
        transfer: str = "guided",
        distance: str = "jsd-features",
        n_neighbors: int = 5,
        registry: Registry | None = None,
    ) -> None:
        self.selector = selector
        self.learner = learner
        self.size = size
        self.db = db
        self.name = name
        self.space = space
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.scoring = scoring
        self.folds = folds
        self.keep = keep
        self.max_features = max_features
        self.params = params
        self.transfer = transfer
        self.distance = distance
        self.n_neighbors = n_neighbors
        self.registry = registry

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        X_unlabelled: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        meta_features: Any = None,
    ) -> Self:
        """Choose a pipeline, score it by nested cross-validation, and fit it to all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers, text, categories, booleans or dates, some of them missing.
        y : array of shape (n_samples,)
            Rows whose target is missing (NaN, None, empty text) count as rows without a target.
        X_unlabelled : array, sparse matrix or data frame, optional
            Rows without a target, with the columns of X.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; a row of weight 0 is left out.
        groups : array of shape (n_samples,), optional
            Rows of one group are never divided between folds.
        meta_features : array or data frame of shape (n_features, k), optional
            Properties of the features, NaN where unknown.
        """
        check_consistent_length(X, y, groups)
        X, y, groups, sample_weight = self._counted(X, y, groups, sample_weight)
        metadata = row_metadata(self, y, groups, sample_weight)
        given = read(
            self,
            X,
            y,
            X_unlabelled,
            sparse=self._takes_sparse(),
            y_numeric=self._task == "numbers",
        )
        problem = replace(
            self._problem(given, meta_features),
            X_unlabelled=given.X_unlabelled,
            categories=given.categories,
            decimal_commas=given.decimal_commas,
            **metadata,
        )
        task, result, solution = self._solved(problem)
        self.model_ = solution.model.complete()
        self._report(task, result, solution)
        return self

    def predict(self, X: Any) -> Array:
        """Return the class, or the number, of each row."""
        raise NotImplementedError

    def _counted(
        self, X: Any, y: Any, groups: Any, sample_weight: Any
    ) -> tuple[Any, Any, Any, Any]:
        """Return all without the rows of weight 0."""
        weights = fit_weights(sample_weight, _num_samples(X), self.name or UNNAMED)
        if weights is None or weights.all():
            return X, y, groups, weights
        rows = np.flatnonzero(weights)
        return (*(_taken(each, rows) for each in (X, y, groups)), weights[rows])

    def _problem(self, given: FitInput, meta_features: Any) -> Problem:
        raise NotImplementedError

    def _problem_of(self, given: FitInput, y: Array, meta_features: Any) -> Problem:
        return Problem.of(
            given.X,
            y,
            name=self.name or UNNAMED,
            source=fit_source(self.name or UNNAMED),
            space=self.space,
            feature_names=getattr(self, "feature_names_in_", None),
            task=self._task,
            meta_features=meta_features,
            leave_out="nothing",
        )

    def _solved(self, problem: Problem) -> tuple[PreparedTask, TaskResult, Solution]:
        """Take the steps of the loop, and record what memory is to keep: one problem for a name."""
        names = getattr(self, "feature_names_in_", None)
        keep = kept_positions(self.keep, names, problem.n_features)
        settings = self._settings(tuple(problem.feature_names[column] for column in keep))
        plan = settings.resolve(self.registry or installed_registry())
        memory = None
        if self.db is not None:
            memory = Memory(MetaDB(self.db), plan.distance)
            memory.db.ensure()
        with handled():
            task = prepare(problem, plan, memory, exclude_name=problem.name)
            result = work(task)
        if result.selection.stopped == INTERRUPTED:
            warnings.warn(result.notes[0], UserWarning, stacklevel=4)
        if memory is None or self.name is None or not would_be_kept(memory.db, problem):
            return task, result, finish(task, result, None)
        again = memory.solved(problem, settings.digest_for(problem)) is not None
        solution = finish(task, result, None if again else memory)
        keep_one(memory.db, problem)
        return task, result, solution

    def _settings(self, keep: tuple[str, ...]) -> Settings:
        params, size = dict(self.params or {}), self.size
        if self.selector != "auto" and not isinstance(size, str):
            params, size = {"n_features_to_select": size, **params}, "auto"
        return Settings(
            selector=self.selector,
            params=params,
            learner=self.learner,
            size=size,
            max_features=self.max_features,
            distance=self.distance,
            transfer=self.transfer,
            neighbours=self.n_neighbors,
            seconds=self.max_seconds,
            scoring=self.scoring,
            folds=self.folds,
            keep=keep,
            seed=self.random_state,
        )

    def _report(self, task: PreparedTask, result: TaskResult, solution: Solution) -> None:
        """Keep what a user may want to know of how the problem was solved."""
        self.n_features_in_ = task.problem.n_features
        self._support = result.selection.selected
        self.pipeline_ = dict(solution.pipeline or NO_SKILL)
        if task.plan.contest is None:
            named = {"selector": solution.selector, "size": solution.n_selected}
            self.pipeline_ = {**named, "learner": result.learner}
        self.score_, self.scoring_ = solution.score, solution.scoring
        self.baseline_ = {"all_features": solution.all_features, "no_skill": solution.no_skill}
        self.frontier_ = list(result.frontier)
        self.leaderboard_ = [(dict(each), score) for each, score in result.leaderboard]
        if not result.leaderboard and solution.score is not None:
            self.frontier_ = [(solution.n_selected, solution.score)]
            self.leaderboard_ = [(self.pipeline_, solution.score)]
        self.memory_ = None
        if solution.memory is not None:
            self.memory_ = {**solution.memory, "reason": solution.belief}
        self.neighbours_ = list(solution.neighbours)
        self.notes_ = list(solution.notes)

    def _rows(self, X: Any) -> Matrix:
        """Return new rows as the model takes them, read as those of ``fit`` were."""
        check_is_fitted(self)
        layout, where = self.model_.layout, self.name or UNNAMED
        frame = nw.dependencies.is_into_dataframe(X)
        if (frame and hasattr(self, "feature_names_in_")) or holds_text(X):
            validate_data(self, X, skip_check_array=True, reset=False)
            by_name = frame and hasattr(self, "feature_names_in_")
            return layout.rows(X if by_name else np.asarray(X, dtype=object), where)
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr" if self._takes_sparse() else False,
            ensure_all_finite="allow-nan",
            dtype=np.float64,
        )
        return self.model_.rows(X)

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self._support

    def _takes_sparse(self) -> bool:
        """Tell whether the selector takes sparse rows; what is chosen automatically does."""
        if self.selector == "auto":
            return True
        registry = self.registry or installed_registry()
        named = isinstance(self.selector, str)
        selector = registry.selectors[self.selector] if named else self.selector
        return bool(get_tags(selector).input_tags.sparse)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags


def _taken(values: Any, rows: Array) -> Any:
    return None if values is None else _safe_indexing(values, rows)


def tells_probabilities(estimator: Predictor) -> bool:
    """Tell whether the model gives probabilities; before ``fit`` that is expected."""
    return not hasattr(estimator, "model_") or estimator.model_.tells_probabilities
