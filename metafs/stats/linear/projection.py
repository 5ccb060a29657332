r"""Projection: the smallest set of columns whose own model predicts what a reference model does.

With :math:`\beta` the weights of the reference and :math:`\Sigma` the covariance of the prepared
columns, the best model on the columns S has the weights
:math:`\theta_S = \Sigma_{SS}^{-1} \Sigma_{S \cdot} \beta`, and a lasso path on the same quadratic
form says in which order columns enter. No label takes part, so rows without label count too:
:math:`\Sigma` is their covariance, shrunk towards a diagonal of what memory and all rows say of the
spread of columns, as few rows know little of how columns vary together:

.. math:: \Sigma = \frac{n \hat\Sigma + n_0 \, \mathrm{diag}(\sigma^2)}{n + n_0}

J. Piironen, A. Vehtari, "Comparison of Bayesian predictive methods for model selection", Statistics
and Computing 27, 2017; C. Goutis, C. P. Robert, "Model choice in generalised linear models: a
Bayesian approach via Kullback-Leibler projections", Biometrika 85, 1998.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from metafs.data.typing import Array, Matrix
from metafs.stats.linear.model import LinearModel

N_CANDIDATES = 1000
"""Columns that may enter: those of the largest weight times spread."""

SHRINKAGE = 100.0
"""Rows that the diagonal is worth."""


@dataclass(frozen=True, eq=False)
class Projection:
    """Columns in the order in which they enter, and what models on the first of them are."""

    order: Array
    """(n_ranked,) Columns, the first to enter first."""
    scores: Array
    """(n_features,) What each column carries of the reference: weight times spread."""
    candidates: Array
    covariance: Array
    """(n_candidates, n_candidates)"""
    moments: Array
    """(n_candidates, n_outputs) Covariance with what the reference predicts."""

    def weights(self, columns: Array) -> Array:
        """Return the projected weights on some of the candidates: (n_outputs, n_columns)."""
        at = np.array([np.flatnonzero(self.candidates == column)[0] for column in columns])
        found, *_ = lstsq(self.covariance[np.ix_(at, at)], self.moments[at], check_finite=False)
        return np.asarray(found.T)

    def explained(self, n_columns: int) -> float:
        """Return the share of the reference's variance that the first columns give."""
        columns = self.order[:n_columns]
        at = np.array([np.flatnonzero(self.candidates == column)[0] for column in columns])
        total = float(np.sum(self.moments * self._reference))
        return float(np.sum(self.weights(columns) * self.moments[at].T)) / max(total, 1e-300)

    @property
    def _reference(self) -> Array:
        found, *_ = lstsq(self.covariance, self.moments, check_finite=False)
        return np.asarray(found)


def project(
    model: LinearModel, X: Matrix, n_columns: int, sample_weight: Array | None = None
) -> Projection:
    """Order columns by what they carry of a model's predictions on rows, labelled or not.

    Parameters
    ----------
    model : LinearModel
        The reference.
    X : ndarray or csr_array
        All rows at hand.
    n_columns : int
        How many columns are wanted in order; the others follow by weight times spread.
    sample_weight : array of shape (n_rows,), default=None
        How much each row counts.
    """
    table = model.preparation(X)
    n, known = table.shape[0], model.preparation.spread
    spread = np.sqrt((n * model.spread**2 + SHRINKAGE * known**2) / (n + SHRINKAGE))
    carried = np.abs(model.coef).max(axis=0) * spread
    ranked = np.argsort(-carried, kind="stable")
    candidates = ranked[: max(N_CANDIDATES, n_columns)]
    candidates = candidates[carried[candidates] > 0]
    part = table[:, candidates]
    part = np.asarray(part.toarray() if issparse(part) else part)
    if sample_weight is None:
        part = part - part.mean(axis=0)
    else:
        share = sample_weight / sample_weight.sum()
        part = (part - share @ part) * np.sqrt(share * n)[:, None]
    covariance = (part.T @ part + SHRINKAGE * np.diag(known[candidates] ** 2)) / (n + SHRINKAGE)
    moments = covariance @ model.coef[:, candidates].T
    entered = _in_turn([_path(covariance, each, n_columns) for each in moments.T])
    order = candidates[entered]
    rest = ranked[~np.isin(ranked, order)]
    return Projection(np.concatenate([order, rest]), carried, candidates, covariance, moments)


def _path(covariance: Array, moments: Array, n_columns: int) -> list[int]:
    """Return the columns in the order in which they enter the lasso path, in unit variances."""
    unit = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    with warnings.catch_warnings():  # equal columns: the path drops one of them, as it should
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, _, path = lars_path_gram(
            moments / unit,
            covariance / np.outer(unit, unit),
            n_samples=1,
            method="lasso",
            max_iter=int(n_columns * 1.5) + 5,
        )
    found: dict[int, None] = {}
    for step in path.T:
        found.update(dict.fromkeys(np.flatnonzero(step).tolist()))
    return list(found)


def _in_turn(paths: list[list[int]]) -> Array:
    """Return what the paths of several outputs find, each output naming its next in turn."""
    found: dict[int, None] = {}
    for place in range(max(map(len, paths), default=0)):
        found.update({path[place]: None for path in paths if place < len(path)})
    return np.array(list(found), dtype=np.int64)
