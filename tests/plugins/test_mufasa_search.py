import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs.errors import ProblemError, UsageError
from metafs.registry import Registry
from metafs_metafeatures import (
    AndOrGenerator,
    Schedule,
    SVMAccuracy,
    norm_infogain,
    rand_search,
    search,
)
from metafs_metafeatures.mufasa.controls import prefix_within
from metafs_metafeatures.mufasa.extraction import MISSES, filled, seeded
from metafs_metafeatures.mufasa.walk import walk


@dataclass(frozen=True)
class Columns:
    """A generator without any of the extras: feature (j, serial) is a noisy column of a table.

    Two meta-features: the column j, 0 to 9, and a dial that changes nothing.
    """

    broken: tuple[int, ...] = ()
    meta_feature_names = ("column", "dial")
    bounds = np.array([[0.0, 9.0], [0.0, 1.0]])

    def nearest(self, u):
        low, high = self.bounds.T
        return np.clip([np.rint(u[0]), np.round(u[1], 1)], low, high)

    def sample(self, u, rng):
        return int(u[0]), int(rng.integers(50))

    def meta_features(self, f):
        return np.array([f[0], 0.5])

    def measure(self, f, images):
        if f[0] in self.broken:
            raise ValueError(f"the sensor of column {f[0]} is off")
        noise = np.random.default_rng(f).normal(size=len(images))
        return images[:, f[0]] + noise

    def cost(self, f):
        return 1.0 + f[0] % 2


def table(seed=0, n=60):
    """Column j of ten tells the class by j / 5, so that the right end of the table is best."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.outer(y, np.arange(10) / 5) + 0.3 * rng.normal(size=(n, 10)), y


def separation(X, y):
    """A quality that costs nothing to compute: how far apart the class means are."""
    return float(np.abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)).sum())


def slow_filled(generator, u, budget, rng, failed):
    features, left, misses = [], budget, 0
    while left > 0 and misses < MISSES:
        feature = generator.sample(u, rng)
        if feature in features or feature in failed or generator.cost(feature) > left:
            misses += 1
            continue
        features.append(feature)
        left -= generator.cost(feature)
        misses = 0
    return features


def slow_mufasa(generator, images, y, quality, budget, J, s, decay, rng, u0=None):
    """Algorithm 3, line by line."""
    q_best, F_best, u_best = -np.inf, None, None
    low, high = generator.bounds[:, 0], generator.bounds[:, 1]
    u = generator.nearest(rng.uniform(low, high)) if u0 is None else generator.nearest(u0)
    trace = []
    for j in range(1, J + 1):
        F = slow_filled(generator, u, budget, rng, ())
        q = quality(np.column_stack([generator.measure(f, images) for f in F]), y) if F else -np.inf
        trace.append((tuple(u), len(F), q))
        if q >= q_best:
            F_best, u_best, q_best = F, u, q
        if j == J:
            break
        noise = rng.normal(size=len(low))
        u = np.array(
            [
                u_best[r] + noise[r] * (s * decay ** (j - 1) * (high[r] - low[r]))
                for r in range(len(low))
            ]
        )
        u = generator.nearest(u)
    return F_best, u_best, q_best, trace


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**31 - 1),
    st.integers(1, 12),
    st.sampled_from([1.0, 2.5, 7.0, 20.0]),
    st.floats(0.01, 1.0),
    st.sampled_from([1.0, 0.8]),
    st.sampled_from([None, (4.0, 0.5)]),
)
def test_the_walk_is_the_published_one(seed, J, budget, step, decay, start):
    images, y = table()
    F, u, q, trace = slow_mufasa(
        Columns(), images, y, separation, budget, J, step, decay, seeded(seed), start
    )

    def run():
        return search(
            Columns(),
            images,
            y,
            budget=budget,
            n_steps=J,
            quality=separation,
            step=step,
            decay=decay,
            start=start,
            random_state=seed,
        )

    if not F:  # every point was too dear
        with pytest.raises(UsageError, match="the budget of 1 is below the cheapest feature drawn"):
            run()
        return
    found = run()
    assert [(tuple(s.u), s.n_features, s.quality) for s in found.history] == trace
    assert found.features == tuple(F) and found.quality == q
    np.testing.assert_array_equal(found.u, u)
    assert found.cost == sum(Columns().cost(f) for f in F) <= budget
    assert found.stopped == f"took {J} steps"


def test_of_equals_the_later_is_taken():
    """The accept rule is >=, so that a plateau is walked and not stood on."""
    space = Columns()
    found = walk(space, lambda u, rng: [float(u[0])], lambda F: 0.0, Schedule(n_steps=9), seeded(0))
    assert found.features == (found.history[-1].u[0],)
    points = {tuple(step.u) for step in found.history}
    assert len(points) > 3


def test_a_walk_goes_where_the_sets_are_best():
    images, y = table()
    for seed in range(5):
        found = search(
            Columns(), images, y, budget=8, quality=separation, step=0.2, random_state=seed
        )
        everywhere = rand_search(
            Columns(), images, y, budget=8, quality=separation, random_state=seed
        )
        assert found.u[0] >= 8
        assert found.quality > everywhere.quality
        assert found.quality == max(step.quality for step in found.history)


def test_patience_restarts_and_limits_end_a_walk():
    images, y = table()

    def run(**settings):
        return search(
            Columns(), images, y, budget=6, quality=lambda X, y: 0.5, random_state=0, **settings
        )

    patient = run(patience=4)
    assert len(patient.history) == 5 and patient.stopped == "no better set in 4 steps"
    again = run(patience=4, restarts=2)
    assert [step.start for step in again.history] == [0] * 5 + [1] * 5 + [2] * 5
    assert again.stopped == "no better set in 4 steps from the last of 3 starting points"
    limited = run(restarts=3, max_evaluations=60)
    assert len(limited.history) == 60 and "budget of 60 evaluations" in limited.stopped
    assert {step.start for step in limited.history} == {0, 1}
    hurried = run(max_seconds=1e-9)
    assert len(hurried.history) == 1 and hurried.stopped == "time is up"


def test_restarts_keep_the_best_of_all():
    images, y = table()
    found = search(
        Columns(),
        images,
        y,
        budget=4,
        n_steps=3,
        restarts=6,
        quality=separation,
        step=0.01,
        random_state=1,
    )
    assert found.quality == max(step.quality for step in found.history)
    assert len({tuple(step.u) for step in found.history}) > 4


def test_each_meta_feature_may_have_noise_of_its_own():
    images, y = table()
    settings = {"budget": 4, "quality": lambda X, y: 0.0, "n_steps": 30, "random_state": 0}
    history = search(Columns(), images, y, step=(1e-9, 0.3), **settings).history
    column, dial = np.array([step.u for step in history]).T
    assert np.ptp(column) == 0 and np.ptp(dial) > 0.3
    same = search(Columns(), images, y, step=(0.3, 0.3), **settings).history
    for one, other in zip(
        same, search(Columns(), images, y, step=0.3, **settings).history, strict=True
    ):
        np.testing.assert_array_equal(one.u, other.u)
    with pytest.raises(UsageError, match="one for each of 2 meta-features"):
        search(Columns(), images, y, step=(0.1, 0.2, 0.3), **settings)


def test_decay_shortens_the_steps():
    images, y = table()

    def longest(decay, since):
        steps = search(
            Columns(),
            images,
            y,
            budget=4,
            quality=lambda X, y: 0.0,
            decay=decay,
            step=0.3,
            n_steps=30,
            random_state=0,
        ).history
        u = np.array([step.u[0] for step in steps[since:]])
        return np.abs(np.diff(u)).max()

    assert longest(1.0, 15) > 2 > longest(0.7, 15)


def test_a_feature_that_cannot_be_measured_is_named_and_the_rest_goes_on():
    images, y = table()
    generator = Columns(broken=(3, 9))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = search(generator, images, y, budget=8, quality=separation, step=0.4, random_state=0)
        ranked = norm_infogain(generator, images, y, budget=8, random_state=0)
    assert {f[0] for f in found.failed} <= {3, 9} and found.failed
    assert not {f[0] for f in (*found.features, *ranked.features)} & {3, 9}
    assert ranked.features and set(ranked.failed)
    assert any(
        str(warning.message).startswith(f"{next(iter(found.failed))!r} cannot be measured")
        and "sensor of column" in str(warning.message)
        for warning in told
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nothing = Columns(broken=tuple(range(10)))
        for method in (search, rand_search, norm_infogain):
            with pytest.raises(ProblemError, match="could be measured"):
                method(nothing, images, y, budget=8, random_state=0)


@pytest.mark.parametrize("method", [search, rand_search, norm_infogain])
@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda column: np.where(np.arange(60) == 7, np.nan, column), "missing or infinite"),
        (lambda column: column[1:], r"shape \(59,\) for 60 instances"),
    ],
)
def test_values_that_are_none_are_named_and_left_out(method, spoil, why):
    class Spoilt(Columns):
        def measure(self, f, images):
            column = super().measure(f, images)
            return spoil(column) if f[0] == 9 else column

    images, y = table()
    with pytest.warns(UserWarning, match=why):
        found = method(Spoilt(), images, y, budget=20, random_state=0)
    assert found.features and found.failed
    assert {f[0] for f in found.failed} == {9}
    assert 9 not in {f[0] for f in found.features}


def test_a_budget_is_not_refused_for_a_cost_that_no_meta_feature_tells():
    images = np.random.default_rng(0).random((40, 12, 12))
    y = (images[:, 5, 5] > 0.5).astype(int)
    generator = AndOrGenerator((12, 12), meta_feature_names=("x", "y"), fixed={"scatter": 2})
    found = search(generator, images, y, budget=1, n_steps=20, random_state=0)
    assert found.cost == 1


@given(st.integers(0, 2**31 - 1), st.integers(1, 6), st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_guesses_are_even_and_the_walk_goes_on_from_the_best(seed, n_guesses, n_steps):
    """With noise of next to nothing every later point is the best guess, rounded."""
    images, y = table()
    found = search(
        Columns(),
        images,
        y,
        budget=5,
        n_steps=n_steps,
        n_guesses=n_guesses,
        step=1e-9,
        quality=separation,
        random_state=seed,
    )
    assert len(found.history) == n_steps
    guesses, later = found.history[:n_guesses], found.history[n_guesses:]
    rng, points = seeded(seed), []
    for step in guesses:
        points.append(Columns().nearest(rng.uniform(*Columns.bounds.T)))
        np.testing.assert_array_equal(step.u, points[-1])
        slow_filled(Columns(), step.u, 5, rng, ())
    best = max(reversed(guesses), key=lambda step: step.quality)
    assert all(np.array_equal(step.u, best.u) for step in later)


def test_patience_begins_with_the_walk():
    images, y = table()
    found = search(
        Columns(), images, y, budget=5, n_guesses=8, patience=1, quality=lambda X, y: 0.0
    )
    assert len(found.history) == 8


def test_a_budget_below_the_cheapest_feature_is_a_sentence():
    images, y = table()
    for method in (search, rand_search, norm_infogain):
        with pytest.raises(UsageError, match=r"budget of 0.5 is below .* costs 1: give"):
            method(Columns(), images, y, budget=0.5)
        with pytest.raises(UsageError, match="budget must be more than 0"):
            method(Columns(), images, y, budget=0)


def test_points_too_dear_for_the_budget_are_left_again():
    """Of the 64 shifts of an 8 x 8 square none is affordable for 3; the walk goes on from there."""
    images = np.random.default_rng(0).random((40, 12, 12))
    y = (images[:, 5, 5] > 0.5).astype(int)
    found = search(
        AndOrGenerator((12, 12)),
        images,
        y,
        budget=3,
        start=(4, 50, 8, 2),
        n_steps=60,
        step=0.3,
        random_state=0,
    )
    assert found.history[0].quality == -np.inf and found.history[0].n_features == 0
    assert found.features and found.cost <= 3


@given(st.lists(st.floats(0.1, 5), min_size=1, max_size=12), st.floats(0.1, 20))
def test_a_prefix_is_as_long_as_the_budget_pays_for(costs, budget):
    n = prefix_within(np.array(costs), budget)
    assert sum(costs[:n]) <= budget * (1 + 1e-9)
    assert n == len(costs) or sum(costs[: n + 1]) > budget * (1 - 1e-9)


@given(st.lists(st.integers(1, 6), max_size=30), st.integers(1, 30))
def test_a_set_is_filled_until_nothing_fits(draws, budget):
    taken = filled(iter([*draws, *[99] * MISSES]), float, budget)
    assert len(set(taken)) == len(taken) and sum(taken) <= budget
    left = budget
    for value in dict.fromkeys(draws):
        if value in taken:
            left -= value
    assert all(value in taken or value > left for value in draws)


def test_norm_infogain_takes_the_most_bits_for_their_cost():
    images, y = table(n=200)
    found = norm_infogain(Columns(), images, y, budget=12, factor=20, random_state=0)
    rng, pool = seeded(0), []
    low, high = Columns.bounds.T
    while sum(map(Columns().cost, pool)) < 240 - 1:
        feature = Columns().sample(Columns().nearest(rng.uniform(low, high)), rng)
        if feature not in pool and sum(map(Columns().cost, [*pool, feature])) <= 240:
            pool.append(feature)
    gain = Registry().measures["infogain"]
    worth = {f: gain(Columns().measure(f, images)[:, None], y)[0] / Columns().cost(f) for f in pool}
    order = sorted(pool, key=lambda f: -worth[f])
    expected = []
    for feature in order:
        if sum(map(Columns().cost, [*expected, feature])) > 12:
            break
        expected.append(feature)
    assert found.features == tuple(expected) and found.cost <= 12
    plain = norm_infogain(
        Columns(), images, y, budget=12, factor=20, normalise=False, random_state=0
    )
    assert plain.quality >= found.quality


def test_norm_infogain_draws_for_fifty_times_the_budget():
    images, y = table()

    class Cheap(Columns):
        def cost(self, f):
            return 1.0

    found = norm_infogain(Cheap(), images, y, budget=3, random_state=0)
    assert found.stopped == "ranked 150 features"


def test_rand_search_draws_from_everywhere_and_keeps_the_best():
    images, y = table()
    found = rand_search(Columns(), images, y, budget=30, quality=separation, random_state=0)
    assert found.u is None and len(found.history) == 50
    assert found.quality == max(step.quality for step in found.history)
    assert len({f[0] for f in found.features}) >= 5
    one = rand_search(Columns(), images, y, budget=30, n_steps=1, random_state=0)
    assert len(one.history) == 1 and one.stopped == "tried 1 random sets"


def test_any_set_measure_serves_as_quality():
    images, y = table()
    margin = Registry().measures["margin"]
    found = search(Columns(), images, y, budget=6, n_steps=5, quality=margin, random_state=0)
    X = np.column_stack([Columns().measure(f, images) for f in found.features])
    assert np.isclose(found.quality, margin.of_set(X, y, np.arange(X.shape[1])))
    with pytest.raises(UsageError, match="quality is 7"):
        search(Columns(), images, y, budget=6, quality=7)


@pytest.mark.parametrize("method", [search, rand_search])
def test_the_quality_of_a_set_is_by_default_the_accuracy_on_values_as_they_are(method):
    images, y = table()
    images[:, ::2] *= 30.0

    def qualities(quality):
        found = method(Columns(), images, y, budget=20, n_steps=9, quality=quality, random_state=0)
        return [step.quality for step in found.history]

    as_they_are, standardised = (SVMAccuracy(standardise=each).of_table for each in (False, True))
    assert qualities(None) == qualities(as_they_are) != qualities(standardised)


def test_an_impossible_start_is_a_sentence():
    images, y = table()
    for start in ((1.0,), (np.nan, 1.0)):
        with pytest.raises(UsageError, match="start must be 2 numbers"):
            search(Columns(), images, y, budget=5, start=start)
