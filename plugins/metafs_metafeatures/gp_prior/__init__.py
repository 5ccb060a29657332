"""The learner gp-prior: weights that are a Gaussian process over the meta-features."""

from metafs_metafeatures.gp_prior.classifier import GPPriorClassifier
from metafs_metafeatures.gp_prior.covariance import Gaussian, GroupedGaussian, OrientedGaussian
from metafs_metafeatures.gp_prior.frequencies import FrequencyReduction
from metafs_metafeatures.gp_prior.tuning import TunedLimits, accuracy_within, tune_limits

__all__ = [
    "FrequencyReduction",
    "GPPriorClassifier",
    "Gaussian",
    "GroupedGaussian",
    "OrientedGaussian",
    "TunedLimits",
    "accuracy_within",
    "tune_limits",
]
