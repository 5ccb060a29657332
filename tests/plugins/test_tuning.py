"""Limits of meta-features, tuned by what the features within them are worth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs.errors import UsageError
from metafs_metafeatures.gp_prior import GPPriorClassifier, accuracy_within, tune_limits
from metafs_metafeatures.gp_prior.covariance import Gaussian

from .problems import described


def slow(U, quality, n_values, rounds=3):
    """The search, limit by limit, without remembering anything."""
    limits = [[min(column), max(column)] for column in U.T]

    def worth(limits):
        inside = np.array(
            [all(a <= u <= b for u, (a, b) in zip(row, limits, strict=True)) for row in U]
        )
        return (quality(inside), -inside.sum()) if inside.any() else (-np.inf, 0)

    for _ in range(rounds):
        before = [list(each) for each in limits]
        for r in range(U.shape[1]):
            values = sorted(set(U[:, r].tolist()))
            n = min(n_values + 1, len(values))
            picked = [values[round(i * (len(values) - 1) / max(n - 1, 1))] for i in range(n)]
            for side in (1, 0):
                for value in picked:
                    changed = [list(each) for each in limits]
                    changed[r][side] = value
                    if changed[r][0] <= changed[r][1] and worth(changed) > worth(limits):
                        limits = changed
        if limits == before:
            break
    return limits


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), st.integers(1, 3), st.sampled_from([2, 4]))
def test_the_search_is_coordinate_wise(seed, k, n_values):
    rng = np.random.default_rng(seed)
    U = rng.integers(0, 6, (30, k)).astype(float)
    gain = rng.normal(size=30)

    def quality(support):
        return float(gain[support].sum())

    found = tune_limits(U, quality, n_values=n_values)
    assert found.limits.tolist() == slow(U, quality, n_values)
    assert found.quality == quality(found.support)
    assert found.quality >= quality(np.ones(30, bool))
    assert max(q for *_, q in found.tried) == found.quality


def test_the_kind_of_useful_features_is_found():
    X, y, U, use = described(seed=1)
    quality = accuracy_within(X, y, U, GPPriorClassifier(Gaussian(0.3), C=0.01, random_state=0))
    found = tune_limits(U, quality, n_values=6, max_rounds=1)
    assert 0.3 < found.limits[0, 0] < found.limits[0, 1] <= 1.0
    assert use[found.support].mean() > use.mean()
    assert found.quality >= quality(np.ones(len(U), bool))


def test_unknown_meta_features_keep_nothing_out_and_wrong_ones_are_a_sentence():
    U = np.array([[1.0], [2.0], [np.nan]])
    assert tune_limits(U, lambda support: -float(support[1])).support.tolist() == [
        True,
        False,
        True,
    ]
    with pytest.raises(UsageError):
        tune_limits(np.zeros((3, 0)), lambda support: 0.0)
    with pytest.raises(UsageError):
        tune_limits(U, lambda support: 0.0, n_values=0)
