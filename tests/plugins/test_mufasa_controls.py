import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metafs.plugin.registry import Registry
from metafs_metafeatures import norm_infogain, rand_search
from metafs_metafeatures.mufasa.controls import prefix_within
from metafs_metafeatures.mufasa.extraction import seeded

from .extracting import Columns, separation, table


@given(st.lists(st.floats(0.1, 5), min_size=1, max_size=12), st.floats(0.1, 20))
def test_a_prefix_is_as_long_as_the_budget_pays_for(costs, budget):
    n = prefix_within(np.array(costs), budget)
    assert sum(costs[:n]) <= budget * (1 + 1e-9)
    assert n == len(costs) or sum(costs[: n + 1]) > budget * (1 - 1e-9)


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
