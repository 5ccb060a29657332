"""The published climb beside a guided one: its share, its pursuit, and when all is given up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs.plugin.prior import Prior
from metafs.stats.relevance import relevance_and_entropy
from metafs_climb import Climb, MIConfidence
from metafs_climb.evaluations import Position
from metafs_climb.guided import (
    COMPARED,
    HEAD,
    PATIENCE,
    GuidedClimb,
    climb_with_baseline,
)
from metafs_climb.published import PublishedClimb

from .guiding import cold_of, comparing, expecting, words


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_a_doubtful_prior_is_ignored_and_univariate_relevance_guides(seed, contradicts):
    X, y = words(n_features=60, n_good=6, seed=seed)
    relevance, _ = relevance_and_entropy(X, y)
    wrong = np.argsort(relevance)[:40]
    prior = expecting(60, wrong, doubtful=not contradicts, size=7, starts=(wrong[:5],))
    nothing = Prior(np.zeros(60), guides=True)
    one, two = (
        Climb(max_evaluations=300, random_state=seed).fit(X, y, prior=each)
        for each in (prior, nothing)
    )
    assert one.candidates_ == two.candidates_ and one.n_evaluations_ == two.n_evaluations_
    assert one.stopped_ == two.stopped_ + " (memory was not used: its expectations are doubtful)"


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000))
def test_a_wrong_trusted_prior_costs_at_most_twice_plus_its_first_climb(seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((100, 40)) < 0.4).astype(float)
    y = (X[:, 3] + X[:, 17] + X[:, 29] >= 2).astype(int)
    cold, n_cold = cold_of(X, y, seed)

    sets = comparing(X, y, limit=10_000, target=cold.fitness_)
    order = np.argsort(MIConfidence()(X, y))  # the least telling first
    draws = np.random.default_rng(np.random.RandomState(seed).randint(2**31 - 1))
    published = PublishedClimb(sets, np.arange(40), draws, 5, sets.nothing)
    published.m = 1000
    guided = Timed(sets, order, rng, small_sets=False)
    while not guided.converged and not sets.over:
        guided.step()
    first = sets.spent
    climb_with_baseline(guided, published, until_target=True)
    a_round = 100
    assert sets.at_target
    assert sets.spent <= first + 2 * n_cold + guided.longest + a_round


class Timed(GuidedClimb):
    """It knows what its longest attempt cost."""

    longest = 0

    def step(self):
        self._time(super().step)

    def follow(self, at):
        self._time(lambda: super(Timed, self).follow(at))

    def _time(self, attempt):
        before = self.sets.spent
        attempt()
        self.longest = max(self.longest, self.sets.spent - before)


def as_one_would_follow(fitness, at, added, order):
    """Return the set that a pursuit ends with, and how many sets it tried, one at a time."""
    at, spent = set(at), 0
    while True:
        outside = sorted((j for j in order if j not in at), key=lambda j: -added.get(j, 0.0))
        outside = outside[:HEAD]
        rounds = [outside[i : i + COMPARED] for i in range(0, len(outside), COMPARED)]
        for features in [*rounds, sorted(at)]:
            here, values = fitness(at), {}
            for j in features:
                values[j] = fitness(at ^ {j})
                added[j] = values[j] - here if j not in at else here - values[j]
            spent += len(features)
            best = max(values, key=lambda j: round(values[j], 12), default=None)
            if best is not None and round(values[best], 12) > round(here, 12):
                at ^= {best}
                break
        else:
            return at, spent


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 5), st.integers(0, 90))
def test_following_matches_the_definition(seed, n_at, n_known):
    rng = np.random.default_rng(seed)
    X, y = words(n=80, n_features=90, n_good=10, seed=seed)
    evaluator = MIConfidence().bind(X, y)
    sets, order = comparing(X, y), rng.permutation(90)
    at, known = np.sort(rng.permutation(90)[:n_at]), rng.permutation(90)[:n_known]
    sets.added = dict(zip(known.tolist(), rng.normal(size=n_known).tolist(), strict=True))
    added = dict(sets.added)
    end, spent = as_one_would_follow(
        lambda features: evaluator.of_set(sorted(features)), at.tolist(), added, order.tolist()
    )

    guided = GuidedClimb(sets, order, rng, small_sets=True)
    guided.follow(Position(at, evaluator.of_set(at)))
    assert set(guided.at.features.tolist()) == end
    assert sets.spent == spent
    assert sets.added == pytest.approx(added, abs=1e-12)


def test_the_baseline_is_followed_from_its_current_set_and_from_no_set_twice():
    X, y = words(n_features=60)
    sets, pursued, stood = comparing(X, y, limit=3000, target=np.inf), [], []

    class Baseline(PublishedClimb):
        def round(self):
            super().round()
            stood.append(self.at)

    class Guided(GuidedClimb):
        def follow(self, at):
            assert self.converged and at is stood[-1]
            pursued.append(tuple(at.features.tolist()))
            super().follow(at)

    draws = np.random.default_rng(0)
    baseline = Baseline(sets, np.arange(60), draws, 5, sets.nothing)
    guided = Guided(sets, np.arange(60), draws.spawn(1)[0], small_sets=False)
    climb_with_baseline(guided, baseline, until_target=True)
    assert len(pursued) > 3 and len(set(pursued)) == len(pursued)


def test_only_counted_evaluations_are_remembered():
    X, y = words()
    sets = comparing(X, y)
    at, tried = sets.first_better(sets.nothing, np.arange(300)[:, None])
    sets.best_of(at, np.array([[3, 4], [5, 6]]))
    assert tried and not sets.added
    sets.best_of(at, np.array([[7], [int(at.features[0])]]))
    of_set = MIConfidence().bind(X, y).of_set
    seven = of_set([*at.features.tolist(), 7]) - at.fitness
    assert sets.added == pytest.approx({7: seven, int(at.features[0]): at.fitness})


def test_following_gets_near_the_end_of_the_baselines_path_at_a_fraction_of_its_cost():
    for seed in range(5):
        X, y = words(n_features=150, seed=seed)
        cold, n_cold = cold_of(X, y, seed, budget=10_000)
        sets = comparing(X, y, limit=10_000)
        draws = np.random.default_rng(np.random.RandomState(seed).randint(2**31 - 1))
        baseline = PublishedClimb(sets, np.arange(150), draws, 5, sets.nothing)
        for _ in range(3):
            baseline.round()
        guided = GuidedClimb(sets, np.arange(150), draws, small_sets=True)
        guided.follow(baseline.at)
        assert guided.at.fitness > 0.95 * cold.fitness_
        assert sets.spent < n_cold / 2


class Hopeless(GuidedClimb):
    """It has converged and never finds anything better."""

    perturbations = 0

    def step(self):
        self.converged = True
        self.perturbations += 1
        self.failures += 1
        self.sets.left -= 1

    def follow(self, at):
        self.step()


def test_the_baseline_gets_more_evaluations_the_longer_nothing_better_is_found():
    X, y = words(n_features=30)
    sets, rng = comparing(X, y, limit=2000, target=np.inf), np.random.default_rng(0)
    guided = Hopeless(sets, np.arange(30), rng, small_sets=False)
    guided.converged, guided.at = True, Position(np.arange(3), 2.0)
    spent = [0]

    class Baseline(PublishedClimb):
        def round(self):
            in_vain = [max(0, failed - PATIENCE) for failed in range(1, guided.perturbations + 1)]
            earned = sum(1 + each for each in in_vain)
            assert spent[-1] + self.h <= earned < spent[-1] + self.h + 1 + guided.perturbations
            before = sets.spent
            super().round()
            spent.append(spent[-1] + sets.spent - before)

    baseline = Baseline(sets, np.arange(30), rng, 5, sets.nothing)
    climb_with_baseline(guided, baseline, until_target=True)
    assert baseline.ended and len(spent) > 10


@pytest.mark.parametrize(("budget", "perturbations"), [(500, 2), (1000, 2), (10_000, 5)])
def test_a_large_budget_is_a_reason_for_patience(budget, perturbations):
    X, y = words(n_features=30)
    sets, rng = comparing(X, y, limit=budget), np.random.default_rng(0)
    guided = Hopeless(sets, np.arange(30), rng, small_sets=False)
    guided.at = Position(np.arange(3), 2.0)  # better than anything
    published = PublishedClimb(sets, np.arange(30), rng, 5, sets.nothing)
    climb_with_baseline(guided, published, until_target=False)
    assert guided.perturbations == perturbations


def test_a_trusted_prior_is_not_reported_as_doubtful():
    X, y = words()
    sure = Climb(max_evaluations=400, random_state=0).fit(X, y, prior=expecting(300, range(24)))
    assert "memory" not in sure.stopped_


def test_features_that_left_the_set_are_not_tried_as_doubtful():
    X, y = words()
    sets = comparing(X, y)
    sets.start([np.arange(10)])
    guided = GuidedClimb(sets, np.arange(300), np.random.default_rng(0), small_sets=False)
    guided.at, before = Position(np.array([8, 9, 40]), 2.0), sets.left  # nothing will be better
    guided.step()
    assert before - sets.left == HEAD + 2 + 3
