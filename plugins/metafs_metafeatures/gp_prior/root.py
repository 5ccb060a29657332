r"""The square root of a prior covariance, applied without ever forming the covariance.

The symmetric root :math:`R = C^{1/2}`, with :math:`R R = C`, maps rows to
:math:`\tilde x = R x` and weights back to :math:`w = R \tilde w`. Three shapes make it cheap:

- *Block-diagonal*: features that differ in a grouping meta-feature have nothing in common, so each
  group has a root of its own, and groups with the same positions share one.
- *Kronecker*: where the positions of a group fill a grid, a covariance that is a product over the
  columns is a Kronecker product over the axes, and so is its root:
  :math:`(C_y \otimes C_x)^{1/2} = C_y^{1/2} \otimes C_x^{1/2}`.
- *Independent*: a feature whose meta-features are not known has variance 1 and no relations.

Everything else is one dense block: :math:`C = V \Lambda V^T`, :math:`R = V \Lambda_+^{1/2} V^T`,
without the negative eigenvalues that rounding leaves.

E. Krupka, N. Tishby, "Incorporating prior knowledge on features into learning", AISTATS 2007,
equation 5 and section 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs_metafeatures.gp_prior.blocks import EqualBlocks, Factor
from metafs_metafeatures.gp_prior.covariance import AlongColumn, CovarianceFunction, Gaussian

LARGEST_BLOCK = 20_000
"""Features that may be related without forming a grid: their covariance takes 3.2 GB."""


@dataclass(frozen=True)
class PriorRoot:
    """The root of a prior covariance of the weights of all features, block by block."""

    n_features: int
    blocks: tuple[EqualBlocks, ...]
    independent: Array
    """Features that are related to none."""

    def times_root(self, X: Any) -> Array:
        """Return X R: each row mapped by the root; X may be sparse, the answer is dense."""
        return self._each_part(X, EqualBlocks.times_root)

    def times_covariance(self, X: Any) -> Array:
        """Return X C."""
        return self._each_part(X, EqualBlocks.times_covariance)

    def gram(self, X: Any) -> Array:
        """Return X C X^T in float64, without keeping X C."""
        columns = csc_array(X) if issparse(X) else X
        K = np.zeros((X.shape[0], X.shape[0]))
        if len(self.independent):
            every = len(self.independent) == self.n_features
            own = columns if every else columns[:, self.independent]
            product = own @ own.T
            K += product.toarray() if issparse(product) else product
        for part in self._parts():
            rows = _dense(columns[:, part.columns.ravel()])
            if part.has_root:
                rows = part.times_root(rows)
                K += rows @ rows.T
            else:
                K += part.times_covariance(rows) @ rows.T
        return K

    def to_dense(self) -> Array:
        """Return the root as one matrix."""
        return self.times_root(np.eye(self.n_features))

    def _parts(self) -> Iterator[EqualBlocks]:
        for blocks in self.blocks:
            yield from blocks.parts()

    def _each_part(self, X: Any, map_rows: Any) -> Array:
        columns = csc_array(X) if issparse(X) else X
        mapped = np.empty(X.shape, dtype=np.result_type(X.dtype, np.float32))
        mapped[:, self.independent] = _dense(columns[:, self.independent])
        for part in self._parts():
            own = part.columns.ravel()
            mapped[:, own] = map_rows(part, _dense(columns[:, own]))
        return mapped


def prior_root(
    covariance: CovarianceFunction | None, U: Array | None, n_features: int
) -> PriorRoot:
    """Return the root of the covariance of weights whose features are described by U.

    Parameters
    ----------
    covariance : callable or None
        C(U, V); products, as those of `metafs_metafeatures.gp_prior.covariance`, are taken apart,
        others are evaluated for all pairs of features. None makes every feature independent.
    U : ndarray of shape (n_features, k) or None
        Meta-features. A feature with a missing one among those used is independent of the others.
    n_features : int
        How many features there are.

    Examples
    --------
    >>> from metafs_metafeatures.gp_prior.covariance import GroupedGaussian
    >>> y, x = np.mgrid[:20, :20]
    >>> U = np.array([(t, *place) for t in (2, 3) for place in zip(x.flat, y.flat)], dtype=float)
    >>> root = prior_root(GroupedGaussian(sigma=6.0, groups=(0,)), U, 800)
    >>> [(blocks.columns.shape, len(blocks.factors)) for blocks in root.blocks]
    [((2, 400), 2)]
    """
    if covariance is None or U is None:
        return PriorRoot(n_features, (), np.arange(n_features))
    U = U + 0.0  # -0.0 and 0.0 are the same group and the same place
    used = U
    if isinstance(covariance, Gaussian):
        covariance.check_columns(U.shape[1])
        used = U[:, covariance.used_columns(U.shape[1])]
    known = ~np.isnan(used).any(axis=1)
    independent, described = np.flatnonzero(~known), np.flatnonzero(known)
    if isinstance(covariance, Gaussian):
        blocks = grouped_blocks(covariance, U, described)
    else:
        blocks = one_block(covariance, U, described)
    return PriorRoot(n_features, blocks, independent)


def grouped_blocks(covariance: Gaussian, U: Array, described: Array) -> tuple[EqualBlocks, ...]:
    """Return the blocks of a covariance that is a product over the columns."""
    if not len(described):
        return ()
    grouping = list(covariance.group_columns())
    axes = [column for column, _ in covariance.along(U[described[0]])]
    order, starts = in_order(U[described], grouping, axes)
    features = described[order]
    places = U[features][:, axes]
    equal: dict[Any, list[Array]] = {}
    shapes: dict[Any, tuple[tuple[AlongColumn, ...], Array]] = {}
    for own, at in zip(np.split(features, starts), np.split(places, starts), strict=True):
        along = tuple(function for _, function in covariance.along(U[own[0]]))
        key = along, at.tobytes()
        equal.setdefault(key, []).append(own)
        shapes[key] = along, at
    return tuple(
        EqualBlocks(
            np.array(blocks),
            np.array([covariance.variance(U[own[0]]) for own in blocks]),
            factors_of(*shapes[key]),
        )
        for key, blocks in equal.items()
    )


def in_order(U: Array, grouping: list[int], axes: list[int]) -> tuple[Array, Array]:
    """Return rows sorted by group and along the axes, and where each group but the first begins.

    Examples
    --------
    >>> order, starts = in_order(np.array([[2.0, 5.0], [3.0, 5.0], [2.0, 4.0]]), [0], [1])
    >>> [rows.tolist() for rows in np.split(order, starts)]
    [[2, 0], [1]]
    """
    if not grouping + axes:
        return np.arange(len(U)), np.zeros(0, dtype=np.int64)
    order = np.lexsort(U[:, (grouping + axes)[::-1]].T)
    groups = U[order][:, grouping]
    return order, 1 + np.flatnonzero((groups[1:] != groups[:-1]).any(axis=1))


def factors_of(along: tuple[AlongColumn, ...], places: Array) -> tuple[Factor, ...]:
    """Return one factor for each axis if the places, in order, fill a grid, else one for all."""
    axes = [np.unique(column) for column in places.T]
    if np.prod([float(len(axis)) for axis in axes]) == len(places):
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1) if axes else np.empty((1, 0))
        if np.array_equal(grid.reshape(-1, len(axes)), places):
            long = [(f, axis) for f, axis in zip(along, axes, strict=True) if len(axis) > 1]
            check_size(max((len(axis) for _, axis in long), default=1))
            return tuple(Factor(f(axis, axis)) for f, axis in long)
    check_size(len(places))
    C = np.ones((len(places), len(places)))
    for function, column in zip(along, places.T, strict=True):
        C *= function(column, column)
    return (Factor(C),)


def one_block(
    covariance: CovarianceFunction, U: Array, described: Array
) -> tuple[EqualBlocks, ...]:
    """Return the block of a covariance of which nothing is known."""
    if not len(described):
        return ()
    check_size(len(described))
    C = np.asarray(covariance(U[described], U[described]), dtype=np.float64)
    n = len(described)
    if C.shape != (n, n) or not np.isfinite(C).all() or not np.allclose(C, C.T):
        raise UsageError(
            f"the covariance of {n} features must be a symmetric matrix of {n} x {n} finite "
            f"numbers, but has shape {C.shape}: fix the function."
        )
    return (EqualBlocks(described[None, :], np.ones(1), (Factor((C + C.T) / 2),)),)


def check_size(n: int) -> None:
    """Refuse a block that would not fit."""
    if n > LARGEST_BLOCK:
        raise UsageError(
            f"{n:,} features are related to each other without forming a grid, at most "
            f"{LARGEST_BLOCK:,} can be: round positions to a grid, group the features "
            "(GroupedGaussian), or take fewer."
        )


def _dense(columns: Any) -> Array:
    return columns.toarray() if issparse(columns) else np.asarray(columns)
