"""Cost and sigma are chosen by cross-validation, from candidates that fit the data."""

import numpy as np

from metafs.stats.folds import folds_of
from metafs_metafeatures import Gaussian, GPPriorClassifier
from metafs_metafeatures.gp_prior.against_rest import spread
from metafs_metafeatures.gp_prior.choice import RELATIVE_COSTS, sigma_candidates, standardised

from .problems import LINE, smooth_problem


def test_rough_weights_are_not_smoothed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20))
    y = X @ (-1.0) ** np.arange(20) > 0
    fitted = GPPriorClassifier(Gaussian(), random_state=0).fit(X, y, meta_features=LINE[:20])
    assert fitted.sigma_ is None and fitted.covariance_ is None
    tried = {choice.sigma for choice in fitted.choices_}
    assert tried == {None, *sigma_candidates(Gaussian(), LINE[:20])}
    assert max(choice.accuracy for choice in fitted.choices_) > 0.85


def test_standardising_keeps_what_is_missing():
    U = np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0], [5.0, np.nan]])
    Z = standardised(U)
    np.testing.assert_array_equal(np.isnan(Z), np.isnan(U))
    np.testing.assert_allclose(np.nanstd(Z[:, 0]), 1.0)
    np.testing.assert_array_equal(Z[:3, 1], 0.0)


def test_own_covariances_and_several_candidates():
    X, y = smooth_problem(40, seed=11)

    def laplace(U, V):
        return np.exp(-np.abs(U - V.T) / 5)

    fitted = GPPriorClassifier(laplace, C=[0.01, 0.1], random_state=0)
    fitted.fit(X, y, meta_features=LINE)
    assert fitted.covariance_ is laplace and fitted.sigma_ is None
    assert [choice.cost for choice in fitted.choices_] == [0.01, 0.1]
    searched = GPPriorClassifier(Gaussian(), sigma=(1.0, 4.0), C=0.1, cv=3, random_state=0)
    searched.fit(X, y, meta_features=LINE)
    accuracies = {choice.sigma: choice.accuracy for choice in searched.choices_}
    assert accuracies[searched.sigma_] == max(accuracies.values())
    assert set(accuracies) == {1.0, 4.0}


def test_cross_validation_is_that_of_separate_fits():
    X, y = smooth_problem(60, seed=12, n_classes=3)
    fitted = GPPriorClassifier(Gaussian(2.0), C=[0.05, 0.5], cv=4, random_state=3)
    fitted.fit(X, y, meta_features=LINE)
    seed = np.random.RandomState(3).randint(2**31 - 1)
    for choice in fitted.choices_:
        right = 0
        for inside, outside in folds_of(y, 4, seed):
            part = GPPriorClassifier(Gaussian(2.0), C=choice.cost)
            part.fit(X[inside], y[inside], meta_features=LINE)
            right += np.count_nonzero(part.predict(X[outside]) == y[outside])
        assert choice.accuracy == right / 60


def test_folds_hold_even_parts_of_every_class_at_random():
    y = np.repeat([0, 1, 2], [40, 20, 8])
    folds = list(folds_of(y, 4, seed=0))
    assert len(folds) == 4
    for inside, outside in folds:
        assert np.bincount(y[outside]).tolist() == [10, 5, 2]
        np.testing.assert_array_equal(np.sort(np.append(inside, outside)), np.arange(68))
        assert (np.diff(outside[y[outside] == 0]) > 1).any()
    again = [outside.tolist() for _, outside in folds_of(y, 4, seed=0)]
    assert again == [outside.tolist() for _, outside in folds]
    assert again != [outside.tolist() for _, outside in folds_of(y, 4, seed=1)]


def test_without_folds_the_middle_of_the_candidates_is_taken():
    X, y = smooth_problem(40, seed=11)
    y = np.where(np.arange(40) == 0, 2, y)
    fitted = GPPriorClassifier(Gaussian(2.0), C=[0.05, 0.5, 5.0], random_state=0)
    fitted.fit(X, y, meta_features=LINE)
    assert fitted.C_ == 0.5 and np.isnan(fitted.choices_[0].accuracy)


def test_costs_from_a_tenth_to_a_hundred_of_the_inverse_spread_are_tried():
    np.testing.assert_allclose(RELATIVE_COSTS, [0.1, 10**-0.5, 1, 10**0.5, 10, 10**1.5, 100])
    X, y = smooth_problem(40, seed=11)
    fitted = GPPriorClassifier(Gaussian(2.0), random_state=0).fit(X, y, meta_features=LINE)
    unit = spread(X @ Gaussian(2.0)(LINE, LINE) @ X.T)
    costs = [choice.cost * unit for choice in fitted.choices_]
    np.testing.assert_allclose(costs, RELATIVE_COSTS, rtol=1e-6)
