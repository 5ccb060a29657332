"""Linear models under a prior learned from past problems: a learner, a selector by projection."""

from metafs_remembered.hooks import metafs_learners, metafs_selectors
from metafs_remembered.learner import RememberedClassifier, RememberedLearner, RememberedRegressor
from metafs_remembered.projected import ProjectedSelector

__all__ = [
    "ProjectedSelector",
    "RememberedClassifier",
    "RememberedLearner",
    "RememberedRegressor",
    "metafs_learners",
    "metafs_selectors",
]
