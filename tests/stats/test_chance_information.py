"""Information by chance: the mean over all ways to deal the classes, as it is defined."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

from metafs.stats.chance_information import ChanceInformation


def bits(groups, y):
    return mutual_info_score(groups, y) / np.log(2)


@pytest.mark.parametrize("groups", [[0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 5], [0] * 6, [0, 0, 1] * 2])
def test_it_is_the_mean_over_all_permutations(groups):
    y = [0, 0, 0, 1, 1, 2]
    mean = np.mean([bits(groups, dealt) for dealt in permutations(y)])
    by_chance = ChanceInformation(np.bincount(y))
    assert by_chance.of(np.bincount(groups)) == pytest.approx(mean, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 400), st.integers(1, 30), st.integers(2, 4), st.integers(0, 9))
def test_it_is_scikit_learns_sum_over_cells(n, n_groups, n_classes, seed):
    rng = np.random.default_rng(seed)
    groups, y = rng.integers(0, n_groups, n), rng.integers(0, n_classes, n)
    table = contingency_matrix(groups, y).astype(np.int64)
    theirs = expected_mutual_information(table, n) / np.log(2)
    ours = ChanceInformation(np.bincount(y)).of(table.sum(axis=1))
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_many_rows_are_counted_as_few():
    """What is left out of the tails matters nothing, with 20,000 rows as well."""
    rng = np.random.default_rng(0)
    groups, y = rng.integers(0, 64, 20_000), rng.random(20_000) < 0.3
    table = contingency_matrix(groups, y).astype(np.int64)
    theirs = expected_mutual_information(table, 20_000) / np.log(2)
    by_chance = ChanceInformation(np.bincount(y))
    assert by_chance.of(table.sum(axis=1)) == pytest.approx(theirs, rel=1e-6)  # theirs rounds
    # (r - 1)(s - 1) / 2N nats, as is well known
    assert by_chance.of(table.sum(axis=1)) == pytest.approx(63 / 40_000 / np.log(2), rel=0.05)
