"""What this package offers: regressors from meta-features to quality, each behind its scaling."""

from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from metafs.plugin import Regressor, hookimpl
from metafs_regressors.forest import Forest
from metafs_regressors.gp import GaussianProcess
from metafs_regressors.knn import UpToKNeighbors
from metafs_regressors.weighted_knn import WeightedKNN


@hookimpl
def metafs_regressors() -> dict[str, Regressor]:
    """Offer the regressors ``knn``, ``weighted-knn``, ``gp``, ``ridge`` and ``forest``."""
    return {
        "knn": make_pipeline(StandardScaler(), UpToKNeighbors(weights="distance")),
        "weighted-knn": WeightedKNN(random_state=0),
        "gp": GaussianProcess(random_state=0),
        "ridge": make_pipeline(StandardScaler(), BayesianRidge()),
        "forest": Forest(random_state=0),
    }
