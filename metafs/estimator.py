"""MetaSelector: the loop as a scikit-learn estimator, for use inside any pipeline."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_X_y, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from metafs.data.of_rows import fit_groups, fit_weights
from metafs.data.problem import Problem
from metafs.data.target import settled
from metafs.data.text_input import holds_text, numbers_of_text
from metafs.data.typing import Array, Matrix
from metafs.data.unlabelled import labelled_rows
from metafs.errors import UsageError
from metafs.memory import MetaDB
from metafs.memory.memory import Memory
from metafs.memory.one_for_a_name import keep_one, would_be_kept
from metafs.pipeline.expecting import own_prior
from metafs.pipeline.fitted_html import ChosenInHtml
from metafs.pipeline.recording import finish
from metafs.pipeline.scoring import confidence_of, qualities
from metafs.pipeline.selection import Selection, select
from metafs.pipeline.settings import Plan, Settings
from metafs.pipeline.steps import PreparedTask, Stopwatch, TaskResult, leave, prepare, search
from metafs.plugin.prior import as_prior
from metafs.plugin.registry import Registry
from metafs.stats.discretise import codes_kept
from metafs.stats.linear.rows import stacked

UNNAMED = "unnamed"


@cache
def installed_registry() -> Registry:
    """Return the installed plugins, looked up once in a process, when first needed."""
    return Registry()


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
        told = self._of_rows(y, groups, sample_weight)
        X, y, without = labelled_rows(X, y)
        unlabelled = [each for each in (without, X_unlabelled) if each is not None]
        X, y, X_unlabelled, categories = self._validated(plan, X, y, unlabelled)
        names = getattr(self, "feature_names_in_", None)
        keep = self._kept_columns(names)
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
                **told,
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
            problem = replace(problem, X_unlabelled=X_unlabelled, categories=categories, **told)
            task, selection = self._fit_with_memory(self.db, problem, plan, prior, keep)
        self.selection_ = selection
        self.scores_, self.ranking_ = selection.scores, selection.ranking
        self.n_evaluations_, self.stopped_ = selection.n_evaluations, selection.stopped
        self.prior_ = task.prior if task else prior
        self.neighbours_ = [(n.name, n.distance) for n in task.neighbours] if task else []
        return self

    def _of_rows(self, y: Any, groups: Any, sample_weight: Any) -> dict[str, Any]:
        """Return groups and weights of the rows that have a target, as far as they were given."""
        given = {"groups": (groups, fit_groups), "sample_weight": (sample_weight, fit_weights)}
        where = self.name or UNNAMED
        return {
            name: labelled_rows(checked(values, _num_samples(y), where), y)[0]
            for name, (values, checked) in given.items()
            if values is not None
        }

    def _validated(
        self, plan: Plan, X: Any, y: Any, unlabelled: list[Any]
    ) -> tuple[Matrix, Array, Matrix | None, dict[int, tuple[str, ...]]]:
        """Return all as numbers, and the labels of the columns that held text."""
        sparse = "csr" if get_tags(plan.selector).input_tags.sparse else False
        rules = {
            "accept_sparse": sparse,
            "ensure_all_finite": "allow-nan",
            "dtype": np.float64,
        }
        categories: dict[int, tuple[str, ...]] = {}
        if not any(map(holds_text, [X, *unlabelled])):
            X, y = validate_data(self, X, y, ensure_min_samples=2, **rules)
            more = [validate_data(self, each, reset=False, **rules) for each in unlabelled]
        else:
            validate_data(self, X, skip_check_array=True)  # for the names of the columns
            for each in unlabelled:
                validate_data(self, each, skip_check_array=True, reset=False)
            (X, *more), categories = numbers_of_text([X, *unlabelled], self.name or UNNAMED)
            X, y = check_X_y(X, y, ensure_min_samples=2, **rules)
        return X, y, stacked(more[0], *more[1:]) if more else None, categories

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
                confidence = confidence_of(plan.selector)
                quality = qualities(problem, selection.selected, confidence=confidence)
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

    def _kept_columns(self, names: Array | None) -> list[int]:
        """Return the positions of the columns to keep, which may be given by name."""
        place = {} if names is None else {name: index for index, name in enumerate(names)}
        place |= {index: index for index in range(self.n_features_in_)}
        unknown = [column for column in self.keep or () if column not in place]
        if unknown:
            raise UsageError(f"there is no column {unknown[0]!r} to keep.")
        return [place[column] for column in self.keep or ()]

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.selection_.selected

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        theirs = get_tags(self._plan().selector).input_tags
        tags.input_tags.sparse = theirs.sparse
        tags.input_tags.allow_nan = True  # what takes none is given others in their place
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags
