r"""Hints: which features tell of the rows that a set of features gets wrong.

A search by cross-validation knows more of a set than its score: which test rows were taken for
which class. With :math:`e_{ci}` 1 for a row that was wrongly taken for class c, -1 for one of class
c that was taken for another, and 0 elsewhere, and :math:`z_{ij}` the values of a feature around
their mean, in standard deviations,

.. math:: h_j = \sum_c \Big( \sum_i e_{ci} z_{ij} \Big)^2

is large for a feature that lies high where one class was missed and low where the other was: a
linear learner that is given it can mend these rows. For a numeric target there is one e, by how
much each prediction is too high.

To choose the next column by what is left to be explained is the step of matching pursuit (S.
Mallat, Z. Zhang, IEEE Transactions on Signal Processing 41, 1993) and of grafting (S. Perkins, K.
Lacker, J. Theiler, Journal of Machine Learning Research 3, 2003). Here it only says what to try
first: whether a feature joins, the score decides.
"""

import numpy as np

from metafs.data.typing import Array
from metafs.stats.centred import Centred

_DECIMALS = 9  # so that sums in another order are the same hint


def errors(predicted: Array, y: Array, n_classes: int | None) -> Array:
    """Return e, of shape (n_classes, n_rows), or (1, n_rows) for a numeric target.

    A row without a prediction, NaN, is not wrong.

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
