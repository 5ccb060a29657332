from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from metafs_climb import nearby_logistic as module
from metafs_climb.nearby_logistic import Descent
from metafs_climb.newton_logistic import decisions

from .logistic_problems import made, rows_of

BASE = np.arange(0, 14, 2)


def by_newton(rows, features):
    """Fit one set from nothing, row by row."""
    X = rows.tables.problem.X[:, features]
    return decisions(X, rows.n_in, rows.n_one, rows.C, rows.scaled)


def descending(rows, base, edits):
    """Return the set that is solved, and the sets that differ from it on their way."""
    solved = rows._solved(base, None)
    return solved, Descent(solved, rows._edits(solved, np.array(edits)))


def columns_of(rows, solved, edit):
    """Return columns and penalties of an edited set, as they are scaled in the descent."""
    stays = [0, *(1 + np.flatnonzero(~np.isin(solved.features, edit)))]
    A, D = solved.A[:, stays], solved.D[:, stays]
    joins = np.setdiff1d(edit, solved.features).tolist()
    if joins:
        a, d = rows._design(joins)
        A, D = np.hstack([A, a[:, 1:]]), np.hstack([D, d[:, 1:]])
    return A, D


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["words", "numbers"]),
    st.lists(st.integers(0, 13), min_size=1, max_size=6, unique=True),
)
def test_the_first_direction_is_newtons_with_the_hessian_of_the_solved_set(seed, kind, edit):
    rows = rows_of(*made(seed, kind=kind))
    solved, descent = descending(rows, BASE, [edit])
    A, D = columns_of(rows, solved, edit)
    for fold in range(5):
        H = A.T @ (solved.weights[fold][:, None] * A) + np.diag(D[fold])
        z = descent.decided[fold, 0]
        w = np.linalg.lstsq(A, z, rcond=None)[0]
        G = A.T @ (rows.n_in[fold] / (1 + np.exp(-z)) - rows.n_one[fold]) + D[fold] * w
        step = np.linalg.solve(H, G)
        np.testing.assert_allclose(descent._Sz[fold, 0], A @ step, atol=1e-7)
        np.testing.assert_allclose(descent._squared[fold, 0], G @ step, atol=1e-7)


@pytest.mark.parametrize("kind", ["words", "numbers"])
@pytest.mark.parametrize("edit", [[10], [3], [3, 10], [8, 9, 12, 13]])
def test_descents_come_to_the_minimum(kind, edit):
    rows = rows_of(*made(1, kind=kind))
    _, descent = descending(rows, np.arange(10), [edit])
    for _ in range(200):
        if descent.settled.all():
            break
        descent.go_on()
    features = np.setxor1d(np.arange(10), edit)
    np.testing.assert_allclose(descent.decided[:, 0], by_newton(rows, features), atol=1e-7)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["words", "numbers"]))
def test_decisions_are_never_further_from_the_minimum_than_the_bound(seed, kind):
    rows = rows_of(*made(seed, kind=kind))
    edits = [[2, 11], [4, 6], [1, 13]]
    ends = [by_newton(rows, np.setxor1d(BASE, edit)) for edit in edits]
    _, descent = descending(rows, BASE, edits)
    used = 0
    for _ in range(25):
        for fold, place in np.argwhere(descent.assured):
            used += 1
            away = np.abs(descent.decided[fold, place] - ends[place][fold])
            bound = descent.to_go[fold, place] * descent.reach[fold, place]
            assert np.all(away <= bound + 1e-7)
        descent.go_on()
    assert used > 50


def test_where_numbers_have_broken_down_nothing_is_ever_settled():
    rows = rows_of(*made(3))
    solved = rows._solved(np.arange(6), None)
    edits = rows._edits(solved, np.array([[7]]))
    for broken in (np.full_like(edits.P, np.nan), -1e6 * np.abs(edits.P)):
        descent = Descent(solved, replace(edits, P=broken))
        for _ in range(3):
            assert not descent.assured.any() and not descent.settled.any()
            descent.go_on()


def test_sets_that_go_on_alone_come_to_the_same_place():
    _, together = descending(rows_of(*made(4)), BASE, [[1], [2], [3], [4]])
    together.go_on()
    together.keep(np.array([False, True, False, True]))
    _, alone = descending(rows_of(*made(4)), BASE, [[2], [4]])
    alone.go_on()
    for _ in range(5):
        together.go_on()
        alone.go_on()
    np.testing.assert_allclose(together.decided, alone.decided, atol=1e-9)
    np.testing.assert_allclose(together.w, alone.w, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["words", "numbers"]))
def test_no_more_curvature_is_left_than_in_the_least_curved_direction(seed, kind):
    rows = rows_of(*made(seed, kind=kind))
    edits = [[1, 3], [4, 8], [3, 8]]
    solved, descent = descending(rows, BASE, edits)
    found = 0
    for _ in range(3):
        left = descent._curvature_left()
        for place, edit in enumerate(edits):
            A, D = columns_of(rows, solved, edit)
            for fold in range(5):
                before = A.T @ (solved.weights[fold][:, None] * A) + np.diag(D[fold])
                now = A.T @ (descent._weights[fold, place][:, None] * A) + np.diag(D[fold])
                least = eigh(now, before, eigvals_only=True)[0]
                assert left[fold, place] <= least + 1e-9
                found += left[fold, place] > 0.1
        descent.go_on()
    assert found  # it says something


def test_the_bound_accounts_for_lost_curvature():
    rows = rows_of(*made(5))
    _, descent = descending(rows, BASE, [[1], [4]])
    left = descent._curvature_left()
    bound = np.exp(module.LITTLE) * np.sqrt(descent._squared) / left
    np.testing.assert_allclose(descent.to_go, bound)
    assert np.all(left < 1)
