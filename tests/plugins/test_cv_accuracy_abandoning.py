"""Sets that cannot win are not fitted in every fold, and no decision of a search changes by it."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from metafs_climb import Climb, CVAccuracy
from metafs_climb.proposals import proposals

from .wrapping import made, tables, words


@settings(max_examples=20, deadline=None)
@given(tables, st.sampled_from([None, GaussianNB(), DecisionTreeClassifier(random_state=0)]))
def test_no_learner_exceeds_the_bound_of_a_fold(table, learner):
    X, y = made(*table)
    X = np.round(X)
    evaluator = CVAccuracy(learner, n_folds=3).bind(X, y)
    scores, features = evaluator.scores, np.arange(min(3, X.shape[1]))
    bounds = scores.bounds(scores.cells(evaluator._keys(features)))
    problem = scores.tables.problem
    for f, (_, test) in enumerate(scores.tables.folds):
        rows, cell = np.unique(problem.X[test][:, features], axis=0, return_inverse=True)
        ours = [problem.y[test][cell.ravel() == v] for v in range(len(rows))]
        assert bounds[f] * len(test) == pytest.approx(sum(np.bincount(c).max() for c in ours))
        assert scores.of_fold(features, f) <= bounds[f] + 1e-12


class Abandoning:
    """Cross-validated accuracy that passes the best fitness so far to its evaluator."""

    def __init__(self, measure):
        self.measure = measure
        self.of_set, self.__call__ = measure.of_set, measure

    def bind(self, X, y):
        evaluator, best = self.measure.bind(X, y), -np.inf

        class Told:
            of_each = evaluator.of_each

            def of_sets(self, base, edits):
                nonlocal best
                found = evaluator.of_sets(base, edits, above=best)
                best = max(best, found.max(initial=-np.inf))
                return found

        self.evaluator = evaluator
        return Told()


class Exact:
    """The same measure, which abandons nothing."""

    def __init__(self, measure):
        self.measure = measure
        self.of_set = measure.of_set

    def __call__(self, X, y):
        return self.measure(X, y)

    def bind(self, X, y):
        evaluator = self.measure.bind(X, y)

        class Deaf:
            of_each = staticmethod(evaluator.of_each)
            hints = staticmethod(evaluator.hints)
            prices_size = evaluator.prices_size

            def of_sets(self, base, edits):
                return evaluator.of_sets(base, edits)

        return Deaf()


class Counting(GaussianNB):
    """Naive Bayes that counts how often any of it is fitted."""

    fits = 0

    def fit(self, X, y):
        Counting.fits += 1
        return super().fit(X, y)


@settings(max_examples=15, deadline=None)
@given(
    tables,
    st.integers(0, 99),
    st.sampled_from([None, GaussianNB()]),
    st.booleans(),
    st.booleans(),
)
def test_abandoning_changes_no_decision_of_a_climb(table, seed, learner, aims, warm):
    X, y = made(*table)
    measure = CVAccuracy(learner, n_folds=3)
    target = measure.of_set(X, y, [0]) if aims else None
    prior = np.random.default_rng(seed).random(X.shape[1]) if warm else None
    # The best so far is the current set of a published climb; a warm one passes `above` itself.
    exact, *climbs = [
        Climb(each, max_evaluations=60, random_state=seed, target_score=target).fit(
            X, y, prior=prior
        )
        for each in (Exact(measure), measure, *([] if warm else [Abandoning(measure)]))
    ]
    for climb in climbs:
        assert climb.n_evaluations_ == exact.n_evaluations_
        assert climb.stopped_ == exact.stopped_
        if "the best feature is kept" in climb.stopped_:
            continue  # found by scores, which each of the two takes from elsewhere
        np.testing.assert_array_equal(climb.get_support(), exact.get_support())
        assert climb.fitness_ == exact.fitness_


@settings(max_examples=25, deadline=None)
@given(tables, st.integers(0, 99), st.floats(0, 1), st.sampled_from([None, GaussianNB()]))
def test_what_is_abandoned_can_win_neither_the_round_nor_its_first_place(
    table, seed, above, learner
):
    X, y = made(*table)
    n_features = X.shape[1]
    d = 1 + seed % 2
    edits = proposals(np.random.default_rng(seed), min(8, comb(n_features, d)), d, n_features)
    exact = CVAccuracy(learner, n_folds=3).bind(X, y).of_sets([0], edits)
    evaluator = CVAccuracy(learner, n_folds=3).bind(X, y)
    found = evaluator.of_sets([0], edits, above=above)
    same = np.isclose(found, exact, atol=1e-12)
    bar = above
    for i in range(len(edits)):
        assert same[i] or exact[i] < found[i] <= bar
        bar = max(bar, found[i])
    if exact.max() > above + 1e-12:
        assert np.argmax(np.round(found, 12)) == np.argmax(np.round(exact, 12))
        assert found.max() == exact.max()
    again = evaluator.of_sets([0], edits)
    np.testing.assert_array_equal(again, exact, err_msg="it goes on where it was")


def test_abandoning_saves_fits_and_sets_are_fitted_only_once():
    X, y = words(120, 30)
    edits = np.arange(30)[:, None]
    evaluator = CVAccuracy(Counting()).bind(X, y)
    Counting.fits = 0
    found = evaluator.of_sets([0, 1], edits, above=evaluator.of_set([0, 1, 2]))
    partial = Counting.fits
    assert partial < 0.8 * 5 * 30
    exact = evaluator.of_sets([0, 1], edits)
    assert Counting.fits == 5 * 30, "what was done before is not done again"
    assert (exact <= found + 1e-12).all()
    evaluator.of_sets([0, 1], edits)
    assert Counting.fits == 5 * 30


def test_hopeless_sets_are_not_fitted_at_all():
    X, y = words(120, 30, noise=0.0)
    evaluator = CVAccuracy(Counting()).bind(X, y)
    evaluator.of_set([0, 1, 2])
    Counting.fits = 0
    found = evaluator.of_sets([], np.arange(3, 30)[:, None], above=0.99)
    assert Counting.fits == 0 and (found < 0.99).all()
