"""Columns as the reference model sees them, for methods that depend on the scale of columns.

A linear model on all columns is fitted with what memory knows of weights. Each column is prepared
as for that model and multiplied by the size of its weight, relative to the mean. For a method that
penalises weights this is a penalty for each column, small where the reference gives it a large
weight; for one that measures distances it is how much a column counts. Without memory, or where it
is not used, the methods are the published ones. `relieff` divides each column by its range, and
`fisher` and `infogain` score each alone: no scale changes them.
"""

import numpy as np
from scipy.sparse import issparse

from metafs.data.target import holds_classes
from metafs.data.typing import Array, Matrix
from metafs.plugin.prior import Prior
from metafs.stats.linear import fit_linear
from metafs.stats.linear.rows import scaled_columns


def as_reference_sees(X: Matrix, y: Array, prior: Prior | None) -> Matrix:
    """Return X in the scale of the reference; X itself where memory is not used.

    Examples
    --------
    >>> from metafs.stats.linear import Directions, WeightPrior
    >>> X = np.random.default_rng(0).normal(size=(8, 2))
    >>> prior = Prior(np.zeros(2), weights=WeightPrior(Directions.of([[1.0, 0.0]] * 3)))
    >>> seen = as_reference_sees(X, np.arange(8) % 2, prior)
    >>> as_reference_sees(X, np.arange(8) % 2, None) is X
    True
    """
    known = None if prior is None else prior.weights
    if known is None or known.directions is None or len(np.unique(y)) < 2:
        return X
    values = X.data if issparse(X) else X
    if not np.isfinite(values).all():
        return X
    model = fit_linear(X, y, classes=holds_classes(y), prior=known)
    size = np.abs(model.coef).max(axis=0)
    if model.strength.s == 0 or not size.any():
        return X
    return scaled_columns(model.preparation(X), size / size[size > 0].mean())
