r"""The part that past models have in common: the prior mean of a new problem's weights.

Past models that ask the same question agree with each other. With
:math:`\kappa = |\bar w|^2 / \overline{|w|^2}`, which is 1 if all m directions are equal and
:math:`1/m` if they have nothing in common, the prior mean is :math:`b \bar w` with

.. math:: b = \frac{\kappa - 1/m}{\kappa (1 - 1/m)} .

Where the target is a number, all directions count. With two classes those count that speak for one
of them, by name, with a minus sign if it is the first, and at least half of all must: a model of "a
or b" tells little of "a or c". Names may agree by chance, so the directions, brought
to unit length, must agree far better than with random signs. With :math:`G` their inner products,

.. math:: z = \sum_{i \ne k} G_{ik} \Big/ \Big(2 \sum_{i \ne k} G_{ik}^2\Big)^{1/2}

has mean 0 and variance 1 under random signs. The mean of unit vectors gets their median length.

With more classes each has the mean of the directions of its name, if names mean something: classes
that are merely numbered would be taken for each other. So each direction is compared with the means
that the other past problems give the names in its own problem, and nearly all must be nearest to
that of their own name. Of digits that was seen for all directions, and for 24 to 63 % where the
digits of each problem were numbered.

Labels may contradict a prior mean. Few labels do by chance, the less credibly the more past
problems agree with each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from metafs.data.typing import Array, Matrix
from metafs.stats.linear.weight_prior import BASIS, Directions

_ROUNDING = 1e-9
_FAR_FROM_CHANCE = 3.0
_LEAST = 5  # directions that can agree far better than by chance
_LEAST_SHARE = 0.5  # of directions that speak for one of two classes
_LEAST_OF_EACH = 3  # directions of each of more classes
_LEAST_NAMED = 0.9  # of directions that are nearest to those of their own name
_LEAST_RIGHT = 0.5  # of labelled rows whose class, of three or more, the prior mean predicts


@dataclass(frozen=True, eq=False)
class PriorMean:
    """What past models of the same question have in common."""

    weights: Array
    """(n_outputs, n_features)"""
    odds: float = 1.0
    """How many past directions agree with it for one that does not."""


def prior_mean(known: Directions, classes: Sequence[str] | None) -> PriorMean | None:
    """Return the prior mean of each output's weights; None if it is 0.

    Parameters
    ----------
    known : Directions
    classes : sequence of str or None
        The names of the new problem's classes, sorted; None if the target is a number.
    """
    if classes is None:
        mean = common_part(_of_problems(known))
        return None if mean is None else PriorMean(mean[None])
    names = np.array(known.outputs, dtype=object)
    if len(classes) != 2:
        return _of_classes(known, names, classes) if len(classes) else None
    sign = (names == classes[1]) * 1.0 - (names == classes[0])
    spoken = sign != 0
    if np.count_nonzero(spoken) < _LEAST_SHARE * sum(name is not None for name in names):
        return None
    oriented = sign[spoken, None] * _dense(known.weights[spoken])
    mean = agreed_part(oriented)
    if mean is None:
        return None
    n_agree = int(np.count_nonzero(oriented @ mean > 0))
    return PriorMean(mean[None], (n_agree + 1) / (len(oriented) - n_agree + 1))


def _of_classes(known: Directions, names: Array, classes: Sequence[str]) -> PriorMean | None:
    of_each = [np.flatnonzero(names == name) for name in classes]
    if min(map(len, of_each)) < _LEAST_OF_EACH or not names_mean_something(known):
        return None
    means = [agreed_part(_dense(known.weights[rows]), least=_LEAST_OF_EACH) for rows in of_each]
    found = [mean for mean in means if mean is not None]
    return PriorMean(np.array(found)) if len(found) == len(classes) else None


def names_mean_something(known: Directions) -> bool:
    """Return whether directions are like those that other problems call by the same name.

    Examples
    --------
    >>> past = {"weights": np.tile(np.eye(3), (3, 1)), "problems": [*"aaabbbccc"]}
    >>> names_mean_something(Directions.of(**past, outputs=[*"xyzxyzxyz"]))
    True
    >>> names_mean_something(Directions.of(**past, outputs=[*"xyzyzxzxy"]))
    False
    """
    problems, names = np.array(known.problems), np.array(known.outputs, dtype=object)
    named = np.array([name is not None for name in names])
    length = np.linalg.norm(table := _dense(known.weights), axis=1, keepdims=True)
    unit = np.divide(table, length, out=np.zeros_like(table), where=length > 0)
    n_right = n_tried = 0
    for problem in dict.fromkeys(problems[named].tolist()):
        mine = problems == problem
        means = [unit[~mine & (names == name)].sum(axis=0) for name in names[mine]]
        size = np.linalg.norm(means, axis=1)
        if len(means) < 3 or not size.all():
            continue
        nearest = (unit[mine] @ (np.array(means) / size[:, None]).T).argmax(axis=1)
        n_right += int(np.count_nonzero(nearest == np.arange(len(means))))
        n_tried += len(means)
    return n_tried > 0 and n_right >= _LEAST_NAMED * n_tried


def agrees(expected: Array, targets: Array, odds: float = 1.0) -> bool:
    r"""Return whether labelled rows do not contradict what the prior mean predicts of them.

    Two classes of the same names may mean the opposite: their correlation is then below 0 by more
    than :math:`\sqrt{1 + 2 \log o}` standard errors without any relation, with the odds o that
    they mean the same. Of more classes the labelled rows must be predicted rightly.
    """
    if expected.shape[1] > 1:
        right = expected.argmax(axis=1) == targets.argmax(axis=1)
        return float(right.mean()) > _LEAST_RIGHT
    one, other = expected - expected.mean(axis=0), targets - targets.mean(axis=0)
    size = float(np.sqrt(np.sum(one**2) * np.sum(other**2)))
    least = float(np.sqrt(1 + 2 * np.log(max(odds, 1.0))))
    return float(np.sum(one * other)) * float(np.sqrt(len(targets))) > -least * size


def agreed_part(weights: Array, *, least: int = _LEAST) -> Array | None:
    """Return the common part of directions in units of their median length; None if by chance.

    Examples
    --------
    >>> agreed_part(np.eye(9))
    >>> agreed_part(np.tile([2.0, 0.0], (9, 1)))
    array([2., 0.])
    """
    length = np.linalg.norm(weights, axis=1)
    weights, length = weights[length > 0], length[length > 0]
    if len(weights) < least:
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
