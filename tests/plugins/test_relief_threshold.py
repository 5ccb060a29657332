"""Relief's threshold: the features above it, and how seldom it keeps an irrelevant one."""

import numpy as np
import pytest

from metafs.errors import UsageError
from metafs_margin.relief import Relief


def planted(seed, n=400, n_noise=40):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.uniform(size=(n, 1 + n_noise))
    X[:, 0] = 0.9 * y + 0.1 * X[:, 0]
    return X, y


def test_the_chosen_features_are_those_above_tau():
    X, y = planted(0)
    scores = Relief().fit(X, y).scores_
    tau = float(np.sort(scores)[-4])
    chosen = Relief(threshold=tau).fit(X, y)
    assert chosen.get_support().tolist() == [score > tau for score in scores]
    assert chosen.get_support().sum() == 3
    none = Relief(threshold=1e9).fit(X, y)
    assert none.get_support().tolist() == (scores == max(scores)).tolist()
    assert "so the best is kept" in none.stopped_ and "kept" not in chosen.stopped_


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_by_chebyshev_hardly_any_irrelevant_feature_is_kept(alpha):
    kept = []
    for seed in range(10):
        X, y = planted(seed)
        found = Relief(threshold="auto", alpha=alpha).fit(X, y)
        t = np.ptp(X, axis=0) ** 2 * np.sqrt(400 / alpha)
        np.testing.assert_allclose(found.threshold_, t)
        assert found.get_support()[0]
        kept.append(found.get_support()[1:].mean())
    assert np.mean(kept) <= alpha / 5  # Chebyshev's inequality is far from tight


def test_the_unit_of_a_feature_does_not_decide():
    X, y = planted(1)
    order = np.array([3, 0, 1, 2, *range(4, 41)])
    there = Relief(threshold="auto").fit(X[:, order], y).get_support()
    assert np.flatnonzero(there).tolist() == [1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": "some"},
        {"threshold": np.inf},
        {"alpha": 1.5},
        {"threshold": 1.0, "n_features_to_select": 2},
    ],
)
def test_wrong_thresholds_are_a_sentence(wrong):
    with pytest.raises(UsageError):
        Relief(**wrong).fit(*planted(0))
