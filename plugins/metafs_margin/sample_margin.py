r"""Sample margins: how far a sample is from where the nearest-neighbour rule changes its mind.

A point z is given another class than the sample x has by the rule where some sample :math:`p_j` of
another class is at least as near as every sample :math:`p_k` of the class of the rule. That is a
polyhedron for each j,

.. math:: 2 (p_k - p_j) \cdot z \le \|p_k\|^2 - \|p_j\|^2 \quad \text{for all } k,

and the sample margin is the distance of x to the nearest of them,

.. math:: \min_j \min_z \|z - x\|, \qquad
          \|z - x\| \ge \tfrac12 \big( \|x - p_j\| - \|x - \mathrm{nearest}(x)\| \big)

It is negative where the rule is wrong about x. The bound on the right says which j need not be
looked at; with the nearest j it is the hypothesis margin, which therefore is never larger. Each
polyhedron is a problem of least distance, solved by non-negative least squares: C. L. Lawson,
R. J. Hanson, "Solving least squares problems", 1974, chapter 23.

K. Crammer, R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin analysis of the LVQ algorithm",
NIPS 2002; R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin based feature selection - theory and
algorithms", ICML 2004, section 2.1.
"""

import numpy as np
from scipy.optimize import nnls

from metafs.data.typing import Array


def sample_margins(X: Array, y: Array, w: Array) -> Array:
    """Return the sample margin of each sample under weights w, with the rule of all others.

    A sample without others of two classes has margin 0, as its hypothesis margin is.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [4.0], [8.0]])
    >>> sample_margins(X, np.array([0, 0, 1, 1]), np.ones(1))
    array([ 2.5,  1. , -0.5,  5.5])
    """
    X = X[:, w != 0] * np.abs(w[w != 0])
    return np.array([_margin(X, y, i) for i in range(len(X))])


def _margin(X: Array, y: Array, i: int) -> float:
    others = np.delete(X, i, axis=0) - X[i]
    labels = np.delete(y, i)
    has_hit, has_miss = (labels == y[i]).any(), (labels != y[i]).any()
    if not has_hit or not has_miss:
        return 0.0
    away = np.sqrt((others**2).sum(axis=1))
    right = away[labels == y[i]].min() <= away[labels != y[i]].min()
    # Where the rule says the class of x, its margin ends where that class is no longer nearest;
    # where it says another, its margin ends where the class of x becomes the nearest.
    there, beyond = (labels == y[i], labels != y[i]) if right else (labels != y[i], labels == y[i])
    nearest, own = away[there].min(), others[there]
    best = np.inf
    for j in np.flatnonzero(beyond)[np.argsort(away[beyond], kind="stable")].tolist():
        if (away[j] - nearest) / 2 >= best:
            break
        best = min(best, _least_distance(others[j], own))
    return best if right else -best


def _least_distance(p: Array, own: Array) -> float:
    """Return the distance of the origin to the points that are nearer to p than to all of own."""
    G = 2 * (p - own)
    h = (p**2).sum() - (own**2).sum(axis=1)
    scale = np.sqrt((G**2).sum(axis=1))
    if (h <= 1e-12 * np.maximum(scale, 1e-300)).all():
        return 0.0
    known = scale > 0
    G, h = G[known] / scale[known, None], h[known] / scale[known]
    unit = float(np.abs(h).max())
    E = np.vstack([G.T, h / unit])
    f = np.zeros(len(E))
    f[-1] = 1.0
    v, _ = nnls(E, f)
    rest = E @ v - f
    if -rest[-1] <= 1e-12:
        return np.inf  # p lies where one of own does
    return float(np.sqrt((rest[:-1] ** 2).sum()) / -rest[-1] * unit)
