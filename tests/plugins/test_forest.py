import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from metafs.errors import UsageError
from metafs_regressors import Forest

from .problems import planted


def test_the_variance_is_that_of_the_mixture_of_leaves():
    X, y = planted(80)
    ours = Forest(8, random_state=0).fit(X, y)
    peer = RandomForestRegressor(8, min_samples_leaf=5, random_state=0).fit(X.astype("f4"), y)
    prediction, std = ours.predict(X[:5], return_std=True)
    np.testing.assert_allclose(prediction, peer.predict(X[:5].astype("f4")))
    for x, s in zip(X[:5].astype("f4"), std, strict=True):
        members = []
        for tree, rows in zip(peer.estimators_, peer.estimators_samples_, strict=True):
            leaf = tree.apply(x[None])[0]
            inside = y[rows][tree.apply(X[rows].astype("f4")) == leaf]
            members.append((inside.mean(), inside.var()))
        means, variances = np.array(members).T
        expected = ours.calibration_ * np.sqrt(variances.mean() + means.var())
        np.testing.assert_allclose(s, expected)


def test_a_tree_sees_no_more_rows_than_it_may():
    X, y = planted(300)
    forest = Forest(5, max_rows=50, random_state=0).fit(X, y)
    assert {len(rows) for rows in forest.forest_.estimators_samples_} == {50}
    with pytest.raises(UsageError, match="max_rows"):
        Forest(max_rows=0).fit(X, y)


def test_threads_do_not_change_the_forest():
    X, y = planted(100)
    one, two = (Forest(10, random_state=3, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_allclose(one.predict(X, return_std=True), two.predict(X, return_std=True))
