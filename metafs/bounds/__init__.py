"""Generalisation bounds: how far the error of a selection can exceed its training error."""

from metafs.bounds.meta_features import (
    direct_selection_dimension,
    joint_dimension,
    linear_mapping_dimension,
    log2_direct_selections,
    log2_selections_by_mapping,
    selection_dimension,
    smooth_mapping_dimension,
)
from metafs.bounds.mufasa import (
    log_choices_by_decisions,
    log_choices_by_message,
    log_choices_by_values,
    log_direct_choices,
    log_mufasa_choices,
    mufasa_bound,
)
from metafs.bounds.nearest_neighbour import (
    complexity,
    fat_shattering_dimension,
    margin_error,
    nearest_neighbour_bound,
)

__all__ = [
    "complexity",
    "direct_selection_dimension",
    "fat_shattering_dimension",
    "joint_dimension",
    "linear_mapping_dimension",
    "log2_direct_selections",
    "log2_selections_by_mapping",
    "log_choices_by_decisions",
    "log_choices_by_message",
    "log_choices_by_values",
    "log_direct_choices",
    "log_mufasa_choices",
    "margin_error",
    "mufasa_bound",
    "nearest_neighbour_bound",
    "selection_dimension",
    "smooth_mapping_dimension",
]
