r"""The rows of a problem under a prior on weights.

The weights of the prepared columns are :math:`\beta = \gamma + W' a`, with
:math:`\gamma \sim N(0, D)` and :math:`a \sim N(0, s^2 I / m)`, W the m directions of memory, each
scaled by how coherent its scores are. So the rows Z have the covariance

.. math:: K_s = Z D Z' + \frac{s^2}{m} S S', \qquad S = Z W' .

The scores of a direction are coherent if they vary more than those of columns that know nothing of
each other would: with :math:`\sigma_j` the spread of column j,

.. math:: r = \mathrm{var}(Z w) \Big/ \sum_j w_j^2 \sigma_j^2 .

A direction along which the rows at hand differ, because its classes or topics are among them, has
a large r, and one whose columns have changed their meaning has r = 1, which no label is needed to
see. The scores S get the variance :math:`((r - 1) / 4)^2`, plus :math:`4 / n^2` with
:math:`n = (\sum w_j^2)^2 / \sum w_j^4` columns that carry the direction: of few columns little
coherence can be expected.

Where past models ask the same question, :math:`\gamma` has a mean (`metafs.stats.linear.common`).

All of it is around the mean of all rows at hand, labelled or not: where the decision values of few
labelled rows have their mean says little, and where those of all rows have it says much.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from metafs.data.typing import Array, Matrix
from metafs.stats.linear.common import prior_mean
from metafs.stats.linear.preparation import Preparation, prepare, scales_of
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
    """(n_rows, m) Scores of the directions around their means, divided by the root of m."""
    directions: Matrix
    """(m, n_features) The directions in the same units."""
    coherence: float = 0.0
    """The mean variance of the scores, on all rows at hand."""
    mean: Array | None = None
    """(n_outputs, n_features) The prior mean of the weights when memory is used; None if 0."""
    odds: float = 1.0
    """That the prior mean is right, before any label is seen."""
    centre: Array | float = 0.0
    """(n_features,) The mean of the table over all rows at hand."""

    def __len__(self) -> int:
        return int(self.table.shape[0])

    @property
    def width(self) -> int:
        """How many columns and directions there are."""
        return int(self.table.shape[1] + self.scores.shape[1])

    def expected(self, strength: float) -> Array | float:
        """Return what the prior mean predicts: (n_rows, n_outputs), or 0 without memory."""
        if strength == 0 or self.mean is None:
            return 0.0
        return np.asarray(self.table @ self.mean.T - self.mean @ self._centre)

    def taken(self, rows: Array) -> "Rows":
        """Return some of the rows."""
        return replace(self, table=self.table[rows], scores=self.scores[rows])

    @cached_property
    def own_covariance(self) -> Array:
        """(n_rows, n_rows) Z D Z', around the mean of all rows at hand."""
        apart = self._centre * self.variance
        across = np.asarray(self.table @ apart)
        around = product(scaled_columns(self.table, self.variance), self.table)
        around -= across[:, None] + across
        return np.asarray(around + apart @ self._centre)

    @property
    def _centre(self) -> Array:
        return np.broadcast_to(self.centre, self.table.shape[1])

    @cached_property
    def memory_covariance(self) -> Array:
        """(n_rows, n_rows) S S' / m."""
        return np.asarray(self.scores @ self.scores.T)

    def covariance(self, strength: float) -> Array:
        """Return the covariance of the rows with memory at this strength."""
        if strength == 0 or not self.scores.shape[1]:
            return self.own_covariance
        return np.asarray(self.own_covariance + strength**2 * self.memory_covariance)

    def augmented(self, strength: float) -> Array:
        """Return dense rows whose inner products are the covariance."""
        table = self.table.toarray() if issparse(self.table) else self.table
        own = (table - self._centre) * np.sqrt(self.variance)
        return own if strength == 0 else np.hstack([own, strength * self.scores])

    def weights(self, alpha: Array, strength: float) -> tuple[Array, Array]:
        """Return the weights of columns for weights of rows, and the part that is memory's.

        The prior mean is part of neither.
        """
        own = np.asarray(self.table.T @ alpha).T - np.outer(alpha.sum(axis=0), self._centre)
        own *= self.variance
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


def stacked(X: Matrix, more: Matrix | None = None) -> Matrix:
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
    classes: Sequence[str] | None = None,
    sample_weight: Array | None = None,
) -> tuple[Rows, Preparation, Array]:
    """Return the labelled rows, how columns are prepared, and their spread on all rows at hand.

    Unlabelled rows count as labelled ones of mean weight.
    """
    everything = stacked(X, X_unlabelled)
    if sample_weight is not None:
        n_more = everything.shape[0] - X.shape[0]
        sample_weight = np.append(sample_weight, np.full(n_more, sample_weight.mean()))
    if preparation is None:
        known_scales = (None, None) if prior is None else (prior.scales, prior.words)
        preparation = prepare(
            everything, known_scales[0], words=known_scales[1], sample_weight=sample_weight
        )
    table = preparation(everything)
    known = prior.directions if prior is not None else None
    scores, directions = coherent_scores(table, known)
    n = X.shape[0]
    mean_variance = float(np.einsum("ij,ij->", scores, scores) / len(scores))
    mean = None if known is None else prior_mean(known, classes)
    spread, centre = _spread_and_mean(table, sample_weight)
    rows = Rows(
        table[:n],
        preparation.variance,
        scores[:n],
        directions,
        mean_variance,
        None if mean is None else mean.weights,
        1.0 if mean is None else mean.odds,
        centre,
    )
    return rows, preparation, spread


def coherent_scores(table: Matrix, known: Directions | None) -> tuple[Array, Matrix]:
    """Return the scores of directions, scaled by their coherence, and the directions alike."""
    n_rows, n_features = table.shape
    if known is None or not len(known):
        return np.zeros((n_rows, 0)), np.zeros((0, n_features))
    scores = product(table, known.weights)
    scores -= scores.mean(axis=0)
    squares = known.weights**2
    variance, alone = scores.var(axis=0), np.asarray(squares @ spread_of(table) ** 2)
    r = np.divide(variance, alone, out=np.zeros_like(alone), where=alone > _NO_SPREAD**2)
    total, fourth = np.asarray(squares.sum(axis=1)), np.asarray((squares**2).sum(axis=1))
    n_columns = np.divide(total**2, fourth, out=np.ones_like(total), where=fourth > 0)
    wanted = (np.maximum(r - 1 - n_rows**-0.5, 0.0) / 4) ** 2 + 4 / n_columns**2
    useful = r > 0
    unit = np.sqrt(wanted[useful] / variance[useful] / len(known))
    return scores[:, useful] * unit, _scaled_rows(known.weights[useful], unit)


def _scaled_rows(table: Matrix, factor: Array) -> Matrix:
    if not issparse(table):
        return np.asarray(table * factor[:, None])
    data = table.data * np.repeat(factor, np.diff(table.indptr))
    return csr_array((data, table.indices, table.indptr), shape=table.shape)


def coherence(X: Matrix, prior: WeightPrior) -> float:
    """Return the mean variance of past scores on some rows, as `TransferExperience` keeps it."""
    rows, _, _ = rows_under(X, None, prior, classes=())
    return rows.coherence


def _spread_and_mean(table: Matrix, sample_weight: Array | None) -> tuple[Array, Array]:
    if sample_weight is None:
        return spread_of(table), np.asarray(table.mean(axis=0)).ravel()
    scales = scales_of(table, sample_weight)
    return scales.spread, scales.mean


def spread_of(table: Matrix) -> Array:
    """Return the standard deviation of each column."""
    if not issparse(table):
        return np.asarray(table.std(axis=0))
    mean = np.asarray(table.mean(axis=0)).ravel()
    square = np.bincount(table.indices, table.data**2, minlength=table.shape[1]) / table.shape[0]
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
