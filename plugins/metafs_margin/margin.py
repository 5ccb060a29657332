r"""The margin of a feature set: the sum of the leave-one-out hypothesis margins it induces.

.. math:: e(w) = \sum_{x \in S} u\bigl(\theta^w_{S \setminus x}(x)\bigr), \qquad e(F) = e(I_F)

:math:`I_F` is one for the features in F and zero for all others; u is the utility of a margin,
the identity as published. Distances are Euclidean, so features should have comparable scales.

R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin based feature selection - theory and algorithms",
ICML 2004, definition 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metafs.data.matrix import dense, table_and_target
from metafs.data.parameters import check_at_least, column_numbers
from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.stats.discretise import discretise_target
from metafs_margin.nearest import check_scale
from metafs_margin.sample_margin import sample_margins
from metafs_margin.sets import SetMargins
from metafs_margin.theta import margins_of_columns, margins_of_weights
from metafs_margin.utility import Utility

KINDS = {"hypothesis": margins_of_weights, "sample": sample_margins}


@dataclass(frozen=True)
class Margin:
    """The evaluation function e, of every single feature, of a set or of a weighting.

    Parameters
    ----------
    utility : {"linear", "sigmoid", "zero-one"}, default="linear"
        What a margin is worth.
    beta : float, default=1.0
        Steepness of the sigmoid utility.
    n_bins : int, default=4
        Number of bins for a numeric target.

    Notes
    -----
    A sample that is alone in its class, and every sample where there is one class only, has
    margin 0, as all have under the empty set. Of several classes the nearest miss is the nearest
    sample of any other.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 4.0], [8.0, 5.0], [9.0, 4.0]])
    >>> y = np.array(["a", "a", "b", "b"])
    >>> Margin()(X, y)
    array([13., -2.])
    >>> Margin().of_set(X, y, [0]), Margin().of_weights(X, y, [0.5, 0.0])
    (13.0, 6.5)
    """

    utility: str = "linear"
    beta: float = 1.0
    n_bins: int = 4

    def __post_init__(self) -> None:
        Utility(self.utility, self.beta)
        check_at_least("n_bins", self.n_bins, 2)

    def __call__(self, X: Any, y: Any) -> Array:
        """Return e of every single feature; missing values are refused."""
        X, classes = self._checked(X, y)
        blocks = margins_of_columns(X, classes)
        return np.concatenate([self._utility.total(block) for block in blocks])

    def of_set(self, X: Any, y: Any, features: Sequence[int] | Array) -> float:
        """Return e of one set of features."""
        X, classes = self._checked(X, y)
        features = column_numbers("features", features, X.shape[1])
        return SetMargins(dense(X[:, features], "margin"), classes, self._utility).of_set(
            np.arange(len(features))
        )

    def of_weights(self, X: Any, y: Any, w: Any) -> float:
        """Return e of one weighting of the features."""
        return float(self._utility.total(self.of_samples(X, y, w)))

    def of_samples(self, X: Any, y: Any, w: Any, *, kind: str = "hypothesis") -> Array:
        """Return the margin of each sample under a weighting, 1 and 0 for a set.

        It is the hypothesis margin, or with ``kind="sample"`` the distance to the boundary of the
        nearest-neighbour rule, which is never smaller and takes far longer.

        Examples
        --------
        >>> from metafs.bounds import margin_error
        >>> X = [[0.0, 5.0], [1.0, 4.0], [8.0, 5.0], [9.0, 4.0]]
        >>> margins = Margin().of_samples(X, ["a", "a", "b", "b"], [1, 0])
        >>> margins, margin_error(margins, gamma=1.0)
        (array([3.5, 3. , 3. , 3.5]), 0.0)
        """
        X, classes = self._checked(X, y)
        w = np.asarray(w, dtype=np.float64)
        if w.shape != (X.shape[1],) or not np.isfinite(w).all():
            raise UsageError(f"w has shape {w.shape}; give one finite weight per column of X.")
        if kind not in KINDS:
            raise UsageError(f"kind is {kind!r}; give hypothesis or sample.")
        return KINDS[kind](dense(X, "margin"), classes, w)

    def bind(
        self, X: Any, y: Any, *, categories: Mapping[int, tuple[str, ...]] | None = None
    ) -> SetMargins:
        """Return an evaluator of many sets on one problem; codes of categories are amounts."""
        X, classes = self._checked(X, y)
        return SetMargins(dense(X, "margin"), classes, self._utility)

    @property
    def _utility(self) -> Utility:
        return Utility(self.utility, self.beta)

    def _checked(self, X: Any, y: Any) -> tuple[Matrix, Array]:
        X, y = table_and_target(X, y, "margin")
        check_scale(X, "margin")
        return X, discretise_target(y, n_bins=self.n_bins)
