r"""The part that past models have in common: the prior mean of a new problem's weights.

Past models that ask the same question agree with each other. With
:math:`\kappa = |\bar w|^2 / \overline{|w|^2}`, which is 1 if all m directions are equal and
:math:`1/m` if they have nothing in common, the prior mean is :math:`b \bar w` with

.. math:: b = \frac{\kappa - 1/m}{\kappa (1 - 1/m)} .

Where the target is a number, all directions count. With two classes those count that speak for one
of them, by name, with a minus sign if it is the first, and at least half of all must: a model of "a
or b" tells little of "a or c". More than two classes have no prior mean, since classes that are
merely numbered would be taken for each other. Names may agree by chance, so the directions, brought
to unit length, must agree far better than with random signs. With :math:`G` their inner products,

.. math:: z = \sum_{i \ne k} G_{ik} \Big/ \Big(2 \sum_{i \ne k} G_{ik}^2\Big)^{1/2}

has mean 0 and variance 1 under random signs. The mean of unit vectors gets their median length.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import issparse

from metafs.data.typing import Array, Matrix
from metafs.stats.linear.weight_prior import BASIS, Directions

_ROUNDING = 1e-9
_FAR_FROM_CHANCE = 3.0
_LEAST = 5  # directions that can agree far better than by chance
_LEAST_SHARE = 0.5  # of directions that speak for one of two classes


def prior_mean(known: Directions, classes: Sequence[str] | None) -> Array | None:
    """Return the prior mean of each output's weights, (n_outputs, n_features); None if it is 0.

    Parameters
    ----------
    known : Directions
    classes : sequence of str or None
        The names of the new problem's classes, sorted; None if the target is a number.
    """
    if classes is None:
        mean = common_part(_of_problems(known))
        return None if mean is None else mean[None]
    names = np.array(known.outputs, dtype=object)
    if len(classes) != 2:
        return None
    sign = (names == classes[1]) * 1.0 - (names == classes[0])
    spoken = sign != 0
    if np.count_nonzero(spoken) < _LEAST_SHARE * sum(name is not None for name in names):
        return None
    mean = agreed_part(sign[spoken, None] * _dense(known.weights[spoken]))
    return None if mean is None else mean[None]


def agrees(expected: Array, targets: Array) -> bool:
    """Return whether labelled rows do not contradict what the prior mean predicts of them.

    Classes of the same names may mean the opposite: their correlation is then below 0 by more than
    its standard error without any relation.
    """
    one, other = expected - expected.mean(axis=0), targets - targets.mean(axis=0)
    size = float(np.sqrt(np.sum(one**2) * np.sum(other**2)))
    return float(np.sum(one * other)) * float(np.sqrt(len(targets))) > -size


def agreed_part(weights: Array) -> Array | None:
    """Return the common part of directions in units of their median length; None if by chance.

    Examples
    --------
    >>> agreed_part(np.eye(9))
    >>> agreed_part(np.tile([2.0, 0.0], (9, 1)))
    array([2., 0.])
    """
    length = np.linalg.norm(weights, axis=1)
    weights, length = weights[length > 0], length[length > 0]
    if len(weights) < _LEAST:
        return None
    unit = weights / length[:, None]
    gram = unit @ unit.T
    np.fill_diagonal(gram, 0.0)
    by_chance = float(np.sqrt(2 * np.sum(gram**2)))
    if gram.sum() <= max(_FAR_FROM_CHANCE * by_chance, _ROUNDING):
        return None
    mean = common_part(unit)
    return None if mean is None else mean * float(np.median(length))


def _of_problems(known: Directions) -> Array:
    """Return the directions of problems, or all if only the basis of a space is known."""
    of_problem = np.array([problem != BASIS for problem in known.problems])
    return _dense(known.weights[of_problem] if of_problem.any() else known.weights)


def _dense(table: Matrix) -> Array:
    return np.asarray(table.toarray() if issparse(table) else table)


def common_part(weights: Array) -> Array | None:
    """Return the mean of directions, shrunk by how little they agree; None if they do not.

    Examples
    --------
    >>> common_part(np.array([[1.0, 1.0], [1.0, -1.0]]))
    >>> common_part(np.array([[1.0, 0.0], [1.0, 0.0]]))
    array([1., 0.])
    """
    m, mean = len(weights), weights.mean(axis=0)
    size = float(np.mean(np.sum(weights**2, axis=1)))
    if m < 2 or size == 0:
        return None
    agreement = float(mean @ mean) / size
    b = (agreement - 1 / m) / (1 - 1 / m) / max(agreement, 1 / m)
    return mean * b if b > _ROUNDING else None
