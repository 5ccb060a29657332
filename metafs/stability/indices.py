r"""Stability indices: 1 for rankings or sets that never change, lower the more they do.

**Jensen-Shannon**, of rankings. The feature at rank r of the first k of l features has weight

.. math:: q(r) = \frac{1}{2k} \Big(1 + \sum_{i=r}^{k} \frac{1}{i}\Big),

and the other features have weight 0, so that N rankings are N distributions over the features, and

.. math::

    S = 1 - \frac{D}{D^*}, \qquad
    D = \frac{1}{N} \sum_{i=1}^{N} \mathrm{KL}(q_i \,\|\, \bar q), \qquad
    D^* = \frac{1}{N} \sum_{i=1}^{N} \mathrm{KL}(q_i \,\|\, 1/l),

where D* is the value of D for many random rankings. For few random rankings the index is well above
0 (20 rankings, the first 20 of 2000 features: 0.39; two rankings: 0.84), so
`jensen_shannon_by_chance` gives its value for as many random rankings.
A set is the uniform distribution over its features. S lies between 0 and 1.

R. Guzmán-Martínez, R. Alaiz-Rodríguez, "Feature selection stability assessment based on the
Jensen-Shannon divergence", ECML PKDD 2011.

**Jaccard**, of sets: the mean over all pairs of the share of common features.

**Kuncheva**, of sets: the mean over all pairs of :math:`(r l - k^2) / (k (l - k))` for two sets of
k features with r in common, which is 0 on average for random sets. For sets of different sizes it
is generalised to

.. math:: 1 - \sum_j \frac{N}{N - 1}\, p_j (1 - p_j) \Big/ \bar k \Big(1 - \frac{\bar k}{l}\Big),

with p the share of sets that contain feature j and k̄ the mean size.

L. I. Kuncheva, "A stability index for feature selection", IASTED AIA 2007; S. Nogueira,
K. Sechidis, G. Brown, "On the stability of feature selection algorithms", JMLR 18, 2018.

Where nothing could differ (every set empty or full, a single feature), all three are 1.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from metafs.data.typing import Array
from metafs.errors import UsageError

_DRAWS = 50  # sets of random rankings, fewer if there are many features


def rank_weights(k: int) -> Array:
    """Return the weights of the ranks 1 to k, which sum to 1.

    Examples
    --------
    >>> rank_weights(2)
    array([0.625, 0.375])
    """
    weights: Array = (1 + np.cumsum(1 / np.arange(k, 0, -1))[::-1]) / (2 * k)
    return weights


def jensen_shannon(rankings: ArrayLike, k: int | None = None) -> float:
    """Return the stability of rankings, or of their first k features.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_features)
        The rank of each feature, 1 for the best. Tied features share the weights of their places.
    k : int, default=None
        How many places count; None for all.

    Examples
    --------
    >>> jensen_shannon([[1, 2, 3], [1, 2, 3]])
    1.0
    >>> top, bottom = [[1, 2, 3, 4], [2, 1, 3, 4]], [[1, 2, 3, 4], [1, 2, 4, 3]]
    >>> jensen_shannon(top) < jensen_shannon(bottom) < 1
    True
    """
    ranks = _table("ranking", rankings)
    places = _weights_of_places(ranks.shape[1], k)
    return _similarity(np.array([_distribution(each, places) for each in ranks]))


def jensen_shannon_by_chance(n_rankings: int, n_features: int, k: int | None = None) -> float:
    """Return the mean index of as many random rankings.

    Examples
    --------
    >>> round(jensen_shannon_by_chance(20, 2000, k=20), 2)
    0.39
    """
    rng = np.random.default_rng(0)
    weights = np.tile(_weights_of_places(n_features, k), (n_rankings, 1))
    n_draws = max(1, min(_DRAWS, 20_000 // n_features))
    draws = [_similarity(rng.permuted(weights, axis=1)) for _ in range(n_draws)]
    return float(np.mean(draws))


def jensen_shannon_of_sets(selected: ArrayLike) -> float:
    """Return the stability of sets, each uniform over its features; an empty one over all.

    Examples
    --------
    >>> jensen_shannon_of_sets([[True, False, False], [True, False, False]])
    1.0
    """
    sets = _sets(selected)
    sets[~sets.any(axis=1)] = 1.0
    return _similarity(sets / sets.sum(axis=1, keepdims=True))


def jaccard(selected: ArrayLike) -> float:
    """Return the mean share of common features over all pairs of sets; two empty ones are equal.

    Examples
    --------
    >>> jaccard([[True, True, False], [True, False, True]])
    0.3333333333333333
    """
    sets = _sets(selected)
    common = sets @ sets.T
    sizes = sets.sum(axis=1)
    either = sizes[:, None] + sizes - common
    shares = np.divide(common, either, out=np.ones_like(common), where=either > 0)
    return float(shares[np.triu_indices(len(sets), 1)].mean())


def kuncheva(selected: ArrayLike) -> float:
    """Return the chance-corrected overlap of sets; negative if below chance.

    Examples
    --------
    >>> kuncheva([[True, False, False, False], [True, False, False, False]])
    1.0
    >>> kuncheva([[True, True, False, False], [True, False, True, False]])
    0.0
    """
    sets = _sets(selected)
    n_sets, n_features = sets.shape
    p = sets.mean(axis=0)
    by_chance = p.sum() * (1 - p.sum() / n_features)
    varies = n_sets / (n_sets - 1) * (p * (1 - p)).sum()
    return float(1 - varies / by_chance) if by_chance > 0 else 1.0


def _sets(selected: ArrayLike) -> Array:
    sets = _table("set", selected)
    if not np.isin(sets, (0, 1)).all():
        raise UsageError("a set is a row of True and False, one for each feature, not of numbers.")
    return sets.astype(np.float64)


def _table(what: str, rows: ArrayLike) -> Array:
    try:
        table = np.asarray(rows)
    except ValueError:  # rows of different lengths
        table = np.zeros(0)
    if table.ndim != 2 or len(table) < 2 or table.shape[1] < 1:
        raise UsageError(f"give at least two {what}s of the same features, one a row.")
    return table


def _weights_of_places(n_features: int, k: int | None) -> Array:
    """Return the weight of each place of a ranking, none beyond the first k."""
    k = n_features if k is None else k
    if not (isinstance(k, int | np.integer) and 1 <= k <= n_features):
        raise UsageError(f"the first {k} of {n_features} features cannot be compared.")
    places = np.zeros(n_features)
    places[:k] = rank_weights(k)
    return places


def _distribution(ranks: Array, places: Array) -> Array:
    """Return the weight of each feature; those of equal rank share theirs."""
    _, group, size = np.unique(ranks, return_inverse=True, return_counts=True)
    of_group = np.add.reduceat(places, np.cumsum(size) - size)
    weights: Array = (of_group / size)[group]
    return weights


def _similarity(distributions: Array) -> float:
    """Return 1 minus the divergence of distributions divided by that of random ones."""
    divergence = rel_entr(distributions, distributions.mean(axis=0)).sum(axis=1).mean()
    random = rel_entr(distributions, 1 / distributions.shape[1]).sum(axis=1).mean()
    if divergence <= 1e-12 * random or random <= 1e-12:
        return 1.0
    return float(max(0.0, 1 - divergence / random))
