r"""What MF-PFS is held against: elimination that measures all features, or as many, or none.

``RFEall`` measures all N features and drops the weakest in six steps of one share;
``RFEsmall`` does the same from as many random features as MF-PFS measured; ``Baseline`` takes
random features.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", JMLR 9, 2008,
section 5.2.
"""

import numpy as np

from metafs.data.parameters import check_at_least
from metafs.data.typing import Array
from metafs_metafeatures.mf_pfs.elimination import Quality, eliminate_all_measured, evenly_down
from metafs_metafeatures.mf_pfs.measurers import Measurer
from metafs_svm import SVMWeights

N_STEPS = 6
"""Elimination steps from 10n features to n."""


def rfe_all(
    measurer: Measurer,
    y: Array,
    n: int,
    *,
    n_steps: int = N_STEPS,
    quality: Quality | None = None,
    features: Array | None = None,
) -> Array:
    """Return the n features that elimination keeps when it measures all, the best first.

    Parameters
    ----------
    measurer : Measurer
        Measures the features.
    y : ndarray of shape (n_samples,)
        The target.
    n : int
        How many to keep.
    n_steps : int, default=6
        Steps of elimination.
    quality : callable, default=None
        A measure of single features; None takes `metafs_svm.SVMWeights`.
    features : ndarray of int, default=None
        The features to begin with; None begins with all.
    """
    check_at_least("n", n)
    check_at_least("n_steps", n_steps)
    begin = np.arange(measurer.n_features) if features is None else np.asarray(features)
    order, _ = eliminate_all_measured(
        measurer,
        y,
        evenly_down(len(begin), n, n_steps),
        quality=SVMWeights() if quality is None else quality,
        features=begin,
    )
    sound = order[~np.isin(np.array(measurer.feature_names)[order], list(measurer.failed))]
    return np.asarray(sound[::-1][:n])


def rfe_small(
    measurer: Measurer,
    y: Array,
    n: int,
    n_measured: int,
    rng: np.random.Generator,
    *,
    n_steps: int = N_STEPS,
    quality: Quality | None = None,
) -> Array:
    """Return what `rfe_all` keeps of ``n_measured`` random features."""
    check_at_least("n_measured", n_measured)
    drawn = random_features(measurer.n_features, n_measured, rng)
    return rfe_all(measurer, y, n, n_steps=n_steps, quality=quality, features=drawn)


def random_features(n_features: int, n: int, rng: np.random.Generator) -> Array:
    """Return n different features at random, or all where there are fewer.

    Examples
    --------
    >>> sorted(random_features(3, 5, np.random.default_rng(0)).tolist())
    [0, 1, 2]
    """
    return np.asarray(rng.permutation(n_features)[:n])
