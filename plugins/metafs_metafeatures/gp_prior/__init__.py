"""The learner gp-prior: weights that are a Gaussian process over the meta-features."""

from metafs_metafeatures.gp_prior.classifier import GPPriorClassifier
from metafs_metafeatures.gp_prior.covariance import Gaussian, GroupedGaussian, OrientedGaussian

__all__ = ["GPPriorClassifier", "Gaussian", "GroupedGaussian", "OrientedGaussian"]
