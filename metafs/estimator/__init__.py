"""The loop as scikit-learn estimators: a selector, a classifier and a regressor."""

from metafs.estimator.predictors import MetaClassifier, MetaRegressor
from metafs.estimator.selector import MetaSelector

__all__ = ["MetaClassifier", "MetaRegressor", "MetaSelector"]
