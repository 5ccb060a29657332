import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.svm import SVC

from metafs.errors import UsageError
from metafs.plugin.registry import Registry
from metafs_metafeatures import SVMAccuracy
from metafs_metafeatures.mufasa.svm_accuracy import folds_of

from .extracting import table


def slow_accuracy(X, y, C, n_folds, seed):
    """Machines on the rows themselves, standardised, scaled to a mean squared distance of 1."""
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    X = X / np.sqrt(np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))
    folds, right = folds_of(y, n_folds, seed), 0
    for fold in range(n_folds):
        test = folds == fold
        machine = SVC(kernel="linear", C=C, tol=1e-4).fit(X[~test], y[~test])
        right += (machine.predict(X[test]) == y[test]).sum()
    return right / len(y)


@pytest.mark.parametrize("n_folds", [2, 3])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_accuracy_is_that_of_machines_on_the_rows(n_folds, C):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 6)) + np.eye(3)[y] @ rng.normal(size=(3, 6))
    found = SVMAccuracy(C, n_folds).of_set(X, y, [0, 2, 3, 5])
    expected = slow_accuracy(X[:, [0, 2, 3, 5]], y, C, n_folds, 0)
    assert abs(found - expected) <= 2 / 90
    assert 0.4 < found < 0.95
    assert SVMAccuracy(C, n_folds).of_set(csr_array(X), y, [0, 2, 3, 5]) == found


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30), st.integers(2, 4), st.integers(0, 9))
def test_folds_hold_even_parts_of_every_class(classes, n_folds, seed):
    classes = np.array(classes)
    folds = folds_of(classes, n_folds, seed)
    assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1
    for c in np.unique(classes):
        assert np.ptp(np.bincount(folds[classes == c], minlength=n_folds)) <= 1


def test_accuracy_of_odd_tables_is_defined():
    rng = np.random.default_rng(0)
    X, measure = rng.normal(size=(40, 3)), SVMAccuracy()
    assert measure.of_set(X, np.ones(40), [0]) == 1.0
    assert measure.of_set(np.ones((40, 2)), np.arange(40) % 2, [0, 1]) == 0.5
    assert 0 <= measure.of_set(X, np.arange(40).astype(str), [0, 1]) <= 1
    assert measure.of_set(1e8 + X, (X[:, 0] > 0).astype(int), [0]) > 0.9
    numbers = measure.of_set(X, X[:, 1] * 3 + 0.01, [1])
    assert numbers > 0.6 > measure.of_set(X, X[:, 1] * 3 + 0.01, [0])
    many = rng.normal(size=(300, 2))
    part = SVMAccuracy(max_samples=100).of_set(many, many[:, 0] > 0, [0])
    assert part > 0.9
    for wrong in ({"C": 0}, {"n_folds": 1}, {"max_samples": 1}):
        with pytest.raises(UsageError):
            SVMAccuracy(**wrong)


def test_accuracy_may_guide_other_searches():
    X, y = table()
    assert SVMAccuracy()(X, y)[9] > SVMAccuracy()(X, y)[0]
    climb = clone(Registry().selectors["climb"])
    climb.set_params(measure=SVMAccuracy(), max_evaluations=60, random_state=0).fit(X, y)
    assert climb.fitness_ > 0.9
