import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs_climb import solved_set as module
from metafs_climb.newton_logistic import hessian, minimum
from metafs_climb.solved_set import Hessian, minimum_near, solve

from .logistic_problems import made, rows_of

FEATURES = np.arange(12)


def columns(seed, kind="words", C=1.0):
    """Return A, D, n_in and n_one of a problem with many features for its rows."""
    rows = rows_of(*made(seed, kind=kind), C)
    return *rows._design(FEATURES.tolist()), rows.n_in, rows.n_one


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["words", "numbers"]),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.sampled_from([0.0, 0.1, 3.0]),
)
def test_from_wherever_it_begins_it_ends_where_newtons_method_does(seed, kind, C, away):
    A, D, n_in, n_one = columns(seed, kind, C)
    expected = minimum(A, D, n_in, n_one, np.zeros_like(D))
    begun = expected + away * np.random.default_rng(seed).normal(size=D.shape)
    w, _ = minimum_near(A, D, n_in, n_one, begun)
    np.testing.assert_allclose(w @ A.T, expected @ A.T, atol=1e-7)


def test_the_hessian_is_taken_seldom(monkeypatch):
    A, D, n_in, n_one = columns(1)
    taken = []
    of = Hessian.of
    monkeypatch.setattr(Hessian, "of", lambda *given: taken.append(0) or of(*given))
    w = minimum(A, D, n_in, n_one, np.zeros_like(D))
    minimum_near(A, D, n_in, n_one, w + 1e-3)
    assert len(taken) == 1


def test_the_inverse_is_one():
    A, D, n_in, _ = columns(2)
    weights = n_in * np.random.default_rng(0).uniform(0.01, 0.25, n_in.shape)
    for M, H in zip(Hessian.of(A, D, weights).M, hessian(A, D, weights), strict=True):
        np.testing.assert_allclose(M @ H, np.eye(len(H)), atol=1e-9)


def test_what_is_not_positive_definite_is_refused(monkeypatch):
    A, D, n_in, n_one = columns(3)
    with pytest.raises(np.linalg.LinAlgError):
        Hessian.of(A, D, np.zeros_like(n_in))  # nothing holds the intercept
    far = np.zeros_like(D)
    far[:, 0] = 1e4
    assert minimum_near(A, D, n_in, n_one, far) is None
    assert solve(FEATURES, A, D, n_in, n_one, far) is None
    monkeypatch.setattr(module, "MANY", 0)
    assert solve(FEATURES, A, D, n_in, n_one, far) is None


@pytest.mark.parametrize(("away", "kept"), [(1e-3, True), (3.0, False)])
def test_a_hessian_from_nearby_is_kept_and_one_from_afar_is_not(monkeypatch, away, kept):
    monkeypatch.setattr(module, "SLOWLY", 1.0)
    monkeypatch.setattr(module, "MANY", 0)
    A, D, n_in, n_one = columns(4)
    w = minimum(A, D, n_in, n_one, np.zeros_like(D))
    solved = solve(FEATURES, A, D, n_in, n_one, w + away)
    assert (solved.near is not None) == kept
    at_minimum = Hessian.of(A, D, n_in * (p := 1 / (1 + np.exp(-solved.decided))) * (1 - p))
    close = np.abs(solved.hessian.weights - at_minimum.weights).max()
    assert close < 1e-2 if kept else close == pytest.approx(0, abs=1e-12)
