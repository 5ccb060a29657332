"""From a table with classes to the searches for their programs, and on from where they stopped."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metafs.data.typing import Array, Matrix
from metafs_moses.budget import Budget
from metafs_moses.deme import Task
from metafs_moses.knobs import Pool
from metafs_moses.literals import Literals
from metafs_moses.packed import Target, packed, truths, weighted_count
from metafs_moses.search import Found, Search
from metafs_moses.serial import Serial, cuts_in, parsed
from metafs_moses.thresholds import binary_columns, by_chance, disorder, literals_of_table

_LARGEST_WHOLE = 2**20
_STEPS = 255
_UNKNOWN = 0.1
"""The share of draws that expect nothing of any column."""
_RELEVANT = 0.5
"""The share of draws by relevance, where there are more cuts than can be drawn at once."""


@dataclass(frozen=True)
class Settings:
    """How programs are searched for; the parameters of the classifier."""

    complexity: float
    n_thresholds: int
    n_cuts: int
    n_pairs: int
    n_samples: int
    patience: int


def whole_weights(weights: Array) -> tuple[Array, float]:
    """Return weights as whole numbers, and how many of these are one.

    Whole numbers stay; others are rounded to 1/255 of the largest, but never to 0.

    >>> whole_weights(np.array([1.0, 3.0]))
    (array([1, 3]), 1.0)
    >>> whole_weights(np.array([0.5, 0.001]))
    (array([255,   1]), 510.0)
    """
    largest = float(weights.max())
    if largest <= _LARGEST_WHOLE and np.array_equal(weights, np.rint(weights)):
        return weights.astype(np.int64), 1.0
    scale = _STEPS / largest
    return np.maximum(np.rint(weights * scale), 1).astype(np.int64), scale


def chances_of(literals: Literals, expected: Array) -> Array:
    """Return the probability of each cut to be drawn, from what is expected of its column.

    A tenth of the draws expects nothing.

    >>> literals = Literals.of([(0, 0.5), (1, 0.5)])
    >>> chances_of(literals, np.array([1.0, 0.0])).round(2)
    array([0.95, 0.05])
    """
    hoped = np.maximum(np.nan_to_num(expected), 0.0)[list(literals.columns)]
    return _mixed(hoped, 1 - _UNKNOWN)


def chances_by_relevance(truth: Array, y: Array, weights: Array) -> Array:
    """Return the probability of each cut to be drawn, half of it from its information gain.

    Only the gain beyond what chance gives counts.
    """
    planes = Target.of(y == 0, weights).planes
    of_class = [packed(y == c) for c in range(int(y.max()) + 1)]
    above = np.column_stack([weighted_count(truth[::2] & rows, planes) for rows in of_class])
    every = np.array([weights[y == c].sum() for c in range(len(of_class))])
    left, right = above.astype(np.float64), (every - above).astype(np.float64)
    gains = disorder(every.astype(np.float64)) - disorder(left) - disorder(right)
    return _mixed(np.maximum(gains - by_chance(every.sum(), len(every)), 0.0), _RELEVANT)


def _mixed(hoped: Array, share: float) -> Array:
    """Return probabilities: a share of them in proportion to hopes, the rest for all alike."""
    alike = np.full(len(hoped), 1 / max(len(hoped), 1))
    if not hoped.any():
        return alike
    return np.asarray((1 - share) * alike + share * hoped / hoped.sum())


@dataclass
class Learning:
    """The searches for the programs of some classes, with what they learn from.

    Attributes
    ----------
    literals : Literals
    binary : frozenset of int
        Columns that hold zeros and ones.
    scale : float
        The weight of a row of weight 1 in the searches.
    searches : list of Search
        One for each target.
    """

    literals: Literals
    binary: frozenset[int]
    scale: float
    searches: list[Search]

    @classmethod
    def of(
        cls,
        X: Matrix,
        y: Array,
        weights: Array,
        targets: Sequence[int],
        settings: Settings,
        seed: int,
        expected: Array | None = None,
        programs: Sequence[Serial] = (),
        columns: Callable[[Any], int | None] = lambda feature: None,
    ) -> "Learning":
        """Prepare a search for each target, a class in y, from some programs."""
        found = literals_of_table(X, y, weights, settings.n_thresholds)
        given = [cut for each in programs for cut in cuts_in(each, columns)]
        literals = Literals.of([*found.cuts, *given], found.with_missing)
        starts = [parsed(each, literals, columns) for each in programs]
        whole, scale = whole_weights(weights)
        truth = truths(literals, X)
        if expected is not None:
            chances = chances_of(literals, expected)
        elif len(literals.cuts) > settings.n_cuts:
            chances = chances_by_relevance(truth, y, whole)
        else:
            chances = np.full(len(literals.cuts), 1 / max(len(literals.cuts), 1))
        pool = Pool(
            truth,
            chances,
            settings.n_cuts,
            settings.n_pairs,
            bool(literals.with_missing),
        )
        searches = []
        for target in targets:
            task = Task(
                literals,
                pool,
                y == target,
                whole,
                settings.complexity * scale,
                settings.n_samples,
                settings.patience,
            )
            rng = np.random.default_rng([seed, target])
            searches.append(Search(task, rng, [each for each in starts if each is not None]))
        return cls(literals, binary_columns(X), scale, searches)

    def run(self, budgets: Sequence[Budget]) -> list[Found]:
        """Continue each search with its budget, and return the best programs."""
        return [search.run(budget) for search, budget in zip(self.searches, budgets, strict=True)]


def shares(evaluations: int, seconds: float | None, n: int) -> list[Budget]:
    """Divide a budget among n searches.

    >>> [budget.evaluations for budget in shares(10, None, 3)]
    [4, 3, 3]
    """
    each, more = divmod(evaluations, n)
    own = None if seconds is None else seconds / n
    return [Budget(each + (i < more), own) for i in range(n)]
