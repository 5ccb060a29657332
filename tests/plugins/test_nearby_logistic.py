import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from metafs_climb import CVAccuracy, fold_scores
from metafs_climb import nearby_logistic as module
from metafs_climb.fold_tables import FoldTables, as_problem
from metafs_climb.nearby_logistic import LogisticRows, bordered, without
from metafs_climb.newton_logistic import TIE, decisions


def made(seed, n=60, n_features=14, kind="words"):
    """A table of words, or of numbers, with classes that some columns tell of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    if kind == "words":
        X = (X > 0.5).astype(float)
    y = (X[:, :4].sum(axis=1) + rng.normal(0, 0.5, n) > np.median(X[:, :4].sum(axis=1))).astype(int)
    y[:2] = 0, 1
    return X, y


def rows_of(X, y, C=1.0, scaled=True):
    return LogisticRows(FoldTables(as_problem(X, y, {}), 5, 0), C, scaled)


def by_newton(rows, features):
    """Fit one set from nothing, row by row."""
    X = rows.tables.problem.X[:, features]
    return decisions(X, rows.n_in, rows.n_one, rows.C, rows.scaled)


def sides(rows, found):
    """Return on which side each test row lies, in the fold that tests it."""
    return (found > TIE)[rows.n_in == 0]


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["words", "numbers"]),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.booleans(),
    st.lists(st.integers(0, 13), min_size=1, max_size=8, unique=True),
)
def test_no_test_row_is_on_another_side_than_by_newtons_method(seed, kind, C, scaled, edit):
    rows = rows_of(*made(seed, kind=kind), C, scaled)
    base = np.arange(0, 14, 2)
    features = np.setxor1d(base, edit)
    if len(features):
        found = rows.decisions(base, features)
        assert found is not None
        np.testing.assert_array_equal(sides(rows, found), sides(rows, by_newton(rows, features)))


@pytest.mark.parametrize("kind", ["words", "numbers"])
def test_chords_alone_come_to_the_same_minimum(monkeypatch, kind):
    monkeypatch.setattr(module, "LITTLE", 0.0)  # so that the bound is never used
    monkeypatch.setattr(module, "MAX_CHORDS", 10_000)
    rows = rows_of(*made(1, kind=kind))
    base = np.arange(10)
    for features in ([*range(11)], [*range(1, 10)], [0, 1, 2, 3, 4, 5, 12, 13]):
        found = rows.decisions(base, np.array(features))
        np.testing.assert_allclose(found, by_newton(rows, features), atol=1e-8)


def test_the_bound_on_what_is_left_to_go_holds_at_every_chord():
    """At each step, decisions are no further from the minimum than the bound says."""
    rows = rows_of(*made(3))
    base, features = np.arange(10), np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 11])
    end = by_newton(rows, features)
    start = rows._solved(base, None)
    A, D, w, M, reach = rows._moved(start, features)
    used = 0
    for _ in range(30):
        decided = w @ A.T
        g = (rows.n_in / (1 + np.exp(-decided)) - rows.n_one) @ A + D * w
        step = (M @ g[:, :, None])[:, :, 0]
        delta = np.abs(decided - start.decided).max(axis=1)
        left = np.exp(delta + module.LITTLE) * np.sqrt((g * step).sum(axis=1))
        bound = left[:, None] * reach
        if bound.max() < module.LITTLE:
            used += 1
            assert np.all(np.abs(decided - end) <= bound + 1e-9)
        w = w - step
    assert used > 3


@pytest.mark.parametrize("sparse", [False, True])
def test_a_walk_of_the_wrapper_is_worth_the_same_either_way(monkeypatch, sparse):
    X, y = made(5, n=80, n_features=30)
    X = csr_array(X) if sparse else X
    rng = np.random.default_rng(0)
    walk = [rng.choice(30, rng.integers(1, 5), replace=False) for _ in range(60)]

    def worths(few):
        monkeypatch.setattr(fold_scores, "FEW", few)
        evaluator, at, found = CVAccuracy().bind(X, y), np.arange(15), []
        for number, edit in enumerate(walk):
            found.append(evaluator.of_sets(at, edit[None])[0])
            at = np.setxor1d(at, edit) if number % 7 == 0 else at
        return found

    assert worths(few=2) == worths(few=10**9)


def test_columns_that_are_constant_or_far_from_zero_change_nothing():
    X, y = made(7, kind="numbers")
    X[:, 3] = 5.0
    X[:, 4] = 1e6 + 1e-3 * X[:, 4]
    rows = rows_of(X, y)
    base = np.array([0, 1, 2, 3])
    for features in ([0, 1, 2, 3, 4], [0, 1, 2], [0, 3, 4]):
        found = rows.decisions(base, np.array(features))
        np.testing.assert_array_equal(sides(rows, found), sides(rows, by_newton(rows, features)))


def test_where_chords_are_slow_newtons_method_takes_over(monkeypatch):
    monkeypatch.setattr(module, "MAX_CHORDS", 0)
    rows = rows_of(*made(9))
    features = np.arange(1, 11)
    found = rows.decisions(np.arange(10), features)
    np.testing.assert_allclose(found, by_newton(rows, features), atol=1e-8)
    assert rows._base.features.tolist() == list(range(10))  # the search still stands there


def test_where_no_minimum_is_found_scikit_learn_is_asked(monkeypatch):
    monkeypatch.setattr(fold_scores, "FEW", 2)
    monkeypatch.setattr(module, "minimum", lambda A, D, n_in, n_one, w: np.full_like(w, np.nan))
    X, y = made(11)
    by_newton = CVAccuracy().bind(X, y).of_set([0, 1])
    evaluator = CVAccuracy().bind(X, y)
    assert evaluator.scores.near(np.arange(4), np.arange(5)) is None
    assert evaluator.of_sets([0, 1], np.array([[2]]))[0] >= by_newton - 0.2


def test_a_far_set_is_solved_anew_and_remembered():
    rows = rows_of(*made(13, n_features=30))
    far = np.arange(15, 30)
    found = rows.decisions(np.arange(15), far)
    np.testing.assert_allclose(found, by_newton(rows, far), atol=1e-6)
    assert rows._base.features.tolist() == far.tolist()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_inverses_follow_columns_that_leave_or_join(seed, k):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(2, 7, 9))
    H = roots @ np.swapaxes(roots, 1, 2) + np.eye(7)
    M = np.linalg.inv(H)
    places = rng.choice(7, k, replace=False).tolist()
    kept = np.setdiff1d(np.arange(7), places)
    np.testing.assert_allclose(without(M, places), np.linalg.inv(H[:, kept][:, :, kept]), rtol=1e-6)
    first, last = np.arange(7 - k), np.arange(7 - k, 7)
    grown = bordered(
        np.linalg.inv(H[:, first][:, :, first]), H[:, first][:, :, last], H[:, last][:, :, last]
    )
    np.testing.assert_allclose(grown, M, rtol=1e-6, atol=1e-9)


def test_only_what_our_method_recognises_is_fitted_so():
    X, y = made(15)
    evaluator = CVAccuracy(learner=LogisticRegression(class_weight="balanced")).bind(X, y)
    assert evaluator.scores.near(np.arange(20), np.arange(21)) is None
