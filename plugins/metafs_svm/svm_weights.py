r"""SVM weights: what each feature counts for in one linear support vector machine.

.. math:: c_j = \sum_k w_{kj}^2

with :math:`w_k` the weights of machine k, one for two classes, else one per class against the rest.
All classes of several can also be trained together (`metafs.stats.crammer_singer`), as in
E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", JMLR 9, 2008;
rows are then centred, as that machine has no intercept.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from metafs.data.matrix import dense, table_and_target
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs.stats.crammer_singer import crammer_singer
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
        The cost of a sample's squared hinge loss; of the hinge loss of classes trained together.
    multi_class : {"against-rest", "crammer-singer"}, default="against-rest"
        How several classes are trained.

    Examples
    --------
    >>> X = np.array([[-1.0, 0.0], [1.0, 0.0]])
    >>> SVMWeights()(X, np.array(["a", "b"]))
    array([0.64, 0.  ])
    """

    C: float = 1.0
    multi_class: str = "against-rest"

    def __post_init__(self) -> None:
        check_cost(self.C)
        if self.multi_class not in ("against-rest", "crammer-singer"):
            raise UsageError(
                f"multi_class must be against-rest or crammer-singer, not {self.multi_class!r}."
            )

    def __call__(self, X: Any, y: Any) -> Array:
        """Return the squared weight of every feature; missing values are refused."""
        X, y = table_and_target(X, y, "svm-weights")
        classes = discretise_target(y)
        if not classes.any():
            return np.zeros(X.shape[1])
        if self.multi_class == "crammer-singer" and classes.max() > 1:
            table = dense(X, "svm-weights")
            table = table - table.mean(axis=0)
            _, alpha = crammer_singer(table @ table.T, classes, float(self.C))
            return np.asarray(((alpha.T @ table) ** 2).sum(axis=0))
        return LinearSVMs(X, classes, np.full(len(classes), float(self.C))).squared_weights()
