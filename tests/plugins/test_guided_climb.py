"""The guided climb: what it tries first, and how it goes on from there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs.plugin.prior import Prior
from metafs.stats.relevance import priority, relevance_and_entropy
from metafs.transfer.expectation import Experience, expect
from metafs_climb import Climb, MIConfidence
from metafs_climb.evaluations import Position
from metafs_climb.guided import COMPARED, HEAD, GuidedClimb, spread
from metafs_climb.starts import DOUBLED

from .guiding import cold_of, comparing, expecting, to_target, widths_of_passes, words


def test_a_correct_prior_saves_most_of_the_evaluations():
    saved = []
    for seed in range(5):
        X, y = words(seed=seed)
        cold, n_cold = cold_of(X, y, seed)
        warm = to_target(cold, X, y, expecting(300, range(24)))
        assert warm.stopped_ == "target score reached"
        saved.append(n_cold / warm.n_evaluations_)
    assert np.exp(np.mean(np.log(saved))) > 4


@pytest.mark.parametrize(("budget", "widths"), [(200, [32]), (1000, [32, 96]), (10_000, [32, 300])])
def test_a_pass_that_changes_nothing_is_followed_by_one_as_wide_as_the_budget_allows(
    budget, widths
):
    X, y = words()
    sets = comparing(X, y, limit=budget)
    guided = GuidedClimb(sets, np.arange(300), np.random.default_rng(0), small_sets=False)
    guided.at = Position(np.arange(0), 2.0)  # nothing will be better
    assert widths_of_passes(guided) == widths


def test_with_a_dominant_feature_candidates_are_compared_before_one_is_added():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = (rng.random((200, 50)) < 0.5).astype(float)
    for j, right in {7: 0.95, 30: 0.9}.items():
        X[:, j] = np.where(rng.random(200) < right, y, 1 - y)
    climb = Climb(random_state=0).fit(X, y, prior=expecting(50, [30, 31, 32]))
    step, features, _ = climb.candidates_[0]
    assert features == (7,), "the best of the first round, not the first that is better than none"
    assert step <= COMPARED
    assert all(step > COMPARED for step, _, _ in climb.candidates_[1:])


def test_with_all_features_selected_there_is_nothing_to_compare():
    X, y = words(n_features=3, n_good=3)
    sets = comparing(X, y)
    guided = GuidedClimb(sets, np.arange(3), np.random.default_rng(0), small_sets=True)
    guided.at = Position(np.arange(3), 0.5)
    guided.step()
    assert guided.converged and sets.spent == 0


def selecting(problem, selected, distance=0.3):
    """A near problem that had nothing but what it selected."""
    found = np.ones(len(selected))
    return Experience(problem, "", distance, selected, found, found, found > 0)


def test_the_first_start_has_as_many_features_as_near_problems_selected():
    X, y = words()
    near = [
        selecting("one", [str(j) for j in range(4)]),
        selecting("two", ["0", "1", *(f"not here {j}" for j in range(6))]),
        selecting("three", ["5", "not here 7", "not here 8"]),
    ]
    prior = expect(near, [str(j) for j in range(300)])
    assert prior.size == 5 == (4 + 8 + 3) / 3
    priorities = priority(*relevance_and_entropy(X, y), prior.expected)
    climb = Climb(random_state=0).fit(X, y, prior=prior)
    step, features, _ = climb.candidates_[0]
    assert step == 1 and features == tuple(sorted(np.argsort(-priorities)[:5].tolist()))


def test_without_a_known_size_several_sizes_are_tried():
    X, y = words()
    climb = Climb(random_state=0).fit(X, y, prior=Prior(np.zeros(300), guides=True))
    order = np.argsort(-priority(*relevance_and_entropy(X, y), np.zeros(300)), kind="stable")
    tried = {step: features for step, features, _ in climb.candidates_[: len(DOUBLED)]}
    assert tried == {
        step: tuple(sorted(order[:size].tolist())) for step, size in enumerate(DOUBLED, start=1)
    }


@given(st.lists(st.booleans(), max_size=40))
def test_features_are_spread_evenly_among_others(kinds):
    """Out of a list with both kinds mixed come the same two lists, one evenly in the other."""
    features = np.flatnonzero(kinds)
    among = np.flatnonzero(~np.array(kinds, dtype=bool))
    both = spread(features, among)
    assert both[np.isin(both, features)].tolist() == features.tolist()
    assert both[np.isin(both, among)].tolist() == among.tolist()
    before = np.cumsum(np.isin(both, among))[np.isin(both, features)]
    even = (np.arange(len(features)) + 0.5) * len(among) / max(1, len(features))
    assert np.all(np.abs(before - even) < 1)


def as_one_would_pass(fitness, at, doubted, others):
    """Return the set that a pass ends with, and how many sets it tried, one at a time."""
    at, spent = set(at), 0

    def try_each(features):
        nonlocal at, spent
        for j in features:
            spent += 1
            if round(fitness(at ^ {j}), 12) > round(fitness(at), 12):
                at ^= {j}

    try_each(spread(np.array(doubted, dtype=np.int64), np.array(others)).tolist())
    try_each(sorted(at))
    return at, spent


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 20))
def test_features_of_a_start_are_tried_once_between_the_others_lowest_priority_first(seed, n_start):
    X, y = words(n=80, n_features=90, n_good=10, seed=seed)
    evaluator = MIConfidence().bind(X, y)
    sets, order = comparing(X, y), np.random.default_rng(seed).permutation(90)
    sets.start([order[:n_start]] if n_start else [])
    at, spent = sets.best.features.tolist(), sets.spent
    doubted = [j for j in order[::-1].tolist() if j in at]
    guided = GuidedClimb(sets, order, np.random.default_rng(0), small_sets=False)
    for _ in range(2):
        outside = [j for j in order.tolist() if j not in at][:HEAD]
        at, tried = as_one_would_pass(
            lambda features: evaluator.of_set(sorted(features)), at, doubted, outside
        )
        doubted, spent = [], spent + tried
        guided.step()
        assert set(guided.at.features.tolist()) == at
        assert sets.spent == spent


@pytest.mark.parametrize("expected", [np.zeros(300), np.linspace(0, 1, 300)])
def test_same_seed_same_answer(expected):
    X, y = words()
    prior = Prior(expected, guides=True)
    one, two = (Climb(random_state=3).fit(X, y, prior=prior) for _ in range(2))
    assert one.candidates_ == two.candidates_ and one.stopped_ == two.stopped_


def test_budget_time_and_kept_features_hold_for_a_guided_climb_too():
    X, y = words()
    prior = expecting(300, range(24), size=2)
    short = Climb(max_evaluations=37, random_state=0).fit(X, y, prior=prior)
    assert short.n_evaluations_ == 37 and short.stopped_.startswith("budget of 37")
    late = Climb(max_seconds=0.0, random_state=0).fit(X, y, prior=prior)
    assert late.n_evaluations_ == 0 and late.stopped_.startswith("time is up")
    kept = Climb(max_evaluations=400, random_state=0, keep_features=[200, 201]).fit(
        X, y, prior=prior
    )
    assert all({200, 201} <= set(features) for _, features, _ in kept.candidates_)


def test_the_reported_fitness_is_that_of_the_reported_set():
    X, y = words()
    climb = Climb(max_evaluations=500, random_state=0).fit(X, y, prior=expecting(300, range(24)))
    measure = MIConfidence()
    assert climb.fitness_ == pytest.approx(
        measure.of_set(X, y, np.flatnonzero(climb.get_support())), abs=1e-12
    )
    for _, features, fitness in climb.candidates_:
        assert fitness == pytest.approx(measure.of_set(X, y, features), abs=1e-12)
