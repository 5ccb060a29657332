r"""Weigh what a problem tells of its features against what memory expects of them.

With :math:`I(s)` the mutual information of a feature alone with the target, and :math:`P(s)` what
memory expects of it,

.. math:: \mathrm{promise}(s) = \frac{I(s)}{\max_t I(t)} + P(s)

So a feature that memory never met is judged by its own evidence. Evidence of one's own that
contradicts memory is a reason for doubt.
"""

from collections.abc import Mapping

import numpy as np

from metafs.discretise import discretise, discretise_target
from metafs.information import SetInformation, entropy
from metafs.typing import Array, Matrix

MUCH = 0.45
"""The share of the target that one feature must tell for good sets to be small."""


def information_of_each(
    X: Matrix,
    y: Array,
    categories: Mapping[int, tuple[str, ...]] | None = None,
    *,
    n_bins: int = 4,
) -> Array:
    """Return the mutual information of each feature with the target, in bits.

    Real-valued features and targets are discretised into `n_bins`.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> information_of_each(X, np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    codes = discretise(X, n_bins=n_bins, categories=categories).matrix
    classes = discretise_target(np.asarray(y), n_bins=n_bins)
    return SetInformation(codes, classes).of_each()


def promise(own: Array, expected: Array) -> Array:
    """Return how promising each feature is, from its own evidence and the expectation of it.

    Examples
    --------
    >>> promise(np.array([0.8, 0.2, 0.2]), np.array([0.0, 0.0, 0.9]))
    array([1.  , 0.25, 1.15])
    """
    best = own.max(initial=0.0)
    return np.asarray((own / best if best > 0 else own) + expected)


def one_tells_much(own: Array, y: Array) -> bool:
    """Tell whether one feature alone tells nearly half of the target.

    Examples
    --------
    >>> y = np.array([0, 1, 0, 1])
    >>> one_tells_much(np.array([0.5, 0.1]), y), one_tells_much(np.array([0.2, 0.1]), y)
    (True, False)
    """
    of_y = entropy(np.bincount(discretise_target(np.asarray(y))))
    return bool(own.max(initial=0.0) > MUCH * of_y)


def agree(own: Array, expected: Array) -> bool:
    """Tell whether features of which more is expected also tell more here, or nothing is expected.

    Examples
    --------
    >>> agree(np.array([0.9, 0.1, 0.0]), np.array([0.8, 0.0, 0.0]))
    True
    >>> agree(np.array([0.0, 0.1, 0.9]), np.array([0.8, 0.0, 0.0]))
    False
    """
    if np.ptp(expected) == 0 or np.ptp(own) == 0:
        return True
    return bool(np.corrcoef(own, expected)[0, 1] > 0)
