"""The means and intervals of an experiment, against plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs.experiment import speedup
from metafs.experiment.comparing import mean_interval, problem_means, running_mean
from metafs.pipeline.fitting.selection import evaluations_to

CANDIDATES = st.lists(
    st.tuples(st.integers(1, 50), st.just(()), st.sampled_from([0.1, 0.2, 0.3, 0.4])), max_size=6
)


@given(CANDIDATES, st.sampled_from([0.1, 0.25, 0.4]))
def test_evaluations_to_the_target(candidates, target):
    found, reached = evaluations_to(target, candidates, 60)
    steps = sorted(step for step, _, fitness in candidates if fitness >= target)
    assert (found, reached) == ((steps[0], True) if steps else (60, False))
    assert evaluations_to(2.0, candidates, 0) == (1, False)


SPENT = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 1000), st.integers(1, 1000)),
    min_size=1,
    max_size=20,
)


@settings(deadline=None, max_examples=8)
@given(SPENT, st.randoms())
def test_means_are_those_of_plain_loops(spent, random):
    problem, base, ours = np.array(spent).T
    found = speedup(base, ours, problem)
    logs, plain, slower = [], [], []
    for one in sorted(set(problem.tolist())):
        ratios = [b / o for p, b, o in spent if p == one]
        logs.append(sum(map(np.log, ratios)) / len(ratios))
        plain.append(sum(ratios) / len(ratios))
        slower.append(sum(each < 1 for each in ratios) / len(ratios))
    assert found.geometric_mean == pytest.approx(np.exp(np.mean(logs)))
    assert found.arithmetic_mean == pytest.approx(np.mean(plain))
    assert found.negative_transfer == pytest.approx(np.mean(slower))
    assert found.geometric_mean <= found.arithmetic_mean * (1 + 1e-12)
    low, high = found.geometric_mean_interval
    assert np.exp(min(logs)) <= low * (1 + 1e-9) and high <= np.exp(max(logs)) * (1 + 1e-9)
    assert low <= high
    turned = speedup(ours, base, problem)
    assert turned.geometric_mean == pytest.approx(1 / found.geometric_mean)
    random.shuffle(spent)
    problem, base, ours = np.array(spent).T
    assert speedup(base, ours, problem).geometric_mean_interval == pytest.approx((low, high))


def test_a_problem_counts_once_however_often_it_is_searched():
    base, ours, problem = np.array([8.0, 2.0]), np.array([1.0, 1.0]), np.array([0, 1])
    once = speedup(base, ours, problem)
    often = speedup(np.repeat(base, [9, 1]), np.ones(10), np.repeat(problem, [9, 1]))
    assert often.geometric_mean == pytest.approx(once.geometric_mean) == 4
    assert often.geometric_mean_interval == pytest.approx(once.geometric_mean_interval)


def test_the_interval_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        low, high = mean_interval(rng.normal(3.0, 1.0, size=60), n_resamples=200)
        covered += low <= 3.0 <= high
    assert 0.88 < covered / 200 <= 0.99
    narrow = mean_interval(rng.normal(size=60), level=0.5, n_resamples=300)
    wide = mean_interval(rng.normal(size=60), level=0.99, n_resamples=300)
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


@given(
    st.lists(st.one_of(st.floats(-9, 9), st.just(float("nan"))), min_size=1, max_size=15),
    st.sampled_from([1, 3, 5, 9]),
)
def test_running_mean(given_values, window):
    means = running_mean(np.array(given_values), window)
    for place, mean in enumerate(means):
        near = given_values[max(0, place - window // 2) : place + window // 2 + 1]
        near = [each for each in near if each == each]
        assert mean == pytest.approx(np.mean(near) if near else np.nan, nan_ok=True, abs=1e-9)


def test_problem_means():
    assert problem_means(np.array([1, 2, 6]), np.array([3, 3, 1])).tolist() == [6, 1.5]
