r"""The published climb: each round draws sets at distance d at random and keeps the best.

Let S be a set of features, d the number of features to add or remove at once, m the number of
evaluations left.

1. Start with :math:`S = \emptyset`, d = 1, m = M.
2. Randomly add or remove d features from S, giving sets :math:`S_1, \dots, S_h`, with
   :math:`h = \min(m / 10, |F|^d)`.
3. Set m = m - h and evaluate the sets.
4. If one is better than S, the best becomes S and d = 1; otherwise d = d + 1.
5. Go on with 2 unless d = D or m = 0. D is 5.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021,
section 3.4.1.

Where the paper leaves room:

- d distinct features, each as likely as any other, are flipped; with d = 1 none is drawn twice.
- h is rounded down, is at least 1, and at most the number of sets at that distance.
- Of several better sets the best is taken, the first among equals. d = D ends the search, so that
  at most four features change at once.
- The empty set is worth 0 and costs no evaluation; a start costs one, and is not used if it is no
  better. If nothing is better than the empty set, the best single feature is kept.
- With a target score the first set that reaches it is taken, and evaluations count up to it.
- Fitness is compared after rounding to 12 decimals, so that rounding errors decide nothing.
- Of the sets tried, every start and the best one of each round are recorded.
"""

import numpy as np

from metafs.data.typing import Array
from metafs_climb.evaluations import Evaluations, Position
from metafs_climb.proposals import n_proposals, proposals


class PublishedClimb:
    """The state of one climb: its current set, its distance d and its remaining evaluations m.

    It counts m itself, so that it takes the same path when another search shares the budget.
    """

    def __init__(
        self,
        sets: Evaluations,
        free: Array,
        rng: np.random.Generator,
        max_edits: int,
        start: Position,
    ) -> None:
        self.sets, self.free, self.rng, self.max_edits = sets, free, rng, max_edits
        self.at = start
        self.d = 1
        self.m = sets.left

    @property
    def ended(self) -> bool:
        """Whether the climb has ended by its own rule."""
        return self.d == self.max_edits or not self.m

    @property
    def h(self) -> int:
        """The number of sets that its next round tries."""
        return n_proposals(self.m, len(self.free), self.d)

    def round(self) -> None:
        """Try h sets at distance d, and move to the best of them if it is better."""
        h = self.h
        if h:
            drawn = self.free[proposals(self.rng, h, self.d, len(self.free))]
            before = self.sets.left
            best = self.sets.best_of(self.at, drawn)
            self.m -= before - self.sets.left
            if best.beats(self.at):
                self.at, self.d = best, 1
                return
        self.d += 1
