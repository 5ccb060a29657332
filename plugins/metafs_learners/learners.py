"""The learners, as scikit-learn has them, each with the scaling it needs.

Scaling is learnt inside each fold like everything else. A forest asks nothing of the scale.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from metafs.data.matrix import with_short_indices
from metafs.data.typing import Array
from metafs.plugin import Learner, hookimpl
from metafs_learners import costs
from metafs_learners.by_target import ByTarget, CostedByTarget
from metafs_learners.scaling import Standardise


def dense(X: Any) -> Array:
    """Return a dense copy of a sparse matrix, or the array itself."""
    return X.toarray() if issparse(X) else np.asarray(X)


def narrow(estimator: Any) -> Pipeline:
    """Put an estimator behind a step that gives sparse matrices 32-bit indices."""
    return make_pipeline(FunctionTransformer(with_short_indices, accept_sparse=True), estimator)


def scaled(estimator: Any) -> Pipeline:
    """Put an estimator behind scaling to unit variance."""
    return make_pipeline(Standardise(), estimator)


def dense_first(estimator: Any) -> Pipeline:
    """Put an estimator that takes no sparse matrix behind a step that makes it dense."""
    return make_pipeline(FunctionTransformer(dense, accept_sparse=True), estimator)


@hookimpl
def metafs_learners() -> dict[str, Learner]:
    """Offer learners for classes, for numbers, and some that serve both."""
    forest = {"n_estimators": 100, "random_state": 0}
    return {
        "logistic": scaled(LogisticRegression(max_iter=1000)),
        "linear-svm": scaled(LinearSVC(random_state=0, max_iter=5000)),
        "1nn": scaled(KNeighborsClassifier(n_neighbors=1)),
        "naive-bayes": make_pipeline(FunctionTransformer(dense, accept_sparse=True), GaussianNB()),
        "forest": ByTarget(
            narrow(RandomForestClassifier(**forest)), narrow(RandomForestRegressor(**forest))
        ),
        "extra-trees": CostedByTarget(
            narrow(ExtraTreesClassifier(**forest)),
            narrow(ExtraTreesRegressor(**forest)),
            costs.extra_trees,
        ),
        "boosting": CostedByTarget(
            dense_first(HistGradientBoostingClassifier(random_state=0)),
            dense_first(HistGradientBoostingRegressor(random_state=0)),
            costs.boosting,
        ),
        "kernel-svm": CostedByTarget(
            narrow(scaled(SVC(C=3.0, class_weight="balanced"))),
            TransformedTargetRegressor(narrow(scaled(SVR(C=3.0))), transformer=StandardScaler()),
            costs.kernel_svm,
        ),
        "ridge": scaled(Ridge()),
        "knn": scaled(KNeighborsRegressor()),
    }
