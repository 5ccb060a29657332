r"""Accuracy of a linear support vector machine in cross-validation, quick enough to guide a search.

The machine only sees products of rows, so that the Gram matrix :math:`K = X X^\top` is computed
once for all folds; it is divided by the mean squared distance of the rows from their mean,

.. math:: K \leftarrow K \Big/ \Big(\tfrac1m \sum_i K_{ii} - \tfrac1{m^2} \sum_{ij} K_{ij}\Big)

so that one C suits any number of features. Folds are the same for every set. Of several
classes each pair has a machine, and the pairs vote, as in LIBSVM.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.svm import SVC

from metafs.data.matrix import dense, table_and_target
from metafs.data.parameters import check_at_least, check_between
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs.stats.crammer_singer import crammer_singer
from metafs.stats.discretise import discretise_target
from metafs.stats.magnitude import of_usual_size

_TOLERANCE = 1e-2
PAIRS, TOGETHER = "pairs", "crammer-singer"


def scaled_gram(X: Array) -> tuple[Array, float]:
    """Return the products of the rows and the number to divide them by, 1 if the rows are equal.

    Examples
    --------
    >>> K, scale = scaled_gram(np.array([[0.0], [2.0]]))
    >>> K.tolist(), scale
    ([[0.0, 0.0], [0.0, 4.0]], 1.0)
    """
    K = X @ X.T
    spread = float(np.trace(K, dtype=np.float64) / len(K) - K.mean(dtype=np.float64))
    alike = spread <= 1e-12 * float(np.abs(K).max(initial=0.0))
    return K, 1.0 if alike else spread


def folds_of(classes: Array, n_folds: int, seed: int) -> Array:
    """Return the fold of each row; every class is spread over all folds as evenly as can be.

    Examples
    --------
    >>> np.bincount(folds_of(np.array([0, 0, 0, 0, 1, 1]), 2, seed=0))
    array([3, 3])
    """
    mixed = np.random.default_rng(seed).permutation(len(classes))
    by_class = mixed[np.argsort(classes[mixed], kind="stable")]
    folds = np.empty(len(classes), dtype=np.int64)
    folds[by_class] = np.arange(len(classes)) % n_folds
    return folds


def predicted(
    K: Array, scale: float, classes: Array, K_new: Array, C: float, multi_class: str = PAIRS
) -> Array:
    """Return the classes that a machine trained on K gives to rows with products K_new.

    One that has seen a single class knows no other, one that has seen no row gives -1.
    """
    if not len(classes):
        return np.full(len(K_new), -1)
    if (classes == classes[0]).all():
        return np.full(len(K_new), classes[0])
    if multi_class == TOGETHER:
        known, alpha = crammer_singer(np.divide(K, scale, dtype=np.float64), classes, C)
        return np.asarray(known[(K_new @ alpha).argmax(axis=1)])
    machine = SVC(kernel="precomputed", C=C, tol=_TOLERANCE)
    machine.fit(np.divide(K, scale, dtype=np.float64), classes)
    found: Array = machine.predict(np.divide(K_new, scale, dtype=np.float64))
    return found


@dataclass(frozen=True)
class SVMAccuracy:
    """Cross-validated accuracy of a linear SVM on a set of features.

    A numeric target is discretised.

    Parameters
    ----------
    C : float, default=1.0
        Cost of an error, for rows scaled to a mean squared distance of 1 from their mean.
    n_folds : int, default=2
        Folds of the cross-validation; the same ones for every set.
    standardise : bool, default=True
        Whether columns are brought to unit variance first.
    multi_class : {"pairs", "crammer-singer"}, default="pairs"
        Whether each pair of classes has a machine, or all are trained together, as in the paper.
    max_samples : int, default=4000
        Of more rows than these an even part is taken, the same one for every set.
    seed : int, default=0
        Which folds, and which rows.

    Examples
    --------
    >>> X, y = np.array([[0.0, 7.0], [1.0, 7.0]] * 10), [0, 1] * 10
    >>> SVMAccuracy().of_set(X, y, [0]), SVMAccuracy()(X, y)
    (1.0, array([1. , 0.5]))
    """

    C: float = 1.0
    n_folds: int = 2
    standardise: bool = True
    multi_class: str = PAIRS
    max_samples: int = 4000
    seed: int = 0

    def __post_init__(self) -> None:
        check_between("C", self.C)
        check_at_least("n_folds", self.n_folds, 2)
        check_at_least("max_samples", self.max_samples, 2)
        if self.multi_class not in (PAIRS, TOGETHER):
            raise UsageError(
                f"multi_class must be {PAIRS} or {TOGETHER}, not {self.multi_class!r}."
            )

    def __call__(self, X: Any, y: Any) -> Array:
        """Return the accuracy with every single feature."""
        X, y = table_and_target(X, y, "mufasa")
        return np.array([self.of_set(X, y, [j]) for j in range(X.shape[1])])

    def of_set(self, X: Any, y: Any, features: Any) -> float:
        """Return the accuracy with a set of features."""
        columns = X[:, features] if issparse(X) else np.asarray(X)[:, features]
        return self.of_table(dense(columns, "mufasa"), y)

    def of_table(self, X: Array, y: Any) -> float:
        """Return the accuracy with all columns of a dense table."""
        classes = discretise_target(np.asarray(y))
        if len(classes) > self.max_samples:
            n_parts = -(-len(classes) // self.max_samples)
            rows = folds_of(classes, n_parts, self.seed) == 0
            X, classes = X[rows], classes[rows]
        folds = folds_of(classes, self.n_folds, self.seed)
        by_fold = np.argsort(folds, kind="stable")
        classes, ends = classes[by_fold], np.cumsum(np.bincount(folds))
        K, scale = scaled_gram(self._scaled(X)[by_fold])
        n_right = 0
        for start, end in pairwise([0, *ends.tolist()]):
            train = np.r_[0:start, end : len(classes)]
            if self.n_folds == 2:  # the other half, without a copy
                train = slice(end, None) if start == 0 else slice(0, start)
            inside = K[train][:, train]
            new = K[start:end, train]
            found = predicted(inside, scale, classes[train], new, self.C, self.multi_class)
            n_right += int(np.count_nonzero(found == classes[start:end]))
        return n_right / len(classes)

    def _scaled(self, X: Array) -> Array:
        if not self.standardise:
            return np.ascontiguousarray(X.T, dtype=np.float32).T if X.dtype.kind in "bu" else X
        X = of_usual_size(X)
        spread = X.std(axis=0)
        return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
