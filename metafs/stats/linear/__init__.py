"""Linear models whose weights have a prior that was learned from past problems."""

from metafs.stats.linear.weight_prior import (
    BASIS,
    N_LABELS,
    STRENGTHS,
    Directions,
    Scales,
    TransferExperience,
    WeightPrior,
)

__all__ = [
    "BASIS",
    "N_LABELS",
    "STRENGTHS",
    "Directions",
    "Scales",
    "TransferExperience",
    "WeightPrior",
]
