"""The stability of a selector on a problem, measured by resampling the rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from metafs.data.parameters import check_at_least
from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.errors import ProblemError, UsageError
from metafs.memory import MetaDB, StabilityRow
from metafs.memory.problem_rows import problem_row
from metafs.memory.uninterrupted import uninterrupted
from metafs.pipeline.engines.opening import open_engine
from metafs.pipeline.fitting.parameters import of_rows
from metafs.pipeline.fitting.selection import Selection, check_parameters, configured, select
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry
from metafs.stability.indices import (
    jaccard,
    jensen_shannon,
    jensen_shannon_by_chance,
    kuncheva,
)
from metafs.version import __version__

_TRIES = 100
"""How often groups are drawn to find some that hold every class."""


@dataclass(frozen=True, eq=False)
class Stability:
    """Agreement of a selector's results over resamples; 1 if they are always the same."""

    jensen_shannon: float
    """Of the rankings; differences at the top have more weight."""
    by_chance: float
    """The Jensen-Shannon index of as many random rankings."""
    jaccard: float
    """Of the sets: the mean share of common features."""
    kuncheva: float
    """Of the sets: the chance-corrected overlap, 0 for chance."""
    share_selected: Array = field(repr=False)
    """(n_features,): the selection frequency of each feature."""
    rankings: Array = field(repr=False)
    """(n_resamples, n_features): 1 for the best; features with equal scores are tied."""


@dataclass(frozen=True)
class Resampling:
    """How the rows of each selection are drawn.

    Parameters
    ----------
    share : float
        The share of the rows that is drawn, stratified by class; of groups, where rows have any.
    bootstrap : bool
        Whether a row, or a group, may be drawn more than once.
    """

    share: float = 0.9
    bootstrap: bool = False

    def __post_init__(self) -> None:
        if not (isinstance(self.share, Real) and 0 < self.share <= 1):
            raise UsageError(f"share must be above 0 and at most 1, not {self.share!r}.")

    def rows(self, problem: Problem, rng: np.random.Generator) -> Array:
        """Draw rows, at least one of each class, and return them in order."""
        if problem.groups is not None:
            return self._whole_groups(problem, problem.groups, rng)
        strata = problem.y if problem.is_classification else np.zeros(problem.n_samples, np.int64)
        drawn = [
            rng.choice(members, max(1, round(self.share * len(members))), replace=self.bootstrap)
            for members in (np.flatnonzero(strata == code) for code in np.unique(strata))
        ]
        return np.sort(np.concatenate(drawn))

    def _whole_groups(self, problem: Problem, groups: Array, rng: np.random.Generator) -> Array:
        """Draw groups with all their rows; draw again while a class is missing."""
        members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        n_drawn = max(1, round(self.share * len(members)))
        for _ in range(_TRIES):
            drawn = rng.choice(len(members), n_drawn, replace=self.bootstrap)
            rows = np.sort(np.concatenate([members[group] for group in drawn]))
            if not problem.is_classification:
                return rows
            if len(np.unique(problem.y[rows])) == len(np.unique(problem.y)):
                return rows
        raise ProblemError(
            f"a class of {problem.name!r} is in too few of its {len(members)} groups to be in "
            f"{n_drawn} of them that are drawn: give more groups of it, or raise --share."
        )


def stability_of(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    n_resamples: int = 20,
    share: float = 0.9,
    bootstrap: bool = False,
    top: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    params: Mapping[str, Any] | None = None,
    registry: Registry | None = None,
    db: MetaDB | str | PathLike[str] | None = None,
) -> Stability:
    """Measure the stability of a selector on these data.

    Parameters
    ----------
    selector : str or object
        The public name of a selector, or any scikit-learn-compatible one.
    X : array-like, sparse matrix, DataFrame or Problem
        The table; a `Problem` has its target with it.
    y : array-like of shape (n_samples,)
        The target, unless X is a `Problem`.
    n_resamples : int, default=20
        How often to select.
    share : float, default=0.9
        The share of the rows in each resample, stratified by class.
    bootstrap : bool, default=False
        Draw rows with replacement.
    top : int, default=None
        Compare only the first features of each ranking, and use them as the sets. None
        compares whole rankings, and the sets that the selector chose.
    random_state : int, RandomState instance or None, default=None
        Seed of the resamples, and of a selector whose own random_state is None. The same seed
        gives the same result for any n_jobs.
    n_jobs : int, default=None
        Processes.
    params : mapping, default=None
        Parameters of the selector.
    registry : Registry, default=None
        Where names are looked up; by default among the installed plugins.
    db : path or MetaDB, default=None
        Record the result there, in the table ``stability``. Measuring again adds a row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> found = stability_of(SelectKBest(k=2), *load_iris(return_X_y=True), random_state=0)
    >>> found.jaccard, found.share_selected
    (1.0, array([0., 0., 1., 1.]))
    """
    problem = X if isinstance(X, Problem) else Problem.of(X, y)
    resampling = Resampling(share, bootstrap)
    check_at_least("n_resamples", n_resamples, 2)
    if top is not None and not (isinstance(top, Integral) and 1 <= top <= problem.n_features):
        raise UsageError(f"top must lie between 1 and {problem.n_features}, not {top!r}.")
    ready = _resolved(selector, params or {}, registry)
    memory = None
    if db is not None:
        memory = db if isinstance(db, MetaDB) else MetaDB(db)
        memory.ensure()  # fail before the work, not after it
    seeds = check_random_state(random_state).randint(2**31 - 1, size=n_resamples).tolist()
    work = partial(selection_from_part, ready, problem, resampling)
    with open_engine(jobs=n_jobs or 1) as side_by_side:
        found = stability(list(side_by_side(work, seeds)), top)
    if memory is not None:
        row = StabilityRow(
            selector=selector if isinstance(selector, str) else type(selector).__name__,
            params=ready.get_params(deep=False),
            n_resamples=n_resamples,
            share=share,
            bootstrap=bootstrap,
            top=top,
            seed=int(random_state) if isinstance(random_state, int | np.integer) else None,
            jensen_shannon=found.jensen_shannon,
            by_chance=found.by_chance,
            jaccard=found.jaccard,
            kuncheva=found.kuncheva,
            metafs_version=__version__,
        )
        with uninterrupted():
            memory.record_stability(problem_row(problem), row)
    return found


def selection_from_part(
    selector: Any, problem: Problem, resampling: Resampling, seed: int
) -> Selection:
    """Select from a resample with this seed, which also seeds a selector without a seed."""
    rng = np.random.default_rng(seed)
    rows = resampling.rows(problem, rng)
    own = selector.get_params(deep=False)
    params: dict[str, Any] = {}
    if "random_state" in own and own["random_state"] is None:
        params["random_state"] = int(rng.integers(2**31 - 1))
    if problem.categories:
        params["categorical_features"] = sorted(problem.categories)
    return select(
        configured(selector, params),
        problem.X[rows],
        problem.y[rows],
        meta_features=problem.meta_features,
        categorical=problem.categories,
        **of_rows(problem, rows),
    )


def stability(selections: list[Selection], top: int | None = None) -> Stability:
    """Compare the results of a selector on several resamples."""
    rankings = np.array([tied_ranks(each) for each in selections])
    if top is None:
        selected = np.array([each.selected for each in selections])
    else:
        places = np.array([np.argsort(each.ranking, kind="stable") for each in selections])
        selected = np.zeros(rankings.shape, dtype=bool)
        np.put_along_axis(selected, places[:, :top], True, axis=1)
    return Stability(
        jensen_shannon=jensen_shannon(rankings, top),
        by_chance=jensen_shannon_by_chance(len(selections), rankings.shape[1], top),
        jaccard=jaccard(selected),
        kuncheva=kuncheva(selected),
        share_selected=selected.mean(axis=0),
        rankings=rankings,
    )


def tied_ranks(selection: Selection) -> Array:
    """Return ranks in which features with equal scores, both or neither selected, are tied.

    A ranking breaks ties by column, always in the same way: a selector that scores all features
    equally would seem stable.
    """
    order = np.argsort(selection.ranking, kind="stable")
    scores = np.where(np.isnan(selection.scores), -np.inf, selection.scores)[order]
    selected = selection.selected[order]
    differs = (scores[1:] != scores[:-1]) | (selected[1:] != selected[:-1])
    first = np.concatenate([[True], differs])
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = 1 + np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    return ranks


def _resolved(selector: Any, params: Mapping[str, Any], registry: Registry | None) -> Any:
    if not isinstance(selector, str):
        ready = clone(selector).set_params(**params)
        check_parameters(ready, type(selector).__name__)
        return ready
    plan = Settings(selector=selector, params=params, seed=None).resolve(registry or Registry())
    return plan.selector
