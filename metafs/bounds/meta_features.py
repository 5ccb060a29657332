r"""Generalisation bounds of selection by meta-features, and of free selection for comparison.

A search of J steps over :math:`|MF|` possible values of the meta-features can end in few sets
(lemmas 1 and 2), so with probability :math:`1 - \delta`, whatever function of a class with
fat-shattering dimension d at :math:`\gamma / 32` is then chosen (theorem 4),

.. math::

    er \le \hat{er}^\gamma + \sqrt{\frac{2}{m} \Big(
    d \ln \frac{34 e m}{d} \log_2 (578 m) + \ln \frac{8}{\gamma \delta} + g(J) \Big)},
    \qquad g(J) = \min(J \ln 2, \ln (J |MF|)).

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

from metafs.bounds.nearest_neighbour import complexity
from metafs.data.parameters import check_at_least, check_between
from metafs.errors import UsageError

LEAST_CLASSIFIER_DIMENSION = 11
"""Lemma 7 holds from this VC-dimension of the classifiers on."""


def log_choices_by_values(n_steps: int, n_values: float) -> float:
    """Return lemma 1: ln(J |MF|), for J sets could be drawn beforehand at each of |MF| values.

    Examples
    --------
    >>> round(log_choices_by_values(50, 1200), 1)
    11.0
    """
    check_at_least("n_steps", n_steps)
    if not n_values >= 1:
        raise UsageError(f"n_values must be at least 1, not {n_values:g}.")
    return math.log(n_steps) + math.log(n_values)


def log_choices_by_decisions(n_steps: int) -> float:
    """Return lemma 2: (J - 1) ln 2, for only that many decisions depend on the data.

    Examples
    --------
    >>> round(log_choices_by_decisions(50), 1)
    34.0
    """
    check_at_least("n_steps", n_steps)
    return (n_steps - 1) * math.log(2)


def log_mufasa_choices(n_steps: int, n_values: float = math.inf) -> float:
    """Return g(J) of theorem 4: the logarithm of the number of sets that a search can end in.

    Parameters
    ----------
    n_steps : int
        J, how many sets the search looks at.
    n_values : float, default=inf
        The number of values that the meta-features can have together, if it is finite.

    Examples
    --------
    >>> round(log_mufasa_choices(50, 1200), 1)
    11.0
    >>> round(log_mufasa_choices(5), 1)
    3.5
    """
    # The theorem is stated with J ln 2 although its lemma gives (J - 1) ln 2.
    return min(n_steps * math.log(2), log_choices_by_values(n_steps, n_values))


def log_choices_by_message(accepted: Sequence[bool]) -> float:
    r"""Return the length, in nats, of the message that says which sets of a search were taken.

    Lemma 2 gives each of the J - 1 decisions one bit. The j-th of J exchangeable sets is the best
    so far with probability 1 / j, so a code that expects this is shorter where few late sets are
    taken,

    .. math:: -\sum_{j=2}^{J} \ln P_j, \qquad
              P_j = 1 / j \text{ if set } j \text{ was taken, else } 1 - 1 / j

    and depends on the data. The probabilities of all messages add up to 1, so that the union bound
    holds with the length of the message in place of g(J): the data-dependent bound that section 7.1
    speaks of, after A. Blum and J. Langford, "PAC-MDL bounds", COLT 2003.

    Parameters
    ----------
    accepted : sequence of bool
        For each set after the first, whether it was at least as good as the best before.

    Examples
    --------
    >>> round(log_choices_by_message([False] * 49), 2), round(log_choices_by_decisions(50), 1)
    (3.91, 34.0)
    """
    length = 0.0
    for j, taken in enumerate(accepted, start=2):
        length += math.log(j) if taken else math.log(j / (j - 1))
    return length


def log_direct_choices(n_selected: int, log_n_features: float) -> float:
    """Return n ln N, which replaces g(J) when each of N features is chosen freely.

    N is given by its logarithm, because it may exceed the largest float.

    Examples
    --------
    >>> round(log_direct_choices(n_selected=100, log_n_features=math.log(10_000)))
    921
    """
    check_at_least("n_selected", n_selected)
    if not log_n_features >= 0:
        raise UsageError(f"log_n_features must be at least 0, not {log_n_features:g}.")
    return n_selected * log_n_features


def mufasa_bound(
    margin_error: float,
    *,
    n_samples: int,
    gamma: float,
    dimension: float,
    n_steps: int,
    n_values: float = math.inf,
    accepted: Sequence[bool] | None = None,
    delta: float = 0.05,
) -> float:
    """Return the bound of theorem 4 on the error after a search by meta-features.

    1 if the bound is trivial. The theorem is about two classes.

    Parameters
    ----------
    margin_error : float
        The share of samples that are wrong or have a margin below gamma.
    n_samples : int
        m, the size of the sample.
    gamma : float
        The required margin, above 0 and at most 1.
    dimension : float
        d, the fat-shattering dimension of the classifiers at gamma / 32.
    n_steps, n_values
        As in `log_mufasa_choices`.
    accepted : sequence of bool, default=None
        If given, the bound depends on the data by `log_choices_by_message` instead.
    delta : float, default=0.05
        The probability with which the bound may fail.

    Examples
    --------
    >>> classifiers = {"n_samples": 10**6, "gamma": 0.5, "dimension": 100}
    >>> round(mufasa_bound(0.05, n_steps=50, n_values=1200, **classifiers), 4)
    0.3328
    """
    if not 0 <= margin_error <= 1:
        raise UsageError(f"margin_error must lie between 0 and 1, not {margin_error:g}.")
    choices = log_mufasa_choices(n_steps, n_values)
    if accepted is not None:
        choices = log_choices_by_message(accepted)
    return min(
        1.0,
        margin_error + complexity(n_samples, gamma, dimension, delta, log_n_choices=choices),
    )


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
