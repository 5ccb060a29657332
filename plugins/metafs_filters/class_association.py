r"""Leaning: for which class a feature speaks, and what that means where labels are few.

In units of what chance does, a feature is larger in class c than elsewhere by

.. math:: z_{cj} = \frac{\sum_{i \in c} (x_{ij} - \mu_j)}
                        {\sigma_j \sqrt{n_c (n - n_c) / (n - 1)}}

and it speaks for the class in which this is largest.

*Classes in turn.* Of a few documents some are long by chance. Most words then speak for the class
that has them, and so does a learner that adds up what words say. So the next feature is the best of
those that speak for the class of which the features before it said least:
:math:`\sum_j z_{cj}` stays near 0 for every class. Classes choosing in turn are the remedy of
G. Forman, "A pitfall and solution in multi-class feature selection for text classification",
ICML 2004; there each has as many turns.

*Neighbours and classes.* A near problem often shares one class with the new one, and its best
features tell nothing of the other. How far neighbour i leans to class c can be seen in the new
problem: with :math:`\delta_{ij}` the root of its quality, and :math:`u_i`, of length 1, the part of
:math:`\delta_i` that is not along the root of what is expected of all, a feature that speaks for
class c is expected to do

.. math:: e'_j = e_j \Big( \frac{\sum_i w_{ci} \, \delta_{ij}}{\sum_i w_i \, \delta_{ij}} \Big)^2,
          \qquad w_{ci} \propto w_i \, \Phi \Big( \sum_l u_{il} z_{cl} \Big)

where the weights are as large together as they were. If all neighbours lean alike, nothing changes.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from metafs.data.typing import Array, Matrix
from metafs.plugin.prior import Source
from metafs.stats.centred import Centred
from metafs.stats.discretise import discretise_target

_NEGLIGIBLE = 1e-9  # below it nothing is left of a length or a weight
_DECIMALS = 9  # of z, so that sums in another order find the same features without any leaning


def class_associations(X: Matrix, y: Array) -> Array:
    """Return z, of shape (n_classes, n_features); a missing value says nothing.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    >>> class_associations(X, np.array(["a", "a", "b", "b"])).round(2)
    array([[ 1.73, -1.  ],
           [-1.73,  1.  ]])
    """
    _, codes, n_c = np.unique(discretise_target(y), return_inverse=True, return_counts=True)
    n, columns = len(codes), Centred(X)
    members = (codes == np.arange(len(n_c))[:, None]).astype(np.float64)
    chance = np.outer(n_c * (n - n_c) / max(n - 1, 1), columns.variance)
    beyond = columns.along(members)
    z = np.divide(beyond, np.sqrt(chance), out=np.zeros_like(beyond), where=chance > 0)
    return np.asarray(np.round(z, _DECIMALS))


def class_balanced(order: Array, association: Array) -> Array:
    """Return features, given from the best on, in the order in which classes in turn take them.

    A feature that leans nowhere is taken by whoever comes to it first.

    Examples
    --------
    >>> z = np.array([2.0, 2.0, -1.0, -1.0])
    >>> class_balanced(np.array([0, 1, 2, 3]), np.array([z, -z]))
    array([0, 2, 3, 1])
    """
    associated = association[:, order] == association[:, order].max(axis=0)
    waiting = [deque(np.flatnonzero(of_class).tolist()) for of_class in associated]
    total, taken = np.zeros(len(association)), {}
    while True:
        for places in waiting:
            while places and places[0] in taken:
                places.popleft()
        first = [(total[c], places[0]) for c, places in enumerate(waiting) if places]
        if not first:
            break
        _, place = min(first)
        taken[place] = order[place]
        total += association[:, order[place]]
    return np.array(list(taken.values()), dtype=np.int64)


def expected_by_class(expected: Array, sources: Sequence[Source], association: Array) -> Array:
    """Return what is expected of each feature if neighbours are heard on the classes they know.

    Examples
    --------
    Of two neighbours each knows two features. The last one speaks for the class of the first
    neighbour, but only the second recommends it.

    >>> known = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> sources = [Source(f"p{i}", 0.5, 0.5, row) for i, row in enumerate(known)]
    >>> z = np.array([2.0, 1.0, -2.0, 0.5])
    >>> expected_by_class(np.full(4, 0.5), sources, np.array([z, -z])).round(1)
    array([2., 2., 2., 0.])
    """
    if not sources:
        return expected
    effects = np.sqrt(np.array([source.quality for source in sources]))
    weights = np.array([source.weight for source in sources])
    together = weights @ effects
    common = np.sqrt(expected) / max(np.sqrt(expected.sum()), _NEGLIGIBLE)
    apart = effects - np.outer(effects @ common, common)
    length = np.linalg.norm(apart, axis=1, keepdims=True)
    unit = np.divide(apart, length, out=np.zeros_like(apart), where=length > _NEGLIGIBLE)
    class_weights = weights * np.maximum(ndtr(association @ unit.T), _NEGLIGIBLE)
    class_weights *= weights.sum() / class_weights.sum(axis=1, keepdims=True)
    by_class = class_weights @ effects
    of_class = np.take_along_axis(by_class, association.argmax(axis=0)[None], axis=0)[0]
    known = (association.max(axis=0) > 0) & (together > 0)
    ratio = np.divide(of_class, together, out=np.ones_like(together), where=known)
    return np.asarray(expected * ratio**2)
