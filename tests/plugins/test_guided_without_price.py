"""The guided climb where a set is worth no less for being large, as with a learner's accuracy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs_climb import Climb, CVAccuracy, MIConfidence
from metafs_climb.evaluations import Position
from metafs_climb.guided import ELIMINATED_TOGETHER, HEAD, LARGE_HEAD, Comparisons, GuidedClimb
from metafs_climb.starts import LARGE

from .guiding import comparing, expecting, widths_of_passes, words

NOTHING = np.zeros(0, dtype=np.int64)


class Unpriced:
    """The information of a set, whatever its size: dropping what repeats others changes nothing."""

    prices_size = False

    def __init__(self, X, y):
        self.evaluator = MIConfidence(b=0.0).bind(X, y)

    def of_sets(self, base, edits):
        return self.evaluator.of_sets(base, edits)

    def of_each(self):
        return self.evaluator.of_each()


class Information:
    def __call__(self, X, y):
        return MIConfidence(b=0.0)(X, y)

    def bind(self, X, y):
        return Unpriced(X, y)

    def of_set(self, X, y, features):
        return MIConfidence(b=0.0).of_set(X, y, features)


@pytest.mark.parametrize(
    ("prices_size", "budget", "widths"),
    [
        (True, 10_000, [HEAD + 2 * 10, 290 + 10]),
        (False, 1000, [LARGE_HEAD + 10]),
        (False, 10_000, [LARGE_HEAD + 10, 290 + 10]),
    ],
)
def test_passes_are_wider_and_go_through_the_set_once(prices_size, budget, widths):
    X, y = words()
    sets = comparing(X, y, limit=budget + 1)
    sets.prices_size = prices_size
    sets.start([np.arange(10)])
    guided = GuidedClimb(sets, np.arange(300), np.random.default_rng(0), small_sets=False)
    guided.at = Position(np.arange(10), 2.0)  # nothing will be as good
    assert widths_of_passes(guided) == widths


def test_the_most_relevant_features_are_tried_together_with_all_that_memory_proposes():
    X, y = words()
    prior = expecting(300, range(24), starts=(np.array([297, 298]), np.array([298, 299])))
    climb = Climb(Information(), random_state=0, max_evaluations=10).fit(X, y, prior=prior)
    (_, proposed, _), (_, alone, _), *_ = climb.candidates_
    assert proposed[-3:] == (297, 298, 299)
    assert set(proposed[:-3]) == set(alone)
    assert len(alone) == LARGE
    assert len(set(range(24)) & set(alone)) > 16


def as_one_would_eliminate(fitness, at, features):
    """Return what is left of a set, and how many sets were tried, one at a time."""
    spent = 0
    for first in range(0, len(features), ELIMINATED_TOGETHER):
        some = features[first : first + ELIMINATED_TOGETHER]
        loss = {j: round(fitness(at) - fitness(at - {j}), 9) for j in some}
        removable = sorted((j for j in some if loss[j] <= 0), key=lambda j: loss[j])
        spent += len(some)
        while removable:
            spent += 1
            if round(fitness(at - set(removable)), 9) >= round(fitness(at), 9):
                at = at - set(removable)
                break
            removable = removable[: len(removable) // 2]
    return at, spent


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 40))
def test_backward_elimination_drops_the_lowest_priority_first(seed, size):
    X, y = words(n=60, n_features=40, n_good=10, seed=seed)
    rng = np.random.default_rng(seed)
    kept = np.sort(rng.permutation(40)[:2])
    order = np.setdiff1d(np.arange(40), kept)[rng.permutation(38)]
    sets = Comparisons(Unpriced(X, y), kept, 10_000, None, np.inf)
    sets.start([order[:size]])
    guided = GuidedClimb(sets, order, rng, small_sets=False)
    before, spent = guided.at, sets.spent
    left, tried = as_one_would_eliminate(
        lambda features: MIConfidence(b=0.0).of_set(X, y, sorted(features)),
        set(before.features.tolist()),
        [j for j in order[::-1].tolist() if j in before.features],
    )
    at = guided._eliminate(before)
    assert set(at.features.tolist()) == left >= set(kept.tolist())
    assert sets.spent - spent == tried
    assert at.fitness == pytest.approx(before.fitness, abs=1e-12), (
        "fewer features have no more information"
    )
    assert sets.best is at or at is before


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(4, 24))
def test_backward_elimination_never_lowers_fitness_even_if_candidates_are_abandoned(seed, size):
    X, y = words(n=60, n_features=24, n_good=10, seed=seed)
    features, measure = np.arange(size), CVAccuracy(n_folds=3, random_state=0)
    sets = Comparisons(measure.bind(X, y), NOTHING, 10_000, None, np.inf)
    base = Position(features, measure.of_set(X, y, features))
    at = sets.eliminate_backward(base, features[:ELIMINATED_TOGETHER])
    assert set(at.features) <= set(features)
    worth = measure.of_set(X, y, at.features) if len(at.features) else sets.nothing.fitness
    assert at.fitness == pytest.approx(worth, abs=1e-12)
    assert at.fitness >= base.fitness - 1e-12
    if at is base:
        each = [
            measure.of_set(X, y, np.delete(features, j)) for j in features[:ELIMINATED_TOGETHER]
        ]
        assert max(each) < base.fitness, "nothing could be removed"


def test_a_set_that_reaches_the_target_or_ends_the_budget_is_kept():
    X, y = words(n=60, n_features=24, n_good=10)
    features, measure = np.arange(24), CVAccuracy(n_folds=3, random_state=0)
    worth = np.array([measure.of_set(X, y, np.delete(features, j)) for j in features])
    base = Position(features, measure.of_set(X, y, features))
    best = int(np.argmax(worth))
    assert worth[best] > base.fitness
    for limit, target in ((10_000, worth[best]), (best + 1, None)):
        sets = Comparisons(measure.bind(X, y), NOTHING, limit, target, np.inf)
        at = sets.eliminate_backward(base, features)
        assert sets.spent == best + 1 and sets.best is at
        assert at.features.tolist() == np.delete(features, best).tolist()


def test_a_climb_that_starts_large_ends_small():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    right = rng.random((120, 6)) < 0.75
    X = np.where(right, y[:, None], 1 - y[:, None]).astype(float)
    X = np.hstack([X, X, X, rng.integers(0, 2, (120, 60))])  # each of the good ones three times
    measure = CVAccuracy(random_state=0)
    climb = Climb(measure, random_state=0).fit(X, y, prior=expecting(X.shape[1], range(18)))
    selected = np.flatnonzero(climb.get_support())
    assert len(climb.candidates_[0][1]) == LARGE and len(selected) < LARGE / 2
    assert climb.fitness_ == pytest.approx(measure.of_set(X, y, selected))
    assert climb.fitness_ > climb.candidates_[0][2]
