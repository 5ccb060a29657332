"""The guided climb where a set is worth no less for being large, as with a learner's accuracy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs_climb import Climb, CVAccuracy, MIConfidence
from metafs_climb.evaluations import Evaluations, Position
from metafs_climb.guided import HEAD, LARGE, LARGE_HEAD, Comparisons, GuidedClimb

from .guiding import comparing, expecting, words

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
    guided = GuidedClimb(sets, np.arange(300), np.random.default_rng(0), each_counts=False)
    guided.at, tried = Position(np.arange(10), 2.0), []  # nothing will be as good
    while not guided.settled:
        before = sets.left
        guided.step()
        tried.append(before - sets.left)
    assert tried == widths


def test_what_tells_most_is_tried_together_first_with_all_that_memory_proposes():
    X, y = words()
    prior = expecting(300, range(24), starts=(np.array([297, 298]), np.array([298, 299])))
    climb = Climb(Information(), random_state=0, max_evaluations=10).fit(X, y, prior=prior)
    (_, proposed, _), *alone = climb.candidates_[: 1 + len(LARGE)]
    assert proposed[-3:] == (297, 298, 299)
    assert set(proposed[:-3]) == set(alone[0][1])
    assert [len(features) for _, features, _ in alone] == [*LARGE]
    assert len(set(range(24)) & set(alone[0][1])) > 16


def as_one_would_thin(fitness, at, features):
    """Return what is left of a set."""
    for j in features:
        if round(fitness(at - {j}), 12) >= round(fitness(at), 12):
            at = at - {j}
    return at


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 40))
def test_what_can_be_spared_is_dropped_the_least_promising_first(seed, size):
    X, y = words(n=60, n_features=40, n_good=10, seed=seed)
    rng = np.random.default_rng(seed)
    kept = np.sort(rng.permutation(40)[:2])
    order = np.setdiff1d(np.arange(40), kept)[rng.permutation(38)]
    sets = Comparisons(Unpriced(X, y), kept, 10_000, None, np.inf)
    sets.start([order[:size]])
    guided = GuidedClimb(sets, order, rng, each_counts=False)
    before, spent = guided.at, sets.spent
    inside = [j for j in order[::-1].tolist() if j in before.features]
    left = as_one_would_thin(
        lambda features: MIConfidence(b=0.0).of_set(X, y, sorted(features)),
        set(before.features.tolist()),
        inside,
    )
    at = guided._thin(before)
    assert set(at.features.tolist()) == left >= set(kept.tolist())
    assert sets.spent - spent == len(inside)
    assert at.fitness == pytest.approx(before.fitness, abs=1e-12), "less never tells more"
    assert sets.best is at or at is before


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_a_set_that_is_worth_as_much_will_do_also_if_hopeless_ones_are_abandoned(seed, or_equal):
    X, y = words(n=60, n_features=24, n_good=10, seed=seed)
    every, measure = np.arange(24), CVAccuracy(n_folds=3, random_state=0)
    worth = np.array([measure.of_set(X, y, np.delete(every, j)) for j in every])
    base = Position(every, measure.of_set(X, y, every))
    will_do = np.flatnonzero(worth > base.fitness + (-1e-9 if or_equal else 1e-9))
    sets = Evaluations(measure.bind(X, y), NOTHING, 10_000, None, np.inf)
    at, tried = sets.first_better(base, every[:, None], or_equal=or_equal)
    assert tried == sets.spent == (will_do[0] + 1 if len(will_do) else 24)
    assert (at is base) == (not len(will_do))
    if len(will_do):
        assert at.features.tolist() == np.delete(every, will_do[0]).tolist()
        assert at.fitness == pytest.approx(worth[will_do[0]], abs=1e-12)


def test_of_sets_that_are_worth_the_same_the_smaller_one_is_selected():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    right = rng.random((120, 6)) < 0.75
    X = np.where(right, y[:, None], 1 - y[:, None]).astype(float)
    X = np.hstack([X, X, X, rng.integers(0, 2, (120, 60))])  # each of the good ones three times
    prior = expecting(X.shape[1], range(18))
    climb = Climb(CVAccuracy(random_state=0), random_state=0).fit(X, y, prior=prior)
    selected = np.flatnonzero(climb.get_support())
    assert climb.fitness_ == pytest.approx(CVAccuracy(random_state=0).of_set(X, y, selected))
    for j in selected:
        fewer = np.setdiff1d(selected, [j])
        assert CVAccuracy(random_state=0).of_set(X, y, fewer) < climb.fitness_, "all are needed"
