"""Targets as columns of numbers: one for two classes and for a number, else one for each class."""

import numpy as np

from metafs.data.typing import Array
from metafs.errors import UsageError


def targets_of(y: Array, classes: bool) -> tuple[Array, Array | None]:
    """Return targets of shape (n_rows, n_outputs), -1 and 1 for classes, and the classes."""
    if not classes:
        return np.asarray(y, dtype=np.float64)[:, None], None
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise UsageError("the labelled rows hold one class only: label rows of another class too.")
    if len(labels) == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None], labels
    return np.where(codes[:, None] == np.arange(len(labels)), 1.0, -1.0), labels


def share_of_logit(classes: bool) -> float:
    """Return what part of a decision value ridge regression predicts of targets -1 and 1."""
    return 0.5 if classes else 1.0
