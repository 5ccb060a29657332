r"""Prefilter: leave out columns of little mutual information with the target, then select.

.. math:: I(s; Y) \ge t

with I the mutual information, in bits, of a column with the target on the rows at hand. Inside the
folds these are the training rows, so that a nested score has not seen the others. Columns that are
kept in any case stay.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021, section 4.2,
whose tables are filtered as a whole before anything else.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.errors import ProblemError
from metafs.pipeline.fitting.selection import Selection, configured, select
from metafs.plugin.prior import Prior
from metafs.stats.discretise import categories_of
from metafs.stats.relevance import information_of_each


def informative_columns(
    X: Matrix, y: Array, least: float, categorical: Collection[int] = (), keep: Sequence[int] = ()
) -> Array:
    """Return the indices of the columns that tell at least so many bits of y, and those to keep.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> informative_columns(X, np.array([0, 0, 1, 1]), 0.5)
    array([0])
    """
    found = information_of_each(X, y, categories_of(X, sorted(categorical))) >= least
    found[list(keep)] = True
    return np.flatnonzero(found)


def informative_part(problem: Problem, least: float, keep: Collection[str] = ()) -> Problem:
    """Return a problem with the columns of enough information; all columns if there are none.

    A distance is measured between such problems. Columns of the names in `keep` stay.
    """
    kept = [column for column, name in enumerate(problem.feature_names) if name in keep]
    columns = informative_columns(problem.X, problem.y, least, problem.categories, kept)
    return problem.columns(columns.tolist()) if len(columns) else problem


def selecting(least: float | None) -> Callable[..., Selection]:
    """Return `select`, behind the prefilter if there is one."""
    return select if least is None else partial(select_informative, least=least)


def select_informative(
    selector: Any,
    X: Matrix,
    y: Array,
    *,
    least: float,
    prior: Prior | None = None,
    meta_features: Array | None = None,
    X_unlabelled: Matrix | None = None,
    keep: Sequence[int] = (),
    categorical: Collection[int] = (),
    **rows: Any,
) -> Selection:
    """Select among the columns that tell enough; the others have no score and come last.

    The parameters are those of `metafs.pipeline.fitting.selection.select`.
    """
    columns = informative_columns(X, y, least, categorical, keep)
    if not len(columns):
        raise ProblemError(
            f"no column has {least:g} bits of information on the target: give a lower prefilter, "
            "or none."
        )
    place = {column: number for number, column in enumerate(columns.tolist())}
    kept = [place[column] for column in keep]
    categories = sorted(place[column] for column in categorical if column in place)
    own = {"categorical_features": categories or None, "keep_features": kept or None}
    found = select(
        configured(selector, own),
        X[:, columns],
        y,
        prior=None if prior is None else prior.columns(columns),
        meta_features=None if meta_features is None else meta_features[columns],
        X_unlabelled=None if X_unlabelled is None else X_unlabelled[:, columns],
        keep=kept,
        categorical=categories,
        **rows,
    )
    selected = np.zeros(X.shape[1], dtype=bool)
    selected[columns] = found.selected
    scores = np.full(X.shape[1], np.nan)
    scores[columns] = found.scores
    ranking = np.full(X.shape[1], int(found.ranking.max()) + 1, dtype=np.int64)
    ranking[columns] = found.ranking
    return Selection(
        selected,
        scores,
        ranking,
        found.n_evaluations,
        found.stopped,
        found.fitness,
        tuple(
            (step, tuple(columns[list(features)].tolist()), fitness)
            for step, features, fitness in found.candidates
        ),
    )
