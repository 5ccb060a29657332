"""Sample margins: the distance to where the nearest-neighbour rule says something else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from metafs.errors import UsageError
from metafs_margin.margin import Margin
from metafs_margin.sample_margin import sample_margins

from .margins import slow_margins


def rule(z, points, labels):
    return labels[np.argmin(((points - z) ** 2).sum(axis=1))]


def slow(X, y, i):
    """Each pair of polyhedra in turn, by a general solver of constrained problems."""
    points, labels = np.delete(X, i, axis=0), np.delete(y, i)
    if len({bool(each) for each in labels == y[i]}) < 2:
        return 0.0
    said = rule(X[i], points, labels) == y[i]
    own, others = points[(labels == y[i]) == said], points[(labels == y[i]) != said]
    best = np.inf
    for p in others:
        found = minimize(
            lambda z: ((z - X[i]) ** 2).sum(),
            p,
            jac=lambda z: 2 * (z - X[i]),
            constraints={
                "type": "ineq",
                "fun": lambda z, p=p: ((own - z) ** 2).sum(axis=1) - ((p - z) ** 2).sum(),
                "jac": lambda z, p=p: 2 * (p - own),
            },
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 300},
        )
        best = min(best, np.sqrt(found.fun))
    return best if said else -best


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), st.integers(5, 14), st.integers(1, 3))
def test_margins_are_distances_to_the_boundary(seed, n, k):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, k)), rng.integers(0, 2, n)
    expected = [slow(X, y, i) for i in range(n)]
    np.testing.assert_allclose(sample_margins(X, y, np.ones(k)), expected, rtol=1e-4, atol=1e-4)


def test_in_the_plane_no_nearer_point_has_another_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 2)), rng.integers(0, 3, 25)
    margins = sample_margins(X, y, np.ones(2))
    angles = np.linspace(0, 2 * np.pi, 720)
    around = np.column_stack([np.cos(angles), np.sin(angles)])
    for i in range(25):
        points, labels = np.delete(X, i, axis=0), np.delete(y, i)
        said = rule(X[i], points, labels) == y[i]
        inside = [rule(X[i] + 0.999 * abs(margins[i]) * a, points, labels) for a in around]
        beyond = [rule(X[i] + 1.01 * abs(margins[i]) * a, points, labels) for a in around]
        assert all((each == y[i]) == said for each in inside)
        assert any((each == y[i]) != said for each in beyond)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 999))
def test_the_hypothesis_margin_is_a_lower_bound(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 2, 20)
    w = rng.uniform(0, 2, 3)
    below = np.array(slow_margins(X, y, w))
    margins = Margin().of_samples(X, y, w, kind="sample")
    assert (np.abs(margins) >= np.abs(below) - 1e-9).all()
    assert (np.sign(margins) == np.sign(below)).all()


def test_the_order_of_samples_and_features_plays_no_part():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(15, 4)), rng.integers(0, 2, 15)
    there, rows, columns = sample_margins(X, y, np.ones(4)), rng.permutation(15), rng.permutation(4)
    np.testing.assert_allclose(sample_margins(X[rows], y[rows], np.ones(4)), there[rows], rtol=1e-6)
    np.testing.assert_allclose(sample_margins(X[:, columns], y, np.ones(4)), there, rtol=1e-6)


def test_odd_samples():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    wrong = sample_margins(X, np.array([0, 1, 0, 1]), np.ones(1))
    np.testing.assert_allclose(wrong, [-0.5] * 4)
    assert sample_margins(X, np.zeros(4, int), np.ones(1)).tolist() == [0, 0, 0, 0]
    assert sample_margins(X, np.array([0, 1, 1, 1]), np.ones(1))[0] == 0
    with pytest.raises(UsageError, match="hypothesis or sample"):
        Margin().of_samples(X, [0, 0, 1, 1], [1.0], kind="none")
