r"""Class association: the class in which a feature is largest, and its uses with few labels.

In units of its standard deviation under a permuted target, the excess of feature j in class c is

.. math:: z_{cj} = \frac{\sum_{i \in c} (x_{ij} - \mu_j)}
                        {\sigma_j \sqrt{n_c (n - n_c) / (n - 1)}}

and the feature is associated with the class for which this is largest.

*Class-balanced selection.* Among few documents some are long by chance. Most words are then
associated with the class of the long documents, and a learner that adds up words is biased towards
it. So the next feature is the best one associated with the class whose selected features have the
smallest sum so far: :math:`\sum_j z_{cj}` stays near 0 for every class. Letting classes choose by
rounds is the remedy of G. Forman, "A pitfall and solution in multi-class feature selection for text
classification", ICML 2004; there each class chooses equally often.

*Class-specific expectation.* A similar problem often shares one class with the new problem, and its
best features are not informative about the other. The association of neighbour i with class c can
be estimated on the new problem: let :math:`\delta_{ij}` be the root of its quality, and
:math:`u_i`, of length 1, the part of :math:`\delta_i` orthogonal to the root of the common
expectation. A feature associated with class c is then expected to have quality

.. math:: e'_j = e_j \Big( \frac{\sum_i w_{ci} \, \delta_{ij}}{\sum_i w_i \, \delta_{ij}} \Big)^2,
          \qquad w_{ci} \propto w_i \, \Phi \Big( \sum_l u_{il} z_{cl} \Big)

where the weights keep their sum. If all neighbours have the same association, nothing changes.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from metafs.data.typing import Array, Matrix
from metafs.plugin.prior import Source
from metafs.stats.centred import Centred
from metafs.stats.discretise import discretise_target

_NEGLIGIBLE = 1e-9  # lengths and weights below count as 0
_DECIMALS = 9  # of z, so that the order of summation does not matter


def class_associations(X: Matrix, y: Array) -> Array:
    """Return z, of shape (n_classes, n_features); missing values are ignored.

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
    """Return the features in class-balanced order; ``order`` is by quality, best first.

    A feature that is associated with several classes is taken by the first that reaches it.

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
    """Return the expectation of each feature with neighbours weighted by class association.

    Examples
    --------
    Each of two neighbours knows two features. The last feature is associated with the class of the
    first neighbour, but only the second neighbour recommends it.

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
