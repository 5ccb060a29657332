"""What a prior on weights is chosen among, and how: folds of one Gram matrix for each covariance.

A Gram matrix holds all that training and testing need, so that a covariance costs one of them,
and a cost of slack, or a fold, only the machines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.model_selection import StratifiedShuffleSplit

from metafs.data.parameters import check_between
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs_metafeatures.gp_prior.against_rest import AGAINST_REST, machines_of
from metafs_metafeatures.gp_prior.covariance import CovarianceFunction, Gaussian

RELATIVE_COSTS = tuple(10.0 ** (np.arange(-2, 5) / 2))
"""C to choose among, in units of the inverse spread of the mapped samples."""


@dataclass(frozen=True)
class Choice:
    """A covariance and a cost, with what they reached in cross-validation (NaN if not tried)."""

    covariance: CovarianceFunction | None
    sigma: float | None
    cost: float
    accuracy: float


def sigma_candidates(covariance: Gaussian, U: Array, n: int = 5) -> tuple[float, ...]:
    """Return how far likeness might reach: from the next feature to half of the space.

    Examples
    --------
    >>> y, x = np.mgrid[:20, :20]
    >>> U = np.column_stack([x.ravel(), y.ravel()]).astype(float)
    >>> [round(sigma, 2) for sigma in sigma_candidates(Gaussian(), U)]
    [1.0, 1.91, 3.67, 7.02, 13.44]
    """
    columns = list(covariance.position_columns(U.shape[1]))
    places = np.unique(U[:, columns][~np.isnan(U[:, columns]).any(axis=1)], axis=0)
    if len(places) < 2 or not columns:
        return (1.0,)
    spacing = float(np.median(cKDTree(places).query(places, k=2)[0][:, 1]))
    width = float(np.linalg.norm(np.ptp(places, axis=0)))
    return tuple(np.geomspace(spacing, max(width / 2, spacing), n).tolist())


def standardised(U: Array) -> Array:
    """Return meta-features in units of their standard deviation; what is constant becomes 0."""
    known = ~np.isnan(U)
    n = np.maximum(known.sum(axis=0), 1)
    centred = U - np.where(known, U, 0.0).sum(axis=0) / n
    deviation = np.sqrt(np.where(known, centred**2, 0.0).sum(axis=0) / n)
    varies = deviation > 1e-12 * np.abs(np.where(known, U, 0.0)).max(axis=0, initial=0.0)
    return np.where(varies, centred / np.where(varies, deviation, 1.0), np.where(known, 0.0, U))


def candidates(name: str, given: Any) -> tuple[float, ...]:
    """Return the values of a parameter to choose among, from a number or several.

    Examples
    --------
    >>> candidates("sigma", 2)
    (2.0,)
    """
    values = list(given) if np.iterable(given) and not isinstance(given, str) else [given]
    if not values:
        raise UsageError(f"{name} is empty: give a number above 0, or several to choose among.")
    for value in values:
        check_between(name, value)
    return tuple(map(float, values))


def some_of_each(y: Array, n: int, seed: int) -> Array:
    """Return n rows in which classes are as frequent as in all."""
    if np.bincount(y).min() < 2:
        return np.sort(np.random.default_rng(seed).permutation(len(y))[:n])
    split = StratifiedShuffleSplit(1, train_size=n, random_state=seed)
    rows, _ = next(split.split(np.zeros(len(y)), y))
    return np.sort(rows)


def cross_validate(
    K: Array,
    y: Array,
    folds: Sequence[tuple[Array, Array]],
    costs: Sequence[float],
    loss: str,
    fit_intercept: bool = True,
    multi_class: str = AGAINST_REST,
) -> list[float]:
    """Return the share of samples that are predicted right, for each cost."""
    right = np.zeros(len(costs))
    n_classes = int(y.max()) + 1
    for inside, outside in folds:
        K_inside, K_outside = K[np.ix_(inside, inside)], K[np.ix_(outside, inside)]
        for k, cost in enumerate(costs):
            machines = machines_of(
                K_inside, y[inside], n_classes, cost, loss, fit_intercept, multi_class
            )
            right[k] += np.count_nonzero(machines.predict(K_outside) == y[outside])
    return list(right / len(y))
