"""What logistic regression decides with large sets of features, by the rows of one problem.

Small sets are fitted by cells, of which they have few (`metafs_climb.newton_logistic`). Large ones
have about as many cells as rows; they are fitted from a set nearby that is solved
(`metafs_climb.nearby_logistic`), the one on which the search stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metafs.typing import Array
from metafs_climb.fold_tables import FoldTables
from metafs_climb.nearby_logistic import Descent, Edits, SolvedSet
from metafs_climb.newton_logistic import TIE, design, minimum

MAX_STEPS = 30
"""Steps after which Newton's method is the better one."""
REMEMBERED = 8
"""Sets that were solved and whose weights are remembered."""


@dataclass(frozen=True, eq=False)
class Tried:
    """The sets that were fitted last, and their weights: the search may come to stand on one.

    Attributes
    ----------
    base, edits : arrays of int of shape (d - 1,) and (n_edits, k), ascending
        What they were made of.
    w : array of shape (n_folds, n_edits, d + k)
        As a `Descent` has them.
    """

    base: Array
    edits: Array
    w: Array

    def weights(self, features: Array) -> Array | None:
        """Return the weights of a set, the intercept first; None if it was not tried."""
        edit = np.setxor1d(self.base, features)
        if len(edit) != self.edits.shape[1]:
            return None
        places = np.flatnonzero((self.edits == edit).all(axis=1))
        if not len(places):
            return None
        both = np.concatenate([self.base, edit])
        in_order = np.argsort(both, kind="stable")
        in_order = in_order[np.isin(both[in_order], features)]
        return np.asarray(self.w[:, places[0]][:, np.concatenate([[0], 1 + in_order])])


class LogisticRows:
    """Decisions by sets of features, fitted by rows.

    Parameters
    ----------
    tables : FoldTables
        A problem of two classes, cut into folds.
    C, scaled
        As `metafs_climb.newton_logistic.recognised` returns them.
    """

    def __init__(self, tables: FoldTables, C: float, scaled: bool) -> None:
        self.tables, self.C, self.scaled = tables, C, scaled
        y, n_folds = tables.problem.y, len(tables.folds)
        self.n_in = np.zeros((n_folds, len(y)))
        for fold, (train, _) in enumerate(tables.folds):
            self.n_in[fold, train] = 1.0
        self.n_one = self.n_in * y
        self._test_row = np.concatenate([test for _, test in tables.folds])
        self._test_fold = np.repeat(np.arange(n_folds), [len(test) for _, test in tables.folds])
        self._base: SolvedSet | None = None
        self._weights: dict[bytes, Array] = {}
        self._tried: Tried | None = None

    def decisions(self, features: Array) -> Array | None:
        """Solve a set and return its decision on each row in each fold; None if that fails.

        It is remembered until another one is solved.
        """
        if not self._stands_on(features):
            return None
        assert self._base is not None
        return self._base.decided

    def decisions_near(self, base: Array, edits: Array) -> Array | None:
        """Return decisions by a set after each edit; None if it cannot be solved itself.

        Parameters
        ----------
        base : array of int
            The set.
        edits : array of int of shape (n_edits, k)
            Features that join or leave.

        Returns
        -------
        array of shape (n_edits, n_folds, n_rows)
            On test rows of the right sign at least; NaN where the way to the minimum is too long.
        """
        if not self._stands_on(base):
            return None
        assert self._base is not None
        return self._near(self._base, edits)

    def _near(self, base: SolvedSet, edits: Array) -> Array:
        found, sets = np.full((len(edits), *self.n_in.shape), np.nan), np.arange(len(edits))
        descent = Descent(base, self._edits(base, edits))
        self._tried = Tried(base.features, np.sort(edits, axis=1), np.zeros_like(descent.w))
        for _ in range(MAX_STEPS):
            at, to_go = self._tested(descent.decided), self._tested(descent.reach)
            to_go *= descent.to_go[self._test_fold]
            ended = descent.assured & (np.abs(at) > to_go + TIE).all(axis=0) | descent.settled
            found[sets[ended]] = np.swapaxes(descent.decided[:, ended], 0, 1)
            self._tried.w[:, sets[ended]] = descent.w[:, ended]
            if ended.all():
                break
            if ended.any():
                sets = sets[~ended]
                descent.keep(~ended)
            descent.go_on()
        return found

    def _tested(self, values: Array) -> Array:
        """Return values of folds, sets and rows by tested row and set."""
        return values[self._test_fold, :, self._test_row]

    def _edits(self, base: SolvedSet, edits: Array) -> Edits:
        a = np.zeros((*edits.shape, len(base.A)))
        d = np.zeros((len(base.w), *edits.shape))
        out = np.zeros((*edits.shape, base.A.shape[1]))
        leaves = np.isin(edits, base.features)
        if not leaves.all():
            A, D = self._design(edits[~leaves].tolist())
            a[~leaves], d[:, ~leaves] = A.T[1:], D[:, 1:]
        out[(*np.nonzero(leaves), 1 + np.searchsorted(base.features, edits[leaves]))] = 1.0
        return Edits.of(base, a, d, out)

    def _stands_on(self, features: Array) -> bool:
        """Solve a set, if it is not the one that was solved last; tell whether that succeeds."""
        if self._base is None or not np.array_equal(self._base.features, features):
            self._base = self._solved(features, self._base)
        return self._base is not None

    def _solved(self, features: Array, before: SolvedSet | None) -> SolvedSet | None:
        """Solve a set by Newton's method, from weights that are known of it or of its part."""
        A, D = self._design(features.tolist())
        w = self._weights.get(features.tobytes())
        if w is None and self._tried is not None:
            w = self._tried.weights(features)
        if w is None and before is not None:
            w = np.zeros_like(D)
            _, here, there = np.intersect1d(features, before.features, return_indices=True)
            w[:, 0], w[:, 1 + here] = before.w[:, 0], before.w[:, 1 + there]
        if w is None:
            w = self._of_all_rows(A, D)
        w = minimum(A, D, self.n_in, self.n_one, w)
        if np.isnan(w).any():
            return None
        while len(self._weights) >= REMEMBERED:
            del self._weights[next(iter(self._weights))]
        self._weights[features.tobytes()] = w
        return SolvedSet(features, A, D, self.n_in, self.n_one, w)

    def _of_all_rows(self, A: Array, D: Array) -> Array:
        """Return weights from which no fold has far to go: those of all rows together.

        To find them costs as much as to find those of one fold.
        """
        y = self.tables.problem.y[None]
        D_all = D.mean(axis=0, keepdims=True)
        w = minimum(A, D_all, np.ones(y.shape), y, np.zeros_like(D_all))
        return np.repeat(np.nan_to_num(w), len(D), axis=0)

    def _design(self, features: Sequence[int]) -> tuple[Array, Array]:
        values = np.stack([self.tables.column(j) for j in features], axis=1)
        return design(values, self.n_in, self.C, self.scaled)
