r"""Preparing columns for a linear model: words as tf-idf rows of unit length, numbers standardised.

A word column holds how often a word occurs in a document, or whether it does. With N rows, of
which :math:`N_j` have word j, its values are multiplied by

.. math:: \log \frac{1 + N}{1 + N_j} + 1

and each row is brought to unit length. Counts enter as 1 + log(count). N and :math:`N_j`, and
likewise the means and standard deviations of numbers, are pooled over the rows at hand, labelled or
not, and the rows that memory knows of: a few rows tell them badly. Rows of memory count if they
agree with those at hand (`metafs.stats.linear.agreement`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from metafs.data.typing import Array, Matrix
from metafs.stats.linear.agreement import agreeing
from metafs.stats.linear.weight_prior import Scales

_LEAST_WORDS = 100
_SPARSE = 0.2
_CONSTANT = 1e-9  # a standard deviation, relative to the largest value, that rounding leaves


@dataclass(frozen=True, eq=False)
class Preparation:
    """How raw columns become the columns of a linear model."""

    words: Array
    """(n_features,) Whether the column holds a word."""
    centre: Array
    """(n_features,) What is subtracted; nothing from words, nor from any column of a sparse row."""
    factor: Array
    """(n_features,) What each column is then multiplied by; 0 for a constant one."""
    variance: Array
    """(n_features,) The prior variance of its weight, so that a row has length 1 on average."""
    spread: Array
    """(n_features,) Standard deviation to expect of the prepared column, by all rows known."""

    def __call__(self, X: Matrix) -> Matrix:
        """Return rows as the model sees them."""
        table = self._scaled(X)
        if not self.words.any():
            return table
        if not issparse(table):
            inside = np.where(self.words, table, 0.0)
            length = np.sqrt(np.einsum("ij,ij->i", inside, inside))
            divisor = np.where(length > 0, length, 1.0)[:, None]
            return np.where(self.words, table / divisor, table)
        row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        inside = self.words[table.indices]
        squares = np.bincount(row[inside], table.data[inside] ** 2, minlength=table.shape[0])
        length = np.sqrt(np.where(squares > 0, squares, 1.0))
        table.data[inside] /= length[row[inside]]
        return table

    def _scaled(self, X: Matrix) -> Matrix:
        if issparse(X):
            data = np.where(self.words[X.indices], _damped(X.data), X.data)
            data *= self.factor[X.indices]
            return csr_array((data, X.indices, X.indptr), shape=X.shape)
        values = np.where(self.words, _damped(X), X) if self.words.any() else X
        return np.asarray((values - self.centre) * self.factor)


def _damped(counts: Array) -> Array:
    """Return 1 + log(count), and 0 for none."""
    if not np.any(counts > 1):
        return counts
    return np.where(counts > 1, 1.0 + np.log(np.maximum(counts, 1.0)), counts)


def word_columns(X: Matrix) -> Array:
    """Return which columns hold words: counts, in a table of many that are mostly 0 or 1.

    Examples
    --------
    >>> rare = np.eye(200)
    >>> word_columns(rare).all(), word_columns(rare * 255.0).any(), word_columns(rare[:, :9]).any()
    (np.True_, np.False_, np.False_)
    """
    nothing = np.zeros(X.shape[1], dtype=bool)
    if X.shape[1] < _LEAST_WORDS:
        return nothing
    counts = count_columns(X)
    values = X.data[counts[X.indices]] if issparse(X) else X[:, counts]
    values = values[values != 0]
    n_cells = X.shape[0] * np.count_nonzero(counts)
    if np.count_nonzero(counts) < _LEAST_WORDS or len(values) > _SPARSE * n_cells:
        return nothing
    return counts if 2 * np.count_nonzero(values <= 2) >= max(len(values), 1) else nothing


def count_columns(X: Matrix) -> Array:
    """Return which columns hold whole numbers from 0 only."""
    if not issparse(X):
        return np.asarray(((X >= 0) & (np.floor(X) == X)).all(axis=0))
    odd = (X.data < 0) | (X.data != np.floor(X.data))
    return np.asarray(np.bincount(X.indices[odd], minlength=X.shape[1]) == 0)


def rarity(n_rows: Array | float, document_frequency: Array) -> Array:
    """Return what the values of words are multiplied by: the more, the rarer the word is.

    Examples
    --------
    >>> rarity(99.0, np.array([1.0, 0.0])).round(2)
    array([1.  , 5.61])
    """
    return np.asarray(np.log((1 + n_rows) / (1 + n_rows * document_frequency)) + 1)


def prepare(
    X: Matrix,
    scales: Scales | None = None,
    *,
    words: Array | None = None,
    sample_weight: Array | None = None,
) -> Preparation:
    """Learn the preparation from all rows at hand and from what memory knows of the columns.

    Columns that memory knows as `words` are words, though too few here to be recognised.
    """
    here = scales_of(X, sample_weight)
    looks_like = word_columns(X)
    words = looks_like if words is None else looks_like | (words & count_columns(X))
    pooled = here if scales is None else pool(here, agreeing(here, scales, words))
    known = np.maximum(pooled.n_rows, 1.0)
    idf = rarity(known, pooled.document_frequency)
    size = np.abs(pooled.mean) + pooled.spread
    varies = pooled.spread > _CONSTANT * size
    inverse = np.divide(1.0, pooled.spread, out=np.zeros_like(size), where=varies)
    n_numbers = max(1, int(np.count_nonzero(varies & ~words)))
    centred = ~words & (not issparse(X))
    share = pooled.document_frequency
    length = np.sqrt(max(float(np.sum((idf**2 * share)[words])), 1e-300))
    return Preparation(
        words=words,
        centre=np.where(centred, pooled.mean, 0.0),
        factor=np.where(words, idf, inverse),
        variance=np.where(words, 1.0, 1.0 / n_numbers),
        spread=np.where(words, idf * np.sqrt(share * (1 - share)) / length, varies.astype(float)),
    )


def scales_of(X: Matrix, sample_weight: Array | None = None) -> Scales:
    """Return document frequency, mean and standard deviation of each column.

    Rows may count by weight; there are as many of them as without.

    Examples
    --------
    >>> scales_of(np.array([[0.0, 1.0], [2.0, 1.0]])).spread
    array([1., 0.])
    """
    n_rows, n_features = X.shape
    if sample_weight is not None:
        return _weighted_scales(X, sample_weight / sample_weight.sum())
    if issparse(X):
        share = np.bincount(X.indices[X.data != 0], minlength=n_features) / n_rows
        mean = np.bincount(X.indices, X.data, minlength=n_features) / n_rows
        around = np.bincount(
            X.indices, (X.data - mean[X.indices]) ** 2, minlength=n_features
        ) + mean**2 * (n_rows - np.bincount(X.indices, minlength=n_features))
        spread = np.sqrt(np.maximum(around, 0.0) / n_rows)
    else:
        share, mean, spread = (X != 0).mean(axis=0), X.mean(axis=0), X.std(axis=0)
    return Scales(np.full(n_features, float(n_rows)), share, mean, spread)


def _weighted_scales(X: Matrix, weight: Array) -> Scales:
    """Return the scales of rows whose weights have the sum 1."""
    n_rows, n_features = X.shape
    if issparse(X):
        of_value = np.repeat(weight, np.diff(X.indptr))

        def total(values: Array) -> Array:
            return np.bincount(X.indices, of_value * values, minlength=n_features)

        share, mean = total(X.data != 0), total(X.data)
        zeros = 1.0 - total(np.ones_like(X.data))
        variance = total((X.data - mean[X.indices]) ** 2) + mean**2 * zeros
    else:
        share, mean = weight @ (X != 0), weight @ X
        variance = weight @ (X - mean) ** 2
    spread = np.sqrt(np.maximum(variance, 0.0))
    share = np.minimum(share, 1.0)  # rounding
    return Scales(np.full(n_features, float(n_rows)), share, mean, spread)


def pool(one: Scales, other: Scales) -> Scales:
    """Return the scales of two sets of rows taken together; NaN and 0 rows are unknown."""
    total = _known_rows(one) + _known_rows(other)
    share_of = [
        np.divide(_known_rows(each), total, out=np.zeros_like(total), where=total > 0)
        for each in (one, other)
    ]

    def mixed(values: Any) -> Array:
        return np.asarray(
            sum(w * np.nan_to_num(value) for w, value in zip(share_of, values, strict=True))
        )

    mean = mixed([one.mean, other.mean])
    variance = mixed([s.spread**2 + (s.mean - mean) ** 2 for s in (one, other)])
    document_frequency = mixed([one.document_frequency, other.document_frequency])
    return Scales(total, document_frequency, mean, np.sqrt(variance))


def _known_rows(scales: Scales) -> Array:
    return np.where(np.isnan(scales.mean), 0.0, np.nan_to_num(scales.n_rows))
