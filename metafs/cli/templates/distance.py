r"""newplugin: problems are near if the same features follow the target in both.

A problem is the distribution over its features

.. math:: P(f) \propto | corr(x_f, y) |

and two problems are as far apart as the square root of the Jensen-Shannon divergence of theirs,
which the MetaDB finds by itself (``in_sql``). This is a working example: write your own description
of a problem in `signature`. A distance of another kind has ``in_sql = False``; it must still be a
metric between 0 and 1.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.plugin import Distance, Signature, hash_keys, hookimpl, jensen_shannon, signature_of

METAFS_API = 1


def absolute_correlations(problem: Problem) -> Array:
    """Return |corr| of each feature with the target; classes count as their codes."""
    X = problem.X if isinstance(problem.X, np.ndarray) else problem.X.toarray()
    X = np.nan_to_num(X)
    apart, y = X - X.mean(axis=0), problem.y - problem.y.mean()
    scale = np.sqrt((apart**2).sum(axis=0) * (y**2).sum())
    found: Array = np.abs(y @ apart) / np.where(scale > 0, scale, 1.0)
    return found


@dataclass(frozen=True)
class NewPluginDistance:
    """Root Jensen-Shannon divergence over features, by their correlation with the target.

    Examples
    --------
    >>> one = Problem.of([[1, 0], [0, 0]], ["a", "b"], feature_names=["u", "v"])
    >>> two = Problem.of([[0, 1], [0, 0]], ["a", "b"], feature_names=["u", "v"])
    >>> distance = NewPluginDistance()
    >>> distance.distance(distance.signature(one), distance.signature(two))
    1.0
    """

    in_sql = True

    def signature(self, problem: Problem) -> Signature:
        """Describe a problem by the features that follow its target."""
        mass = absolute_correlations(problem)
        mass = mass if mass.any() else np.ones(problem.n_features)
        return signature_of(hash_keys([(name,) for name in problem.feature_names]), mass)

    def distance(self, a: Signature, b: Signature) -> float:
        """Return the distance of two described problems, between 0 and 1."""
        return sqrt(jensen_shannon(a, b))


@hookimpl
def metafs_distances() -> dict[str, Distance]:
    """Offer the distance under its public name."""
    return {"newplugin": NewPluginDistance()}
