r"""Feature-weighted nearest neighbours: a regression that learns which columns make rows alike.

The estimate is a mean over the k nearest rows of the training set,

.. math:: \hat f_w(x) = \frac1Z \sum_{x' \in N(x)} f(x') \, e^{-d_w(x, x') / \beta},
          \qquad d_w(x, x') = \sum_i w_i^2 (x_i - x'_i)^2

and the weights are those of a stochastic gradient ascent over the leave-one-out evaluation

.. math:: e(w) = -\tfrac12 \sum_x \left( f(x) - \hat f_w(x) \right)^2,
          \qquad \frac{\partial \hat f_w(x)}{\partial w_i} =
          -\frac{2 w_i}{\beta} \sum_{x'} p(x') \left( f(x') - \hat f_w(x) \right) (x_i - x'_i)^2

where p are the exponentials divided by Z. A step goes along the gradient of a batch of rows,
divided by the running length of such gradients, and shortens linearly to nothing. At the end k and
the scale of the distances are those with the smallest leave-one-out error. The learnt weights have
seen the rows they are evaluated on: for m rows and n columns their error counts (m + n) / (m - n)
times (Akaike's final prediction error), and unless it is then still smaller than that of unit
weights, these are kept.

A. Navot, L. Shpigelman, N. Tishby, E. Vaadia, "Nearest neighbor based feature selection for
regression and its application to neural activity", NIPS 2006. Estimate, evaluation and ascent are
the paper's as the literature has them; the length of the steps and the choice of k and beta are
ours.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from metafs.data.parameters import check_at_least, check_between
from metafs.data.typing import Array
from metafs_regressors.nearest import neighbours, other_neighbours

LEARNING_ROWS = 5000
"""Weights are learnt on at most this many rows; all serve as neighbours, more in a tree."""

_CHOOSING_ROWS = 2000  # rows whose leave-one-out error decides k and scale
_SCALES = 4.0 ** np.arange(-3, 3)
_STEP = 0.15
_MEMORY = 0.9  # of the running length of gradients


def estimates(distance: Array, values: Array, beta: float) -> tuple[Array, Array]:
    """Return f_w of each row, and the p of its neighbours, from their distances and values.

    Examples
    --------
    >>> f, p = estimates(np.array([[0.0, np.log(3.0)]]), np.array([[4.0, 8.0]]), beta=1.0)
    >>> f, p
    (array([5.]), array([[0.75, 0.25]]))
    """
    p = distance.min(axis=1, keepdims=True) - distance
    p /= beta
    np.exp(p, out=p)
    p /= p.sum(axis=1, keepdims=True)
    return np.einsum("ij,ij->i", p, values), p


def gradient(X: Array, y: Array, w: Array, beta: float, rows: Array, k: int) -> Array:
    """Return the gradient of the terms of e(w) that belong to some rows."""
    Z, X_rows = X * w, X.take(rows, axis=0)
    near, distance = neighbours(X_rows * w, Z, k, rows)
    values = y.take(near)
    f, p = estimates(distance, values, beta)
    pull = p * (values - f[:, None]) * (y.take(rows) - f)[:, None]
    apart = X.take(near.ravel(), axis=0) - X_rows.repeat(k, axis=0)
    apart *= apart
    return np.asarray(-2.0 / beta * w * (pull.ravel() @ apart))


def ascend(X: Array, y: Array, beta: float, k: int, batches: Array) -> Array:
    """Return the weights after a step for each batch, (n_steps, n_rows), beginning with ones."""
    w, mean_square, seen = np.ones(X.shape[1]), 0.0, 0.0
    for t, rows in enumerate(batches):
        g = gradient(X, y, w, beta, rows, k)
        mean_square = _MEMORY * mean_square + (1 - _MEMORY) * float(g @ g)
        seen = _MEMORY * seen + (1 - _MEMORY)
        if mean_square > 0:
            length = _STEP * (1 - t / len(batches)) * np.sqrt(len(w) * seen / mean_square)
            w = w + length * g
    return w


def leave_one_out_errors(
    distance: Array, values: Array, truth: Array, ks: list[int], betas: Array
) -> Array:
    """Return the mean squared error for each k and beta, from neighbours in ascending order.

    Fewer neighbours are the first of more, so one search serves them all.
    """
    errors = np.empty((len(ks), len(betas)))
    starts = [0, *ks[:-1]]
    nearer = distance[:, :1] - distance
    for j, beta in enumerate(betas):
        p = np.exp(nearer / beta)
        Z = np.add.reduceat(p, starts, axis=1).cumsum(axis=1)
        p *= values
        f = np.add.reduceat(p, starts, axis=1).cumsum(axis=1) / Z
        errors[:, j] = ((f - truth[:, None]) ** 2).mean(axis=0)
    return errors


def final_prediction_factor(m: int, n: int) -> float:
    """Return by how much n values learnt from m rows flatter the error on these rows.

    Examples
    --------
    >>> final_prediction_factor(30, 10), final_prediction_factor(10, 30)
    (2.0, inf)
    """
    return (m + n) / (m - n) if m > n else float("inf")


class WeightedKNN(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Mean of the nearest rows, under learnt weights of the columns.

    Columns and target are standardised first; the weights are those of standardised columns.

    Parameters
    ----------
    n_neighbors : int, default=None
        How many rows to average, at most all there are. None learns the weights with twice the
        binary logarithm of the number of rows and then takes the best by leave-one-out.
    beta : float, default=None
        The squared distance at which a neighbour counts 1/e. None begins with the mean squared
        distance to the farthest of the neighbours, and then takes the best by leave-one-out.
    n_steps : int, default=100
        Steps of the ascent; 0 leaves every column its unit weight.
    batch_size : int, default=50
        Rows whose gradient makes one step.
    random_state : int, RandomState instance or None, default=None
        Which rows come in which batch.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights w, none negative; 0 for a constant column.
    n_neighbors_ : int
        How many rows are averaged.
    beta_ : float
        The squared distance at which a neighbour counts 1/e.
    noise_ : float
        Root of the mean squared error, by leave-one-out, as charged for learning the weights.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 3))
    >>> y = np.sin(3 * X[:, 1])
    >>> map = WeightedKNN(random_state=0).fit(X, y)
    >>> map.weights_.argmax()
    np.int64(1)
    >>> prediction, std = map.predict([[0.0, 0.5, 0.0]], return_std=True)
    >>> abs(prediction[0] - np.sin(1.5)) < 3 * std[0]
    np.True_
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        beta: float | None = None,
        n_steps: int = 100,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.beta = beta
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the weights of the columns of X from the values in y."""
        if self.n_neighbors is not None:
            check_at_least("n_neighbors", self.n_neighbors)
        if self.beta is not None:
            check_between("beta", self.beta)
        check_at_least("n_steps", self.n_steps, 0)
        check_at_least("batch_size", self.batch_size)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._scaler = StandardScaler().fit(X)
        X = self._standardised(X)
        self._centre, self._spread = float(y.mean()), float(y.std()) or 1.0
        self._values = (y - self._centre) / self._spread
        self.weights_ = np.where(X.any(axis=0), 1.0, 0.0)
        self.n_neighbors_, self.beta_, error = 1, 1.0, 0.0
        if len(X) > 1:
            error = self._learn(X, self._values, check_random_state(self.random_state))
        self.noise_ = float(np.sqrt(error)) * self._spread
        self._rows = X * self.weights_
        self._tree = None
        if len(X) > LEARNING_ROWS:
            self._tree = NearestNeighbors(n_neighbors=self.n_neighbors_).fit(self._rows)
        return self

    def _standardised(self, X: Array) -> Array:
        """Transform X, which has been validated once already."""
        return np.asarray((X - self._scaler.mean_) / self._scaler.scale_)

    def _learn(self, X: Array, y: Array, random: np.random.RandomState) -> float:
        """Set weights, number of neighbours and beta; return the mean squared error."""
        if len(X) > LEARNING_ROWS:
            drawn = random.permutation(len(X))[:LEARNING_ROWS]
            X, y = X[drawn], y[drawn]
        m = len(X)
        log2 = int(np.ceil(np.log2(m)))
        k = min(self.n_neighbors or 2 * log2, m - 1)
        ks = [k] if self.n_neighbors else sorted({min(c * log2, m - 1) for c in (1, 2, 4, 8)})
        evaluated = random.permutation(m)[:_CHOOSING_ROWS]
        one = self.weights_
        found = other_neighbours(X * one, evaluated, ks[-1])
        beta = self.beta or float(found[1][:, k - 1].mean()) or 1.0
        passes = -(-self.n_steps * self.batch_size // m)
        order = np.concatenate([random.permutation(m) for _ in range(passes)] or [evaluated[:0]])
        batches = order[: self.n_steps * self.batch_size].reshape(self.n_steps, self.batch_size)
        betas = np.array([beta]) if self.beta else beta * _SCALES
        learnt, best = np.abs(one * ascend(X, y, beta, k, batches)), np.inf
        charge_of_learnt = final_prediction_factor(m, int(one.sum()))
        found_by_learnt = other_neighbours(X * learnt, evaluated, ks[-1])
        for w, charge, (near, distance) in (
            (one, 1.0, found),
            (learnt, charge_of_learnt, found_by_learnt),
        ):
            errors = charge * leave_one_out_errors(distance, y[near], y[evaluated], ks, betas)
            if errors.min() < best:
                best = float(errors.min())
                i, j = np.unravel_index(errors.argmin(), errors.shape)
                self.weights_, self.n_neighbors_, self.beta_ = w, ks[i], float(betas[j])
        return best

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predict, with ``return_std`` also the standard deviation of each prediction.

        Its square is the weighted variance of the neighbours, plus the variance of their mean:
        that of the leave-one-out errors, divided by the number of neighbours that count.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        Z = self._standardised(X) * self.weights_
        if self._tree is None:
            near, distance = neighbours(Z, self._rows, self.n_neighbors_)
        else:
            root, near = self._tree.kneighbors(Z)
            distance = root**2
        values = self._values[near]
        f, p = estimates(distance, values, self.beta_)
        prediction: Array = self._centre + self._spread * f
        if not return_std:
            return prediction
        inside = np.einsum("ij,ij->i", p, (values - f[:, None]) ** 2) * self._spread**2
        return prediction, np.sqrt(inside + self.noise_**2 * (p**2).sum(axis=1))
