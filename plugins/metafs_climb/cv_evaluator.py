r"""The wrapper on one problem: evaluates many sets and abandons those that cannot win.

A search only asks whether a set S beats some fitness t. Let :math:`a_f(S)` be the score of fold f,
and :math:`u_f(S)` an upper bound for any classifier there (`metafs_climb.cells`). As soon as

.. math:: \frac{1}{K} \Big( \sum_{f \, \mathrm{done}} a_f(S)
          + \sum_{f \, \mathrm{to do}} u_f(S) \Big) \le t

the set cannot win and is abandoned; this sum, or t, is returned as its value. The winner is the
same as without abandoning. Large sets are abandoned while they are being fitted, as soon as too
many rows are certain to be wrong.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from metafs.data.typing import Array
from metafs.stats.centred import Centred
from metafs_climb.cells import Cells
from metafs_climb.fold_scores import SAME, FoldScores
from metafs_climb.hints import errors, hint_of_each

MAX_REMEMBERED = 100_000
TOGETHER = 2**13
"""Cells of single features that are fitted together."""
NEAR = 8
"""How many features a large set may differ in from another to be fitted from its solution."""


class CVAccuracyEvaluator:
    """`metafs_climb.cv_accuracy.CVAccuracy` on one problem, for many sets on the same folds.

    The scores of each set are cached, also the partial ones of an abandoned set.
    """

    abandons = True
    """``of_sets`` takes ``above``, the fitness that a set must exceed."""
    prices_size = False
    """The fitness does not penalise the size of a set."""

    def __init__(self, scores: FoldScores) -> None:
        self.scores = scores
        self.n_features = scores.tables.problem.n_features
        self._known: dict[bytes, tuple[Array, Array]] = {}
        self._last: tuple[Array, Array] | None = None

    def of_sets(
        self, base: Sequence[int] | Array, edits: Array, above: float | None = None
    ) -> Array:
        """Return the fitness of ``base`` after each row of edits, features that join or leave.

        With ``above``, a set that can exceed neither this fitness nor that of any set before it
        is abandoned; its value is then an upper bound of its fitness, and no more than theirs.
        """
        base = np.unique(np.asarray(base, dtype=np.int64))
        edits = np.asarray(edits, dtype=np.int64)
        likely = self._known[base.tobytes()][0] if base.tobytes() in self._known else 0.0
        found = np.empty(len(edits))
        together = self.at_once(base)
        for first in range(0, len(edits), together):
            some = edits[first : first + together]
            if 0 < edits.shape[1] <= NEAR and self.scores.by_rows(base, joining=1):
                self._fit_near(base, some, above)
            for i, edit in enumerate(some, start=first):
                found[i] = self._fitness(base, edit, likely, above)
                if above is not None:
                    above = max(above, float(found[i]))
        return found

    def at_once(self, base: Array) -> int:
        """Return how many neighbours of this set cost little more than one of them."""
        return self.scores.together(base)

    def hints(self, base: Array) -> Array | None:
        """Return each feature's association with the errors of a set; None for the empty set."""
        if not len(base):
            return None
        problem = self.scores.tables.problem
        n_classes = None if problem.classes is None else len(problem.classes)
        wrong = errors(self.scores.predictions(base), problem.y, n_classes)
        return hint_of_each(wrong, self._columns)

    @cached_property
    def _columns(self) -> Centred:
        return Centred(self.scores.tables.problem.X)

    def of_each(self) -> Array:
        """Return the fitness of every single feature."""
        self._fit_singles()
        return self.of_sets([], np.arange(self.n_features)[:, None])

    def of_set(self, features: Sequence[int] | Array) -> float:
        """Return the fitness of one set of features."""
        return float(self.of_sets(features, np.zeros((1, 0), dtype=np.int64))[0])

    def _edited(self, base: Array, edit: Array) -> Array:
        """Return a set after an edit."""
        inside = self._inside(base)
        inside[edit] = ~inside[edit]
        return np.flatnonzero(inside)

    def _cells(self, base: Array, edit: Array) -> Cells | None:
        """Return the cells of a set after an edit."""
        if self._last is None or not np.array_equal(self._last[0], base):
            self._last = base, self._keys(base)  # a search edits the same base many times
        leaves = self._inside(base)[edit]
        keys = self._last[1] + self._keys(edit[~leaves]) - self._keys(edit[leaves])
        return self.scores.cells(keys)

    def _inside(self, features: Array) -> Array:
        inside = np.zeros(self.n_features, dtype=bool)
        inside[features] = True
        return inside

    def _keys(self, features: Array) -> Array:
        """Return keys of the rows; rows with equal values of the features have equal keys."""
        keys = np.zeros(self.scores.tables.problem.n_samples, dtype=np.uint64)
        for j in features.tolist():
            keys += self.scores.tables.keys(j)
        return keys

    def _fitness(
        self, base: Array, edit: Array, likely: Array | float, above: float | None
    ) -> float:
        """Score a set until all folds are done, or until it can no longer exceed ``above``.

        The fold expected to fall furthest below its bound comes first.
        """
        features, cells = self._edited(base, edit), None
        if features.tobytes() not in self._known:
            if not self.scores.by_rows(features):
                cells = self._cells(base, edit)
            self._begin(features, cells)
        scores, done = self._known[features.tobytes()]
        while True:
            value = max(0.0, float(scores.mean()))
            if done.all():
                return value
            if above is not None and value <= above + SAME:
                return min(value, above)
            if not done.any():
                if self.scores.by_rows(features):
                    found = self.scores.of_set(features)
                    if found is not None:
                        self._take(features, None, found, True)
                        continue
                cells = self._cells(base, edit) if cells is None else cells
                self._fit_at_once([(features, cells)])
            if not done.all():
                fold = int(np.argmax(np.where(done, -np.inf, scores - likely)))
                scores[fold], done[fold] = self.scores.of_fold(features, fold), True

    def _fit_near(self, base: Array, edits: Array, above: float | None) -> None:
        """Score a large set after each edit, unless the result is known or irrelevant."""
        wanted = {}
        for i in np.flatnonzero(self.scores.tables.plain[edits].all(axis=1)).tolist():
            features = self._edited(base, edits[i])
            if self._matters(features, above):
                wanted[i] = features
        found = self.scores.near(base, edits[list(wanted)], above) if wanted else None
        if found is not None:
            for features, scores, exact in zip(wanted.values(), *found, strict=True):
                self._take(features, None, scores, exact)

    def _matters(self, features: Array, above: float | None) -> bool:
        """Return whether a set, as far as it is known, may still exceed ``above``."""
        if features.tobytes() not in self._known:
            return True
        scores, done = self._known[features.tobytes()]
        return not done.any() and (above is None or float(scores.mean()) > above + SAME)

    def _begin(self, features: Array, cells: Cells | None) -> None:
        """Cache the upper bounds of a set before anything is fitted."""
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        if len(features):
            begun = self.scores.bounds(cells), np.zeros(self.scores.n_folds, dtype=bool)
        else:
            begun = self.scores.of_nothing(), np.ones(self.scores.n_folds, dtype=bool)
        self._known[features.tobytes()] = begun

    def _fit_at_once(self, sets: Sequence[tuple[Array, Cells | None]]) -> None:
        """Fit all folds of sets of one size together, where possible."""
        can = [
            (features, cells)
            for features, cells in sets
            if cells and self.scores.fits_at_once(features, len(cells.rows))
        ]
        if not can:
            return
        for (features, cells), found in zip(can, self.scores.at_once(can), strict=True):
            self._take(features, cells, found, ~np.isnan(found))

    def _take(
        self, features: Array, cells: Cells | None, found: Array, exact: Array | bool
    ) -> None:
        """Cache the exact scores of folds; for the others, the tighter bound."""
        if features.tobytes() not in self._known:
            self._begin(features, cells)
        scores, done = self._known[features.tobytes()]
        scores[:] = np.where(exact, found, np.fmin(scores, found))
        done |= exact

    def _fit_singles(self) -> None:
        """Fit single features in batches of about equal numbers of cells."""
        alike: dict[int, list[tuple[Array, Cells | None]]] = {}
        for j in range(self.n_features):
            feature = np.array([j])
            if feature.tobytes() in self._known and self._known[feature.tobytes()][1].all():
                continue
            cells = self.scores.cells(self._keys(feature))
            if cells is None:
                return
            size = len(cells.rows).bit_length()
            alike.setdefault(size, []).append((feature, cells))
            if len(alike[size]) << size >= TOGETHER:
                self._fit_at_once(alike.pop(size))
        for sets in alike.values():
            self._fit_at_once(sets)
