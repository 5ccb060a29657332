r"""FSV: a plane that separates two classes with few features, by concave minimisation.

The m rows of A are one class, the k rows of B the other; the plane :math:`x'w = \gamma` solves

.. math::

    \min_{w, \gamma, y, z, v}\; (1 - \lambda) \left(\frac{e'y}{m} + \frac{e'z}{k}\right)
    + \lambda \sum_j \left(1 - e^{-\alpha v_j}\right)
    \quad\text{with}\quad
    \begin{aligned}
    -Aw + e\gamma + e &\le y, & y &\ge 0, \\
    Bw - e\gamma + e &\le z, & z &\ge 0, \\
    -v \le w &\le v,
    \end{aligned}

whose second term counts the features in use, the more sharply the larger :math:`\alpha`. It is
concave, so the successive linearisation algorithm decreases it: starting with :math:`v^0 = 0`, each
linear programme uses :math:`\lambda \alpha e^{-\alpha v_j^i}` as the cost of :math:`v_j`, until the
objective does not decrease. The first programme has an l1 penalty; the paper allows any start.
Costs are at least 1e-6, because HiGHS otherwise reports an unbounded programme. Features with a
weight of 0 are ordered by how close they were to a weight in the first, convex programme.

P. S. Bradley, O. L. Mangasarian, "Feature Selection via Concave Minimization and Support Vector
Machines", ICML 1998.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import linprog
from scipy.sparse import csc_array, diags_array, eye_array, hstack
from sklearn.preprocessing import StandardScaler

from metafs.data.parameters import check_between
from metafs.data.typing import Array, Matrix
from metafs.errors import MetafsError, UsageError
from metafs.plugin.ranking import RankingSelector
from metafs.stats.discretise import discretise_target

_TOLERANCE = 1e-7  # that of HiGHS
_LEAST_COST = 1e-6  # with a smaller cost HiGHS lets a weight grow without limit
_FEW = 100  # features with which a linear programme begins


class Plane(NamedTuple):
    """The solution of one linear programme."""

    w: Array
    error: float
    """The cost of rows on the wrong side of their margin."""
    pull: Array
    """How much a weight on each feature would save; at most its cost."""


def successive_planes(
    X: Matrix, t: Array, sparsity: float, alpha: float
) -> Iterator[tuple[Plane, float]]:
    """Yield the plane of each linear programme with its objective; the last is the answer.

    ``t`` has 1 for the rows of A and -1 for those of B. When the objective stays where it was,
    so does v, in which it is strictly concave: the last plane is a stationary point.
    """
    signed = csc_array(diags_array(t.astype(np.float64)) @ csc_array(X))
    row_costs = (1 - sparsity) / np.where(t > 0, np.sum(t > 0), np.sum(t < 0))
    plane = Plane(np.zeros(X.shape[1]), float(row_costs.sum()), np.abs(signed.T @ row_costs))
    objective, before = plane.error, np.inf
    while objective < before - _TOLERANCE:
        weight_costs = sparsity * alpha * np.exp(-alpha * np.abs(plane.w))
        weight_costs = np.maximum(weight_costs, _LEAST_COST)
        plane = next_plane(signed, t, row_costs, weight_costs, plane)
        features = -np.expm1(-alpha * np.abs(plane.w)).sum()
        before, objective = objective, float(plane.error + sparsity * features)
        yield plane, objective


def next_plane(
    signed: csc_array, t: Array, row_costs: Array, weight_costs: Array, before: Plane
) -> Plane:
    """Return the plane of least cost, from the errors of its rows and from its weights.

    Few features get a weight, so the programme is solved by column generation: it begins with
    the features in use before and those with the largest savings. Any other feature that would
    save more than it costs is added, until there is none; the plane is then optimal over all
    features.
    """
    m, n = signed.shape
    candidates = np.lexsort((weight_costs - before.pull, before.w == 0))
    few = candidates[: _FEW + 2 * np.count_nonzero(before.w)]
    while True:
        solve = _by_rows if m <= len(few) else _by_features
        w = np.zeros(n)
        w[few], gamma, u = solve(signed[:, few], t, row_costs, weight_costs[few])
        pull = np.abs(signed.T @ u)
        loss = weight_costs - pull
        left_out = np.setdiff1d(candidates, few)
        joining = left_out[loss[left_out] < -_TOLERANCE]
        if not len(joining):
            break
        few = np.append(few, joining[np.argsort(loss[joining])][: len(few)])
    w[loss > _TOLERANCE] = 0.0  # but for rounding it is
    missed = np.maximum(0.0, 1 - signed @ w + gamma * t)
    return Plane(w, float(row_costs @ missed), pull)


def _by_rows(
    signed: csc_array, t: Array, row_costs: Array, weight_costs: Array
) -> tuple[Array, float, Array]:
    r"""Solve the programme as it stands, with :math:`w = p - q`: one constraint for each row."""
    m, n = signed.shape
    lower = np.zeros(2 * n + 1 + m)
    lower[2 * n] = -np.inf
    found = _solved(
        linprog(
            np.concatenate([weight_costs, weight_costs, [0.0], row_costs]),
            A_ub=hstack([-signed, signed, csc_array(t[:, None]), -eye_array(m)], format="csc"),
            b_ub=-np.ones(m),
            bounds=np.column_stack([lower, np.full(len(lower), np.inf)]),
            method="highs",
        )
    )
    p, q, (gamma,), _ = np.split(found.x, [n, 2 * n, 2 * n + 1])
    return p - q, gamma, -found.ineqlin.marginals


def _by_features(
    signed: csc_array, t: Array, row_costs: Array, weight_costs: Array
) -> tuple[Array, float, Array]:
    r"""Solve the dual, several times faster where rows are many: one constraint for each feature.

    .. math:: \max_u e'u \quad\text{with}\quad
        |X'Tu| \le c_{\text{weights}},\; t'u = 0,\; 0 \le u \le c_{\text{rows}}

    The weights are what the constraints cost.
    """
    m, n = signed.shape
    constraints = hstack([signed, csc_array(t[:, None])], format="csc").T
    found = _solved(
        linprog(
            np.concatenate([-np.ones(m), np.zeros(n)]),
            A_eq=hstack([constraints, -eye_array(n + 1, n)], format="csc"),
            b_eq=np.zeros(n + 1),
            bounds=np.column_stack(
                [
                    np.concatenate([np.zeros(m), -weight_costs]),
                    np.concatenate([row_costs, weight_costs]),
                ]
            ),
            method="highs",
        )
    )
    w, (gamma,) = np.split(-found.eqlin.marginals, [n])
    return w, -gamma, found.x[:m]


def _solved(programme: Any) -> Any:
    if programme.status != 0:
        raise MetafsError(
            f"a linear programme of fsv was not solved (status {programme.status} of HiGHS): "
            "centre and scale the features."
        )
    return programme


def feature_scores(X: Matrix, t: Array, sparsity: float, alpha: float) -> tuple[Array, Array, int]:
    r"""Return the size of each weight, how close a feature came to one, and how many programmes.

    The closeness comes from the first programme, before the linearisation concentrates weights:
    :math:`s_j - 1 - e^{-\alpha |w_j|}`, where s is the share of its cost that a weight would have
    saved. That is -2 for a feature of no use, -1 where a weight just does not pay, and tends to
    0 for one of large weight, of which a later programme could do without.
    """
    planes = [plane for plane, _ in successive_planes(X, t, sparsity, alpha)]
    first = planes[0]
    share = np.where(first.w != 0, 1.0, np.minimum(first.pull / (sparsity * alpha), 1.0))
    close = share - 1 - np.exp(-alpha * np.abs(first.w))
    return np.abs(planes[-1].w), close, len(planes)


class FSV(RankingSelector):
    """Keep the features of a plane that separates the classes with few features.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.
    sparsity : float, default=0.05
        The paper's lambda, above 0 and below 1: how much a feature weighs against
        errors. The larger, the fewer features get a weight, down to none at all.
    alpha : float, default=5.0
        How sharply a weight counts as a feature; 5 as published.
    standardize : bool, default=False
        Divide every feature by its standard deviation first.
    n_jobs : int, default=None
        Processes that share the classes, where there are more than two.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The size of a feature's weight. One without a weight scores by the first linear
        programme: between -1 and 0 if it had a weight there, else between -2 and -1, the
        closer to one the more.
    ranking_ : ndarray of shape (n_features,)
        1 for the best.
    n_evaluations_ : int
        Number of linear programmes.
    stopped_ : str
        Why the search ended.

    Notes
    -----
    Most features have no weight, and the published method leaves them unordered; here they
    follow in the order that the first linear programme gives them, a constant last. A prior
    decides between equals.

    Where memory knows of weights and is used, columns are prepared and scaled by the weights
    of a linear model with memory (`metafs.plugin.reference_view`), so that a large one
    costs less.

    Weights depend on the scale of the features, and alpha suits those of about unit spread:
    scale them, or have it done by ``standardize``.

    Of more than two classes, each is parted from all others: the sizes of a feature's weights
    are added up, and a feature that has none takes its best score. A numeric target is
    discretised; a target of one class is refused.

    Examples
    --------
    >>> X = [[0.0, 5.0, 1.0], [1.0, 4.0, 1.0], [8.0, 5.0, 1.0], [9.0, 4.0, 1.0]]
    >>> fitted = FSV(1).fit(X, ["a", "a", "b", "b"])
    >>> fitted.get_support(), fitted.n_evaluations_
    (array([ True, False, False]), 2)
    """

    _sees_reference = True

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        sparsity: float = 0.05,
        alpha: float = 5.0,
        standardize: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(n_features_to_select)
        self.sparsity = sparsity
        self.alpha = alpha
        self.standardize = standardize
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        check_between("sparsity", self.sparsity, 0, 1)
        check_between("alpha", self.alpha)

    def _score(self, X: Matrix, y: Array) -> Array:
        classes = discretise_target(y)
        n_classes = classes.max() + 1
        if n_classes == 1:
            raise UsageError("fsv separates classes, but the target has one class only: give two.")
        if self.standardize:
            X = StandardScaler(with_mean=False).fit_transform(X)
        parted = range(1, 2) if n_classes == 2 else range(n_classes)
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(feature_scores)(X, np.where(classes == c, 1, -1), self.sparsity, self.alpha)
            for c in parted
        )
        sizes, close, n_programmes = zip(*found, strict=True)
        self.n_evaluations_ = sum(n_programmes)
        self.stopped_ = "no linear programme lowers the objective"
        size = np.sum(sizes, axis=0)
        scores: Array = np.where(size > 0, size, np.max(close, axis=0))
        return scores
