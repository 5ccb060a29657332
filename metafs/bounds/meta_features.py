r"""VC-dimensions of selection by meta-features, and of free selection for comparison.

A mapping from meta-features to a decision, of VC-dimension :math:`d_s`, can select from N features
in at most :math:`(eN / d_s)^{d_s}` ways (lemma 6). Selecting and classifying together then have a
VC-dimension of at most (lemma 7 and theorem 8, for :math:`d_c \ge 11`)

.. math:: (d_c + \log_2 |H_{fs}| + 1) \log_2 d_c
          \le \Big(d_c + d_s \log_2 \frac{eN}{d_s} + 1\Big) \log_2 d_c

with :math:`d_c` that of the classifiers. E. Krupka, A. Navot, N. Tishby, "Learning to Select
Features using their Properties", JMLR 9, 2008.

Weights that are a function of k meta-features have a VC-dimension of at most
:math:`\min(k, d)` where the function is linear (theorem 1; the same for t fixed functions of them,
corollary 1), and of :math:`\prod_r (2 B_r T_r + 1)` where it has period :math:`T_r` and bandwidth
:math:`B_r` in each meta-feature (theorem 2), however many features d there are. E. Krupka,
N. Tishby, "Incorporating Prior Knowledge on Features into Learning", AISTATS 2007.
"""

import math
from collections.abc import Sequence

from metafs.data.parameters import check_at_least, check_between
from metafs.errors import UsageError

LEAST_CLASSIFIER_DIMENSION = 11
"""Lemma 7 holds from this VC-dimension of the classifiers on."""


def log2_selections_by_mapping(n_features: int, mapping_dimension: float) -> float:
    """Return lemma 6: in how many ways a class of mappings can select, as a power of two.

    A class whose VC-dimension is at least the number of features may select in every way.

    Examples
    --------
    >>> round(log2_selections_by_mapping(n_features=10_000, mapping_dimension=5), 1)
    62.0
    """
    check_at_least("n_features", n_features)
    check_between("mapping_dimension", mapping_dimension)
    if mapping_dimension >= n_features:
        return float(n_features)
    return mapping_dimension * math.log2(math.e * n_features / mapping_dimension)


def log2_direct_selections(n_features: int, n_selected: int) -> float:
    """Return the logarithm to base 2 of the number of ways to choose n of N features.

    Examples
    --------
    >>> round(log2_direct_selections(n_features=4, n_selected=2), 3)
    2.585
    """
    check_at_least("n_features", n_features)
    if not 0 <= n_selected <= n_features:
        raise UsageError(f"{n_selected} of {n_features} features cannot be selected.")
    ways = (
        math.lgamma(n_features + 1)
        - math.lgamma(n_selected + 1)
        - math.lgamma(n_features - n_selected + 1)
    )
    return ways / math.log(2)


def joint_dimension(classifier_dimension: float, log2_selections: float) -> float:
    """Return lemma 7: the VC-dimension of selecting and classifying together.

    Parameters
    ----------
    classifier_dimension : float
        That of the classifiers on the selected features; the lemma holds from 11 on.
    log2_selections : float
        The logarithm to base 2 of the number of possible selections.

    Examples
    --------
    >>> joint_dimension(classifier_dimension=16, log2_selections=7)
    96.0
    """
    if not classifier_dimension >= LEAST_CLASSIFIER_DIMENSION:
        raise UsageError(
            f"the lemma holds for classifiers of dimension {LEAST_CLASSIFIER_DIMENSION} and more, "
            f"not {classifier_dimension:g}."
        )
    if not log2_selections >= 0:
        raise UsageError(f"log2_selections must be at least 0, not {log2_selections:g}.")
    return (classifier_dimension + log2_selections + 1) * math.log2(classifier_dimension)


def selection_dimension(
    n_features: int, *, mapping_dimension: float, classifier_dimension: float
) -> float:
    """Return theorem 8: the VC-dimension of selecting by meta-features and classifying.

    With linear mappings of k meta-features and linear classifiers of n features the two
    dimensions are k + 1 and n + 1; with all functions of k binary meta-features, 2^k.

    Examples
    --------
    >>> by_four = {"mapping_dimension": 4 + 1, "classifier_dimension": 100 + 1}
    >>> round(selection_dimension(10_000, **by_four))
    1092
    """
    selections = log2_selections_by_mapping(n_features, mapping_dimension)
    return joint_dimension(classifier_dimension, selections)


def direct_selection_dimension(
    n_features: int, n_selected: int, *, classifier_dimension: float
) -> float:
    """Return equation 1: the VC-dimension of choosing any n of N features and classifying.

    Examples
    --------
    >>> round(direct_selection_dimension(10_000, 100, classifier_dimension=100 + 1))
    6028
    """
    selections = log2_direct_selections(n_features, n_selected)
    return joint_dimension(classifier_dimension, selections)


def linear_mapping_dimension(n_functions: int, n_features: int) -> int:
    """Return theorem 1: weights that are linear in k meta-features; or in t functions of them.

    Examples
    --------
    >>> linear_mapping_dimension(n_functions=5, n_features=24_000)
    5
    """
    check_at_least("n_functions", n_functions)
    check_at_least("n_features", n_features)
    return min(n_functions, n_features)


def smooth_mapping_dimension(bandwidths: Sequence[float], periods: Sequence[float]) -> float:
    """Return theorem 2: weights that are periodic, band-limited functions of the meta-features.

    Parameters
    ----------
    bandwidths : sequence of float
        B_r, the largest frequency in each meta-feature.
    periods : sequence of float
        T_r, the period in each.

    Examples
    --------
    >>> smooth_mapping_dimension(bandwidths=[0.1, 0.1], periods=[20, 20])
    25.0
    """
    if not len(bandwidths) or len(bandwidths) != len(periods):
        raise UsageError(
            f"give a bandwidth and a period for each meta-feature, not {len(bandwidths)} and "
            f"{len(periods)}."
        )
    for bandwidth, period in zip(bandwidths, periods, strict=True):
        if not bandwidth >= 0 or not period > 0:
            raise UsageError(
                "bandwidths must not be negative and periods must be above 0, not "
                f"{bandwidth:g} and {period:g}."
            )
    return math.prod(2 * b * t + 1 for b, t in zip(bandwidths, periods, strict=True))
