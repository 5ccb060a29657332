"""The learner moses: evolutionary search for small Boolean programs, printed as sentences."""

from metafs_moses.classifier import MosesClassifier
from metafs_moses.hooks import metafs_learners

__all__ = ["MosesClassifier", "metafs_learners"]
