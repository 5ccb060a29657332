"""The learners, and the scaling in front of them."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from metafs_learners.learners import metafs_learners
from metafs_learners.scaling import Standardise


@pytest.mark.parametrize("learner", ["logistic", "linear-svm", "1nn"])
@pytest.mark.parametrize("start", [0.0, 2e3, 1.7e9])
def test_columns_far_from_zero_are_learnt_like_others(learner, start):
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = start + 10 * y[:, None] + rng.integers(0, 10, size=(100, 1))
    assert cross_val_score(metafs_learners()[learner], X, y, cv=5).min() == 1


def test_dense_rows_are_scaled_like_scikit_learn_scales_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(3, 2, size=(60, 4)), np.arange(60) % 2
    np.testing.assert_allclose(
        Standardise().fit_transform(X), StandardScaler().fit_transform(X), atol=1e-12
    )
    ours = clone(metafs_learners()["logistic"]).fit(X, y)
    theirs = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


@pytest.mark.parametrize("fitted_to", [np.asarray, csr_array])
def test_later_rows_are_scaled_alike_whether_sparse_or_dense(fitted_to):
    X = np.random.default_rng(0).poisson(0.5, size=(30, 5)).astype(float)
    scaler = Standardise().fit(fitted_to(X))
    sparse = scaler.transform(csr_array(X))
    np.testing.assert_allclose(
        scaler.transform(X), sparse if isinstance(sparse, np.ndarray) else sparse.toarray()
    )
    assert isinstance(sparse, np.ndarray) == (fitted_to is np.asarray)
