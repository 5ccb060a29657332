import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs.errors import UsageError
from metafs_metafeatures import Schedule, rand_search, search
from metafs_metafeatures.mufasa.extraction import seeded
from metafs_metafeatures.mufasa.walk import walk

from .extracting import Columns, separation, slow_filled, table


def slow_mufasa(generator, images, y, quality, budget, J, s, decay, rng, u0=None):
    """Algorithm 3, line by line."""
    q_best, F_best, u_best = -np.inf, None, None
    low, high = generator.bounds[:, 0], generator.bounds[:, 1]
    u = generator.nearest(rng.uniform(low, high)) if u0 is None else generator.nearest(u0)
    trace = []
    for j in range(1, J + 1):
        F = slow_filled(generator, u, budget, rng)
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
        slow_filled(Columns(), step.u, 5, rng)
    best = max(reversed(guesses), key=lambda step: step.quality)
    assert all(np.array_equal(step.u, best.u) for step in later)


def test_patience_begins_with_the_walk():
    images, y = table()
    found = search(
        Columns(), images, y, budget=5, n_guesses=8, patience=1, quality=lambda X, y: 0.0
    )
    assert len(found.history) == 8


def test_an_impossible_start_is_a_sentence():
    images, y = table()
    for start in ((1.0,), (np.nan, 1.0)):
        with pytest.raises(UsageError, match="start must be 2 numbers"):
            search(Columns(), images, y, budget=5, start=start)
