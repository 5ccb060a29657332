r"""Recursive elimination: measure the quality of the remaining features, drop the weakest, repeat.

What the selectors and their controls share: how many to drop when, and elimination that measures
every feature (RFE), for features behind a measurer.

I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification using
support vector machines", Machine Learning 46, 2002.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from metafs.data.checks import listing
from metafs.data.typing import Array
from metafs.errors import ProblemError
from metafs_metafeatures.mf_pfs.measurers import Measurer
from metafs_svm.svm_rfe import weakest_first

Quality = Callable[[Any, Any], Array]
"""A measure of single features: ``quality(X, y)`` returns one number each, larger is better."""


def n_to_drop(n_left: int, n: int, t: float) -> int:
    """Return min(t |F|, |F| - n), but at least one.

    Examples
    --------
    >>> n_to_drop(100, 10, 0.5), n_to_drop(12, 10, 0.5)
    (50, 2)
    """
    return min(max(1, int(t * n_left)), n_left - n)


def sizes_left(n_features: int, n: int, t: float) -> list[int]:
    """Return how many features are left at the beginning of each step.

    Examples
    --------
    >>> sizes_left(100, 10, 0.5)
    [100, 50, 25, 13]
    """
    sizes = []
    while n_features > n:
        sizes.append(n_features)
        n_features -= n_to_drop(n_features, n, t)
    return sizes


def evenly_down(n_features: int, n: int, n_steps: int) -> list[int]:
    """Return how many features to keep after each of some steps that all drop about one share.

    Examples
    --------
    >>> evenly_down(1000, 10, 4)
    [316, 100, 32, 10]
    """
    share = min(n, n_features) / n_features
    return [round(n_features * share ** (step / n_steps)) for step in range(1, n_steps + 1)]


def weakest(quality: Array, count: int, hope: Array) -> Array:
    """Return the places of the weakest features, weakest first; of equals, the less hoped for."""
    return weakest_first(quality - quality.min(), count, hope)


def measured(measurer: Measurer, features: Array) -> tuple[Array, Any, Array]:
    """Return the features that can be measured, their columns, and the features that cannot."""
    sound, columns = measurer.measure(features)
    return sound, columns, np.setdiff1d(features, sound)


def refuse_nothing_left(n_left: int, measurer: Measurer) -> None:
    """Refuse to go on when every feature has failed."""
    if not n_left:
        reason = next(iter(measurer.failed.values()))
        raise ProblemError(
            f"none of {listing(list(measurer.failed))} could be measured ({reason}); fix the "
            "measurer or give other features."
        )


def eliminate_all_measured(
    measurer: Measurer,
    y: Array,
    sizes: Sequence[int],
    *,
    quality: Quality,
    features: Array | None = None,
    hope: Array | None = None,
) -> tuple[Array, int]:
    """Measure every feature, then drop the weakest, step by step.

    Parameters
    ----------
    measurer : Measurer
        Measures the features.
    y : ndarray of shape (n_samples,)
        The target.
    sizes : sequence of int
        How many features to keep after each step.
    quality : callable
        A measure of single features.
    features : ndarray of int, default=None
        The features to begin with; None begins with all.
    hope : ndarray of shape (n_features,), default=None
        Of equals, the one with less of it goes first.

    Returns
    -------
    order : ndarray
        The features, the first to go first, the best of those left last; such as cannot be
        measured before all others.
    n_evaluations : int
        Qualities computed, over all steps.
    """
    features = np.arange(measurer.n_features) if features is None else features
    hope = np.zeros(measurer.n_features) if hope is None else hope
    left, columns, failed = measured(measurer, features)
    refuse_nothing_left(len(left), measurer)
    qualities = np.asarray(quality(columns, y), dtype=np.float64)
    gone, n_evaluations = [failed], len(left)
    for size in sizes:
        if size >= len(left):
            continue
        if len(gone) > 1:
            qualities = np.asarray(quality(columns, y), dtype=np.float64)
            n_evaluations += len(left)
        out = weakest(qualities, len(left) - size, hope[left])
        gone.append(left[out])
        keep = np.setdiff1d(np.arange(len(left)), out)
        left, columns, qualities = left[keep], columns[:, keep], qualities[keep]
    gone.append(left[weakest(qualities, len(left), hope[left])])
    return np.concatenate(gone), n_evaluations
