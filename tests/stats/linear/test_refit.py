"""A model on few columns, against a slow one, and with labels against a reference that is wrong."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from metafs.stats.linear import fit_linear, refitted
from metafs.stats.linear.refit import REGULARISATION


def rows_of(n, seed, n_columns=12):
    return np.random.default_rng(seed).normal(size=(n, n_columns))


def slow(table, targets, n_labelled):
    """Minimise what the module says, for one output."""
    unit = np.mean(np.sum(table**2, axis=1))

    def objective(u):
        f = table @ u[:-1] + u[-1]
        loss = np.logaddexp(0, f) - targets * f
        return loss.sum() + REGULARISATION / 8 * unit * u[:-1] @ u[:-1]

    return minimize(objective, np.zeros(table.shape[1] + 1), tol=1e-12).x


@pytest.mark.parametrize("sparse", [False, True])
def test_few_columns_are_fitted_to_labels_and_to_the_reference_where_there_are_none(sparse):
    X, more = rows_of(20, 0), rows_of(60, 1)
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    table = csr_array if sparse else np.asarray
    reference = fit_linear(table(X), y, classes=True, X_unlabelled=table(more))
    columns = np.array([1, 0, 5])
    found = refitted(reference, table(X), y, columns, X_unlabelled=table(more))
    prepared = reference.preparation(np.vstack([X, more]))[:, columns]
    said = reference.predict_proba(table(more))[:, 1]
    expected = slow(prepared, np.concatenate([y, said]), 20)
    np.testing.assert_allclose(found.coef[0], expected[:-1], atol=1e-3)
    np.testing.assert_allclose(found.intercept[0], expected[-1], atol=1e-3)
    np.testing.assert_array_equal(
        found.predict(table(more[:, columns])),
        (found.decision_function(table(more[:, columns]))[:, 0] > 0).astype(int),
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_have_their_say(n_classes):
    X = rows_of(400, 0)
    y = np.digitize(X[:, 0], [0.0] if n_classes == 2 else [-0.5, 0.5])
    wrong = fit_linear(X[:60], np.random.default_rng(3).permutation(y[:60]), classes=True)
    found = refitted(wrong, X, y, np.arange(3), X_unlabelled=rows_of(50, 2))
    X_test = rows_of(300, 4)
    truth = np.digitize(X_test[:, 0], [0.0] if n_classes == 2 else [-0.5, 0.5])
    right = [np.mean(m == truth) for m in (wrong.predict(X_test), found.predict(X_test[:, :3]))]
    assert right[1] > right[0] + 0.2


def test_weights_count_rows_and_numbers_are_predicted():
    X = rows_of(40, 0)
    f = X[:, 0] - 2 * X[:, 3]
    model = fit_linear(X, f, classes=False)
    columns = np.array([0, 3])
    found = refitted(model, X, f, columns, X_unlabelled=rows_of(200, 1))
    X_test = rows_of(200, 2)
    error = found.predict(X_test[:, columns]) - (X_test[:, 0] - 2 * X_test[:, 3])
    assert np.mean(error**2) < 0.05
    weight = np.repeat([1.0, 3.0], 20)
    weighted = refitted(model, X, f, columns, sample_weight=weight)
    repeated = refitted(
        model, np.repeat(X, weight.astype(int), axis=0), np.repeat(f, weight.astype(int)), columns
    )
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=0.05)
