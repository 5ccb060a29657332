"""Blends: sets drawn at several of the best points of a walk."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs.errors import UsageError
from metafs_metafeatures import Schedule, search
from metafs_metafeatures.mufasa.blend import APART, SIZES, best_apart
from metafs_metafeatures.mufasa.extraction import Extraction, seeded
from metafs_metafeatures.mufasa.walk import walk


@dataclass(frozen=True)
class Columns:
    """Feature (j, serial) is a noisy copy of column j, which is the only meta-feature."""

    dear: int = 3
    meta_feature_names = ("column",)
    bounds = np.array([[0.0, 9.0]])

    def nearest(self, u):
        return np.clip(np.rint(u), 0, 9)

    def sample(self, u, rng):
        return int(u[0]), int(rng.integers(1000))

    def meta_features(self, f):
        return np.array([f[0]])

    def measure(self, f, images):
        return images[:, f[0]] + 0.3 * np.random.default_rng(f).normal(size=len(images))

    def cost(self, f):
        return 1.0 if f[0] < 5 else self.dear


def four_classes():
    """Column 1 tells one half of the class and column 8 the other, so that no point tells both."""
    a, b = np.divmod(np.arange(80) % 4, 2)
    images = np.random.default_rng(0).normal(size=(80, 10))
    images[:, 1], images[:, 8] = a, b
    return images, 2 * a + b


def test_a_blend_finds_what_no_single_point_can():
    images, y = four_classes()
    for seed in range(5):
        settings = {"budget": 40, "n_steps": 40, "n_guesses": 15, "step": 0.3, "random_state": seed}
        single = search(Columns(), images, y, **settings)
        blend = search(Columns(), images, y, n_blends=10, **settings)
        assert single.u.shape == (1,) and single.quality < 0.7
        assert blend.quality > 0.9 and {1, 8} <= set(blend.u[:, 0])
        assert len(blend.history) == len(single.history) == 40
        assert blend.cost <= 40 and len(set(blend.features)) == len(blend.features)


@given(st.integers(0, 2**31 - 1), st.integers(2, 20), st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_blends_follow_the_walk_and_leave_it_as_it_is(seed, n_walked, n_blends):
    """The steps before them are those of a shorter walk, and no blend's point is a new one."""
    space = Columns()

    def quality(features):
        return float(np.sin(5 * features[0]))

    def walked(**steps):
        return walk(space, lambda u, rng: [u.mean()], quality, Schedule(**steps), seeded(seed))

    short, long = walked(n_steps=n_walked), walked(n_steps=n_walked + n_blends, n_blends=n_blends)
    before, after = long.history[:n_walked], long.history[n_walked:]
    assert [(*step.u, step.quality) for step in before] == [
        (*step.u, step.quality) for step in short.history
    ]
    assert len(after) == n_blends
    visited = {tuple(step.u) for step in before}
    for step, wanted in zip(after, SIZES * n_blends, strict=False):
        points = np.atleast_2d(step.u)
        assert len(points) <= wanted and {tuple(u) for u in points} <= visited
    assert long.quality == max(step.quality for step in long.history) >= short.quality


points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=30)


@given(points, st.data(), st.integers(1, 6))
def test_points_of_a_blend_are_the_best_that_lie_apart(visited, data, n_points):
    values = st.sampled_from([-np.inf, 0.1, 0.2, 0.5, 0.9])
    qualities = data.draw(st.lists(values, min_size=len(visited), max_size=len(visited)))
    tried, ranges = list(zip(visited, qualities, strict=True)), np.array([6.0, 3.0])
    found = [tuple(u) for u in best_apart(tried, n_points, ranges)]
    mean = {u: np.mean([q for v, q in tried if v == u]) for u in visited}

    def near(u, v):
        return (np.abs(np.subtract(u, v)) / ranges).max() < APART

    assert len(found) == len(set(found)) <= n_points
    assert [mean[u] for u in found] == sorted((mean[u] for u in found), reverse=True)
    for u in set(visited) - set(found):
        passed_over = any(near(u, v) and mean[v] >= mean[u] for v in found)
        too_late = len(found) == n_points and mean[u] <= mean[found[-1]]
        assert passed_over or too_late or mean[u] == -np.inf


def test_a_meta_feature_without_range_keeps_no_points_apart():
    tried = [([0.0, 5.0], 0.9), ([0.1, 5.0], 0.8), ([1.0, 5.0], 0.1)]
    assert best_apart(tried, 3, np.array([1.0, 0.0])).tolist() == [[0.0, 5.0], [1.0, 5.0]]
    assert best_apart([([], 0.5), ([], 0.7)], 3, np.zeros(0)).shape == (1, 0)
    assert len(best_apart([([1.0], -np.inf)], 3, np.ones(1))) == 0


def test_each_point_of_a_blend_has_an_equal_part_of_the_budget():
    images, y = four_classes()
    work = Extraction(Columns(dear=3), images, y, 24, None)
    columns = [j for j, _ in work.draw(np.array([[2.0], [7.0]]), seeded(0))]
    assert columns == [2] * 12 + [7] * 4
    # What a point is too dear for goes to the next.
    beggar = Extraction(Columns(dear=10), images, y, 18, None)
    assert [j for j, _ in beggar.draw(np.array([[7.0], [2.0]]), seeded(0))] == [2] * 18


def test_limits_hold_for_blends_too():
    images, y = four_classes()

    def run(**limits):
        return search(
            Columns(), images, y, budget=10, n_steps=12, n_blends=6, random_state=0, **limits
        )

    limited = run(max_evaluations=9)
    assert len(limited.history) == 9 and "budget of 9 evaluations" in limited.stopped
    assert limited.history[-1].u.ndim == 2 and run().stopped == "took 12 steps"
    assert len(run(max_evaluations=3).history) == 3
    assert len(run(restarts=1).history) == 6 + 6 + 6
    for wrong in (-1, 12, 40):
        with pytest.raises(UsageError, match="n_blends must be"):
            Schedule(n_steps=12, n_blends=wrong)
