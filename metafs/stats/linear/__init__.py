"""Linear models whose weights have a prior that was learned from past problems."""

from metafs.stats.linear.model import LinearModel, fit_linear
from metafs.stats.linear.preparation import Preparation, pool, prepare, rarity, scales_of
from metafs.stats.linear.projection import Projection, project
from metafs.stats.linear.refit import refitted
from metafs.stats.linear.remembering import (
    SparseWeights,
    measured_transfer,
    reference_weights,
    transfer_curve,
    weights_without,
)
from metafs.stats.linear.rows import coherence
from metafs.stats.linear.strength import StrengthChoice, expected_gain
from metafs.stats.linear.weight_prior import (
    BASIS,
    COHERENCE,
    N_LABELS,
    STRENGTHS,
    Directions,
    Scales,
    TransferExperience,
    WeightPrior,
)

__all__ = [
    "BASIS",
    "COHERENCE",
    "N_LABELS",
    "STRENGTHS",
    "Directions",
    "LinearModel",
    "Preparation",
    "Projection",
    "Scales",
    "SparseWeights",
    "StrengthChoice",
    "TransferExperience",
    "WeightPrior",
    "coherence",
    "expected_gain",
    "fit_linear",
    "measured_transfer",
    "pool",
    "prepare",
    "project",
    "rarity",
    "reference_weights",
    "refitted",
    "scales_of",
    "transfer_curve",
    "weights_without",
]
