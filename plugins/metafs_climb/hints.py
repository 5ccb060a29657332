r"""Hints: which features are associated with the errors of a set of features.

Cross-validation yields more than a score: the prediction of every test row. Let :math:`e_{ci}` be 1
for a row wrongly predicted as class c, -1 for a row of class c predicted as another, and 0
elsewhere, and :math:`z_{ij}` the standardised values of a feature. Then

.. math:: h_j = \sum_c \Big( \sum_i e_{ci} z_{ij} \Big)^2

is large for a feature that is high where one class was missed and low where the other was: with
it, a linear learner can correct these rows. For a numeric target there is one e, the residual of
each prediction.

Choosing the next column by the residual is the step of matching pursuit (S. Mallat, Z. Zhang, IEEE
Transactions on Signal Processing 41, 1993) and of grafting (S. Perkins, K. Lacker, J. Theiler,
Journal of Machine Learning Research 3, 2003). Here it only decides what to try first; the score
decides whether a feature joins.
"""

import numpy as np

from metafs.data.typing import Array
from metafs.stats.centred import Centred

_DECIMALS = 9  # so that the order of summation does not change a hint


def errors(predicted: Array, y: Array, n_classes: int | None) -> Array:
    """Return e, of shape (n_classes, n_rows), or (1, n_rows) for a numeric target.

    A row without a prediction (NaN) counts as correct.

    Examples
    --------
    >>> errors(np.array([0.0, 1.0, 1.0, np.nan]), np.array([0, 0, 1, 1]), 2)
    array([[ 0., -1.,  0.,  0.],
           [ 0.,  1.,  0.,  0.]])
    >>> errors(np.array([1.5, np.nan]), np.array([1.0, 2.0]), None)
    array([[0.5, 0. ]])
    """
    if n_classes is None:
        return np.asarray(np.nan_to_num(predicted - y))[None]
    classes = np.arange(n_classes)[:, None]
    wrong = (predicted == classes).astype(np.float64) - (y == classes)
    return np.where(np.isnan(predicted), 0.0, wrong)


def hint_of_each(wrong: Array, columns: Centred) -> Array:
    """Return h of every feature, from e; 0 for one that is constant.

    Examples
    --------
    >>> columns = Centred(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]]))
    >>> hint_of_each(np.array([[0.0, -1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]), columns).round(2)
    array([0.67, 6.  ])
    """
    squared = (columns.along(wrong) ** 2).sum(axis=0)
    found = np.divide(squared, columns.variance, out=squared * 0, where=columns.variance > 0)
    return np.asarray(np.round(found, _DECIMALS))
