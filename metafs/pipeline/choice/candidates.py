"""What can be tried on a problem: pipelines of a ranking, a number of features and a learner."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

ALL = "all"
"""The name of the selector that keeps every column."""

GRID = 2
"""Sizes are tried in powers of this number."""
LARGEST = 1024
"""The largest number of features that is tried, but for all of them."""
FINEST = 32
"""Up to this size the sizes between two powers are tried too."""


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
