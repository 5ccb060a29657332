"""What a solved problem leaves to memory."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from metafs.stats.linear import fit_linear, weights_without
from metafs.stats.linear.fitting import INTERCEPT
from metafs.stats.linear.loss import class_loss


def rows(seed, n=30, p=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) + rng.normal(size=n), rng.random(n) < 0.25


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_weights_without_some_rows_are_those_of_ridge_regression_on_the_others(classes, sparse):
    X, y, apart = rows(0)
    y = (y > 0).astype(int) if classes else y
    table = csr_array(X) if sparse else X
    model = fit_linear(table, y, classes=classes)
    ready = model.preparation
    Z = ready(table)
    Z = (Z.toarray() if sparse else Z)[~apart]
    Z = (Z - Z.mean(axis=0)) * np.sqrt(ready.variance)
    t = (2.0 * y - 1 if classes else y)[~apart]
    if classes:  # the intercept is a column of its own
        level = np.sqrt(INTERCEPT * np.mean((Z**2).sum(axis=1)))
        Z = np.column_stack([Z, np.full(len(Z), level)])
    ridge = model.regularisation * np.eye(Z.shape[1])
    slow = np.linalg.solve(Z.T @ Z + ridge, Z.T @ (t - t.mean()))[:50] * np.sqrt(ready.variance)
    slow *= 2 if classes else 1  # weak logistic regression is twice ridge regression
    found = weights_without(model, table, y, apart)
    np.testing.assert_allclose(found[0], slow, atol=1e-8 * abs(slow).max() + 1e-12)


def test_labels_of_rows_set_apart_change_nothing():
    X, y, apart = rows(1)
    model = fit_linear(X, y, classes=False)
    other = np.where(apart, -y, y)
    np.testing.assert_array_equal(
        weights_without(model, X, y, apart), weights_without(model, X, other, apart)
    )


def test_without_a_class_there_are_no_weights():
    X, y, _ = rows(2)
    y = (y > 0).astype(int)
    assert weights_without(fit_linear(X, y, classes=True), X, y, y == 1) is None


def test_the_loss_of_weighted_rows_is_that_of_repeated_ones():
    rng = np.random.default_rng(3)
    decision, codes = rng.normal(size=(12, 1)), np.arange(12) % 2
    times = rng.integers(1, 4, 12)
    unit = decision / decision.std()
    loss, _ = class_loss(unit, codes, weight=times.astype(float))
    losses = [
        np.average(np.logaddexp(0, -(2 * codes - 1) * slope * unit[:, 0]), weights=times)
        for slope in np.concatenate([[0.0], np.geomspace(0.05, 20.0, 20)])
    ]
    assert abs(np.average(loss, weights=times) - min(losses)) < 1e-12
