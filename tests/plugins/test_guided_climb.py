"""The guided climb: what it tries first, and that the published climb beside it keeps it honest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from metafs.evidence import own_evidence, promise
from metafs.prior import Prior
from metafs.transfer import Experience, expect
from metafs_climb import Climb, MIConfidence
from metafs_climb.evaluations import Position
from metafs_climb.guided import (
    AHEAD_IN_DOUBT,
    COMPARED,
    DOUBLED,
    HEAD,
    LARGE_HEAD,
    PREFIXES,
    Comparisons,
    GuidedClimb,
    climb_guarded,
    spread,
)
from metafs_climb.published import PublishedClimb


def words(n=200, n_features=300, n_good=24, seed=0):
    """Many weak features, as words are: the first `n_good` tell a little of the target each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    p = np.full((n, n_features), 0.1)
    for j in range(n_good):
        p[y == j % 2, j] = 0.3
    return (rng.random((n, n_features)) < p).astype(float), y


def expecting(n_features, good, value=0.9, **more):
    expected = np.zeros(n_features)
    expected[good] = value
    return Prior(expected, guides=True, **more)


def cold_of(X, y, seed, budget=1000):
    cold = Climb(max_evaluations=budget, random_state=seed).fit(X, y)
    steps = [step for step, _, fitness in cold.candidates_ if fitness >= cold.fitness_ - 1e-12]
    return cold, min(steps)


def comparing(X, y, limit=10_000, target=None):
    nothing = np.zeros(0, dtype=np.int64)
    return Comparisons(MIConfidence().bind(X, y), nothing, limit, target, np.inf)


def to_target(cold, X, y, prior):
    return clone(cold).set_params(target_score=cold.fitness_).fit(X, y, prior=prior)


def test_what_memory_rightly_expects_saves_most_of_the_evaluations():
    saved = []
    for seed in range(5):
        X, y = words(seed=seed)
        cold, n_cold = cold_of(X, y, seed)
        warm = to_target(cold, X, y, expecting(300, range(24)))
        assert warm.stopped_ == "target score reached"
        saved.append(n_cold / warm.n_evaluations_)
    assert np.exp(np.mean(np.log(saved))) > 4


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_a_doubtful_prior_lets_the_published_climb_go_first(seed, starts):
    X, y = words(n_features=60, n_good=6, seed=seed)
    cold, n_cold = cold_of(X, y, seed, budget=300)
    prior = expecting(60, [50, 51, 52], doubtful=True, size=2 * starts)
    warm = to_target(cold, X, y, prior)
    assert n_cold <= AHEAD_IN_DOUBT, "else the published climb would not come first alone"
    assert warm.n_evaluations_ <= n_cold + starts
    assert warm.fitness_ >= cold.fitness_ - 1e-12


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000))
def test_a_wrong_prior_that_is_trusted_costs_at_most_twice_and_its_first_climb(seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((100, 40)) < 0.4).astype(float)
    y = (X[:, 3] + X[:, 17] + X[:, 29] >= 2).astype(int)
    cold, n_cold = cold_of(X, y, seed)

    sets = comparing(X, y, limit=10_000, target=cold.fitness_)
    order = np.argsort(MIConfidence()(X, y))  # the least telling first
    draws = np.random.default_rng(np.random.RandomState(seed).randint(2**31 - 1))
    published = PublishedClimb(sets, np.arange(40), draws, 5, sets.nothing)
    published.m = 1000
    guided = Timed(sets, order, rng, each_counts=False)
    while not guided.settled and not sets.over:
        guided.step()
    first = sets.spent
    climb_guarded(guided, published, doubtful=False, until_target=True)
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
def test_a_pursuit_is_that_of_the_definition(seed, n_at, n_known):
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

    guided = GuidedClimb(sets, order, rng, each_counts=True)
    guided.follow(Position(at, evaluator.of_set(at)))
    assert set(guided.at.features.tolist()) == end
    assert sets.spent == spent
    assert sets.added == pytest.approx(added, abs=1e-12)


def test_the_guard_is_pursued_once_from_each_set_it_moves_to():
    X, y = words(n_features=60)
    sets, pursued, stood = comparing(X, y, limit=3000, target=np.inf), [], []

    class Guard(PublishedClimb):
        def round(self):
            super().round()
            stood.append(self.at)

    class Guided(GuidedClimb):
        def follow(self, at):
            assert self.settled and at is stood[-1]
            pursued.append(tuple(at.features.tolist()))
            super().follow(at)

    draws = np.random.default_rng(0)
    guard = Guard(sets, np.arange(60), draws, 5, sets.nothing)
    guided = Guided(sets, np.arange(60), draws.spawn(1)[0], each_counts=False)
    climb_guarded(guided, guard, doubtful=False, until_target=True)
    assert len(pursued) > 5 and len(set(pursued)) == len(pursued)


def test_what_was_not_counted_is_not_known():
    X, y = words()
    sets = comparing(X, y)
    at, tried = sets.first_better(sets.nothing, np.arange(300)[:, None])
    sets.best_of(at, np.array([[3, 4], [5, 6]]))
    assert tried and not sets.added
    sets.best_of(at, np.array([[7], [int(at.features[0])]]))
    of_set = MIConfidence().bind(X, y).of_set
    seven = of_set([*at.features.tolist(), 7]) - at.fitness
    assert sets.added == pytest.approx({7: seven, int(at.features[0]): at.fitness})


def test_a_pursuit_comes_near_the_end_of_the_guards_path_at_a_fraction_of_its_price():
    for seed in range(5):
        X, y = words(n_features=150, seed=seed)
        cold, n_cold = cold_of(X, y, seed, budget=10_000)
        sets = comparing(X, y, limit=10_000)
        draws = np.random.default_rng(np.random.RandomState(seed).randint(2**31 - 1))
        guard = PublishedClimb(sets, np.arange(150), draws, 5, sets.nothing)
        for _ in range(3):
            guard.round()
        guided = GuidedClimb(sets, np.arange(150), draws, each_counts=True)
        guided.follow(guard.at)
        assert guided.at.fitness > 0.95 * cold.fitness_
        assert sets.spent < n_cold / 2


class Hopeless(GuidedClimb):
    """It has settled and never finds anything better."""

    kicks = 0

    def step(self):
        self.settled = True
        self.kicks += 1
        self.failures += 1
        self.sets.left -= 1

    def follow(self, at):
        self.step()


@pytest.mark.parametrize(("budget", "kicks"), [(500, 2), (1000, 2), (10_000, 5)])
def test_a_large_budget_is_a_reason_for_patience(budget, kicks):
    X, y = words(n_features=30)
    sets, rng = comparing(X, y, limit=budget), np.random.default_rng(0)
    guided = Hopeless(sets, np.arange(30), rng, each_counts=False)
    guided.at = Position(np.arange(3), 2.0)  # better than anything
    published = PublishedClimb(sets, np.arange(30), rng, 5, sets.nothing)
    climb_guarded(guided, published, doubtful=False, until_target=False)
    assert guided.kicks == kicks


def test_where_size_has_no_price_a_pass_goes_through_more_features():
    X, y = words()
    for prices_size, head, times in ((True, HEAD, 2), (False, LARGE_HEAD, 1)):
        sets = comparing(X, y)
        sets.prices_size = prices_size
        sets.start([np.arange(10)])
        guided = GuidedClimb(sets, np.arange(300), np.random.default_rng(0), each_counts=False)
        guided.at, tried = Position(np.arange(10), 2.0), sets.spent  # nothing will be better
        guided.step()
        assert sets.spent - tried == head + times * 10, "and once, not twice, through its set"


@pytest.mark.parametrize(("budget", "widths"), [(200, [32]), (1000, [32, 96]), (10_000, [32, 300])])
def test_a_pass_that_changes_nothing_is_followed_by_one_as_wide_as_the_budget_allows(
    budget, widths
):
    X, y = words()
    sets = comparing(X, y, limit=budget)
    guided = GuidedClimb(sets, np.arange(300), np.random.default_rng(0), each_counts=False)
    guided.at, tried = Position(np.arange(0), 2.0), []  # nothing will be better
    while not guided.settled:
        before = sets.left
        guided.step()
        tried.append(before - sets.left)
    assert tried == widths


def test_where_size_has_no_price_no_wider_pass_follows():
    X, y = words()
    sets = comparing(X, y)
    sets.prices_size = False
    guided = GuidedClimb(sets, np.arange(300), np.random.default_rng(0), each_counts=False)
    guided.at = Position(np.arange(0), 2.0)  # nothing will be better
    guided.step()
    assert guided.settled


def test_doubt_is_told_and_a_contradiction_is_a_reason_for_it():
    X, y = words()
    far = Climb(max_evaluations=400, random_state=0).fit(
        X, y, prior=expecting(300, range(24), doubtful=True)
    )
    against = Climb(max_evaluations=400, random_state=0).fit(
        X, y, prior=expecting(300, range(100, 300))
    )
    sure = Climb(max_evaluations=400, random_state=0).fit(X, y, prior=expecting(300, range(24)))
    assert "little was to be expected of memory" in far.stopped_
    assert "little was to be expected of memory" in against.stopped_
    assert "memory" not in sure.stopped_


def test_where_one_feature_tells_much_features_are_compared_before_one_is_added():
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


def selecting(problem, selected, distance=0.3):
    """A near problem that had nothing but what it selected."""
    found = np.ones(len(selected))
    return Experience(problem, "", distance, selected, found, found, found > 0)


def test_the_most_promising_features_are_tried_together_as_many_as_near_problems_selected():
    X, y = words()
    near = [
        selecting("one", [str(j) for j in range(4)]),
        selecting("two", ["0", "1", *(f"not here {j}" for j in range(6))]),
        selecting("three", ["5", "not here 7", "not here 8"]),
    ]
    prior = expect(near, [str(j) for j in range(300)])
    assert prior.size == 5 == (4 + 8 + 3) / 3
    promises = promise(*own_evidence(X, y), prior.expected)
    climb = Climb(random_state=0).fit(X, y, prior=prior)
    step, features, _ = climb.candidates_[0]
    assert step == 1 and features == tuple(sorted(np.argsort(-promises)[:5].tolist()))


def test_where_nobody_knows_how_many_to_try_several_numbers_are_tried():
    X, y = words()
    climb = Climb(random_state=0).fit(X, y, prior=Prior(np.zeros(300), guides=True))
    order = np.argsort(-promise(*own_evidence(X, y), np.zeros(300)), kind="stable")
    tried = {step: features for step, features, _ in climb.candidates_[: len(DOUBLED)]}
    assert tried == {
        step: tuple(sorted(order[:size].tolist())) for step, size in enumerate(DOUBLED, start=1)
    }
    in_doubt = Climb(random_state=0).fit(
        X, y, prior=Prior(np.zeros(300), guides=True, doubtful=True)
    )
    assert in_doubt.candidates_[0][0] > len(DOUBLED), "a round of the published climb comes first"


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
def test_a_starts_features_are_tried_between_the_others_once_and_the_least_promising_first(
    seed, n_start
):
    X, y = words(n=80, n_features=90, n_good=10, seed=seed)
    evaluator = MIConfidence().bind(X, y)
    sets, order = comparing(X, y), np.random.default_rng(seed).permutation(90)
    sets.start([order[:n_start]] if n_start else [])
    at, spent = sets.best.features.tolist(), sets.spent
    doubted = [j for j in order[::-1].tolist() if j in at]
    guided = GuidedClimb(sets, order, np.random.default_rng(0), each_counts=False)
    for _ in range(2):
        outside = [j for j in order.tolist() if j not in at][:HEAD]
        at, tried = as_one_would_pass(
            lambda features: evaluator.of_set(sorted(features)), at, doubted, outside
        )
        doubted, spent = [], spent + tried
        guided.step()
        assert set(guided.at.features.tolist()) == at
        assert sets.spent == spent


def test_what_the_guard_has_left_behind_is_not_tried():
    X, y = words()
    sets = comparing(X, y)
    sets.start([np.arange(10)])
    guided = GuidedClimb(sets, np.arange(300), np.random.default_rng(0), each_counts=False)
    guided.at, before = Position(np.array([8, 9, 40]), 2.0), sets.left  # nothing will be better
    guided.step()
    assert before - sets.left == HEAD + 2 + 3


def test_where_size_has_no_price_what_tells_most_is_tried_together():
    X, y = words()

    class Unpriced:
        prices_size = False

        def __init__(self, evaluator):
            self.evaluator = evaluator

        def of_sets(self, base, edits):
            return self.evaluator.of_sets(base, edits)

        def of_each(self):
            return self.evaluator.of_each()

    class Measure:
        def bind(self, X, y):
            return Unpriced(MIConfidence(b=0.0).bind(X, y))

        def of_set(self, X, y, features):
            return MIConfidence(b=0.0).of_set(X, y, features)

    prior = expecting(300, range(24), starts=(np.array([298, 299]),))
    climb = Climb(Measure(), random_state=0, max_evaluations=10).fit(X, y, prior=prior)
    sizes = [len(features) for _, features, _ in climb.candidates_]
    assert sizes[: len(PREFIXES)] == [*PREFIXES]
    assert len(set(range(24)) & set(climb.candidates_[0][1])) > 8
    assert climb.candidates_[len(PREFIXES)][1][-2:] == (298, 299), "memory's start joins the rest"


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


def test_the_fitness_it_tells_is_that_of_the_set_it_tells():
    X, y = words()
    climb = Climb(max_evaluations=500, random_state=0).fit(X, y, prior=expecting(300, range(24)))
    measure = MIConfidence()
    assert climb.fitness_ == pytest.approx(
        measure.of_set(X, y, np.flatnonzero(climb.get_support())), abs=1e-12
    )
    for _, features, fitness in climb.candidates_:
        assert fitness == pytest.approx(measure.of_set(X, y, features), abs=1e-12)
