r"""The rows of a problem under a prior on weights.

The weights of the prepared columns are :math:`\beta = \gamma + W' a`, with
:math:`\gamma \sim N(0, D)` and :math:`a \sim N(0, s^2 I / m)`, W the m directions of memory, each
scaled so that its scores on the rows at hand have unit spread. So the rows Z have the covariance

.. math:: K_s = Z D Z' + \frac{s^2}{m} S S', \qquad S = Z W' .
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from metafs.data.typing import Array, Matrix
from metafs.stats.linear.preparation import Preparation, prepare
from metafs.stats.linear.weight_prior import Directions, WeightPrior

_NO_SPREAD = 1e-9


@dataclass(frozen=True, eq=False)
class Rows:
    """Prepared rows, with the scores that past models give them."""

    table: Matrix
    """(n_rows, n_features)"""
    variance: Array
    """(n_features,) The diagonal of D."""
    scores: Array
    """(n_rows, m) Scores of the directions, around their means and of unit spread."""
    directions: Array
    """(m, n_features) The directions in the same units, divided by the root of m."""

    def __len__(self) -> int:
        return int(self.table.shape[0])

    @property
    def width(self) -> int:
        """How many columns and directions there are."""
        return int(self.table.shape[1] + self.scores.shape[1])

    def taken(self, rows: Array) -> "Rows":
        """Return some of the rows."""
        return replace(self, table=self.table[rows], scores=self.scores[rows])

    @cached_property
    def own_covariance(self) -> Array:
        """(n_rows, n_rows) Z D Z'."""
        return product(scaled_columns(self.table, self.variance), self.table)

    @cached_property
    def memory_covariance(self) -> Array:
        """(n_rows, n_rows) S S' / m."""
        return np.asarray(self.scores @ self.scores.T)

    def covariance(self, strength: float) -> Array:
        """Return the covariance of the rows when memory is believed so strongly."""
        if strength == 0 or not self.scores.shape[1]:
            return self.own_covariance
        return np.asarray(self.own_covariance + strength**2 * self.memory_covariance)

    def augmented(self, strength: float) -> Array:
        """Return dense rows whose inner products are the covariance."""
        own = scaled_columns(self.table, np.sqrt(self.variance))
        own = own.toarray() if issparse(own) else own
        return own if strength == 0 else np.hstack([own, strength * self.scores])

    def weights(self, alpha: Array, strength: float) -> tuple[Array, Array]:
        """Return the weights of columns for weights of rows, and the part that is memory's."""
        own = np.asarray(self.table.T @ alpha).T * self.variance
        if strength == 0 or not self.scores.shape[1]:
            return own, np.zeros_like(own)
        remembered = strength**2 * (self.scores.T @ alpha).T @ self.directions
        return own + remembered, remembered


def product(one: Matrix, other: Matrix) -> Array:
    """Return the inner products of rows as a dense array."""
    found = one @ other.T
    return np.asarray(found.toarray() if issparse(found) else found)


def scaled_columns(table: Matrix, factor: Array) -> Matrix:
    """Return the table with each column multiplied by a number."""
    if issparse(table):
        return csr_array(
            (table.data * factor[table.indices], table.indices, table.indptr), shape=table.shape
        )
    return np.asarray(table * factor)


def stacked(X: Matrix, more: Matrix | None) -> Matrix:
    """Return the rows of both, sparse if the first are."""
    if more is None or more.shape[0] == 0:
        return X
    if issparse(X):
        return csr_array(vstack([X, csr_array(more)], format="csr"))
    return np.vstack([X, more.toarray() if issparse(more) else more])


def rows_under(
    X: Matrix,
    X_unlabelled: Matrix | None,
    prior: WeightPrior | None,
    *,
    preparation: Preparation | None = None,
) -> tuple[Rows, Preparation, Array]:
    """Return the labelled rows, how columns are prepared, and their spread on all rows at hand."""
    everything = stacked(X, X_unlabelled)
    if preparation is None:
        preparation = prepare(everything, None if prior is None else prior.scales)
    table = preparation(everything)
    known = prior.directions if prior is not None else None
    scores, directions = unit_scores(table, known)
    n = X.shape[0]
    rows = Rows(table[:n], preparation.variance, scores[:n], directions)
    return rows, preparation, spread_of(table)


def unit_scores(table: Matrix, known: Directions | None) -> tuple[Array, Array]:
    """Return the scores of directions with unit spread, and the directions scaled alike."""
    n_rows, n_features = table.shape
    if known is None or not len(known):
        return np.zeros((n_rows, 0)), np.zeros((0, n_features))
    scores = np.asarray(table @ known.weights.T)
    scores = scores - scores.mean(axis=0)
    spread = scores.std(axis=0)
    useful = spread > _NO_SPREAD * max(1.0, float(np.max(spread)))
    unit = 1 / (spread[useful] * np.sqrt(max(1, int(useful.sum()))))
    return scores[:, useful] * unit, known.weights[useful] * unit[:, None]


def spread_of(table: Matrix) -> Array:
    """Return the standard deviation of each column."""
    if not issparse(table):
        return np.asarray(table.std(axis=0))
    mean = np.asarray(table.mean(axis=0)).ravel()
    square = np.bincount(table.indices, table.data**2, minlength=table.shape[1]) / table.shape[0]
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
