r"""Generalisation bounds of the search Mufasa: how many sets it can end in.

A search of J steps over :math:`|MF|` possible values of the meta-features can end in few sets
(lemmas 1 and 2), so with probability :math:`1 - \delta`, whatever function of a class with
fat-shattering dimension d at :math:`\gamma / 32` is then chosen (theorem 4),

.. math::

    er \le \hat{er}^\gamma + \sqrt{\frac{2}{m} \Big(
    d \ln \frac{34 e m}{d} \log_2 (578 m) + \ln \frac{8}{\gamma \delta} + g(J) \Big)},
    \qquad g(J) = \min(J \ln 2, \ln (J |MF|)).

E. Krupka, A. Navot, N. Tishby, "Learning to Select Features using their Properties", JMLR 9, 2008,
section 7.1.
"""

import math
from collections.abc import Sequence

from metafs.bounds.nearest_neighbour import complexity
from metafs.data.parameters import check_at_least
from metafs.errors import UsageError


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
