r"""SVM weights: what each feature counts for in one linear support vector machine.

.. math:: c_j = \sum_k w_{kj}^2

with :math:`w_k` the weights of machine k, one for two classes, else one per class against the rest.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from metafs.data.matrix import table_and_target
from metafs.data.typing import Array
from metafs.stats.discretise import discretise_target
from metafs_svm.linear_svm import LinearSVMs
from metafs_svm.svm_rfe import check_cost


@dataclass(frozen=True)
class SVMWeights:
    """Squared weight of every feature in a linear SVM on all of them.

    A numeric target is discretised; with one class only every feature scores 0.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a sample's squared hinge loss.

    Examples
    --------
    >>> X = np.array([[-1.0, 0.0], [1.0, 0.0]])
    >>> SVMWeights()(X, np.array(["a", "b"]))
    array([0.64, 0.  ])
    """

    C: float = 1.0

    def __post_init__(self) -> None:
        check_cost(self.C)

    def __call__(self, X: Any, y: Any) -> Array:
        """Return the squared weight of every feature; missing values are refused."""
        X, y = table_and_target(X, y, "svm-weights")
        classes = discretise_target(y)
        if not classes.any():
            return np.zeros(X.shape[1])
        return LinearSVMs(X, classes, np.full(len(classes), float(self.C))).squared_weights()
