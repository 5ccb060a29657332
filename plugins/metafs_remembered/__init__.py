"""Linear models under a prior from past problems: learners, a selector by projection."""

from metafs_remembered.hooks import metafs_learners, metafs_selectors
from metafs_remembered.learner import RememberedClassifier, RememberedLearner, RememberedRegressor
from metafs_remembered.projected import ProjectedSelector
from metafs_remembered.voting import VotingLearner

__all__ = [
    "ProjectedSelector",
    "RememberedClassifier",
    "RememberedLearner",
    "RememberedRegressor",
    "VotingLearner",
    "metafs_learners",
    "metafs_selectors",
]
