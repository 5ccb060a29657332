"""MetaSelector: the loop as a scikit-learn estimator, for use inside any pipeline."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from metafs.data.problem import Problem
from metafs.data.target import settled
from metafs.data.typing import Array
from metafs.estimator.fit_input import (
    UNNAMED,
    installed_registry,
    kept_positions,
    read,
    row_metadata,
)
from metafs.memory import MetaDB
from metafs.memory.memory import Memory
from metafs.memory.named_fits import keep_one, would_be_kept
from metafs.pipeline.display.fitted_html import ChosenInHtml
from metafs.pipeline.expecting import own_prior
from metafs.pipeline.fitting.selection import Selection, select
from metafs.pipeline.plan import Plan
from metafs.pipeline.preparing import prepare
from metafs.pipeline.recording import finish
from metafs.pipeline.settings import Settings
from metafs.pipeline.steps import leave, quality_of, search
from metafs.pipeline.task import PreparedTask, Stopwatch, TaskResult
from metafs.plugin.prior import as_prior
from metafs.plugin.registry import Registry
from metafs.stats.discretise import codes_kept


class MetaSelector(ChosenInHtml, SelectorMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """Select features with the memory of earlier problems.

    With a `db` it recalls near problems, starts from what worked there and records what it
    found; without one it is an ordinary selector.

    Parameters
    ----------
    selector : str or estimator
        A public name, or any scikit-learn-compatible selector.
    db : path, optional
        The MetaDB. Columns need names (give a data frame) or a `space`, or nothing is recalled.
    name : str, optional
        How the problem is called; give it one. Fits of the same name never recall each other,
        so that a fold of a cross-validation cannot learn from another fold's rows. Of the fits of
        one name memory keeps that with the most rows (of equals the first), so that folds do not
        flood it. A fit without a name recalls, but is not remembered.
    space : str, optional
        The pool of features in which equal names mean the same feature.
    transfer, distance, regressor, n_neighbors, threshold
        How memory is used; as in ``metafs solve``.
    params : dict, optional
        Parameters of the selector.
    keep : sequence of str or int, optional
        Columns, by name or position, that are always selected.
    max_evaluations, max_seconds
        The budget of a selector that searches; by default the selector's own.
    registry : Registry, optional
        The plugins; by default those that are installed.
    random_state : int, optional
        Seed of the selector.

    Attributes
    ----------
    scores_, ranking_, n_evaluations_, stopped_
        As the selector left them.
    prior_ : Prior or None
        What memory expected, with the sources.
    neighbours_ : list of (str, float)
        The recalled problems and their distances.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MetaSelector("infogain", params={"n_features_to_select": 2}).fit(X, y).get_support()
    array([False, False,  True,  True])
    """

    def __init__(
        self,
        selector: Any = "climb",
        *,
        db: str | PathLike[str] | None = None,
        name: str | None = None,
        space: str | None = None,
        transfer: str = "guided",
        distance: str = "jsd-features",
        regressor: str | None = None,
        n_neighbors: int = 5,
        threshold: float = 0.1,
        params: dict[str, Any] | None = None,
        keep: Sequence[str | int] | None = None,
        max_evaluations: int | None = None,
        max_seconds: float | None = None,
        registry: Registry | None = None,
        random_state: int | None = None,
    ) -> None:
        self.selector = selector
        self.db = db
        self.name = name
        self.space = space
        self.transfer = transfer
        self.distance = distance
        self.regressor = regressor
        self.n_neighbors = n_neighbors
        self.threshold = threshold
        self.params = params
        self.keep = keep
        self.max_evaluations = max_evaluations
        self.max_seconds = max_seconds
        self.registry = registry
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        prior: Any = None,
        meta_features: Any = None,
        X_unlabelled: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Select features of X; a prior given by hand takes the place of memory's.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers, text, categories, booleans or dates, some of them missing.
        y : array of shape (n_samples,)
            Rows whose target is missing (NaN, None, empty text) count as rows without a target.
        prior : array of shape (n_features,) or Prior, optional
            Expectations in [0, 1].
        meta_features : array or data frame of shape (n_features, k), optional
            Properties of the features, NaN where unknown. Memory compares those of one name;
            columns of a bare array are called m0, m1, ...
        X_unlabelled : array, sparse matrix or data frame, optional
            Rows without a target, with the columns of X, for selectors that learn from them.
        groups : array of shape (n_samples,), optional
            Rows of one group are never divided by a selector that cross-validates.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts, for selectors that take weights.
        """
        plan = self._plan()
        metadata = row_metadata(self, y, groups, sample_weight)
        given = read(self, X, y, X_unlabelled, sparse=self._takes_sparse(plan))
        X, y, X_unlabelled, categories = given.X, given.y, given.X_unlabelled, given.categories
        names = getattr(self, "feature_names_in_", None)
        keep = kept_positions(self.keep, names, self.n_features_in_)
        if self.db is None:
            task = None
            selector = plan.selector_for(categories, keep)
            y = settled(y, where=self.name or UNNAMED)
            if prior is None:
                prior = own_prior(plan, X.shape[1])
            selection = select(
                selector,
                X,
                y,
                prior=prior,
                meta_features=meta_features,
                X_unlabelled=X_unlabelled,
                keep=keep,
                categorical=categories,
                **metadata,
            )
        else:
            problem = Problem.of(
                X,
                y,
                name=self.name or UNNAMED,
                space=self.space,
                feature_names=names,
                meta_features=meta_features,
                leave_out="nothing",
            )
            problem = replace(problem, X_unlabelled=X_unlabelled, categories=categories, **metadata)
            task, selection = self._fit_with_memory(self.db, problem, plan, prior, keep)
        self.selection_ = selection
        self.scores_, self.ranking_ = selection.scores, selection.ranking
        self.n_evaluations_, self.stopped_ = selection.n_evaluations, selection.stopped
        self.prior_ = task.prior if task else prior
        self.neighbours_ = [(n.name, n.distance) for n in task.neighbours] if task else []
        return self

    @staticmethod
    def _takes_sparse(plan: Plan) -> bool:
        return bool(get_tags(plan.selector).input_tags.sparse)

    def _fit_with_memory(
        self, db: str | PathLike[str], problem: Problem, plan: Plan, prior: Any, keep: list[int]
    ) -> tuple[PreparedTask, Selection]:
        """Recall, select, and record what memory is to keep: one problem for a name."""
        memory = Memory(MetaDB(db), plan.distance)
        memory.db.ensure()
        task = prepare(problem, plan, memory, exclude_name=problem.name, learning=False)
        if prior is not None:
            task = replace(task, prior=as_prior(prior, problem.n_features))
        clock = Stopwatch()
        with codes_kept(problem):
            with clock("select"):
                selection = search(task, keep)
            again = memory.solved(problem, plan.settings.digest_for(problem)) is not None
            if self.name is not None and not again and would_be_kept(memory.db, problem):
                quality = quality_of(task, selection)
                with clock("learn"):
                    reference = leave(task)
                result = TaskResult(selection, None, quality, clock.seconds, learned=reference)
                finish(task, result, memory)
                keep_one(memory.db, problem)
        return task, selection

    def _plan(self) -> Plan:
        settings = Settings(
            selector=self.selector,
            params=self.params or {},
            distance=self.distance,
            transfer=self.transfer,
            regressor=self.regressor,
            neighbours=self.n_neighbors,
            threshold=self.threshold,
            budget=self.max_evaluations,
            seconds=self.max_seconds,
            keep=tuple(map(str, self.keep or ())),
            seed=self.random_state,
        )
        return settings.resolve(self.registry or installed_registry())

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.selection_.selected

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse(self._plan())
        tags.input_tags.allow_nan = True  # what takes none is given others in their place
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags
