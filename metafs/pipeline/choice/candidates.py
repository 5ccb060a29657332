"""What can be tried on a problem: pipelines of a ranking, a number of features and a learner."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

ALL = "all"
"""The name of the selector that keeps every column."""

TREES = {"voting": 5e-5, "extra-trees": 5e-5, "forest": 1e-4}
"""Learners of many trees: seconds for each of many rows, in units of the root of the columns."""

GRID = 2
"""Sizes are tried in powers of this number."""
LARGEST = 1024
"""The largest number of features that is tried, but for all of them."""
FINEST = 32
"""Up to this size the sizes between two powers are tried too."""

RANKINGS = ("projected", "infogain", "importance")
LEARNERS = ("remembered", "voting", "extra-trees", "kernel-svm", "boosting")

MOST_SECONDS = 4.0
"""A fit that is expected to take longer is not tried, unless seconds are given."""


MANY_ROWS = 4_000
"""Up to here the simple formulas of `seconds_of` hold."""


@dataclass(frozen=True, order=True)
class Candidate:
    """A pipeline: the learner, the selector that ranks columns, and how many of these are kept."""

    learner: str
    selector: str = ALL
    size: int | None = None
    """None keeps all columns, or what the selector itself decides on."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values for reports."""
        return {"selector": self.selector, "size": self.size, "learner": self.learner}

    def __str__(self) -> str:
        columns = self.selector if self.size is None else f"{self.size} by {self.selector}"
        return f"{self.learner} on {columns}"


def sizes(n_features: int) -> list[int]:
    """Return the numbers of features to try, the smallest first; all of them is not among these.

    Examples
    --------
    >>> sizes(64), sizes(2000)
    ([1, 2, 4, 8, 16, 32], [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
    """
    found, size = [], 1
    while size < n_features and size <= LARGEST:
        found.append(size)
        size *= GRID
    return found


def sizes_between(candidate: Candidate) -> list[Candidate]:
    """Return a pipeline with the sizes between its own and the next smaller one that was tried.

    Examples
    --------
    >>> [each.size for each in sizes_between(Candidate("forest", "infogain", 8))]
    [5, 6, 7]
    """
    if candidate.size is None or candidate.size > FINEST:
        return []
    finer = np.linspace(candidate.size // GRID, candidate.size, 9).round().astype(int)
    between = sorted(set(finer[1:-1].tolist()) - {candidate.size // GRID, candidate.size})
    return [replace(candidate, size=size) for size in between]


def seconds_of(learner: str, n_samples: int, n_features: int, n_outputs: int) -> float:
    """Return what a fit of one of our learners takes, roughly.

    Measured on one thread; only orders of magnitude matter, to leave out what takes far too long.
    Beyond `MANY_ROWS` each row takes longer for a forest and a kernel, and less for boosting.

    Examples
    --------
    >>> seconds_of("boosting", 1560, 617, 26) > 60 > seconds_of("extra-trees", 1560, 617, 26)
    True
    >>> seconds_of("forest", 16_000, 50, 1) > 4 > seconds_of("boosting", 16_000, 50, 1)
    True
    """
    more = max(0, n_samples - MANY_ROWS)
    if learner == "boosting":
        of_rows = 3e-6 * (n_samples - more) + 8e-7 * more
        return 0.1 + n_outputs * n_features * (5e-3 + of_rows)
    if learner in TREES:
        usual = 3e-6 * n_samples * math.sqrt(n_features * n_outputs)
        return 0.2 + usual + TREES[learner] * more * math.sqrt(n_features)
    if learner == "kernel-svm":
        usual = 4e-10 * n_samples**2 * n_features * n_outputs
        return 0.005 + usual + 4e-9 * more**2 * (n_features + 5) * n_outputs
    if learner == "remembered":
        return 0.02 + 1.5e-7 * more * n_features * n_outputs
    return 0.02


def seconds_to_rank(selector: str, n_samples: int, n_features: int, n_outputs: int) -> float:
    """Return what ranking the columns takes with one of our selectors, roughly.

    Examples
    --------
    >>> seconds_to_rank("projected", 400, 3000, 1) > seconds_to_rank("infogain", 400, 3000, 1)
    True
    """
    if selector == "projected":
        return 0.02 + 1e-6 * n_samples * min(n_features, 2000) * n_outputs
    if selector == "importance":
        return 0.1 + 1.5e-6 * n_samples * math.sqrt(n_features * n_outputs)
    return 0.0 if selector == ALL else 1e-7 * n_samples * n_features
