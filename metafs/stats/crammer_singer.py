r"""The machine of Crammer and Singer: the weights of all classes trained together.

.. math:: \min_W \; \tfrac12 \sum_c \|w_c\|^2 + \lambda \sum_i
          \max_c \big( [c \ne y_i] + w_c \cdot x_i \big) - w_{y_i} \cdot x_i

A row costs what the best of the other classes lacks of a margin of 1. As in the paper there is no
intercept. The machine sees products of rows only: with :math:`K = L L^\top` the rows of L are as
good as the rows of the table, and LIBLINEAR trains on them.

K. Crammer, Y. Singer, "On the algorithmic implementation of multiclass kernel-based vector
machines", Journal of Machine Learning Research 2, 2001.
"""

import numpy as np
from scipy.linalg import cho_solve, cholesky
from sklearn.svm import LinearSVC

from metafs.data.typing import Array

JITTER = 1e-10
"""What is added to the diagonal of a Gram matrix, as a share of its mean, so that it has a root."""

MOST_ITERATIONS = 10**5


def crammer_singer(K: Array, y: Array, cost: float) -> tuple[Array, Array]:
    """Return the classes and what each row counts for in each, (n_rows, n_classes).

    A row with products k with those trained on belongs to the class of the largest ``k @ alpha``.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    >>> classes, alpha = crammer_singer(X @ X.T, np.array([0, 1, 2]), cost=10.0)
    >>> classes[(X @ X.T @ alpha).argmax(axis=1)]
    array([0, 1, 2])
    """
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) == 1:
        return classes, np.zeros((len(K), 1))
    mean = float(np.trace(K)) / len(K)
    unit = mean if mean > 0 else 1.0
    root = cholesky(K / unit + JITTER * np.eye(len(K)), lower=True)
    machine = LinearSVC(
        multi_class="crammer_singer",
        C=cost * unit,
        fit_intercept=False,
        max_iter=MOST_ITERATIONS,
        random_state=0,
    ).fit(root, codes)
    w = machine.coef_.T
    if len(classes) == 2:  # LIBLINEAR has the difference of the two
        w = np.hstack([-w / 2, w / 2])
    alpha = cho_solve((root, True), root @ w) / unit
    return classes, np.asarray(alpha)
