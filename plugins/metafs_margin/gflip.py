r"""G-flip: greedy search for the feature set with the largest margin.

1. Start with :math:`F = \emptyset`.
2. In random order flip each feature, in or out of F, if that makes :math:`e(F)` larger.
3. Go on with 2 until a whole pass has changed nothing.

Each flip increases e and there are finitely many sets, so the search ends, in a set that no
single flip improves. There is nothing to tune, not even the number of features.

R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin based feature selection - theory and algorithms",
ICML 2004, algorithm 1. Each flip that is tried is one evaluation; a gain below 1e-9 of e is none.
"""

from collections.abc import Sequence
from time import monotonic
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from metafs.data.matrix import dense
from metafs.data.parameters import column_numbers
from metafs.data.typing import Array, Matrix
from metafs.plugin.prior import Prior
from metafs.plugin.ranking import ranking
from metafs.plugin.selector import BaseSelector
from metafs.stats.discretise import discretise_target
from metafs_margin.nearest import check_scale
from metafs_margin.sets import SetMargins
from metafs_margin.utility import Utility

TOLERANCE = 1e-9
"""The relative gain from which one set is better than another, well above rounding."""

Candidate = tuple[int, tuple[int, ...], float]


def is_better(e_new: float, e_old: float) -> bool:
    """Return whether a set is better than another, by more than rounding."""
    return e_new - e_old > TOLERANCE * max(abs(e_new), abs(e_old))


class _Search:
    """The state of a search: its current set, its evaluations and the scores of features."""

    def __init__(self, margins: SetMargins, n_features: int, kept: Array) -> None:
        self.margins = margins
        self.features = kept
        self.fitness = margins.of_set(kept)
        self.scores = np.zeros(n_features)
        self.n_evaluations = 0
        self.n_passes = 0
        self.candidates: list[Candidate] = []

    def try_edit(self, edit: Array) -> bool:
        """Flip features if that is better."""
        fitness = float(self.margins.of_sets(self.features, edit[None])[0])
        self.n_evaluations += 1
        if len(edit) == 1:
            inside = edit[0] in self.features
            self.scores[edit] = self.fitness - fitness if inside else fitness - self.fitness
        if not is_better(fitness, self.fitness):
            return False
        self.features, self.fitness = np.setxor1d(self.features, edit), fitness
        self.candidates.append((self.n_evaluations, tuple(self.features.tolist()), fitness))
        return True


class GFlip(BaseSelector):
    """Keep the features that a greedy search for the largest margin ends with.

    Parameters
    ----------
    utility : {"linear", "sigmoid", "zero-one"}, default="linear"
        The utility of a sample's margin; linear is the published method.
    beta : float, default=1.0
        Steepness of the sigmoid utility.
    max_evaluations : int, default=None
        Sets to evaluate at most; None goes on until no flip helps.
    max_seconds : float, default=None
        Time after which no further set is evaluated.
    keep_features : sequence of int, default=None
        Columns that belong to every set.
    random_state : int, RandomState instance or None, default=None
        The order in which features are considered. Same seed, same answer.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Which features are selected.
    scores_ : ndarray of shape (n_features,)
        By how much e of the set is larger with the feature than without it, when it was last
        considered; 0 for a feature that never was.
    ranking_ : ndarray of shape (n_features,)
        1 for the best: the selected features by score, then the others by score.
    fitness_ : float
        e of the selected set.
    candidates_ : list of (int, tuple of int, float)
        Evaluation number, features and e of each set that the search moved to.
    n_passes_ : int
        Passes over all features, the last one, without change, included.
    n_evaluations_ : int
        Sets evaluated: one for each feature considered, and one for a starting set.
    stopped_ : str
        Why the search ended.

    Notes
    -----
    The search begins with a prior's first starting set if it is better than the empty set, and
    each pass considers features in the order of the prior. With or without a prior, the search
    ends in a set that no single flip improves.

    Distances are Euclidean: give features comparable scales. A numeric target is discretised.
    A sample that is alone in its class has margin 0. A gain below 1e-9 of e is no gain.

    A selection is never empty: if no feature is better than the empty set, the best one is kept,
    and `stopped_` says so.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(200, 5))
    >>> gflip = GFlip(random_state=0).fit(X, X[:, 0] + X[:, 3] > 1)
    >>> gflip.get_support()
    array([ True, False, False,  True, False])
    >>> gflip.n_passes_, gflip.stopped_
    (3, 'no single flip is better')
    """

    def __init__(
        self,
        *,
        utility: str = "linear",
        beta: float = 1.0,
        max_evaluations: int | None = None,
        max_seconds: float | None = None,
        keep_features: Sequence[int] | None = None,
        random_state: Any = None,
    ) -> None:
        self.utility = utility
        self.beta = beta
        self.max_evaluations = max_evaluations
        self.max_seconds = max_seconds
        self.keep_features = keep_features
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        Utility(self.utility, self.beta)

    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        check_scale(X, "gflip")
        deadline = np.inf if self.max_seconds is None else monotonic() + self.max_seconds
        utility = Utility(self.utility, self.beta)
        margins = SetMargins(dense(X, "gflip"), discretise_target(y), utility)
        kept = column_numbers("keep_features", self.keep_features, X.shape[1])
        search = _Search(margins, X.shape[1], kept)
        self.stopped_ = self._run(search, kept, prior, deadline)

        self.scores_ = search.scores
        for feature in kept:
            without = margins.of_sets(search.features, np.array([[feature]]))[0]
            self.scores_[feature] = search.fitness - without
        features, self.fitness_ = search.features, search.fitness
        if not len(features):
            features = np.array([np.argmax(self.scores_)])
            self.fitness_ = margins.of_set(features)
            self.stopped_ += "; no feature was better than none, so the best one alone is kept"
        self.n_evaluations_ = search.n_evaluations
        self.n_passes_ = search.n_passes
        self.candidates_ = search.candidates
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[features] = True
        self.ranking_ = ranking(self.scores_, first=self.support_)

    def _run(self, search: _Search, kept: Array, prior: Prior | None, deadline: float) -> str:
        """Flip features until the search ends, and return why it stopped."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        budget = np.inf if self.max_evaluations is None else self.max_evaluations
        free = np.setdiff1d(np.arange(self.n_features_in_), kept)
        first = np.zeros(0, dtype=np.int64)
        if prior is not None:
            first = prior.first[np.isin(prior.first, free)]
            start = np.intersect1d(prior.starts[0], free) if prior.starts else first[:0]
            if len(start) and monotonic() < deadline:
                search.try_edit(start)
        rest = np.setdiff1d(free, first)
        changed = True
        while changed:
            changed = False
            search.n_passes += 1
            for feature in np.concatenate([first, rng.permutation(rest)]):
                if search.n_evaluations >= budget:
                    return f"budget of {self.max_evaluations} evaluations spent"
                if monotonic() >= deadline:
                    return "time is up"
                changed |= search.try_edit(np.array([feature]))
        return "no single flip is better"
