import numpy as np
import pytest

from metafs.errors import UsageError
from metafs_metafeatures.mf_pfs.elimination import eliminate_all_measured, evenly_down
from metafs_metafeatures.mf_pfs.measurers import CallableMeasurer, TableMeasurer
from metafs_metafeatures.mf_pfs.rfe_controls import rfe_all, rfe_small
from metafs_svm import SVMWeights

from .problems import described, spread


def test_rfe_all_goes_down_in_six_equal_steps():
    X, y, _, _ = described(n_features=100)
    sizes = evenly_down(100, 10, 6)
    assert sizes == [68, 46, 32, 22, 15, 10]
    left = list(range(100))
    for size in sizes:
        weights = SVMWeights()(X[:, left], y)
        left = sorted(left[i] for i in np.argsort(-weights)[:size])
    measurer = TableMeasurer(X)
    assert sorted(rfe_all(measurer, y, 10).tolist()) == left
    assert measurer.n_measured == 100
    assert rfe_all(TableMeasurer(X[:, :5]), y, 10).shape == (5,)


def test_rfe_small_measures_no_more_than_it_may():
    X, y, _, _ = described(n_features=300)
    measurer = TableMeasurer(X)
    kept = rfe_small(measurer, y, 10, 23, np.random.default_rng(0))
    assert len(set(kept.tolist())) == 10 and measurer.n_measured == 23
    np.testing.assert_array_equal(
        kept, rfe_small(TableMeasurer(X), y, 10, 23, np.random.default_rng(0))
    )
    with pytest.raises(UsageError, match="n_measured must be at least 1"):
        rfe_small(measurer, y, 10, 0, np.random.default_rng(0))


def test_controls_leave_out_what_fails():
    X, y, _, _ = described(n_features=12)
    measurer = CallableMeasurer(lambda j: X[:, j] if j else 1 / 0, n_features=12)
    assert 0 not in rfe_all(measurer, y, 12).tolist()
    order, n_evaluations = eliminate_all_measured(measurer, y, [6, 3], quality=spread)
    assert order[0] == 0 and n_evaluations == 11 + 6
    assert order[-1] == np.argmax(np.where(np.arange(12) == 0, 0, spread(X, y)))
