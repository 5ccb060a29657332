r"""Quality of features over the functions that a search met.

.. math:: Q(\theta_i, \phi) = \int q(\theta_i, g) \, T(\phi(g)) \, d\mu(g), \qquad
          T(\phi(g)) = \Big( \frac{\phi(g)}{\sup_g \phi(g)} \Big)^p

The integral is a sum over the functions g that a search met: programs, or sets of features with the
learner that was trained on them. :math:`\phi` is their fitness, and

.. math:: \mu(g) \propto e^{-\lambda \, \mathrm{size}(g)}

a prior that prefers simple functions; it adds up to 1 over them all. q says how much the output
of g depends on a feature, relative to the feature on which it depends most:

.. math:: q(\theta_i, g) = \frac{I_g(\theta_i)}{\max_j I_g(\theta_j)}

For a function that gives probabilities, I is the Fisher information of its output about
:math:`\theta_i`, averaged over the rows, in units of the spread of the feature,

.. math:: I_g(\theta_i) = \mathrm{var}(\theta_i) \; \frac1N \sum_x \sum_c
          \frac{1}{p_c(x)} \Big( \frac{\partial p_c}{\partial \theta_i}(x) \Big)^2

For one that only decides, as programs and trees do, it is the probability that the output changes
where the feature is given the value that it has in another row. A set of features S changes
together, so that

.. math:: I_g(S) = \frac1N \sum_x d^2\big(g(x), g(x_{S \leftarrow x'})\big), \qquad
          d^2 = 4 \sum_c \big( \sqrt{p_c} - \sqrt{p_c'} \big)^2

which is the squared length of a path between the two outputs in the metric of the Fisher
information, and for decisions is proportional to the probability of a change. The maximum over all
sets of the same size is taken over the features of g that are best alone.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021, sections 2.2
and 2.3. The paper gives neither p nor the prior; there, sets take the average over all paths.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import issparse

from metafs.data.parameters import check_between
from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError

STEP = 1e-3
"""The change of a feature that stands for an infinitesimal one, in units of its spread."""

MOST_ROWS = 300
"""Outputs are compared on so many rows."""

MOST_VALUES = 16
"""A feature, or a set, is given so many of the values it has in other rows."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function that a search met.

    Attributes
    ----------
    columns : ndarray of int
        The features that it may look at.
    fitness : float
        What it was worth to the search.
    size : float
        Its complexity.
    output : callable
        From a dense table of these columns to probabilities of shape (n_rows, n_classes), or to
        decisions or numbers of shape (n_rows,).
    smooth : bool, default=True
        Whether a small change of a column makes sense; not if it holds codes of categories.
    """

    columns: Array
    fitness: float
    size: float
    output: Callable[[Array], Array]
    smooth: bool = True


@dataclass(frozen=True)
class FunctionQuality:
    """How functions are weighed.

    Parameters
    ----------
    p : float, default=1.0
        How much near-optimal fitness counts.
    simplicity : float, default=0.1
        By how much the logarithm of the prior falls with each unit of complexity.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> either = Function(np.array([0, 1]), 0.5, 2, lambda table: table.any(axis=1))
    >>> first = Function(np.array([0]), 1.0, 1, lambda table: table[:, 0] > 0)
    >>> FunctionQuality(simplicity=0.0).of_each([either, first], X).round(2)
    array([0.75, 0.25])
    """

    p: float = 1.0
    simplicity: float = 0.1

    def __post_init__(self) -> None:
        if not self.p >= 0:
            raise UsageError(f"p is {self.p}; give a number of 0 or more.")
        if not self.simplicity >= 0:
            check_between("simplicity", self.simplicity)

    def weights(self, functions: Sequence[Function]) -> Array:
        r"""Return :math:`\mu(g) T(\phi(g))` of each function; they add up to 1 at most."""
        sizes = np.array([g.size for g in functions], dtype=np.float64)
        fitness = np.maximum([g.fitness for g in functions], 0.0)
        prior = np.exp(-self.simplicity * (sizes - sizes.min()))
        best = fitness.max()
        share = (fitness / best) ** self.p if best > 0 else np.ones(len(functions))
        return np.asarray(prior / prior.sum() * share)

    def of_each(self, functions: Sequence[Function], X: Matrix) -> Array:
        """Return Q of every feature of a table, in [0, 1]."""
        Q = np.zeros(X.shape[1])
        if functions:
            for weight, g in zip(self.weights(functions), functions, strict=True):
                Q[g.columns] += weight * relative(Dependence(g, X).on_each)
        return Q

    def of_set(
        self, functions: Sequence[Function], X: Matrix, features: Sequence[int] | Array
    ) -> float:
        """Return Q of a set of features, in [0, 1]."""
        return self.of_sets([Dependence(g, X) for g in functions], [features])[0]

    def of_sets(
        self, dependences: Sequence["Dependence"], sets: Iterable[Sequence[int] | Array]
    ) -> list[float]:
        """Return Q of each of some sets, from how functions depend on features."""
        if not dependences:
            return [0.0 for _ in sets]
        weights = self.weights([each.g for each in dependences])
        found = [weights @ [each.on_set(features) for each in dependences] for features in sets]
        return [float(np.clip(Q, 0.0, 1.0)) for Q in found]


def relative(information: Array) -> Array:
    """Return information as a share of the largest; 0 where there is none."""
    most = information.max(initial=0.0)
    return np.asarray(information / most if most > 0 else np.zeros(len(information)))


class Dependence:
    """How much the output of a function depends on its columns; nothing is computed twice.

    Parameters
    ----------
    g : Function
    X : matrix of shape (n_samples, n_features)
        Of many rows some from all over the table count.
    """

    def __init__(self, g: Function, X: Matrix) -> None:
        self.g = g
        table = X[:, g.columns]
        table = table.toarray() if issparse(table) else np.array(table, dtype=np.float64)
        self._table = _spread_out(table, MOST_ROWS)
        self._changes: dict[tuple[int, ...], float] = {}

    @cached_property
    def on_each(self) -> Array:
        """On each column: Fisher information if probabilities are smooth, else share of changes."""
        if self._there.ndim == 2 and self.g.smooth:
            columns = range(len(self.g.columns))
            found = np.array([_fisher(self.g, self._table, self._there, j) for j in columns])
            if found.any():
                return found
        return np.array([self._changed((j,)) for j in range(len(self.g.columns))])

    def on_set(self, features: Sequence[int] | Array) -> float:
        """On a set of features, relative to the best set of its size."""
        used = np.flatnonzero(np.isin(self.g.columns, features))
        if not len(used):
            return 0.0
        best = np.argsort(-self.on_each, kind="stable")[: len(np.unique(features))]
        most = self._changed(tuple(sorted(best.tolist())))
        return min(1.0, self._changed(tuple(used.tolist())) / most) if most > 0 else 0.0

    @cached_property
    def _there(self) -> Array:
        return self.g.output(self._table)

    def _changed(self, columns: tuple[int, ...]) -> float:
        if columns not in self._changes:
            found = _changed(self.g, self._table, self._there, list(columns))
            self._changes[columns] = found
        return self._changes[columns]


def _fisher(g: Function, table: Array, there: Array, column: int) -> float:
    """Return the Fisher information about one column, by a difference to either side."""
    known = table[~np.isnan(table[:, column]), column]
    spread = float(known.std()) if len(known) else 0.0
    if not spread > 0:
        return 0.0
    sides = []
    for side in (STEP, -STEP):
        moved = table.copy()
        moved[:, column] += side * spread
        sides.append(g.output(moved))
    slope = (sides[0] - sides[1]) / (2 * STEP)
    found: Array = np.divide(slope**2, there, out=np.zeros_like(slope), where=there > 0)
    return float(found.sum(axis=1).mean())


def _changed(g: Function, table: Array, there: Array, columns: Sequence[int] | Array) -> float:
    """Return the mean squared distance of outputs where columns have the values of other rows."""
    values, times = np.unique(table[:, columns], axis=0, return_counts=True)
    if len(values) > MOST_VALUES:
        values = _spread_out(table[:, columns], MOST_VALUES)
        times = np.ones(len(values), dtype=np.int64)
    total = 0.0
    for value, weight in zip(values, times.tolist(), strict=True):
        moved = table.copy()
        moved[:, columns] = value
        total += weight * _apart(there, g.output(moved))
    return total / float(times.sum())


def _apart(a: Array, b: Array) -> float:
    """Return the mean squared distance of outputs; of decisions the share that differs."""
    if a.ndim == 2:
        return float(4 * ((np.sqrt(a) - np.sqrt(b)) ** 2).sum(axis=1).mean())
    if a.dtype.kind == "f":
        return float(((a - b) ** 2).mean())
    return float((a != b).mean())


def _spread_out(table: Array, most: int) -> Array:
    """Return rows at even places of the sorted rows, so that their order plays no part.

    Examples
    --------
    >>> _spread_out(np.array([[3.0], [0.0], [2.0], [1.0]]), 2).ravel()
    array([0., 2.])
    """
    if len(table) <= most:
        return table
    ordered = table[np.lexsort(table.T[::-1])]
    return np.asarray(ordered[np.arange(most) * len(table) // most])
