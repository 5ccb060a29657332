import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from metafs_climb import Climb, CVAccuracy, fold_scores, nearby_logistic, newton_logistic
from metafs_climb import logistic_rows as module
from metafs_climb.newton_logistic import TIE, decisions

from .logistic_problems import made, odd, rows_of


def by_newton(rows, features):
    """Return on which side each row lies in the fold that tests it, fitted from nothing."""
    X = rows.tables.problem.X[:, features]
    found = decisions(X, rows.n_in, rows.n_one, rows.C, rows.scaled)
    return (found > TIE).T[rows.n_in.T == 0]


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["words", "numbers"]),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.booleans(),
    st.integers(1, 5),
)
def test_sets_near_the_one_that_is_solved_decide_as_by_newtons_method(seed, kind, C, scaled, k):
    rows = rows_of(*made(seed, kind=kind), C, scaled)
    rng = np.random.default_rng(seed)
    edits = np.array([rng.choice(14, k, replace=False) for _ in range(6)])
    base = np.arange(0, 14, 2)
    found = rows.decisions_near(base, edits)
    for edit, decided in zip(edits, found, strict=True):
        if not np.isnan(decided).any():
            expected = by_newton(rows, np.setxor1d(base, edit))
            np.testing.assert_array_equal(decided > TIE, expected)
    assert C > 1 or not np.isnan(found).any()  # weights that are hardly held have a long way


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1e-4, 0.01, 1.0, 100.0, 1e4]),
    st.booleans(),
    st.integers(1, 4),
)
def test_of_odd_columns_nothing_wrong_is_certain(seed, C, scaled, k):
    rows, rng = rows_of(*odd(seed), C, scaled), np.random.default_rng(seed)
    base = np.sort(rng.choice(16, rng.integers(3, 10), replace=False))
    edits = np.array([rng.choice(16, k, replace=False) for _ in range(5)])
    edits = edits[[len(np.setxor1d(base, edit)) > 0 for edit in edits]]
    found = rows.decisions_near(base, edits)
    for edit, decided in zip(edits, () if found is None else found, strict=found is not None):
        X = rows.tables.problem.X[:, np.setxor1d(base, edit)]
        expected = decisions(X, rows.n_in, rows.n_one, C, scaled).T[rows.n_in.T == 0]
        clear = np.abs(expected) > 1e-5  # NaN, where Newton's method fails too, is not
        certain = clear & np.isfinite(decided)
        np.testing.assert_array_equal(decided[certain] > TIE, expected[certain] > TIE)


def test_many_at_once_decide_as_one_at_a_time():
    rows = rows_of(*made(2))
    edits = np.arange(14)[:, None]
    together = rows.decisions_near(np.arange(7), edits)
    alone = [rows.decisions_near(np.arange(7), edit[None])[0] for edit in edits]
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_array_equal(one > TIE, other > TIE)


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


@pytest.mark.parametrize("together", [1, 600, 10**6])
def test_a_climb_is_the_same_however_many_sets_are_scored_together(monkeypatch, together):
    X, y = made(6, n=80, n_features=24, kind="numbers")
    monkeypatch.setattr(fold_scores, "FEW", 2)
    climb = Climb(CVAccuracy(), max_evaluations=300, random_state=0)
    expected = climb.fit(X, y).candidates_
    monkeypatch.setattr(fold_scores, "TOGETHER", together)
    assert climb.fit(X, y).candidates_ == expected


def test_columns_that_are_constant_or_far_from_zero_change_nothing():
    X, y = made(7, kind="numbers")
    X[:, 3] = 5.0
    X[:, 4] = 1e6 + 1e-3 * X[:, 4]
    rows = rows_of(X, y)
    base = np.array([0, 1, 2, 3])
    for edit in ([4], [3], [1, 2, 4]):
        found = rows.decisions_near(base, np.array([edit]))[0]
        np.testing.assert_array_equal(found > TIE, by_newton(rows, np.setxor1d(base, edit)))


def test_where_the_way_is_too_long_newtons_method_takes_over(monkeypatch):
    X, y = made(9, n_features=24)
    monkeypatch.setattr(fold_scores, "FEW", 2)
    edits = np.arange(24)[:, None]
    expected = CVAccuracy().bind(X, y).of_sets(np.arange(10), edits)
    monkeypatch.setattr(
        module.LogisticRows, "_certain", lambda self, at: np.full((at.w.shape[1], len(y)), np.nan)
    )
    assert np.isnan(rows_of(X, y).decisions_near(np.arange(10), edits)).all()
    np.testing.assert_array_equal(CVAccuracy().bind(X, y).of_sets(np.arange(10), edits), expected)


def test_where_no_minimum_is_found_scikit_learn_is_asked(monkeypatch):
    monkeypatch.setattr(fold_scores, "FEW", 2)
    monkeypatch.setattr(module, "minimum", lambda A, D, *given: np.full_like(D, np.nan))
    X, y = made(11)
    evaluator = CVAccuracy().bind(X, y)
    assert evaluator.scores.of_set(np.arange(5)) is None
    assert evaluator.scores.near(np.arange(4), np.array([[4]])) is None
    by_newton = CVAccuracy().bind(X, y).of_set([0, 1])
    assert evaluator.of_sets([0, 1], np.array([[2]]))[0] >= by_newton - 0.2


def test_where_the_hessian_is_singular_each_set_is_solved_by_itself(monkeypatch):
    X, y = made(12, n_features=24)
    monkeypatch.setattr(fold_scores, "FEW", 2)
    edits = np.arange(24)[:, None]
    expected = CVAccuracy().bind(X, y).of_sets(np.arange(10), edits)

    def singular(A, D, weights):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(nearby_logistic, "hessian", singular)
    evaluator = CVAccuracy().bind(X, y)
    assert evaluator.scores.near(np.arange(10), edits) is None
    np.testing.assert_array_equal(evaluator.of_sets(np.arange(10), edits), expected)


def test_a_set_that_was_tried_is_solved_from_its_weights():
    rows = rows_of(*made(13, n_features=30))
    base, edits = np.arange(5, 15), np.array([[20], [7], [2]])
    rows.decisions_near(base, edits)
    for edit in edits:
        features = np.setxor1d(base, edit)
        w = rows._tried.weights(features)
        A = rows._solved(features, None).A
        solved = rows_of(*made(13, n_features=30))._solved(features, None)
        np.testing.assert_allclose(w @ A.T, solved.decided, atol=0.25)
    assert rows._tried.weights(base) is None
    assert rows._tried.weights(np.setxor1d(base, [21])) is None


def test_solving_begins_with_all_rows_or_where_a_part_of_the_set_was_solved(monkeypatch):
    begun = []

    def minimum(A, D, n_in, n_one, w):
        if len(w) > 1:  # not the weights of all rows
            begun.append(w.copy())
        return newton_logistic.minimum(A, D, n_in, n_one, w)

    monkeypatch.setattr(module, "minimum", minimum)
    rows = rows_of(*made(14, n_features=30))
    rows.decisions(np.arange(8))
    part = rows._base.w
    # From the weights of all rows the folds have a third of the way to go, or less.
    assert np.abs(part - begun[0]).max() < np.abs(part).max() / 3
    rows.decisions(np.arange(4, 20))
    np.testing.assert_array_equal(begun[1][:, 1:5], part[:, 5:9])
    rows.decisions(np.arange(8))
    np.testing.assert_array_equal(rows._base.w, part)
    assert len(begun) == 2  # what was solved is not solved again


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["words", "numbers"]), st.integers(0, 14))
def test_a_hopeless_set_is_fitted_no_further_than_it_matters(seed, kind, n_wrong):
    X, y = made(seed, n_features=24, kind=kind)
    scores = CVAccuracy().bind(X, y).scores
    base, edits = np.arange(0, 20, 2), np.arange(24)[:, None]
    exact, every = scores.near(base, edits)
    assert every.all()
    above = 1 - n_wrong / len(y)
    found, certain = scores.near(base, edits, above)
    np.testing.assert_array_equal(found[certain], exact[certain])
    assert np.all(found[~certain] >= exact[~certain])
    assert np.all(found[~certain].mean(axis=1) <= above + 1e-12)
    assert certain[exact.mean(axis=1) > above + 1e-12].all()


def test_abandoning_saves_steps(monkeypatch):
    X, y = made(3, n=120, n_features=30)
    monkeypatch.setattr(fold_scores, "FEW", 2)
    steps = []
    go_on = module.Descent.go_on
    monkeypatch.setattr(
        module.Descent, "go_on", lambda self: steps.append(self.w.shape[1]) or go_on(self)
    )
    base, edits = np.arange(8), np.arange(30)[:, None]
    evaluator = CVAccuracy().bind(X, y)
    fitness = evaluator.of_set(base)
    abandoned = evaluator.of_sets(base, edits, above=fitness)
    taken, steps[:] = sum(steps), []
    exact = evaluator.of_sets(base, edits)  # also of those that were abandoned
    better = exact > fitness
    assert better.any() and not better.all()
    best = [np.maximum.accumulate(np.maximum(each, fitness)) for each in (abandoned, exact)]
    np.testing.assert_allclose(*best, rtol=0, atol=1e-12)
    fresh = CVAccuracy().bind(X, y)
    steps[:] = []
    np.testing.assert_array_equal(fresh.of_sets(base, edits), exact)
    assert taken < sum(steps)


def test_only_what_our_method_recognises_is_fitted_so():
    X, y = made(15, n_features=30)
    evaluator = CVAccuracy(learner=LogisticRegression(class_weight="balanced")).bind(X, y)
    assert not evaluator.scores.by_rows(np.arange(20))
    assert CVAccuracy().bind(X, y).scores.by_rows(np.arange(20))
    X[0, 3] = np.nan
    assert not CVAccuracy().bind(X, y).scores.by_rows(np.arange(20))
    assert CVAccuracy().bind(X, y).scores.by_rows(np.arange(4, 24))
