"""Logistic regression on large sets of features, fitted by rows.

Small sets have few cells and are fitted by cells (`metafs_climb.newton_logistic`). Large sets have
about as many cells as rows; they are fitted from the solution of a similar set, the current set of
the search (`metafs_climb.nearby_logistic`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from metafs.data.typing import Array
from metafs_climb.fold_tables import FoldTables
from metafs_climb.nearby_logistic import Descent, Edits, SolvedSet
from metafs_climb.newton_logistic import TIE, design, minimum, scales

MAX_STEPS = 30
"""After this many steps it is cheaper to solve a set by itself."""
REMEMBERED = 8
"""Number of solved sets whose weights are cached."""

Hopeless = Callable[[Array], Array]
"""Takes decisions of sets on rows, NaN where uncertain, and returns which sets to abandon."""


@dataclass(frozen=True, eq=False)
class Tried:
    """The sets that were fitted last and their weights: the search may move to one of them.

    Attributes
    ----------
    base, edits : arrays of int of shape (d - 1,) and (n_edits, k), ascending
        The sets are base after each edit.
    w : array of shape (n_folds, n_edits, d + k)
        As in `Descent`; NaN where the fit failed.
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
        found = self.w[:, places[0]][:, np.concatenate([[0], 1 + in_order])]
        return found if np.isfinite(found).all() else None


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
        self._scales: dict[int, Array] = {}  # mean, size and penalties of a column

    def decisions(self, features: Array) -> Array | None:
        """Solve a set and return its decision on each row in the fold that tests it, else NaN.

        None if that fails. The solution is kept until another set is solved.
        """
        if not self._stands_on(features):
            return None
        assert self._base is not None
        found = np.full(self.n_in.shape[1], np.nan)
        found[self._test_row] = self._base.decided[self._test_fold, self._test_row]
        return found

    def decisions_near(
        self, base: Array, edits: Array, hopeless: Hopeless | None = None
    ) -> Array | None:
        """Return the decisions of a set after each edit; None if the fit fails.

        Parameters
        ----------
        base : array of int
            The set.
        edits : array of int of shape (n_edits, k)
            Features that join or leave.
        hopeless : callable, default=None
            From the decisions that are certain, returns which sets to abandon.

        Returns
        -------
        array of shape (n_edits, n_rows)
            On each row in the fold that tests it, correct at least in sign; NaN where the sign is
            uncertain, because the set was abandoned or too many steps were needed, and where no
            fold tests the row.
        """
        if not self._stands_on(base):
            return None
        assert self._base is not None
        try:
            return self._near(self._base, edits, hopeless)
        except np.linalg.LinAlgError:  # nearly equal columns with small penalties
            return None

    def _near(self, base: SolvedSet, edits: Array, hopeless: Hopeless | None) -> Array:
        found, sets = np.full((len(edits), self.n_in.shape[1]), np.nan), np.arange(len(edits))
        descent = Descent(base, self._edits(base, edits))
        self._tried = Tried(base.features, np.sort(edits, axis=1), np.full_like(descent.w, np.nan))
        for steps in range(1 + MAX_STEPS):
            if steps:
                descent.go_on()
            certain = self._certain(descent)
            ended = np.asarray(np.isfinite(certain[:, self._test_row]).all(axis=1))
            if hopeless is not None:
                ended |= hopeless(certain)
            found[sets[ended]] = certain[ended]
            self._tried.w[:, sets[ended]] = descent.w[:, ended]
            if ended.all():
                break
            if ended.any():
                sets = sets[~ended]
                descent.keep(~ended)
        else:
            self._tried.w[:, sets] = descent.w
        return found

    def _certain(self, descent: Descent) -> Array:
        """Return decisions as `decisions_near` does, NaN where the sign may still change."""
        tested = (self._test_fold, slice(None), self._test_row)
        at, to_go = descent.decided[tested], descent.reach[tested]
        to_go *= descent.to_go[self._test_fold]
        assured, settled = descent.assured[self._test_fold], descent.settled[self._test_fold]
        certain = settled | assured & (np.abs(at) > to_go + TIE)
        found = np.full((at.shape[1], self.n_in.shape[1]), np.nan)
        found[:, self._test_row] = np.where(certain, at, np.nan).T
        return found

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
        """Solve a set unless it was solved last, and return whether that succeeded."""
        if self._base is None or not np.array_equal(self._base.features, features):
            self._base = self._solved(features, self._base)
        return self._base is not None

    def _solved(self, features: Array, before: SolvedSet | None) -> SolvedSet | None:
        """Solve a set, starting from known weights of it or of a part of it."""
        A, D = self._design(features.tolist())
        known = self._weights.get(features.tobytes())
        if known is not None:
            return SolvedSet(features, A, D, self.n_in, self.n_one, known)
        w = None if self._tried is None else self._tried.weights(features)
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
        """Return the weights fitted to all rows, as a starting point for every fold.

        This costs as much as fitting one fold.
        """
        y = self.tables.problem.y[None]
        D_all = D.mean(axis=0, keepdims=True)
        nothing = np.zeros_like(D_all)
        found = minimum(A, D_all, np.ones(y.shape), y, nothing)
        return np.repeat(np.nan_to_num(found), len(D), axis=0)

    def _design(self, features: Sequence[int]) -> tuple[Array, Array]:
        """Return A and D of a set; means, sizes and penalties of columns are cached."""
        values = np.stack([self.tables.column(j) for j in features], axis=1)
        new = [place for place, j in enumerate(features) if j not in self._scales]
        if new:
            found = np.concatenate(scales(values[:, new], self.n_in, self.C, self.scaled)).T
            self._scales.update(zip([features[place] for place in new], found, strict=True))
        mean, size, *penalties = np.stack([self._scales[j] for j in features], axis=1)
        return design(values, mean, size, np.stack(penalties))
