"""Laws of distances between problems."""

import pickle
from itertools import permutations
from math import sqrt
from typing import Any

import numpy as np

from metafs.plugin.signature import Signature, jensen_shannon
from metafs.testing.data import NAMES, planted_problem

ROUNDING = 1e-6  # the divergence is rounded to 12 decimals, so its root to 6


def _signatures(distance: Any) -> list[Signature]:
    return [distance.signature(planted_problem(seed)) for seed in range(4)]


def check_a_signature_is_a_distribution(distance: Any) -> None:
    """A problem becomes a distribution over distinct keys, the same each time."""
    for seed in range(3):
        one, again = (distance.signature(planted_problem(seed)) for _ in range(2))
        assert isinstance(one, Signature)
        np.testing.assert_array_equal(one.keys, again.keys)
        np.testing.assert_array_equal(one.p, again.p)


def check_column_order_changes_nothing(distance: Any) -> None:
    """The order of the columns does not matter."""
    problem = planted_problem()
    turned = problem.columns(list(reversed(NAMES)))
    assert distance.distance(distance.signature(problem), distance.signature(turned)) <= ROUNDING


def check_it_is_a_metric(distance: Any) -> None:
    """Zero from itself, symmetric, within [0, 1], and no detour is shorter."""
    signatures = _signatures(distance)
    for a, b, c in permutations(signatures, 3):
        assert 0.0 <= distance.distance(a, b) <= 1.0
        assert distance.distance(a, a) <= ROUNDING
        assert abs(distance.distance(a, b) - distance.distance(b, a)) <= ROUNDING
        detour = distance.distance(a, c) + distance.distance(c, b)
        assert distance.distance(a, b) <= detour + ROUNDING


def check_sql_finds_the_same(distance: Any) -> None:
    """A distance that lets the MetaDB search for it is the root Jensen-Shannon divergence."""
    assert isinstance(distance.in_sql, bool)
    if distance.in_sql:
        a, b, *_ = _signatures(distance)
        assert abs(distance.distance(a, b) - sqrt(jensen_shannon(a, b))) <= ROUNDING


def check_pickles(distance: Any) -> None:
    """It survives pickling."""
    a, b, *_ = _signatures(distance)
    assert pickle.loads(pickle.dumps(distance)).distance(a, b) == distance.distance(a, b)


CHECKS = (
    check_a_signature_is_a_distribution,
    check_column_order_changes_nothing,
    check_it_is_a_metric,
    check_sql_finds_the_same,
    check_pickles,
)
