"""Mufasa's further ways: annealing, and selecting singly among features of the best kind."""

import numpy as np
import pytest

from metafs.errors import UsageError
from metafs_metafeatures import Schedule, search, search_then_select
from metafs_metafeatures.mufasa.extraction import seeded
from metafs_metafeatures.mufasa.singly import dropped_to
from metafs_metafeatures.mufasa.walk import walk

from .extracting import Columns, separation, table


class Line:
    """The points 0 to 100, with a small peak at 20 and the highest at 80."""

    bounds = np.array([[0.0, 100.0]])

    def nearest(self, u):
        return np.clip(np.round(u), 0, 100)


def height(u):
    return max(0.6 - abs(u - 20) / 40, 1.0 - abs(u - 80) / 40, 0.0)


def slow_annealing(J, temperature, step, rng):
    """The walk with acceptance, line by line."""
    line = Line()
    u = line.nearest(rng.uniform([0.0], [100.0]))
    best, there = -np.inf, -np.inf
    trace = []
    for j in range(J):
        q = height(float(u[0]))
        trace.append((float(u[0]), q))
        best = max(best, q)
        heat = temperature * (1 - j / J)
        if q >= there or rng.random() < np.exp((q - there) / heat):
            here, there = u, q
        if j < J - 1:
            u = line.nearest(here + rng.normal(size=1) * step * 100)
    return best, trace


@pytest.mark.parametrize("temperature", [0.05, 0.5])
def test_annealing_is_its_definition(temperature):
    for seed in range(10):
        schedule = Schedule(30, 0.05, temperature=temperature)
        found = walk(Line(), lambda u, rng: u, lambda u: height(u[0]), schedule, seeded(seed))
        best, trace = slow_annealing(30, temperature, 0.05, seeded(seed))
        assert found.quality == best
        assert [(float(step.u[0]), step.quality) for step in found.history] == trace


def test_annealing_leaves_local_maxima():
    found = {}
    for temperature in (0.0, 0.2):
        schedule = Schedule(200, 0.04, temperature=temperature)
        walks = [
            walk(Line(), lambda u, rng: u, lambda u: height(u[0]), schedule, seeded(seed), [20.0])
            for seed in range(20)
        ]
        found[temperature] = np.mean([each.quality > 0.6 for each in walks])
    assert found[0.2] >= found[0.0] + 0.2


def test_impossible_temperatures_are_a_sentence():
    with pytest.raises(UsageError):
        Schedule(temperature=-1.0)


def slow_drop(X, y, costs, budget, weigh, n_steps=4):
    """Drop the weakest one by one until each limit holds."""
    left = list(range(X.shape[1]))
    ratio = (budget / max(sum(costs), budget)) ** (1 / n_steps)
    for k in range(1, n_steps + 1):
        limit = max(sum(costs), budget) * ratio**k
        worth = dict(zip(left, weigh(X[:, left], y) / costs[left], strict=True))
        while sum(costs[j] for j in left) > limit * (1 + 1e-9):
            left.remove(min(left, key=lambda j: (worth[j], -j)))
    return left


def test_features_are_dropped_until_the_budget_pays():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 12)) + np.linspace(0, 2, 12) * y[:, None]
    for costs in (np.ones(12), np.full(12, 2.5)):
        found = dropped_to(
            X, y, costs, 8.0, lambda X, y: np.abs(X[y == 1].mean(0) - X[y == 0].mean(0))
        )
        expected = slow_drop(
            X, y, costs, 8.0, lambda X, y: np.abs(X[y == 1].mean(0) - X[y == 0].mean(0))
        )
        assert found.tolist() == expected
        assert costs[found].sum() <= 8.0


def test_selecting_singly_stays_within_the_budget_and_repeats():
    images, y = table()
    searching = {"budget": 7.0, "n_steps": 8, "quality": separation, "random_state": 3}
    rough = search(Columns(), images, y, **searching)
    found, again = (search_then_select(Columns(), images, y, factor=3, **searching) for _ in "ab")
    assert found.features == again.features
    assert found.cost <= 7.0
    assert [step.quality for step in found.history] == [step.quality for step in rough.history]
    assert "singly" in found.stopped
